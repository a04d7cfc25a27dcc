"""MoveIt planning scenes as YAML: the collision objects of their world, as obstacles.

Read are primitives (box, cylinder, sphere, cone refused by name), planes, meshes given by vertices
and triangles, and the pose of each object. What a scene says about the robot
(state, allowed pairs, transforms) is not an obstacle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from linkwork.collision.obstacles import Obstacle, Obstacles
from linkwork.collision.shapes import Box, Cylinder, HalfSpace, Mesh, Sphere
from linkwork.errors import InvalidFile, LinkworkError
from linkwork.formats.robot_yaml.document import Node
from linkwork.formats.robot_yaml.reading import Place, Reader
from linkwork.formats.robot_yaml.schema import Number
from linkwork.formats.robot_yaml.units import Units
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import from_quaternion

_PRIMITIVES: dict[str, tuple[int, Callable[..., Obstacle]]] = {
    "box": (3, lambda size, pose, name: Box(size, pose, name)),
    "sphere": (1, lambda size, pose, name: Sphere(pose.position, size[0], name)),
    # height, radius
    "cylinder": (
        2,
        lambda size, pose, name: Cylinder(size[1], size[0], pose, name),
    ),
}
_NUMBERED = {"1": "box", "2": "sphere", "3": "cylinder", "4": "cone"}
"""Types as numbers of the message shape_msgs/SolidPrimitive."""


def is_planning_scene(node: Node) -> bool:
    """Whether a YAML document looks like one."""
    return node.kind == "map" and "world" in node.value and "obstacles" not in node.value


def scene_obstacles(node: Node, source: str) -> Obstacles:
    """The obstacles of a parsed document."""
    scene = _Scene(Reader(source, Units()))
    world = scene.map(node, "")
    objects = scene.map(scene.needed(node, world, "world", ""), "world").get("collision_objects")
    shapes: list[Obstacle] = []
    for k, item in enumerate(scene.items(objects, "world.collision_objects")):
        shapes += scene.object(item, f"world.collision_objects[{k}]")
    try:
        return Obstacles(shapes)
    except LinkworkError as error:
        raise InvalidFile(f"{source}: {error}") from None


class _Scene:
    """Reads nodes of one file."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def object(self, node: Node, path: str) -> list[Obstacle]:
        """The shapes of one collision object, named by its id, numbered where several."""
        entry = self.map(node, path)
        name = self.needed(node, entry, "id", path)
        if name.kind != "text" or not name.value:
            self.refuse(name, f"{path}.id", "expected a name")
        base = self.pose(entry["pose"], f"{path}.pose") if "pose" in entry else HERE
        shapes: list[Obstacle] = []
        for kind, poses, read in (
            ("primitives", "primitive_poses", self.primitive),
            ("planes", "plane_poses", self.plane),
            ("meshes", "mesh_poses", self.mesh),
        ):
            listed = self.items(entry.get(kind), f"{path}.{kind}")
            placed = self.items(entry.get(poses), f"{path}.{poses}")
            if placed and len(placed) != len(listed):
                self.refuse(
                    entry[poses],
                    f"{path}.{poses}",
                    f"{len(placed)} poses came for {len(listed)} {kind}",
                )
            for k, item in enumerate(listed):
                T = base @ self.pose(placed[k], f"{path}.{poses}[{k}]") if placed else base
                shapes.append(self.made(item, f"{path}.{kind}[{k}]", read, T))
        several = len(shapes) > 1
        return [
            _renamed(shape, f"{name.value}_{k + 1}" if several else name.value)
            for k, shape in enumerate(shapes)
        ]

    def made(
        self, node: Node, path: str, read: Callable[[Node, str, Placement], Obstacle], T: Placement
    ) -> Obstacle:
        """One shape; what it refuses itself gets its place."""
        try:
            return read(node, path, T)
        except InvalidFile:
            raise
        except LinkworkError as error:
            self.refuse(node, path, str(error))

    def primitive(self, node: Node, path: str, T: Placement) -> Obstacle:
        entry = self.map(node, path)
        word = self.needed(node, entry, "type", path)
        kind = _NUMBERED.get(str(word.value), str(word.value).lower())
        if kind not in _PRIMITIVES:
            known = ", ".join(_PRIMITIVES)
            self.refuse(
                word,
                f"{path}.type",
                f'a primitive of type "{str(word.value)[:60]}" is not read, only {known}',
            )
        count, build = _PRIMITIVES[kind]
        size = self.numbers(
            self.needed(node, entry, "dimensions", path), f"{path}.dimensions", count
        )
        return build(size, T, None)

    def plane(self, node: Node, path: str, T: Placement) -> Obstacle:
        """A plane a x + b y + c z + d = 0, solid on its lower side."""
        entry = self.map(node, path)
        a, b, c, d = self.numbers(self.needed(node, entry, "coef", path), f"{path}.coef", 4)
        size = float(np.linalg.norm((a, b, c)))
        return HalfSpace((a, b, c), -d / size if size else 0.0).moved(T)

    def mesh(self, node: Node, path: str, T: Placement) -> Obstacle:
        entry = self.map(node, path)
        vertices = self.items(self.needed(node, entry, "vertices", path), f"{path}.vertices")
        triangles = self.items(self.needed(node, entry, "triangles", path), f"{path}.triangles")
        points = [self.point(item, f"{path}.vertices[{k}]") for k, item in enumerate(vertices)]
        faces = [self.face(item, f"{path}.triangles[{k}]") for k, item in enumerate(triangles)]
        return Mesh(
            np.array(points).reshape(-1, 3), np.array(faces).reshape(-1, 3).astype(np.int64), T
        )

    def face(self, node: Node, path: str) -> tuple[float, ...]:
        """Three indices, as a list or under "vertex_indices"."""
        if node.kind == "map":
            node = self.needed(node, node.value, "vertex_indices", path)
        indices = self.numbers(node, path, 3)
        if any(abs(index) > 1e9 or index != int(index) for index in indices):
            self.refuse(node, path, f"holds {indices}, expected three indices")
        return indices

    def pose(self, node: Node, path: str) -> Placement:
        """A position and a quaternion (x, y, z, w), each as a list or as a mapping."""
        entry = self.map(node, path)
        p = (
            self.point(entry["position"], f"{path}.position")
            if "position" in entry
            else (0.0, 0.0, 0.0)
        )
        if "orientation" not in entry:
            return Placement(position=p)
        below = f"{path}.orientation"
        quaternion = self.point(entry["orientation"], below, "xyzw")
        if not abs(sum(x * x for x in quaternion) - 1.0) < 1e-3:
            self.refuse(
                entry["orientation"], below, f"{quaternion} is no unit quaternion (x, y, z, w)"
            )
        return Placement(from_quaternion(quaternion), p)

    def point(self, node: Node, path: str, keys: str = "xyz") -> Any:
        """Numbers as a list or as a mapping with one key each."""
        if node.kind == "map":
            values = (self.needed(node, node.value, key, path) for key in keys)
            return tuple(self.number(value, f"{path}.{key}") for key, value in zip(keys, values))
        return self.numbers(node, path, len(keys))

    def numbers(self, node: Node, path: str, count: int) -> tuple[float, ...]:
        if node.kind != "list" or len(node.value) != count:
            came = f"{len(node.value)} values" if node.kind == "list" else f"a {node.kind}"
            self.refuse(node, path, f"expected a list of {count} numbers, came {came}")
        return tuple(self.number(item, f"{path}[{k}]") for k, item in enumerate(node.value))

    def number(self, node: Node, path: str) -> float:
        value = Number("number").read(node, path, self.reader)
        if not isinstance(value, float):
            self.refuse(node, path, "expected a plain number")
        return value

    def items(self, node: Node | None, path: str) -> list[Node]:
        if node is None or (node.kind == "text" and not node.value):
            return []
        if node.kind != "list":
            self.refuse(node, path, f"expected a list, came a {node.kind}")
        return node.value

    def map(self, node: Node, path: str) -> dict[str, Node]:
        if node.kind != "map":
            self.refuse(node, path, f"expected a mapping, came a {node.kind}")
        return node.value

    def needed(self, node: Node, entry: dict[str, Node], key: str, path: str) -> Node:
        if key not in entry:
            self.refuse(node, path, f'has no "{key}"')
        return entry[key]

    def refuse(self, node: Node, path: str, sentence: str) -> NoReturn:
        self.reader.refuse(Place(node.line, node.column, path), sentence)


def _renamed(shape: Any, name: str) -> Any:
    return replace(shape, name=name)
