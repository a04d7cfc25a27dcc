"""Iso-figure: the gain sets along which a figure of the run keeps its value, found by running
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, number
from linkwork.control.checks import whole
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation import Metrics, simulate
from linkwork.simulation.plants import Mechanism


@short_repr
@dataclass(frozen=True)
class IsoFigure(Tabular, rows="gain"):
    """gain (n,): the second gain for each value of the first, NaN where there is none;
    figures by name."""

    gain: np.ndarray
    figures: dict[str, np.ndarray]


def iso_figure(
    robot: Mechanism,
    controller: Callable[..., Any],
    gains: Mapping[str, Any],
    q: Any,
    metrics: Metrics,
    figure: str = "effort",
    value: float = 1.0,
    points: int = 16,
    rounds: int = 40,
    **options: Any,
) -> IsoFigure:
    """Where figure(first gain, second gain) = value: for each value of the first,
    the smallest second within bounds.

    gains     {first: values (n,), second: (low, high)};  controller, metrics, options: as for
              `tune`
    points    a coarse search a value, all of them at once; rounds: halvings of the bracket that is
              found
    An unstable set counts as above the value.
    """
    if len(gains) != 2:
        raise InvalidInput(
            f"iso_figure: gains has {len(gains)} entries, expected two: values, and bounds"
        )
    (first, fixed), (second, bounds) = gains.items()
    x = np.atleast_1d(as_doubles(fixed, f"iso_figure: {first}"))
    low, high = (number(b, f"iso_figure: {second}") for b in bounds)
    wanted, n = number(value, "iso_figure: value"), len(x)
    if not low < high:
        raise InvalidInput(f"iso_figure: {second} needs bounds (low, high), got {bounds!r}")
    count = whole(points, "iso_figure: points", 2)

    def run(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
        law = controller(**{first: a[:, None], second: b[:, None]})
        settings = {"energy_tolerance": np.inf} | options
        result = simulate(
            robot, q, control=law, metrics=metrics, record=False, failures="keep", **settings
        )
        if figure not in result.metrics:
            raise UnknownName(
                f'iso_figure: there is no figure "{figure}"{did_you_mean(figure, result.metrics)}'
            )
        rows = {name: np.array(values, dtype=float) for name, values in result.metrics.items()}
        for values in rows.values():
            values[~result.success] = np.inf
        return rows

    def above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        result = run(a, b)[figure]
        return (result if result.ndim == 1 else result.max(axis=-1)) > wanted

    trials = np.linspace(low, high, count)
    high_side = above(np.repeat(x, count), np.tile(trials, n)).reshape(n, count)
    change = high_side[:, :-1] != high_side[:, 1:]
    at = change.argmax(axis=1)
    left, right, begins = trials[at], trials[at + 1], high_side[np.arange(n), at]
    for _ in range(whole(rounds, "iso_figure: rounds")):
        middle = 0.5 * (left + right)
        if ((middle == left) | (middle == right)).all():  # no number lies between
            break
        same = above(x, middle) == begins
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    gain = np.where(change.any(axis=1), 0.5 * (left + right), np.nan)
    figures = run(x, np.where(np.isfinite(gain), gain, low))
    for values in figures.values():
        values[~np.isfinite(gain)] = np.nan
    return IsoFigure(gain, figures)
