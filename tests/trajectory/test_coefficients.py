"""Path coefficients: both routes, inverse dynamics along the path, payloads in batches."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.robot import Robot
from linkwork.trajectory import Path, path_coefficients
from tests.christoffel5 import drawn_model
from tests.pinocchio_models import twin

S = np.linspace(0, 1, 21)


@pytest.fixture(scope="module")
def five():
    return Robot(drawn_model())


@pytest.fixture(scope="module")
def path():
    return Path.through(np.random.default_rng(1).uniform(-1, 1, size=(5, 5)))


def test_equation_5_is_inverse_dynamics_along_the_path(five, path):
    rng = np.random.default_rng(2)
    sd, sdd = rng.uniform(0, 2, size=21), rng.normal(size=21)
    q, first, second = path(S)
    v, a = first * sd[:, None], first * sdd[:, None] + second * (sd**2)[:, None]
    tau = five.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(
        path_coefficients(five, path, S).torque(sd, sdd), tau, atol=1e-13 * np.abs(tau).max()
    )


def test_the_route_over_the_symbols_gives_the_same(five, path):
    direct, paper = (
        path_coefficients(five, path, S, method=m) for m in ("newton_euler", "christoffel")
    )
    for x, y in ((direct.m, paper.m), (direct.c, paper.c), (direct.d, paper.d)):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-13 * np.abs(y).max())


def test_a_batch_of_payloads(five, path):
    masses = np.array([0.0, 0.5, 2.0])
    k = path_coefficients(five, path, S, payload=lw.Payload("link_5", masses, (0.1, 0.0, 0.2)))
    assert k.m.shape == k.c.shape == k.d.shape == (3, 21, 5)
    alone = path_coefficients(five, path, S)
    np.testing.assert_allclose(k.c[0], alone.c, atol=1e-13)
    one = path_coefficients(five, path, S, payload=lw.Payload("link_5", 2.0, (0.1, 0.0, 0.2)))
    np.testing.assert_allclose(k.d[2], one.d, rtol=1e-12, atol=1e-12)


def test_refusals(five, path):
    with pytest.raises(InvalidInput, match="expected 6"):
        path_coefficients(twin("ur/ur5_robot").robot, path, S)
    with pytest.raises(NotPossible, match="quaternions"):
        path_coefficients(twin("solo/solo12", "floating").robot, path, S)
    with pytest.raises(InvalidInput, match="method"):
        path_coefficients(five, path, S, method="guess")
    with pytest.raises(InvalidInput, match="points"):
        path_coefficients(five, path, 0.5)
    with pytest.raises(InvalidInput, match="s has dtype"):
        path_coefficients(five, path, ["middle"])
