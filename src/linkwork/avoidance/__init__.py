"""Avoidance: a redundant arm keeps its tool on the path while its elbow makes way."""

from linkwork.avoidance.arcs import nearest_free
from linkwork.avoidance.around import robot_obstacles
from linkwork.avoidance.elbow import Elbow
from linkwork.avoidance.guard import speed_scale
from linkwork.avoidance.null_space import NullSpaceAvoidance, NullSpaceStep
from linkwork.avoidance.smoothing import CriticallyDampedFilter
from linkwork.avoidance.solids import Solid, SolidVolume
from linkwork.avoidance.steps import ElbowAvoidance, Step, Steps
from linkwork.avoidance.volume import SafetyVolume
from linkwork.doors import open_doors

__all__ = [
    "CriticallyDampedFilter",
    "Elbow",
    "ElbowAvoidance",
    "NullSpaceAvoidance",
    "NullSpaceStep",
    "SafetyVolume",
    "Solid",
    "SolidVolume",
    "Step",
    "Steps",
    "nearest_free",
    "robot_obstacles",
    "speed_scale",
]

open_doors(__name__)
