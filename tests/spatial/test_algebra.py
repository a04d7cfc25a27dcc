"""Motions, forces, transforms and inertias against Pinocchio's; rotations against its own too."""

from __future__ import annotations

import casadi
import numpy as np
import pinocchio as pin
import pytest
from casadi import DM, SX

from linkwork.spatial import (
    Force,
    Inertia,
    Motion,
    Transform,
    axis_rotation,
    cross,
    quaternion_rotation,
    skew,
)

TOLERANCE = 1e-14  # a few products of numbers of size one


def number(x) -> np.ndarray:
    found = np.array(DM(casadi.evalf(SX(x))))
    return found.ravel() if found.shape[1] == 1 else found


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


def same(found: Motion | Force, expected: pin.Motion | pin.Force) -> None:
    close(number(found.linear), expected.linear)
    close(number(found.angular), expected.angular)


@pytest.fixture(params=range(4))
def rng(request):
    return np.random.default_rng(request.param)


def twin(kind, theirs, rng):
    linear, angular = rng.normal(size=(2, 3))
    return kind(SX(DM(linear)), SX(DM(angular))), theirs(linear, angular)


def placement(rng):
    xyzw = rng.normal(size=4)
    xyzw /= np.linalg.norm(xyzw)
    M = pin.SE3(pin.Quaternion(xyzw).matrix(), rng.normal(size=3))
    return Transform(SX(DM(M.rotation)), SX(DM(M.translation))), M


def matter(rng):
    A = rng.normal(size=(3, 3))
    mass, com, inertia = rng.uniform(0.5, 2), rng.normal(size=3), A @ A.T + np.eye(3)
    return Inertia.from_center(mass, com, inertia.tolist()), pin.Inertia(mass, com, inertia)


def test_cross_products(rng):
    a, b = rng.normal(size=(2, 3))
    close(number(cross(SX(DM(a)), SX(DM(b)))), np.cross(a, b))
    close(number(skew(SX(DM(a)))) @ b, np.cross(a, b))


def test_rotations(rng):
    axis, angle, xyzw = rng.normal(size=3), rng.uniform(-3, 3), rng.normal(size=4)
    axis /= np.linalg.norm(axis)
    xyzw /= np.linalg.norm(xyzw)
    close(number(axis_rotation(SX(DM(axis)), SX(angle))), pin.AngleAxis(angle, axis).matrix())
    close(number(quaternion_rotation(SX(DM(xyzw)))), pin.Quaternion(xyzw).matrix())


@pytest.mark.parametrize(
    "kind, theirs", [(Motion, pin.Motion), (Force, pin.Force)], ids=["motions", "forces"]
)
def test_sums_differences_and_multiples(rng, kind, theirs):
    (x, X), (y, Y) = twin(kind, theirs, rng), twin(kind, theirs, rng)
    same(x + y, X + Y)
    same(x - y, X - Y)
    same(-x, -X)
    same(x * SX(1.7), theirs(1.7 * X.vector))


def test_motions_carry_motions_and_forces_and_have_power(rng):
    (x, X), (y, Y), (f, F) = (
        twin(kind, theirs, rng)
        for kind, theirs in ((Motion, pin.Motion), (Motion, pin.Motion), (Force, pin.Force))
    )
    same(x.cross(y), X.cross(Y))
    same(x.cross(f), X.cross(F))
    close(number(x.dot(f)), [X.vector @ F.vector])


def test_transforms(rng):
    (T, M), (U, N) = placement(rng), placement(rng)
    (x, X), (f, F) = twin(Motion, pin.Motion, rng), twin(Force, pin.Force, rng)
    product = M * N
    close(number((T @ U).R), product.rotation)
    close(number((T @ U).p), product.translation)
    same(T @ x, M.act(X))
    same(T @ f, M.act(F))
    same(T.inv @ x, M.actInv(X))
    same(T.inv @ f, M.actInv(F))
    with pytest.raises(TypeError, match="cannot bring a Transform into the child frame"):
        T.inv @ U


def test_inertias(rng):
    (I, theirs), (J, others), (T, M) = matter(rng), matter(rng), placement(rng)
    x, X = twin(Motion, pin.Motion, rng)
    for found, expected in ((I, theirs), (I + J, theirs + others), (T @ I, M.act(theirs))):
        close(number(found.m), [expected.mass])
        close(number(found.h), expected.mass * expected.lever)
        about_origin = expected.matrix()[3:, 3:]
        np.testing.assert_allclose(number(found.I), about_origin, rtol=0, atol=10 * TOLERANCE)
        force = expected * X
        np.testing.assert_allclose(
            number((found @ x).linear), force.linear, rtol=0, atol=10 * TOLERANCE
        )
        np.testing.assert_allclose(
            number((found @ x).angular), force.angular, rtol=0, atol=10 * TOLERANCE
        )
