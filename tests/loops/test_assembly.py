"""Assembly: loops that close, loops that cannot, and the verdict in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, InvalidModel, NotPossible, UnknownName
from linkwork.loops.mobility import free_motions, mobility
from linkwork.model import Joint, Model, Placement, validated
from linkwork.model.elements import LinearActuator, LoopClosure, Point
from tests.loops.machines import SCISSOR, four_bar, link, scissor_lift, slope

KINDS = ("hinge", "point", "planar_hinge")
UPRIGHT = (
    ("reference", (("crank_joint", (0.9,)), ("coupler_joint", (-0.9,)), ("rocker_joint", (0.9,)))),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_assembled_near_where_it_started(kind):
    robot = lw.Robot(four_bar(kind=kind))
    start = robot.assemble().q + np.random.default_rng(0).normal(size=(20, 3)) * 0.1
    result = robot.assemble(start)
    assert result.success.all()
    assert result.error.max() < 1e-12
    assert np.abs(result.q - start).max() < 1.0
    tip = robot.points(result.q)
    assert np.abs(tip["coupler"]["tip"] - tip["rocker"]["tip"]).max() < 1e-12


def test_links_in_one_line_are_assembled_too():
    """Stretched out, no hinge feels the gap; small steps off the line find a way,
    the same one every time."""
    robot = lw.Robot(replace(four_bar(), configurations=()))
    found = robot.assemble(np.zeros((2, 3)))
    assert found.success.all()
    assert np.array_equal(found.q[0], found.q[1])
    assert np.array_equal(robot.assemble(np.zeros(3)).q, found.q[0])


def test_every_design_of_a_batch_is_assembled_with_its_own_numbers():
    robot = lw.load(SCISSOR, live=["half"])
    halves = np.array([0.95, 1.0, 1.05])
    found = robot.assemble(robot.assemble().q, variables={"half": halves})
    assert found.success.all()
    for k, half in enumerate(halves):
        alone = robot.assemble(robot.assemble().q, variables={"half": half})
        assert np.array_equal(alone.q, found.q[k])


def test_a_start_of_the_wrong_size_and_an_unknown_held_joint_are_refused():
    robot = lw.Robot(four_bar())
    with pytest.raises(InvalidInput, match=r"assemble: q0 has shape \(2,\), expected \(..., 3\)"):
        robot.assemble([0.0, 1.0])
    with pytest.raises(InvalidInput, match="assemble: q0 is not finite"):
        robot.assemble([0.0, 1.0, np.nan])
    with pytest.raises(UnknownName, match='no joint "crank"; did you mean "crank_joint"'):
        robot.assemble(hold=["crank"])


def test_held_joints_keep_their_values():
    robot = lw.Robot(four_bar())
    start = robot.assemble().q + [0.2, 0.0, 0.0]
    assert robot.assemble(start, hold=("crank_joint",)).q[0] == start[0]


def test_loops_that_cannot_close_say_which_and_by_how_much():
    """Crank 0.3, coupler 0.9 and rocker 0.7 cannot bridge a ground of 2 m: the best leaves 0.1
    m."""
    robot = lw.Robot(four_bar(ground=2.0))
    result = robot.assemble(np.array([0.1, -0.05, 3.0]))
    assert not result.success
    assert result.error == pytest.approx(0.1, abs=1e-6)
    assert 'closure "pin" stays open by 0.1 m in' in result.reason[()]
    with pytest.raises(
        NotPossible, match='robot "four_bar" cannot be assembled: closure "pin" stays open'
    ):
        robot.from_actuators([0.0])


def test_a_command_out_of_reach_names_the_loop_and_the_command():
    robot = lw.Robot(four_bar(crank=0.8, coupler=0.4, rocker=0.5))
    sentence = r"loops do not close for the commands of sample \(1,\) \(crank_joint = 2.5\)"
    with pytest.raises(InvalidInput, match=sentence):
        robot.from_actuators([[0.6], [2.5]])


@pytest.mark.parametrize("kind", KINDS)
def test_rates_of_loops_equal_differences(kind):
    robot = lw.Robot(four_bar(kind=kind))
    t = np.linspace(0.0, 2.0, 401)
    c, cd, cdd = 1.0 + np.sin(t), np.cos(t), -np.sin(t)
    q, v, a = robot.from_actuators(c[:, None], cd[:, None], cdd[:, None])
    assert np.abs(slope(q, t[1]) - v[2:-2]).max() < 1e-7
    assert np.abs(slope(v, t[1]) - a[2:-2]).max() < 1e-7


def test_one_sample_equals_its_place_in_a_batch_bit_for_bit():
    robot = lw.Robot(four_bar())
    c = np.linspace(0.2, 5.0, 13)[:, None]
    q, v, a = robot.from_actuators(c, np.ones_like(c), np.ones_like(c))
    for k in (0, 5, 12):
        one = robot.from_actuators(c[k], np.ones(1), np.ones(1))
        assert all(np.array_equal(x, y[k]) for x, y in zip(one, (q, v, a), strict=True))


def test_the_assembly_of_the_start_is_kept():
    """The crossed four-bar stays crossed all the way round."""
    robot = lw.Robot(four_bar())
    crossed = robot.assemble(np.array([1.0, -2.2, -1.2])).q
    c = crossed[0] + np.linspace(0.0, 6.2, 60)[:, None]
    q, _, _ = robot.from_actuators(c, q0=crossed)
    tips = robot.points(q)
    crank, pin = tips["crank"]["tip"], tips["coupler"]["tip"]
    diagonal = np.array([1.0, 0.0, 0.0]) - crank
    assert (np.cross(diagonal, pin - crank)[:, 2] < 0).all()


def test_mobility_counts_the_redundant_rows_of_planar_loops():
    expected = {
        "hinge": (-2, 3, ("z", "ru", "rv")),
        "point": (0, 1, ("z",)),
        "planar_hinge": (1, 0, ()),
    }
    for kind, (gruebler, redundant, rows) in expected.items():
        found = mobility(lw.Robot(four_bar(kind=kind)).subject)
        assert (found.gruebler, found.degrees, found.redundant) == (gruebler, 1, redundant)
        assert found.redundant_rows == tuple(("pin", row) for row in rows)


def test_at_a_change_point_the_free_motions_are_two():
    """A parallelogram laid flat can go on as a parallelogram or as a contra-parallelogram."""
    robot = lw.Robot(replace(four_bar(1.0, 0.5, 1.0, 0.5), configurations=UPRIGHT))
    assert len(free_motions(robot.subject, [0.9, -0.9, 0.9])) == 1
    assert len(free_motions(robot.subject, [0.0, 0.0, 0.0])) == 2
    assert mobility(robot.subject, [0.0, 0.0, 0.0]).degrees == 2


def test_a_second_consistent_loop_changes_nothing_and_an_inconsistent_one_is_refused():
    """A distance bar between two points that keep their distance anyway: over-determined,
    consistent."""
    ends = Point("crank", (0.25, 0.0, 0.0)), Point("rocker", (0.25, 0.0, 0.0))
    mid = LoopClosure("rung", "distance", *ends, length=1.0)
    base = replace(four_bar(1.0, 0.5, 1.0, 0.5, extra=(mid,)), configurations=UPRIGHT)
    robot = lw.Robot(validated(base))
    c = np.linspace(0.6, 1.3, 9)[:, None]
    q, v, a = robot.from_actuators(c, np.ones_like(c), np.zeros_like(c))
    assert np.abs(q - np.c_[c, -c, c]).max() < 1e-12
    loads = robot.loads(q, v, a)
    assert loads.structure.undetermined == 4  # three of the pin, and the rung's own force
    assert np.abs(loads.residual).max() < 1e-12
    wrong = replace(mid, length=1.05)
    broken = lw.Robot(validated(replace(base, elements=(base.elements[0], wrong))))
    with pytest.raises(NotPossible, match="cannot be assembled"):
        broken.from_actuators(c)


def test_a_joint_that_nothing_holds_is_named():
    """Two links on a ball-ended strut: the strut cannot hold both joints."""
    joints = (
        Joint("shoulder", "revolute", None, "upper"),
        Joint("elbow", "revolute", "upper", "lower", Placement(position=(0.5, 0.0, 0.0))),
    )
    ends = Point(None, (0.9, 0.5, 0.0)), Point("lower", (0.5, 0.0, 0.0))
    closure = LoopClosure("rope", "distance", *ends, length=0.6, dependent=("shoulder", "elbow"))
    model = Model("loose", (link("upper", 0.5), link("lower", 0.5)), joints, elements=(closure,))
    robot = lw.Robot(validated(model))
    with pytest.raises(
        InvalidModel, match="1 of the 2 coordinates of shoulder, elbow are decided by no closure"
    ):
        robot.from_actuators(np.zeros(0))
    with pytest.raises(InvalidModel, match="no motor and no loop element holds the motion of"):
        robot.loads(np.zeros(2), np.zeros(2), np.zeros(2))


def test_a_strut_across_two_joints_is_solved_by_its_length():
    joints = (
        Joint("shoulder", "revolute", None, "upper"),
        Joint("elbow", "revolute", "upper", "lower", Placement(position=(0.5, 0.0, 0.0))),
    )
    ends = Point(None, (0.9, 1.0, 0.0)), Point("lower", (0.5, 0.0, 0.0))
    strut = LinearActuator("strut", *ends, "elbow", lower=0.1, upper=0.9)
    start = (("reference", (("shoulder", (0.2,)), ("elbow", (0.6,)))),)
    model = Model(
        "arm",
        (link("upper", 0.5), link("lower", 0.5)),
        joints,
        elements=(strut,),
        configurations=start,
    )
    robot = lw.Robot(validated(model))
    assert robot.actuators == ("shoulder", "strut")
    c0 = robot.to_actuators([0.2, 0.6])[0]
    c = c0 + np.linspace(-0.02, 0.05, 7)[:, None]
    q, v, a = robot.from_actuators(c, np.full_like(c, 0.3), np.full_like(c, -0.2))
    back = robot.to_actuators(q, v, a)
    assert np.abs(back[0] - c).max() < 1e-13
    assert np.abs(back[1] - 0.3).max() < 1e-12
    assert np.abs(back[2] + 0.2).max() < 1e-11
    loads = robot.loads(q, v, a)
    power = loads.actuator("shoulder") * 0.3 + loads.actuator("strut") * 0.3
    assert power == pytest.approx((robot.inverse_dynamics(q, v, a) * v).sum(axis=1), rel=1e-11)
    with pytest.raises(InvalidInput, match=r'actuator "strut": length 0.95 m outside 0.1 .. 0.9 m'):
        robot.from_actuators([0.2, 0.95])


def test_the_scissor_lift_has_one_degree_of_freedom():
    found = mobility(scissor_lift().subject)
    assert found.degrees == 1
    assert found.redundant_rows == (("roller_right", "z"), ("wheel_right", "z"))
