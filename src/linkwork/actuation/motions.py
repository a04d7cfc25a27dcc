"""Motions of a robot, sampled: commands, and the joint coordinates they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.actuation.conversion import from_actuators
from linkwork.actuation.coordinates import commands_of
from linkwork.actuation.curves import Curves, jumps
from linkwork.actuation.layout import layout_of
from linkwork.arguments import as_doubles, choice, shown
from linkwork.configurations import neutral, places
from linkwork.errors import InvalidInput, InvalidModel, UnknownName, did_you_mean
from linkwork.model.motions import DescribedMotion, Track
from linkwork.results import ByName
from linkwork.subject import Subject


class SampledMotion:
    """A motion of this robot from t = 0 to `duration` [s]."""

    def __init__(self, subject: Subject, motion: DescribedMotion) -> None:
        self._subject, self.motion = subject, motion

    @property
    def name(self) -> str:
        return self.motion.name

    @property
    def duration(self) -> float:
        return self.motion.duration

    @property
    def jumps(self) -> tuple[float, ...]:
        """Times inside the motion at which a rate or an acceleration jumps."""
        instants = {t for track in self.motion.tracks for t in jumps(track.pieces)}
        return tuple(sorted(t for t in instants if 0.0 < t < self.duration))

    def __repr__(self) -> str:
        return f'<Motion "{self.name}" of robot "{self._subject.model.name}": {self.duration:g} s>'

    def sample(self, t: Any, side: str = "after") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v, a at t (...) [s].

        Where a rate or an acceleration jumps (`jumps`), `side` says which one counts: "before",
        "after" (the default, so that a motion can be sampled at any times), or "refuse", which
        makes such a time an error.
        """
        c, cd, cdd = self.commands(t, side)
        return from_actuators(self._subject, c, cd, cdd)

    def commands(self, t: Any, side: str = "after") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c, cd, cdd (..., nc) at t: the commands in the order of `robot.actuators`;
        `side` as in `sample`."""
        times = as_doubles(t, f'motion "{self.name}": t')
        slack = 1e-12 * max(1.0, self.duration)
        within = (times >= -slack) & (times <= self.duration + slack)
        if not (np.isfinite(times) & within).all():
            raise InvalidInput(f'motion "{self.name}": t is outside 0 .. {self.duration:g} s')
        choice(side, ("before", "after", "refuse"), f'motion "{self.name}": side')
        if side == "refuse":
            self._refuse_jumps(times)
        layout = layout_of(self._subject)
        n, m = layout.sizes
        c, cd, cdd = (np.zeros((*times.shape, size)) for size in (n, m, m))
        _start_quaternions(layout.direct, c)
        curves, at_c, at_cd, indirect = self._direct
        c[..., at_c], cd[..., at_cd], cdd[..., at_cd] = curves(times, side)
        if indirect:
            self._by_joints(indirect, times, side, (c, cd, cdd))
        return c, cd, cdd

    @cached_property
    def _direct(self) -> tuple[Curves, list[int], list[int], list[Track]]:
        """(curves of commanded tracks, their entries of c, their entries of cd, tracks of joints
        that are driven)."""
        placed = [(track, self._place(track)) for track in self.motion.tracks]
        moved = [(track, place) for track, place in placed if place is not None]
        driven = [track for track, place in placed if place is None]
        curves = Curves([track.pieces for track, _ in moved])
        return curves, [place[0] for _, place in moved], [place[1] for _, place in moved], driven

    def _refuse_jumps(self, times: np.ndarray) -> None:
        for track in self.motion.tracks:
            for t in jumps(track.pieces):
                if 0.0 < t < self.duration and (times == t).any():
                    raise InvalidInput(
                        f'motion "{self.name}": at t = {t:g} s the motion of "{track.name}" jumps; '
                        'side="before" or side="after" says which acceleration counts'
                    )

    def _place(self, track: Track) -> tuple[int, int] | None:
        """(entry of c, entry of cd) a track moves; None for a joint that an actuator drives."""
        layout = layout_of(self._subject)
        for name in (track.name, f"{track.name}[{track.coordinate}]"):
            if name in layout.names:
                at = layout.names.index(name)
                entry = layout.entries[at]
                if entry is None:
                    raise InvalidModel(
                        f'motion "{self.name}": joint "{track.name}" turns by a quaternion'
                    )
                return entry, at
        if track.name in self._subject.joints:
            return None
        near = did_you_mean(track.name, [*layout.names, *self._subject.joints])
        raise UnknownName(
            f'motion "{self.name}": there is no joint or actuator "{track.name}"{near}'
        )

    def _by_joints(
        self, tracks: list[Track], times: np.ndarray, side: str, into: tuple[np.ndarray, ...]
    ) -> None:
        """Joints that a transmission drives, given themselves: the commands that move them so."""
        q, v, a = from_neutral(self._subject, times.shape)
        at = {joint.name: (where_q, where_v) for joint, where_q, where_v in places(self._subject)}
        x, xd, xdd = Curves([track.pieces for track in tracks])(times, side)
        for k, track in enumerate(tracks):
            where_q, where_v = at[track.name]
            q[..., where_q.start] = x[..., k]
            v[..., where_v.start] = xd[..., k]
            a[..., where_v.start] = xdd[..., k]
        commands = commands_of(self._subject, q, v, a)
        layout = layout_of(self._subject)
        for track in tracks:
            for driven in layout.driven:
                if track.name in driven.drive.joints:
                    columns = (driven.commands, driven.rates, driven.rates)
                    for target, source, entries in zip(into, commands, columns, strict=True):
                        target[..., list(entries)] = source[..., list(entries)]
                    break
            else:
                raise InvalidModel(
                    f'motion "{self.name}": joint "{track.name}" is decided by a loop, not by '
                    "a motion"
                )


class Motions(ByName[SampledMotion]):
    """The motions a robot's description names."""

    def __init__(self, subject: Subject) -> None:
        self._motions = {m.name: SampledMotion(subject, m) for m in subject.model.motions}
        self._robot = subject.model.name

    def __getitem__(self, name: str) -> SampledMotion:
        if not isinstance(name, str) or name not in self._motions:
            near = did_you_mean(name, self._motions) if isinstance(name, str) else ""
            told = f'"{name}"' if isinstance(name, str) else shown(name)
            raise UnknownName(f'robot "{self._robot}" has no motion {told}{near}')
        return self._motions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._motions)

    def __len__(self) -> int:
        return len(self._motions)

    def __repr__(self) -> str:
        return f"<Motions {', '.join(self._motions) or 'none'}>"


def from_neutral(
    subject: Subject, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Neutral q, zero v and a, for every sample."""
    q = np.broadcast_to(neutral(subject), (*shape, subject.nq)).copy()
    return q, np.zeros((*shape, subject.nv)), np.zeros((*shape, subject.nv))


def _start_quaternions(direct: tuple, c: np.ndarray) -> None:
    for at_c, _, _, _, nq, nv in direct:
        if nq > nv:
            c[..., at_c + nq - 1] = 1.0
