"""Files of obstacles: `.obstacles.yaml`, MoveIt planning scenes, and a URDF of a fixed scene."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.collision.described import shape_of
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.obstacles_yaml import obstacles_of, write_obstacles_yaml
from linkwork.collision.planning_scene import is_planning_scene, scene_obstacles
from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats.files import file_name, read_bounded
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.robot_yaml.document import LARGEST, parse_document
from linkwork.formats.urdf import read_urdf
from linkwork.model import Model
from linkwork.model.placement import HERE, Placement


def load_obstacles(path: str | os.PathLike[str]) -> Obstacles:
    """The obstacles of a file: .obstacles.yaml, a MoveIt planning scene (.yaml),
    or a URDF whose joints are fixed."""
    shown = file_name(path)
    if shown.lower().endswith((".urdf", ".xml")):
        return scene_of(read_urdf(path), shown)
    content = read_bounded(path, LARGEST)
    if not content.strip():
        raise InvalidFile(f"{shown}: is empty, expected obstacles")
    node = parse_document(content, shown)
    if is_planning_scene(node):
        return scene_obstacles(node, shown)
    return obstacles_of(node, shown, MeshFinder(Path(os.path.dirname(os.path.abspath(shown)))))


def save_obstacles(obstacles: Obstacles, path: str | os.PathLike[str]) -> None:
    """Write a .obstacles.yaml, which `load_obstacles` gives back without loss."""
    if not isinstance(obstacles, Obstacles):
        raise InvalidInput(
            f"save_obstacles: obstacles is {type(obstacles).__name__}, expected Obstacles"
        )
    shown = file_name(path)
    if not shown.lower().endswith((".yaml", ".yml")):
        raise InvalidInput(f"save_obstacles: {shown}: expected a name that ends in .obstacles.yaml")
    write_obstacles_yaml(obstacles, path)


def scene_of(model: Model, source: str) -> Obstacles:
    """The collision shapes of a model that cannot move, named by their bodies."""
    moving = [joint.name for joint in model.joints if not joint.kind.is_fixed]
    if moving:
        raise InvalidFile(
            f'{source}: joint "{moving[0]}" moves; obstacles stand still, expected fixed '
            "joints only"
        )
    places = fixed_places(model)
    by_name = {}
    for body in model.bodies:
        shapes = [shape_of(shape, source).moved(places[body.name]) for shape in body.collisions]
        for k, shape in enumerate(shapes):
            by_name[f"{body.name}_{k + 1}" if len(shapes) > 1 else body.name] = shape
    return Obstacles(by_name)


def fixed_places(model: Model) -> dict[str, Placement]:
    """T_world_body of each body of a model whose joints are all fixed."""
    above = {joint.child: joint for joint in model.joints}
    places: dict[str, Placement] = {}
    for body in model.bodies:
        chain, name = [], body.name
        while name is not None and name not in places and name in above:
            chain.append(name)
            name = above[name].parent  # type: ignore[assignment]
        T = places.get(name, HERE)
        for link in reversed(chain):
            T = T @ above[link].placement
            places[link] = T
        places.setdefault(body.name, T)
    return places
