"""Sharing, springs and dead points: each odd case has a defined answer."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ComputationError, InvalidInput, InvalidModel, UnknownName
from linkwork.loads.load_sharing import structure_of
from linkwork.model import Joint, Model, Placement, validated
from linkwork.model.elements import (
    Bar,
    Damper,
    LinearActuator,
    Point,
    Share,
    Slider,
    Spring,
    Stiffness,
    TorsionSpring,
)
from tests.loops.charmie_model import PLATFORM_RULES, TORSO_RULES, charmie
from tests.loops.machines import casadi_loads, hinge_with_strut, link

STILL = np.zeros(1)
SLIDE = (
    Joint("root", "fixed", None, "base"),
    Joint("joint", "prismatic", "base", "arm", axis=(0.0, 1.0, 0.0)),
)


def arm(*elements, joints=None) -> lw.Robot:
    """A bar of 1 kg and 0.5 m on a horizontal hinge, gravity across it."""
    joints = joints or (
        Joint("root", "fixed", None, "base"),
        Joint("joint", "revolute", "base", "arm"),
    )
    bodies = (link("base", 0.5), link("arm", 0.5))
    return lw.Robot(
        validated(Model("arm", bodies, joints, elements=elements, gravity=(0.0, -9.81, 0.0)))
    )


# rules


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (Share("5", "fy", (("joint_5", 0.5), ("act5", 0.5))), 'already decide fy of "joint_5"'),
        (Share("5", "mx", (("act5", 0.5), ("joint_5", 0.5))), '"act5" cannot carry mx at all'),
        (
            Share("5", "fx", (("joint_4", 1.0),)),
            '"joint_4" does not support the body; joint_5, act5 do',
        ),
    ],
)
def test_rules_that_cannot_hold_are_refused(rule, sentence):
    rules = tuple(
        r
        for r in PLATFORM_RULES + TORSO_RULES
        if (r.body, r.direction) != (rule.body, rule.direction)
    )
    with pytest.raises(InvalidModel, match=sentence):
        structure_of(lw.Robot(charmie(rules=(*rules, rule))).subject)


def test_a_direction_ruled_twice_is_refused():
    with pytest.raises(InvalidModel, match="direction fx is ruled twice"):
        structure_of(lw.Robot(charmie(rules=(TORSO_RULES[0], TORSO_RULES[0]))).subject)


def test_weights_divide_as_stiffness_does():
    """Two parallel hinged struts beside a slide: side forces in the ratio of their weights."""
    base, top = link("base", 0.1), link("top", 0.2, 5.0)
    joints = (
        Joint("root", "fixed", None, "base"),
        Joint("slide", "prismatic", "base", "top", axis=(0.0, 0.0, 1.0)),
    )
    struts = [
        LinearActuator(
            f"s{k}",
            Point("base", (x, 0.0, -1.0)),
            Point("top", (x, 0.0, 0.0)),
            "slide" if k == 0 else None,
        )
        for k, x in enumerate((-0.3, 0.3))
    ]
    rules = (Stiffness("s0", (1, 1, 3, 1, 1, 1)), Stiffness("slide", (1e-9,) * 3 + (1e9,) * 3))
    robot = lw.Robot(validated(Model("press", (base, top), joints, elements=(*struts, *rules))))
    loads = casadi_loads(robot, STILL, STILL, STILL)
    assert loads.actuator("s0") == pytest.approx(3 * loads.actuator("s1"), rel=1e-6)
    assert loads.actuator("s0") + loads.actuator("s1") == pytest.approx(5.0 * 9.81, rel=1e-12)
    assert not loads.unique_actuator("s0")


def test_a_robot_without_loops_has_only_unique_loads():
    robot = lw.Robot(charmie(loops=False))
    structure = structure_of(robot.subject)
    assert (structure.unknowns, structure.undetermined) == (0, 0)
    assert structure.unique_joint.all()


# dead points


def test_a_strut_through_its_hinge_cannot_carry_and_says_so():
    robot = lw.Robot(hinge_with_strut((0.5, 0.0, 0.0), (0.2, 0.0, 0.0)))
    with pytest.raises(
        InvalidInput,
        match=r'the line of actuator "strut" passes through joint "joint": moment arm 0',
    ):
        robot.loads(STILL, STILL, STILL)
    with pytest.raises(InvalidInput, match=r"moment arm .*sample \(1,\)"):
        robot.loads([[0.4], [np.pi], [0.1]], np.zeros((3, 1)), np.zeros((3, 1)))


def test_a_strut_across_its_slide_cannot_carry():
    robot = lw.Robot(hinge_with_strut((0.2, 0.0, 0.0), (0.0, 0.0, 0.1), kind="prismatic"))
    with pytest.raises(InvalidInput, match="passes through joint"):
        robot.loads([-0.1], STILL, STILL)


def test_a_strut_of_no_length_is_no_direction():
    robot = lw.Robot(hinge_with_strut((0.2, 0.0, 0.0), (0.2, 0.0, 0.0)))
    with pytest.raises((InvalidInput, ComputationError)):
        robot.loads(STILL, STILL, STILL)
    with pytest.raises(InvalidInput, match=r"is a dead point|outside"):
        robot.from_actuators([0.0], [1.0])


def test_a_bar_too_short_for_its_slider_says_by_how_much():
    bar = Bar("bar", Point("base", (0.0, 0.0, 0.0)), 0.3, (0.0, 0.0, 1.0))
    slider = Slider("slider", "bar", Point("arm", (0.0, 0.4, 0.0)), (1.0, 0.0, 0.0))
    spring = Spring("spring", Point("base", (0.0, 0.2, 0.0)), Point("bar", (0.1, 0.0, 0.0)), 100.0)
    robot = arm(bar, slider, spring, joints=SLIDE)
    sentence = (
        r'bar "bar": length 0.3 m is shorter than the 0.4 m between its pivot and the line '
        r"of its slider"
    )
    for call in (robot.members, lambda q: robot.loads(q, STILL, STILL)):
        with pytest.raises(InvalidInput, match=sentence):
            call(STILL)
    assert robot.members(np.array([-0.2]))["bar"].length == pytest.approx(0.3, abs=1e-15)


def test_points_of_a_bar_ride_in_its_own_axes():
    """x to the tip, z along the hinge: a spring's end off the bar's line,
    from the poses of the ends alone."""
    bar = Bar("bar", Point("base", (0.1, 0.0, 0.0)), 0.3, (0.0, 0.0, 1.0))
    slider = Slider("slider", "bar", Point("arm", (0.0, 0.2, 0.0)), (1.0, 0.0, 0.0))
    spring = Spring(
        "spring", Point("base", (0.0, 0.5, 0.0)), Point("bar", (0.12, 0.05, 0.02)), 100.0
    )
    robot = arm(bar, slider, spring, joints=SLIDE)
    members = robot.members(np.array([-0.1]))
    pivot, tip = members["bar"].first, members["bar"].second
    assert tip[1] == pytest.approx(0.1, abs=1e-15)
    x = (tip - pivot) / 0.3
    y = np.cross((0.0, 0.0, 1.0), x)
    assert members["spring"].second == pytest.approx(
        pivot + 0.12 * x + 0.05 * y + [0.0, 0.0, 0.02], abs=1e-14
    )


# springs and dampers


@pytest.mark.parametrize(
    ("kind", "length", "tension"),
    [
        ("tension", 0.5, 7.0 + 100 * 0.1),
        ("tension", 0.3, 0.0),
        ("compression", 0.3, -(7.0 + 100 * 0.1)),
        ("compression", 0.5, 0.0),
        ("both", 0.3, 7.0 - 100 * 0.1),
    ],
)
def test_springs_pull_and_push_as_their_kind_says(kind, length, tension):
    spring = Spring(
        "s", Point("base", (0.0, length, 0.0)), Point("arm", (0.0, 0.0, 0.0)), 100.0, 0.4, 7.0, kind
    )
    robot = arm(spring, joints=SLIDE)
    loads = casadi_loads(robot, STILL, STILL, STILL)
    assert loads.spring("s")[0] == pytest.approx(tension, abs=1e-12)
    assert loads.spring_length("s")[0] == pytest.approx(length, abs=1e-15)
    # the motor lifts what is left
    assert loads.actuator("joint")[0] == pytest.approx(9.81 - tension, abs=1e-12)


def test_a_torsion_spring_takes_load_off_the_motor():
    plain, sprung = arm(), arm(TorsionSpring("t", "joint", 3.0, 0.2, 0.5))
    q = np.array([0.7])
    difference = plain.loads(q, STILL, STILL).actuator("joint") - sprung.loads(
        q, STILL, STILL
    ).actuator("joint")
    assert difference == pytest.approx(-(0.5 + 3.0 * 0.5), abs=1e-13)
    wrench = [r.loads(q, STILL, STILL).joint_wrench("arm") for r in (plain, sprung)]
    assert wrench[0] == pytest.approx(wrench[1], abs=1e-13)


def test_a_damper_dissipates_and_brakes():
    damper = Damper("d", Point("base", (0.1, 0.3, 0.0)), Point("arm", (0.4, 0.0, 0.0)), 20.0)
    plain, damped = arm(), arm(damper)
    q, v = np.array([0.3]), np.array([0.8])
    member = damped.members(q, v)["d"]
    loads = damped.loads(q, v, STILL)
    assert loads.spring("d") == pytest.approx(20.0 * member.rate, rel=1e-13)
    lost = (loads.actuator("joint") - plain.loads(q, v, STILL).actuator("joint")) * v[0]
    assert lost == pytest.approx(20.0 * member.rate**2, rel=1e-12)


# what calls refuse


def test_unknown_names_are_answered_with_the_nearest():
    loads = arm(Spring("spring", Point("base", (0.0, 0.3, 0.0)), Point("arm"), 1.0)).loads(
        STILL, STILL, STILL
    )
    with pytest.raises(UnknownName, match='no body "arn"; did you mean "arm"'):
        loads.joint_wrench("arn")
    with pytest.raises(UnknownName, match='no spring or damper "springs"; did you mean "spring"'):
        loads.spring("springs")
    with pytest.raises(UnknownName, match='no actuator "joints"; did you mean "joint"'):
        loads.actuator("joints")
    with pytest.raises(
        InvalidInput, match="joint_wrench: axes is 'global', expected one of 'body', 'world'"
    ):
        loads.joint_wrench("arm", "global")


def test_forces_and_payloads_reach_the_loads():
    robot = lw.Robot(hinge_with_strut((0.5, -0.3, 0.0), (0.2, 0.0, 0.0)))
    q = np.array([0.3])
    push = np.array([3.0, -20.0, 0.0, 0.0, 0.0, 1.0])
    loads = robot.loads(
        q, STILL, STILL, forces={"arm": push}, payload=lw.Payload("arm", 2.0, (0.4, 0.0, 0.0))
    )
    assert loads.base[:3] == pytest.approx(-push[:3] + [0.0, 0.0, 9.81 * 4.0], abs=1e-12)
    forced = robot.loads(q, STILL, STILL, forces={"arm": push})
    assert np.abs(forced.residual).max() < 1e-12
    tau = robot.inverse_dynamics(q, STILL, STILL, forces={"arm": push})
    lever = robot.to_actuators(q, [1.0])[1]
    assert forced.actuator("strut") == pytest.approx((tau / lever)[0], rel=1e-13)


def test_one_sample_and_a_batch_agree_bit_for_bit():
    robot = lw.Robot(
        hinge_with_strut((0.5, -0.3, 0.0), (0.2, 0.0, 0.0), ends="hinge", axis=(0.0, 0.0, 1.0))
    )
    q = np.linspace(0.2, 1.2, 9)[:, None]
    batch = robot.loads(q, 0.5 * q, -q)
    for k in range(9):
        one = robot.loads(q[k], 0.5 * q[k], -q[k])
        assert np.array_equal(one.joint_wrench("arm"), batch.joint_wrench("arm")[k])
        assert one.actuator("strut") == batch.actuator("strut")[k]
    assert robot.loads(q[:1], q[:1], q[:1]).joint_wrench("arm").shape == (1, 6)


def test_world_axes_are_body_axes_turned():
    robot = lw.Robot(
        hinge_with_strut(
            (0.5, -0.3, 0.0), (0.2, 0.0, 0.0), placement=Placement(position=(0.1, 0.0, 0.0))
        )
    )
    q = np.array([0.8])
    loads = robot.loads(q, STILL, STILL)
    R = robot.forward_kinematics(q)["arm"][:3, :3]
    assert loads.joint_wrench("arm", "world")[:3] == pytest.approx(
        R @ loads.joint_wrench("arm")[:3], abs=1e-14
    )
    head = loads.support("strut", axes="world")
    foot = loads.support("strut", on="first", axes="world")
    # a ball-ended strut: equal and opposite along its own line
    assert head == pytest.approx(-foot, abs=1e-13)
    assert np.linalg.norm(head[:3]) == pytest.approx(abs(loads.actuator("strut")), rel=1e-14)


def test_scaled_weights_of_every_support_change_nothing():
    names = ("joint_4", "joint_5", "act4", "act5", "slider_left", "slider_right")
    rules = tuple(Stiffness(name, (4.0,) * 6) for name in names)
    q = np.zeros(21)
    q[3:5] = 0.18, -0.5
    one = casadi_loads(lw.Robot(charmie(rules=())), q, 0 * q, 0 * q)
    other = casadi_loads(lw.Robot(charmie(rules=rules)), q, 0 * q, 0 * q)
    assert np.abs(one.wrenches - other.wrenches).max() < 1e-9
