"""Scan tracing: a user's step function as one CasADi function of (state, parameters, sequence)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX

from linkwork.errors import InvalidInput

Shape = tuple[int, ...]
Shapes = Mapping[str, int | tuple[int, ...]]
Step = Callable[..., Mapping[str, Any]]
RESERVED = ("k", "stop", "advance", "steps", "every")
# kind -> (start value, next value from (so far, new, step index)); "mean" and "rms" are finished
# after the run. Start values are finite because a state that is not finite means that the step
# failed.
REDUCTIONS: dict[str, tuple[float, Callable[[SX, SX, SX], SX]]] = {
    "max": (-sys.float_info.max, lambda r, x, k: casadi.fmax(r, x)),
    "min": (sys.float_info.max, lambda r, x, k: casadi.fmin(r, x)),
    "sum": (0.0, lambda r, x, k: r + x),
    "mean": (0.0, lambda r, x, k: r + x),
    "rms": (0.0, lambda r, x, k: r + x * x),
}
ARGUMENTS_OF = {"argmax": "max", "argmin": "min"}


@dataclass(frozen=True)
class Declaration:
    """What a scan takes and gives, as far as it is known before tracing.

    state, parameters, sequences   shapes by name
    record                         by name the shape of a recorded value, None: that of what the
                                   step gives
    reduce                         kinds of reductions by name
    """

    name: str
    state: dict[str, Shape]
    parameters: dict[str, Shape]
    sequences: dict[str, Shape]
    record: dict[str, Shape | None]
    reduce: dict[str, str]


@dataclass(frozen=True)
class Stage:
    """What is done before a step only where it is due:
    due and update are functions of what the step is a function of.

    targets   the elements of the state (the step index is the first) that the update's results go
              to
    """

    due: casadi.Function
    update: casadi.Function
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Traced:
    """function: (state with the step index first, parameters, sequence) -> (next state, record,
    stop[, advance])."""

    function: casadi.Function
    record: dict[str, Shape]
    reduce: dict[str, Shape]
    stages: tuple[Stage, ...] = ()


def declared(
    name: str,
    state: Shapes,
    parameters: Shapes | None,
    sequences: Shapes | None,
    record: Sequence[str] | Shapes,
    reduce: Mapping[str, str] | None,
) -> Declaration:
    """The declaration, checked."""
    states = _shapes(name, "state", state)
    numbers = _shapes(name, "parameters", parameters or {})
    rows = _shapes(name, "sequences", sequences or {})
    names = [*states, *numbers, *rows]
    for label in names:
        if label in RESERVED or names.count(label) > 1:
            raise InvalidInput(f"{name}: name {label!r} is reserved or used twice")
    for label, kind in (reduce or {}).items():
        if kind not in REDUCTIONS and kind not in ARGUMENTS_OF:
            raise InvalidInput(
                f"{name}: reduce {label!r} is {kind!r}, expected one of "
                f"{[*REDUCTIONS, *ARGUMENTS_OF]}"
            )
    recorded: dict[str, Shape | None] = dict.fromkeys(record)
    if isinstance(record, Mapping):
        recorded.update(_shapes(name, "record", record))
    own = {
        label: states[label]
        for label, shape in recorded.items()
        if shape is None and label in states
    }
    return Declaration(name, states, numbers, rows, {**recorded, **own}, dict(reduce or {}))


def traced(step: Step, declaration: Declaration, stages: Sequence[Step] = ()) -> Traced:
    """Call the step (and its stages) once with symbols; what it gives must be what was declared."""
    label, states = declaration.name, declaration.state
    sides = (states, declaration.parameters, declaration.sequences)
    symbols = {n: SX.sym(n, *_size(shape)) for side in sides for n, shape in side.items()}
    k = SX.sym("k")
    out = {n: SX(x) for n, x in dict(step(**symbols, k=k)).items()}
    _check(out, declaration)

    extra, extra_next, reduced = _reductions(out, declaration, k)
    decides = "advance" in out
    moves = out["advance"] > 0 if decides else SX(1)
    if decides:
        extra_next = [
            casadi.if_else(moves, new, old) for old, new in zip(extra, extra_next, strict=True)
        ]

    before = casadi.vertcat(k, *[_flat(symbols[n]) for n in states], *extra)
    after = casadi.vertcat(k + moves, *[_flat(out[n]) for n in states], *extra_next)
    given, fed = (
        casadi.vertcat(SX(0, 1), *[_flat(symbols[n]) for n in side]) for side in sides[1:]
    )
    kept = casadi.vertcat(SX(0, 1), *[_flat(out[n]) for n in declaration.record])
    results = [after, kept, out.get("stop", SX(0)), *([moves] if decides else [])]
    try:
        function = casadi.Function(
            "scan", [before, given, fed], results, {"cse": True, "allow_free": True}
        )
    except RuntimeError as error:
        raise InvalidInput(f"{label}: {str(error).strip().splitlines()[-1]}") from None
    if function.has_free():
        raise InvalidInput(
            f"{label}: the step uses symbols that it was not given: "
            f"{', '.join(function.get_free())}"
        )
    recorded = {
        n: _shape_of(out[n]) if shape is None else shape for n, shape in declaration.record.items()
    }
    inputs = [before, given, fed]
    made = tuple(_stage(dict(stage(**symbols, k=k)), declaration, inputs) for stage in stages)
    return Traced(function, recorded, reduced, made)


def _stage(out: dict[str, Any], declaration: Declaration, inputs: list[SX]) -> Stage:
    """A stage gives "due" (> 0: now) and new values of some states."""
    due, at = SX(out.pop("due")), 1
    targets: list[int] = []
    values: list[SX] = []
    unknown = set(out) - set(declaration.state)
    if unknown:
        raise InvalidInput(
            f"{declaration.name}: a stage gives {sorted(unknown)}, which is no state"
        )
    for name, shape in declaration.state.items():
        size = math.prod(shape)
        if name in out:
            if SX(out[name]).numel() != size:
                raise InvalidInput(
                    f"{declaration.name}: a stage gives {name!r} of another size than {shape}"
                )
            targets += range(at, at + size)
            values.append(_flat(SX(out[name])))
        at += size
    update = casadi.Function("stage", inputs, [casadi.vertcat(SX(0, 1), *values)], {"cse": True})
    return Stage(casadi.Function("due", inputs, [due]), update, tuple(targets))


def start_of_reductions(kinds: Mapping[str, str], shapes: Mapping[str, Shape]) -> list[float]:
    """What the reductions hold before the first step, in the order of the state."""
    start: list[float] = []
    for label, kind in kinds.items():
        count = math.prod(shapes[label])
        start += [REDUCTIONS[ARGUMENTS_OF.get(kind, kind)][0]] * count
        start += [0.0] * count if kind in ARGUMENTS_OF else []
    return start


def _check(out: Mapping[str, SX], declaration: Declaration) -> None:
    label = declaration.name
    for n in [*declaration.state, *declaration.record, *declaration.reduce]:
        if n not in out:
            raise InvalidInput(f"{label}: the step does not give {n!r}; it gives {sorted(out)}")
    known = {*declaration.state, *declaration.record, *declaration.reduce, "stop", "advance"}
    unknown = set(out) - known
    if unknown:
        raise InvalidInput(
            f"{label}: the step gives {sorted(unknown)}, which is neither state nor record "
            "nor reduce"
        )
    for n, shape in declaration.state.items():
        if out[n].numel() != math.prod(shape):
            raise InvalidInput(f"{label}: next {n!r} has size {out[n].shape}, expected {shape}")
    for n, recorded in declaration.record.items():
        if recorded is not None and out[n].numel() != math.prod(recorded):
            raise InvalidInput(
                f"{label}: record {n!r} has size {out[n].shape}, expected {recorded}"
            )


def _reductions(
    out: Mapping[str, SX], declaration: Declaration, k: SX
) -> tuple[list[SX], list[SX], dict[str, Shape]]:
    """(symbols of what is carried, their next values, shapes by name)."""
    carried, following, shapes = [], [], {}
    for n, kind in declaration.reduce.items():
        x, flat = out[n], _flat(out[n])
        shapes[n] = declaration.state.get(n, _shape_of(x))
        best = SX.sym(f"{n}_{kind}", x.numel())
        rule = REDUCTIONS[ARGUMENTS_OF.get(kind, kind)][1]
        carried.append(best)
        following.append(casadi.vertcat(*[rule(best[i], flat[i], k) for i in range(x.numel())]))
        if kind in ARGUMENTS_OF:
            where = SX.sym(f"{n}_where", x.numel())
            better = (flat > best) if kind == "argmax" else (flat < best)
            carried.append(where)
            following.append(casadi.if_else(better, k, where))
    return carried, following, shapes


def _shapes(
    label: str, side: str, given: Mapping[str, int | tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    shapes = {n: (s,) if isinstance(s, int) else tuple(s) for n, s in given.items()}
    for n, shape in shapes.items():
        if len(shape) > 2 or any(not isinstance(x, int) or x < 0 for x in shape):
            raise InvalidInput(
                f"{label}: {side} {n!r} has shape {shape}, expected at most two whole numbers"
            )
    return shapes


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    return (*shape, 1, 1)[:2]  # type: ignore[return-value]


def _shape_of(x: SX) -> tuple[int, ...]:
    rows, columns = x.shape
    return () if (rows, columns) == (1, 1) else (rows,) if columns == 1 else (rows, columns)


def _flat(x: SX) -> SX:
    """Elements in row-major order, as numpy counts them."""
    return casadi.densify(x.T.reshape((x.numel(), 1)))
