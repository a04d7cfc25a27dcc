"""Motion: what every motion over time can do, whatever made it: be asked, be sampled,
be followed by another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import are_finite, as_doubles, number
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular

STEP = 1e-3
"""Instants are this far apart [s] where nothing else is said."""
MEET = 1e-6
"""Motions are joined where one begins this near to where the other ends [rad, m, rad/s, m/s]."""


class Motion(Tabular):
    """A motion of `duration` seconds that `at(t)` gives as (q, v, a).

    `robot.analyse(motion)` and `robot.show(motion=motion)` take it as it is.
    """

    __slots__ = ()

    duration: Any
    names: tuple[str, ...] = ()
    """Of the coordinates, where a robot gave them;
    columns of tables are then "q.elbow" instead of "q[2]"."""

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., n), at times t (...) [s]."""
        raise NotImplementedError

    def sample(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, by the name that motions of a description have."""
        return self.at(t)

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """Arrays "time", "q", "v", "a", a millisecond apart."""
        count = max(2, round(float(self.duration) / STEP) + 1)
        time = np.linspace(0.0, float(self.duration), count)
        q, v, a = self.at(time)
        return {"time": time, "q": q, "v": v, "a": a}

    def _table(self) -> dict[str, np.ndarray]:
        arrays = self.motion
        return {"time": arrays["time"]} | self._columns({label: arrays[label] for label in "qva"})

    def _columns(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Every coordinate of arrays (n, size) as a column, by its name where it has one."""
        columns = {}
        for label, rows in arrays.items():
            named = len(self.names) == rows.shape[1]
            for k, values in enumerate(rows.T):
                columns[f"{label}.{self.names[k]}" if named else f"{label}[{k}]"] = values
        return columns

    def then(self, *others: Motion, pause: float = 0.0) -> Motion:
        """This motion, and others after it, with a pause [s] between;
        each begins where the last ends.

        What meets is position and speed; where a robot shall not stop, one path is timed as a whole
        instead (`Path.then`, `minimum_time`).
        """
        if number(pause, "then: pause") < 0.0:
            raise InvalidInput(f"then: pause is {pause}, expected a time >= 0 s")
        parts: list[Motion] = []
        for k, part in enumerate((self, *others)):
            if not isinstance(part, Motion):
                raise InvalidInput(f"then: motion {k} is {part!r}, expected a motion")
            if np.ndim(part.duration):
                raise InvalidInput(f"then: motion {k} is a batch, expected one of it: law[k]")
            parts += part.parts if isinstance(part, Joined) and part.pause == pause else (part,)
        for k, (one, other) in enumerate(pairwise(parts)):
            _check_meeting(one, other, k + 1, pause)
        return Joined(tuple(parts), float(pause))


@dataclass(frozen=True, repr=False)
class Joined(Motion):
    """Motions after each other; `starts` (m,) [s] says when each begins."""

    parts: tuple[Motion, ...]
    pause: float = 0.0

    def __repr__(self) -> str:
        return f"<Joined {len(self.parts)} motions, {self.duration:.4g} s>"

    @property
    def starts(self) -> np.ndarray:
        lasting = [float(part.duration) + self.pause for part in self.parts[:-1]]
        return np.concatenate([[0.0], np.cumsum(lasting)])

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.parts[0].names

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.starts[-1]) + float(self.parts[-1].duration)

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., n), at times t (...) [s]; it stands in pauses, before and after."""
        times, starts = finite_times(t), self.starts
        which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(starts) - 1)
        size = len(self.parts[0].at(0.0)[0])
        q, v, a = states = [np.zeros((*times.shape, size)) for _ in range(3)]
        for k, part in enumerate(self.parts):
            mine = which == k
            if mine.any():
                for state, values in zip(states, part.at(times[mine] - starts[k]), strict=True):
                    state[mine] = values
        return q, v, a


def _check_meeting(one: Motion, other: Motion, k: int, pause: float) -> None:
    """That one motion ends where the other begins, and as fast; through a pause both stand."""
    (q_end, v_end, _), (q_next, v_next, _) = one.at(float(one.duration)), other.at(0.0)
    if q_end.shape != q_next.shape:
        raise InvalidInput(f"then: motion {k} has {len(q_next)} coordinates, expected {len(q_end)}")
    gap = float(np.abs(q_next - q_end).max())
    if gap > MEET:
        raise InvalidInput(f"then: motion {k} begins {gap:.3g} away from where the one before ends")
    jump = float(np.abs(v_next - v_end).max())
    moving = float(max(np.abs(v_next).max(), np.abs(v_end).max()))
    if jump > MEET or (pause > 0.0 and moving > MEET):
        raise InvalidInput(
            f"then: speeds differ by {jump:.3g} where motion {k} begins"
            + (f", and one of them is {moving:.3g} at a pause" if pause > 0.0 else "")
            + "; expected motions that end and begin at rest, or with one speed"
        )


def finite_times(t: ArrayLike) -> np.ndarray:
    """Times at which a law is asked for."""
    times = as_doubles(t, "at: t")
    if not are_finite(times):
        raise InvalidInput("at: t is not finite, expected times in seconds")
    return times
