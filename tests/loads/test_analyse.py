"""Analyse and motions: named columns of a whole motion, in and out of files."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.model import Joint, Model, validated
from linkwork.model.motions import DescribedMotion, Track, accelerated, through
from tests.loops.machines import hinge_with_strut, link, slope


@pytest.fixture(scope="module")
def robot() -> lw.Robot:
    track = Track("strut", accelerated(0.45, 0.0, [(0.0, 0.1), (0.5, -0.1)]), actuator=True)
    model = hinge_with_strut((0.5, -0.3, 0.0), (0.2, 0.0, 0.0))
    from dataclasses import replace

    return lw.Robot(validated(replace(model, motions=(DescribedMotion("lift", 1.0, (track,)),))))


def test_columns_are_the_arrays_they_name(robot):
    analysis = robot.analyse("lift", steps=11)
    assert len(analysis) == 11
    assert np.array_equal(analysis["time"], np.linspace(0.0, 1.0, 11))
    assert np.array_equal(analysis["actuator.strut"], analysis.loads.actuator("strut"))
    assert np.array_equal(analysis["force.arm.y"], analysis.loads.joint_wrench("arm")[:, 1])
    assert np.array_equal(analysis["moment.support.strut.z"], analysis.loads.support("strut")[:, 5])
    assert np.array_equal(analysis["position.arm.x"], analysis.poses.position[:, 1, 0])
    assert np.array_equal(
        analysis["power.strut"], analysis["actuator.strut"] * analysis["command_rate.strut"]
    )
    assert np.allclose(analysis["length.strut"], analysis["command.strut"], rtol=0, atol=1e-15)
    assert analysis.to_numpy().shape == (11, len(analysis.names))
    with pytest.raises(
        UnknownName, match=r'no column "actuator.struts"; did you mean "actuator.strut"'
    ):
        analysis["actuator.struts"]


def test_files_hold_every_digit(robot, tmp_path):
    analysis = robot.analyse("lift", steps=5)
    with open(analysis.to_csv(tmp_path / "lift.csv"), newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == analysis.names
    assert np.array_equal(np.array(rows[1:], dtype=float), analysis.to_numpy())
    frame = analysis.to_pandas()
    assert np.array_equal(frame["actuator.strut"].to_numpy(), analysis["actuator.strut"])


def test_parquet_holds_the_columns_or_says_what_is_missing(robot, tmp_path):
    import importlib.util

    analysis = robot.analyse("lift", steps=5)
    if importlib.util.find_spec("pyarrow") is None:
        with pytest.raises(NotPossible, match="to_parquet needs the package pyarrow"):
            analysis.to_parquet(tmp_path / "lift.parquet")
        return
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(analysis.to_parquet(tmp_path / "lift.parquet"))
    assert tuple(table.column_names) == analysis.names
    assert np.array_equal(table["actuator.strut"].to_numpy(), analysis["actuator.strut"])


def test_joints_and_commands_given_as_arrays_agree(robot):
    named = robot.analyse("lift", steps=9)
    by_commands = robot.analyse(
        {"time": named.time, "c": named.c, "cd": named.cd, "cdd": named.cdd}
    )
    by_joints = robot.analyse({"time": named.time, "q": named.q, "v": named.v, "a": named.a})
    for other in (by_commands, by_joints):
        for name in named.names:
            assert other[name] == pytest.approx(named[name], abs=1e-12)


def test_a_motion_has_both_sides_of_a_jump(robot):
    motion = robot.motions["lift"]
    assert motion.duration == 1.0
    assert motion.jumps == (0.5,)
    before, after = (motion.commands(0.5, side)[2] for side in ("before", "after"))
    assert (before[0], after[0]) == (0.1, -0.1)
    t = np.linspace(0.0, 0.4, 101)
    q, v, a = motion.sample(t)
    assert np.abs(slope(q, t[1]) - v[2:-2]).max() < 1e-9
    assert np.abs(slope(v, t[1]) - a[2:-2]).max() < 1e-9


def test_a_jump_is_refused_where_asked(robot):
    motion = robot.motions["lift"]
    sentence = (
        r'motion "lift": at t = 0.5 s the motion of "strut" jumps; side="before" or side="after"'
    )
    with pytest.raises(InvalidInput, match=sentence):
        motion.sample([0.1, 0.5], side="refuse")
    for got, expected in zip(
        motion.sample([0.1, 0.6], side="refuse"), motion.sample([0.1, 0.6]), strict=True
    ):
        assert np.array_equal(got, expected)
    with pytest.raises(
        InvalidInput, match="side is 'left', expected one of 'before', 'after', 'refuse'"
    ):
        motion.sample(0.1, side="left")


def test_smooth_pieces_do_not_jump():
    """A clamped spline and a quintic through points: pieces meet there, accelerations do not
    jump."""
    points = [(0.0, 0.0), (0.3, 0.2), (1.0, -0.1)]
    for interpolation, jumps in (("cubic", ()), ("quintic", ()), ("linear", (0.3,))):
        track = Track("hinge", through(points, interpolation))
        joints = (Joint("hinge", "revolute", None, "arm"),)
        model = Model(
            "m", (link("arm", 0.5),), joints, motions=(DescribedMotion("go", 1.0, (track,)),)
        )
        assert lw.Robot(validated(model)).motions["go"].jumps == jumps


def test_a_joint_that_a_strut_drives_may_be_moved_itself(robot):
    from dataclasses import replace

    track = Track("joint", accelerated(0.6, 0.2, [(0.0, 0.3)]))
    other = lw.Robot(
        validated(replace(robot.model, motions=(DescribedMotion("turn", 0.5, (track,)),)))
    )
    t = np.linspace(0.0, 0.5, 6)
    q, v, a = other.motions["turn"].sample(t)
    assert q[:, 0] == pytest.approx(0.6 + 0.2 * t + 0.15 * t**2, abs=1e-14)
    assert v[:, 0] == pytest.approx(0.2 + 0.3 * t, abs=1e-14)
    assert a[:, 0] == pytest.approx(np.full(6, 0.3), abs=1e-13)


def test_robots_without_elements_are_analysed_too():
    joints = (Joint("hinge", "revolute", None, "arm"),)
    track = Track("hinge", accelerated(0.0, 1.0, []))
    robot = lw.Robot(
        validated(
            Model(
                "plain",
                (link("arm", 0.5),),
                joints,
                motions=(DescribedMotion("turn", 1.0, (track,)),),
            )
        )
    )
    analysis = robot.analyse("turn", times=[0.0, 0.25])
    assert analysis["q.hinge"] == pytest.approx([0.0, 0.25], abs=1e-15)
    assert analysis["force.base.z"] == pytest.approx([9.81, 9.81], abs=1e-12)


def test_a_body_called_base_is_not_hidden_by_the_ground():
    """Two machines on one floor: the ground carries both, the body "base" only its own arm."""
    joints = (
        Joint("post", "fixed", None, "base"),
        Joint("hinge", "revolute", "base", "arm"),
        Joint("other", "revolute", None, "second"),
    )
    bodies = (link("base", 0.2), link("arm", 0.5), link("second", 0.3))
    robot = lw.Robot(validated(Model("two", bodies, joints)))
    analysis = robot.analyse({"time": [0.0], "q": [[0.1, 0.2]]})
    weight = 9.81 * np.array([float(body.mass_properties.mass) for body in bodies])
    assert analysis["force.base.z"] == pytest.approx([weight.sum()], abs=1e-12)
    assert analysis["force.body.base.z"] == pytest.approx([weight[:2].sum()], abs=1e-12)
    assert np.array_equal(analysis["moment.body.base.x"], analysis.loads.joint_wrench("base")[:, 3])
    assert len(set(analysis.names)) == len(analysis.names)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda r: r.analyse("fall"), UnknownName, 'robot "strut_machine" has no motion "fall"'),
        (lambda r: r.motions["lift"].sample(1.5), InvalidInput, "t is outside 0 .. 1 s"),
        (lambda r: r.motions["lift"].sample(0.5, "left"), InvalidInput, "side is 'left', expected"),
        (
            lambda r: r.analyse({"time": [0.0]}),
            InvalidInput,
            "needs time and either commands c or joint coordinates q",
        ),
        (
            lambda r: r.analyse({"time": [0.0], "c": [[0.4, 0.1]]}),
            InvalidInput,
            r"c has shape \(1, 2\), expected",
        ),
        (
            lambda r: r.analyse({"time": [0.0], "c": [[0.4]], "w": 1}),
            InvalidInput,
            'motion has "w"',
        ),
        (lambda r: r.analyse("lift", steps=0), InvalidInput, "steps is 0"),
    ],
)
def test_what_cannot_be_analysed_is_refused(robot, call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(robot)


def test_a_spring_that_hangs_loose_is_told(robot, caplog):
    from dataclasses import replace

    from linkwork.model.elements import Point, Spring

    spring = Spring(
        "slack",
        Point("base", (0.0, 0.3, 0.0)),
        Point("arm", (0.1, 0.0, 0.0)),
        50.0,
        free_length=2.0,
    )
    loose = lw.Robot(validated(replace(robot.model, elements=(*robot.model.elements, spring))))
    with caplog.at_level("WARNING", logger="linkwork"):
        analysis = loose.analyse("lift", steps=4)
    assert (
        'spring "slack" is shorter than its free length 2 m in 4 of 4 instants and hangs loose'
        in caplog.text
    )
    assert not analysis["spring.slack"].any()
