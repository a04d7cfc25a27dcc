"""Playback: a motion of one robot with all its postures made at once;
loads and columns when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, number
from linkwork.errors import InvalidInput, LinkworkError
from linkwork.loads.analyse import Analysis
from linkwork.loads.columns import columns_of
from linkwork.robot import Robot
from linkwork.view.load_vectors import LoadVectors, load_vectors
from linkwork.view.postures import Postures, postures

FRAMES_PER_SECOND = 50


class Playback:
    """A motion to show.

    motion   a name of `robot.motions`, or arrays as `robot.analyse` takes them:
             {"time": (n,), "q": (n, nq), "v", "a"} or {"time", "c", "cd", "cdd"}; each row is then
             one frame; or a motion of `lw.trajectory`, a simulation
    """

    def __init__(self, robot: Robot, motion: str | Mapping[str, Any]) -> None:
        self.robot = robot
        if isinstance(motion, str):
            self.name, sampled = motion, robot.motions[motion]
            self.time = np.linspace(
                0.0, sampled.duration, max(2, round(sampled.duration * FRAMES_PER_SECOND) + 1)
            )
            self.states = tuple(np.asarray(x) for x in sampled.sample(self.time))
        else:
            self.name, motion = "motion", getattr(motion, "motion", motion)
            self.time, self.states = _from_arrays(robot, motion)
        self.postures: Postures = postures(robot, self.states[0])
        self._making = threading.Lock()
        self._failed = ""

    @property
    def duration(self) -> float:
        """[s] from the first frame to the last."""
        return float(self.time[-1] - self.time[0])

    def row(self, t: float) -> int:
        """The frame shown at t [s] after the start."""
        after = self.time[0] + number(t, "row: t") - 1e-9
        return int(np.clip(np.searchsorted(self.time, after), 0, len(self.time) - 1))

    @cached_property
    def analysis(self) -> Analysis | None:
        """Every load; None for a robot without mass properties."""
        if self.robot.model.kinematic_only:
            return None
        q, v, a = self.states
        return self.robot.analyse({"time": self.time, "q": q, "v": v, "a": a})

    @cached_property
    def vectors(self) -> LoadVectors | None:
        """Its loads as vectors."""
        return None if self.analysis is None else load_vectors(self.analysis)

    def vectors_if_ready(self) -> LoadVectors | None:
        """The loads, if they are there; otherwise a thread starts to make them
        (compiling may take seconds)."""
        if (
            "vectors" not in self.__dict__
            and not self._failed
            and self._making.acquire(blocking=False)
        ):
            threading.Thread(target=self._make, daemon=True).start()
        return self.__dict__.get("vectors")

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """name -> (n,): every column of the analysis;
        of positions alone where nothing is known of masses."""
        return self._positions if self.analysis is None else self.analysis.columns

    @cached_property
    def _positions(self) -> dict[str, np.ndarray]:
        known = dict(zip("qva", self.states, strict=True)) | {"position": self.postures.position}
        columns: dict[str, np.ndarray] = {"time": self.time}
        for name, column in columns_of(self.robot.subject).items():
            if column.source in known:
                columns[name] = column.of(known)
        return columns

    def _make(self) -> None:
        try:
            _ = self.vectors
        except LinkworkError as error:
            self._failed = str(error)
        finally:
            self._making.release()

    @property
    def failed(self) -> str:
        """Why there are no loads, in a sentence; empty where there are, or may yet be."""
        return self._failed


def _from_arrays(
    robot: Robot, motion: Mapping[str, Any]
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    if "time" not in motion or ("q" in motion) == ("c" in motion):
        raise InvalidInput(
            f"viewer: motion has {sorted(motion)}, expected time and either joint coordinates q or "
            "commands c"
        )
    time = as_doubles(motion["time"], "viewer: time")
    if time.ndim != 1 or len(time) < 2 or not (np.diff(time) > 0).all():
        raise InvalidInput(
            f"viewer: time has shape {time.shape}, expected (n,) with n >= 2, growing"
        )
    if "c" in motion:
        c = as_doubles(motion["c"], "viewer: c")
        cd, cdd = motion.get("cd"), motion.get("cdd")
        return time, tuple(np.asarray(x) for x in robot.from_actuators(c, cd, cdd))
    q = as_doubles(motion["q"], "viewer: q")
    if q.shape != (len(time), robot.nq):
        raise InvalidInput(f"viewer: q has shape {q.shape}, expected ({len(time)}, {robot.nq})")
    rest = [
        as_doubles(motion.get(name, np.zeros((len(time), robot.nv))), f"viewer: {name}")
        for name in ("v", "a")
    ]
    return time, (q, *rest)
