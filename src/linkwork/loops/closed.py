"""Closed loops: what is asked only of configurations that close,
checked inside the kernel that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import configurations
from linkwork.errors import InvalidInput, NotPossible
from linkwork.loops.assembly import assemble, constraints, has_closures, worst_row
from linkwork.loops.constraints import closure_rows
from linkwork.model import Tree
from linkwork.recursions.mimic import tree_coordinates
from linkwork.subject import Subject

OPEN = 1e-4
"""A loop that is open by more [m, rad] gets no answer. Coordinates written with five digits
pass."""
GUARD = f"a loop is open by more than {OPEN:g} m or rad"
_ROUNDS = 30


def largest_gap(tree: Tree, q: SX) -> SX:
    """How far the worst loop is open [m, rad] in independent coordinates q."""
    x = SX.sym("q", tree.nq)
    r = closure_rows(tree, x, SX.sym("v", tree.nv), tree.elements).r
    gap = SX(0)
    for k in range(r.numel()):
        gap = casadi.fmax(gap, casadi.fabs(r[k]))
    return casadi.substitute(gap, x, tree_coordinates(tree, q))


def refuse_open(
    subject: Subject, who: str, q: Any, variables: Mapping[str, Any] | None = None
) -> None:
    """Raise with the name of the loop that is open the most, and its gap;
    nothing where all are closed."""
    if not has_closures(subject):
        return
    at = np.asarray(q, dtype=float)
    if at.ndim == 0 or at.shape[-1] != subject.nq or not np.isfinite(at).all():
        return
    r, _, _ = constraints(subject, at, variables=variables)
    sizes = np.abs(r).max(axis=-1, initial=0.0)
    if not (sizes > OPEN).any():
        return
    sample = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    name, amount = worst_row(subject, r[sample])
    place = f" (sample {tuple(map(int, sample))})" if sample else ""
    raise InvalidInput(
        f'{who}: {name} of robot "{subject.model.name}" is open by {amount}{place}; '
        "robot.consistent(q) gives the "
        "nearest configuration that closes"
    )


def random_closed(subject: Subject, n: int | None, seed: int | None) -> np.ndarray:
    """Random configurations (nq,) or (n, nq) within the limits in which all loops close.

    Each is the nearest assembly of a configuration drawn within the limits; those that do not
    close, or close beyond the limits, are drawn again.
    """
    # checks n, and is what a machine without loops would get
    first = configurations.random(subject, n, seed)
    if not has_closures(subject):
        return first
    wanted = 1 if n is None else int(n)
    bounds = configurations.limits(subject)
    kept: list[np.ndarray] = []
    count, drawn = 0, first.reshape(-1, subject.nq)
    generator = np.random.default_rng(seed)
    for _ in range(_ROUNDS):
        if count >= wanted:
            break
        assembly = assemble(subject, drawn)
        slack = 1e-9
        inside = ((assembly.q >= bounds.lower - slack) & (assembly.q <= bounds.upper + slack)).all(
            axis=-1
        )
        good = assembly.q[assembly.success & inside]
        kept.append(good)
        count += len(good)
        drawn = configurations.random(
            subject, max(16, 2 * (wanted - count)), int(generator.integers(2**62))
        )
    if count < wanted:
        raise NotPossible(
            f'random: only {count} of {wanted} configurations of robot "{subject.model.name}" '
            "closed their loops "
            "within the limits; random(assembled=False) draws joints alone"
        )
    q = np.concatenate([*kept, np.zeros((0, subject.nq))])[:wanted]
    return q[0] if n is None else q
