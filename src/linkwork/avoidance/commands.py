"""linkwork avoid: the arm angles at which an elbow keeps clear of obstacles."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.avoidance.arcs import joined, nearest_free
from linkwork.avoidance.elbow import Elbow
from linkwork.avoidance.volume import SafetyVolume
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import (
    Configuration,
    RobotName,
    configuration,
    last_frame,
    value,
    vector,
)
from linkwork.cli.progress import working


def avoid(
    robot: RobotName,
    scene: Annotated[
        Path, typer.Option(help=".obstacles.yaml, a MoveIt scene or a URDF: what is avoided.")
    ],
    q: Configuration = None,
    frame: Annotated[
        str | None, typer.Option(help="The tool, which stays; left out: the last body.")
    ] = None,
    maximum: Annotated[
        str, typer.Option(help="Radius that is kept at the elbow: 150mm.")
    ] = "150mm",
    minimum: Annotated[
        str, typer.Option(help="Radius that is kept at shoulder and wrist: 50mm.")
    ] = "0",
    reference: Annotated[
        str | None,
        typer.Option(
            help='The elbow\'s direction at arm angle 0: "0 0 1"; left out: against gravity.'
        ),
    ] = None,
) -> Answer:
    """How the elbow of a seven-axis arm makes way while the tool stays;
    exit code 1 where no arm angle is free.

    Example:  linkwork avoid iiwa14 --scene person.obstacles.yaml --q "0 0.8 0 -1.4 0 0.9 0"
              --maximum 150mm
    """
    loaded = lw.load(robot)
    at, tool = configuration(loaded, q), last_frame(loaded, frame)
    against = -np.asarray(loaded.model.gravity, dtype=float)
    up = against if np.any(against) else np.array([0.0, 0.0, 1.0])
    volume = SafetyVolume(value(minimum, "--minimum"), value(maximum, "--maximum"))
    obstacles = lw.collision.load_obstacles(scene)
    with working(f"elbow of {loaded.name}"):
        elbow = Elbow(
            loaded, tool, up if reference is None else vector(reference, 3, "--reference")
        )
        here = float(elbow.arm_angle(at))
        pose = loaded.pose(at, tool)
        arcs, limited = elbow.forbidden(pose, obstacles, volume), elbow.beyond_limits(pose, at)
        before = _least(elbow, pose, here, obstacles, volume)
        both = np.concatenate([arcs, limited])
        wanted = nearest_free(joined(both[:, 0], both[:, 1] - both[:, 0]), target=here, keep=here)
    blocked = math.isnan(wanted)
    facts: dict[str, Any] = {
        "robot": loaded.name,
        "arm_angle": here,
        "clearance": before,
        "forbidden": arcs,
    }
    facts["beyond_limits"] = limited
    facts |= {"free": not blocked, "nearest_free": None if blocked else wanted}
    forbid = {"obstacles": arcs, "joint limits": limited}
    rows = [
        (f"{math.degrees(a):.2f}", f"{math.degrees(b):.2f}", by)
        for by, own in forbid.items()
        for a, b in own
    ]
    shown: list[Any] = [f"{loaded.name}: elbow at {_degrees(here)} deg, {_room(before)}"]
    shown.append(Table("forbidden arm angles [deg]", ("from", "to", "by"), rows))
    if blocked:
        return Answer(
            facts,
            [*shown, "no arm angle within the joint limits is free: only moving the tool helps"],
            code=1,
        )
    row = elbow.along_branch(pose, at, wanted)
    facts |= {"q": row, "clearance_then": _least(elbow, pose, wanted, obstacles, volume)}
    there = (
        f"the nearest free arm angle is {_degrees(wanted)} deg, {_room(facts['clearance_then'])}"
    )
    joints = Table("joints there [rad]", tuple(loaded.joints), [[f"{x:.4f}" for x in row]])
    return Answer(facts, [*shown, there, joints])


def _least(
    elbow: Elbow, pose: np.ndarray, angle: float, obstacles: Any, volume: SafetyVolume
) -> float:
    return float(elbow.clearance(pose, angle, obstacles, volume).min(initial=math.inf))


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle) + 0.0:.2f}".replace("-0.00", "0.00")


def _room(clearance: float) -> str:
    if math.isinf(clearance):
        return "nothing beside it"
    return f"{abs(1e3 * clearance):.1f} mm {'outside' if clearance >= 0.0 else 'inside'} the volume"
