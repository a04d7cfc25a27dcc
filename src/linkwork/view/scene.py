"""Scene: a robot in the browser; scripts may draw with it too.

server = viser.ViserServer(host="127.0.0.1")
scene = RobotScene(server, robot)
scene.move(q)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.loops.members import member_names, members
from linkwork.model import Body, Placement, Shape
from linkwork.model.elements import LinearActuator, Spring
from linkwork.robot import Robot

COLORS = {
    "body": (31, 58, 95),
    "actuator": (209, 73, 91),
    "spring": (102, 161, 130),
    "member": (141, 150, 163),
    "force": (237, 174, 73),
    "shape": (176, 190, 204),
}


class RobotScene:
    """The bodies of one robot as nodes of a viser scene, moved by `move(q)`."""

    def __init__(self, server: Any, robot: Robot, root: str = "/robot") -> None:
        self.server, self.robot, self.root = server, robot, root
        self.q = robot.neutral()
        size = reach(robot)
        self.thickness = 0.006 * size
        self.frames = {
            body.name: server.scene.add_frame(
                f"{root}/{body.name}", show_axes=False, axes_length=0.08 * size, axes_radius=0.003 * size
            )
            for body in robot.model.bodies
        }
        self.missing: list[str] = []
        for body in robot.model.bodies:
            self._draw_body(body)
        self.member_names = member_names(robot.subject)
        self.members = self._draw_members() if self.member_names else None
        self.center = server.scene.add_icosphere(f"{root}/center_of_mass", 0.02 * size, COLORS["force"], visible=False)
        self.move(self.q)

    def move(self, q: np.ndarray) -> None:
        """Put every body where q (nq,) has it."""
        self.q = np.asarray(q, dtype=float)
        poses = self.robot.forward_kinematics(self.q)
        for k, name in enumerate(poses.bodies):
            frame = self.frames[name]
            frame.position = poses.position[k]
            frame.wxyz = quaternion(poses.rotation[k])
        if self.members is not None:
            ends = self._member_ends()
            self.members.visible = ends is not None
            if ends is not None:
                self.members.points = ends
        if self.center.visible:
            self.center.position = self.robot.center_of_mass(self.q)

    def show_axes(self, shown: bool) -> None:
        """The axes of every body."""
        for frame in self.frames.values():
            frame.show_axes = shown

    def show_center_of_mass(self, shown: bool) -> None:
        self.center.visible = shown
        self.move(self.q)

    def arrows(self, name: str, starts: np.ndarray, vectors: np.ndarray, scale: float) -> Any:
        """Arrows (n, 3) at points (n, 3), such as forces: `scale` [m/N] makes lengths of them."""
        points = np.stack([starts, starts + scale * vectors], axis=1).astype(np.float32)
        radius = 0.8 * self.thickness
        return self.server.scene.add_arrows(
            f"{self.root}/{name}",
            points,
            COLORS["force"],
            shaft_radius=radius,
            head_radius=2.4 * radius,
            head_length=5 * radius,
        )

    def trail(self, name: str, points: np.ndarray) -> Any:
        """The path of a point (n, 3)."""
        ends = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        return self.server.scene.add_line_segments(
            f"{self.root}/{name}", ends, COLORS["force"], thickness=0.5 * self.thickness
        )

    def _draw_body(self, body: Body) -> None:
        points = dict(body.points)
        lines = [(points[a], points[b]) for a, b in body.lines]
        if not lines and not body.visuals:
            carried = [j.placement.position for j in self.robot.model.joints if j.parent == body.name]
            lines = [((0.0, 0.0, 0.0), p) for p in carried if any(p)]
        place = f"{self.root}/{body.name}"
        if lines:
            ends = np.array(lines, dtype=np.float32)
            self.server.scene.add_line_segments(f"{place}/lines", ends, COLORS["body"], thickness=2 * self.thickness)
            joints = np.unique(ends.reshape(-1, 3), axis=0)
            self.server.scene.add_point_cloud(
                f"{place}/points", joints, COLORS["body"], point_size=3.2 * self.thickness, point_shape="circle"
            )
        for k, shape in enumerate(body.visuals):
            self._draw_shape(f"{place}/shape{k}", shape)

    def _draw_shape(self, name: str, shape: Shape) -> None:
        color = COLORS["shape"] if shape.color is None else tuple(round(255 * c) for c in shape.color[:3])
        at = dict(position=np.array(shape.placement.position, dtype=float), wxyz=_turn(shape.placement))
        scene, size = self.server.scene, [float(s) for s in shape.size]
        if shape.kind == "box":
            scene.add_box(name, color, dimensions=tuple(size), **at)
        elif shape.kind == "sphere":
            scene.add_icosphere(name, size[0], color, **at)
        elif shape.kind in ("cylinder", "capsule"):
            scene.add_cylinder(name, size[0], size[1], color, **at)
        elif shape.mesh is not None and Path(shape.mesh).is_file():
            import trimesh

            mesh: Any = trimesh.load(shape.mesh, force="mesh")
            mesh.apply_scale(size)
            scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=color, **at)
        else:
            self.missing.append(str(shape.mesh))

    def _member_ends(self) -> np.ndarray | None:
        """Both ends of every strut, spring and bar; None where the loops cannot close."""
        try:
            found = members(self.robot.subject, self.q)
        except LinkworkError:
            return None
        return np.array([[found[n].first, found[n].second] for n in self.member_names], dtype=np.float32)

    def _draw_members(self) -> Any:
        kinds = {LinearActuator: "actuator", Spring: "spring"}
        named = {getattr(e, "name", None): kinds.get(type(e), "member") for e in self.robot.model.elements}
        colors = np.array([[COLORS[named[n]]] * 2 for n in self.member_names], dtype=np.uint8)
        ends = np.zeros((len(self.member_names), 2, 3), dtype=np.float32)
        return self.server.scene.add_line_segments(f"{self.root}/members", ends, colors, thickness=2 * self.thickness)


def reach(robot: Robot) -> float:
    """How large the robot is [m]: the sum of its longest branch, at least 0.1."""
    length: dict[str | None, float] = {None: 0.0}
    for joint in robot.model.joints:
        length[joint.child] = length.get(joint.parent, 0.0) + float(np.linalg.norm(joint.placement.position))
    return max(0.1, *length.values())


def quaternion(R: np.ndarray) -> np.ndarray:
    """(w, x, y, z) of a rotation matrix, without a singular case."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return np.array([w, x, y, z])


def _turn(placement: Placement) -> np.ndarray:
    return quaternion(np.array(placement.rotation, dtype=float))
