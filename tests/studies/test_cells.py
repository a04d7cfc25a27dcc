"""Cell layouts: what the study counts is what plans alone say, and a far base reaches nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, Obstacles
from linkwork.errors import InvalidInput
from linkwork.planning import PoseGoal, plan
from linkwork.studies import cell_layouts
from tests.planning.test_plan import arm

HOME = np.array([0.0, -1.8, 1.8, -1.6, -1.57, 0.0])
SHELF = Obstacles([Box((0.3, 1.0, 0.02), (0.75, 0.0, 0.45), name="board")])


@cache
def cell() -> tuple[CollisionModel, str, np.ndarray]:
    model = arm()
    tool = model.robot.bodies[-1]
    poses = np.tile(model.robot.pose(HOME, tool), (4, 1, 1))
    poses[:, :3, 3] = [(0.4, y, z) for y in (-0.2, 0.2) for z in (0.3, 0.6)]
    return model, tool, poses


def test_a_layout_is_what_plans_alone_say_and_only_the_relative_place_counts() -> None:
    model, tool, poses = cell()
    shift = np.array([0.1, -0.05, 0.02])
    study = cell_layouts(
        model, poses, tool, HOME, [(0, 0, 0), (5.0, 0, 0), shift], SHELF, speeds=1.0
    )
    assert study.reached.shape == (1, 3) and study.reached[0, 1] == study.planned[0, 1] == 0
    assert np.isnan(study.cycle[0, 1])
    # place by place, without the study
    planned, duration = 0, 0.0
    for pose in poses:
        answer = plan(model, HOME, PoseGoal(tool, pose), SHELF)
        if answer.certified:
            planned += 1
            duration += np.abs(np.diff(answer.path, axis=0)).max(axis=1).sum()
    assert study.planned[0, 0] == planned > 0
    # `plan` may choose among all postures of a place, the study takes the nearest one
    assert study.cycle[0, 0] == pytest.approx(2 * duration, rel=0.5)
    # the robot moved by d sees the cell as the cell moved by -d does
    moved = [shape.shifted(tuple(-shift)) for shape in SHELF]
    there = poses.copy()
    there[:, :3, 3] -= shift
    again = cell_layouts(model, there, tool, HOME, [(0, 0, 0)], moved, speeds=1.0)
    assert again.planned[0, 0] == study.planned[0, 2] and again.reached[0, 0] == study.reached[0, 2]
    assert again.cycle[0, 0] == pytest.approx(study.cycle[0, 2], rel=1e-6)
    name, base = study.best
    assert (
        name == ""
        and study.planned.max()
        == study.planned[0, int(np.argmax((study.bases == base).all((1, 2))))]
    )


def planar(length: float) -> CollisionModel:
    """Two links in a plane and a hand that turns, the first link of some length."""
    rows = [
        {"a": a, "d": 0.0, "alpha": 0.0, "theta": 0.0, "joint": "revolute", "limits": (-3.0, 3.0)}
        for a in (length, 0.3, 0.0)
    ]
    robot = lw.Robot.from_dh(rows, check="any", name=f"planar {length}")
    shapes = {
        "link1": [Capsule((-length, 0, 0), (0, 0, 0), 0.02)],
        "link2": [Capsule((-0.3, 0, 0), (0, 0, 0), 0.02)],
    }
    return CollisionModel(robot, shapes, pairs=[])


def test_a_longer_arm_reaches_more_and_the_best_layout_says_so() -> None:
    """Two lengths of a link and two bases in one study: places by the circle that each arm
    reaches."""
    places = np.tile(np.eye(4), (6, 1, 1))
    places[:, 0, 3] = np.linspace(0.45, 0.95, 6)  # 0.45, 0.55, ... 0.95 m ahead
    models = {"short": planar(0.3), "long": planar(0.5)}
    study = cell_layouts(
        models, places, "link3", np.array([0.8, 0.8, -1.6]), [(0, 0, 0), (0.2, 0, 0)], speeds=1.0
    )
    reach = {"short": 0.6, "long": 0.8}
    for row, name in enumerate(study.designs):
        for column, ahead in enumerate((0.0, 0.2)):
            expected = (np.abs(places[:, 0, 3] - ahead) <= reach[name]).sum()
            assert study.reached[row, column] == study.planned[row, column] == expected
    name, base = study.best
    assert name == "long" and base[0, 3] == 0.2 and study.planned.max() == 6
    assert (study.cycle > 0.0).all() and (study.length > 0.0).all()


def test_what_is_wrong_is_said() -> None:
    model, tool, poses = cell()
    with pytest.raises(InvalidInput, match=r"bases has shape \(2,\)"):
        cell_layouts(model, poses, tool, HOME, [0.0, 1.0])
    with pytest.raises(InvalidInput, match=r"targets has shape \(4, 4\)"):
        cell_layouts(model, poses[0], tool, HOME, [(0, 0, 0)])
    with pytest.raises(InvalidInput, match="speeds is"):
        cell_layouts(model, poses, tool, HOME, [(0, 0, 0)], speeds=0.0)
