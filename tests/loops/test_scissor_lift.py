"""A second machine, from YAML alone: the same residual,
virtual-work and uniqueness tests as CHARMIE."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, InvalidModel
from linkwork.loads.load_sharing import structure_of
from linkwork.model.elements import Share, Spring, Stiffness
from tests.loops.machines import casadi_loads, scissor_lift, slope

STRUTS = ("strut_left", "strut_right", "high_left", "high_right")


@pytest.fixture(scope="module")
def lift() -> lw.Robot:
    return scissor_lift()


@pytest.fixture(scope="module")
def motion(lift):
    """Up and down between 0.3 and 0.9 rad, by the commanded strut."""
    t = np.linspace(0.0, 2.0, 401)
    low, high = (lift.to_actuators([x, -2 * x, x])[0][0] for x in (0.3, 0.9))
    middle, swing = (low + high) / 2, (high - low) / 2
    c, cd, cdd = middle + swing * np.sin(t), swing * np.cos(t), -swing * np.sin(t)
    return (t, *lift.from_actuators(c[:, None], cd[:, None], cdd[:, None]))


def without(lift: lw.Robot, *kinds) -> lw.Robot:
    return lw.Robot(
        replace(
            lift.model, elements=tuple(e for e in lift.model.elements if not isinstance(e, kinds))
        )
    )


def test_the_platform_stays_level_and_the_rollers_on_their_tracks(lift, motion):
    _, q, _, _ = motion
    assert np.abs(q - q[:, :1] * [1, -2, 1]).max() < 1e-12
    points = lift.points(q)
    for side in ("left", "right"):
        assert np.abs(points["crossed"][f"foot_{side}"][:, 2] - 0.2).max() < 1e-12


def test_rates_follow_the_coordinates(motion):
    t, q, v, a = motion
    assert np.abs(slope(q, t[1]) - v[2:-2]).max() < 1e-8
    assert np.abs(slope(v, t[1]) - a[2:-2]).max() < 1e-8


def test_every_body_obeys_newton_and_euler(lift, motion):
    _, q, v, a = motion
    assert np.abs(lift.loads(q, v, a).residual).max() < 1e-10


def test_struts_and_springs_do_the_virtual_work_of_the_lift(lift, motion):
    """Power of all four struts = rate of energy of the bodies + of the spring + loss in the
    damper."""
    t, q, v, a = motion
    loads, members = lift.loads(q, v, a), lift.members(q, v)
    power = sum(loads.actuator(name) * members[name].rate for name in STRUTS)
    tree = (lift.inverse_dynamics(q, v, a) * v).sum(axis=1)
    spring = -loads.spring("spring") * members["spring"].rate
    damper = -loads.spring("damper") * members["damper"].rate
    assert power == pytest.approx(tree - spring - damper, abs=1e-10)
    energy = 0.5 * 900 * np.clip(1.5 - members["spring"].length, 0.0, None) ** 2
    assert np.abs(slope(energy, t[1]) + spring[2:-2]).max() < 1e-6
    assert (-damper >= 0.0).all()


def test_rates_of_members_are_slopes_of_their_lengths(lift, motion):
    t, q, v, _ = motion
    members = lift.members(q, v)
    for name in (*STRUTS, "spring", "damper"):
        assert np.abs(slope(members[name].length, t[1]) - members[name].rate[2:-2]).max() < 1e-8
        ends = members[name].second - members[name].first
        assert np.abs(members[name].direction * members[name].length[:, None] - ends).max() < 1e-15


def test_the_ground_knows_neither_spring_nor_rule(lift, motion):
    _, q, v, a = (x[::80] for x in motion)
    base = lift.loads(q, v, a).base
    others = [
        without(lift, Spring),
        without(lift, Stiffness),
        lw.Robot(
            replace(
                lift.model,
                elements=(*lift.model.elements, Stiffness("wheel_left", (1, 1, 9, 1, 1, 1))),
            )
        ),
    ]
    for other in others:
        loads = casadi_loads(other, q, v, a)
        assert np.abs(loads.base - base).max() < 1e-9
        # the base stands at the world's origin
        assert np.abs(loads.joint_wrench("base") - base).max() < 1e-9


def test_what_is_unique_does_not_move_and_the_rest_does(lift, motion):
    _, q, v, a = (x[::80] for x in motion)
    one, other = lift.loads(q, v, a), casadi_loads(without(lift, Stiffness), q, v, a)
    structure = structure_of(lift.subject)
    assert (structure.unknowns, structure.rank, structure.undetermined) == (8, 3, 5)
    for body in lift.bodies:
        moved = np.abs(one.joint_wrench(body) - other.joint_wrench(body)).max(axis=0)
        unique = one.unique(body)
        assert moved[unique].max(initial=0.0) < 1e-9
    assert not any(one.unique_actuator(name) for name in STRUTS)
    assert np.abs(one.actuator("high_left") - other.actuator("high_left")).max() > 1.0
    assert one.unique("base").all()


def test_without_weights_both_sides_carry_the_same_but_for_the_off_centre_load(lift, motion):
    """A load in the middle of the platform and no weights: left and right struts push alike."""
    _, q, v, a = (x[::80] for x in motion)
    bodies = []
    for body in lift.model.bodies:
        x, _, z = body.mass_properties.com
        bodies.append(replace(body, mass_properties=replace(body.mass_properties, com=(x, 0.0, z))))
    symmetric = lw.Robot(replace(without(lift, Stiffness).model, bodies=tuple(bodies)))
    loads = casadi_loads(symmetric, q, v, a)
    for left, right in (("strut_left", "strut_right"), ("high_left", "high_right")):
        assert loads.actuator(left) == pytest.approx(loads.actuator(right), abs=1e-9)


def test_explicit_shares_between_struts_are_kept(lift, motion):
    _, q, v, a = (x[::80] for x in motion)
    elements = tuple(e for e in lift.model.elements if not isinstance(e, Stiffness))
    rules = (
        Share("platform", "fz", (("high_left", 0.75), ("high_right", 0.25)), others="free"),
        Share("arm", "fz", (("strut_left", 0.5), ("strut_right", 0.5)), others="free"),
        Share("crossed", "fz", (("roller_left", 1.0), ("roller_right", 0.0)), others="free"),
    )
    loads = casadi_loads(lw.Robot(replace(lift.model, elements=(*elements, *rules))), q, v, a)
    assert loads.actuator("high_left") == pytest.approx(3 * loads.actuator("high_right"), rel=1e-9)
    assert loads.actuator("strut_left") == pytest.approx(loads.actuator("strut_right"), rel=1e-9)
    assert np.abs(loads.support("roller_right")).max() < 1e-9
    assert loads.structure.free == 2
    assert np.abs(loads.residual).max() < 1e-10


def test_a_rule_against_equilibrium_is_refused(lift):
    """The moment about the hinge fixes how struts and wheels share: no rule may ask for more."""
    parts = (("high_left", 0.3), ("high_right", 0.1), ("top", 0.4), ("wheel_left", 0.2))
    rule = Share("platform", "fz", parts)
    robot = lw.Robot(replace(lift.model, elements=(*lift.model.elements, rule)))
    with pytest.raises(InvalidModel, match='already decide fz of "wheel_right"; say others: free'):
        structure_of(robot.subject)


def test_live_variables_change_loads_without_a_new_kernel(motion):
    """Arms of several lengths in one batch equal robots built with each length."""
    live = lw.load("tests/loops/scissor_lift.robot.yaml", live=["stiffness"])
    _, q, v, a = (x[::200] for x in motion)
    stiffness = np.array([0.0, 900.0, 2000.0])
    loads = live.loads(q, v, a, variables={"stiffness": stiffness})
    for k, value in enumerate(stiffness):
        alone = casadi_loads(live_at(value), q[k], v[k], a[k])
        assert loads.joint_wrench("arm")[k] == pytest.approx(
            alone.joint_wrench("arm")[0], abs=1e-10
        )
        assert loads.spring("spring")[k] == pytest.approx(alone.spring("spring")[0], abs=1e-11)


def live_at(stiffness: float) -> lw.Robot:
    return scissor_lift().with_variables(stiffness=stiffness)


def test_an_out_of_reach_strut_is_refused(lift):
    with pytest.raises(InvalidInput, match=r'actuator "strut_left": length 1.7 m outside'):
        lift.from_actuators([1.7])
