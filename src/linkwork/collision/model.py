"""CollisionModel: a robot with shapes on its bodies and the pairs of them that are looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from linkwork.arguments import choice, mapping, name_list, number
from linkwork.collision import pairs as pair_table
from linkwork.collision.described import shape_of
from linkwork.collision.fitting import fitted
from linkwork.collision.live import Follows, refuse_fitted
from linkwork.collision.pairs import Pair, Pairs
from linkwork.collision.queries import Queries
from linkwork.collision.report import Report, plain_report
from linkwork.collision.shapes import SHAPES, HalfSpace, Shape
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.model.body import Body
from linkwork.subject import RobotLike, Subject, subject_of

WAYS = ("described", "spheres", "capsules", "convex", "mesh")


@dataclass(frozen=True, init=False, eq=False)
class CollisionModel(Queries):
    """A robot with shapes on its bodies; frozen, a change makes another model.

    robot      the robot, its subject or facade
    shapes     {part: (shape, ...)} in axes of the body that carries the part; a part is a body, or
               a grasped object
    carriers   {part: body}: the same name for bodies
    pairs      every pair of parts with its reason; `.pairs.checked` are looked at
    report     what the shapes are, as a table
    follows    parts whose shapes are those of the description: they change with its live variables
    """

    robot: Any
    shapes: Mapping[str, tuple[Shape, ...]]
    pairs: Pairs
    report: Report
    carriers: Mapping[str, str]
    follows: Mapping[str, Follows]
    _kernels: dict[Any, Any] = field(repr=False)

    def __init__(
        self,
        robot: RobotLike,
        shapes: Mapping[str, Iterable[Shape]],
        pairs: Any = "auto",
        report: Report | None = None,
        follows: Mapping[str, Follows] | None = None,
    ) -> None:
        subject = subject_of(robot, "CollisionModel")
        checked = _checked_shapes(subject, shapes)
        carriers = {body: body for body in checked}
        by_structure = pair_table.by_structure(subject, checked, carriers)
        _fill(
            self,
            robot,
            checked,
            by_structure,
            report or plain_report(checked),
            carriers,
            follows or {},
        )
        object.__setattr__(self, "pairs", _resolved(self, pairs, by_structure))

    @property
    def subject(self) -> Subject:
        """What quantities are computed about."""
        return subject_of(self.robot, "CollisionModel")

    def padded(self, padding: float | Mapping[str, float]) -> CollisionModel:
        """The same with shapes grown by a padding [m]: one for all, or {body: padding}.
        Boxes stay boxes."""
        if isinstance(padding, Mapping):
            by = {
                self._part(name, "padded"): number(x, f"padded: {name}")
                for name, x in padding.items()
            }
        else:
            by = dict.fromkeys(self.shapes, number(padding, "padded: padding"))
        shapes = {
            name: tuple(s.grown(by.get(name, 0.0)) for s in several)
            for name, several in self.shapes.items()
        }
        follows = {
            name: replace(f, padding=f.padding + by.get(name, 0.0))
            for name, f in self.follows.items()
        }
        return self._with(shapes=shapes, follows=follows)

    def without(self, *parts: str) -> CollisionModel:
        """The same without the shapes of some bodies or grasped objects."""
        gone = {self._part(name, "without") for name in parts}
        rows = tuple(row for row in self.pairs if not {row.first, row.second} & gone)
        return self._with(
            shapes={name: several for name, several in self.shapes.items() if name not in gone},
            carriers={name: body for name, body in self.carriers.items() if name not in gone},
            pairs=replace(self.pairs, rows=rows),
            report=Report(tuple(row for row in self.report if row.body not in gone)),
        )

    def attached(
        self,
        frame: str,
        shapes: Shape | Iterable[Shape],
        touching: Iterable[str] = (),
        name: str = "attached",
    ) -> CollisionModel:
        """The same with a grasped object: shapes in axes of a frame,
        checked with everything but what is `touching`.

        frame      a body or frame of the robot that carries it
        touching   bodies that may touch it, such as the fingers; what moves with the frame is left
                   out as well
        name       of the object, in pairs and results
        """
        subject = self.subject
        node, T_node_frame = subject.place_of(frame)
        carrier = (
            next(body for body, (at, _) in subject.tree.bodies.items() if at == node)
            if node
            else None
        )
        if carrier is None:
            raise NotPossible(
                f'attached: frame "{frame}" stands still; an object that never moves is an obstacle'
            )
        if name in self.shapes:
            raise InvalidInput(f'attached: there is a part "{name}" already, expected another name')
        T_body_frame = subject.tree.bodies[carrier][1].inverse() @ T_node_frame
        listed = [shapes] if isinstance(shapes, SHAPES) else list(shapes)
        carried = tuple(_colliding(shape, name).moved(T_body_frame) for shape in listed)
        held = {
            self._part(body_name, "attached: touching")
            for body_name in name_list(touching, "attached: touching")
        }
        rows = []
        for other, body in self.carriers.items():
            rigid = subject.tree.bodies[body][0] == node
            reason = "rigid" if rigid else "touching" if other in held else "checked"
            rows.append(Pair(other, name, reason))
        return self._with(
            shapes={**self.shapes, name: carried},
            carriers={**self.carriers, name: carrier},
            pairs=replace(self.pairs, rows=(*self.pairs.rows, *rows)),
            report=Report((*self.report.rows, *plain_report({name: carried}).rows)),
        )

    def __repr__(self) -> str:
        count = sum(map(len, self.shapes.values()))
        return (
            f'<CollisionModel of "{self.subject.model.name}": {count} shapes on {len(self.shapes)} '
            "bodies, "
            f"{len(self.pairs.checked)} of {len(self.pairs)} pairs checked>"
        )

    def _part(self, name: Any, who: str) -> str:
        if name not in self.shapes:
            near = did_you_mean(str(name), self.shapes)
            raise UnknownName(f'{who}: no body with shapes is named "{name}"{near}')
        return name

    def _with(self, **changes: Any) -> CollisionModel:
        made = object.__new__(CollisionModel)
        now = {
            key: changes.get(key, getattr(self, key))
            for key in ("shapes", "pairs", "report", "carriers", "follows")
        }
        _fill(
            made,
            self.robot,
            *(now[key] for key in ("shapes", "pairs", "report", "carriers", "follows")),
        )
        return made


def model(
    robot: RobotLike,
    shapes: str = "described",
    tolerance: float = 0.02,
    pairs: str | os.PathLike[str] | Pairs | Iterable[tuple[str, str]] = "auto",
    padding: float = 0.0,
    visuals: bool = False,
) -> CollisionModel:
    """The collision model of a robot.

    shapes      "described" or "mesh": the collision shapes of the description as they are,
                cylinders as cylinders; "spheres" or "capsules": fitted to them, so that they cover
                them; "convex": hulls of its meshes
    tolerance   of spheres: how far they may stick out [m]
    pairs       "auto" decides by structure and samples (see `pairs`), an SRDF file gives the
                disabled ones, a list of pairs the ones to check
    padding     by which every shape is grown [m]
    visuals     take the visual shapes where a body has no collision shapes
    """
    choice(shapes, WAYS, "model: shapes")
    subject = subject_of(robot, "model")
    described = described_shapes(subject, visuals)
    if shapes in ("described", "mesh"):
        chosen, report = described, plain_report(described)
        follows = {
            name: Follows("collisions" if subject.model.body(name).collisions else "visuals")
            for name in chosen
        }
    else:
        refuse_fitted(subject, described, shapes)
        chosen, report = fitted(described, shapes, tolerance)
        follows = {}
    made = CollisionModel(robot, chosen, pairs, report, follows)
    return made.padded(padding) if padding else made


def described_shapes(subject: Subject, visuals: bool = False) -> dict[str, tuple[Shape, ...]]:
    """{body: shapes} of a description; where a body has no collision shapes its visual ones,
    if `visuals` says so."""
    name = subject.model.name
    by_body = {}
    for body in subject.model.bodies:
        described = _described(body, visuals)
        if described:
            by_body[body.name] = tuple(
                shape_of(shape, f'robot "{name}", body "{body.name}"') for shape in described
            )
    if not by_body:
        looks = any(body.visuals for body in subject.model.bodies)
        cure = (
            "visuals=True takes its visual ones"
            if looks
            else "give CollisionModel(robot, shapes={body: [...]})"
        )
        raise NotPossible(f'robot "{name}" describes no collision shapes; {cure}')
    return by_body


def _described(body: Body, visuals: bool) -> tuple[Any, ...]:
    return body.collisions or (body.visuals if visuals else ())


def _checked_shapes(subject: Subject, shapes: Any) -> dict[str, tuple[Shape, ...]]:
    """{body: shapes} in the order of the bodies, each body one of the robot."""
    by_body = mapping(shapes, "CollisionModel: shapes")
    names = [body.name for body in subject.model.bodies]
    for name in by_body:
        if name not in names:
            near = did_you_mean(name, names)
            raise UnknownName(
                f'CollisionModel: robot "{subject.model.name}" has no body "{name}"{near}'
            )
    listed = {name: by_body[name] for name in names if name in by_body}
    return {
        name: tuple(
            _colliding(shape, name)
            for shape in ([several] if isinstance(several, SHAPES) else several)
        )
        for name, several in listed.items()
    }


def _colliding(shape: Any, body: str) -> Shape:
    """A shape that a body can carry."""
    if not isinstance(shape, SHAPES):
        known = ", ".join(kind.__name__ for kind in SHAPES if kind is not HalfSpace)
        raise InvalidInput(
            f'shapes of "{body}": {type(shape).__name__} is no shape of a body, expected {known}'
        )
    if isinstance(shape, HalfSpace):
        raise InvalidInput(
            f'shapes of "{body}": a half-space moves with no body; put it among the obstacles'
        )
    return shape


def _resolved(made: CollisionModel, pairs: Any, by_structure: Pairs) -> Pairs:
    """What the argument `pairs` stands for."""
    from linkwork.collision import sampled_pairs

    if isinstance(pairs, Pairs):
        for row in pairs:
            pair_table.checked_pair(row.first, row.second, set(made.shapes))
        return pairs
    if isinstance(pairs, str) and pairs == "auto":
        return sampled_pairs.pairs(made)
    if isinstance(pairs, (str, os.PathLike)):
        return sampled_pairs.from_srdf(made, pairs)
    if isinstance(pairs, Iterable):
        return pair_table.chosen(pairs, by_structure, made.shapes)
    raise InvalidInput(
        f'pairs is {pairs!r}, expected "auto", Pairs, an SRDF file, or a list of pairs'
    )


def _fill(
    made: Any, robot: Any, shapes: Any, pairs: Pairs, report: Report, carriers: Any, follows: Any
) -> None:
    """The fields of a frozen model."""
    values = {
        "robot": robot,
        "shapes": MappingProxyType(dict(shapes)),
        "pairs": pairs,
        "report": report,
        "carriers": MappingProxyType(dict(carriers)),
        "follows": MappingProxyType(dict(follows)),
        "_kernels": {},
    }
    for key, value in values.items():
        object.__setattr__(made, key, value)
