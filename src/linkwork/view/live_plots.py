"""Live plots: any column of a motion beside the scene, drawn as far as the motion has come."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.view.palette import COLORS

POINTS = 400
"""At most this many points a curve: what a narrow plot can show,
and little to send ten times a second."""
HEIGHT = 190
NOTHING = 1e-9
"""A curve that stays below this is rounding: it is drawn as the zero it is."""


class LivePlot:
    """One column over time: the whole curve pale, what has been played strong, up to now."""

    def __init__(self, gui: Any, title: str, time: np.ndarray, values: np.ndarray) -> None:
        self.title = title
        self._record: list[tuple[float, float]] = []
        self._record_start = 0.0
        self.folder = gui.add_folder(title)
        with self.folder:
            first = np.zeros(2)
            self.chart = gui.add_uplot(
                (first, first.copy(), first.copy()),
                (
                    {"label": "time [s]"},
                    {
                        "label": "motion",
                        "stroke": "#c3cad5",
                        "width": 1.5,
                        "points": {"show": False},
                    },
                    {
                        "label": "now",
                        "stroke": f"rgb{COLORS['actuator']}",
                        "width": 2.5,
                        "points": {"show": False},
                    },
                ),
                scales={"x": {"time": False}},
                axes=({"size": 28}, {"size": 52}),
                legend={"show": False},
                height=HEIGHT,
            )
            self.reading = gui.add_markdown("")
            self.remove_button = gui.add_button("remove", color="gray")
        self.set(time, values)

    def set(self, time: np.ndarray, values: np.ndarray) -> None:
        """Another curve: time (n,), values (n,)."""
        step = max(1, -(-len(time) // POINTS))
        self.clear()
        nothing = float(np.abs(values).max(initial=0.0)) < NOTHING
        self.chart.scales = {"x": {"time": False}, "y": {"range": (-1.0, 1.0)} if nothing else {}}
        self.time = np.array(time[::step], dtype=float)
        self.values = np.array(values[::step], dtype=float)
        self.show(0.0)

    def show(self, t: float) -> None:
        """Draw as far as t [s] after the start."""
        at = min(int(np.searchsorted(self.time - self.time[0], t - 1e-9)), len(self.time) - 1)
        played = self.values.copy()
        played[at + 1 :] = np.nan
        self.chart.data = (self.time, self.values, played)
        self.reading.content = f"{self.values[at]:.5g}"

    def append(self, t: float, value: float) -> None:
        """One more point of a record: t [s] of any clock; the oldest points go."""
        if not self._record:
            self._record_start = t
        self._record = [*self._record, (t - self._record_start, value)][-POINTS:]
        self.time, self.values = np.array(self._record, dtype=float).T.copy()
        self.show(np.inf)

    def clear(self) -> None:
        """Begin a new record."""
        self._record = []

    def remove(self) -> None:
        self.folder.remove()
