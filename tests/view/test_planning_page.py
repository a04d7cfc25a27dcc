"""Pages of planning and avoidance: what a drag computes,
without a browser (in one: test_viewer.py)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Obstacles, Sphere, save_obstacles
from linkwork.errors import InvalidInput
from linkwork.planning import plan as planned
from linkwork.view.path_samples import along
from linkwork.view.postures import quaternions
from tests.planning.test_roadmap import WALL, point
from tests.view.shaped import shaped_ur5e

pytest.importorskip("viser")
START = np.array([-0.8, -1.2, 1.6, -0.4, 0.5, 0.0])
GOAL = np.array([1.5, -1.2, 1.6, -0.4, 0.5, 0.0])
SEVEN = np.array([0.2, 0.7, 0.1, -1.3, 0.3, 0.9, 0.4])


def drag_goal(page, robot, q) -> None:
    T = robot.pose(q, page.stand.tip)
    page.drag("goal", T[:3, 3], quaternions(T[:3, :3]))


def test_a_dragged_goal_start_or_obstacle_is_planned_around(tmp_path):
    from linkwork.view.viewer import Viewer

    robot = shaped_ur5e()
    cell = tmp_path / "cell.obstacles.yaml"
    save_obstacles(Obstacles({"table": Box((1.2, 1.2, 0.1), (0, 0, -0.3))}), cell)
    with Viewer(robot, port=0) as viewer:
        stand = viewer.stands[0]
        page = stand.panels["planning"].plan
        stand.show(START)
        page.file.value, page.shown.value = str(cell), True
        page.restart()
        assert set(page.gizmos) == {"start", "goal"} and set(page.obstacles.handles) == {"table"}
        for share in (0.5, 1.0):  # a drag comes in steps
            drag_goal(page, robot, START + share * (GOAL - START))
        answer = page.answer
        assert (
            answer.certified
            and "proved free" in page.status.content
            and "fastest motion" in page.status.content
        )
        np.testing.assert_allclose(
            robot.pose(answer.path[-1], stand.tip), robot.pose(GOAL, stand.tip), atol=1e-6
        )
        np.testing.assert_array_equal(answer.path[0], START)
        np.testing.assert_allclose(page.ghosts.q[[0, -1]], answer.path[[0, -1]], atol=1e-9)
        # a ball in the middle of the straight way bends the path, and the path is proved around it
        page.add_ball()
        part, (shape, *_) = list(page.model.shapes.items())[-1]
        middle = robot.pose(along(answer.path, 3)[1], part) @ [*shape.ball()[0], 1.0]
        (ball,) = set(page.obstacles.handles) - {"table"}
        page.obstacles.drag(ball, middle[:3], np.array([1.0, 0.0, 0.0, 0.0]))
        bent = page.answer
        assert bent.certified and bent.length > answer.length + 1e-3
        assert not page.model.collides(along(bent.path, 200), page.obstacles.obstacles).any()
        page.play_it()
        assert stand.playback is not None and viewer.playing.value
        viewer.playing.value = False
        # what cannot be is said: a goal out of reach, a goal inside the ball,
        # a file that is not there
        page.drag("goal", np.array([5.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
        assert "goal not reached" in page.status.content
        end = robot.pose(page.goal, part) @ [*shape.ball()[0], 1.0]
        page.obstacles.drag(ball, end[:3], np.array([1.0, 0.0, 0.0, 0.0]))
        assert page.status.content.startswith("goal in collision") and not len(page.ghosts.q)
        page.file.value = "no/such.yaml"
        page.restart()
        assert "no such file" in page.status.content
        page.shown.value = False
        page.restart()
        assert not page.gizmos and page.status.content == ""


def test_a_graph_is_coloured_by_cost_and_shows_branches():
    from linkwork.view.viewer import Viewer

    robot = lw.load("arm-2")
    with Viewer(robot, port=0) as viewer:
        page = viewer.stands[0].panels["planning"].graph
        page.resolution.value, page.voxel.value = 5.0, 200.0
        page.restart()
        graph = page.graph
        assert f"{len(graph.vertices)} vertices" in page.status.content
        np.testing.assert_array_equal(
            page.costs, graph.vertex_costs(viewer.stands[0].scene.q, page.cost.value)
        )
        counts = np.bincount(graph.vertices.voxel)
        several = int(np.flatnonzero(np.isin(graph.vertices.voxel, np.flatnonzero(counts > 1)))[0])
        page.clicked(several)
        assert len(page.ghosts.q) == counts[graph.vertices.voxel[several]] > 1
        assert f"{len(page.ghosts.q)} branches" in page.status.content
        page.voxel.value = 0.0
        page.restart()
        assert "voxel_size" in page.status.content
        page.remove()


def test_the_ring_is_red_where_the_elbow_must_not_be():
    from linkwork.avoidance import Elbow
    from linkwork.view.elbow_page import SEGMENTS
    from linkwork.view.viewer import Viewer

    robot = lw.load("redundant-7")
    with Viewer(robot, port=0) as viewer:
        stand = viewer.stands[0]
        stand.show(SEVEN)
        page = stand.panels["avoidance"]
        page.makes_way.value, page.shown.value = False, True
        page.restart()
        page.add_ball()
        pose, elbow = robot.pose(SEVEN, stand.tip), page.elbow
        at = elbow.points(pose, float(elbow.arm_angle(SEVEN)))[1] + [0.05, 0.05, 0.02]
        (ball,) = page.obstacles.handles
        page.obstacles.drag(ball, at, np.array([1.0, 0.0, 0.0, 0.0]))
        radius = page.obstacles.obstacles[ball].radius
        arcs = Elbow(robot, stand.tip, elbow.reference).forbidden(
            pose, [Sphere(at, radius)], page.volume
        )
        red = (page.colors == page.colors.max(axis=0)[0]).any(axis=1)
        assert red.mean() == pytest.approx(
            (arcs[:, 1] - arcs[:, 0]).sum() / (2 * np.pi), abs=2.0 / SEGMENTS
        )
        np.testing.assert_array_equal(stand.scene.q, SEVEN)
        page.makes_way.value = True
        page.follow()
        assert elbow.clearance(
            pose, float(elbow.arm_angle(stand.scene.q)), [Sphere(at, radius)], page.volume
        )[0] == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(robot.pose(stand.scene.q, stand.tip), pose, atol=1e-10)
        assert "avoidance" not in panels_of("ur5e")


def panels_of(name):
    from linkwork.view.viewer import Viewer

    with Viewer(lw.load(name), port=0) as viewer:
        return set(viewer.stands[0].panels)


def test_the_command_writes_a_report_and_opens_the_page(tmp_path):
    from linkwork.planning.commands import plan

    save_obstacles(
        Obstacles({"ball": Sphere((0.3, 0.3, 0.0), 0.04)}), tmp_path / "cell.obstacles.yaml"
    )
    report, robot = tmp_path / "plan.html", Path(__file__).parents[1] / "cli" / "swing.robot.yaml"
    answer = plan(
        str(robot),
        start="-0.5 0",
        to=["1.6 0.2"],
        obstacles=tmp_path / "cell.obstacles.yaml",
        report=report,
        view=True,
        port=0,
        seconds=0.0,
    )
    page = report.read_text()
    assert answer.code == 0 and answer.facts["certified"] and "proved free" in page
    # the path with its ghosts, the worst instant, and the robot where no 3-D is drawn;
    # clearance and torques are charts
    assert 'class="clearance"' in page and page.count("data:image/png;base64") == 3
    assert "postures along the path" in page and "torque of every joint" in page
    assert answer.facts["address"].startswith("http://127.0.0.1:")
    with urlopen(answer.facts["address"]) as shown:
        assert shown.status == 200
    answer.then()
    with pytest.raises(InvalidInput, match="a plan that has a path"):
        lw.view.write_plan_report(None, report)


def test_the_report_tells_the_clearance_of_the_motion_that_it_shows(monkeypatch):
    """Not that of another rounding, and none of a law along a path that is not the plan's."""
    from linkwork.view import plan_report

    monkeypatch.setattr(plan_report, "_picture", lambda _: "")
    bent = np.array([[-0.54, -1.0], [-0.54, 0.54], [1.0, 0.54]])
    around = replace(planned(point(), bent[0], bent[-1], WALL), path=bent)
    limits = {
        "acceleration_limits": np.ones(2),
        "velocity_limits": np.ones(2),
        "torque_limits": np.full(2, 1e3),
    }
    sharp, foreign = around.timed(0.1, **limits), replace(around, certified=False).timed(**limits)
    clear = around.motion_clearance(0.1)
    assert clear < around.motion_clearance() - 1e-3
    assert (
        f"the motion, whose corners are rounded, at least {1e3 * clear:.3g} mm"
        in plan_report._told(around, sharp)
    )
    assert "whose corners" not in plan_report._told(around, foreign)
