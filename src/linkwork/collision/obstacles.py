"""Obstacles: what stands around a robot, by name; frozen, so a change makes new obstacles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.collision.fields import Cloud, HeightField
from linkwork.collision.shapes import SHAPES, Capsule, HalfSpace, Pose, Shape, Sphere, TaperedCapsule, placed
from linkwork.errors import InvalidInput, UnknownName, did_you_mean, listed
from linkwork.model.placement import Placement

Obstacle: TypeAlias = Shape | Cloud | HeightField
OBSTACLES = (*SHAPES, Cloud, HeightField)


@dataclass(frozen=True, init=False)
class Obstacles:
    """Shapes in world axes [m], each with a name of its own; one without gets its kind and number, "box_2".

    shapes   a list of shapes, or a mapping from name to shape
    """

    shapes: tuple[Obstacle, ...]

    def __init__(self, shapes: Iterable[Obstacle] | Mapping[str, Obstacle] = ()) -> None:
        object.__setattr__(self, "shapes", _named(shapes))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which the shapes were given."""
        return tuple(str(shape.name) for shape in self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.shapes)

    def __getitem__(self, name: str) -> Obstacle:
        return self.shapes[self._index(name, "obstacles")]

    def moved(self, name: str, pose: Pose) -> Obstacles:
        """The same with one obstacle put to `pose` (4 x 4), or shifted there as it is turned by a position (3,).

        The pose of a sphere is that of its centre, of a capsule that of its middle with z along it, of a half-space one
        on its plane with z along the normal. A cloud or height field is moved by the pose from where it is.
        """
        k = self._index(name, "moved")
        shapes = (*self.shapes[:k], put(self.shapes[k], pose, f'moved: "{name}"'), *self.shapes[k + 1 :])
        return _of(shapes)

    def with_shapes(self, shapes: Iterable[Obstacle] | Mapping[str, Obstacle] | Obstacle) -> Obstacles:
        """The same with more obstacles, after those that are there."""
        more = [shapes] if isinstance(shapes, OBSTACLES) else shapes
        return _of((*self.shapes, *_named(more, taken=self.names)))

    def without(self, *names: str) -> Obstacles:
        """The same without the named ones."""
        gone = {self._index(name, "without") for name in names}
        return _of(tuple(shape for k, shape in enumerate(self.shapes) if k not in gone))

    def padded(self, by: float) -> Obstacles:
        """The same, each obstacle grown by a padding [m]."""
        return _of(tuple(shape.grown(by) for shape in self.shapes))

    def __repr__(self) -> str:
        return f"<Obstacles: {listed(self.names) or 'none'}>"

    def _index(self, name: Any, who: str) -> int:
        if name not in self.names:
            near = did_you_mean(str(name), self.names)
            raise UnknownName(f'{who}: there is no obstacle "{name}"{near or f"; there are {listed(self.names)}"}')
        return self.names.index(name)


def put(shape: Obstacle, pose: Pose, who: str) -> Any:
    """A shape at another pose; a position alone keeps its direction."""
    where = pose
    if not isinstance(pose, Placement) and as_doubles(pose, f"{who}: pose").shape == (3,):
        return shape.moved(Placement(position=_way(shape, placed(pose, who))))
    T = placed(where, who)
    R: np.ndarray = np.array(T.rotation)
    p: np.ndarray = np.array(T.position)
    match shape:
        case Sphere():
            return replace(shape, center=T.position)
        case Capsule() | TaperedCapsule():
            half = 0.5 * np.linalg.norm(np.subtract(shape.end, shape.start)) * R[:, 2]
            return replace(shape, start=p - half, end=p + half)
        case HalfSpace():
            return replace(shape, normal=tuple(R[:, 2].tolist()), offset=float(R[:, 2] @ p))
        case Cloud() | HeightField():
            return shape.moved(T)
    return replace(shape, pose=T)


def _way(shape: Obstacle, T: Placement) -> Any:
    """From where a shape is to a position."""
    match shape:
        case Cloud() | HeightField():
            here: Any = (0.0, 0.0, 0.0)
        case HalfSpace() | Sphere() | Capsule() | TaperedCapsule():
            here = shape.ball()[0]
        case _:
            here = shape.pose.position
    return tuple(np.subtract(T.position, here).tolist())


def _of(shapes: tuple[Obstacle, ...]) -> Obstacles:
    """Shapes whose names are checked already."""
    made = object.__new__(Obstacles)
    object.__setattr__(made, "shapes", shapes)
    return made


def _named(shapes: Any, taken: tuple[str, ...] = ()) -> tuple[Obstacle, ...]:
    """Shapes with a name each, none of them twice."""
    if isinstance(shapes, Mapping):
        given = [(name, shape) for name, shape in shapes.items()]
    elif isinstance(shapes, Iterable):
        given = [(getattr(shape, "name", None), shape) for shape in shapes]
    else:
        raise InvalidInput(f"Obstacles: shapes is {shapes!r}, expected a list of shapes")
    names = {*taken, *(name for name, _ in given if name is not None)}
    found: list[Obstacle] = []
    used = set(taken)
    for name, shape in given:
        if not isinstance(shape, OBSTACLES):
            raise InvalidInput(f"Obstacles: {shape!r} is no shape, expected one of {_kinds()}")
        if name is None:
            name = next(each for k in range(1, 10**9) if (each := f"{shape.kind}_{k}") not in names)
            names.add(name)
        if name in used:
            raise InvalidInput(f'Obstacles: the name "{name}" is given twice, expected one a shape')
        used.add(name)
        found.append(shape if shape.name == name else replace(shape, name=name))
    return tuple(found)


def _kinds() -> str:
    return ", ".join(kind.__name__ for kind in OBSTACLES)
