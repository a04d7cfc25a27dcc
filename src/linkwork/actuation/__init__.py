"""Actuation: motors, transmissions, motions: how commands move a robot's coordinates, and back."""

from linkwork.actuation.motions import Motions, SampledMotion
from linkwork.doors import open_doors

__all__ = ["Motions", "SampledMotion"]

open_doors(__name__)
