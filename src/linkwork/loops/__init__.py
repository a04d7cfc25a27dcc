"""Closed loops: geometry, equations, assembly, mobility and dynamics beside the tree."""

from linkwork.doors import open_doors
from linkwork.loops.assembly import Assembly
from linkwork.loops.circuits import Circuits, circuit
from linkwork.loops.mobility import Mobility

__all__ = ["Assembly", "Circuits", "Mobility", "circuit"]

open_doors(__name__)
