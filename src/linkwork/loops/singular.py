"""Singular states: why elements or loops have no answer in a configuration, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput
from linkwork.loops.assembly import constraint_labels, has_closures
from linkwork.loops.geometry import Geometry, has_rod
from linkwork.loops.mobility import free_motions, mobility
from linkwork.loops.springs import pulls_by_its_vector
from linkwork.model.element_checks import about
from linkwork.model.elements import Damper, LinearActuator, LoopClosure, Spring
from linkwork.recursions.joints import transforms
from linkwork.subject import Subject

NO_LENGTH = 1e-12
"""Two ends nearer than this [m] have no direction from one to the other."""


def refuse_singular(
    subject: Subject, who: str, q: Any, variables: Mapping[str, Any] | None = None
) -> None:
    """Raise with the reason where `singular_reason` knows one for some sample of q (..., nq)."""
    at = np.asarray(q, dtype=float)
    if (
        variables is not None
        or at.ndim == 0
        or at.shape[-1] != subject.nq
        or not np.isfinite(at).all()
    ):
        return
    for index in np.ndindex(at.shape[:-1]):
        if words := singular_reason(subject, at[index]):
            raise InvalidInput(f"{who}: {words}{f' (sample {index})' if index else ''}")


def singular_reason(subject: Subject, q: np.ndarray) -> str:
    """Which member has no length, or that the loops lose rank, in a configuration q (nq,);
    nothing if neither."""
    tree = subject.tree
    if words := _short_rod(subject, q):
        return words
    members = [e for e in tree.elements if _is_straight(e)]
    if members:
        x = SX.sym("q", tree.nq)
        geometry = Geometry(tree, transforms(tree, x), tree.elements)
        lengths = casadi.Function(
            "lengths", [x], [casadi.vertcat(*[_length(geometry, e) for e in members])]
        )
        Gq, b, _ = tree.mimic_map
        for element, length in zip(members, np.array(lengths(Gq @ q + b)).ravel(), strict=True):
            if length < NO_LENGTH:
                return f"{about(element)} has no length and so no direction in q = {_shown(q)}"
    if has_closures(subject):
        usual, here = mobility(subject).degrees, len(free_motions(subject, q))
        if here > usual:
            names = ", ".join(dict.fromkeys(f'"{name}"' for name, _ in constraint_labels(subject)))
            return (
                f"the loops {names} are singular in q = {_shown(q)}: {here} motions keep them "
                f"closed there, {usual} "
                "elsewhere"
            )
    return ""


def _short_rod(subject: Subject, q: np.ndarray) -> str:
    """A rod must reach from the line of its carriage to its head."""
    tree = subject.tree
    rods = [e for e in tree.elements if isinstance(e, LinearActuator) and has_rod(e)]
    if not rods:
        return ""
    x = SX.sym("q", tree.nq)
    geometry = Geometry(tree, transforms(tree, x), tree.elements)
    check = casadi.Function(
        "inside", [x], [casadi.vertcat(*[geometry.actuator(rod).inside for rod in rods])]
    )
    Gq, b, _ = tree.mimic_map
    for rod, inside in zip(rods, np.array(check(Gq @ q + b)).ravel(), strict=True):
        if not inside > 0.0:
            length = float(rod.rod)
            apart = float(np.sqrt(length**2 - inside))
            return (
                f"{about(rod)}: its rod of {length:.6g} m does not reach its head, {apart:.6g} m "
                "beside its guide, in "
                f"q = {_shown(q)}"
            )
    return ""


def _is_straight(element: Any) -> bool:
    if isinstance(element, Spring):
        return not pulls_by_its_vector(element)
    if isinstance(element, LinearActuator):
        return not has_rod(element)
    return isinstance(element, Damper) or (
        isinstance(element, LoopClosure) and element.kind == "distance"
    )


def _length(geometry: Geometry, element: Any) -> SX:
    ends = (
        (element.foot, element.head)
        if isinstance(element, LinearActuator)
        else (element.first, element.second)
    )
    return geometry.pair(*ends).length


def _shown(q: np.ndarray) -> str:
    return f"[{', '.join(f'{x:.6g}' for x in q[:8])}{', ...' if len(q) > 8 else ''}]"
