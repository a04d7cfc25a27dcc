"""Placements compose like 4 x 4 matrices."""

from __future__ import annotations

import numpy as np

from linkwork.model.placement import HERE
from tests.numeric import matrix
from tests.random_models import random_placement

ROUNDING = 2e-15


def test_placements_compose_invert_and_move_points():
    rng = np.random.default_rng(0)
    for _ in range(10):
        a, b = random_placement(rng), random_placement(rng)
        assert np.abs(matrix(a @ b) - matrix(a) @ matrix(b)).max() < ROUNDING
        assert np.abs(matrix(a.inverse()) - np.linalg.inv(matrix(a))).max() < ROUNDING
        p = rng.normal(size=3)
        assert (
            np.abs(np.array(a.at(tuple(p.tolist()))) - (matrix(a) @ [*p, 1.0])[:3]).max() < ROUNDING
        )


def test_here_changes_nothing():
    T = random_placement(np.random.default_rng(1))
    assert HERE @ T == T == T @ HERE
