"""Names of other tools lead to names that exist here."""

from __future__ import annotations

import copy
import pickle
import re
import sys

import pytest

import linkwork as lw
from linkwork import peers
from linkwork.errors import LinkworkError, UnknownName


@pytest.mark.parametrize("theirs", sorted(peers.NAMES))
def test_what_a_robot_is_said_to_have_it_has(theirs):
    robot = lw.load("ur5e")
    if theirs not in dir(robot):
        assert not hasattr(robot, theirs)
        with pytest.raises(AttributeError, match=r"here it is robot\."):
            getattr(robot, theirs)
    first = re.match(r"\w+", peers.NAMES[theirs])[0]
    assert hasattr(robot, first), first


@pytest.mark.parametrize("theirs", sorted(peers.ROOMS))
def test_what_stands_at_the_top_stands_there(theirs):
    with pytest.raises(AttributeError, match=r"here it is lw\."):
        getattr(lw, theirs)
    value = lw
    for part in peers.ROOMS[theirs].split("."):
        value = getattr(value, part)


def test_a_slip_is_told_and_nothing_else_changes(capsys):
    robot = lw.load("ur5e")
    with pytest.raises(AttributeError) as caught:
        robot.gravity_torques  # noqa: B018
    sys.__excepthook__(caught.type, caught.value, None)  # what the interpreter prints
    assert "Did you mean: 'gravity_torque'?" in capsys.readouterr().err
    with pytest.raises(AttributeError, match='did you mean "trajectory"'):
        lw.trajectry  # noqa: B018
    assert (
        not hasattr(robot, "nothing_like_it")
        and not hasattr(robot, "__len__")
        and not hasattr(lw, "__path_")
    )
    assert copy.deepcopy(robot).name == pickle.loads(pickle.dumps(robot)).name == "ur5e"


def test_names_of_other_tools_are_not_listed_below_robot_either():
    robot = lw.load("ur5e")
    own = type("Own", (lw.Robot,), {})(robot.model)
    hidden = {name for name in peers.NAMES if not hasattr(robot, name)}
    assert len(hidden) > 10 and not hidden & set(dir(robot))
    assert not hidden & set(dir(own))
    theirs = sorted(hidden)[0]
    with_it = type("WithIt", (lw.Robot,), {theirs: lambda self: "own"})(robot.model)
    assert theirs in dir(with_it) and getattr(with_it, theirs)() == "own"


def test_methods_of_a_robot_are_looked_up_in_the_quick_way():
    """With `__getattr__`, or an own `__getattribute__`,
    the interpreter specialises no attribute of a class."""
    names = [
        name
        for kind in lw.Robot.__mro__[:-1]
        for name in ("__getattr__", "__getattribute__")
        if name in vars(kind)
    ]
    assert names == []


def test_wrong_calls_say_the_right_one():
    with pytest.raises(
        TypeError, match='pose: there is no argument "quat"; did you mean "quaternion"'
    ):
        lw.pose((0, 0, 0), quat=(0, 0, 0, 1))
    with pytest.raises(
        TypeError, match=r"pose: 2 arguments without a name, expected at most 1: pose\(xyz="
    ):
        lw.pose((0, 0, 0), (0, 0, 0, 1))
    with pytest.raises(
        LinkworkError, match=r"frame missing; inverse_kinematics_all\(target, frame, q0=, free=\)"
    ):
        lw.load("ur5e").inverse_kinematics_all(lw.pose())
    with pytest.raises(TypeError, match="inverse_kinematics: frame missing"):
        lw.load("ur5e").inverse_kinematics(lw.pose(), tolerance=1e-6)
    with pytest.raises(TypeError, match=r"from_dh: rows missing; from_dh\(rows, "):
        lw.Robot.from_dh()


def test_a_wrong_quantity_says_ours_and_lists_what_there_is():
    robot = lw.load("ur5e")
    for call in (robot.function, robot.prepare):
        with pytest.raises(UnknownName) as told:
            call("rnea")
        assert 'no quantity "rnea"; here it is "inverse_dynamics"; there are acceleration, ' in str(
            told.value
        )
        assert "mass_matrix, " in str(told.value)
        assert "quartic" not in str(told.value)
    with pytest.raises(UnknownName, match='did you mean "mass_matrix"'):
        robot.function("mass_matrx")
