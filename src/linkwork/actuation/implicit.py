"""Loops without a closed form: root finding on the loop equations, in batch,
with derivatives by the implicit function.

    r(q) = 0                closures, couplings, strut lengths minus their commands; u: what only
                            these decide
    u' = u - J_u^+ r                              Newton, least squares where loops are redundant
    J_u v_u = cd - J_k v_k,     J_u a_u = cdd - J_k a_k - Jd v          rates and second derivatives

The commands move from those of the start to those asked for in small steps, each corrected by
Newton, so the assembly the start stands in is kept and never guessed.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import commands_of, explain, known_motion
from linkwork.actuation.layout import layout_of
from linkwork.arguments import finite_rows
from linkwork.configurations import joints_of_rates
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.engine.scan_trace import Shapes
from linkwork.errors import InvalidInput, InvalidModel
from linkwork.loops.assembly import generic_configurations, rank, reference
from linkwork.loops.constraints import Rows, closure_rows, differentiated, strut_rows
from linkwork.loops.geometry import has_rod
from linkwork.model import Tree
from linkwork.model.elements import LinearActuator
from linkwork.recursions.configuration import integrate
from linkwork.recursions.mimic import in_independent, maps, tree_coordinates
from linkwork.subject import Subject

STEPS = 24
"""Steps in which the commands move from the start to their goal."""
_MOST_STEPS = STEPS + 40
_LARGEST_MOVE = 0.5
"""Longest move of one coordinate in one Newton step [m, rad]."""
_SETTLED = 1e-9
"""After a move this small Newton's next error is its square: below rounding."""
SINGULAR = 1e-7
"""Below this part of their usual size the equations decide rates no better than to one digit."""
OPEN = 1e-9
"""A residual above this [m, rad] means that the commands cannot be reached."""


def solve(
    subject: Subject,
    c: Any,
    cd: Any,
    cdd: Any,
    q0: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a for commands and their rates, from the assembled reference or from q0."""
    layout = layout_of(subject)
    _refuse_undecided(subject)
    n, m = layout.sizes
    commands = finite_rows(c, n, "from_actuators: c", ", ".join(layout.names))
    explain(subject, layout, commands, cd is not None or cdd is not None, variables)
    start = reference(subject) if q0 is None else finite_rows(q0, subject.nq, "from_actuators: q0")
    q, residual, settled = _searched(subject, commands, start, variables)
    zeros = np.zeros(m)
    moving = {
        "q": q,
        "c": commands,
        "cd": zeros if cd is None else cd,
        "cdd": zeros if cdd is None else cdd,
    }
    _refuse_open(subject, commands, residual, settled)
    v, a, regular = quantities.evaluate(subject, "loop_rates", moving, variables=variables)
    if cd is not None or cdd is not None:
        _refuse_singular(subject, q, regular)
    return np.broadcast_to(q, (*v.shape[:-1], q.shape[-1])).copy(), v, a


def attempt(
    subject: Subject, c: np.ndarray, variables: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """(q, closed) for commands (..., nc): as `solve`,
    but where the loops do not close q is the last try."""
    layout = layout_of(subject)
    _refuse_undecided(subject)
    q, residual, settled = _searched(subject, c, reference(subject), variables)
    closed = (residual.max(axis=-1, initial=0.0) <= OPEN) & settled
    for strut, entry in zip(layout.struts, layout.strut_commands, strict=True):
        closed &= (c[..., entry] >= float(strut.lower)) & (c[..., entry] <= float(strut.upper))
    return q, closed


def _searched(
    subject: Subject, c: np.ndarray, start: np.ndarray, variables: Mapping[str, Any] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, size of every residual, whether Newton settled),
    the commands led from those of the start to c."""
    live = subject.variable_values(variables)
    origin = commands_of(subject, start, variables=variables)[0]
    named = {f"live_{j}": value for j, value in enumerate(live)}
    run = _scan_of(subject)(q=start, c=c, origin=origin, steps=_MOST_STEPS, **named)
    q = run.state["q"]
    residual = quantities.evaluate(subject, "loop_residual", {"q": q, "c": c}, variables=variables)
    return q, np.abs(residual), run.stopped


def loop_rows(subject: Subject, tree: Tree, q: SX, v: SX, c: SX) -> Rows:
    """The implicit equations in independent coordinates: strut lengths minus commands, closures,
    couplings."""
    layout = layout_of(subject)
    by_name = {e.name: e for e in tree.elements if getattr(e, "name", None)}
    struts = tuple(by_name[s.name] for s in layout.struts)
    wanted = {e.name for e in layout.closures}
    elements = tuple(e for e in tree.elements if getattr(e, "name", None) in wanted)
    x, w = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    lengths = (
        strut_rows(tree, x, w, struts, tree.elements)
        if struts
        else differentiated(tree, x, w, (), [])
    )
    closed = closure_rows(tree, x, w, elements)
    equations = [
        casadi.vertcat(lengths.r, closed.r),
        casadi.vertcat(lengths.J, closed.J) @ maps(tree)[2],
        casadi.vertcat(lengths.drift, closed.drift),
    ]
    r, J, drift = in_independent(tree, equations, (x, w), (q, v))
    command = casadi.vertcat(*[c[k] for k in layout.strut_commands], SX.zeros(closed.r.numel()))
    return Rows(lengths.labels + closed.labels, r - command, J, drift)


def least_squares(A: SX, b: SX) -> SX:
    """x with A x = b in the least-squares sense, A of full column rank, by orthogonal columns."""
    if A.shape[0] == A.shape[1]:
        return casadi.solve(A, b)
    Q, R = casadi.qr(A)
    return casadi.solve(R, Q.T @ b)


def newton_step(subject: Subject, tree: Tree, q: SX, c: SX) -> tuple[SX, SX]:
    """(next q, largest move): coordinates commanded by closed forms set, the others corrected
    once."""
    q, move = correction(subject, tree, q, c)
    largest = SX(0)
    for k in range(move.numel()):
        largest = casadi.fmax(largest, casadi.fabs(move[k]))
    move = move * casadi.fmin(1.0, _LARGEST_MOVE / casadi.fmax(largest, 1e-300))
    return _moved(subject, tree, q, move), largest


def followed(subject: Subject, tree: Tree, q: SX, c: SX) -> SX:
    """Coordinates after one whole Newton step from q;
    where q closes the loops already they are q itself.

    Their derivatives by commands and variables are then those of the loops: d(q - J_u^+ r) = -J_u^+
    dr, the implicit function theorem, for r = 0 takes every other term with it.
    """
    q, move = correction(subject, tree, q, c)
    return _moved(subject, tree, q, move)


def correction(subject: Subject, tree: Tree, q: SX, c: SX) -> tuple[SX, SX]:
    """(q with the coordinates that closed forms decide, Newton's move of the others)."""
    q = with_known(subject, tree, q, c)
    rows = loop_rows(subject, tree, q, SX.zeros(subject.nv), c)
    return q, -least_squares(rows.J[:, list(layout_of(subject).implicit)], rows.r)


def _moved(subject: Subject, tree: Tree, q: SX, move: SX) -> SX:
    step = SX.zeros(subject.nv)
    for k, at in enumerate(layout_of(subject).implicit):
        step[at] = move[k]
    return _integrated(tree, q, step)


def with_known(subject: Subject, tree: Tree, q: SX, c: SX) -> SX:
    """q with the coordinates that closed forms decide put where the commands want them."""
    m = layout_of(subject).sizes[1]
    (known, _, _), _ = known_motion(subject, tree, c, SX.zeros(m), SX.zeros(m))
    unknown = set(layout_of(subject).implicit_q)
    return casadi.vertcat(*[q[k] if k in unknown else known[k] for k in range(subject.nq)])


def loop_rates(subject: Subject, tree: Tree, q: SX, c: SX, cd: SX, cdd: SX) -> tuple[SX, SX]:
    """(v, a) at an assembled q."""
    layout = layout_of(subject)
    (_, v, a), _ = known_motion(subject, tree, c, cd, cdd)
    unknown = list(layout.implicit)
    w = SX.sym("w", subject.nv)
    rows = loop_rows(subject, tree, q, w, c)
    J_u = rows.J[:, unknown]
    wanted = SX.zeros(rows.r.numel())
    wanted_rate = SX.zeros(rows.r.numel())
    for k, at in enumerate(layout.strut_rates):
        wanted[k], wanted_rate[k] = cd[at], cdd[at]
    v_u = least_squares(J_u, wanted - rows.J @ v)
    v = SX(v)
    for k, at in enumerate(unknown):
        v[at] = v_u[k]
    (drift,) = casadi.substitute([rows.drift], [w], [v])
    a_u = least_squares(J_u, wanted_rate - rows.J @ a - drift)
    a = SX(a)
    for k, at in enumerate(unknown):
        a[at] = a_u[k]
    return v, a


def _scan_of(subject: Subject) -> Scan:
    return subject.once(_scan_of, lambda: _make_scan(subject))


def _make_scan(subject: Subject) -> Scan:
    layout = layout_of(subject)
    n = layout.sizes[0]
    quaternions = {
        at_c + i for at_c, _, _, _, nq, nv in layout.direct if nq > nv for i in range(nq)
    }

    def step(q: SX, c: SX, origin: SX, k: SX, **live: SX) -> dict[str, SX]:
        tree = subject.traced_tree({name: live[f"live_{j}"] for j, name in enumerate(subject.live)})
        way = casadi.fmin(1.0, (k + 1) / STEPS)
        here = [
            c[i] if i in quaternions else origin[i] + way * (c[i] - origin[i]) for i in range(n)
        ]
        after, largest = newton_step(subject, tree, q, casadi.vertcat(*here))
        done = casadi.logic_and(way >= 1.0, largest < _SETTLED)
        return {"q": after, "stop": casadi.if_else(done, 1.0, 0.0)}

    names = {f"live_{j}": () for j in range(len(subject.live))}
    sizes: Shapes = {"c": n, "origin": n, **names}
    return keyed_scan(
        subject.key(_make_scan), [step], {"q": subject.nq}, sizes, name="from_actuators"
    )


def traced_rates(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(v, a, regularity) of a line of the table, at an assembled q."""
    q, c = x.own["q"], x.own["c"]
    return *loop_rates(x.subject, tree, q, c, x.own["cd"], x.own["cdd"]), _regularity(
        x.subject, tree, q, c
    )


def _regularity(subject: Subject, tree: Tree, q: SX, c: SX) -> SX:
    """Smallest over largest size on the diagonal of R in J_u = Q R:
    zero where the equations decide no rates."""
    J = loop_rows(subject, tree, q, SX.zeros(subject.nv), c).J[:, list(layout_of(subject).implicit)]
    _, R = casadi.qr(J)
    sizes = [casadi.fabs(R[k, k]) for k in range(R.shape[0])]
    smallest, largest = sizes[0], sizes[0]
    for size in sizes[1:]:
        smallest, largest = casadi.fmin(smallest, size), casadi.fmax(largest, size)
    return smallest / largest


def _refuse_singular(subject: Subject, q: np.ndarray, regular: np.ndarray) -> None:
    """No rates where the loops are singular: a dead point, or a place where assemblies part."""
    if (regular > SINGULAR).all():
        return
    at = tuple(int(k) for k in np.argwhere(~(regular > SINGULAR))[0])
    shown = ", ".join(f"{x:.6g}" for x in np.broadcast_to(q, (*regular.shape, q.shape[-1]))[at][:8])
    raise InvalidInput(
        f'from_actuators: the loops of robot "{subject.model.name}" are singular in q = [{shown}], '
        "where rates do not "
        f"exist{f' (sample {at})' if at else ''}"
    )


def traced_residual(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(residual,) of a line of the table: how far every implicit equation is from holding."""
    rest = SX.zeros(x.subject.nv)
    return (loop_rows(x.subject, tree, x.own["q"], rest, x.own["c"]).r,)


def row_labels(subject: Subject) -> tuple[tuple[str, str], ...]:
    n = layout_of(subject).sizes[0]
    q, v, c = SX.sym("q", subject.nq), SX.sym("v", subject.nv), SX.sym("c", n)
    return loop_rows(subject, subject.tree, q, v, c).labels


def _refuse_open(
    subject: Subject, c: np.ndarray, residual: np.ndarray, settled: np.ndarray
) -> None:
    layout = layout_of(subject)
    for strut, entry in zip(layout.struts, layout.strut_commands, strict=True):
        _refuse_stroke(strut, c[..., entry])
    bad = (residual.max(axis=-1, initial=0.0) > OPEN) | ~settled
    if not bad.any():
        return
    at = tuple(int(k) for k in np.argwhere(bad)[0])
    row = residual[at]
    worst = int(np.argmax(row))
    name, what = row_labels(subject)[worst]
    sample = f" of sample {at}" if at else ""
    commands = np.broadcast_to(c, (*bad.shape, c.shape[-1]))[at]
    held = ", ".join(
        f"{label} = {value:.6g}" for label, value in zip(layout.names, commands, strict=False)
    )
    short = (
        f'"{name}" stays open by {row[worst]:.3g} in {what}'
        if row[worst] > OPEN
        else "a dead point is near"
    )
    raise InvalidInput(
        f"from_actuators: the loops do not close for the commands{sample} ({held}): {short}"
    )


def _refuse_stroke(strut: LinearActuator, lengths: np.ndarray) -> None:
    low, high = float(strut.lower), float(strut.upper)
    for at in np.argwhere((lengths < low) | (lengths > high)):
        sample = f" (sample {tuple(int(k) for k in at)})" if len(at) else ""
        what = "way" if has_rod(strut) else "length"
        text = (
            f'actuator "{strut.name}": {what} {lengths[tuple(at)]:.6g} m outside {low:.6g} .. '
            f"{high:.6g} m{sample}"
        )
        raise InvalidInput(f"from_actuators: {text}")


_decided: weakref.WeakSet[Subject] = weakref.WeakSet()


def _refuse_undecided(subject: Subject) -> None:
    """The equations must decide every implicit coordinate, somewhere near the reference."""
    if subject in _decided:
        return
    layout = layout_of(subject)
    q, v, c = SX.sym("q", subject.nq), SX.sym("v", subject.nv), SX.sym("c", layout.sizes[0])
    rows = loop_rows(subject, subject.tree, q, v, c)
    jacobian = casadi.Function("J", [q], [rows.J[:, list(layout.implicit)]])
    best = 0
    for sample in generic_configurations(subject):
        J = np.array(jacobian(sample))
        if not np.isfinite(J).all():  # a rod does not reach there
            continue
        best = max(best, rank(J))
    if best < len(layout.implicit):
        names = [joint for k, joint in enumerate(joints_of_rates(subject)) if k in layout.implicit]
        free = len(layout.implicit) - best
        raise InvalidModel(
            f'robot "{subject.model.name}": {free} of the {len(layout.implicit)} coordinates of '
            f"{', '.join(names)} are "
            f"decided by no closure and no actuator"
        )
    _decided.add(subject)


def _integrated(tree: Tree, q: SX, step: SX) -> SX:
    """q (+) step in independent coordinates; joints with quaternions never mimic."""
    if not tree.mimic:
        return integrate(tree, q, step)
    return integrate(tree, tree_coordinates(tree, q), maps(tree)[2] @ step)[
        list(tree.independent[0])
    ]
