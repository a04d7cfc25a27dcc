"""Pairs: which parts of a robot are looked at together, and why the others are not.

rigid      nothing moves between them
adjacent   one joint, or bodies without shapes alone, lie between them
always     they touch in every configuration that was sampled
never      they touch in none, however near a search brought them
disabled   a file or the caller says so;   touching   a grasped object and what holds it
checked    everything else
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.arguments import shown
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.files import write_atomically
from linkwork.formats.tabular import Tabular
from linkwork.formats.xml import quoted
from linkwork.subject import Subject

REASONS = ("rigid", "adjacent", "always", "never", "disabled", "touching", "checked")
_WORDS_OF_SRDF = {
    "rigid": "Adjacent",
    "adjacent": "Adjacent",
    "always": "Default",
    "never": "Never",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two parts; why they are checked or not; the smallest distance seen between them [m],
    where it was looked for."""

    first: str
    second: str
    reason: str = "checked"
    distance: float | None = None


@dataclass(frozen=True)
class Pairs(Tabular):
    """Every pair of parts with its reason, in the order of the bodies."""

    rows: tuple[Pair, ...]
    robot: str = field(default="", compare=False)

    @cached_property
    def checked(self) -> tuple[tuple[str, str], ...]:
        """(first, second) of the pairs that are looked at."""
        return tuple((row.first, row.second) for row in self.rows if row.reason == "checked")

    @cached_property
    def disabled(self) -> tuple[tuple[str, str], ...]:
        """(first, second) of the others."""
        return tuple((row.first, row.second) for row in self.rows if row.reason != "checked")

    @cached_property
    def _by_names(self) -> dict[frozenset[str], Pair]:
        return {frozenset((row.first, row.second)): row for row in self.rows}

    def __getitem__(self, names: tuple[str, str]) -> Pair:
        if not isinstance(names, tuple) or len(names) != 2:
            raise UnknownName(f"pairs[{shown(names)}], expected two names: pairs[first, second]")
        row = self._by_names.get(frozenset(names))
        if row is None:
            raise UnknownName(f'there is no pair "{names[0]}", "{names[1]}"')
        return row

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        robot = f' of "{self.robot}"' if self.robot else ""
        return f"<Pairs{robot}: {len(self.checked)} of {len(self)} are checked>"

    def _table(self) -> dict[str, Any]:
        near = [np.nan if row.distance is None else row.distance for row in self.rows]
        words = {
            name: [getattr(row, name) for row in self.rows]
            for name in ("first", "second", "reason")
        }
        return {name: np.array(column, dtype=object) for name, column in words.items()} | {
            "distance": np.array(near)
        }

    def __str__(self) -> str:
        """A table a person can read."""
        cells = [("first", "second", "reason", "closest [mm]")]
        for row in self.rows:
            near = "" if row.distance is None else f"{1e3 * row.distance:.1f}"
            cells.append((row.first, row.second, row.reason, near))
        widths = [max(len(line[k]) for line in cells) for k in range(4)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in cells
        )

    def to_srdf(self, path: str | os.PathLike[str]) -> None:
        """Write the disabled pairs as an SRDF, which MoveIt and `pairs=` read."""
        lines = ['<?xml version="1.0"?>', f"<robot name={quoted(self.robot or 'robot')}>"]
        for row in self.rows:
            if row.reason in ("checked", "touching"):
                continue
            names = f"link1={quoted(row.first)} link2={quoted(row.second)}"
            lines.append(
                f'  <disable_collisions {names} reason="{_WORDS_OF_SRDF.get(row.reason, "User")}"/>'
            )
        write_atomically(path, "\n".join([*lines, "</robot>", ""]))


def by_structure(subject: Subject, parts: Iterable[str], carriers: dict[str, str]) -> Pairs:
    """Every pair of parts as the mechanism alone decides it: rigid, adjacent or checked."""
    names = list(parts)
    node = {name: subject.tree.bodies[carriers[name]][0] for name in names}
    beside = adjacent_bodies(subject, {carriers[name] for name in names})
    rows = []
    for k, first in enumerate(names):
        for second in names[k + 1 :]:
            bodies = frozenset((carriers[first], carriers[second]))
            reason = "adjacent" if bodies in beside else "checked"
            if node[first] == node[second]:
                reason = "rigid"
            rows.append(Pair(first, second, reason))
    return Pairs(tuple(rows), subject.model.name)


def adjacent_bodies(subject: Subject, solid: set[str]) -> set[frozenset[str]]:
    """Pairs of bodies with shapes between which there is one joint or closure,
    or only bodies without shapes."""
    links: dict[str, set[str]] = {body.name: set() for body in subject.model.bodies}
    ends = [(joint.parent, joint.child) for joint in subject.model.joints]
    for element in subject.model.elements:
        first, second = getattr(element, "first", None), getattr(element, "second", None)
        if type(element).__name__ == "LoopClosure" and first is not None and second is not None:
            ends.append((first.body, second.body))
    for a, b in ends:
        if a in links and b in links:
            links[a].add(b)
            links[b].add(a)
    adjacent = set()
    for body in solid:
        seen, front = {body}, [body]
        while front:
            for near in links[front.pop()] - seen:
                seen.add(near)
                if near in solid:
                    adjacent.add(frozenset((body, near)))
                else:
                    front.append(near)
    return adjacent


def chosen(asked: Iterable[Any], known: Pairs, parts: Iterable[str]) -> Pairs:
    """The pairs of `parts` that a caller lists are checked, all others are disabled."""
    parts = set(parts)
    listed = set()
    for pair in asked:
        names = tuple(pair) if isinstance(pair, (tuple, list)) else ()
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise InvalidInput(f"pairs: {pair!r} is no pair, expected two names of bodies")
        first, second = names
        listed.add(checked_pair(first, second, parts))
    reason = lambda *bodies: "checked" if frozenset(bodies) in listed else "disabled"
    rows = (Pair(row.first, row.second, reason(row.first, row.second)) for row in known)
    return Pairs(tuple(rows), known.robot)


def checked_pair(first: str, second: str, parts: set[str]) -> frozenset[str]:
    """Two names of parts that exist, and not twice the same."""
    for name in (first, second):
        if name not in parts:
            near = did_you_mean(name, parts)
            raise UnknownName(f'pairs: no body with shapes is named "{name}"{near}')
    if first == second:
        raise InvalidInput(
            f'pairs: "{first}" with itself is no pair; a body never collides with itself'
        )
    return frozenset((first, second))
