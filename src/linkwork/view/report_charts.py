"""The curves of a report: what is drawn over time, under which heading and in which unit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.loads.analyse import Analysis
from linkwork.robot import Robot
from linkwork.studies.actuators import duties
from linkwork.view.chart import Chart
from linkwork.view.power import power_balance


def chart_groups(robot: Robot, analysis: Analysis) -> list[tuple[str, list[Chart]]]:
    """The charts, under their headings; what a robot does not have (springs, say) is left out."""
    columns, loads = analysis.columns, analysis.loads
    wrenches = {body: loads.joint_wrench(body) for body in loads.bodies}
    norms = {
        b: (np.linalg.norm(w[:, :3], axis=1), np.linalg.norm(w[:, 3:], axis=1))
        for b, w in wrenches.items()
    }
    kinetic, potential = robot.energy(analysis.q, analysis.v)
    balance = power_balance(robot, analysis)
    powers = {"actuators": balance.actuators, "springs": balance.springs, "bodies": balance.bodies}
    kinds = {duty.name: duty.kind for duty in duties(robot, [analysis])}
    efforts = {name: columns[f"actuator.{name}"] for name in loads.actuators}
    linear = {name: x for name, x in efforts.items() if kinds.get(name, "linear") == "linear"}
    rotary = {name: x for name, x in efforts.items() if name not in linear}
    bodies = {
        f"{b}.{axis}": columns[f"position.{b}.{axis}"] for b in _tips(robot) for axis in "xyz"
    }
    groups = [
        ("Actuators", [Chart("forces of linear actuators", "N", linear), Chart("torques of motors", "N m", rotary)]),
        ("Positions", [
            Chart("joint coordinates", "rad, m", _named(columns, "q.")),
            Chart("positions of the last bodies, world axes", "m", bodies),
        ]),
        ("Joint loads", [
            Chart("force of each joint", "N", {b: f for b, (f, _) in norms.items()}),
            Chart("moment of each joint", "N m", {b: n for b, (_, n) in norms.items()}),
            Chart("force of the ground, world axes", "N", {a: columns[f"force.base.{a}"] for a in "xyz"}),
            Chart("tension of springs and dampers", "N", _named(columns, "spring.")),
        ]),
        ("Energy and power", [
            Chart("energies", "J", {"kinetic": kinetic, "potential, from "
                                                        "its start": potential - potential[0]}),
            Chart("powers", "W", powers),
            Chart("power that is left over", "W", {"actuators + springs "
                                                   "- bodies": balance.difference}),
        ]),
    ]  # fmt: skip
    return [(heading, [c for c in members if c.series]) for heading, members in groups]


def _tips(robot: Robot) -> list[str]:
    """Bodies that carry no other."""
    parents = {joint.parent for joint in robot.model.joints}
    return [name for name in robot.bodies if name not in parents]


def _named(columns: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): x for name, x in columns.items() if name.startswith(prefix)}
