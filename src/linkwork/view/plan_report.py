"""Report of a plan: its picture, clearance and torques over time, on one page that opens without a network."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.robot import Robot
from linkwork.view.html import table
from linkwork.view.path_samples import along
from linkwork.view.pictures import pictures
from linkwork.view.report import report_html

if TYPE_CHECKING:
    from linkwork.planning import Plan
    from linkwork.trajectory.minimum_time import TimeLaw

INSTANTS = 401
POSTURES = 5
_DRAWN = {"sphere", "capsule", "box", "cylinder"}


def write_plan_report(plan: Plan, path: str | Path, law: TimeLaw | None = None) -> Path:
    """Write the report of a plan along its fastest motion (`law`; left out, `plan.timed()`), whole or not at all."""
    if not getattr(plan, "success", False):
        raise InvalidInput("write_plan_report: expected a plan that has a path")
    write_atomically(path, plan_report_html(plan, plan.timed() if law is None else law))
    return Path(path)


def plan_report_html(plan: Plan, law: TimeLaw) -> str:
    """The page: what was asked and found, picture, clearance among the obstacles, then all curves of the motion."""
    from linkwork.view.clearance import told  # opens the collision room, which other parts of the view do without

    robot = _facade(plan)
    instants = np.linspace(0.0, float(law.duration), INSTANTS)
    q, v, a = law.at(instants)
    analysis = None if robot.model.kinematic_only else robot.analyse({"time": instants, "q": q, "v": v, "a": a})
    clearance = told(plan.model, instants, q, plan.obstacles).replace("<h2>Clearance</h2>", "<h3>Clearance</h3>", 1)
    torques = "" if analysis is None else _torques(robot, instants, q, v, a)
    return report_html(robot, analysis, f"{robot.name}: a planned motion", [_told(plan, law) + clearance + torques])


def _facade(plan: Plan) -> Robot:
    robot = plan.model.robot
    return robot if isinstance(robot, Robot) else Robot(plan.model.subject.model)


def _told(plan: Plan, law: TimeLaw) -> str:
    proof = f"proved free, at least {1e3 * plan.clearance:.3g} mm clear" if plan.certified else "not proved free"
    count = 0 if plan.obstacles is None else len(plan.obstacles)
    header = ("waypoints", "length [rad, m]", "duration [s]", "planned in [ms]", "obstacles")
    row = (len(plan.path), plan.length, float(law.duration), 1e3 * sum(plan.seconds.values()), count)
    return f"<h2>Plan</h2><p>The path is {proof}.</p>{table('plan', header, [row])}{_picture(plan)}"


def _picture(plan: Plan) -> str:
    """Postures along the path with the way of the last body."""
    return _image(lambda figure: _draw(figure, plan), (5.5, 5.0), "postures along the path")


def _torques(robot: Robot, time: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> str:
    """What every joint must give over the motion."""
    tau = robot.inverse_dynamics(q, v, a)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for k, name in enumerate(robot.joints):
            axes.plot(time, tau[:, k], label=name)
        axes.set(xlabel="time [s]", ylabel="torque [N m], force [N]")
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)

    shown = _image(draw, (7.0, 3.2), "torque of every joint over time")
    return f"<h3>Torque of every joint</h3>{shown}" if shown else ""


def _image(draw: Any, size: tuple[float, float], words: str) -> str:
    """A picture as HTML; nothing without matplotlib."""
    try:
        png = pictures(draw, ["png"], size)["png"]
    except NotPossible:
        return ""
    image = base64.b64encode(png).decode()
    return f'<img class="plan" alt="{words}" width="{100 * size[0]:.0f}" src="data:image/png;base64,{image}">'


def _draw(figure: Any, plan: Plan) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    from linkwork.view.clearance import FREE, OBSTACLE, TOUCHING, drawn

    robot, axes = _facade(plan), figure.add_subplot(projection="3d")
    tip = robot.bodies[-1]
    way = robot.pose(along(plan.path, 80), tip)[:, :3, 3]
    points = [way]

    def add(shape: Any, T: np.ndarray, color: tuple[int, int, int], alpha: float) -> None:
        if shape.kind in _DRAWN:
            vertices, faces = drawn(shape)
            world = vertices @ T[:3, :3].T + T[:3, 3]
            points.append(world)
            axes.add_collection3d(Poly3DCollection(world[faces], facecolor=np.array(color) / 255.0, alpha=alpha))

    postures = along(plan.path, POSTURES)
    for k, q in enumerate(postures):
        end = k in (0, len(postures) - 1)
        for part, shapes in plan.model.shapes.items():
            T = robot.pose(q, plan.model.carriers[part])
            for shape in shapes:
                add(shape, T, TOUCHING if k == len(postures) - 1 else FREE, 0.3 if end else 0.08)
    robot_points = np.concatenate(points)
    for obstacle in plan.obstacles or ():
        add(obstacle, np.eye(4), OBSTACLE, 0.35)
    axes.plot(*way.T, color="black", linewidth=2)
    low, high = robot_points.min(axis=0), robot_points.max(axis=0)
    middle, half = 0.5 * (high + low), 0.6 * float((high - low).max())
    axes.set(xlim=middle[0] + [-half, half], ylim=middle[1] + [-half, half], zlim=middle[2] + [-half, half])
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", box_aspect=(1, 1, 1))
