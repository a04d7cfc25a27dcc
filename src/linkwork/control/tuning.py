"""Tuning: thousands of gain sets in one run, ranked, refined and laid out as a trade-off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import choice, number
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation import Metrics, simulate
from linkwork.simulation.plants import Mechanism

MOST_SAMPLES = 1_000_000
SMALLEST = 1e-3
"""Standard deviation below which a round does not narrow, as a part of the bounds."""


@short_repr
@dataclass(frozen=True)
class Tuned(Tabular, rows="score"):
    """Every gain set that was tried: sets {name: (n,)}, figures {name: (n,) or (n, k)},
    stable (n,), best: its index.

    Unstable sets are data: their figures are inf.
    """

    sets: dict[str, np.ndarray]
    figures: dict[str, np.ndarray]
    stable: np.ndarray
    score: np.ndarray

    @property
    def best(self) -> int:
        return int(np.argmin(self.score))

    @property
    def gains(self) -> dict[str, float]:
        """The best gain set."""
        return {name: float(x[self.best]) for name, x in self.sets.items()}

    def pareto(self, *names: str) -> np.ndarray:
        """Indices of the allowed sets that no other one beats in all the named figures,
        by the first of them.

        Allowed is what is stable and keeps the constraints.
        """
        if not names:
            raise InvalidInput(
                f"pareto: no figure is named, expected some of {', '.join(self.figures)}"
            )
        columns = np.stack([self._column(name) for name in names], axis=-1)
        order = np.lexsort(columns.T[::-1])
        kept: list[int] = []
        for k in order:
            if np.isfinite(self.score[k]) and not any(
                (columns[j] <= columns[k]).all() for j in kept
            ):
                kept.append(int(k))
        return np.array(kept, dtype=int)

    def _column(self, name: str) -> np.ndarray:
        if name not in self.figures:
            raise UnknownName(
                f'tune: there is no figure "{name}"{did_you_mean(name, self.figures)}'
            )
        x = self.figures[name]
        return x if x.ndim == 1 else x.max(axis=-1)


def tune(
    robot: Mechanism,
    controller: Callable[..., Any],
    gains: Mapping[str, tuple[float, float]],
    q: Any,
    metrics: Metrics,
    figure: str | Callable[[Mapping[str, np.ndarray]], np.ndarray] = "squared_error",
    constraints: Mapping[str, float] | None = None,
    samples: int = 1000,
    method: str = "latin",
    rounds: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    scenarios: Sequence[Mapping[str, Any]] | None = None,
    **options: Any,
) -> Tuned:
    """Try gain sets in machine code, all of a round at once, and rank them.

    controller   a function of the gains by name, each an array (n, 1): controller(kp=..., kd=...)
                 -> a controller
    gains        {name: (low, high)}; bounds above 0 that span more than a decade are searched by
                 their logarithm
    metrics      Metrics of the run;  figure: which is minimised (the largest element of a vector),
                 or a function of all of them;  constraints: {figure: largest allowed}
    method       "latin" (hypercube) or "grid";  rounds: each further one draws around the best
                 tenth of those before, by their covariance (as CMA-ES does: gains that go together
                 are searched together)
    scenarios    options that differ from case to case, as [{"payload": ...}, {"friction": ...}]:
                 every set is judged by its worst case, and stable where it is in all
    options      of lw.simulate: duration, step, payload, friction, disturbance ...
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "tune"):
        choice(method, ("latin", "grid"), "tune: method")
        samples = deadlines.counted(samples, "tune: samples", 2, MOST_SAMPLES)
        rounds = deadlines.counted(rounds, "tune: rounds", 1, MOST_SAMPLES)
        names = list(gains)
        cases = [{}] if scenarios is None else [dict(case) for case in scenarios]
        if not cases:
            raise InvalidInput("tune: scenarios is empty, expected options of one case or more")
        low = np.array([number(gains[name][0], f"tune: {name}") for name in names])
        high = np.array([number(gains[name][1], f"tune: {name}") for name in names])
        if not names or (low >= high).any():
            raise InvalidInput(
                f"tune: gains {dict(gains)} need bounds (low, high) with low below high"
            )
        logs = (low > 0) & (high > 10 * low)
        a = np.where(logs, np.log(np.where(logs, low, 1)), low)
        b = np.where(logs, np.log(np.where(logs, high, 1)), high)
        random = np.random.default_rng(seed)
        units = (
            _grid(len(names), samples) if method == "grid" else _latin(random, samples, len(names))
        )
        tried: list[np.ndarray] = []
        results: list[dict[str, np.ndarray]] = []
        good: list[np.ndarray] = []
        score = np.zeros(0)
        for _ in range(rounds):
            deadlines.check()
            values = a + units * (b - a)
            values = np.where(logs, np.exp(values), values)
            settings = [{**options, **case} for case in cases]
            runs = [
                _figures(robot, controller, names, values, q, metrics, setting)
                for setting in settings
            ]
            figures, stable = _worst(runs)
            tried.append(units)
            results.append(figures)
            good.append(stable)
            score = np.concatenate([score, _score(figures, stable, figure, constraints or {})])
            every = np.concatenate(tried)
            elite = every[np.argsort(score)[: max(3, len(every) // 10)]]
            units = _around(elite, random, samples)
        if not np.isfinite(score).any():
            raise NotPossible(
                "tune: no gain set is stable and within the constraints; widen the bounds"
            )
        values = a + np.concatenate(tried) * (b - a)
        values = np.where(logs, np.exp(values), values)
        joined = {name: np.concatenate([part[name] for part in results]) for name in results[0]}
        return Tuned(
            {name: values[:, k] for k, name in enumerate(names)},
            joined,
            np.concatenate(good),
            score,
        )


def _worst(
    runs: list[tuple[dict[str, np.ndarray], np.ndarray]],
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The largest of every figure over all cases, and which gain sets are stable in all of them."""
    largest = {
        name: np.maximum.reduce([figures[name] for figures, _ in runs]) for name in runs[0][0]
    }
    return largest, np.logical_and.reduce([stable for _, stable in runs])


def _figures(
    robot: Mechanism,
    controller: Callable[..., Any],
    names: list[str],
    values: np.ndarray,
    q: Any,
    metrics: Metrics,
    options: Mapping[str, Any],
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    law = controller(**{name: values[:, k : k + 1] for k, name in enumerate(names)})
    settings = {"energy_tolerance": np.inf} | dict(options)
    run = simulate(
        robot, q, control=law, metrics=metrics, record=False, failures="keep", **settings
    )
    if run.success.shape[:1] != (len(values),):
        raise InvalidInput(
            "tune: the controller does not depend on its gains: expected arrays (n, 1) to "
            "reach the law"
        )
    stable = run.success
    figures = {}
    for name, x in run.metrics.items():
        x = np.array(x)
        x[~stable] = np.inf
        figures[name] = x
    return figures, stable


def _score(
    figures: Mapping[str, np.ndarray],
    stable: np.ndarray,
    figure: Any,
    constraints: Mapping[str, float],
) -> np.ndarray:
    def column(name: str) -> np.ndarray:
        if name not in figures:
            raise UnknownName(f'tune: there is no figure "{name}"{did_you_mean(name, figures)}')
        return figures[name] if figures[name].ndim == 1 else figures[name].max(axis=-1)

    score = np.asarray(figure(figures), dtype=float) if callable(figure) else column(figure)
    for name, largest in constraints.items():
        score = np.where(column(name) <= largest, score, np.inf)
    return np.where(stable & np.isfinite(score), score, np.inf)


def _latin(random: np.random.Generator, samples: int, n: int) -> np.ndarray:
    """One sample in each row and column of a hypercube of strata."""
    strata = np.stack([random.permutation(samples) for _ in range(n)], axis=-1)
    return (strata + random.random((samples, n))) / samples


def _around(elite: np.ndarray, random: np.random.Generator, samples: int) -> np.ndarray:
    """Normal samples (samples, n) with the mean and the covariance of the best (m, n),
    within the unit cube."""
    n = elite.shape[1]
    spread = np.atleast_2d(np.cov(elite.T)) + SMALLEST**2 * np.eye(n)
    steps = random.standard_normal((samples, n)) @ np.linalg.cholesky(spread).T
    return np.clip(elite.mean(axis=0) + steps, 0.0, 1.0)


def _grid(n: int, samples: int) -> np.ndarray:
    """About `samples` points of a regular grid."""
    count = max(2, int(np.floor(samples ** (1.0 / n) + 1e-9)))
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, count)] * n, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, n)
