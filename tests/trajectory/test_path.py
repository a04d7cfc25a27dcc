"""Paths: they pass their waypoints, and their derivatives are derivatives."""

from __future__ import annotations

import math
import warnings

import casadi
import numpy as np
import pytest

from linkwork.errors import InvalidInput
from linkwork.trajectory import Path

other = casadi.SX.sym("other")
WAYPOINTS = np.random.default_rng(0).normal(size=(7, 3))


def paths():
    yield "line", Path.line([0.0, 1.0, 2.0], [1.0, -1.0, 0.5])
    for ends in ("natural", "clamped", "not-a-knot"):
        yield ends, Path.through(WAYPOINTS, ends=ends)
    yield "quintic", Path.through(WAYPOINTS, kind="quintic")
    yield "function", Path.of(lambda s: [casadi.sin(3 * s), s**2, casadi.exp(s)], 3)


@pytest.mark.parametrize(("name", "path"), list(paths()))
def test_derivatives_by_differences(name, path):
    s, h = np.linspace(0.05, 0.95, 37), 1e-5
    q, first, second = path(s)
    before, after = path(s - h), path(s + h)
    np.testing.assert_allclose(
        first, (after[0] - before[0]) / (2 * h), atol=1e-7 * np.abs(first).max()
    )
    np.testing.assert_allclose(
        second, (after[1] - before[1]) / (2 * h), atol=1e-5 * max(1, np.abs(second).max())
    )
    assert q.shape == first.shape == second.shape == (37, 3)
    assert path(0.5)[0].shape == (3,)
    assert path(s.reshape(37, 1))[0].shape == (37, 1, 3)


@pytest.mark.parametrize("kind", ["cubic", "quintic"])
def test_a_spline_passes_its_waypoints(kind):
    s = np.array([0, 0.1, 0.3, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose(Path.through(WAYPOINTS, s, kind)(s)[0], WAYPOINTS, atol=1e-14)
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(WAYPOINTS, axis=0), axis=1))])
    np.testing.assert_allclose(
        Path.through(WAYPOINTS, kind=kind)(lengths / lengths[-1])[0], WAYPOINTS, atol=1e-13
    )


def test_a_function_may_be_written_with_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)  # of casadi, about numpy
        path = Path.of(lambda s: np.sin(3 * s), 1)
    np.testing.assert_allclose(path([0.2])[1], [[3 * np.cos(0.6)]], rtol=1e-14)


def test_two_waypoints_are_a_line():
    s = np.linspace(0, 1, 9)
    for a, b in zip(Path.through(WAYPOINTS[:2])(s), Path.line(*WAYPOINTS[:2])(s)):
        np.testing.assert_allclose(a, b, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Path.line([0.0], [0.0]), "same configuration"),
        (lambda: Path.line([0.0], [0.0, 1.0]), "expected 1"),
        (lambda: Path.line([np.nan], [0.0]), "finite"),
        (lambda: Path.through([[0.0, 1.0]]), "at least 2"),
        (lambda: Path.through(WAYPOINTS[:4], kind="quintic"), "at least 6"),
        (lambda: Path.through(WAYPOINTS, kind="septic"), "'cubic', 'quintic'"),
        (lambda: Path.through(WAYPOINTS[[0, 1, 1, 2]]), "waypoints 1 and 2"),
        (lambda: Path.through(WAYPOINTS[:3], [0.0, 0.7, 0.7]), "rise from 0 to 1"),
        (lambda: Path.of(lambda s: [s, s], 3), "expected 3"),
        (lambda: Path.line([0.0], [1.0])(1.5), "s holds 1.5"),
        (
            lambda: Path.of(lambda s: [math.sin(s)], 1),
            "a symbol has no value.* take sin, cos, sqrt from casadi",
        ),
        (lambda: Path.of(lambda s: [1.0 if s > 0.5 else s], 1), "decides by a coordinate's value"),
        (lambda: Path.of(lambda s: [np.nan * s], 1), "not finite"),
        (lambda: Path.of(lambda s: [s * other], 1), "symbols that are not arguments: other"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()
