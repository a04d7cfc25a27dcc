"""Inverse kinematics: configurations that bring frames where they are wanted."""

from linkwork.doors import open_doors
from linkwork.inverse import analytic, tasks
from linkwork.inverse.analytic import Classification, Solutions, classify
from linkwork.inverse.barriers import CollisionBarrier
from linkwork.inverse.cycles import cycle_drift, recorded_limits
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.singularity import Singularity
from linkwork.inverse.targets import Goal

__all__ = [
    "Classification",
    "CollisionBarrier",
    "Goal",
    "InverseKinematics",
    "Singularity",
    "Solutions",
    "analytic",
    "classify",
    "cycle_drift",
    "recorded_limits",
    "tasks",
]

open_doors(__name__)
