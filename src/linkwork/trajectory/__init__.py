"""Trajectories: paths, their time laws, and the fastest one that torques allow."""

from linkwork.doors import open_doors
from linkwork.trajectory.cartesian import Arc, CartesianMotion, line
from linkwork.trajectory.coefficients import PathCoefficients, path_coefficients
from linkwork.trajectory.minimum_time import TimeLaw, minimum_time
from linkwork.trajectory.path import Path
from linkwork.trajectory.profiles import PointToPoint, cubic, quintic, septic, trapezoid

__all__ = [
    "Arc",
    "CartesianMotion",
    "Path",
    "PathCoefficients",
    "PointToPoint",
    "TimeLaw",
    "cubic",
    "line",
    "minimum_time",
    "path_coefficients",
    "quintic",
    "septic",
    "trapezoid",
]

open_doors(__name__)
