"""Loop tables: linkages written as closed rows of signed vectors, each with the body it turns with.

    from_loops({"Z1": 2 + 1j, ...}, [[("Z0", "ground"), ("Z6", "crank"), ("-Z3", "lever")], ...])

A row is walked from vector to vector; where the body changes there is a pin. Source: [Mather2023]
eq. 3-5, Table 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.synthesis.linkage import GROUND, Linkage, Topology

Row = Sequence[tuple[str, str]]


def from_loops(
    vectors: Mapping[str, complex],
    loops: Sequence[Row],
    *,
    tracer: tuple[str, str] | None = None,
    driver: str | None = None,
    origin: complex = 0j,
    tolerance: float = 1e-6,
    name: str = "linkage",
) -> Linkage:
    """The linkage of closed loops.

    vectors     name -> complex at position 1 [m]
    loops       rows of (sign and name, body), such as ("-Z3", "coupler"); the first row begins at
                `origin`, the others at a vector that an earlier row has placed
    tracer      (vector, body): its end is the tracer; a vector that no row has begins where the
                body's last one ends.
                None: the first vertex of the last body
    driver      a body with a pin on the ground; None: the first one
    tolerance   how far [of the longest vector] a row may miss closure: it is then shared by the
                row's last pin
    """
    who = "from_loops"
    length = max((abs(complex(v)) for v in vectors.values()), default=0.0)
    if length == 0.0 or not loops:
        raise InvalidInput(f"{who}: expected vectors and at least one row")
    walk = _Walk(vectors, length, tolerance, who)
    for number, row in enumerate(loops, 1):
        walk.row(list(row), number, complex(origin))
    return walk.linkage(tracer, driver, name)


class _Walk:
    """Vertices placed so far: where they are, which bodies carry them,
    which vector leads from which to which."""

    def __init__(
        self, vectors: Mapping[str, complex], length: float, tolerance: float, who: str
    ) -> None:
        self.vectors, self.length, self.tolerance, self.who = vectors, length, tolerance, who
        self.places: list[complex] = []
        self.carried: dict[str, list[int]] = {}
        self.ends: dict[tuple[str, str], tuple[int, int]] = {}
        self.pins: list[tuple[int, str, str]] = []

    def row(self, row: list[tuple[str, str]], number: int, origin: complex) -> None:
        parsed = [self._parsed(entry, number) for entry in row]
        total = sum(sign * self._vector(name) for sign, name, _ in parsed)
        if abs(total) > self.tolerance * self.length:
            raise InvalidInput(
                f"{self.who}: row {number} does not close: its vectors sum to {total:.4g}, "
                "expected 0 "
                f"within {self.tolerance:g} of the longest vector"
            )
        start = next(
            (k for k, (_, name, body) in enumerate(parsed) if (name, body) in self.ends), None
        )
        if start is None:
            if self.places:
                raise InvalidInput(
                    f"{self.who}: row {number} has no vector in common with an earlier row"
                )
            here = self._vertex(origin)
        else:
            sign, name, body = parsed[start]
            ends = self.ends[name, body]
            here = ends[0] if sign > 0 else ends[1]
            parsed = parsed[start:] + parsed[:start]
        first = here
        for k, (sign, name, body) in enumerate(parsed):
            following = parsed[(k + 1) % len(parsed)][2]
            last = k == len(parsed) - 1
            there = first if last else self._end(here, sign, name, body)
            self._carry(body, here)
            self._carry(body, there)
            self.ends.setdefault((name, body), (here, there) if sign > 0 else (there, here))
            if following != body:
                self._pin(there, body, following)
            here = there

    def _end(self, here: int, sign: float, name: str, body: str) -> int:
        known = self.ends.get((name, body))
        if known is not None:
            return known[1] if sign > 0 else known[0]
        return self._vertex(self.places[here] + sign * self._vector(name))

    def _vertex(self, place: complex) -> int:
        for k, p in enumerate(self.places):
            if abs(p - place) <= 2 * self.tolerance * self.length:
                return k
        self.places.append(place)
        return len(self.places) - 1

    def _carry(self, body: str, vertex: int) -> None:
        points = self.carried.setdefault(body, [])
        if vertex not in points:
            points.append(vertex)

    def _pin(self, vertex: int, first: str, second: str) -> None:
        pair = {first, second}
        if not any(v == vertex and {a, b} == pair for v, a, b in self.pins):
            # several bodies at one vertex: a chain of pins, not every pair
            joined = {b for v, a, c in self.pins if v == vertex for b in (a, c)}
            if not pair <= joined:
                self.pins.append((vertex, first, second))

    def _parsed(self, entry: Any, number: int) -> tuple[float, str, str]:
        try:
            text, body = entry
        except (TypeError, ValueError):
            raise InvalidInput(
                f'{self.who}: row {number} has {entry!r}, expected ("Z1", "body")'
            ) from None
        sign = -1.0 if str(text).startswith("-") else 1.0
        return sign, str(text).lstrip("+-"), str(body)

    def _vector(self, name: str) -> complex:
        if name not in self.vectors:
            raise UnknownName(
                f'{self.who}: there is no vector "{name}"{did_you_mean(name, self.vectors)}'
            )
        return complex(self.vectors[name])

    def linkage(self, tracer: tuple[str, str] | None, driver: str | None, name: str) -> Linkage:
        if GROUND not in self.carried:
            raise InvalidInput(f'{self.who}: no vector turns with "{GROUND}"')
        if tracer is not None:
            vector, body = tracer
            if body not in self.carried:
                raise UnknownName(
                    f'{self.who}: there is no body "{body}"{did_you_mean(body, self.carried)}'
                )
            if (vector, body) in self.ends:
                point = self.ends[vector, body][1]
            else:
                ends = [pair[1] for (_, b), pair in self.ends.items() if b == body]
                point = self._vertex(self.places[ends[-1]] + self._vector(vector))
                self._carry(body, point)
        else:
            body = list(self.carried)[-1]
            point = self.carried[body][0]
        label = lambda k: f"P{k + 1}"
        bodies = {GROUND: self.carried[GROUND]} | {
            b: p for b, p in self.carried.items() if b != GROUND
        }
        grounded = [b if a == GROUND else a for _, a, b in self.pins if GROUND in (a, b)]
        if not grounded:
            raise InvalidInput(f"{self.who}: no body has a pin on the ground")
        topology = Topology(
            name,
            {b: tuple(label(k) for k in points) for b, points in bodies.items()},
            tuple((label(k), a, b) for k, a, b in self.pins),
            driver=driver or grounded[0],
            tracer=(body, label(point)),
        )
        for moving in topology.moving:
            held = sum(moving in pin[1:] for pin in topology.pins)
            if held < 2:
                raise InvalidInput(
                    f'{self.who}: body "{moving}" is loose: it has one pin, expected two or more'
                )
        if topology.mobility != 1:
            raise NotPossible(
                f"{self.who}: the linkage has {topology.mobility} degrees of freedom, expected 1"
            )
        order = [int(n[1:]) - 1 for n in topology.points]
        return Linkage(topology, np.array(self.places)[order])
