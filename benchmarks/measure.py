"""Measuring: two things taken in turns in one process, the best of a few turns,
the median of several rounds."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: `ours` and `peer` in seconds a sample (or another unit), ratio > 1:
    linkwork is faster."""

    question: str
    case: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    target: float | None = None
    unit: str = "s"
    smaller_is_better: bool = False

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.peer / self.ours

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        value = self.ours if self.smaller_is_better else self.ratio
        assert value is not None
        return (
            "ok"
            if (value <= self.target if self.smaller_is_better else value >= self.target)
            else "below"
        )


def seconds(work: Callable[[], object], repeat: int = 1) -> float:
    """Time of one call, averaged over `repeat` calls."""
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def side_by_side(
    ours: Callable[[], object],
    peer: Callable[[], object],
    rounds: int = 5,
    least: float = 0.005,
    turns: int = 6,
) -> tuple[float, float]:
    """(ours, peer) in seconds: the round with the median ratio of several, warm.

    In a round both take turns of the same length, and of each the best turn counts: other guests of
    the machine slow it down for milliseconds, at any moment and by half, and who is measured for a
    shorter time would be disturbed less.
    """
    ours(), peer()
    once = [min(seconds(work) for _ in range(2)) for work in (ours, peer)]
    turn = max(least, *once)
    repeat_ours, repeat_peer = (max(1, round(turn / max(one, 1e-8))) for one in once)
    turns = max(2, min(turns, int(0.5 / turn)))  # long ones see calm and disturbed times anyway

    def taken() -> tuple[float, float]:
        pairs = [(seconds(ours, repeat_ours), seconds(peer, repeat_peer)) for _ in range(turns)]
        return min(p[0] for p in pairs), min(p[1] for p in pairs)

    gc.disable()
    try:
        found = [taken() for _ in range(rounds)]
    finally:
        gc.enable()
    return sorted(found, key=lambda t: t[1] / t[0])[rounds // 2]


def median_of_best(work: Callable[[], float], rounds: int = 5, turns: int = 3) -> float:
    """Of what `work` says that it took: the median of several rounds, of each its best turn."""
    return statistics.median(min(work() for _ in range(turns)) for _ in range(rounds))


def median_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    work()
    return median_of_best(lambda: seconds(work), rounds)
