"""Packing: obstacles as rows that staged kernels read, in both scalars, in one piece of memory.

Rows of a kind are sorted by their distance from the base and, where that is equal, by their number.
Obstacles that differ in a few shapes from those packed before take their memory over: a row that
moved is cut out and put in where it belongs, so that an obstacle that moves costs one row. What
comes out is the same bytes either way.
"""

from __future__ import annotations

import math
import struct
import weakref
from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress
from operator import is_not
from typing import Any

import numpy as np

from linkwork.collision.clusters import Ranges, cloud_rows
from linkwork.collision.ground import ground_rows
from linkwork.collision.tile import FIELD_TABLES, OBSTACLE_KINDS
from linkwork.engine.staged import Packed
from linkwork.engine.staged_values import TABLE_WORDS
from linkwork.errors import InvalidInput

UNIT = 2.0**-24
STEPS = 128.0  # roundings of floats, see tables.py
OUTWARD = 1e-9  # relative and absolute [m]: bounds are rounded outward by more than doubles round
FIELDS = ("cloud", "height_field")
FEW = 4  # shapes that may differ before everything is packed anew

_MARGINS, _NARROW = struct.Struct(5 * "d"), struct.Struct(5 * "f")
_HUGE = float(np.finfo(float).max)
_SPARE = bytes(256)  # a lane may look at row 0 of an empty table, and must find memory there
_HEADER = bytes.__basicsize__ - 1  # of a bytes object, before its data
_DIRECT = (
    id(_SPARE) + _HEADER == np.frombuffer(_SPARE, dtype=np.uint8).__array_interface__["data"][0]
)


class Row:
    """An obstacle as the kernels read it: its numbers, how far from the base it is, its number,
    in both scalars."""

    __slots__ = ("doubles", "extent", "floats", "key", "shape")

    def __init__(self, shape: Any, number: int, base: Sequence[float], far: float) -> None:
        """`far`: [m] an obstacle further from the base decides no margin."""
        columns = shape.numbers()
        away = from_point(shape.kind, columns, base)
        away -= OUTWARD * (1.0 + abs(away))
        (x, y, z), radius = shape.ball()
        self.shape = shape  # kept, so that its id stays its own
        self.key = (away, number)
        self.extent = 0.0
        if away < far:
            self.extent = max(abs(x), abs(y), abs(z)) + (radius if math.isfinite(radius) else 0.0)
        columns += (away, number)
        wide, narrow = _FORMATS[len(columns)]
        try:
            self.doubles, self.floats = wide.pack(*columns), narrow.pack(*columns)
        except OverflowError:
            raise InvalidInput(
                f'obstacle "{shape.name}" has numbers too large for single precision'
            ) from None


_FORMATS = [(struct.Struct(f"{n}d"), struct.Struct(f"{n}f")) for n in range(32)]


class PackedScene:
    """Packed obstacles.

    rows     of each shape, None where it is none of a table;  keys: those of each kind in their
             order
    data     all rows in doubles and then in floats;  places: where each kind begins in either
    words    where machine code finds them;  block: the same for calls of one sample
    fields   tables of clouds and height fields;  groups: (first, count) of the groups of each, by
             its number
    """

    __slots__ = (
        *("_packed", "block", "data", "extent", "fields", "groups"),
        *("keys", "places", "rows", "shapes", "words"),
    )
    data: bytes
    places: dict[str, tuple[int, int]]
    words: np.ndarray
    block: np.ndarray
    fields: Packed
    groups: Ranges

    def __init__(
        self,
        shapes: tuple[Any, ...],
        rows: list[Row | None],
        keys: dict[str, list[tuple[float, int]]],
    ) -> None:
        self.shapes, self.rows, self.keys = shapes, rows, keys
        self.extent = 0.0
        self._packed: Packed | None = None

    def packed(self, robot: Packed) -> Packed:
        """What kernels take, made when a batch asks for it."""
        if self._packed is None:
            self._packed = Packed.at(self.words, (self.data, robot, self.fields))
        return self._packed


class Packer:
    """Packs obstacles for one robot: `base` is what they are sorted from,
    `largest` bounds the robot's coordinates."""

    def __init__(self, robot: Packed, base: Sequence[float], largest: float) -> None:
        self.robot, self.base, self.largest = robot, base, largest
        self._scenes: dict[int, tuple[Any, PackedScene]] = {}
        self._last: PackedScene | None = None
        self._fields: tuple[Any, Any, Packed, Ranges] | None = None
        # which words are addresses of the scene's own memory
        own = [1, 1, 1, 0] * len(OBSTACLE_KINDS)
        after = [0] * (TABLE_WORDS * len(FIELD_TABLES))
        self._own = np.array([1, 1, 1, 0, *(0 for _ in robot.words), *own, *after], dtype=np.int64)

    def scene(self, obstacles: Any) -> PackedScene:
        """The scene of these obstacles (anything with shapes in world axes),
        kept as long as they live."""
        where = id(obstacles)
        known = self._scenes.get(where)
        if known is not None and known[0]() is obstacles:
            return known[1]
        if obstacles is None:
            scene = self._packed(())
            self._scenes[where] = (_nothing, scene)
            return scene
        shapes = obstacles.shapes if hasattr(obstacles, "shapes") else tuple(obstacles)
        self._last = scene = self._moved(shapes) or self._packed(shapes)
        forget = self._scenes.pop
        self._scenes[where] = (weakref.ref(obstacles, lambda _: forget(where, None)), scene)
        return scene

    def packed(self, obstacles: Any) -> Packed:
        """Their scene as kernels take it."""
        return self.scene(obstacles).packed(self.robot)

    def _packed(self, shapes: tuple[Any, ...]) -> PackedScene:
        """Everything anew."""
        far = 2.0 * self.largest
        rows = [
            Row(s, k, self.base, far) if s.kind in OBSTACLE_KINDS else None
            for k, s in enumerate(shapes)
        ]
        keys: dict[str, list[tuple[float, int]]] = {kind: [] for kind in OBSTACLE_KINDS}
        for row in rows:
            if row is not None:
                keys[row.shape.kind].append(row.key)
        scene = PackedScene(shapes, rows, keys)
        scene.extent = self._extent(scene)
        doubles = [_MARGINS.pack(0.0, _HUGE, *self.base)]
        floats = [_NARROW.pack(self._margin(scene.extent), self.largest, *self.base)]
        starts, at = [], 5  # numbers so far
        for kind in OBSTACLE_KINDS:
            keys[kind].sort()
            starts.append(at)
            for _, k in keys[kind]:
                row = rows[k]
                assert row is not None
                doubles.append(row.doubles)
                floats.append(row.floats)
                at += len(row.doubles) // 8
        wide = b"".join((*doubles, _SPARE))
        scene.data = b"".join((wide, *floats, _SPARE))
        both = zip(OBSTACLE_KINDS, starts, strict=True)
        scene.places = {
            "margins": (0, len(wide)),
            **{kind: (8 * at, len(wide) + 4 * at) for kind, at in both},
        }
        first = _address(scene.data)
        words = [first, first + len(wide), first, 1, *self.robot.words]
        for kind in OBSTACLE_KINDS:
            in_doubles, in_floats = scene.places[kind]
            words += (first + in_doubles, first + in_floats, first, len(keys[kind]))
        scene.fields, scene.groups = self._field_tables(shapes)
        scene.words = np.array((*words, *scene.fields.words), dtype=np.int64)
        scene.block = scene.words.view(np.float64)
        return scene

    def _moved(self, shapes: tuple[Any, ...]) -> PackedScene | None:
        """The last scene with the few shapes that are others now; None where more is another."""
        last = self._last
        if last is None or len(last.shapes) != len(shapes):
            return None
        others = list(compress(range(len(shapes)), map(is_not, last.shapes, shapes)))
        if len(others) > FEW:
            return None
        rows = last.rows.copy()
        scene = PackedScene(shapes, rows, last.keys.copy())
        data, extent = bytearray(last.data), last.extent
        for k in others:
            old = rows[k]
            if old is None or old.shape.kind != shapes[k].kind:
                return None
            new = rows[k] = Row(shapes[k], k, self.base, 2.0 * self.largest)
            _replace(data, scene.keys, last.places[new.shape.kind], old, new)
            extent = max(extent, new.extent) if old.extent < extent else math.inf
        scene.extent = extent if extent < math.inf else self._extent(scene)
        if scene.extent != last.extent:
            margin = self._margin(scene.extent)
            _NARROW.pack_into(data, last.places["margins"][1], margin, self.largest, *self.base)
        scene.data, scene.places = bytes(data), last.places
        scene.fields, scene.groups = last.fields, last.groups
        scene.words = self._own * (_address(scene.data) - _address(last.data))
        scene.words += last.words
        scene.block = scene.words.view(np.float64)
        return scene

    def _margin(self, extent: float) -> float:
        return STEPS * UNIT * (self.largest + extent)

    def _extent(self, scene: PackedScene) -> float:
        """Largest coordinate of the obstacles that count."""
        rows = [row.extent for row in scene.rows if row is not None]
        fields = (
            ()
            if len(rows) == len(scene.rows)
            else (s.extent() for s in scene.shapes if s.kind in FIELDS)
        )
        return max((*rows, *fields), default=0.0)

    def _field_tables(self, shapes: Sequence[Any]) -> tuple[Packed, Ranges]:
        """Tables of clouds and height fields, and which groups are whose;
        kept for those that were asked about last."""
        clouds = [(k, shape) for k, shape in enumerate(shapes) if shape.kind == "cloud"]
        grounds = [(k, shape) for k, shape in enumerate(shapes) if shape.kind == "height_field"]
        made = tuple((k, id(field)) for k, field in (*clouds, *grounds))
        if self._fields is None or self._fields[0] != made:
            (points, of_clouds), (prisms, of_grounds) = cloud_rows(clouds), ground_rows(grounds)
            packed = Packed(FIELD_TABLES, points | prisms)
            self._fields = (made, (clouds, grounds), packed, of_clouds | of_grounds)
        return self._fields[2:]


def _replace(
    data: bytearray, kinds: dict[str, Any], places: tuple[int, int], old: Row, new: Row
) -> None:
    """One row cut out of `data` and put in where it belongs now;
    `kinds` has the keys of each kind in order."""
    kind = new.shape.kind
    keys = kinds[kind] = kinds[kind].copy()
    gone = bisect_left(keys, old.key)
    del keys[gone]
    place = bisect_left(keys, new.key)
    keys.insert(place, new.key)
    for begin, row in zip(places, (new.doubles, new.floats), strict=True):
        size = len(row)
        if gone != place:
            del data[begin + gone * size : begin + (gone + 1) * size]
            data[begin + place * size : begin + place * size] = row
        else:
            data[begin + place * size : begin + (place + 1) * size] = row


def _nothing() -> None:
    """In the place of a reference to obstacles that are None."""


def _address(data: bytes) -> int:
    """Where the bytes are."""
    if _DIRECT:
        return id(data) + _HEADER
    return np.frombuffer(data, dtype=np.uint8).__array_interface__["data"][0]


def from_point(kind: str, columns: Sequence[float], point: Sequence[float]) -> float:
    """A lower bound of how far an obstacle is from a point [m]; negative inside. Plain numbers:
    one row is packed."""
    x, y, z = point[0] - columns[0], point[1] - columns[1], point[2] - columns[2]
    match kind:
        case "sphere":
            return math.sqrt(x * x + y * y + z * z) - columns[3]
        case "capsule" | "tapered_capsule":
            u, v, w = columns[3] - columns[0], columns[4] - columns[1], columns[5] - columns[2]
            t = min(max((x * u + y * v + z * w) / max(u * u + v * v + w * w, 1e-300), 0.0), 1.0)
            return math.hypot(x - t * u, y - t * v, z - t * w) - max(columns[6:])
        case "box":
            a, b, c, d, e, f, g, h, i, half_x, half_y, half_z = columns[3:15]
            along = abs(a * x + d * y + g * z) - half_x
            across = abs(b * x + e * y + h * z) - half_y
            up = abs(c * x + f * y + i * z) - half_z
            return math.hypot(max(along, 0.0), max(across, 0.0), max(up, 0.0))
        case "half_space":
            return max(
                sum(n * p for n, p in zip(columns[:3], point, strict=True)) - columns[3], 0.0
            )
        case "cylinder":
            return math.sqrt(x * x + y * y + z * z) - math.hypot(columns[6], columns[7])
    raise AssertionError(kind)
