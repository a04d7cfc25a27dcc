"""Commands: joint coordinates from motors and actuators, and back, with rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.layout import CommandLayout, Driven, drive_of, layout_of
from linkwork.actuation.transmissions import StrutOnHinge, StrutOnSlide
from linkwork.arguments import as_doubles
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from linkwork.loops.assembly import has_closures
from linkwork.loops.closed import GUARD, OPEN, largest_gap, refuse_open
from linkwork.loops.constraints import strut_rows
from linkwork.loops.singular import refuse_singular
from linkwork.model import Tree
from linkwork.model.element_checks import about
from linkwork.model.elements import Coupling, LinearActuator
from linkwork.recursions.mimic import in_independent, maps
from linkwork.subject import Subject

Triple = tuple[SX, SX, SX]


def to_actuators(
    subject: Subject,
    q: Any,
    v: Any = None,
    a: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """c, cd, cdd (..., nc) for joint coordinates, rates and accelerations. Left out,
    v and a are zero.

    Loops must be closed: a machine whose rods are apart has no commands.
    """
    return _answered(subject, "to_actuators", has_closures(subject), q, v, a, variables)


def commands_of(
    subject: Subject,
    q: Any,
    v: Any = None,
    a: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `to_actuators`, each command from its own joints alone: loops may be open."""
    return _answered(subject, "to_actuators", False, q, v, a, variables)


def _answered(
    subject: Subject,
    who: str,
    closed: bool,
    q: Any,
    v: Any,
    a: Any,
    variables: Mapping[str, Any] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    zeros = np.zeros(subject.nv)
    arguments = [q, zeros if v is None else v, zeros if a is None else a]
    try:
        return _backward_caller(subject, closed)(*arguments, *subject.variable_values(variables))
    except (ComputationError, InvalidInput) as error:
        if closed and (isinstance(error, ComputationError) or GUARD in str(error)):
            refuse_open(subject, who, q, variables)
        if isinstance(error, ComputationError):
            refuse_singular(subject, who, q, variables)
        raise


def _backward_caller(subject: Subject, closed: bool) -> Callable[..., Any]:
    """The fastest callable for joint coordinates, which asks for closed loops or does not."""
    kernel = lambda: quantities.kernel_of(
        subject, "to_actuators_closed" if closed else "to_actuators"
    )
    return subject.once(
        (_backward_caller, closed), lambda: kernel().caller(quantities.context_of(subject))
    )


def forward(subject: Subject, tree: Tree, c: SX, cd: SX, cdd: SX) -> tuple[Triple, list[SX]]:
    """((q, v, a), guards) of a robot whose transmissions all have closed forms;
    guards must not be negative."""
    if layout_of(subject).implicit:
        raise NotPossible(f'robot "{subject.model.name}" has loops without a closed form')
    return known_motion(subject, tree, c, cd, cdd)


def known_motion(subject: Subject, tree: Tree, c: SX, cd: SX, cdd: SX) -> tuple[Triple, list[SX]]:
    """As `forward`; coordinates that only loop equations decide are left at zero."""
    layout = layout_of(subject)
    q, v, a = SX.zeros(subject.nq), SX.zeros(subject.nv), SX.zeros(subject.nv)
    guards: list[SX] = []
    for at_c, at_cd, at_q, at_v, nq, nv in layout.direct:
        q[at_q : at_q + nq] = c[at_c : at_c + nq]
        v[at_v : at_v + nv], a[at_v : at_v + nv] = cd[at_cd : at_cd + nv], cdd[at_cd : at_cd + nv]
    for driven, drive in drives(subject, tree):
        commands = [c[k] for k in driven.commands]
        motion = drive.forward(
            commands, [cd[k] for k in driven.rates], [cdd[k] for k in driven.rates]
        )
        coordinates = (q, driven.q), (v, driven.v), (a, driven.v)
        for (target, indices), values in zip(coordinates, motion, strict=True):
            for k, value in zip(indices, values, strict=True):
                target[k] = value
        guards += drive.inside(commands)
    _carry(layout, (q, v, a), -1)
    couplings = {e.name: e for e in tree.elements if isinstance(e, Coupling)}
    for follower in layout.followers:
        coupling = couplings[follower.coupling.name]
        first, *rest = [SX(k) for _, k in coupling.terms]
        others = follower.terms[1:]
        q[follower.q] = (
            SX(coupling.offset) - sum(f * q[i] for f, (i, _) in zip(rest, others, strict=True))
        ) / first
        v[follower.v] = -sum(f * v[i] for f, (_, i) in zip(rest, others, strict=True)) / first
        a[follower.v] = -sum(f * a[i] for f, (_, i) in zip(rest, others, strict=True)) / first
    return (q, v, a), guards


def backward(subject: Subject, tree: Tree, q: SX, v: SX, a: SX) -> Triple:
    """(c, cd, cdd) for coordinates of the robot: the closed forms the other way,
    struts by their lengths."""
    layout = layout_of(subject)
    n, m = layout.sizes
    c, cd, cdd = SX.zeros(n), SX.zeros(m), SX.zeros(m)
    for at_c, at_cd, at_q, at_v, nq, nv in layout.direct:
        c[at_c : at_c + nq] = q[at_q : at_q + nq]
        cd[at_cd : at_cd + nv], cdd[at_cd : at_cd + nv] = v[at_v : at_v + nv], a[at_v : at_v + nv]
    wheel = (SX(q), SX(v), SX(a))
    _carry(layout, wheel, +1)
    for driven, drive in drives(subject, tree):
        values = [
            [x[k] for k in where]
            for x, where in zip(wheel, (driven.q, driven.v, driven.v), strict=True)
        ]
        where = (driven.commands, driven.rates, driven.rates)
        for target, places, some in zip((c, cd, cdd), where, drive.backward(*values), strict=True):
            for k, value in zip(places, some, strict=True):
                target[k] = value
    if layout.struts:
        where = (layout.strut_commands, layout.strut_rates, layout.strut_rates)
        for target, places, some in zip(
            (c, cd, cdd), where, _strut_motion(tree, layout, q, v, a), strict=True
        ):
            for row, k in enumerate(places):
                target[k] = some[row]
    return c, cd, cdd


def drives(subject: Subject, tree: Tree) -> list[tuple[Driven, Any]]:
    """The closed forms with the tree's numbers, which may be symbols."""
    layout = layout_of(subject)
    if tree is subject.tree:
        return [(driven, driven.drive) for driven in layout.driven]
    elements = {getattr(e, "name", None): e for e in tree.elements}
    placed = []
    for driven in layout.driven:
        element = elements[driven.element.name]
        joint = subject.model.joint(driven.drive.joints[0])
        placed.append((driven, drive_of(tree, element, joint, driven.drive)))
    return placed


def _carry(layout: CommandLayout, motion: Triple, sign: int) -> None:
    """Add or take off what a belt's carrier turns its wheel by."""
    for driven in layout.driven:
        if driven.carrier is not None:
            for x in motion:
                x[driven.q[0]] = x[driven.q[0]] + sign * x[driven.carrier]


def _strut_motion(tree: Tree, layout: CommandLayout, q: SX, v: SX, a: SX) -> Triple:
    x, w = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    actuators = {e.name: e for e in tree.elements if isinstance(e, LinearActuator)}
    struts = tuple(actuators[strut.name] for strut in layout.struts)
    rows = strut_rows(tree, x, w, struts, tree.elements)
    results = [rows.r, rows.J @ w, rows.J @ (maps(tree)[2] @ a) + rows.drift]
    c, cd, cdd = in_independent(tree, results, (x, w), (q, v))
    return c, cd, cdd


def traced_backward(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(c, cd, cdd) of a line of the table, from independent coordinates."""
    return backward(x.subject, tree, x.own["q"], x.own["v"], x.own["a"])


def traced_backward_closed(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """As `traced_backward`, with the guard that loops are closed."""
    return *traced_backward(tree, x), OPEN - largest_gap(tree, x.own["q"])


def explain(
    subject: Subject,
    layout: CommandLayout,
    c: Any,
    rates: bool,
    variables: Mapping[str, Any] | None,
) -> None:
    """Say which command is out of its range, with the numbers; nothing if none is."""
    commands = as_doubles(c, "from_actuators: c")
    if (
        commands.ndim == 0
        or commands.shape[-1] != layout.sizes[0]
        or not np.isfinite(commands).all()
    ):
        return
    for driven in layout.driven:
        if isinstance(driven.drive, (StrutOnHinge, StrutOnSlide)):
            if variables is not None:
                continue  # the range depends on the sample's own numbers
            _explain_strut(driven, driven.drive, commands[..., driven.commands[0]], rates)
        else:
            _explain_four_bar(driven, commands[..., driven.commands[0]])


def _explain_strut(
    driven: Driven, drive: StrutOnHinge | StrutOnSlide, lengths: np.ndarray, rates: bool
) -> None:
    low, high = drive.span()
    who = about(driven.element)
    for outside in np.argwhere((lengths < low) | (lengths > high)):
        text = (
            f"{who}: length {lengths[tuple(outside)]:.6g} m outside {low:.6g} .. {high:.6g} "
            f"m{_sample(outside)}"
        )
        raise InvalidInput(f"from_actuators: {text}")
    geometry = _geometry_ends(drive)
    for at in np.argwhere(np.isin(lengths, geometry)):
        if rates:
            text = (
                f"{who}: length {lengths[tuple(at)]:.6g} m is a dead point, where rates do not "
                f"exist{_sample(at)}"
            )
            raise InvalidInput(f"from_actuators: {text}")


def _explain_four_bar(driven: Driven, angles: np.ndarray) -> None:
    x = SX.sym("c")
    inside = driven.drive.inside([x])
    if not inside:
        return
    check = casadi.Function("inside", [x], [casadi.vertcat(*inside)])
    for at in np.ndindex(angles.shape):
        margins = np.array(check(angles[at])).ravel()
        if not (margins >= 0).all():
            k = int(np.argmin(np.where(np.isnan(margins), -math.inf, margins))) // 2
            text = (
                f"{about(driven.element)}: at {angles[at]:.6g} rad loop {k} cannot "
                f"close{_sample(np.array(at))}"
            )
            raise InvalidInput(f"from_actuators: {text}")


def _geometry_ends(drive: StrutOnHinge | StrutOnSlide) -> list[float]:
    if isinstance(drive, StrutOnSlide):
        return [math.sqrt(float(drive.a_squared))]
    e, r, h = float(drive.e), float(drive.r), float(drive.h)
    return [math.hypot(e - r, h), math.hypot(e + r, h)]


def _sample(index: np.ndarray) -> str:
    return f" (sample {tuple(int(k) for k in index)})" if len(index) else ""
