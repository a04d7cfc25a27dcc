"""Tables: a collision model and obstacles as the rows that staged kernels read (tile.py).

Two levels: a bounding sphere a body, then its shapes. Obstacles are sorted by their distance from
the base, so that a loop over them ends where no further one can be reached. Floats get a margin
that covers everything they round:

    u = 2^-24; B bounds coordinates of the robot's points, O those of obstacles and their sizes [m]
    a placed point is wrong by at most u (4 p + 9 c) <= 13 u B: pose, point and three multiply-adds
    round its difference from an obstacle by 14 u B + 2 u O; turned into the axes of a box, less its
    half size, by sqrt 3 (14 u B + 2 u O) + 5 sqrt 3 u (B + O) + 2 u O in each of three coordinates
    distances of segments and cylinders add at most 16 u (B + O) for the rounded parameter of the
    nearest point

together less than 128 u (B + O) (packing.py), also where digits cancel
(tests/collision/test_float_margins.py). Poses themselves are computed in doubles. A lane with a
point beyond B is decided in doubles whatever its distances are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.collision.kinematics import GUARD, has_quaternions
from linkwork.collision.live import Follows, LivePart
from linkwork.collision.packing import OUTWARD, Packer
from linkwork.collision.tile import ROBOT_KINDS, TileLayout
from linkwork.engine.keys import key
from linkwork.engine.staged import Packed, StagedKernel, StagedSignature
from linkwork.engine.stages import Stages, Table
from linkwork.model.tree import Tree
from linkwork.subject import Subject

ROOM = 16  # shapes are counted in such portions, so that few more compile nothing


class RobotTables:
    """The rows of a robot's shapes and pairs, in axes of the nodes that carry them.

    bodies   names of the parts (bodies, grasped objects) that have shapes here, in the order of
             `shapes`
    moving   names of the parts that can move, also those whose shapes coal compares
    """

    def __init__(
        self,
        subject: Subject,
        shapes: Mapping[str, Sequence[Any]],
        pairs: Iterable[tuple[str, str]],
        carriers: Mapping[str, str] | None = None,
        follows: Mapping[str, Follows] | None = None,
    ) -> None:
        self.subject = subject
        # shapes in axes of the nodes that carry them
        tree: Tree = subject.tree
        carried_by = {
            name: tree.bodies[name if carriers is None else carriers[name]] for name in shapes
        }
        placed = {
            name: [s.moved(carried_by[name][1]) for s in several if s.kind in ROBOT_KINDS]
            for name, several in shapes.items()
        }
        self.moving = tuple(name for name in shapes if shapes[name] and carried_by[name][0] != 0)
        self.bodies = tuple(name for name, several in placed.items() if several)
        self.node_of = {name: carried_by[name][0] for name in self.bodies}
        self.nodes = tuple(sorted(set(self.node_of.values()))) or (0,)
        kinds = [k for k in ROBOT_KINDS if any(s.kind == k for b in self.bodies for s in placed[b])]
        self.base: list[float] = _base_of(tree)
        self.rows: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.shape_balls: dict[str, list[tuple[Any, float]]] = {}
        # rows of shapes, bodies and pairs
        ranges = self._shape_rows(placed, kinds)
        self._body_rows(placed, kinds, ranges)
        several = list(pairs)
        self.asked_pairs = tuple((a, b) for a, b in several if carried_by[a][0] != carried_by[b][0])
        self.pairs = tuple((a, b) for a, b in several if self._asked(a, b))
        self._pair_rows(kinds, ranges)
        # room for all of them, in steps, so that equal machines share code
        room = tuple((k, -(-len(self.rows[f"robot_{k}"][0]) // ROOM) * ROOM) for k in kinds)
        parts = self._live_parts(shapes, carriers or {}, follows or {}) if subject.live else ()
        self.layout = TileLayout(
            room, -(-max(1, len(self.bodies)) // ROOM) * ROOM, self.nodes, subject.live, parts
        )
        self.sweeps: dict[Any, Packed] = {}  # sweeps.py
        of_robot = [table for table in self.layout.tables if table.name in self.rows]
        self._robot = Packed(of_robot, self.rows)
        self.kernels: dict[str, Any] = {}

    def kernel(
        self,
        recipe: Callable[[Subject, TileLayout, Stages], None],
        name: str,
        outputs: Sequence[tuple[str, int]],
        operations: int,
        inputs: Sequence[tuple[str, int]] = (),
        tables: Sequence[Table] = (),
        **options: Any,
    ) -> StagedKernel:
        """The kernel that `recipe` describes, one for all models with this robot and these kinds of
        shapes.

        inputs, tables   besides the configuration and the rows of robot and obstacles; options: of
                         `StagedSignature`
        """
        if name not in self.kernels:
            subject, layout = self.subject, self.layout
            signature = StagedSignature(
                name,
                layout.inputs(subject, *inputs),
                (*layout.tables, *tables),
                tuple(outputs),
                operations,
                guard=GUARD if has_quaternions(subject) else "",
                **options,
            )
            made = key(recipe.__module__, name, subject.fingerprint, layout)
            make = lambda: StagedKernel(signature, lambda k: recipe(subject, layout, k), made)
            self.kernels[name] = subject.once((RobotTables.kernel, made), make)
        return self.kernels[name]

    def _live_parts(
        self, shapes: Mapping, carriers: Mapping, follows: Mapping
    ) -> tuple[LivePart, ...]:
        """The shapes of each part in axes of its body, in the order of the rows."""
        parts = []
        for part in self.bodies:
            known = [shape for shape in shapes[part] if shape.kind in ROBOT_KINDS]
            numbers = tuple(tuple(shape.numbers()) for shape in known)
            kinds = tuple(shape.kind for shape in known)
            parts.append(LivePart(carriers.get(part, part), kinds, numbers, follows.get(part)))
        return tuple(parts)

    def _asked(self, a: str, b: str) -> bool:
        """Whether both have shapes here and can move against each other."""
        return a in self.node_of and b in self.node_of and self.node_of[a] != self.node_of[b]

    def _shape_rows(self, placed: dict, kinds: list[str]) -> dict[tuple[str, str], tuple[int, int]]:
        ranges = {}
        for kind in kinds:
            numbers: list[np.ndarray] = []
            whole = []
            for index, body in enumerate(self.bodies):
                of_kind = [s for s in placed[body] if s.kind == kind]
                ranges[body, kind] = (len(numbers), len(of_kind))
                self.shape_balls.setdefault(kind, []).extend(shape.ball() for shape in of_kind)
                for shape in of_kind:
                    whole.append((len(numbers), self.nodes.index(self.node_of[body]), index))
                    numbers.append(shape.columns())
            self.rows[f"robot_{kind}"] = (np.array(numbers), np.array(whole))
        return ranges

    def _body_rows(self, placed: dict, kinds: list[str], ranges: dict) -> None:
        bounds = [bounding_ball([s.ball() for s in placed[body]]) for body in self.bodies]
        self.balls = dict(zip(self.bodies, bounds, strict=True))
        numbers = [(*center, radius, self.node_of[b]) for b, (center, radius) in self.balls.items()]
        whole = [
            (
                k,
                self.nodes.index(self.node_of[body]),
                *[n for kind in kinds for n in ranges[body, kind]],
            )
            for k, body in enumerate(self.bodies)
        ]
        self.rows["bodies"] = (
            np.array(numbers).reshape(-1, 5),
            np.array(whole).reshape(-1, 2 + 2 * len(kinds)),
        )
        moves = [k for k, body in enumerate(self.bodies) if self.node_of[body] != 0]
        radii = self.rows["bodies"][0][:, 3:4]
        self.rows["movable"] = (
            np.c_[radii[moves], np.array(moves).reshape(-1, 1)],
            self.rows["bodies"][1][moves],
        )

    def _pair_rows(self, kinds: list[str], ranges: dict) -> None:
        numbers, whole = [], []
        for a, b in self.pairs:
            i, j = self.bodies.index(a), self.bodies.index(b)
            radii = self.balls[a][1], self.balls[b][1]
            numbers.append((sum(radii), radii[1], i, j))
            both = [n for body in (a, b) for kind in kinds for n in ranges[body, kind]]
            whole.append((i, j, *both))
        self.rows["pairs"] = (
            np.array(numbers).reshape(-1, 4),
            np.array(whole).reshape(-1, 2 + 4 * len(kinds)),
        )

    @cached_property
    def largest(self) -> float:
        """B: within limits no bounding centre is further from the base on any axis, twice over."""
        tree, reach = self.subject.tree, 0.0
        limits = {j.name: j.limits for j in self.subject.model.joints}
        for body, (center, radius) in self.balls.items():
            length = float(np.linalg.norm(center)) + radius
            for i in tree.paths[self.node_of[body]]:
                node = tree.nodes[i]
                length += float(np.linalg.norm(np.array(node.placement.position, dtype=float)))
                if node.row.is_slide or node.row.has_pitch:
                    length += _stroke(limits.get(node.joint))
                elif node.row.is_free:
                    length += 5.0
            reach = max(reach, length)
        return 2.0 * reach + float(np.abs(self.base).max())

    def names(self, obstacles: Any) -> tuple[str, ...]:
        """Names of the obstacles in the order that the kernels count them."""
        return () if obstacles is None else obstacles.names

    def obstacle_rows(self, obstacles: Any) -> list[tuple[str, str, int, int]]:
        """(name, kind, first row, count of rows) of each obstacle,
        in the order in which they were given.

        Rows are those of the table of its kind, of clouds and height fields their groups; others
        have none.
        """
        scene = self.packer.scene(obstacles)
        places = {
            k: (at, 1) for keys in scene.keys.values() for at, (_, k) in enumerate(keys)
        } | scene.groups
        return [
            (str(shape.name), shape.kind, *places.get(k, (0, 0)))
            for k, shape in enumerate(scene.shapes)
        ]

    def pack(self, obstacles: Any) -> Packed:
        """The tables for these obstacles (anything with shapes in world axes),
        kept as long as they live."""
        return self.packer.packed(obstacles)

    @cached_property
    def packer(self) -> Packer:
        """Packs obstacles beside the rows of this robot."""
        return Packer(self._robot, self.base, self.largest)


def bounding_ball(balls: Sequence[tuple[Any, float]]) -> tuple[np.ndarray, float]:
    """A ball around balls, nearly the smallest: steps to the furthest (Badoiu, Clarkson)."""
    centers = np.array([c for c, _ in balls], dtype=float)
    radii = np.array([r for _, r in balls], dtype=float)
    middle = 0.5 * ((centers - radii[:, None]).min(axis=0) + (centers + radii[:, None]).max(axis=0))
    best, smallest = middle, np.inf
    for k in range(1, 80):
        ways = centers - middle
        lengths = np.linalg.norm(ways, axis=1)
        furthest = int(np.argmax(lengths + radii))
        reach = lengths[furthest] + radii[furthest]
        if reach < smallest:
            best, smallest = middle, float(reach)
        middle = middle + ways[furthest] / max(lengths[furthest], 1e-300) * (reach / (k + 1) * 0.5)
    return best, smallest * (1.0 + OUTWARD) + OUTWARD


def _base_of(tree: Tree) -> list[float]:
    """Where the robot begins: the mean of its first joints."""
    first = [i for i in tree.outward if tree.parent(i) == 0]
    places = [np.array(tree.nodes[i].placement.position, dtype=float) for i in first]
    return np.mean(places, axis=0).tolist() if places else [0.0, 0.0, 0.0]


def _stroke(limits: Any) -> float:
    """How far a sliding joint goes; 5 m where nobody says."""
    several = limits if isinstance(limits, (tuple, list)) else (limits,)
    ends = [abs(float(getattr(one, key, np.inf))) for one in several for key in ("lower", "upper")]
    return max(ends) if ends and np.isfinite(ends).all() else 5.0
