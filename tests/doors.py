"""Doors: what functions do with whatever comes in."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

from linkwork.errors import LinkworkError


def knocked(times: int, call: Callable[[random.Random], Any]) -> tuple[int, int]:
    """(answered, refused by an error of ours) of calls, each drawn with a seed of its own;
    anything else goes out."""
    answered = refused = 0
    logging.disable(logging.CRITICAL)
    try:
        for seed in range(times):
            try:
                call(random.Random(seed))
                answered += 1
            except LinkworkError:
                refused += 1
    finally:
        logging.disable(logging.NOTSET)
    return answered, refused
