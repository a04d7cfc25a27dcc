"""Results of a simulation as named columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.arguments import number
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.simulation.events import Crossing


@dataclass(frozen=True)
class Simulation(Tabular, Mapping[str, np.ndarray]):
    """A motion, or a batch of motions, over time; result["q.elbow"], result["energy.total"], ...
    are columns (..., T).

    time          (T,) [s]
    q, v, tau     (..., T, nq), (..., T, nv), (..., T, nv): configuration, velocity, force of the
                  control
    columns       every column by name, in order; rows after a sample's end are NaN
    events        what happened, in order of time
    success       (...,) whether the sample ran to its end or to a terminal event; reason (...,) in
                  words
    end           (...,) the time each sample reached
    method, step  the integrator and its step [s] (None: adaptive)
    foreseen      what was known before the run to go wrong (a sampled damper that is unstable), in
                  words; also logged
    metrics       figures (...,) or (..., n) by name, where the run was asked for them
    where         "machine code", or "Python" where something could not be traced; why says what
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    columns: Mapping[str, np.ndarray]
    events: tuple[Crossing, ...]
    success: np.ndarray
    reason: np.ndarray
    end: np.ndarray
    method: str
    step: float | None
    where: str
    why: str = ""
    foreseen: str = ""
    metrics: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            raise UnknownName(
                f'simulation has no column "{column}"{did_you_mean(column, self.columns)}'
            )
        return self.columns[column]

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def get(self, column: str, default: Any = None) -> Any:
        return self.columns.get(column, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        batch = f"{self.success.shape} " if self.success.ndim else ""
        good = "" if self.success.all() else f", {int((~self.success).sum())} failed"
        step = "adaptive" if self.step is None else f"step {self.step:g} s"
        return (
            f"<Simulation {batch}{float(self.time[0]):g} to {float(self.time[-1]):g} s, "
            f"{len(self.time)} rows, "
            f"{self.method}, {step}{good}>"
        )

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) of the row nearest to a time."""
        k = int(np.argmin(np.abs(self.time - number(t, "at: t"))))
        return self.q[..., k, :], self.v[..., k, :]

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """Arrays "time", "q", "v" of one run, as `robot.analyse` and `robot.show(motion=...)` take
        them."""
        if self.success.ndim:
            raise InvalidInput("motion: this is a batch of runs, expected one of it")
        rows = self.time <= self.end + 1e-12
        return {"time": self.time[rows], "q": self.q[rows], "v": self.v[rows]}

    def _table(self) -> Mapping[str, np.ndarray]:
        return self.columns


def columns_of(
    q_names: tuple[str, ...], v_names: tuple[str, ...], time: np.ndarray, **parts: np.ndarray
) -> dict[str, np.ndarray]:
    """The columns in order: time, q.*, v.*, tau.*, then what is named already."""
    columns: dict[str, Any] = {"time": time}
    for label, names in (("q", q_names), ("v", v_names), ("tau", v_names)):
        columns |= {f"{label}.{name}": parts[label][..., k] for k, name in enumerate(names)}
    return columns
