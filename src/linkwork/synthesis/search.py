"""Search: linkages without defects within the tolerances of a task.

Positions are drawn inside their tolerance zones, every draw is solved exactly, all pairs of dyads
are judged, and what has no defect is kept: the tolerance-zone search of [Plecnik2016].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork import deadlines
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.linkage import FOUR_BAR, Linkages, known_driver, pairs_of
from linkwork.synthesis.task import PlanarTask, check_count, exact_poses
from linkwork.synthesis.verdicts import Verdict, check

MOST_SAMPLES = 10**9

CHUNK = 8192
"""Draws that are solved at once: memory stays below a few hundred MB whatever the number of
samples."""


@short_repr
@dataclass(frozen=True)
class SearchResult(Tabular):
    """Linkages without defects, the best first.

    linkages   Linkages (m,); tasks: the drawn positions of each, a PlanarTask with batch (m,)
    verdict    of each with its drawn positions
    samples    draws; solved: draws with an answer; pairs: four-bars that were judged
    """

    linkages: Linkages
    tasks: PlanarTask
    verdict: Verdict
    samples: int
    solved: int
    pairs: int

    def _table(self) -> dict[str, np.ndarray]:
        return {**self.linkages._table(), **self.verdict._table()}

    def __len__(self) -> int:
        return len(self.linkages)


def search(
    task: PlanarTask,
    samples: int = 10_000,
    seed: int = 0,
    *,
    driver: str = "crank",
    least_transmission: float = 0.0,
    largest: float = 50.0,
    keep: int = 1000,
    progress: Callable[[float], None] | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """Four-bars through positions that differ from the task's by at most its tolerance.

    least_transmission   smallest transmission angle between the positions that is kept [rad]
    largest              linkages larger than this [task sizes] are left out
    keep                 how many come back, by their smallest transmission angle
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "search"):
        who = "search"
        task = exact_poses(task, who)
        check_count(task, 4, 5, who, "a four-bar meets at most 5 exact poses; use fit")
        if task.batch or task.tolerance is None:
            what = f"is a batch of shape {task.batch}" if task.batch else "has no tolerance"
            raise NotPossible(
                f"{who}: the task {what}; expected one task with tolerance=(x, y, angle)"
            )
        samples = deadlines.counted(samples, f"{who}: samples", 1, MOST_SAMPLES)
        known_driver(driver, who)
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        solved = pairs = 0
        size = float(task.size)
        for low in range(0, samples, CHUNK):
            deadlines.check()
            count = min(CHUNK, samples - low)
            drawn = draw(task, count, np.random.default_rng((seed, low)))
            chains = _dyads_of(drawn, np.random.default_rng((seed, low, 1)))
            links, row = _both_ways(*pairs_of(drawn, chains))
            solved += int(chains.valid.any(axis=-1).sum())
            pairs += len(links)
            near = links.size <= largest * size
            links, row = Linkages(FOUR_BAR[driver], links.points[near]), row[near]
            some = PlanarTask(drawn.positions[row], drawn.angles[row])
            verdict = check(links, some)
            good = verdict.good & (verdict.transmission_min >= least_transmission)
            order = np.flatnonzero(good)[
                np.argsort(-verdict.transmission_min[good], kind="stable")
            ][:keep]
            parts.append(
                (
                    links.points[order],
                    some.positions[order],
                    some.angles[order],
                    verdict.transmission_min[order],
                )
            )
            if progress is not None:
                progress((low + count) / samples)
        points, positions, angles, least = (np.concatenate(part) for part in zip(*parts))
        order = np.argsort(-least, kind="stable")[:keep]
        links = Linkages(FOUR_BAR[driver], points[order])
        tasks = PlanarTask(positions[order], angles[order])
        return SearchResult(links, tasks, check(links, tasks), int(samples), solved, pairs)


def draw(task: PlanarTask, count: int, random: np.random.Generator) -> PlanarTask:
    """A batch of tasks with positions uniformly within the tolerances;
    the first one is the task itself."""
    assert task.tolerance is not None
    off = random.uniform(-1.0, 1.0, size=(count, task.n, 3)) * task.tolerance
    off[0] = 0.0
    return PlanarTask(task.positions + off[..., 0] + 1j * off[..., 1], task.angles + off[..., 2])


def _dyads_of(task: PlanarTask, random: np.random.Generator) -> Dyads:
    free = {} if task.n == 5 else {2: random.uniform(-np.pi, np.pi, size=task.batch)}
    first = dyads(task, free)
    assert isinstance(first, Dyads)
    if task.n == 5:
        return first
    second = dyads(task, {2: random.uniform(-np.pi, np.pi, size=task.batch)})
    assert isinstance(second, Dyads)
    joined = {
        name: np.concatenate([getattr(first, name), getattr(second, name)], axis=1)
        for name in first.__dataclass_fields__
        if name != "reason"
    }
    return Dyads(**joined, reason=first.reason)


def _both_ways(links: Linkages, row: np.ndarray) -> tuple[Linkages, np.ndarray]:
    """Each pair with either dyad as the crank."""
    swapped = links.points[:, [1, 0, 3, 2, 4]]
    return Linkages(links.topology, np.concatenate([links.points, swapped])), np.concatenate(
        [row, row]
    )
