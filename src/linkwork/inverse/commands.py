"""linkwork ik: configurations that bring a frame to a place."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, Json, RobotName, configuration, last_frame, vector
from linkwork.cli.output import console, print_json, print_table
from linkwork.cli.progress import working
from linkwork.model.rotation import from_rpy


def ik(
    robot: RobotName,
    xyz: Annotated[str, typer.Option(help='Where the frame shall be: "0.4 0.1 500mm".')],
    rpy: Annotated[
        str | None, typer.Option(help='Its roll, pitch, yaw: "180deg 0 0"; left out: the position alone counts.')
    ] = None,
    frame: Annotated[str | None, typer.Option(help="A body, frame or point; left out: the last body.")] = None,
    q: Configuration = None,
    every: Annotated[bool, typer.Option("--all", help="Every posture, where the axes have closed forms.")] = False,
    as_json: Json = False,
) -> None:
    """Inverse kinematics; exit code 1 if the target is not reached.

    Example:  linkwork ik ur5e --xyz "0.4 0.1 0.5" --rpy "180deg 0 0" --frame tool0 --all
    """
    loaded = lw.load(robot)
    tip = last_frame(loaded, frame)
    target = _target(xyz, rpy)
    start = None if q is None else configuration(loaded, q)
    if every:
        with working(f"postures of {loaded.name}"):
            found = loaded.inverse_kinematics_all(target, tip, q0=start)
        facts = {"q": found.q, "residual": found.residual, "kind": list(found.kind), "family": found.family}
        _show(loaded, as_json, facts | {"success": len(found) > 0, "reason": found.reason}, found.q)
        raise typer.Exit(0 if len(found) else 1)
    with working(f"a posture of {loaded.name}"):
        one = loaded.inverse_kinematics(target, tip, q0=start)
    facts = {"q": one.q, "success": bool(one.success), "error": float(one.error), "reason": str(one.reason)}
    _show(loaded, as_json, facts, one.q[None])
    raise typer.Exit(0 if one.success else 1)


def _target(xyz: str, rpy: str | None) -> np.ndarray:
    position = vector(xyz, 3, "--xyz")
    if rpy is None:
        return position
    T = np.eye(4)
    T[:3, :3] = np.array(from_rpy(vector(rpy, 3, "--rpy").tolist()), dtype=float)
    T[:3, 3] = position
    return T


def _show(robot: lw.Robot, as_json: bool, facts: dict[str, Any], postures: np.ndarray) -> None:
    if as_json:
        print_json(facts)
        return
    if len(postures):
        names = [n for n in robot.joints for _ in range(robot.index(n).stop - robot.index(n).start)]
        rows = [(k, *(round(float(x), 6) for x in q)) for k, q in enumerate(postures)]
        title = f"{len(postures)} posture{'s' if len(postures) > 1 else ''} of {robot.name} [rad, m]"
        print_table(title, ("", *names), rows)
    if facts["reason"]:
        console().print(facts["reason"], markup=False)
