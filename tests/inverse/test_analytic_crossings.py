"""Bins with roots against the eigenvalues of the companion matrix;
what may be double is never called decided."""

import numpy as np
import pytest

from linkwork.engine.compile import compile as compile_function
from linkwork.inverse.analytic import crossings
from linkwork.inverse.analytic.trigonometric import Trig

CASES = ("random", "two near each other", "double", "nothing but a constant")


def trig(c):
    return Trig(tuple(c[k, 0] for k in range(5)), (0, *(c[k, 1] for k in range(1, 5))))


@pytest.fixture(scope="module")
def whole():
    return compile_function(lambda c: crossings.crossings(trig(c)), {"c": (5, 2)}, "crossings")


@pytest.fixture(scope="module")
def parts():
    return compile_function(lambda c, m: crossings.cut(trig(c), m), {"c": (5, 2), "m": 3}, "cut")


def coefficients(roots):
    """(N, 5, 2) of the product of sin((t - r) / 2) over eight roots r (N, 8)."""
    p = np.ones((len(roots), 1), dtype=complex)
    for k in range(roots.shape[1]):
        z = np.exp(1j * roots[:, k : k + 1])
        p = np.pad(p, ((0, 0), (1, 0))) - z * np.pad(p, ((0, 0), (0, 1)))
    # the factors' half angles: f is real on the circle
    p = p * np.exp(-0.5j * roots.sum(axis=1, keepdims=True))
    a = np.concatenate([p[:, 4:5].real, 2 * p[:, 5:].real], axis=1)
    b = np.concatenate([np.zeros((len(p), 1)), -2 * p[:, 5:].imag], axis=1)
    return np.stack([a, b], axis=-1)


def drawn(case, count=3000):
    rng = np.random.default_rng(CASES.index(case))
    if case == "random":
        return rng.normal(size=(count, 5, 2))
    if case == "nothing but a constant":
        return np.pad(rng.normal(size=(count, 1, 1)), ((0, 0), (0, 4), (0, 1)))
    roots = rng.uniform(0, 2 * np.pi, (count, 8))
    roots[:, 1] = roots[:, 0] + (0.0 if case == "double" else 10 ** rng.uniform(-4, -1, count))
    return coefficients(roots)


def angles(c):
    """Real roots of one polynomial in [0, 2 pi), by the companion matrix."""
    p = np.concatenate(
        [(c[1:, 0] + 1j * c[1:, 1])[::-1] / 2, [c[0, 0]], (c[1:, 0] - 1j * c[1:, 1]) / 2]
    )
    z = np.roots(p[::-1])
    return np.sort(np.angle(z[np.abs(np.abs(z) - 1) < 1e-7]) % (2 * np.pi))


@pytest.mark.parametrize("case", CASES)
def test_every_root_is_alone_in_its_bin(whole, parts, case):
    c = drawn(case)
    roots, unclear = whole(c)
    row, at = crossings.bins(roots)
    left = (at + 0.5) * crossings.WIDTH - crossings.WIDTH / 2
    right = left + crossings.WIDTH
    open_row, open_at = crossings.bins(unclear)
    words, undecided = parts(c[open_row], crossings.COARSE[open_at])
    decided = np.ones(len(c), dtype=bool)
    decided[open_row[undecided > 0]] = False
    of, part = crossings.fine_bins(words)
    fine = crossings.WIDTH / crossings.CUTS
    begin = open_at[of] * crossings.WIDTH + part * fine
    row, left, right = (
        np.concatenate(x) for x in ((row, open_row[of]), (left, begin), (right, begin + fine))
    )
    if case == "double":
        assert not decided.any()
        return
    # of two roots log-uniformly 1e-4 .. 0.1 apart a third is further apart than the parts of a bin
    # are wide
    assert decided.mean() > {"random": 0.97, "two near each other": 0.25}.get(case, 1.0) - 1e-9
    for k in np.flatnonzero(decided)[:400]:
        order = np.argsort(left[row == k])
        found = angles(c[k]) if np.abs(c[k, 1:]).any() else np.zeros(0)
        assert len(found) == len(order)
        assert (left[row == k][order] - 1e-9 <= found).all() and (
            found <= right[row == k][order] + 1e-9
        ).all()


def test_newtons_steps_find_the_root_of_a_bin(whole):
    c = drawn("random", 500)
    row, at = crossings.bins(whole(c)[0])
    within = compile_function(
        lambda c, m: crossings.within(trig(c), m, 6), {"c": (5, 2), "m": 3}, "within"
    )
    cosine, sine = within(c[row], crossings.COARSE[at])
    t = np.arctan2(sine, cosine)
    k = np.arange(5)
    value = (c[row, :, 0] * np.cos(np.outer(t, k)) + c[row, :, 1] * np.sin(np.outer(t, k))).sum(
        axis=1
    )
    assert np.abs(value).max() < 1e-12 and np.abs(cosine**2 + sine**2 - 1).max() < 1e-14
    assert len(t) > 1000
