"""Placed terms: where the terms of a system are, with the column that each of them adds."""

from __future__ import annotations

import functools
from typing import Any

from casadi import SX

from linkwork.errors import UnknownName, did_you_mean
from linkwork.lagrange import columns
from linkwork.lagrange.columns import Column
from linkwork.lagrange.expressions import Scope
from linkwork.lagrange.joints import Pose
from linkwork.lagrange.methods import SystemQuantities
from linkwork.lagrange.parts import Frame, Parts
from linkwork.lagrange.terms import Body, Point, Term


class PlacedTerms(SystemQuantities):
    """Poses and columns of a system, each made when it is asked for."""

    scope: Scope
    _parts: Parts
    _poses: dict[str | None, Pose]
    _columns: dict[Any, Column]

    @property
    def name(self) -> str:
        return self._parts.name

    @property
    def gravity_vector(self) -> SX:
        return self._parts.gravity

    def pose(self, frame: str | None) -> Pose:
        """T_world_frame as expressions of the coordinates."""
        if frame not in self._poses:
            placed = self._frame(frame)
            self._poses[frame] = self.pose(placed.parent) @ placed.pose
        return self._poses[frame]

    def point(self, point: Point) -> SX:
        """World position of a point of the mechanism (3)."""
        if point.body is not None:
            body = self._parts.terms[point.body]
            assert isinstance(body, Body)
            return self.pose(body.frame).at(body.position)
        return self.pose(point.frame).at(point.offset)

    @functools.cached_property
    def placed(self) -> list[tuple[Term, SX]]:
        """Every term with its place x(q, t)."""
        return [(term, term.place(self)) for term in self._parts.terms.values()]

    @property
    def columns(self) -> list[Column]:
        """A traced column for every term; only those are traced that no earlier system has
        traced."""
        ordered = []
        for term in self._parts.terms.values():
            key = self._key(term)
            if key not in self._columns:
                self._columns[key] = columns.trace(term, self, self.scope, self.gravity_vector)
            ordered.append(self._columns[key])
        return ordered

    def stale_terms(self) -> tuple[str, ...]:
        """Names of the columns that are still to be traced."""
        return tuple(
            term.name for term in self._parts.terms.values() if self._key(term) not in self._columns
        )

    def _key(self, term: Term) -> tuple[Any, ...]:
        """What the column of a term depends on: itself, the joints that carry it,
        gravity where it has weight."""
        key: list[Any] = [term]
        if isinstance(term, Body):
            key.append(_Identity(self._parts.gravity))
        carriers = list(term.frames)
        for name in term.bodies:
            body = self._parts.terms[name]
            key.append(body)
            carriers += body.frames
        for carrier in carriers:
            above: str | None = carrier
            while above is not None:
                key.append(self._parts.frames[above])
                above = self._parts.frames[above].parent
        return tuple(key)

    def _frame(self, name: str | None) -> Frame:
        placed = self._parts.frames.get(name) if name is not None else None
        if placed is None:
            frames = self._parts.frames
            raise UnknownName(
                f'system "{self.name}" has no frame or joint '
                f'"{name}"{did_you_mean(str(name), frames)}'
            )
        return placed

    def _check_frame(self, name: str | None, who: str) -> None:
        if name is not None and name not in self._parts.frames:
            raise UnknownName(
                f'{who} stands on unknown frame "{name}"{did_you_mean(name, self._parts.frames)}'
            )


class _Identity:
    """A key that compares by the identity of what it holds (CasADi's == makes an expression)."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __hash__(self) -> int:
        return id(self.held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.held is self.held
