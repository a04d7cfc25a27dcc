"""Actuation: motors, transmissions and named motions: how commands move the coordinates of a robot, and back."""

from linkwork.actuation.motions import Motions, SampledMotion
from linkwork.doors import open_doors

__all__ = ["Motions", "SampledMotion"]

open_doors(__name__)
