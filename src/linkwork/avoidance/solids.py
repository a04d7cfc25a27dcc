"""Safety volumes of spheres, cones and tapered capsules between named points,
through the collision room."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, quantities
from linkwork.arguments import choice, number
from linkwork.avoidance.arcs import TURN, joined, wrapped
from linkwork.avoidance.around import Around
from linkwork.avoidance.elbow import Elbow
from linkwork.collision import Capsule, CollisionModel, Convex, Obstacles, Sphere, TaperedCapsule
from linkwork.collision.clearance import Clearance
from linkwork.collision.placing import vector
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.subject import RobotLike, Subject, subject_of

KINDS = ("tapered_capsule", "cone")
SIDES = 32
"""Of the prism around a cone; its faces touch the cone from outside."""
RIGID = 1e-9
"""Named points that move less than this [m] against a body are fixed to it."""
FIRST, FINEST, ENDS = 48, 1e-6, 1e-12
"""Cells of a turn at first; width [rad] below which cells are decided by their ends;
width of a crossing's bracket."""


@dataclass(frozen=True)
class Solid:
    """A sphere about one named point, or a tapered capsule or cone between two.

    points   names of one or two points of the description, "Pe" or "body.Pe"
    radii    [m] one for each;  kind: "tapered_capsule" (round ends) or "cone"
             (flat ends; needs coal)
    """

    points: tuple[str, ...]
    radii: tuple[float, ...]
    kind: Literal["tapered_capsule", "cone"] = "tapered_capsule"

    def __post_init__(self) -> None:
        points = (self.points,) if isinstance(self.points, str) else tuple(self.points)
        radii = tuple(self.radii) if isinstance(self.radii, Iterable) else (self.radii,)
        if len(points) not in (1, 2) or len(radii) != len(points):
            raise InvalidInput(
                f"Solid: {len(points)} points and {len(radii)} radii, expected one or two of each"
            )
        sizes = tuple(number(radius, "Solid: radii") for radius in radii)
        if min(sizes) < 0.0:
            raise InvalidInput(f"Solid: radii are {list(sizes)}, expected radii >= 0 m")
        choice(self.kind, KINDS, "Solid: kind")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radii", sizes)


class SolidVolume:
    """Solids on named points of an arm, which obstacles must not enter.

    `model` is a collision model of these solids alone: `model.clearance(q, obstacles)` has signed
    distance, witness points and gradient. As the volume of an `ElbowAvoidance`, solids lie on the
    upper arm and forearm, which turn about the line from shoulder to wrist as one with the arm
    angle.
    """

    def __init__(self, robot: RobotLike, solids: Iterable[Solid]) -> None:
        self.subject = subject_of(robot, "SolidVolume")
        self.solids = tuple(solids)
        if not self.solids or not all(isinstance(solid, Solid) for solid in self.solids):
            raise InvalidInput(
                "SolidVolume: solids is empty or holds something else, expected a list of Solid"
            )
        shapes: dict[str, list[Any]] = {}
        for solid in self.solids:
            body, shape = _placed(self.subject, solid)
            shapes.setdefault(body, []).append(shape)
        self.model = CollisionModel(robot, shapes, pairs=[])

    def clearance(self, q: ArrayLike, obstacles: Any) -> Clearance:
        """The least distance [m] of obstacles to the solids at q (..., nq),
        its points and gradient."""
        return self.model.clearance(q, shapes_of(obstacles))

    def forbidden(
        self, elbow: Elbow, pose: ArrayLike, obstacles: Any, margin: float = 0.0
    ) -> np.ndarray:
        """(k, 2): the arm angles at which an obstacle is nearer to a solid than `margin` [m],
        as `Elbow.forbidden`.

        Distances change by no more than the farthest point of the solids moves, which decides whole
        cells of the turn; what is not decided is halved down to 1e-6 rad, so that an arc hidden
        between samples is less deep than half of that times its radius, below 1e-6 m for any arm.
        """
        swing, wide = elbow.swing(pose, "forbidden"), number(margin, "forbidden: margin")
        posture = self._posture(elbow, pose)
        stands = shapes_of(obstacles)
        if not len(stands):
            return np.empty((0, 2))

        def room(angle: np.ndarray) -> np.ndarray:
            return np.asarray(self.model.clearance(posture(angle), stands).distance) - wide

        return _lipschitz_arcs(room, self._reach(posture, swing))

    def room_at(self, elbow: Elbow, pose: ArrayLike, arm_angle: float, obstacles: Any) -> float:
        """The least distance [m] of any obstacle with the elbow at an arm angle."""
        q = self._posture(elbow, pose)(np.array([number(arm_angle, "room_at: arm_angle")]))[0]
        return float(self.model.clearance(q, shapes_of(obstacles)).distance)

    def _posture(self, elbow: Elbow, pose: ArrayLike) -> Any:
        """Configurations by arm angle of a branch that exists:
        solids on the links are where they are in any other."""
        there = (
            np.isfinite(elbow.configurations(pose, np.array([0.1, 1.3, 2.9])))
            .all(axis=2)
            .all(axis=0)
        )
        if not there.any():
            raise NotPossible("SolidVolume: no branch of the arm exists at this pose")
        branch = int(np.argmax(there))

        def posture(angle: np.ndarray) -> np.ndarray:
            rows = elbow.configurations(pose, angle)[:, branch]
            lost = ~np.isfinite(rows).all(axis=1)
            if lost.any():  # singular at this very angle: the posture just beside it
                rows[lost] = elbow.configurations(pose, angle[lost] + 1e-7)[:, branch]
            return rows

        return posture

    def _reach(self, posture: Any, swing: np.ndarray) -> float:
        """How far the farthest point of any solid is from the line shoulder-wrist [m];
        refuses what does not swing."""
        shoulder, u = swing[:3], swing[3:6]
        here, there = posture(np.array([0.1, 1.3]))
        turn = _about(u, 1.2)
        farthest = 0.0
        for part, shapes in self.model.shapes.items():
            one, other = (
                quantities.evaluate(self.subject, "pose", {"q": q}, part) for q in (here, there)
            )
            swung = np.abs(turn @ one[:3, :3] - other[:3, :3]).max() < 1e-6
            if not swung:
                raise NotPossible(
                    f'SolidVolume: body "{part}" does not turn with the arm angle as a whole: '
                    "solids belong on the upper arm and the forearm"
                )
            for shape in shapes:
                center, radius = shape.ball()
                r = one[:3, :3] @ np.array(center) + one[:3, 3] - shoulder
                farthest = max(farthest, float(np.linalg.norm(r - (r @ u) * u)) + radius)
        return farthest


def shapes_of(obstacles: Any) -> Obstacles:
    """Obstacles as shapes of the collision room; points and segments become spheres and
    capsules."""
    if isinstance(obstacles, Around):
        points = [
            Sphere(p, r)
            for p, r in zip(obstacles.points.tolist(), obstacles.point_radius, strict=True)
        ]
        ends = zip(obstacles.segments.tolist(), obstacles.segment_radius, strict=True)
        return Obstacles([*points, *(Capsule(a, b, r) for (a, b), r in ends)])
    return obstacles if isinstance(obstacles, Obstacles) else Obstacles(obstacles)


def _placed(subject: Subject, solid: Solid) -> tuple[str, Any]:
    """(body, shape in its axes): a body to which all points of the solid are fixed."""
    q = configurations.random(subject, 3, seed=1)
    for where in product(*(_points(subject, name) for name in solid.points)):
        for body, _ in where:
            local = [_seen(subject, q, body, other, at) for other, at in where]
            if max(np.ptp(rows, axis=0).max() for rows in local) < RIGID:
                return body, _shape(solid, [rows[0] for rows in local])
    raise InvalidInput(
        f"SolidVolume: points {list(solid.points)} move against each other, expected points of "
        "one link"
    )


def _seen(subject: Subject, q: np.ndarray, body: str, other: str, at: np.ndarray) -> np.ndarray:
    """A point of another body in axes of this one at configurations q (n, nq): (n, 3)."""
    T, T_other = (quantities.evaluate(subject, "pose", {"q": q}, name) for name in (body, other))
    world = T_other[:, :3, :3] @ at + T_other[:, :3, 3]
    return np.einsum("nji,nj->ni", T[:, :3, :3], world - T[:, :3, 3])


def _shape(solid: Solid, at: list[np.ndarray]) -> Any:
    places = [vector(p, "SolidVolume: point") for p in at]
    if len(at) == 1:
        return Sphere(places[0], solid.radii[0])
    if solid.kind == "tapered_capsule":
        return TaperedCapsule(places[0], places[1], solid.radii[0], solid.radii[1])
    along = at[1] - at[0]
    z = along / np.linalg.norm(along)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    turn = np.arange(SIDES) * TURN / SIDES
    rim = (np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y) / math.cos(math.pi / SIDES)
    return Convex(np.concatenate([at[0] + solid.radii[0] * rim, at[1] + solid.radii[1] * rim]))


def _points(subject: Subject, name: str) -> list[tuple[str, np.ndarray]]:
    """(body, place in its axes) of every described point of that name:
    neighbours often name a common point."""
    named = [
        (body.name, point, np.array(at))
        for body in subject.model.bodies
        for point, at in body.points
    ]
    matching = [(body, at) for body, point, at in named if name in (point, f"{body}.{point}")]
    if not matching:
        names = [f"{body}.{point}" for body, point, _ in named]
        raise UnknownName(
            f'Solid: robot "{subject.model.name}" has no point "{name}"{did_you_mean(name, names)}'
        )
    return matching


def _about(u: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about the unit vector u. (Rodrigues)"""
    K = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K)


def _lipschitz_arcs(room: Any, reach: float) -> np.ndarray:
    """Arcs where `room` is negative, with |room'| <= reach."""
    a = np.linspace(-np.pi, np.pi, FIRST, endpoint=False)
    da = room(a)
    first = da[0]
    w, db = np.full(FIRST, TURN / FIRST), np.roll(da, -1)
    crossing: list[tuple[np.ndarray, ...]] = []
    while len(a):
        undecided = np.abs(da + db) <= reach * w
        crosses = (da < 0.0) != (db < 0.0)
        narrow = w < FINEST
        crossing.append(tuple(x[narrow & crosses] for x in (a, w, db)))
        a, w, da, db = (x[(undecided | crosses) & ~narrow] for x in (a, w, da, db))
        if len(a):
            dm = room(a + w / 2)
            a, w = np.concatenate([a, a + w / 2]), np.concatenate([w, w]) / 2
            da, db = np.concatenate([da, dm]), np.concatenate([dm, db])
    low, w, db = (np.concatenate(parts) for parts in zip(*crossing, strict=True))
    if not len(low):
        return joined(np.array([-np.pi]), np.array([TURN])) if first < 0.0 else np.empty((0, 2))
    enters, high = db < 0.0, low + w
    while (high - low).max() > ENDS:
        middle = (low + high) / 2
        beyond = (room(middle) < 0.0) == enters
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    order = np.argsort(high)
    angle, enters = high[order], enters[order]
    if not enters[0]:
        angle = np.roll(angle, -1)
    return joined(wrapped(angle[0::2]), (angle[1::2] - angle[0::2]) % TURN)
