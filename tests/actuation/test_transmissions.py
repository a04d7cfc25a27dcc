"""Transmissions: every closed form against a root search on its own loop, both ways, with rates."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from scipy.optimize import brentq

import linkwork as lw
from linkwork.actuation.transmissions import crank_angle, rocker_angle
from linkwork.errors import InvalidInput, InvalidModel
from linkwork.model import Joint, Model, Placement, validated
from linkwork.model.elements import (
    Belt,
    Coupling,
    Differential,
    FourBar,
    FourBarLoop,
    Gear,
    LinearActuator,
    Point,
)
from linkwork.model.rotation import from_euler
from tests.loops.machines import four_bar, hinge_with_strut, link, slope
from tests.numeric import world_poses

RNG = np.random.default_rng(5)
TURNED = Placement(from_euler("zyx", (0.3, -0.7, 1.1)), (0.2, -0.1, 0.4))


def length(robot: lw.Robot, q: float) -> float:
    """Distance between foot and head, from the poses of the bodies in plain numpy."""
    strut = robot.model.elements[0]
    poses = world_poses(robot.model, {"root": (), "joint": (q,)})
    ends = [poses[p.body] @ np.array([*p.position, 1.0]) for p in (strut.foot, strut.head)]
    return float(np.linalg.norm((ends[1] - ends[0])[:3]))


@pytest.mark.parametrize("branch", [1, -1])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_strut_between_any_two_points_is_inverted_exactly(branch, kind, swapped):
    for _ in range(2):
        foot, head = (tuple(RNG.uniform(-0.5, 0.5, 3)) for _ in range(2))
        axis = tuple(RNG.normal(size=3))
        robot = lw.Robot(hinge_with_strut(foot, head, axis, branch, kind, TURNED))
        if swapped:
            strut = LinearActuator(
                "strut", Point("arm", head), Point("base", foot), "joint", branch=branch
            )
            robot = lw.Robot(
                validated(Model("m", robot.model.bodies, robot.model.joints, elements=(strut,)))
            )
        (q,), _, _ = robot.from_actuators([_inside(robot)])
        assert length(robot, q) == pytest.approx(_inside(robot), abs=1e-14)
        h = 1e-6
        slope = (length(robot, q + h) - length(robot, q - h)) / (2 * h)
        assert np.sign(slope) == branch
        root = brentq(_gap, q - 0.05, q + 0.05, (robot, _inside(robot)), xtol=1e-15)
        assert q == pytest.approx(root, abs=1e-13)


def _gap(q: float, robot: lw.Robot, wanted: float) -> float:
    return length(robot, q) - wanted


def _inside(robot: lw.Robot) -> float:
    """A length well inside the range of the robot's only strut."""
    from linkwork.actuation.layout import layout_of

    low, high = layout_of(robot.subject).driven[0].drive.span()
    return 1.7 * low + 0.2 if np.isinf(high) else 0.6 * low + 0.4 * high


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_rates_of_a_strut_equal_central_differences_and_undo_each_other(kind):
    robot = lw.Robot(
        hinge_with_strut((0.3, 0.1, 0.2), (0.1, -0.4, 0.1), (0.2, 0.5, 1.0), 1, kind, TURNED)
    )
    c0 = _inside(robot)
    t = np.linspace(-1, 1, 201)
    h = t[1] - t[0]
    c, cd, cdd = c0 + 0.02 * np.sin(t), 0.02 * np.cos(t), -0.02 * np.sin(t)
    q, v, a = robot.from_actuators(c[:, None], cd[:, None], cdd[:, None])
    assert np.abs(slope(q, h) - v[2:-2]).max() < 1e-8  # h^4 / 30 of the fifth derivative
    assert np.abs(slope(v, h) - a[2:-2]).max() < 1e-8
    for back, given in zip(robot.to_actuators(q, v, a), (c, cd, cdd), strict=True):
        assert np.abs(back[:, 0] - given).max() < 1e-14


def test_near_a_dead_point_the_angle_keeps_its_digits():
    """phi = 1e-6 rad: an arc cosine would lose half the digits."""
    robot = lw.Robot(hinge_with_strut((0.5, 0.0, 0.0), (0.2, 0.0, 0.0)))
    q = 1e-6
    c = np.sqrt(0.3**2 + 4 * 0.1 * np.sin(q / 2) ** 2)
    # c itself has 1e-16 / 3e-13 left of q^2
    assert robot.from_actuators([c])[0][0] == pytest.approx(q, rel=1e-4)
    assert robot.to_actuators([q], [1.0])[1][0] == pytest.approx(0.1 * np.sin(q) / c, rel=1e-14)


def test_unreachable_lengths_are_refused_with_the_numbers():
    robot = lw.Robot(hinge_with_strut((0.5, 0.0, 0.0), (0.2, 0.0, 0.0)))
    with pytest.raises(InvalidInput, match=r'actuator "strut": length 0.29 m outside 0.3 .. 0.7 m'):
        robot.from_actuators([0.29])
    with pytest.raises(InvalidInput, match=r"length 0.71 m outside 0.3 .. 0.7 m \(sample \(2,\)\)"):
        robot.from_actuators([[0.4], [0.5], [0.71]])


def test_at_a_dead_point_positions_exist_and_rates_are_refused():
    robot = lw.Robot(hinge_with_strut((0.5, 0.0, 0.0), (0.25, 0.0, 0.0)))
    assert robot.from_actuators([0.75])[0] == pytest.approx([np.pi], abs=1e-7)
    with pytest.raises(InvalidInput, match="dead point"):
        robot.from_actuators([0.75], [0.1])


def test_the_stroke_limits_the_geometry():
    robot = lw.Robot(hinge_with_strut((0.5, 0.0, 0.0), (0.2, 0.0, 0.0), lower=0.35, upper=0.6))
    with pytest.raises(InvalidInput, match=r"outside 0.35 .. 0.6 m"):
        robot.from_actuators([0.65])


def test_a_slide_across_its_strut_is_refused():
    robot = lw.Robot(hinge_with_strut((0.2, 0.0, 0.0), (0.0, 0.0, 0.1), kind="prismatic"))
    with pytest.raises(InvalidInput, match=r"length 0.19 m outside 0.2 .. inf m"):
        robot.from_actuators([0.19])


def test_the_half_turn_nearest_to_the_limits_is_taken():
    from dataclasses import replace

    from linkwork.model import Limits

    model = hinge_with_strut((0.5, 0.0, 0.0), (0.2, 0.0, 0.0))
    far = replace(model.joints[1], limits=(Limits(5.5, 9.0),))
    robot = lw.Robot(validated(replace(model, joints=(model.joints[0], far))))
    plain = lw.Robot(model).from_actuators([0.5])[0]
    assert robot.from_actuators([0.5])[0] == pytest.approx(plain + 2 * np.pi, abs=1e-14)


LOOPS = (
    FourBarLoop(1.0, 0.3, 0.9, 0.7, 1),
    FourBarLoop(1.0, 0.3, 0.9, 0.7, -1),
    FourBarLoop(0.3, 0.9, 0.8, 0.7, 1),
)


@pytest.mark.parametrize("loop", LOOPS, ids=["crank-rocker", "crossed", "drag link"])
def test_the_rocker_closes_the_four_bar(loop):
    for crank in np.linspace(-7.0, 7.0, 57):
        rocker = float(rocker_angle(loop, crank))
        b = loop.crank * np.array([np.cos(crank), np.sin(crank)])
        c = np.array([loop.ground, 0.0]) + loop.rocker * np.array([np.cos(rocker), np.sin(rocker)])
        assert np.linalg.norm(c - b) == pytest.approx(loop.coupler, abs=1e-14)
        diagonal = np.array([loop.ground, 0.0]) - b
        turn = diagonal[0] * (c - b)[1] - diagonal[1] * (c - b)[0]
        assert np.sign(turn) == loop.branch


def test_a_drag_link_goes_round_without_a_jump():
    loop = LOOPS[2]
    rocker = np.array([float(rocker_angle(loop, x)) for x in np.linspace(-10, 10, 2001)])
    assert np.abs(np.diff(rocker)).max() < 0.05
    assert rocker[-1] - rocker[0] == pytest.approx(20.0, abs=1.5)


def test_the_crank_is_found_again():
    for loop in LOOPS[:2]:
        for crank in np.linspace(0.3, 2.5, 12):  # one side of the crank's dead points
            found = float(crank_angle(loop, rocker_angle(loop, crank)))
            assert float(rocker_angle(loop, found)) == pytest.approx(
                float(rocker_angle(loop, crank)), abs=1e-12
            )


def test_a_four_bar_drive_equals_the_four_bar_as_a_mechanism():
    """The massless drive's closed form against root finding on three bodies and a pin."""
    mechanism = lw.Robot(four_bar())
    drive = FourBar("motor", "joint", (LOOPS[0],))
    joints = (Joint("joint", "revolute", None, "arm"),)
    robot = lw.Robot(validated(Model("driven", (link("arm", 0.7),), joints, elements=(drive,))))
    c = np.linspace(0.0, 6.0, 40)[:, None]
    cd, cdd = np.full_like(c, 0.7), np.full_like(c, -0.3)
    q, v, a = robot.from_actuators(c, cd, cdd)
    for ours, theirs in zip((q, v, a), mechanism.from_actuators(c, cd, cdd), strict=True):
        assert np.abs(ours[:, 0] - theirs[:, 2]).max() < 1e-12


@pytest.mark.parametrize("loop", LOOPS, ids=["crank-rocker", "crossed", "drag link"])
def test_a_crank_that_goes_round_has_the_effort_of_its_own_side(loop):
    """Two cranks reach one rocker angle; virtual work at the commanded one,
    by differences over a whole turn."""
    drive = FourBar("motor", "joint", (loop,))
    joints = (Joint("joint", "revolute", None, "arm"),)
    model = Model(
        "driven", (link("arm", 0.7),), joints, elements=(drive,), gravity=(0.0, -9.81, 0.0)
    )
    robot = lw.Robot(validated(model))
    c = np.linspace(0.1, 6.2, 62)[:, None]
    cd, cdd = np.full_like(c, 0.7), np.full_like(c, -0.3)
    found = robot.analyse({"time": c[:, 0], "c": c, "cd": cd, "cdd": cdd})
    h = 1e-6
    dq_dc = (robot.from_actuators(c + h)[0] - robot.from_actuators(c - h)[0]) / (2 * h)
    expected = robot.inverse_dynamics(found.q, found.v, found.a) * dq_dc
    assert found["actuator.motor"] == pytest.approx(expected[:, 0], abs=1e-7)  # of the differences
    assert found["power.motor"] == pytest.approx(found["actuator.motor"] * 0.7, abs=1e-14)


def test_a_six_bar_is_two_four_bars_in_series():
    first, second = LOOPS[0], FourBarLoop(0.8, 0.25, 0.7, 0.6, -1)
    drive = FourBar("motor", "joint", (first, second), crank_offset=0.2, offset=-0.1)
    joints = (Joint("joint", "revolute", None, "arm"),)
    robot = lw.Robot(validated(Model("six", (link("arm", 0.7),), joints, elements=(drive,))))
    c = np.linspace(0.5, 2.0, 31)[:, None]
    q, v, _ = robot.from_actuators(c, np.ones_like(c))
    expected = [float(rocker_angle(second, rocker_angle(first, x + 0.2))) - 0.1 for x in c[:, 0]]
    assert np.abs(q[:, 0] - expected).max() < 1e-14
    assert np.abs(slope(q, c[1, 0] - c[0, 0]) - v[2:-2]).max() < 1e-4  # steps of 0.05 rad


def test_a_four_bar_that_cannot_turn_so_far_says_so():
    drive = FourBar("motor", "joint", (FourBarLoop(1.0, 0.8, 0.4, 0.5),))
    joints = (Joint("joint", "revolute", None, "arm"),)
    robot = lw.Robot(validated(Model("m", (link("arm", 0.7),), joints, elements=(drive,))))
    with pytest.raises(
        InvalidInput, match=r'four-bar drive "motor": at 2.5 rad loop 0 cannot close'
    ):
        robot.from_actuators([2.5])


def two_joints(*elements) -> lw.Robot:
    joints = (
        Joint("shoulder", "revolute", None, "upper"),
        Joint("elbow", "revolute", "upper", "lower", Placement(position=(0.5, 0.0, 0.0))),
    )
    return lw.Robot(
        validated(Model("arm", (link("upper", 0.5), link("lower", 0.5)), joints, elements=elements))
    )


def test_a_gear_divides_angle_and_multiplies_torque():
    robot = two_joints(Gear("motor", "elbow", ratio=50.0, offset=0.3))
    q, v, a = robot.from_actuators([0.1, 25.3], [0.0, 5.0], [0.0, 10.0])
    assert np.allclose([q[1], v[1], a[1]], [0.5, 0.1, 0.2], atol=1e-15)
    tau = robot.inverse_dynamics(q, v, a)
    loads = robot.loads(q, v, a)
    assert loads.actuator("motor") == pytest.approx(tau[1] / 50, rel=1e-14)
    assert loads.actuator("shoulder") == pytest.approx(tau[0], rel=1e-14)


def test_a_belt_from_below_sees_its_carrier_turn():
    """Motor power equals joint power for any motion:
    the carrier's motor takes part of the belt's load."""
    robot = two_joints(Belt("motor", "elbow", 0.02, 0.05, carrier="shoulder"))
    c, cd, cdd = np.array([0.4, 1.5]), np.array([0.3, -0.8]), np.array([0.2, 0.9])
    q, v, a = robot.from_actuators(c, cd, cdd)
    assert q == pytest.approx([0.4, 0.4 * 1.5 - 0.4], abs=1e-15)
    loads = robot.loads(q, v, a)
    motors = np.array([loads.actuator("shoulder"), loads.actuator("motor")])
    assert motors @ cd == pytest.approx(robot.inverse_dynamics(q, v, a) @ v, rel=1e-13)
    assert np.allclose(robot.to_actuators(q, v, a)[0], c, atol=1e-15)


def test_a_differential_shares_both_torques():
    robot = two_joints(
        Differential("wrist", ("shoulder", "elbow"), ("left", "right"), ((0.5, 0.5), (0.5, -0.5)))
    )
    assert robot.actuators == ("left", "right")
    c, cd, cdd = np.array([0.9, 0.2]), np.array([0.5, -0.4]), np.array([0.1, 0.7])
    q, v, a = robot.from_actuators(c, cd, cdd)
    assert q == pytest.approx([0.55, 0.35], abs=1e-15)
    loads = robot.loads(q, v, a)
    motors = np.array([loads.actuator("left"), loads.actuator("right")])
    assert motors @ cd == pytest.approx(robot.inverse_dynamics(q, v, a) @ v, rel=1e-13)


def test_a_coupled_joint_follows_and_loads_its_leader():
    robot = two_joints(Coupling("chain", (("elbow", 1.0), ("shoulder", 2.0)), offset=0.1))
    assert robot.actuators == ("shoulder",)
    q, v, a = robot.from_actuators([0.3], [0.2], [0.4])
    assert q == pytest.approx([0.3, 0.1 - 0.6], abs=1e-15)
    tau = robot.inverse_dynamics(q, v, a)
    assert robot.loads(q, v, a).actuator("shoulder") == pytest.approx(
        tau[0] - 2.0 * tau[1], rel=1e-13
    )


def test_couplings_in_a_circle_are_refused():
    a, b = (
        Coupling("a", (("elbow", 1.0), ("shoulder", 1.0))),
        Coupling("b", (("shoulder", 1.0), ("elbow", 2.0))),
    )
    with pytest.raises(InvalidModel, match="in a circle"):
        _ = two_joints(a, b).actuators


def test_a_joint_driven_twice_is_refused():
    with pytest.raises(InvalidModel, match=r'joint "elbow" has 1 coordinate.* driven by 2 element'):
        _ = two_joints(Gear("a", "elbow"), Gear("b", "elbow")).actuators


def test_forward_and_backward_are_the_same_symbols_as_casadi_differentiates():
    """Second derivative of the hinge's closed form against CasADi's of c(q),
    by the inverse function's rule."""
    robot = lw.Robot(hinge_with_strut((0.5, 0.1, 0.0), (0.2, 0.3, 0.0)))
    q = casadi.SX.sym("q")
    from linkwork.actuation.layout import layout_of

    drive = layout_of(robot.subject).driven[0].drive
    ((c,), _, _) = drive.backward([q], [casadi.SX(0)], [casadi.SX(0)])
    d1, d2 = casadi.gradient(c, q), casadi.hessian(c, q)[0]
    check = casadi.Function("d", [q], [c, d1, d2])
    (q0,), (v0,), (a0,) = robot.from_actuators([0.55], [1.0], [0.0])
    value, first, second = (float(x) for x in check(q0))
    assert value == pytest.approx(0.55, abs=1e-15)
    assert v0 == pytest.approx(1 / first, rel=1e-13)
    assert a0 == pytest.approx(-second / first**3, rel=1e-12)


def test_margins_are_negative_exactly_where_a_length_is_out_of_range():
    from linkwork.actuation.layout import layout_of

    slide = lw.Robot(
        hinge_with_strut((0.2, 0.0, 0.0), (0.0, 0.0, 0.1), kind="prismatic", lower=0.1, upper=0.6)
    )
    hinge = lw.Robot(hinge_with_strut((0.5, 0.0, 0.0), (0.2, 0.0, 0.0), lower=0.35, upper=0.6))
    for robot in (slide, hinge):
        drive = layout_of(robot.subject).driven[0].drive
        low, high = drive.span()
        for length in (0.15, low - 1e-6, low + 1e-6, (low + high) / 2, high - 1e-6, high + 1e-6):
            margins = [float(m) for m in drive.inside([casadi.SX(length)])]
            assert (min(margins) >= 0.0) == (low <= length <= high)
