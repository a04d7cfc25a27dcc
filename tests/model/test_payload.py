"""Payloads: matter that could exist, in shapes that can be a batch."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput

EYE = np.eye(3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mass": -1.0}, r'Payload on "tool": mass is -1, expected no negative number'),
        ({"mass": [1.0, -2.0]}, "mass is -2"),
        ({"mass": np.nan}, "mass is not finite"),
        ({"mass": "heavy"}, "mass has dtype"),
        ({"mass": 1.0, "com": (0.0, 0.1)}, r"com has shape \(2,\), expected \(..., 3\)"),
        ({"mass": 1.0, "com": (0.0, np.inf, 0.0)}, "com is not finite"),
        (
            {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)},
            r"inertia has shape \(3,\), expected \(..., 3, 3\)",
        ),
        ({"mass": 1.0, "inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "inertia is not symmetric"),
        ({"mass": 1.0, "inertia": np.diag([1.0, 1.0, -0.1])}, "negative moment of inertia"),
        ({"mass": 1.0, "inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "negative moment of inertia"),
        ({"mass": 1.0, "inertia": np.stack([EYE, -EYE])}, "negative moment of inertia"),
    ],
)
def test_what_no_matter_has_is_refused(given, words):
    with pytest.raises(InvalidInput, match=words):
        lw.Payload("tool", **given)


def test_a_point_a_rod_and_a_batch_are_matter():
    lw.Payload("tool", 0.0)
    lw.Payload("tool", np.linspace(0, 1, 5), np.zeros((5, 3)), np.diag([0.1, 0.1, 0.0]))
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1000, 3, 2))
    thin = A @ A.swapaxes(1, 2)  # rank two: an eigenvalue of rounding, of either sign
    assert (np.linalg.eigvalsh(thin)[:, 0] < 0).any()
    lw.Payload("tool", 1.0, inertia=thin)
    lw.Payload("tool", np.zeros(0), np.zeros((0, 3)))
