"""Rest: pairs of shapes that machine code does not know, one configuration at a time through coal.

Bodies with hulls, meshes, or boxes and cylinders that meet each other. Balls around the shapes are
compared first, all at once, so that coal is asked only about what is near.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.collision import exact
from linkwork.collision.exact_tapers import Answer, Pose
from linkwork.collision.part_distances import Poses
from linkwork.quantities import evaluate
from linkwork.subject import Subject

Known = Callable[[str, str], bool]
HERE = (np.eye(3), np.zeros(3))
ROWS = 100_000  # balls of that many pairs are compared at once


@dataclass(frozen=True)
class Left:
    """Two shapes: of a part with the body that carries it,
    and of another part (`body` None: an obstacle)."""

    part: str
    body: str
    shape: Any
    other: str
    other_body: str | None
    other_shape: Any


PIECES = {"height_field": "prism", "cloud": "sphere"}


def _kind(shape: Any) -> str:
    """What machine code calls it, or its pieces."""
    return PIECES.get(shape.kind, shape.kind)


class Rest:
    """The pairs of shapes of a model and obstacles that `known(kind, other kind)` denies."""

    def __init__(
        self,
        subject: Subject,
        shapes: Mapping[str, Sequence[Any]],
        carriers: Mapping[str, str],
        pairs: Sequence[tuple[str, str]],
        obstacles: Sequence[Any],
        known: Known,
    ) -> None:
        self.subject = subject
        moves = {part for part, body in carriers.items() if subject.tree.bodies[body][0] != 0}
        with_each_other = [
            Left(a, carriers[a], mine, b, carriers[b], theirs)
            for a, b in pairs
            for mine in shapes[a]
            for theirs in shapes[b]
            if not known(mine.kind, theirs.kind)
        ]
        with_obstacles = [
            Left(part, carriers[part], mine, str(theirs.name), None, theirs)
            for part in shapes
            if part in moves
            for mine in shapes[part]
            for theirs in obstacles
            if not known(mine.kind, _kind(theirs))
        ]
        self.left = (*with_each_other, *with_obstacles)
        numbers = {body.name: k for k, body in enumerate(subject.model.bodies)}
        bodies = [(left.body, left.other_body) for left in self.left]
        self._bodies = np.array([[numbers.get(body, -1) for body in both] for both in bodies])  # type: ignore[arg-type]
        balls = [(*left.shape.ball(), *left.other_shape.ball()) for left in self.left]
        self._centers = [np.array([ball[k] for ball in balls], dtype=float) for k in (0, 2)]
        self._radii = np.array([ball[1] + ball[3] for ball in balls])

    def __bool__(self) -> bool:
        return bool(self.left)

    def hits(self, q: np.ndarray) -> np.ndarray:
        """Whether any of them touch, for configurations (n, nq): (n,) bool."""
        verdicts = np.zeros(len(q), dtype=bool)
        portion = max(1, ROWS // len(self.left))
        for begin in range(0, len(q), portion):
            poses = Poses(self.subject, q[begin : begin + portion])
            for k, apart in enumerate(self.least_distances(poses)):
                deadlines.check()
                near = (self.left[j] for j in np.argsort(apart, kind="stable") if apart[j] < 0.0)
                verdicts[begin + k] = any(
                    exact.touch(*self._placed(left, poses, k)) for left in near
                )
        return verdicts

    def nearest(
        self, q: np.ndarray, below: float
    ) -> tuple[float, Left, np.ndarray, np.ndarray, np.ndarray] | None:
        """(distance, pair, point, other point, normal) of the nearest one nearer than `below`,
        at q (nq,)."""
        poses = Poses(self.subject, q[None])
        apart = self.least_distances(poses)[0]
        nearest = None
        for j in np.argsort(apart, kind="stable"):
            if apart[j] >= below:
                break
            answer = self.measured(self.left[j], poses, 0)
            if answer[0] < below:
                below, nearest = answer[0], (answer[0], self.left[j], *answer[1:])
        return nearest

    def nearest_of_each_pair(self, q: np.ndarray) -> list[tuple[Left, Answer]]:
        """(pair of shapes, (distance, point, other point, normal)):
        the nearest of each pair of parts, at q (nq,)."""
        poses = Poses(self.subject, q[None])
        apart = self.least_distances(poses)[0]
        best: dict[tuple[str, str], tuple[Left, Answer]] = {}
        for j in np.argsort(apart, kind="stable"):
            left = self.left[j]
            names = (left.part, left.other)
            if names in best and apart[j] >= best[names][1][0]:
                continue
            answer = self.measured(left, poses, 0)
            if names not in best or answer[0] < best[names][1][0]:
                best[names] = (left, answer)
        return list(best.values())

    def gradient(
        self,
        q: np.ndarray,
        left: Left,
        point: np.ndarray,
        other_point: np.ndarray,
        normal: np.ndarray,
    ) -> np.ndarray:
        """Of the distance of a pair by the velocity coordinates:
        Jacobians of both bodies at the nearest points."""
        names = [body.name for body in self.subject.model.bodies]
        origins = evaluate(self.subject, "forward_kinematics", {"q": q})[1]

        def along(body: str, p: np.ndarray) -> np.ndarray:
            J = evaluate(self.subject, "jacobian", {"q": q}, frame=body)
            return normal @ (J[:3] + np.cross(J[3:].T, p - origins[names.index(body)]).T)

        slope = -along(left.body, point)
        return slope if left.other_body is None else slope + along(left.other_body, other_point)

    def least_distances(self, poses: Poses) -> np.ndarray:
        """Lower bounds (n, pairs) of the distances: those of balls around the shapes."""
        n = len(poses.position)
        # one pose more, where obstacles stand
        R = np.concatenate((poses.rotation, np.broadcast_to(np.eye(3), (n, 1, 3, 3))), axis=1)
        p = np.concatenate((poses.position, np.zeros((n, 1, 3))), axis=1)
        middles = [
            np.einsum("nkij,kj->nki", R[:, bodies], centers) + p[:, bodies]
            for bodies, centers in zip(self._bodies.T, self._centers, strict=True)
        ]
        return np.linalg.norm(middles[0] - middles[1], axis=-1) - self._radii

    def measured(self, left: Left, poses: Poses, k: int) -> Answer:
        """(distance, point, other point, normal) of a pair at the k-th of the poses."""
        return exact.nearest(*self._placed(left, poses, k))

    def _placed(self, left: Left, poses: Poses, k: int) -> tuple[Any, Pose, Any, Pose]:
        """Both shapes of a pair, each with the pose of its body."""
        other = HERE if left.other_body is None else poses.of(left.other_body, k)
        return left.shape, poses.of(left.body, k), left.other_shape, other
