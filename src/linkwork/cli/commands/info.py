"""linkwork info: what a robot is."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw
from linkwork.cli.answer import Answer, Branch, Table
from linkwork.cli.arguments import RobotName
from linkwork.cli.progress import Tick, working
from linkwork.errors import LinkworkError
from linkwork.quantities import kernel_of, quantity

KINEMATIC = ("pose", "jacobian")
DYNAMIC = ("gravity_torque", "inverse_dynamics", "mass_matrix", "forward_dynamics")
"""Quantities whose kernels are shown."""


def info(robot: RobotName) -> Answer:
    """Show a robot: its tree, coordinates, limits, masses, DH table, closed forms, kernels,
    sources.

    Example:  linkwork info ur5e
    """
    loaded = lw.load(robot)
    with working(f"compiling for {loaded.name}") as tick:
        facts = _facts(loaded, tick)
    shown: list[Table | Branch | str] = [
        _tree(loaded),
        _joints(facts),
        _bodies(facts),
        _dh_table(facts["dh"]),
        *_loops(facts),
    ]
    shown.append(_solver(facts["inverse_kinematics"]))
    shown.append(
        Table("kernels", ("quantity", "operations a sample"), list(facts["kernels"].items()))
    )
    if facts["variables"]:
        shown.append(Table("variables", ("name", "value [SI]"), list(facts["variables"].items())))
    return Answer(facts, [*shown, *(f"- {note}" for note in facts["notes"])])


def _facts(robot: lw.Robot, tick: Tick) -> dict[str, Any]:
    limits, model = robot.limits, robot.model
    joints = []
    for name in robot.joints:
        joint, at = model.joint(name), robot.index(name)
        first = sum(model.joint(n).nv for n in robot.joints[: robot.joints.index(name)])
        bounds = {"lower": limits.lower[at], "upper": limits.upper[at]}
        moved = slice(first, first + joint.nv)
        most = {"velocity": limits.velocity[moved], "effort": limits.effort[moved]}
        most["acceleration"] = limits.acceleration[moved]
        place = {
            "name": name,
            "type": joint.type,
            "parent": joint.parent,
            "child": joint.child,
            "q": at.start,
        }
        joints.append(
            place | {k: np.asarray(x, dtype=float).tolist() for k, x in (bounds | most).items()}
        )
    known = not model.kinematic_only
    bodies: list[dict[str, Any]] = []
    for body in model.bodies:
        mass = float(body.mass_properties.mass) if known else None
        com = [float(x) for x in body.mass_properties.com] if known else None
        bodies.append({"name": body.name, "mass": mass, "com": com})
    return {
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "bodies": bodies,
        "mass": sum(b["mass"] for b in bodies) if known else None,
        "joints": joints,
        "dh": _dh(robot),
        "loop_elements": [
            {"kind": type(e).__name__, "name": e.name}
            for e in model.elements
            if getattr(e, "name", "")
        ],
        "actuators": list(robot.actuators),
        "motions": list(robot.motions),
        "inverse_kinematics": _closed_form(robot),
        "kernels": _kernels(robot, tick),
        "variables": {name: float(value) for name, value in model.variables},
        "notes": model.notes,
    }


def _dh(robot: lw.Robot) -> dict[str, Any]:
    """Rows a, alpha, d, theta of the standard convention, or the reason why there are none."""
    try:
        table = robot.to_dh()
    except LinkworkError as error:
        return {"rows": None, "reason": str(error).removeprefix("to_dh: ")}
    rows = [
        {key: row[key] for key in ("joint", "a", "alpha", "d", "theta", "offset")} for row in table
    ]
    return {"rows": rows, "reason": ""}


def _closed_form(robot: lw.Robot) -> dict[str, Any]:
    frame = robot.bodies[-1]
    try:
        classification = lw.classify(robot, frame)
    except LinkworkError as error:
        return {
            "frame": frame,
            "family": "none",
            "title": str(error),
            "exact": False,
            "parameters": {},
        }
    facts = {
        "family": classification.family,
        "title": classification.title,
        "exact": classification.exact and classification.family != "none",
    }
    return {"frame": frame, **facts, "parameters": dict(classification.parameters)}


def _kernels(robot: lw.Robot, tick: Tick) -> dict[str, int]:
    names = KINEMATIC if robot.model.kinematic_only else KINEMATIC + DYNAMIC
    counted = {}
    for k, name in enumerate(names):
        tick(k, len(names))
        frame = robot.bodies[-1] if quantity(name).frame else None
        counted[name] = kernel_of(robot.subject, name, frame).operations
    return counted


def _joints(facts: dict[str, Any]) -> Table:
    header = ("joint", "type", "q", "lower", "upper", "velocity", "effort")
    rows = [
        (
            j["name"],
            j["type"],
            j["q"],
            *(_range(j[key]) for key in ("lower", "upper", "velocity", "effort")),
        )
        for j in facts["joints"]
    ]
    return Table(
        f"{facts['nv']} degrees of freedom, nq = {facts['nq']} [rad, m, s, N m, N]", header, rows
    )


def _range(values: list[float]) -> str:
    """What is known of a limit; nothing where there is none."""
    known = [f"{x:.6g}" for x in values if np.isfinite(x)]
    return " ".join(known)


def _bodies(facts: dict[str, Any]) -> Table | str:
    if facts["mass"] is None:
        return f"{len(facts['bodies'])} bodies, no mass properties are known"
    rows = [(b["name"], b["mass"], *b["com"]) for b in facts["bodies"]]
    title = f"{len(rows)} bodies, {facts['mass']:.6g} kg"
    return Table(title, ("body", "mass [kg]", "com x [m]", "com y [m]", "com z [m]"), rows)


def _dh_table(dh: dict[str, Any]) -> Table | str:
    if dh["rows"] is None:
        return f"no DH table: {dh['reason']}"
    rows = [
        (r["joint"], *(float(r[k]) for k in ("a", "alpha", "d", "theta", "offset")))
        for r in dh["rows"]
    ]
    return Table(
        "DH table, standard [m, rad]", ("joint", "a", "alpha", "d", "theta", "offset"), rows
    )


def _loops(facts: dict[str, Any]) -> list[Table | str]:
    shown: list[Table | str] = []
    if facts["loop_elements"]:
        shown.append(
            Table(
                "loop elements",
                ("kind", "name"),
                [tuple(e.values()) for e in facts["loop_elements"]],
            )
        )
        shown.append(f"commands: {', '.join(facts['actuators'])}")
    if facts["motions"]:
        shown.append(f"motions: {', '.join(facts['motions'])}")
    return shown


def _solver(solver: dict[str, Any]) -> str:
    how = (
        "numeric"
        if solver["family"] == "none"
        else f"{solver['family']}{'' if solver['exact'] else ', nominal'}"
    )
    return f"inverse kinematics of {solver['frame']}: {solver['title']} ({how})"


def _tree(robot: lw.Robot) -> Branch:
    """Bodies below the bodies that carry them, with the joint between."""
    model = robot.model
    above = {joint.child: joint for joint in model.joints}
    carried: dict[str | None, list[Branch]] = {None: [], **{body.name: [] for body in model.bodies}}
    for body in model.bodies:
        joint = above.get(body.name)
        note = "" if joint is None else f"{joint.name} ({joint.type})"
        carried[None if joint is None else joint.parent].append(
            Branch(body.name, note, carried[body.name])
        )
    return Branch(robot.name, branches=carried[None])
