"""Rest: pairs of shapes that machine code does not know, one configuration at a time through coal.

Bodies with hulls, meshes, or boxes and cylinders that meet each other. Balls around the shapes are compared first, so
that coal is asked only about what is near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.collision import exact
from linkwork.collision.part_distances import Poses
from linkwork.quantities import evaluate
from linkwork.subject import Subject

Known = Callable[[str, str], bool]
HERE = (np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Left:
    """Two shapes: of a part with the body that carries it, and of another part (`body` None: an obstacle)."""

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
    """The pairs of shapes of a model and obstacles for which `known(kind, other kind)` is not true."""

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
        found = [
            Left(a, carriers[a], mine, b, carriers[b], theirs)
            for a, b in pairs
            for mine in shapes[a]
            for theirs in shapes[b]
            if not known(mine.kind, theirs.kind)
        ]
        found += [
            Left(part, carriers[part], mine, str(theirs.name), None, theirs)
            for part in shapes
            if part in moves
            for mine in shapes[part]
            for theirs in obstacles
            if not known(mine.kind, _kind(theirs))
        ]
        self.left = tuple(found)
        self._balls = [(left.shape.ball(), left.other_shape.ball()) for left in self.left]

    def __bool__(self) -> bool:
        return bool(self.left)

    def hits(self, q: np.ndarray) -> np.ndarray:
        """Whether any of them touch, for configurations (n, nq): (n,) bool."""
        verdicts = np.zeros(len(q), dtype=bool)
        poses = Poses(self.subject, q)
        for k in range(len(q)):
            verdicts[k] = any(
                exact.nearest(left.shape, pose, left.other_shape, other)[0] < 0.0
                for left, pose, other, apart in self._placed(poses, k)
                if apart < 0.0
            )
        return verdicts

    def nearest(self, q: np.ndarray, below: float) -> tuple[float, Left, np.ndarray, np.ndarray, np.ndarray] | None:
        """(distance, pair, point, other point, normal) of the nearest one nearer than `below`, at q (nq,)."""
        poses = Poses(self.subject, q[None])
        best = None
        for left, pose, other, apart in sorted(self._placed(poses, 0), key=lambda each: each[3]):
            if apart >= below:
                break
            found = exact.nearest(left.shape, pose, left.other_shape, other)
            if found[0] < below:
                below, best = found[0], (found[0], left, *found[1:])
        return best

    def nearest_of_each_pair(self, q: np.ndarray) -> list[tuple[Left, tuple[float, Any, Any, Any]]]:
        """(pair of shapes, (distance, point, other point, normal)): the nearest of each pair of parts, at q (nq,)."""
        poses = Poses(self.subject, q[None])
        best: dict[tuple[str, str], tuple[Left, tuple[float, Any, Any, Any]]] = {}
        for left, pose, other, apart in sorted(self._placed(poses, 0), key=lambda each: each[3]):
            names = (left.part, left.other)
            if names in best and apart >= best[names][1][0]:
                continue
            found = exact.nearest(left.shape, pose, left.other_shape, other)
            if names not in best or found[0] < best[names][1][0]:
                best[names] = (left, found)
        return list(best.values())

    def gradient(
        self, q: np.ndarray, left: Left, point: np.ndarray, other_point: np.ndarray, normal: np.ndarray
    ) -> np.ndarray:
        """Of the distance of a pair by the velocity coordinates: Jacobians of both bodies at the nearest points."""
        names = [body.name for body in self.subject.model.bodies]
        origins = evaluate(self.subject, "forward_kinematics", {"q": q})[1]

        def along(body: str, p: np.ndarray) -> np.ndarray:
            J = evaluate(self.subject, "jacobian", {"q": q}, frame=body)
            return normal @ (J[:3] + np.cross(J[3:].T, p - origins[names.index(body)]).T)

        slope = -along(left.body, point)
        return slope if left.other_body is None else slope + along(left.other_body, other_point)

    def _placed(self, poses: Poses, k: int) -> Iterator[tuple[Left, Any, Any, float]]:
        """Pairs with both poses and a lower bound of their distance."""
        for left, balls in zip(self.left, self._balls, strict=True):
            pose = poses.of(left.body, k)
            other = HERE if left.other_body is None else poses.of(left.other_body, k)
            (center, radius), (other_center, other_radius) = balls
            way = pose[0] @ center + pose[1] - other[0] @ other_center - other[1]
            yield left, pose, other, float(np.linalg.norm(way)) - radius - other_radius
