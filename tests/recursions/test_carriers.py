"""Carriers: what the transforms do, factor by factor."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
from casadi import SX

from linkwork.model import Joint, Placement, Tree, build_tree
from linkwork.recursions.carriers import axis_of, carried, carriers, steps
from linkwork.recursions.joints import inertia, second_moments, transforms
from linkwork.recursions.moments import Moments
from linkwork.robot import Robot
from linkwork.spatial import Force, Motion, Transform
from tests.random_models import random_model
from tests.traced import evaluated, minimal


def trees() -> list[Tree]:
    model = random_model(4, 12, mimic=False)
    return [build_tree(model, merge=False), minimal(Robot(model))[0]]


@pytest.mark.parametrize("which", [0, 1])
def test_vectors_and_moments_are_carried_as_by_matrices(which):
    tree = trees()[which]
    rng = np.random.default_rng(1)
    q, x = rng.normal(size=(2, tree.nq)), rng.normal(size=(2, 6))

    def difference(q, x):
        out = []
        for node, X, T in zip(
            tree.nodes[1:], carriers(tree, q)[1:], transforms(tree, q)[1:], strict=True
        ):
            force, motion = Force(x[:3], x[3:]), Motion(x[:3], x[3:])
            for a, b in (
                ((X @ force), (T @ force)),
                ((X.inv @ motion), (T.inv @ motion)),
                ((X @ motion), (T @ motion)),
            ):
                out += [a.linear - b.linear, a.angular - b.angular]
            B = inertia(node)
            body = Moments(B.m, B.h, second_moments(node))
            before, own = steps(node, q)
            there = carried(before, carried(own, body))
            wanted = T @ body
            out += [there.h - wanted.h, casadi.vec(there.P - wanted.P), there.m - wanted.m]
        return casadi.vertcat(*out)

    (found,) = evaluated(difference, q, x)
    # Unit quaternions are not asked for here: numbers of size ten, squared.
    assert np.abs(found).max() < 1e-12
    assert found.shape[1] > 100


def test_only_joints_on_coordinate_axes_turn_in_a_plane():
    tree = trees()[1]
    kinds = {node.kind for node in tree.nodes if axis_of(node) is not None}
    assert "revolute" in kinds
    assert all(
        axis_of(node) is None for node in tree.nodes if node.kind in ("ball", "floating", "fixed")
    )


def test_symbols_in_a_placement_are_kept():
    a = SX.sym("a")
    c, s = casadi.cos(a), casadi.sin(a)
    model = random_model(0, 2, ("revolute",), mimic=False)
    turned = Placement(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)), (a, 0.0, 0.0))
    joints = (model.joints[0], Joint("live", "revolute", "body_0", "body_1", turned))
    tree = build_tree(replace(model, joints=joints))
    X, T = carriers(tree, SX.zeros(2))[2], transforms(tree, SX.zeros(2))[2]
    assert isinstance(T, Transform)
    f = casadi.Function("f", [a], [X.R @ SX([1, 2, 3]) - T.R @ SX([1, 2, 3]), X.p - T.p])
    assert all(np.abs(np.array(x)).max() < 1e-15 for x in f(0.7))
