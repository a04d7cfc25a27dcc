"""Declarations: names, numbers and the gravity of a System, checked at the door."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput
from linkwork.lagrange.expressions import Scope, Symbols


def declared(
    symbols: Symbols, coordinates: Any, variables: Mapping[str, float], taken: Collection[str] = ()
) -> tuple[str, ...]:
    """Declare coordinates and variables; gives the coordinates' names."""
    items = coordinates.split() if isinstance(coordinates, str) else coordinates
    names = []
    for item in casadi.vertsplit(items) if isinstance(items, SX) else items:
        if isinstance(item, SX) and not (item.shape == (1, 1) and item.is_symbolic()):
            raise InvalidInput(
                f"System: coordinate {item} is not a symbol, expected a name or a scalar SX.sym"
            )
        if not isinstance(item, (SX, str)):
            raise InvalidInput(
                f"System: coordinate {item!r} is neither a name nor a CasADi SX symbol"
            )
        name = item.name() if isinstance(item, SX) else item
        names.append(name)
        if (
            isinstance(item, SX)
            and name in symbols.q
            and not casadi.is_equal(symbols.q[name], item)
        ):
            raise InvalidInput(f'System: coordinate "{name}" is declared by two different symbols')
        symbols.declare(name, item if isinstance(item, SX) else None)
    everything = [*taken, *names, *variables, "t"]
    for name in (*names, *variables):
        if not name.isidentifier():
            raise InvalidInput(
                f"System: {name!r} cannot name a coordinate or variable, expected letters, "
                "digits and _"
            )
        if everything.count(name) > 1:
            raise InvalidInput(f'System: the name "{name}" is declared twice (t means time)')
    for name in variables:
        symbols.variable(name)
    return tuple(names)


def value(name: str, given: Any) -> float:
    """A finite number for a variable."""
    try:
        number = float(given)
    except (TypeError, ValueError):
        raise InvalidInput(f'System: variable "{name}" is {given!r}, expected a number') from None
    if not np.isfinite(number):
        raise InvalidInput(f'System: variable "{name}" is {number}, expected a finite number')
    return number


def gravity(given: Any, scope: Scope) -> SX:
    """The gravity vector (3)."""
    if given is None or (isinstance(given, (int, float)) and given == 0):
        return SX(3, 1)
    g = scope.position(given, "System: gravity")
    if any(casadi.depends_on(g, scope.symbols.q[name]) for name in scope.coordinates):
        raise InvalidInput(
            "System: gravity depends on a coordinate, expected numbers, variables or time"
        )
    return g


def free_name(name: str, taken: Collection[str], who: str) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"{who}: name is {name!r}, expected a name")
    if name in taken:
        raise InvalidInput(
            f'{who}: the name "{name}" is taken; use replace_body or replace_joint to change what '
            "is there"
        )
