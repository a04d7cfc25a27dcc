"""Systems: complete solution sets, followed from one member of a family to another."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput
from linkwork.polynomials import Starts, System


def two_conics(x, p):
    """Two plane conics: six coefficients each; Bezout's four common points."""
    s, t = x
    rows = []
    for k in (0, 6):
        a, b, c, d, e, f = p[k : k + 6]
        rows.append(a * s * s + b * s * t + c * t * t + d * s + e * t + f)
    return rows


CONICS = System(two_conics, ["s", "t"], 12, "two conics")


def member(x, seed):
    """Coefficients of conics through x."""
    random = np.random.default_rng(seed)
    p = random.normal(size=12) + 1j * random.normal(size=12)
    s, t = x
    for k in (0, 6):
        a, b, c, d, e, _ = p[k : k + 6]
        p[k + 5] = -(a * s * s + b * s * t + c * t * t + d * s + e * t)
    return p


@pytest.fixture(scope="module")
def starts():
    x = np.array([0.3 + 0.4j, -1.1 + 0.2j])
    return CONICS.monodromy(x, member(x, 1), seed=1)


def by_resultant(p):
    """s of the common points, from the resultant in t."""
    (a, b, c, d, e, f), (A, B, C, D, E, F) = p[:6], p[6:]
    first = [np.array([c]), np.array([b, e]), np.array([a, d, f])]
    second = [np.array([C]), np.array([B, E]), np.array([A, D, F])]
    ac = np.polysub(np.polymul(first[0], second[2]), np.polymul(first[2], second[0]))
    ab = np.polysub(np.polymul(first[0], second[1]), np.polymul(first[1], second[0]))
    bc = np.polysub(np.polymul(first[1], second[2]), np.polymul(first[2], second[1]))
    return np.roots(np.polysub(np.polymul(ac, ac), np.polymul(ab, bc)))


def test_monodromy_finds_bezouts_number(starts):
    assert len(starts) == 4
    assert starts.idle == 5
    assert CONICS.corrections(starts.solutions, starts.parameters)[0].max() < 1e-12


def test_solutions_are_those_of_the_resultant(starts):
    random = np.random.default_rng(4)
    p = random.normal(size=(50, 12))
    found = CONICS.solve(p, starts)
    assert found.x.shape == (50, 4, 2)
    assert found.success.all()
    assert found.residual.max() < 1e-10
    for row, x in zip(p, found.x):
        expected = by_resultant(row)
        assert (
            np.abs(x[:, 0][:, None] - expected).min(axis=0) / (1 + np.abs(expected))
        ).max() < 1e-8


def test_the_same_seed_gives_the_same_bits_with_any_threads(starts):
    random = np.random.default_rng(5)
    p = random.normal(size=(9, 12))
    before = lw.threads()
    try:
        lw.threads(1)
        alone = np.stack([CONICS.solve(row, starts).x for row in p])
        lw.threads(2)
        assert np.array_equal(CONICS.solve(p, starts).x, alone)
    finally:
        lw.threads(before)
    x = np.array([0.3 + 0.4j, -1.1 + 0.2j])
    again = CONICS.monodromy(x, member(x, 1), seed=1)
    assert again.hash == starts.hash


def test_a_member_with_fewer_solutions_says_so(starts):
    p = np.random.default_rng(6).normal(size=12)
    p[6:9] = 0.0  # the second one is a line: two common points
    found = CONICS.solve(p, starts)
    assert found.success.sum() == 2
    assert set(found.reason[~found.success]) <= {
        "the path did not arrive",
        "the path met another one",
    }


def test_a_swap_is_a_symmetry():
    """s + t = p, s t = q: two solutions, one up to exchanging the unknowns."""
    system = System(lambda x, p: [x[0] + x[1] - p[0], x[0] * x[1] - p[1]], 2, 2, "sum and product")
    swap = lambda x, p: np.stack([x, x[..., ::-1]], axis=-2)
    x = np.array([1.0 + 0.5j, -0.3 + 0.1j])
    p = np.array([x.sum(), x.prod()])
    assert len(system.monodromy(x, p, seed=2)) == 2
    starts = system.monodromy(x, p, seed=2, symmetry=swap)
    assert len(starts) == 1
    found = system.solve([5.0, 6.0], starts, swap)
    assert np.abs(np.sort(found.x[0].real) - [2, 3]).max() < 1e-12


def test_starts_are_kept_with_their_hash(starts, tmp_path):
    place = tmp_path / "conics.npz"
    starts.save(place)
    assert Starts.load(place).hash == starts.hash
    with np.load(place) as file:
        changed = dict(file)
    changed["solutions"] = changed["solutions"] + 1e-12
    np.savez(place, **changed)
    with pytest.raises(InvalidFile, match="hash"):
        Starts.load(place)
    place.write_bytes(b"nothing")
    with pytest.raises(InvalidFile, match="cannot be read"):
        Starts.load(place)


def test_bad_arguments(starts):
    with pytest.raises(InvalidInput, match=r"expected \(\.\.\., 12\)"):
        CONICS.solve(np.ones(11), starts)
    with pytest.raises(InvalidInput, match="not finite"):
        CONICS.solve(np.full(12, np.nan), starts)
    with pytest.raises(InvalidInput, match="no solution at p"):
        CONICS.monodromy([1.0, 2.0], np.ones(12), seed=0)
    other = Starts(np.ones(3), np.ones((2, 2)), 0, 0, 0)
    with pytest.raises(InvalidInput, match="expected 2 and 12"):
        CONICS.solve(np.ones(12), other)
