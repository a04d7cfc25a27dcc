"""Constraints: Jacobian and drift of every kind of closure against differences, on random trees."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import SX

import linkwork as lw
from linkwork.loops.constraints import closure_rows, rate
from linkwork.model import build_tree
from linkwork.model.elements import CLOSURE_KINDS, Coupling, LoopClosure, Point
from linkwork.model.rotation import from_euler
from tests.random_models import random_model

ROWS = {"point": 3, "distance": 1, "weld": 6, "hinge": 5, "planar_hinge": 2, "pin_in_slot": 1}


def closure(kind: str) -> LoopClosure:
    first, second = Point("body_3", (0.1, 0.2, -0.3)), Point("body_6", (-0.2, 0.1, 0.4))
    turned = from_euler("zyx", (0.3, 0.5, -0.2))
    return LoopClosure(
        "c", kind, first, second, (0.6, 0.0, 0.8), (0.0, 1.0, 0.0), 0.7, turned, turned
    )


@pytest.mark.parametrize("kind", CLOSURE_KINDS)
def test_jacobian_and_drift_equal_differences_along_a_motion(kind):
    model = random_model(3, bodies=8, mimic=False)
    tree = build_tree(model)
    q, v = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    rows = closure_rows(tree, q, v, (closure(kind),))
    assert len(rows.labels) == ROWS[kind] == rows.r.numel()
    f = casadi.Function("rows", [q, v], [rows.r, rows.J @ v, rows.drift])
    robot = lw.Robot(model)
    rng = np.random.default_rng(1)
    q0, v0 = robot.random(seed=2), rng.normal(size=tree.nv) * 0.5
    h = 1e-3
    # constant v: rdd = drift
    path = [f(robot.integrate(q0, k * h * v0), v0) for k in (-2, -1, 0, 1, 2)]
    r = [np.array(x[0]).ravel() for x in path]
    rd = [np.array(x[1]).ravel() for x in path]
    slope_r = (r[0] - 8 * r[1] + 8 * r[3] - r[4]) / (12 * h)
    slope_rd = (rd[0] - 8 * rd[1] + 8 * rd[3] - rd[4]) / (12 * h)
    assert np.abs(slope_r - rd[2]).max() < 1e-9  # h^4 / 30 of the fifth derivative
    assert np.abs(slope_rd - np.array(path[2][2]).ravel()).max() < 1e-8


def test_the_rate_of_coordinates_is_the_slope_of_integrate():
    model = random_model(4, bodies=9, mimic=False)
    tree = build_tree(model)
    q, v = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    f = casadi.Function("rate", [q, v], [rate(tree, q, v)])
    robot = lw.Robot(model)
    q0, v0, h = robot.random(seed=5), np.random.default_rng(6).normal(size=tree.nv), 1e-5
    slope = (robot.integrate(q0, h * v0) - robot.integrate(q0, -h * v0)) / (2 * h)
    assert np.abs(np.array(f(q0, v0)).ravel() - slope).max() < 1e-8


def test_a_weld_that_opposes_is_not_closed():
    """sin of the angle between two frames is zero at a half turn; the residual is not."""
    from linkwork.model import Joint, Model, validated
    from tests.loops.machines import link

    weld = LoopClosure("w", "weld", Point("a"), Point("b"), directions=("rx", "ry", "rz"))
    joints = (Joint("ja", "revolute", None, "a"), Joint("jb", "revolute", None, "b"))
    model = validated(Model("m", (link("a", 1.0), link("b", 1.0)), joints, elements=(weld,)))
    tree = build_tree(model)
    q, v = SX.sym("q", 2), SX.sym("v", 2)
    r = casadi.Function("r", [q], [closure_rows(tree, q, v, model.elements).r])
    assert np.abs(np.array(r([0.0, 3.0]))).max() > 10.0
    assert np.abs(np.array(r([0.7, 0.7]))).max() < 1e-15


def test_a_coupling_is_a_row():
    model = random_model(7, bodies=4, types=("revolute",), mimic=False)
    tree = build_tree(model)
    q, v = SX.sym("q", 4), SX.sym("v", 4)
    rows = closure_rows(tree, q, v, (Coupling("k", (("joint_1", 2.0), ("joint_3", -1.0)), 0.5),))
    f = casadi.Function("f", [q, v], [rows.r, rows.J, rows.drift])
    r, J, drift = (np.array(x) for x in f([0.1, 0.2, 0.3, 0.4], [1, 1, 1, 1]))
    assert r.item() == pytest.approx(2 * 0.2 - 0.4 - 0.5, abs=1e-15)
    assert np.array_equal(J, [[0.0, 2.0, 0.0, -1.0]])
    assert not drift.any()


@pytest.mark.parametrize("axis", range(3))
def test_a_weld_measures_the_angle_about_each_axis(axis):
    """Two bodies turned by 1e-4 rad about one axis:
    the residual is that angle there and zero elsewhere."""
    from linkwork.model import Joint, Model, validated
    from tests.loops.machines import link

    n = tuple(float(k == axis) for k in range(3))
    joints = (
        Joint("ja", "revolute", None, "a", axis=n),
        Joint("jb", "revolute", None, "b", axis=n),
    )
    weld = LoopClosure("w", "weld", Point("a"), Point("b"))
    model = validated(Model("m", (link("a", 1.0), link("b", 1.0)), joints, elements=(weld,)))
    tree = build_tree(model)
    q, v = SX.sym("q", 2), SX.sym("v", 2)
    r = casadi.Function("r", [q], [closure_rows(tree, q, v, model.elements).r])
    expected = np.zeros(6)
    expected[3 + axis] = 1e-4
    assert np.array(r([0.5, 0.5 + 1e-4])).ravel() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "n", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.36, 0.48, 0.8), (-0.6, 0.0, 0.8)]
)
def test_two_directions_across_an_axis_make_a_frame_with_it(n):
    from linkwork.loops.geometry import across_pair

    frame = np.array([n, *across_pair(n)])
    assert np.abs(frame @ frame.T - np.eye(3)).max() < 1e-15
