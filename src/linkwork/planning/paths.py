"""Paths: shorter and smoother ones from a path that is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import deadlines
from linkwork.arguments import finite_rows
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.planning.blends import blended
from linkwork.planning.constraints import manifold_of
from linkwork.planning.questions import (
    SHORTCUTS,
    Question,
    refuse_loops,
    search_of,
    settings_of,
    shift_of,
    shortened,
    space_of,
)
from linkwork.trajectory.path import Path

MOST_TRIES = 10**9


def shorten(
    model: CollisionModel,
    path: ArrayLike,
    obstacles: Obstacles | Sequence[Any] | None = None,
    seed: int = 0,
    step: float = 1.0 / 32.0,
    tries: int = SHORTCUTS,
) -> np.ndarray:
    """Waypoints (k, nq) of a shorter path along a free path (m, nq); see shortening.py.
    Never longer, ends kept.

    seed    another one tries other shortcuts;  tries: how many
    """
    most = deadlines.counted(tries, "shorten: tries", 0, MOST_TRIES)
    rows, around = free_path(model, path, obstacles, "shorten", step)
    space = space_of(model, None, None, "shorten")
    asked = Question(
        search_of(model, space, around),
        space,
        around,
        rows[0],
        rows[-1:],
        settings_of(step, 1.0),
        shift_of(seed, space),
    )
    return shortened(asked, asked.settings, rows, most)


def smooth(
    model: CollisionModel,
    path: ArrayLike,
    obstacles: Obstacles | Sequence[Any] | None = None,
    rounding: float = 0.5,
    certify: bool = True,
) -> Path:
    """A curve with continuous direction along a free path (m, nq); see blends.py."""
    rows, around = free_path(model, path, obstacles, "smooth", 1.0 / 32.0)
    return blended(model, rows, around, rounding, certify).path


def free_path(
    model: CollisionModel, path: Any, obstacles: Any, who: str, step: float
) -> tuple[np.ndarray, Obstacles | None]:
    """A path within the limits that touches nothing, of a robot without closed loops."""
    around = (
        obstacles if obstacles is None or isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    )
    rows = space_of(model, None, None, who).configuration(path, f"{who}: path")
    refuse_loops(model.subject, who)
    if rows.ndim != 2 or len(rows) < 2:
        raise InvalidInput(
            f"{who}: path has shape {rows.shape}, expected (m, {model.subject.nq}) with m >= 2"
        )
    free = np.atleast_1d(model.motion_is_free(rows[:-1], rows[1:], around, step))
    if not free.all():
        raise NotPossible(
            f"{who}: the motion from waypoint {int(np.argmin(free))} to the next touches something"
        )
    return rows, around


def project(
    model: CollisionModel, q: ArrayLike, constraints: Any, joints: Sequence[str] | None = None
) -> np.ndarray:
    """Configurations (..., nq) near q that keep constraints (see `plan`),
    within the limits of the joints.

    joints   names of the joints that may move; the others keep their values
    Where there is none near a q, that is an error.
    """
    space = space_of(model, joints, None, "project")
    nq = space.subject.nq
    rows = finite_rows(q, nq, "project: q", f'robot "{space.subject.model.name}" has nq = {nq}')
    manifold = manifold_of(space, constraints, "project")
    answers = rows.reshape(-1, nq).copy()
    if manifold is None:
        return answers.reshape(rows.shape)
    together = [slice(None)] if joints is None else [slice(k, k + 1) for k in range(len(answers))]
    for part in together if len(answers) else []:
        begin = answers[part]
        answers[part], kept = manifold.projected(begin, manifold.numbers(begin[0]))
        if not kept.all():
            k = int(np.argmin(kept))
            label, beyond, _ = (
                manifold.explained(answers[part][k]) or [("a limit of a joint", 0.0, 0.0)]
            )[0]
            raise NotPossible(
                f'project: nothing near q row {k} keeps all constraints; "{label}" stays off by '
                f"{beyond:.3g}"
            )
    return answers.reshape(rows.shape)
