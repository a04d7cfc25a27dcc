"""linkwork ik: configurations that bring a frame to a place."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import Configuration, RobotName, configuration, last_frame, vector
from linkwork.cli.progress import working
from linkwork.model.rotation import from_rpy


def ik(
    robot: RobotName,
    xyz: Annotated[str, typer.Option(help='Where the frame shall be: "0.4 0.1 500mm".')],
    rpy: Annotated[
        str | None,
        typer.Option(
            help='Its roll, pitch, yaw: "180deg 0 0"; left out: the position alone counts.'
        ),
    ] = None,
    frame: Annotated[
        str | None, typer.Option(help="A body, frame or point; left out: the last body.")
    ] = None,
    q: Configuration = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every posture, where the axes have closed forms.")
    ] = False,
) -> Answer:
    """Inverse kinematics; exit code 1 if the target is not reached.

    Example:  linkwork ik ur5e --xyz "0.4 0.1 0.5" --rpy "180deg 0 0" --frame tool0 --all
    """
    loaded = lw.load(robot)
    tip = last_frame(loaded, frame)
    target = _target(xyz, rpy)
    start = None if q is None else configuration(loaded, q)
    if every:
        with working(f"postures of {loaded.name}"):
            postures = loaded.inverse_kinematics_all(target, tip, q0=start)
        facts = {
            "q": postures.q,
            "residual": postures.residual,
            "kind": list(postures.kind),
            "family": postures.family,
        }
        return _answer(
            loaded, facts | {"success": len(postures) > 0, "reason": postures.reason}, postures.q
        )
    with working(f"a posture of {loaded.name}"):
        one = loaded.inverse_kinematics(target, tip, q0=start)
    facts = {
        "q": one.q,
        "success": bool(one.success),
        "error": float(one.error),
        "reason": str(one.reason),
    }
    return _answer(loaded, facts, one.q[None])


def _target(xyz: str, rpy: str | None) -> np.ndarray:
    position = vector(xyz, 3, "--xyz")
    if rpy is None:
        return position
    T = np.eye(4)
    T[:3, :3] = np.array(from_rpy(vector(rpy, 3, "--rpy").tolist()), dtype=float)
    T[:3, 3] = position
    return T


def _answer(robot: lw.Robot, facts: dict[str, Any], postures: np.ndarray) -> Answer:
    shown: list[Table | str] = []
    if len(postures):
        names = [n for n in robot.joints for _ in range(robot.index(n).stop - robot.index(n).start)]
        rows = [(k, *(round(float(x), 6) for x in q)) for k, q in enumerate(postures)]
        title = (
            f"{len(postures)} posture{'s' if len(postures) > 1 else ''} of {robot.name} [rad, m]"
        )
        shown.append(Table(title, ("", *names), rows))
    if facts["reason"]:
        shown.append(facts["reason"])
    return Answer(facts, shown, code=0 if facts["success"] else 1)
