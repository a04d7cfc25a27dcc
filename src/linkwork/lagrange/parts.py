"""Parts: what a System consists of, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from casadi import SX

from linkwork.lagrange.joints import Joint, Pose
from linkwork.lagrange.terms import Term


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame that bodies and other frames stand on;
    made by a joint or by a function of the coordinates."""

    name: str
    parent: str | None
    pose: Pose
    coordinate: str | None = None
    joint: Joint | None = None


@dataclass(frozen=True, eq=False)
class Constraint:
    """function(q, t) (m, 1) = 0, pulled back with the rate [1/s] where integration drifts off."""

    name: str
    function: SX
    rate: SX


@dataclass(frozen=True)
class Parts:
    """Everything a System consists of; an edit makes another value."""

    name: str
    coordinates: tuple[str, ...]
    gravity: SX
    variables: Mapping[str, float]
    frames: Mapping[str, Frame]
    terms: Mapping[str, Term]
    constraints: Mapping[str, Constraint]
