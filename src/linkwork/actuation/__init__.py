"""Actuation: motors, transmissions and named motions: how commands move the coordinates of a robot, and back."""

from linkwork.actuation.motions import Motions, SampledMotion

__all__ = ["Motions", "SampledMotion"]
