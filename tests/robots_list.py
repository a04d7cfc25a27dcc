"""The robots that tests loop over: every published URDF,
and the dozen that also run as machine code."""

from __future__ import annotations

from functools import cache

from linkwork.formats.urdf import read_urdf
from linkwork.robot import Robot
from tests.published import URDFS

ROBOTS = tuple(URDFS)
"""Short names; `URDFS[name]` is the file, `robot(name)` the robot."""

COMPILED = (
    "double_pendulum/double_pendulum_continuous",
    "ur/ur5_robot",
    "xarm/xarm7",
    "panda/panda",
    "kinova/kinova",
    "finger_edu/finger_edu",
    "bolt/bolt",
    "so_arm/so101",
    "tiago/tiago_no_hand",
    "solo/solo12",
    "allegro_hand/allegro_right_hand",
    "g1/g1_29dof_rev_1_0",
)
"""Robots whose machine code is tested too: arms, legs, hands, sliding,
mimicking and continuous joints, tilted axes."""

_of_folder = {name.partition("/")[0]: name for name in (*reversed(ROBOTS), *COMPILED)}
MACHINES = tuple(name for name in ROBOTS if name in _of_folder.values())
"""One file of each machine. The others of a folder are the same links with another hand, load,
size or limits."""


@cache
def robot(name: str, root: str = "fixed", mimic: str = "follow") -> Robot:
    """A published robot, made once."""
    return Robot(read_urdf(URDFS[name], root=root, mimic=mimic))
