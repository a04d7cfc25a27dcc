"""What is worked out once is kept as long as what it is about, and no longer."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.once import Keeper


def test_once_is_once_for_a_key():
    keeper, calls = Keeper(), []

    def made(x):
        calls.append(x)
        return x

    assert [
        keeper.once("a", lambda: made(1)),
        keeper.once("a", lambda: made(2)),
        keeper.once("b", lambda: made(3)),
    ] == [1, 1, 3]
    assert calls == [1, 3]
    assert Keeper().once("a", lambda: 4) == 4


def test_a_failure_is_not_kept():
    keeper = Keeper()
    with pytest.raises(ZeroDivisionError):
        keeper.once("a", lambda: 1 / 0)
    assert keeper.once("a", lambda: 5) == 5


def test_what_is_kept_goes_with_its_robot():
    robot = lw.Robot(lw.load("ur5e").model)
    solutions = robot.inverse_kinematics_all(robot.pose(robot.random(seed=1), "tool0"), "tool0")
    assert solutions.count
    seen = weakref.ref(robot.subject)
    del robot, solutions
    gc.collect()
    assert seen() is None


def test_no_module_keeps_things_about_robots():
    source = Path(lw.__file__).parent
    kept = [
        f
        for f in source.rglob("*.py")
        if re.search(r"^_\w+: .*WeakKeyDictionary\[(Subject|Any)", f.read_text(), re.M)
    ]
    assert kept == []
