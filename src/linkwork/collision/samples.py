"""Samples: configurations within the limits that touch nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork import configurations
from linkwork.arguments import number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.subject import Subject

PORTION = 4096
MOST_TRIES = 4_000_000


def free_samples(
    subject: Subject, collides: Callable[[np.ndarray], np.ndarray], n: int, seed: int | None
) -> np.ndarray:
    """(n, nq): uniform within the limits, those that touch left out; the same for the same seed."""
    count = number(n, "free_samples: n")
    if count != int(count) or count < 0:
        raise InvalidInput(
            f"free_samples: n is {n!r}, expected a whole number that is not negative"
        )
    seeds = np.random.SeedSequence(seed).generate_state(MOST_TRIES // PORTION)
    free: list[np.ndarray] = []
    have = 0
    for k, portion_seed in enumerate(seeds):
        if have >= count:
            break
        q = configurations.random(subject, PORTION, int(portion_seed))
        q = q[~collides(q)]
        free.append(q)
        have += len(q)
        if not have and (k + 1) * PORTION >= MOST_TRIES // 4:
            break
    if have < count:
        raise NotPossible(
            f"free_samples: {have} of {int(count)} configurations found; nearly everything within "
            "the limits touches"
        )
    return np.concatenate([np.zeros((0, subject.nq)), *free])[: int(count)]
