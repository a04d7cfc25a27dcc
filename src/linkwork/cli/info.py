"""linkwork info: what a robot is."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape
from rich.tree import Tree

import linkwork as lw
from linkwork.cli.arguments import Json, RobotName
from linkwork.cli.output import console, print_json, print_table
from linkwork.errors import LinkworkError


def register(app: typer.Typer) -> None:
    @app.command()
    def info(robot: RobotName, as_json: Json = False) -> None:
        """Show a robot: its tree, coordinates, limits, masses, sources.

        Example:  linkwork info ur5e
        """
        loaded = lw.load(robot)
        if as_json:
            print_json(_facts(loaded))
            return
        console().print(_tree(loaded))
        limits = loaded.limits
        rows = []
        for name in loaded.joints:
            at = loaded.index(name)
            joint = loaded.model.joint(name)
            rows.append((name, joint.type, f"{at.start}", float(limits.lower[at.start]), float(limits.upper[at.start])))
        print_table(f"{loaded.nv} degrees of freedom", ("joint", "type", "q", "lower", "upper"), rows)
        mass = sum(float(body.mass_properties.mass) for body in loaded.model.bodies)
        known = "no mass properties are known" if loaded.model.kinematic_only else f"{mass:.6g} kg"
        console().print(f"{len(loaded.bodies)} bodies, {known}; DH: {_dh(loaded)}")
        if loaded.model.variables:
            print_table("variables", ("name", "value [SI]"), loaded.model.variables)
        for note in loaded.model.notes:
            console().print(f"- {escape(note)}")
        console().print(f"inverse kinematics of {loaded.bodies[-1]}: {_family(loaded)}", markup=False)
        if not loaded.model.kinematic_only:
            loaded.prepare("inverse_dynamics")
            (kernel,) = loaded.kernels.values()
            console().print(f"inverse dynamics: {kernel.operations} operations a sample")


def _tree(robot: lw.Robot) -> Tree:
    carried: dict[str | None, list[Any]] = {}
    for joint in robot.model.joints:
        carried.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in robot.model.joints}
    root = Tree(f"[bold]{escape(robot.name)}[/bold]")
    stack = [(root.add(escape(b.name)), b.name) for b in robot.model.bodies if b.name not in children]
    stack += [
        (root.add(f"{escape(j.child)}  [dim]{escape(j.name)} ({j.type})[/dim]"), j.child) for j in carried.get(None, [])
    ]
    while stack:
        branch, body = stack.pop()
        for j in carried.get(body, []):
            stack.append((branch.add(f"{escape(j.child)}  [dim]{escape(j.name)} ({j.type})[/dim]"), j.child))
    return root


def _dh(robot: lw.Robot) -> str:
    try:
        return f"{len(robot.to_dh())} rows"
    except LinkworkError as error:
        return f"no ({error})"


def _family(robot: lw.Robot) -> str:
    """The first line of what `lw.classify` says about the last body."""
    try:
        said = str(lw.classify(robot, robot.bodies[-1])).splitlines()[0].partition(": ")[2]
        return said.replace("(none; exact)", "(numeric)")
    except LinkworkError as error:
        return f"numeric ({error})"


def _facts(robot: lw.Robot) -> dict[str, Any]:
    limits = robot.limits
    return {
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "bodies": robot.bodies,
        "joints": [{"name": n, "type": robot.model.joint(n).type, "q": robot.index(n).start} for n in robot.joints],
        "lower": limits.lower,
        "upper": limits.upper,
        "mass": sum(float(b.mass_properties.mass) for b in robot.model.bodies),
        "variables": dict(robot.model.variables),
        "notes": robot.model.notes,
    }
