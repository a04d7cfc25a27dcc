"""Solids: what is drawn of each body, from its meshes and primitives,
or a skeleton of tubes from its lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.formats.mesh_file import read_mesh
from linkwork.model import Body, Joint, Model, Shape
from linkwork.view import triangles
from linkwork.view.palette import COLORS, Color
from linkwork.view.triangles import Triangles, joined, moved

NEAR = 1e-9
"""Points closer than this [m] are one."""


@dataclass(frozen=True)
class Solid:
    """Triangles in body axes [m] of one colour."""

    vertices: np.ndarray
    faces: np.ndarray
    color: Color


def solids(model: Model, size: float) -> tuple[dict[str, list[Solid]], list[str]]:
    """(body -> its solids, meshes that are missing or cannot be read).

    A body is drawn by its shapes; without any, by tubes along its described lines; where the whole
    robot has neither, or none of a body's meshes is there, by tubes from joint to joint. `size` [m]
    decides how thick tubes are.
    """
    by_body: dict[str, list[Solid]] = {}
    missing: list[str] = []
    plain = not any(body.visuals for body in model.bodies)
    tones = _tones(model)
    for body in model.bodies:
        parts: list[tuple[Triangles, Color]] = []
        for shape in body.visuals:
            try:
                parts += _shape(shape, tones[body.name])
            except (OSError, LinkworkError):
                missing.append(str(shape.mesh))
        if not parts and (plain or body.lines or body.visuals):
            parts = _skeleton(model, body, size)
        by_body[body.name] = _by_color(parts)
    return by_body, missing


def bounds(parts: list[list[Solid]], rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """(2, 3): lowest and highest world coordinates of what is drawn: body k turned by rotation[k],
    at position[k]."""
    corners = [np.asarray(position).reshape(-1, 3)]
    for pieces, R, p in zip(parts, rotation, position, strict=True):
        for piece in pieces:
            ends = np.stack([piece.vertices.min(axis=0), piece.vertices.max(axis=0)])
            corners.append(
                np.array([ends[i, range(3)] for i in product((0, 1), repeat=3)]) @ R.T + p
            )
    every = np.concatenate(corners)
    return np.stack([every.min(axis=0), every.max(axis=0)])


def _tones(model: Model) -> dict[str, Color]:
    """The colour of each body whose shapes have none: two by turns along a chain,
    so that links are told apart.

    Bodies behind fixed joints are one link; one that draws nothing takes no turn.
    """
    carriers = {joint.child: joint for joint in model.joints}
    root: dict[str, str] = {}
    turn: dict[str, int] = {}

    def root_of(name: str) -> str:
        if name not in root:
            joint = carriers.get(name)
            fixed = joint is not None and joint.type == "fixed" and joint.parent is not None
            root[name] = root_of(joint.parent) if fixed else name  # type: ignore[union-attr, arg-type]
        return root[name]

    def turn_of(name: str) -> int:
        if name not in turn:
            joint = carriers.get(name)
            above = -1 if joint is None or joint.parent is None else turn_of(root_of(joint.parent))
            turn[name] = above + (name in drawn)
        return turn[name]

    drawn = {root_of(body.name) for body in model.bodies if body.visuals}
    tones = (COLORS["shape"], COLORS["second shape"])
    return {body.name: tones[turn_of(root_of(body.name)) % 2] for body in model.bodies}


def _shape(shape: Shape, tone: Color) -> list[tuple[Triangles, Color]]:
    """A primitive, or the parts of a mesh: in the description's colour, else the file's own,
    else the body's tone."""
    size = [float(s) for s in shape.size]
    drawn: list[tuple[Triangles, Color | None]]
    if shape.kind == "mesh":
        if shape.mesh is None or not Path(shape.mesh).is_file():
            raise FileNotFoundError(shape.mesh)
        scale = np.array(size, dtype=np.float32)
        drawn = [
            ((vertices * scale, faces), color) for (vertices, faces), color in _mesh(shape.mesh)
        ]
    else:
        make = {
            "box": lambda: triangles.box(np.array(size)),
            "sphere": lambda: triangles.ball(size[0]),
            "cylinder": lambda: triangles.cylinder(size[0], size[1]),
            "capsule": lambda: triangles.capsule(size[0], size[1]),
        }[shape.kind]
        drawn = [(make(), None)]
    R = np.array(shape.placement.rotation, dtype=float)
    p = np.array(shape.placement.position, dtype=float)
    described = None if shape.color is None else _rgb(shape.color)
    return [(moved(part, R, p), described or color or tone) for part, color in drawn]


@lru_cache(maxsize=512)
def _mesh(path: str) -> tuple[tuple[Triangles, Color | None], ...]:
    return tuple(
        (triangles.creased((part.vertices, part.faces)), part.color) for part in read_mesh(path)
    )


def _rgb(color: tuple[float, float, float, float]) -> Color:
    r, g, b = (round(255 * min(1.0, max(0.0, c))) for c in color[:3])
    return r, g, b


def _skeleton(model: Model, body: Body, size: float) -> list[tuple[Triangles, Color]]:
    """Tubes along a body's lines, and a hub at its joint where a tube ends there;
    arms are drawn as arms are built."""
    depth = _depth(model)
    if body.name in depth:
        return _limb(model, body, size, depth[body.name])
    parts: list[tuple[Triangles, Color]] = []
    parts += [(triangles.tube(a, b, 0.014 * size), COLORS["body"]) for a, b in _lines(model, body)]
    for joint in model.joints:
        if joint.child == body.name:
            hub = _hub(joint, float(np.clip(HUB_SHARE * _typical(model), 0.78 * size, size)))
            meets = _ends_at(_lines(model, body), np.zeros(3))
            if joint.parent is not None:
                place = np.array(joint.placement.position, dtype=float)
                meets |= _ends_at(_lines(model, model.body(joint.parent)), place)
            parts += [(hub, COLORS["hub"])] if hub is not None and meets else []
    return parts


HUB_SHARE = 10.0
"""Joints are drawn for a robot at most this many of its typical links long,
so that hubs do not hide short links."""


@lru_cache(maxsize=64)
def _typical(model: Model) -> float:
    """Length [m] of the shorter lines of a robot: a quarter of them is shorter still."""
    lengths = [
        float(np.linalg.norm(b - a)) for body in model.bodies for a, b in _lines(model, body)
    ]
    return float(np.quantile(lengths, 0.25)) if lengths else np.inf


THICK, THIN = 0.042, 0.022
"""Radius of an arm's tubes as part of its size, at the base and at the tip:
about that of industrial arms."""


@lru_cache(maxsize=64)
def _depth(model: Model) -> dict[str, float]:
    """body -> how far out it is on an arm, 0 to 1;
    nothing where the robot is no single chain of hinges and slides."""
    carried = [joint.parent for joint in model.joints if joint.parent is not None]
    single = (
        len(set(carried)) == len(carried)
        and sum(joint.parent is None for joint in model.joints) <= 1
    )
    moving = [joint for joint in model.joints if not joint.kind.is_fixed]
    flat = len({tuple(np.round(joint.axis, 6)) for joint in moving}) == 1 and all(
        np.allclose(joint.placement.rotation, np.eye(3)) for joint in model.joints
    )
    of_arms = all(joint.kind.is_hinge or joint.kind.is_slide for joint in moving)
    if model.elements or not single or flat or len(moving) < 3 or not of_arms:
        return {}
    children = {joint.child for joint in model.joints}
    order = [body.name for body in model.bodies if body.name not in children]
    order += [joint.child for joint in model.joints]
    return {name: k / (len(order) - 1) for k, name in enumerate(order)} if len(order) > 1 else {}


def _limb(model: Model, body: Body, size: float, depth: float) -> list[tuple[Triangles, Color]]:
    """A link of an arm: round tubes with round ends, and the housing of the joint that turns it."""
    radius = size * (THICK + (THIN - THICK) * depth)
    parts = []
    for a, b in _bent(model, body):
        ends = [moved(triangles.ball(radius), np.eye(3), end) for end in (a, b)]
        parts += [(part, COLORS["shape"]) for part in (triangles.tube(a, b, radius), *ends)]
    for joint in model.joints:
        if joint.child == body.name and not joint.kind.is_fixed:
            axis = np.array(joint.axis, dtype=float)
            R, at = triangles.turn_z_to(axis), np.zeros(3)
            wide, long = 1.22 * radius, 2.9 * radius
            if joint.kind.is_slide:  # a shaft that reaches back into its carrier
                stroke = [float(limit.upper - limit.lower) for limit in joint.limits]
                long = stroke[0] if stroke and np.isfinite(stroke[0]) else 0.2 * size
                wide, at = 0.6 * radius, -0.5 * long * axis
            parts.append((moved(triangles.cylinder(wide, long), R, at), COLORS["body"]))
    return parts


def _bent(model: Model, body: Body) -> list[tuple[np.ndarray, np.ndarray]]:
    """A link's lines from its joint, each first along the axis and then across it,
    as links are built."""
    axis = next(
        (np.array(j.axis, dtype=float) for j in model.joints if j.child == body.name),
        np.array([0, 0, 1.0]),
    )
    pieces: list[tuple[np.ndarray, np.ndarray]] = []
    for a, b in _lines(model, body):
        along = (b - a) @ axis * axis
        across = (b - a) - along
        corner = min(np.linalg.norm(along), np.linalg.norm(across)) > 0.02 * np.linalg.norm(b - a)
        pieces += [(a, a + along), (a + along, b)] if corner and not body.lines else [(a, b)]
    return pieces


def _lines(model: Model, body: Body) -> list[tuple[np.ndarray, np.ndarray]]:
    """The described lines of a body, or lines from its origin to the joints it carries;
    none of no length."""
    points = {name: np.array(p, dtype=float) for name, p in body.points}
    lines = [(points[a], points[b]) for a, b in body.lines]
    if not lines:
        carried = [
            np.array(j.placement.position, dtype=float)
            for j in model.joints
            if j.parent == body.name
        ]
        lines = [(np.zeros(3), p) for p in carried]
    return [(a, b) for a, b in lines if np.linalg.norm(b - a) > NEAR]


def _ends_at(lines: list[tuple[np.ndarray, np.ndarray]], place: np.ndarray) -> bool:
    return any(np.linalg.norm(end - place) < NEAR for line in lines for end in line)


def _hub(joint: Joint, size: float) -> Triangles | None:
    """A short cylinder about a turning axis, a block along a sliding one,
    a ball where several axes meet."""
    if joint.kind.is_fixed or (joint.parent is None and len(joint.kind.slides) > 1):
        return None
    R = triangles.turn_z_to(np.array(joint.axis, dtype=float))
    if len(joint.kind.turns) == 1 and len(joint.kind.slides) < 2:
        return moved(triangles.cylinder(0.021 * size, 0.048 * size), R, np.zeros(3))
    if joint.kind.is_slide:
        return moved(triangles.box(np.array([0.028, 0.028, 0.048]) * size), R, np.zeros(3))
    return triangles.ball(0.02 * size)


def _by_color(parts: Iterable[tuple[Triangles, Color]]) -> list[Solid]:
    groups: dict[Color, list[Triangles]] = {}
    for shape, color in parts:
        groups.setdefault(color, []).append(shape)
    return [Solid(*joined(shapes), color) for color, shapes in groups.items()]
