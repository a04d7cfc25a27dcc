"""Measuring: ratios of two things taken in turns in one process, medians of several rounds, results checked first."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: `ours` and `peer` in seconds a sample (or another unit), ratio > 1: linkwork is faster."""

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
        return "ok" if (value <= self.target if self.smaller_is_better else value >= self.target) else "below"


def seconds(work: Callable[[], object], repeat: int = 1) -> float:
    """Time of one call, averaged over `repeat` calls."""
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def side_by_side(
    ours: Callable[[], object], peer: Callable[[], object], rounds: int = 5, least: float = 0.02, turns: int = 4
) -> tuple[float, float]:
    """(ours, peer) in seconds: the round with the median ratio of several, warm.

    In a round both take turns, for a machine may change its speed at any moment, and then for both.
    """
    ours(), peer()
    repeat_ours, repeat_peer = (max(1, int(least / turns / max(seconds(work), 1e-9))) for work in (ours, peer))

    def taken() -> tuple[float, float]:
        pairs = [(seconds(ours, repeat_ours), seconds(peer, repeat_peer)) for _ in range(turns)]
        return statistics.fmean(p[0] for p in pairs), statistics.fmean(p[1] for p in pairs)

    gc.disable()
    try:
        found = [taken() for _ in range(rounds)]
    finally:
        gc.enable()
    return sorted(found, key=lambda t: t[1] / t[0])[rounds // 2]


def median_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    work()
    return statistics.median(seconds(work) for _ in range(rounds))
