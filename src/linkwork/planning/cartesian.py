"""Cartesian paths: a frame straight through poses, as far as limits,
singularities and obstacles allow."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, deadlines, quantities
from linkwork.arguments import as_doubles, number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.inverse.solve import inverse_kinematics
from linkwork.planning.free_axis import FreeAxis, counted, counted_rows
from linkwork.planning.questions import one_configuration, space_of, touch_of
from linkwork.results import short_repr
from linkwork.trajectory.turns import log_of, turned_by

JUMP = 0.35  # [rad, m] between neighbouring points that no continuous motion makes
MOST_POINTS = 200_000
NEAR_LIMIT = 1e-6
SINGULAR = 1e-2  # least singular value of the Jacobian, of the largest


@short_repr
@dataclass(frozen=True)
class CartesianPath(Tabular, rows="q", within=1, aside=("poses",)):
    """How far a frame gets through its poses.

    q          (k, nq) configurations, the first is q0
    fraction   0 .. 1 of the way that was asked for;  success: all of it
    reason     "complete", or what stops it and where: "limit", "singularity", "reach", "jump" or
               "collision" first
    poses      (m, 4, 4) the poses in between that were asked for
    index      (k,) which of them each row of q is at; one comes up several times where a free axis
               moves alone
    """

    q: np.ndarray
    fraction: float
    reason: str
    poses: np.ndarray
    index: np.ndarray

    @property
    def success(self) -> bool:
        return self.fraction == 1.0


@deadlines.limited
def cartesian(
    model: CollisionModel,
    poses: ArrayLike,
    frame: str,
    q0: ArrayLike,
    obstacles: Obstacles | Sequence[Any] | None = None,
    spacing: float = 0.005,
    turn: float = 0.02,
    axes: Sequence[str] | None = None,
    tolerance: Any = 1e-6,
    step: float = 1.0 / 32.0,
    *,
    time_limit: float | None = None,
) -> CartesianPath:
    """A frame straight from where it is at q0 through poses (4, 4) or (m, 4, 4).

    spacing, turn   largest distance [m] and turn [rad] between points that are solved for
    axes            which of x y z rx ry rz count, in axes of the target; a tool that may spin
                    leaves out "rz"
    time_limit      seconds after which it ends with NotPossible; None: as long as it takes
    Each point begins from the one before (inverse/track.py), so that no branch is changed on the
    way. Where that stops and the robot has more joints than `axes` count, postures of its free axes
    are tried: all, to a spacing, of one free axis, some of more (free_axis.py).
    """
    around = (
        obstacles if obstacles is None or isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    )
    space, subject = space_of(model, None, None, "cartesian"), model.subject
    start = one_configuration(space, q0, "cartesian: q0")
    given = as_doubles(poses, "cartesian: poses")
    if given.shape[-2:] != (4, 4) or given.ndim not in (2, 3) or not np.isfinite(given).all():
        raise InvalidInput(
            f"cartesian: poses has shape {given.shape}, expected (4, 4) or (m, 4, 4), finite"
        )
    for label, value in (("spacing", spacing), ("turn", turn)):
        if not number(value, f"cartesian: {label}") > 0.0:
            raise InvalidInput(f"cartesian: {label} is {value:g}, expected a positive number")
    here = quantities.evaluate(subject, "pose", {"q": start}, frame)
    targets = _between(
        np.concatenate([here[None], given.reshape(-1, 4, 4)]), float(spacing), float(turn)
    )
    options: dict[str, Any] = {"track": True, "tolerance": tolerance}
    if axes is not None:
        options["axes"] = axes
    answer = inverse_kinematics(subject, targets[1:], frame, start, "numeric", options)
    rows = np.concatenate([start[None], answer.q])
    solved = np.concatenate([[True], np.atleast_1d(answer.success)])
    last, reason = _end(model, rows, solved, around, frame, step, targets, axes)
    tracked = CartesianPath(
        rows[: last + 1], last / (len(rows) - 1), reason, targets, np.arange(last + 1)
    )
    if last == len(rows) - 1 or model.collides(start, around):
        return tracked
    steps = np.diff(rows, axis=0)[solved[1:]]
    longest = float(
        np.linalg.norm(steps[np.abs(steps).max(axis=1) <= JUMP], axis=1).max(initial=0.0)
    )
    postures = FreeAxis(
        subject,
        targets,
        frame,
        axes,
        tolerance,
        lambda a, b: model.motion_is_free(a, b, around, step),
        longest,
    )
    if postures.spare < 1:
        return tracked
    way = postures.through(start)
    reached = int(way.index[-1])
    if reached <= last:
        return tracked
    if reached == len(targets) - 1:
        return CartesianPath(way.q, 1.0, "complete", targets, way.index)
    at = (
        f"{np.round(targets[reached + 1, :3, 3], 4).tolist()} m, "
        f"{100 * reached / (len(targets) - 1):.1f} % of the way"
    )
    kind = reason.split(":")[0]
    told = (
        f"{kind}: no posture of the free axes that was tried gets past {at}; the nearest one "
        f"without them: {reason}"
    )
    return CartesianPath(way.q, reached / (len(targets) - 1), told, targets, way.index)


def _between(poses: np.ndarray, spacing: float, turn: float) -> np.ndarray:
    """Poses with others between them: straight lines, turns about a fixed axis."""
    parts = [poses[:1]]
    for a, b in itertools.pairwise(poses):
        way, angle = b[:3, 3] - a[:3, 3], log_of(a[:3, :3].T @ b[:3, :3])
        steps = float(np.linalg.norm(way)) / spacing
        turns = float(np.linalg.norm(angle)) / turn
        wanted = float(np.ceil(max(steps, turns, 1.0)))
        if not wanted <= MOST_POINTS:
            told = (
                f"cartesian: {wanted:.3g} points from one pose to the next, expected at most "
                f"{MOST_POINTS:.0e}"
            )
            raise InvalidInput(f"{told}: set spacing= or turn=")
        count = int(wanted)
        s = np.arange(1, count + 1)[:, None] / count
        rows = np.tile(np.eye(4), (count, 1, 1))
        rows[:, :3, :3] = a[:3, :3] @ turned_by(s * angle)
        rows[:, :3, 3] = a[:3, 3] + s * way
        rows[-1] = b
        parts.append(rows)
    return np.concatenate(parts)


def _end(
    model: CollisionModel,
    q: np.ndarray,
    solved: np.ndarray,
    obstacles: Any,
    frame: str,
    step: float,
    poses: np.ndarray,
    axes: Sequence[str] | None = None,
) -> tuple[int, str]:
    """The last point that is reached, and why it is the last."""
    jumps = np.r_[False, np.abs(np.diff(q, axis=0)).max(axis=1) > JUMP]
    free = np.r_[
        not model.collides(q[0], obstacles), model.motion_is_free(q[:-1], q[1:], obstacles, step)
    ]
    good = solved & ~jumps & free
    if good.all():
        return len(q) - 1, "complete"
    k = int(np.argmin(good))
    last = max(k - 1, 0)
    at = (
        f"at {np.round(poses[k, :3, 3], 4).tolist()} m, {100 * last / (len(q) - 1):.1f} % of "
        "the way"
    )
    if not free[k]:
        where = (
            touch_of(model, q[k], obstacles)
            if model.collides(q[k], obstacles)
            else "between two points"
        )
        return last, f"collision: {where}, {at}"
    if jumps[k]:
        return (
            last,
            f"jump: a joint would have to move by {np.abs(q[k] - q[k - 1]).max():.2g} at "
            f"once, {at}",
        )
    limits = configurations.limits(model.subject)
    on = (q[k] <= limits.lower + NEAR_LIMIT) | (q[k] >= limits.upper - NEAR_LIMIT)
    if on.any():
        joint = space_of(model, None, None, "cartesian").joint_of(int(np.argmax(on)))
        return last, f'limit: joint "{joint}" is at its limit, {at}'
    J = quantities.evaluate(model.subject, "jacobian", {"q": q[k]}, frame)  # as near as it came
    values = np.linalg.svd(counted(J, poses[k], counted_rows(axes)), compute_uv=False)
    if values[-1] < SINGULAR * values[0]:
        return (
            last,
            "singularity: the Jacobian has condition "
            f"{values[0] / max(values[-1], 1e-300):.2g}, {at}",
        )
    return last, f"reach: no configuration near the last one brings the frame there, {at}"
