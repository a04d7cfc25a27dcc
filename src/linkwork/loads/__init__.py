"""Loads: what joints, members, motors and the ground carry, at an instant or over a motion."""

from linkwork.doors import open_doors
from linkwork.loads.analyse import Analysis
from linkwork.loads.loads import Loads
from linkwork.loads.members import Members

__all__ = ["Analysis", "Loads", "Members"]

open_doors(__name__)
