"""Obstacles: what stands around a robot, by name; frozen, so a change makes new obstacles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from linkwork.arguments import as_doubles
from linkwork.collision.fields import Cloud, HeightField
from linkwork.collision.placing import Pose, placed
from linkwork.collision.shape_values import like
from linkwork.collision.shapes import SHAPES, Capsule, HalfSpace, Shape, Sphere, TaperedCapsule
from linkwork.errors import InvalidInput, UnknownName, did_you_mean, listed
from linkwork.model.placement import Placement

Obstacle: TypeAlias = Shape | Cloud | HeightField
OBSTACLES = (*SHAPES, Cloud, HeightField)
_POSITION = [float, float, float]


@dataclass(frozen=True, init=False)
class Obstacles:
    """Shapes in world axes [m], each with a name of its own; one without gets its kind and number,
    "box_2".

    shapes   a list of shapes, or a mapping from name to shape
    """

    shapes: tuple[Obstacle, ...]

    def __init__(self, shapes: Iterable[Obstacle] | Mapping[str, Obstacle] = ()) -> None:
        object.__setattr__(self, "shapes", _named(shapes))

    @cached_property
    def _places(self) -> dict[str, int]:
        """Which shape has which name."""
        return {str(shape.name): k for k, shape in enumerate(self.shapes)}

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Kinds of the shapes."""
        return frozenset(shape.kind for shape in self.shapes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which the shapes were given."""
        return tuple(self._places)

    def __len__(self) -> int:
        return len(self.shapes)

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.shapes)

    def __getitem__(self, name: str) -> Obstacle:
        return self.shapes[self._index(name, "obstacles")]

    def moved(self, name: str, pose: Pose) -> Obstacles:
        """The same with one obstacle put to `pose` (4 x 4),
        or shifted there as it is turned by a position (3,).

        The pose of a sphere is that of its centre, of a capsule that of its middle with z along it,
        of a half-space one on its plane with z along the normal. A cloud or height field is moved
        by the pose from where it is.
        """
        k = self._index(name, "moved")
        made = _of((*self.shapes[:k], put(self.shapes[k], pose, name), *self.shapes[k + 1 :]))
        made.__dict__["_places"], made.__dict__["kinds"] = self._places, self.kinds
        return made

    def with_shapes(
        self, shapes: Iterable[Obstacle] | Mapping[str, Obstacle] | Obstacle
    ) -> Obstacles:
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
        try:
            return self._places[name]
        except (KeyError, TypeError):
            near = did_you_mean(str(name), self.names)
            known = near or f"; there are {listed(self.names)}"
            raise UnknownName(f'{who}: there is no obstacle "{name}"{known}') from None


def put(shape: Obstacle, pose: Pose, name: str) -> Any:
    """A shape at another pose; a position alone keeps its direction."""
    if isinstance(pose, tuple | list) and [*map(type, pose)] == _POSITION:
        position: Any = pose  # dragged: an array would take longer than the rest
        return _shifted(shape, position, name)
    if not isinstance(pose, Placement):
        pose = as_doubles(pose, f'moved: "{name}": pose')
        if pose.shape == (3,):
            return _shifted(shape, pose.tolist(), name)
    T = placed(pose, f'moved: "{name}"')
    x, y, z = T.position
    match shape:
        case Sphere():
            return like(shape, center=T.position)
        case Capsule() | TaperedCapsule():
            half = 0.5 * math.dist(shape.start, shape.end)
            a, b, c = (half * row[2] for row in T.rotation)
            return like(shape, start=(x - a, y - b, z - c), end=(x + a, y + b, z + c))
        case HalfSpace():
            a, b, c = (row[2] for row in T.rotation)
            return replace(shape, normal=(a, b, c), offset=a * x + b * y + c * z)
        case Cloud() | HeightField():
            return shape.moved(T)
    return like(shape, pose=T)


def _shifted(shape: Obstacle, position: Sequence[float], name: str) -> Any:
    """A shape with its middle at a position; a cloud or height field moved by it."""
    x, y, z = position
    if not math.isfinite(x + y + z):
        raise InvalidInput(f'moved: "{name}": pose is {list(position)}, expected finite numbers')
    a, b, c = _middle(shape)
    return shape.shifted((x - a, y - b, z - c))


def _middle(shape: Any) -> tuple[float, float, float]:
    match shape.kind:
        case "cloud" | "height_field":
            return (0.0, 0.0, 0.0)
        case "box" | "cylinder" | "convex" | "mesh":
            return shape.pose.position
    return shape.ball()[0]


def _of(shapes: tuple[Obstacle, ...]) -> Obstacles:
    """Shapes whose names are checked already."""
    made = object.__new__(Obstacles)
    object.__setattr__(made, "shapes", shapes)
    return made


def _named(shapes: Any, taken: tuple[str, ...] = ()) -> tuple[Obstacle, ...]:
    """Shapes with a name each, none of them twice."""
    if isinstance(shapes, Mapping):
        listed = [(name, shape) for name, shape in shapes.items()]
    elif isinstance(shapes, Iterable):
        listed = [(getattr(shape, "name", None), shape) for shape in shapes]
    else:
        raise InvalidInput(f"Obstacles: shapes is {shapes!r}, expected a list of shapes")
    names = {*taken, *(name for name, _ in listed if name is not None)}
    named: list[Obstacle] = []
    used = set(taken)
    for name, shape in listed:
        if not isinstance(shape, OBSTACLES):
            raise InvalidInput(f"Obstacles: {shape!r} is no shape, expected one of {_kinds()}")
        if name is None:
            name = next(
                numbered for k in range(1, 10**9) if (numbered := f"{shape.kind}_{k}") not in names
            )
            names.add(name)
            shape = like(shape, name=name)
        if name in used:
            raise InvalidInput(f'Obstacles: the name "{name}" is given twice, expected one a shape')
        used.add(name)
        named.append(shape if shape.name == name else replace(shape, name=name))
    return tuple(named)


def _kinds() -> str:
    return ", ".join(kind.__name__ for kind in OBSTACLES)
