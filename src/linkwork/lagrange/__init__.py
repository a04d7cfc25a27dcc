"""Mechanisms given by positions: type where the masses are, get dynamics column by column."""

from linkwork.doors import open_doors
from linkwork.lagrange.joints import PlanarJoint, SpatialJoint
from linkwork.lagrange.system import System

__all__ = ["PlanarJoint", "SpatialJoint", "System"]

open_doors(__name__)
