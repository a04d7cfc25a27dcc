"""Results that are more than one array: how they show, poses of all bodies, named points,
limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from linkwork.errors import UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular, table_of

T = TypeVar("T", bound=type)
Item = TypeVar("Item")
FEW = 8
"""Arrays and lists of at most so many entries are shown as they are, larger ones by their size."""
WORDS = 60
"""Of a value that is neither array, list nor number at most so many characters are shown."""


def short_repr(cls: T) -> T:
    """A dataclass that shows in a line or two: small values as they are,
    of large arrays the shape alone.

    <Clearance: distance (1000,), body (1000,), ..., bodies 7>
    """

    def shown(self: Any) -> str:
        parts = [
            f"{field.name} {_shown(getattr(self, field.name))}"
            for field in fields(self)
            if field.repr
        ]
        return f"<{type(self).__name__}: {', '.join(parts)}>"

    cls.__repr__ = shown  # type: ignore[assignment]
    return cls


def _shown(value: Any) -> str:
    """A value in few words: numbers with six digits,
    arrays and collections by their size unless they are small."""
    if isinstance(value, np.ndarray):
        if value.size > FEW or value.ndim > 1 or value.dtype == object:
            return str(value.shape)
        return (
            "[" + ", ".join(_shown(entry) for entry in value.ravel()) + "]"
            if value.ndim
            else _shown(value.item())
        )
    if isinstance(value, float | np.floating | complex | np.complexfloating):
        return f"{value:.6g}"
    if isinstance(value, list | tuple) and len(value) <= FEW:
        if all(isinstance(entry, str | int | float) for entry in value):
            return "(" + ", ".join(map(_shown, value)) + ")"
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"({len(value)})"
    if isinstance(value, str) and len(value) > WORDS:  # its beginning says more than its kind
        return repr(value[:WORDS] + "...")
    text = str(value) if isinstance(value, np.generic) else repr(value)
    return text if len(text) <= WORDS else f"{type(value).__name__}(...)"


@short_repr
@dataclass(frozen=True)
class Poses(Tabular):
    """Poses of every described body: rotation (..., nb, 3, 3), position (..., nb, 3) [m],
    in the order of `bodies`."""

    bodies: tuple[str, ...]
    rotation: np.ndarray
    position: np.ndarray

    def __getitem__(self, body: str) -> np.ndarray:
        """T_world_body (..., 4, 4)."""
        if body not in self.bodies:
            near = did_you_mean(body, self.bodies)
            raise UnknownName(
                f'there is no body "{body}"{near}; poses of frames: robot.pose(q, frame)'
            )
        k = self.bodies.index(body)
        return _homogeneous(self.rotation[..., k, :, :], self.position[..., k, :])

    def matrix(self) -> np.ndarray:
        """All poses as homogeneous matrices (..., nb, 4, 4)."""
        return _homogeneous(self.rotation, self.position)

    def _table(self) -> dict[str, np.ndarray]:
        """A row a body (of each sample)."""
        shape = self.position.shape[:-1]
        names = np.broadcast_to(np.array(self.bodies, dtype=object), shape)
        return table_of(
            shape, {"body": names, "position": self.position, "rotation": self.rotation}
        )


def _homogeneous(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.zeros((*p.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


class ByName(Mapping[str, Item]):
    """A mapping by name: brackets tell the nearest name where there is none of that,
    `in` and `get` only ask.

    (Python's own Mapping takes a KeyError for no, which would say nothing.)
    """

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(name == known for known in self)

    def get(self, name: str, default: Any = None) -> Any:
        """What has this name, or else the default."""
        return self[name] if name in self else default


class Points(Tabular, ByName[Mapping[str, np.ndarray]]):
    """points["body"]["name"] (..., 3) in world axes [m]."""

    def __init__(self, names: Mapping[str, tuple[str, ...]], positions: np.ndarray) -> None:
        self._points: dict[str, dict[str, np.ndarray]] = {}
        k = 0
        for body, labels in names.items():
            if labels:
                self._points[body] = {
                    label: positions[..., k + i, :] for i, label in enumerate(labels)
                }
            k += len(labels)

    def __getitem__(self, body: str) -> Mapping[str, np.ndarray]:
        if body not in self._points:
            raise UnknownName(
                f'there is no body with points named "{body}"{did_you_mean(body, self._points)}'
            )
        return self._points[body]

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        count = sum(len(points) for points in self._points.values())
        return f"<Points: {count} of {len(self)} bodies>"

    def _table(self) -> dict[str, np.ndarray]:
        """A row a point (of each sample)."""
        places = {
            (body, name): place for body, points in self.items() for name, place in points.items()
        }
        if not places:
            return {}
        positions = np.stack(list(places.values()), axis=-2)
        shape = positions.shape[:-1]
        bodies, names = np.array(list(places), dtype=object).T
        words = {"body": np.broadcast_to(bodies, shape), "point": np.broadcast_to(names, shape)}
        return table_of(shape, words | {"position": positions})


@short_repr
@dataclass(frozen=True)
class JointLimits(Tabular, rows="lower"):
    """lower, upper (nq,) [rad, m]; velocity (nv,) [rad/s, m/s]; effort (nv,) [N m, N]; acceleration
    (nv,) [rad/s^2, m/s^2]; infinite where none is given. Tables have those of (nv,) where nv =
    nq."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    acceleration: np.ndarray
