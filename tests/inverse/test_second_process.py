"""Inverse kinematics of a robot that was asked before: compiled code is loaded, nothing is
traced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine import kernel

ROWS = [
    {"a": 0.5, "limits": (-2.0, 2.0)},
    {"a": 0.4, "limits": (-2.0, 2.0)},
    {"a": 0.2, "limits": (-2.0, 2.0)},
]
WAYS = {
    "one": {},
    "limits": {"limits": ([-1.0, -2.0, -2.0], [1.0, 2.0, 2.0])},
    "near": {"prefer": "near"},
    "recursive": {"method": "recursive"},
    "track": {"track": True},
    "recursive track": {"method": "recursive", "track": True, "dt": 0.01},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))


def arm() -> lw.Robot:
    return lw.Robot.from_dh(ROWS, check="any")


def solved(robot: lw.Robot, options: dict):
    q = np.array([[0.3, 0.4, 0.5], [0.31, 0.41, 0.51]])
    target = robot.pose(q, "link3")
    options = {"method": "numeric", **options}
    return robot.inverse_kinematics(
        target if options.get("track") else target[0], "link3", q0=q[0] - 0.1, **options
    )


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_nothing_is_traced_again(options):
    first = solved(arm(), options)
    before = dict(kernel.counts)
    again = solved(arm(), options)
    assert np.array_equal(first.q, again.q) and np.all(first.success)
    assert (
        kernel.counts["traced"] == before["traced"]
        and kernel.counts["compiled"] == before["compiled"]
    )
    assert kernel.counts["loaded"] > before["loaded"]


def test_robots_that_differ_in_limits_only_do_not_share_a_loop():
    """Limits are constants of the loop and no part of what a recursion sees."""
    open_ = arm()
    joints = [
        replace(j, limits=(replace(j.limits[0], lower=-0.35, upper=0.35),))
        if j.name == "joint2"
        else j
        for j in open_.model.joints
    ]
    held = lw.Robot(replace(open_.model, joints=tuple(joints)))
    assert solved(open_, {}).success and abs(solved(open_, {}).q[1]) > 0.35
    assert not solved(held, {}).success and abs(solved(held, {}).q[1]) <= 0.35
