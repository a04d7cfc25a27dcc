"""Chart: curves with their names, described once; a page draws them with report.js,
a file with matplotlib.

Two media need two pens: a page has curves that come and go by a click, a cursor and numbers to
save, without any package; a file is a picture for a paper. Neither decides what is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

POINTS = 401
"""Most points of a curve on a page: more can not be seen."""


@dataclass(frozen=True)
class Chart:
    """One figure: curves {name: (n,)} in a unit over x (n,),
    which is time where nothing else is said.

    x        left out: the instants of the page it stands on
    across   what x is, with its unit
    mark     (x, y): a point to see first
    zero     a line at zero, which then is in the picture
    """

    title: str
    unit: str
    series: Mapping[str, np.ndarray]
    x: np.ndarray | None = None
    across: str = "time [s]"
    mark: tuple[float, float] | None = None
    zero: bool = False

    def data(self, kept: np.ndarray | None = None) -> dict[str, Any]:
        """For report.js: numbers of seven digits at the kept instants; null where there is none."""
        count = len(next(iter(self.series.values()), ()))
        rows = (
            np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(int))
            if kept is None
            else kept
        )
        numbers: dict[str, Any] = {"title": self.title, "unit": self.unit, "across": self.across}
        if self.x is not None:
            numbers["x"] = digits(np.asarray(self.x, dtype=float)[rows], 9)
        if self.mark is not None:
            numbers["mark"] = digits(np.asarray(self.mark, dtype=float), 7)
        if self.zero:
            numbers["zero"] = True
        curves = {
            name: np.asarray(values, dtype=float)[rows] for name, values in self.series.items()
        }
        return numbers | {
            "series": [{"name": name, "values": digits(y, 7)} for name, y in curves.items()]
        }

    def html(self, kept: np.ndarray | None = None) -> str:
        """A figure that report.js fills."""
        numbers = escape(json.dumps(self.data(kept), separators=(",", ":"), allow_nan=False))
        return f'<figure data-chart="{numbers}"><figcaption><span>{escape(self.title)}</span></figcaption></figure>'


def digits(x: np.ndarray, count: int) -> list[float | None]:
    """Numbers of so many digits; None where they are not finite, which JSON can not say."""
    return [float(f"{value:.{count}g}") if np.isfinite(value) else None for value in x.tolist()]


def charts_html(heading: str, charts: list[Chart], kept: np.ndarray | None = None) -> str:
    """Several figures under a heading."""
    return (
        f"<h2>{escape(heading)}</h2><div "
        f'class="charts">{"".join(chart.html(kept) for chart in charts)}</div>'
    )
