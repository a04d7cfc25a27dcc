"""Chains: planar links in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput
from linkwork.lagrange.joints import PlanarJoint
from linkwork.model.kinds import FIXED, PRISMATIC, REVOLUTE

if TYPE_CHECKING:
    from linkwork.lagrange.system import System

_LETTERS = {"R": REVOLUTE, "P": PRISMATIC, "F": FIXED}


def extended(
    system: System,
    joints: str,
    lengths: Any = 1.0,
    masses: Any = 1.0,
    angles: Any = 0.0,
    inertias: Any = 0.0,
    centers: Any = 1.0,
    springs: Any = 0.0,
    drags: Any = 0.0,
) -> System:
    """Planar links appended to the last joint of the system; see System.planar_chain."""
    letters = joints.upper()
    for letter in letters:
        if letter not in _LETTERS:
            raise InvalidInput(
                f"planar_chain: joint {letter!r} of {joints!r} is unknown, expected letters R, P, F"
            )
    n = len(letters)
    labelled = {"lengths": lengths, "masses": masses, "angles": angles, "inertias": inertias}
    labelled |= {"centers": centers, "springs": springs, "drags": drags}
    columns = [_each(x, n, f"planar_chain: {label}") for label, x in labelled.items()]
    first = 1 + len(system.frames)
    parent = next(reversed(list(system.frames)), None)
    for k, (letter, length, mass, angle, inertia, center, spring_, drag_) in enumerate(
        zip(letters, *columns), first
    ):
        name = f"joint{k}"
        system = system.with_joint(name, PlanarJoint(_LETTERS[letter], length, angle), parent)
        reach = (
            system.scope.symbols.q[name]
            if letter == "P"
            else system.scope.number(length, f"{name}: length")
        )
        offset = (center - 1.0) * reach
        system = system.with_body(
            f"link{k}",
            mass,
            casadi.vertcat(offset, 0) if not SX(offset).is_zero() else (0.0, 0.0),
            frame=name,
            inertia=None if isinstance(inertia, (int, float)) and inertia == 0 else inertia,
            spring=spring_,
            drag=drag_,
        )
        parent = name
    return system


def _each(given: Any, n: int, who: str) -> list[Any]:
    if isinstance(given, (int, float, SX)) or not isinstance(given, (Sequence, np.ndarray)):
        return [given] * n
    if len(given) != n:
        raise InvalidInput(f"{who} has {len(given)} entries, expected one number or {n}")
    return list(given)
