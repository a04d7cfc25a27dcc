"""Sharing: how reactions that equilibrium does not decide are divided, and which those are.

Equilibrium of the coordinates that no motor holds gives A x = b for the reactions x of all loop
elements. What is left free is decided first by explicit shares, then by making the sum of
reaction^2 / weight smallest over every support of the loops. Ranks are taken once, in a generic
configuration: which components are unique does not change with the motion except at dead points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.actuation.layout import layout_of
from linkwork.configurations import joints_of_rates
from linkwork.errors import InvalidModel
from linkwork.loads.statics import Statics
from linkwork.loops.assembly import generic_configurations
from linkwork.model import Tree
from linkwork.model.elements import DIRECTIONS, Share, Stiffness
from linkwork.spatial import Force
from linkwork.subject import Subject

RANK_TOLERANCE = 1e-9
"""Singular values below this times the largest count as zero."""


@dataclass(frozen=True)
class Row:
    """One sharing equation: sum of factor * component = 0;
    component = (support name, direction) on `body`."""

    body: str
    direction: int
    terms: tuple[tuple[str, Any], ...]
    listed: bool


@dataclass(frozen=True)
class Structure:
    """What decides the reactions of a robot's loops.

    rows           sharing equations kept: (body, direction, support, fraction of the listed total
                   or None for zero)
    free           reactions left for the weights to divide
    unknowns       number of reactions; rank: how many equilibrium decides; labels: (element, what)
                   of each
    unique_joint   (bodies, 6): joint wrench components that no rule can change
    unique_support, unique_effort: the same for supports (on their second body) and for motors and
    actuators
    """

    rows: tuple[tuple[str, int, str, Any], ...]
    free: int
    unknowns: int
    rank: int
    labels: tuple[tuple[str, str], ...]
    unique_joint: np.ndarray
    unique_support: np.ndarray
    unique_amounts: np.ndarray
    unique_tau: np.ndarray

    @property
    def undetermined(self) -> int:
        """Reactions that equilibrium alone does not decide."""
        return self.unknowns - self.rank


def structure_of(subject: Subject) -> Structure:
    """The structure of a subject, found once."""
    return subject.once(structure_of, lambda: _structure(subject))


def solved_amounts(statics: Statics, subject: Subject, structure: Structure) -> SX:
    """The reactions x over symbols: A x = b, the kept shares, and the weights for the rest."""
    x = SX.sym("x", statics.count)
    if not statics.count:
        return x
    F = statics.wrenches(x)
    tau = statics.independent(statics.joint_forces(F, x))
    equations = [tau[k] for k in layout_of(subject).passive]
    parts = _fractions(statics.tree)
    for body, direction, support, fraction in structure.rows:
        component = _component(statics, F, x, body, support)[direction]
        if fraction is not None:
            listed = parts[body, direction]
            total = sum(_component(statics, F, x, body, name)[direction] for name in listed)
            component = component - SX(listed[support]) * total
        equations.append(component)
    left = casadi.vertcat(*equations) if equations else SX(0, 1)
    A, rhs = _linear(left, x)
    if not structure.free:
        return casadi.solve(A, rhs)
    values, weights = _weighted(statics, F, x)
    R, minus = _linear(values, x)
    D = casadi.diag(1 / weights)
    H, g = R.T @ D @ R, R.T @ D @ minus
    m = left.numel()
    K = casadi.vertcat(casadi.horzcat(H, A.T), casadi.horzcat(A, SX(m, m)))
    return casadi.solve(K, casadi.vertcat(g, rhs))[: statics.count]


def supports_of(statics: Statics, body: str) -> list[str]:
    """Names of what supports a body: its joint, and elements whose other end does not hang on the
    body itself."""
    node = statics.tree.bodies[body][0]
    names = [statics.tree.nodes[node].joint]
    for support in statics.supports:
        for held, other in ((support.second, support.first), (support.first, support.second)):
            if held == node and node not in statics.tree.paths[other]:
                names.append(support.name)
    return names


def _structure(subject: Subject) -> Structure:
    """Ranks and rules in the configuration where the loops' equations are best conditioned."""
    tree = subject.full_tree
    q, v, a = SX.sym("q", tree.nq), SX.sym("v", tree.nv), SX.sym("a", tree.nv)
    statics = Statics(tree, q, v, a)
    x = SX.sym("x", statics.count)
    F = statics.wrenches(x)
    forces = statics.joint_forces(F, x)
    tau = statics.independent(forces)
    passive = layout_of(subject).passive
    equilibrium = casadi.vertcat(*[tau[k] for k in passive]) if passive else SX(0, 1)
    candidates = _candidates(statics)
    shared = [_row_expression(statics, F, x, row) for row in candidates]
    components = [
        _component(statics, F, x, row.body, row.terms[0][0])[row.direction] for row in candidates
    ]
    nodes = [tree.bodies[body.name][0] for body in subject.model.bodies]
    joints = casadi.vertcat(*[_six(F[i]) for i in nodes])
    held = casadi.vertcat(
        *[_six(statics.support_wrench(k, x)) for k in range(len(statics.supports))], SX(0, 1)
    )
    blocks = [
        equilibrium,
        casadi.vertcat(*shared, SX(0, 1)),
        casadi.vertcat(*components, SX(0, 1)),
        joints,
        held,
        tau,
    ]
    coefficients = casadi.Function("coefficients", [q], [casadi.jacobian(b, x) for b in blocks])
    Gq, b, _ = tree.mimic_map
    best = None
    for sample in generic_configurations(subject):
        numbers = [np.array(c.full()) for c in coefficients.call([Gq @ sample + b])]
        if not all(np.isfinite(block).all() for block in numbers):
            continue
        sizes = np.linalg.svd(numbers[0], compute_uv=False) if numbers[0].size else np.zeros(0)
        score = (
            int((sizes > RANK_TOLERANCE * sizes.max()).sum()) if sizes.size else 0,
            sizes.min(initial=1.0),
        )
        if best is None or score > best[0]:
            best = (score, numbers)
    if best is None:
        raise InvalidModel(
            f'robot "{subject.model.name}": no configuration was found in which its loops close'
        )
    return _decided(subject, statics, candidates, *best[1])


def _decided(
    subject: Subject,
    statics: Statics,
    candidates: list[Row],
    A: np.ndarray,
    shares: np.ndarray,
    components: np.ndarray,
    joints: np.ndarray,
    held: np.ndarray,
    tau: np.ndarray,
) -> Structure:
    _refuse_free_motion(subject, A)
    kept, rows = [A], []
    rank = _rank(A)
    level = rank
    for row, coefficients, alone in zip(candidates, shares, components, strict=True):
        _refuse_powerless(statics, row, alone)
        together = np.vstack([*kept, coefficients[None]])
        if _rank(together) == level:
            if row.listed or _rank(np.vstack([A, coefficients[None]])) > rank:
                _refuse_decided(row)
            continue
        level += 1
        kept.append(coefficients[None])
        support, fraction = row.terms[0]
        rows.append((row.body, row.direction, support, fraction))
    N = _null_space(A)

    def unique(block: np.ndarray) -> np.ndarray:
        moved = np.abs(block @ N).max(axis=1) if N.shape[1] else np.zeros(len(block))
        return moved <= RANK_TOLERANCE * (1.0 + np.abs(block).max(axis=1, initial=0.0))

    return Structure(
        rows=tuple(rows),
        free=statics.count - level,
        unknowns=statics.count,
        rank=rank,
        labels=tuple(statics.labels()),
        unique_joint=unique(joints).reshape(-1, 6),
        unique_support=unique(held).reshape(-1, 6),
        unique_amounts=unique(np.eye(statics.count)) if statics.count else np.zeros(0, bool),
        unique_tau=unique(tau),
    )


def _candidates(statics: Statics) -> list[Row]:
    """Every explicit share as rows: listed supports by their fractions (all but one),
    the others zero."""
    rows = []
    rules = [e for e in statics.tree.elements if isinstance(e, Share)]
    free = {(e.body, DIRECTIONS.index(e.direction)) for e in rules if e.others == "free"}
    for (body, direction), parts in _fractions(statics.tree).items():
        for name in list(parts)[:-1]:
            rows.append(Row(body, direction, ((name, parts[name]),), True))
        known = supports_of(statics, body)
        for name in known:
            if name not in parts and (body, direction) not in free:
                rows.append(Row(body, direction, ((name, None),), False))
        for name in parts:
            if name not in known:
                listed = ", ".join(known)
                raise InvalidModel(
                    f'sharing rule "{body}": "{name}" does not support the body; {listed} do'
                )
    return rows


def _fractions(tree: Tree) -> dict[tuple[str, int], dict[str, Any]]:
    """(body, direction) -> {support: fraction}, in the order of the description."""
    rules: dict[tuple[str, int], dict[str, Any]] = {}
    for rule in tree.elements:
        if isinstance(rule, Share):
            key = (rule.body, DIRECTIONS.index(rule.direction))
            if key in rules:
                raise InvalidModel(
                    f'sharing rule "{rule.body}": direction {rule.direction} is ruled twice'
                )
            rules[key] = dict(rule.parts)
    return rules


def _row_expression(statics: Statics, F: list[Force], x: SX, row: Row) -> SX:
    (support, fraction), *_ = row.terms
    component = _component(statics, F, x, row.body, support)[row.direction]
    if fraction is None:
        return component
    parts = _fractions(statics.tree)[row.body, row.direction]
    total = sum(_component(statics, F, x, row.body, name)[row.direction] for name in parts)
    return component - SX(fraction) * total


def _component(statics: Statics, F: list[Force], x: SX, body: str, support: str) -> SX:
    """(6): what a support does to the body, in its axes at the support's own point."""
    node = statics.tree.bodies[body][0]
    if statics.tree.nodes[node].joint == support:
        return _six(F[node])
    for k, s in enumerate(statics.supports):
        if s.name == support:
            return _six(statics.support_wrench(k, x, on_second=s.second == node))
    raise InvalidModel(f'sharing rule "{body}": "{support}" does not support the body')


def _weighted(statics: Statics, F: list[Force], x: SX) -> tuple[SX, SX]:
    """(components, weights) of every support and of every joint that a loop passes through."""
    weights = {
        rule.support: rule.weights for rule in statics.tree.elements if isinstance(rule, Stiffness)
    }
    touched = {
        i
        for s in statics.supports
        for end in (s.first, s.second)
        for i in statics.geometry.chain(s.base, end)
    }
    values, sizes = [], []
    for i in sorted(touched):
        values.append(_six(F[i]))
        sizes += [SX(w) for w in weights.get(statics.tree.nodes[i].joint, (1.0,) * 6)]
    for k, support in enumerate(statics.supports):
        values.append(_six(statics.support_wrench(k, x)))
        sizes += [SX(w) for w in weights.get(support.name, (1.0,) * 6)]
    return casadi.vertcat(*values), casadi.vertcat(*sizes)


def _linear(expression: SX, x: SX) -> tuple[SX, SX]:
    """(A, b) with expression = A x - b."""
    A = casadi.jacobian(expression, x)
    (at_zero,) = casadi.substitute([expression], [x], [SX.zeros(x.numel())])
    return A, -at_zero


def _refuse_free_motion(subject: Subject, A: np.ndarray) -> None:
    """Every coordinate without a motor must be held by some element."""
    passive = layout_of(subject).passive
    if _rank(A) == len(passive):
        return
    U, sizes, _ = np.linalg.svd(A) if A.size else (np.eye(len(passive)), np.zeros(0), None)
    left = U[:, int((sizes > RANK_TOLERANCE * max(sizes.max(initial=0.0), 1e-300)).sum()) :]
    names = joints_of_rates(subject)
    moving = [names[k] for j, k in enumerate(passive) if np.abs(left[j]).max() > 1e-6]
    raise InvalidModel(
        f'robot "{subject.model.name}": no motor and no loop element holds the motion of '
        f"{', '.join(moving)}"
    )


def _refuse_powerless(statics: Statics, row: Row, alone: np.ndarray) -> None:
    """A support with a share must be able to carry it:
    `alone` is how its component depends on the reactions."""
    (support, fraction), *_ = row.terms
    names = [s.name for s in statics.supports]
    if row.listed and fraction and support in names and not np.abs(alone).max() > RANK_TOLERANCE:
        raise InvalidModel(
            f'sharing rule "{row.body}": "{support}" cannot carry {DIRECTIONS[row.direction]} '
            "at all"
        )


def _refuse_decided(row: Row) -> None:
    (support, _), *_ = row.terms
    cure = "leave the rule out" if row.listed else "say others: free"
    raise InvalidModel(
        f'sharing rule "{row.body}": equilibrium and the rules before already decide '
        f"{DIRECTIONS[row.direction]} of "
        f'"{support}"; {cure}'
    )


def _rank(A: np.ndarray) -> int:
    if not A.size:
        return 0
    sizes = np.linalg.svd(A, compute_uv=False)
    return int((sizes > RANK_TOLERANCE * max(sizes.max(), 1e-300)).sum())


def _null_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns (n, n - rank)."""
    n = A.shape[1]
    if not A.size:
        return np.eye(n)
    _, _, Vt = np.linalg.svd(A)
    return Vt[_rank(A) :].T


def _six(force: Force) -> SX:
    return casadi.vertcat(force.linear, force.angular)
