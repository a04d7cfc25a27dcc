"""The viewer's part about collisions, without a browser."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Obstacles, save_obstacles
from linkwork.collision.shapes import Capsule, Convex, Cylinder, Mesh, Sphere, TaperedCapsule
from linkwork.view import triangles
from linkwork.view.shape_triangles import drawn, pose_of
from tests.collision.test_model import BALL_ARM

pytest.importorskip("viser")


def test_shapes_are_drawn_where_they_are():
    for shape in (
        Sphere((1, 2, 3), 0.5),
        Capsule((0, 0, 0), (0, 0, 2), 0.5),
        Box((1, 1, 1), (1, 2, 3)),
        Cylinder(0.5, 1.0),
        TaperedCapsule((0, 0, 1), (0, 0, 2), 0.3, 0.3),
        Convex(
            np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0], [1, 1, 1]]) - 0.5, (1, 2, 3)
        ),
        Mesh(*triangles.box(np.array([1.0, 2.0, 3.0])), (1, 2, 3)),
    ):
        vertices, faces = drawn(shape)
        center = pose_of(shape)[:3, 3]
        np.testing.assert_allclose(
            (vertices.min(axis=0) + vertices.max(axis=0)) / 2, center, atol=0.05
        )
        assert faces.max() < len(vertices)
        # against the clock seen from outside: the volume is positive
        a, b, c = (vertices[faces[:, k]] - center for k in range(3))
        assert np.einsum("fi,fi->", a, np.cross(b, c)) > 0.0


def test_a_dragged_obstacle_is_answered_at_once(tmp_path):
    from linkwork.view.viewer import Viewer

    (tmp_path / "arm.urdf").write_text(BALL_ARM)
    save_obstacles(
        Obstacles({"block": Box((0.1, 0.1, 0.1), (1.5, 0, 0.6))}), tmp_path / "cell.obstacles.yaml"
    )
    robot = lw.load(tmp_path / "arm.urdf")
    with Viewer(robot, port=0) as viewer:
        stand = viewer.stands[0]
        panel = stand.panels["collision"]
        panel.file.value = str(tmp_path / "cell.obstacles.yaml")
        panel.shown.value = True
        panel.restart()
        stand.show(robot.q(shoulder=1.0))
        assert "apart" in panel.status.content
        panel.around.drag("block", np.array([0.6, 0.0, 0.5]), np.array([1.0, 0, 0, 0]))
        expected = panel.model.clearance(robot.q(shoulder=1.0), panel.obstacles)
        assert f"{1e3 * abs(float(expected.distance)):.1f} mm" in panel.status.content
        panel.file.value = "no/such.yaml"
        panel.restart()
        assert "no such file" in panel.status.content
        panel.remove()
