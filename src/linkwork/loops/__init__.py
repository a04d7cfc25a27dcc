"""Closed loops: geometry, equations, assembly, mobility and dynamics of what closes beside the tree."""

from linkwork.loops.assembly import Assembly
from linkwork.loops.mobility import Mobility

__all__ = ["Assembly", "Mobility"]
