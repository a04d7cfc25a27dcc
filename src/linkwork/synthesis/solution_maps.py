"""Solution maps: all four-bars of four poses, by kind, defect and worst transmission angle.

A point of the Burmester curve is a dyad; a pair of points is a four-bar. A map has the driving dyad
along one side and the driven one along the other.
Source: [McCarthy2011] section 6.2 (type maps).
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.burmester import Curves, burmester
from linkwork.synthesis.linkage import FOUR_BAR, Linkage, Linkages
from linkwork.synthesis.task import PlanarTask
from linkwork.synthesis.verdicts import check

MOST_SAMPLES = 2000
_ROUND = 50_000  # linkages that are judged without a look at the clock
SAME = 1e-6
"""Pivots nearer than this [task sizes] are one: no linkage."""
COLOURS = {
    "crank-rocker": "#1b7837",
    "double-crank": "#2166ac",
    "rocker-crank": "#762a83",
    "double-rocker": "#b35806",
    "triple-rocker": "#8c6d31",
    "other": "#555555",
}
DEFECT, NOTHING = "#dddddd", "#ffffff"
STEPS = (15.0, 30.0, 45.0)
"""Transmission angles [deg] between which the colours become fuller."""


@short_repr
@dataclass(frozen=True)
class SolutionMap(Tabular, rows="valid", aside=("task", "curves")):
    """Four-bars of every pair of dyads of the curve, (n, n): row the driving dyad,
    column the driven one.

    curves             the dyads, n of them
    valid              a linkage: two different dyads with finite pivots
    kind               of words: "crank-rocker" ...; "" where there is none
    circuit, branch, order   defects
    transmission_min   worst transmission angle between the positions [rad]; NaN where there is no
                       linkage
    """

    task: PlanarTask
    curves: Curves
    valid: np.ndarray
    kind: np.ndarray
    circuit: np.ndarray
    branch: np.ndarray
    order: np.ndarray
    transmission_min: np.ndarray

    @property
    def good(self) -> np.ndarray:
        """(n, n): linkages without defect."""
        return self.valid & ~(self.circuit | self.branch | self.order)

    def linkage(self, driving: int, driven: int) -> Linkage:
        """The four-bar of two dyads of the curve."""
        n = len(self.curves)
        if not (-n <= driving < n and -n <= driven < n) or not self.valid[driving, driven]:
            raise NotPossible(f"solution_map: dyads {driving} and {driven} of {n} make no linkage")
        ground, moving = self.curves.center, self.curves.circle
        points = [
            ground[driving],
            ground[driven],
            moving[driving],
            moving[driven],
            self.task.positions[0],
        ]
        return Linkage(FOUR_BAR["crank"], np.array(points))

    def best(self, count: int = 10) -> list[tuple[int, int]]:
        """(driving, driven) of the linkages without defect that have the best worst transmission
        angle."""
        score = np.where(self.good, self.transmission_min, -1.0)
        order = np.argsort(-score, axis=None, kind="stable")[:count]
        rows, columns = np.unravel_index(order, score.shape)
        return [(int(i), int(j)) for i, j in zip(rows, columns) if score[i, j] >= 0]

    def svg(self, cell: float = 4.0) -> str:
        """The map as a picture: colour by kind, fuller with the transmission angle;
        grey has a defect."""
        n = len(self.curves)
        colours = self._colours()
        rows = []
        for i in range(n):
            begin = 0
            for j in range(1, n + 1):  # cells of one colour in a row are one rectangle
                if j == n or colours[i, j] != colours[i, begin]:
                    if colours[i, begin] != NOTHING:
                        place = (
                            f'x="{begin * cell:g}" y="{i * cell:g}" width="{(j - begin) * cell:g}"'
                        )
                        rows.append(f'<rect {place} height="{cell:g}" fill="{colours[i, begin]}"/>')
                    begin = j
        legend = []
        for k, (kind, colour) in enumerate(COLOURS.items()):
            at = n * cell + 16 + 18 * k
            legend.append(f'<rect x="4" y="{at:g}" width="12" height="12" fill="{colour}"/>')
            legend.append(f'<text x="22" y="{at + 11:g}">{escape(kind)}</text>')
        size = f'width="{n * cell:g}" height="{n * cell + 30 + 18 * len(COLOURS):g}"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" '
            'font-size="12">'
        )
        return "\n".join([head, *rows, *legend, "</svg>\n"])

    def _colours(self) -> np.ndarray:
        tints = np.full(self.valid.shape, NOTHING, dtype=object)
        tints[self.valid] = DEFECT
        fullness = 0.25 + 0.25 * np.digitize(
            np.degrees(np.nan_to_num(self.transmission_min)), STEPS
        )
        for kind, colour in COLOURS.items():
            named = self.kind == kind if kind != "other" else ~np.isin(self.kind, list(COLOURS))
            for share in np.unique(fullness):
                tints[self.good & named & (fullness == share)] = _mixed(colour, float(share))
        return tints


@deadlines.limited
def solution_map(
    task: PlanarTask, samples: int = 120, *, time_limit: float | None = None
) -> SolutionMap:
    """All pairs of dyads of a task of four poses, `samples` of them along the curve;
    `svg()` draws it.

    time_limit: seconds after which it ends with NotPossible; None: as long as it takes.
    """
    who = "solution_map"
    curves = burmester(task, deadlines.counted(samples, f"{who}: samples", 8, MOST_SAMPLES))
    size = float(task.size)
    ground, moving = curves.center, curves.circle
    near = (np.abs(ground[:, None] - ground) < SAME * size) | (
        np.abs(moving[:, None] - moving) < SAME * size
    )
    with np.errstate(invalid="ignore"):
        finite = curves.valid & (np.abs(moving - ground) > SAME * size)
    valid = finite[:, None] & finite & ~near
    i, j = np.nonzero(valid)
    tip = np.full(len(i), task.positions[0])
    points = np.stack([ground[i], ground[j], moving[i], moving[j], tip], axis=-1)
    parts = [
        check(Linkages(FOUR_BAR["crank"], points[some]), task)
        for some in deadlines.rounds(len(points), _ROUND)
    ]
    spread = lambda name, empty: _spread(
        valid, np.concatenate([getattr(part, name) for part in parts]), empty
    )
    return SolutionMap(
        task,
        curves,
        valid,
        spread("kind", ""),
        spread("circuit", False),
        spread("branch", False),
        spread("order", False),
        spread("transmission_min", np.nan),
    )


def _spread(valid: np.ndarray, values: np.ndarray, empty: Any) -> np.ndarray:
    whole = np.full(valid.shape, empty, dtype=np.asarray(values).dtype)
    whole[valid] = values
    return whole


def _mixed(colour: str, share: float) -> str:
    """A colour mixed with white."""
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + share * (x - 255)):02x}" for x in parts)
