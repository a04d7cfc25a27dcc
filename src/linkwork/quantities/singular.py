"""Singular configurations: which joints, or which directions of a frame,
left a solved quantity without a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.errors import ComputationError, LinkworkError
from linkwork.quantities.evaluate import evaluate
from linkwork.subject import Subject

SOLVED = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "operational_space_mobility",
    "operational_space_inertia",
)
"""Quantities that divide by the mass matrix; the last also by J M^-1 J'."""

_ROUNDING = 1e-13


def explained(
    error: ComputationError,
    subject: Subject,
    name: str,
    q: Any,
    frame: str | None = None,
    payload: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> ComputationError:
    """The error of a quantity without a finite value,
    with the reason in words where it is a singular matrix."""
    if name not in SOLVED:
        return error
    try:
        M = evaluate(subject, "mass_matrix", {"q": q}, payload=payload, variables=variables)
        words = _without_inertia(subject, _samples(M, 2), q)
        if not words and name == "operational_space_inertia":
            J = evaluate(subject, "jacobian", {"q": q}, frame, variables=variables)
            words = _lost_directions(str(frame), _samples(J, 2), q)
    except LinkworkError:
        return error
    return ComputationError(f"{name}: {words}") if words else error


def _without_inertia(subject: Subject, M: np.ndarray, q: Any) -> str:
    size = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    size = np.where(size > 0, size, 1.0)  # units of slides and turns out of the comparison
    values, vectors = np.linalg.eigh(M / (size[:, :, None] * size[:, None, :]))
    singular = np.flatnonzero(values[:, 0] <= _ROUNDING * values[:, -1])
    if not len(singular):
        return ""
    sample = int(singular[0])
    alone = np.abs(vectors[sample, :, 0])
    coordinates = [joint for joint in subject.joints for _ in range(subject.model.joint(joint).nv)]
    names = dict.fromkeys(
        n for n, x in zip(coordinates, alone, strict=True) if x > 0.05 * alone.max()
    )
    told = ", ".join(f'"{joint}"' for joint in names)
    verb = f"joint {told} moves" if len(names) == 1 else f"joints {told} move"
    return f"the mass matrix is singular at q = {_shown(q, sample)}: {verb} no inertia there"


def _lost_directions(frame: str, J: np.ndarray, q: Any) -> str:
    ranks = np.linalg.matrix_rank(J, tol=1e-9)
    singular = np.flatnonzero(ranks < 6)
    if not len(singular):
        return ""
    sample = int(singular[0])
    return (
        f'the Jacobian of frame "{frame}" has rank {ranks[sample]} at q = {_shown(q, sample)}, '
        "expected 6"
    )


def _samples(x: np.ndarray, axes: int) -> np.ndarray:
    return x.reshape(-1, *x.shape[x.ndim - axes :])


def _shown(q: Any, sample: int) -> str:
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    row = rows.reshape(-1, rows.shape[-1])[min(sample, rows[..., 0].size - 1)]
    return "[" + ", ".join(f"{x:.6g}" for x in row) + "]"
