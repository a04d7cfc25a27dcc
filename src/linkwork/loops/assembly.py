"""Assembly: coordinates for which every loop closes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import SX

from linkwork import deadlines, quantities
from linkwork.arguments import as_doubles, broadcast, finite_rows, name_list
from linkwork.configurations import named, neutral, places, random
from linkwork.errors import NotPossible, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.loops.constraints import closure_rows
from linkwork.model import Tree
from linkwork.model.elements import Coupling, LoopClosure
from linkwork.recursions.mimic import in_independent, maps
from linkwork.results import short_repr
from linkwork.subject import Subject

CLOSED = 1e-10
"""A loop is closed when every residual is below this [m, rad]: far above rounding,
far below any workshop's."""
_ROUND = 5000  # configurations assembled without a look at the clock
_STARTS = ("reference", "home", "assembled")
_NUDGES = (0.05, 0.2, 0.6)
"""Sizes of steps [rad, m] off a start from which no way leads on:
links in one line pull no hinge either way."""
_DAMPING = (0.0, 1e-4, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e4, 1e6, 1e8)
"""Levenberg's damping, in squares of the largest singular value: nothing is plain Newton."""


@short_repr
@dataclass(frozen=True)
class Assembly(Tabular, rows="success"):
    """q (..., nq) and what became of it.

    success (...,); error: the largest residual left [m, rad]; iterations (...,)
    reason: "" where the loops close, else a sentence that names the worst closure
    """

    q: np.ndarray
    success: np.ndarray
    error: np.ndarray
    iterations: np.ndarray
    reason: np.ndarray


def has_closures(subject: Subject) -> bool:
    return any(isinstance(e, (LoopClosure, Coupling)) for e in subject.model.elements)


def constraints(
    subject: Subject, q: Any, v: Any = None, variables: Mapping[str, Any] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """residual (..., m), J (..., m, nv), drift (..., m) of every closure and coupling;
    v left out is zero."""
    state = {"q": q, "v": np.zeros(subject.nv) if v is None else v}
    return quantities.evaluate(subject, "constraints", state, variables=variables)


def traced_constraints(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(r, J, drift) of every closure and coupling, in independent coordinates."""
    q, v = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    rows = closure_rows(tree, q, v, tree.elements)
    equations = [rows.r, rows.J @ maps(tree)[2], rows.drift]
    return in_independent(tree, equations, (q, v), (x.own["q"], x.own["v"]))


def constraint_labels(subject: Subject) -> tuple[tuple[str, str], ...]:
    """(element, what it holds) of every row."""
    tree = subject.tree
    return closure_rows(tree, SX.sym("q", tree.nq), SX.sym("v", tree.nv), tree.elements).labels


def assemble(
    subject: Subject,
    q0: Any,
    hold: Collection[str] = (),
    iterations: int = 100,
    variables: Mapping[str, Any] | None = None,
) -> Assembly:
    """Coordinates near q0 for which every loop closes; joints in `hold` keep their values.

    Newton with the pseudo-inverse, so that redundant loops do no harm and a singular one takes the
    shortest step; where that does not reduce the residual, Levenberg's damped least squares with
    more and more damping. A start that leads nowhere (links in one line) is left by small steps,
    the same ones every time. Where no coordinates close the loops, the result is the least-squares
    solution and says which closure stays open.
    """
    hold = name_list(hold, "assemble: hold")
    for name in hold:
        if name not in subject.joints:
            near = did_you_mean(name, subject.joints)
            raise UnknownName(f'assemble: robot "{subject.model.name}" has no joint "{name}"{near}')
    held = {
        k
        for joint, _, v in places(subject)
        if joint.name in set(hold)
        for k in range(v.start, v.stop)
    }
    free = [k for k in range(subject.nv) if k not in held]
    live = list(subject.variable_values(variables))
    live = [
        as_doubles(x, f"assemble: variables[{name!r}]")
        for name, x in zip(subject.live, live, strict=True)
    ]
    q = finite_rows(
        q0, subject.nq, "assemble: q0", f'robot "{subject.model.name}" has nq = {subject.nq}'
    )
    batch = broadcast(
        {"q0": q.shape[:-1], **{n: x.shape for n, x in zip(subject.live, live, strict=True)}},
        "assemble",
    )
    q = np.broadcast_to(q, (*batch, subject.nq)).reshape(-1, subject.nq)
    live = [np.broadcast_to(x, batch).ravel() if np.ndim(x) else x for x in live]
    parts = [
        _nudged(subject, q[some], free, iterations, [x[some] if np.ndim(x) else x for x in live])
        for some in deadlines.rounds(len(q), _ROUND)
    ]
    q, r, used = (np.concatenate(part) for part in zip(*parts, strict=True))
    size = np.abs(r).max(axis=1, initial=0.0)
    success = size <= CLOSED
    reasons = [_reason(subject, row, good) for row, good in zip(r, success, strict=True)]
    return Assembly(
        q.reshape(*batch, subject.nq),
        success.reshape(batch),
        size.reshape(batch),
        used.reshape(batch),
        np.array(reasons, dtype=object).reshape(batch),
    )


def _nudged(
    subject: Subject, q: np.ndarray, free: list[int], iterations: int, live: list[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, residuals, iterations) from every row of q (n, nq);
    rows that stay open begin again beside their start."""
    q, r, used = _closed(subject, q, free, iterations, live)
    generator = np.random.default_rng(7)
    for size in _NUDGES:
        left = np.flatnonzero(np.abs(r).max(axis=1, initial=0.0) > CLOSED)
        if not len(left):
            break
        step = np.zeros((len(left), subject.nv))
        step[:, free] = size * generator.normal(size=len(free))
        start = quantities.evaluate(subject, "integrate", {"q": q[left], "v": step})
        live_left = [x[left] if np.ndim(x) else x for x in live]
        nudged, r_found, more = _closed(subject, start, free, iterations, live_left)
        used[left] += more
        better = np.linalg.norm(r_found, axis=1) < np.linalg.norm(r[left], axis=1)
        q[left[better]], r[left[better]] = nudged[better], r_found[better]
    return q, r, used


def _closed(
    subject: Subject, q: np.ndarray, free: list[int], iterations: int, live: list[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, residuals, iterations) of damped Newton from every row of q (n, nq);
    only `free` coordinates move."""
    q = q.copy()

    def rows(q: np.ndarray, which: Any = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        variables = {
            name: x[which] if np.ndim(x) else x for name, x in zip(subject.live, live, strict=True)
        }
        r, J, _ = constraints(subject, q, variables=variables)
        return r, J[..., free]

    r, J = rows(q)
    size = np.abs(r).max(axis=1, initial=0.0)
    used = np.zeros(len(q), dtype=int)
    stuck = np.zeros(len(q), dtype=bool)
    for _ in range(iterations):
        open_ = np.flatnonzero((size > CLOSED * 1e-3) & ~stuck)
        if not len(open_):
            break
        U, S, Vt = np.linalg.svd(J[open_], full_matrices=False)
        loads = np.einsum("kij,ki->kj", U, r[open_])
        before, waiting = np.linalg.norm(r[open_], axis=1), np.ones(len(open_), bool)
        for damping in _DAMPING:
            largest = S[:, :1].max(axis=1, initial=1e-300)[:, None]
            gains = S / (S * S + damping * largest**2 + 1e-300) * (S > 1e-8 * largest)
            step = np.zeros((len(open_), subject.nv))
            step[:, free] = -np.einsum("kji,kj->ki", Vt, gains * loads)
            trial = quantities.evaluate(subject, "integrate", {"q": q[open_], "v": step})
            r_new, J_new = rows(trial, open_)
            better = waiting & (np.linalg.norm(r_new, axis=1) < before)
            at = open_[better]
            q[at], r[at], J[at] = trial[better], r_new[better], J_new[better]
            waiting &= ~better
            if not waiting.any():
                break
        used[open_] += 1
        stuck[open_[waiting]] = True
        size = np.abs(r).max(axis=1, initial=0.0)
    return q, r, used


def reference(subject: Subject) -> np.ndarray:
    """The assembled configuration (nq,) from which loops without a closed form are followed.

    It starts from the configuration named "reference", "home" or "assembled", else from the neutral
    one.
    """
    return subject.once(reference, lambda: _assembled_reference(subject)).copy()


def home(subject: Subject) -> np.ndarray:
    """The configuration named "home" (nq,), assembled where there are loops;
    without one the reference."""
    return subject.once(home, lambda: _assembled(subject, ("home", *_STARTS))).copy()


def _assembled_reference(subject: Subject) -> np.ndarray:
    return _assembled(subject, _STARTS)


def _assembled(subject: Subject, names: tuple[str, ...]) -> np.ndarray:
    start = neutral(subject)
    described = dict(subject.model.configurations)
    for name in names:
        if name in described:
            moving = set(subject.joints)
            start = named(subject, {joint: q for joint, q in described[name] if joint in moving})
            break
    if not has_closures(subject):
        return start
    result = assemble(subject, start)
    if not result.success:
        raise NotPossible(f'robot "{subject.model.name}" cannot be assembled: {result.reason[()]}')
    return result.q


def generic_configurations(subject: Subject, count: int = 8) -> list[np.ndarray]:
    """The reference and configurations around it in no special position, all assembled."""
    here = reference(subject)
    generator = np.random.default_rng(20240607)
    samples = [here]
    if not has_closures(subject):
        samples += list(random(subject, count, seed=1))
    for k in range(count):
        step = generator.normal(size=subject.nv) * 0.05 * (1 + k % 3)
        q = quantities.evaluate(subject, "integrate", {"q": here, "v": step})
        if has_closures(subject):
            result = assemble(subject, q)
            if not result.success:
                continue
            q = result.q
        samples.append(q)
    return samples


def chosen_dependent(subject: Subject, named_already: set[str], driven: set[str]) -> set[str]:
    """Joints for closures that name none: those furthest from the base whose coordinates make the
    loops independent."""
    here = reference(subject)
    samples = [here]
    for k in range(3):
        step = np.random.default_rng(k).normal(size=subject.nv) * 0.05
        result = assemble(
            subject, quantities.evaluate(subject, "integrate", {"q": here, "v": step})
        )
        if result.success:
            samples.append(result.q)
    _, J, _ = constraints(subject, np.array(samples))
    J = (
        J.reshape(-1, subject.nv)
        if len(samples) == 1
        else J[np.argmax([np.linalg.matrix_rank(x, 1e-8) for x in J])]
    )
    J = J.reshape(-1, subject.nv)
    order = list(places(subject))
    first = [entry for entry in order if entry[0].name in named_already]
    depth = {
        joint.name: len(subject.tree.paths[_node(subject, joint.name)]) for joint, _, _ in order
    }
    rest = [e for e in order if e[0].name not in named_already and e[0].name not in driven]
    rest.sort(key=lambda e: (depth[e[0].name], e[2].start), reverse=True)
    taken: list[int] = [k for _, _, v in first for k in range(v.start, v.stop)]
    chosen: set[str] = set()
    most = rank(J[:, taken])
    for joint, _, v in rest:
        columns = [*taken, *range(v.start, v.stop)]
        if rank(J[:, columns]) == most + joint.nv:
            taken, most = columns, most + joint.nv
            chosen.add(joint.name)
    return chosen


def _node(subject: Subject, joint: str) -> int:
    return max(i for i in subject.tree.outward if subject.tree.nodes[i].joint == joint)


def rank(A: np.ndarray) -> int:
    """Independent rows of a Jacobian of lengths and angles."""
    return (
        int(np.linalg.matrix_rank(A, tol=1e-9 * max(1.0, np.abs(A).max(initial=0.0))))
        if A.size
        else 0
    )


def _reason(subject: Subject, residual: np.ndarray, success: bool) -> str:
    if success:
        return ""
    name, amount = worst_row(subject, residual)
    return f"{name} stays open by {amount}"


def worst_row(subject: Subject, residual: np.ndarray) -> tuple[str, str]:
    """(element, "0.1 m in x") of the largest residual of one sample."""
    worst = int(np.argmax(np.abs(residual)))
    name, what = constraint_labels(subject)[worst]
    size = abs(residual[worst])
    if what == "coupling":
        return f'coupling "{name}"', f"{size:.3g} of its joints' coordinates"
    return f'closure "{name}"', f"{size:.3g} {'rad' if what.startswith('r') else 'm'} in {what}"
