"""Moments of mass and their Coriolis forces against sums over particles."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import DM, SX

from linkwork.recursions.moments import Gyration, Moments
from linkwork.spatial import Motion, Transform


class Particles:
    """A dozen masses, some negative: what is linear in them holds for any."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.r = rng.normal(size=12), rng.normal(size=(12, 3))

    @property
    def moments(self) -> Moments:
        m, r = self.m, self.r
        return Moments(SX(m.sum()), SX(DM(m @ r)), SX(DM(np.einsum("n,ni,nj->ij", m, r, r))))

    def total(self, force: np.ndarray) -> np.ndarray:
        """Force and moment about the origin of an acceleration (12, 3) of the particles."""
        f = self.m[:, None] * force
        return np.concatenate([f.sum(axis=0), np.cross(self.r, f).sum(axis=0)])


def numbers(*expressions: SX) -> np.ndarray:
    return np.array(casadi.evalf(casadi.vertcat(*[casadi.vec(e) for e in expressions]))).ravel()


def motion(seed: int) -> tuple[Motion, np.ndarray, np.ndarray]:
    v, w = np.random.default_rng(seed).normal(size=(2, 3))
    return Motion(SX(DM(v)), SX(DM(w))), v, w


@pytest.mark.parametrize("seed", range(5))
def test_momentum_is_that_of_the_particles(seed):
    body, (V, v, w) = Particles(seed), motion(seed + 100)
    F = body.moments.momentum(V)
    np.testing.assert_allclose(
        numbers(F.linear, F.angular), body.total(v + np.cross(w, body.r)), atol=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_moved_moments_are_those_of_moved_particles(seed):
    body, rng = Particles(seed), np.random.default_rng(seed + 200)
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    p = rng.normal(size=3)
    there = Particles(seed)
    there.r = body.r @ R.T + p
    found, expected = Transform(SX(DM(R)), SX(DM(p))) @ body.moments, there.moments
    for x, y in ((found.m, expected.m), (found.h, expected.h), (found.P, expected.P)):
        np.testing.assert_allclose(numbers(x), numbers(y), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_gyration_is_the_coriolis_force_of_the_particles(seed):
    body, (V, v, w), turn = (
        Particles(seed),
        motion(seed + 100),
        np.random.default_rng(seed + 300).normal(size=3),
    )
    B, expected = Gyration.of(body.moments, V), body.total(np.cross(turn, v + np.cross(w, body.r)))
    F = B.force(SX(DM(turn)))
    np.testing.assert_allclose(numbers(F.linear, F.angular), expected, atol=1e-12)
    S, s, n = motion(seed + 400)
    power = float(numbers(B.transposed(S)) @ turn)
    assert power == pytest.approx(float(np.concatenate([s, n]) @ expected), abs=1e-11)


def test_sums_add():
    one, two, (V, _, _) = Particles(0).moments, Particles(1).moments, motion(2)
    both = one + two
    F = [x.momentum(V) for x in (one, two, both)]
    np.testing.assert_allclose(
        numbers(F[2].angular), numbers(F[0].angular) + numbers(F[1].angular), atol=1e-12
    )
    B = [Gyration.of(x, V) for x in (one, two, both)]
    np.testing.assert_allclose(numbers(B[2].K), numbers((B[0] + B[1]).K), atol=1e-12)
