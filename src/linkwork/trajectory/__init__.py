"""Trajectories: paths, their time laws, and the fastest one that torques allow."""

from linkwork.doors import open_doors
from linkwork.trajectory.cartesian import CartesianMotion, LineOptions, line, lines
from linkwork.trajectory.coefficients import PathCoefficients, path_coefficients
from linkwork.trajectory.jerk_limited import Follower, JerkLimited, jerk_limited
from linkwork.trajectory.minimum_time import TimeLaw, minimum_time
from linkwork.trajectory.motion import Joined, Motion
from linkwork.trajectory.path import Path
from linkwork.trajectory.profiles import PointToPoint, cubic, quintic, septic, trapezoid
from linkwork.trajectory.ways import Arc

__all__ = [
    "Arc",
    "CartesianMotion",
    "Follower",
    "JerkLimited",
    "Joined",
    "LineOptions",
    "Motion",
    "Path",
    "PathCoefficients",
    "PointToPoint",
    "TimeLaw",
    "cubic",
    "jerk_limited",
    "line",
    "lines",
    "minimum_time",
    "path_coefficients",
    "quintic",
    "septic",
    "trapezoid",
]

open_doors(__name__)
