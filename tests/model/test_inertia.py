"""Mass properties: change of frame, sums and the levels of checking."""

from __future__ import annotations

import math
import re

import casadi
import numpy as np
import pytest

from linkwork.errors import InvalidModel
from linkwork.model import MassProperties
from linkwork.model.inertia import steiner
from tests.numeric import matrix, pseudo_inertia
from tests.random_models import random_matter, random_placement


def diagonal(x: float, y: float, z: float, mass: float = 1.0) -> MassProperties:
    return MassProperties(mass, inertia=((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)))


@pytest.mark.parametrize("seed", range(10))
def test_change_of_frame_moves_the_matter(seed):
    """The pseudo-inertia, a sum over points of m r r', moves as T P T':
    no parallel-axis theorem in it."""
    rng = np.random.default_rng(seed)
    matter, T = random_matter(rng), random_placement(rng)
    moved = matter.seen_from(T)
    P = matrix(T) @ pseudo_inertia(matter) @ matrix(T).T
    assert np.abs(pseudo_inertia(moved) - P).max() < 1e-14 * np.abs(P).max()
    assert np.array_equal(moved.inertia, np.transpose(moved.inertia))


@pytest.mark.parametrize("seed", range(10))
def test_a_sum_is_both_bodies(seed):
    rng = np.random.default_rng(seed)
    a, b = random_matter(rng), random_matter(rng)
    P = pseudo_inertia(a) + pseudo_inertia(b)
    assert np.abs(pseudo_inertia(a + b) - P).max() < 1e-15 * np.abs(P).max() * 10
    assert (a + b).problem("physical") is None


def test_nothing_adds_nothing():
    body = random_matter(np.random.default_rng(0))
    assert body + MassProperties() == body
    assert MassProperties() + body == body
    assert MassProperties(0.0, (1.0, 2.0, 3.0)) + body == body


def test_massless_inertias_add():
    """Rotors are sometimes given as inertia without mass: there is no centre to weigh."""
    both = diagonal(1, 2, 3, mass=0.0) + diagonal(4, 5, 6, mass=0.0)
    assert (both.mass, both.inertia) == (0.0, diagonal(5, 7, 9).inertia)


def test_symbols_add():
    m = casadi.SX.sym("m")
    light = random_matter(np.random.default_rng(1))
    both = light + MassProperties(m, (0.1, 0.2, 0.3))
    value = casadi.Function(
        "f", [m], [casadi.vertcat(both.mass, *both.com, *[x for row in both.inertia for x in row])]
    )
    numbers = light + MassProperties(2.0, (0.1, 0.2, 0.3))
    expected = [numbers.mass, *numbers.com, *[x for row in numbers.inertia for x in row]]
    assert np.abs(value(2.0).full().ravel() - expected).max() < 1e-15
    assert both.problem("physical") is None


def test_steiner_is_a_point_mass():
    r = np.array([0.1, -0.2, 0.3])
    assert (
        np.abs(steiner(2.0, tuple(r.tolist())) - 2.0 * (r @ r * np.eye(3) - np.outer(r, r))).max()
        < 1e-17
    )


LEVEL_BY_LEVEL = {
    # matter: (any, positive, physical): what the sentence says, None where it passes
    "a solid": (diagonal(2, 3, 4), (None, None, None)),
    "a rod": (diagonal(0, 1, 1), (None, None, None)),
    "a disc": (diagonal(1, 1, 2), (None, None, None)),
    "a point": (MassProperties(1.0), (None, None, None)),
    "nothing": (MassProperties(), (None, None, None)),
    "tiny": (diagonal(1e-300, 1e-300, 1e-300), (None, None, None)),
    "huge": (diagonal(1e99, 1e99, 1e99), (None, None, None)),
    "beyond": (diagonal(1e308, 1e308, 1e308), (r"beyond 1e\+100",) * 3),
    "triangle broken": (
        diagonal(1, 1, 2.5),
        (None, None, r"1, 1, 2.5 kg m\^2 violate A \+ B >= C by 0.5 kg m\^2"),
    ),
    "negative moment": (
        diagonal(-1, 2, 2),
        (None, "-1, 2, 2 .*not all positive", "not all positive"),
    ),
    "negative mass": (MassProperties(-1.0), ("mass -1 kg is negative",) * 3),
    "nan mass": (MassProperties(math.nan), ("not finite",) * 3),
    "infinite centre": (MassProperties(1.0, (math.inf, 0.0, 0.0)), ("not finite",) * 3),
    "nan inertia": (diagonal(1, math.nan, 1), ("not finite",) * 3),
    "not symmetric": (
        MassProperties(1.0, inertia=((1, 0.1, 0), (0, 1, 0), (0, 0, 1))),
        ("not symmetric",) * 3,
    ),
}


@pytest.mark.parametrize(("matter", "sentences"), LEVEL_BY_LEVEL.values(), ids=LEVEL_BY_LEVEL)
def test_each_level_asks_for_more(matter, sentences):
    for level, sentence in zip(("any", "positive", "physical"), sentences, strict=True):
        problem = matter.problem(level)
        assert problem is None if sentence is None else re.search(sentence, problem)


def test_an_unknown_level_is_refused():
    with pytest.raises(
        InvalidModel,
        match='check level "strict" is unknown, expected one of physical, positive, any',
    ):
        MassProperties().problem("strict")
