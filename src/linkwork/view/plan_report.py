"""Report of a plan: its picture, clearance and torques over time,
on one page that opens without a network."""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import InvalidInput
from linkwork.formats.files import write_atomically
from linkwork.robot import Robot
from linkwork.view.chart import Chart
from linkwork.view.html import table
from linkwork.view.path_samples import along
from linkwork.view.picture import picture
from linkwork.view.report import report_html

if TYPE_CHECKING:
    from linkwork.planning import Plan
    from linkwork.trajectory.minimum_time import TimeLaw

INSTANTS = 401
POSTURES = 5
PIXELS = (1200, 840)


def write_plan_report(plan: Plan, path: str | Path, law: TimeLaw | None = None) -> Path:
    """Write the report of a plan along its fastest motion (`law`; left out, `plan.timed()`),
    whole or not at all."""
    if not getattr(plan, "success", False):
        raise InvalidInput("write_plan_report: expected a plan that has a path")
    write_atomically(path, plan_report_html(plan, plan.timed() if law is None else law))
    return Path(path)


def plan_report_html(plan: Plan, law: TimeLaw) -> str:
    """The page: what was asked and found, picture, clearance among the obstacles,
    then all curves of the motion."""
    # opens the collision room, which other parts of the view do without
    from linkwork.view.clearance import (
        told,
    )

    robot = _facade(plan)
    instants = np.linspace(0.0, float(law.duration), INSTANTS)
    q, v, a = law.at(instants)
    analysis = (
        None
        if robot.model.kinematic_only
        else robot.analyse({"time": instants, "q": q, "v": v, "a": a})
    )
    clearance = told(plan.model, instants, q, plan.obstacles).replace(
        "<h2>Clearance</h2>", "<h3>Clearance</h3>", 1
    )
    torques = "" if analysis is None else _torques(robot, instants, q, v, a)
    return report_html(
        robot, analysis, f"{robot.name}: a planned motion", [_told(plan, law) + clearance + torques]
    )


def _facade(plan: Plan) -> Robot:
    robot = plan.model.robot
    return robot if isinstance(robot, Robot) else Robot(plan.model.subject.model)


def _told(plan: Plan, law: TimeLaw) -> str:
    proof = "not proved free"
    if plan.certified:
        proof = f"proved free, at least {1e3 * plan.clearance:.3g} mm clear"
        clear = plan.clearance_of(law)
        if math.isfinite(clear):
            proof += f"; the motion, whose corners are rounded, at least {1e3 * clear:.3g} mm"
    count = 0 if plan.obstacles is None else len(plan.obstacles)
    header = ("waypoints", "length [rad, m]", "duration [s]", "planned in [ms]", "obstacles")
    row = (
        len(plan.path),
        plan.length,
        float(law.duration),
        1e3 * sum(plan.seconds.values()),
        count,
    )
    return f"<h2>Plan</h2><p>The path is {proof}.</p>{table('plan', header, [row])}{_picture(plan)}"


def _picture(plan: Plan) -> str:
    """Postures along the path among the obstacles, with the way of the last body."""
    robot = _facade(plan)
    way = robot.pose(along(plan.path, 80), robot.bodies[-1])[:, :3, 3]
    *before, last = along(plan.path, POSTURES)
    content = picture(
        robot, last, size=PIXELS, ghosts=np.array(before), obstacles=plan.obstacles, paths=[way]
    )
    image = base64.b64encode(content).decode()
    return (
        '<img class="plan" alt="postures along the path" width="600" '
        f'src="data:image/png;base64,{image}">'
    )


def _torques(robot: Robot, time: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> str:
    """What every joint must give over the motion."""
    tau = robot.inverse_dynamics(q, v, a)
    chart = Chart(
        "torque of every joint", "N m, N", dict(zip(robot.joints, tau.T, strict=True)), time
    )
    return f'<div class="charts">{chart.html()}</div>'
