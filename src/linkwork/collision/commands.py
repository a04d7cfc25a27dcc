"""linkwork collide, pairs, fit: does it touch, what can touch at all,
and simple shapes around meshes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.arguments import choice
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import Configuration, RobotName, configuration, value
from linkwork.cli.motions import motion_of
from linkwork.cli.progress import working
from linkwork.collision.described import described_shape
from linkwork.collision.model import WAYS, CollisionModel
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.sampled_pairs import pairs as sampled
from linkwork.errors import InvalidInput, NotPossible

Shapes = Annotated[str, typer.Option(help=f"Of the robot: {', '.join(WAYS)}.")]
Tolerance = Annotated[str, typer.Option(help="How far spheres may stick out: 20mm.")]
Visuals = Annotated[
    bool, typer.Option(help="Take visual shapes where a body has no collision shapes.")
]
Srdf = Annotated[Path | None, typer.Option(help="Disabled pairs; left out: found by sampling.")]


def collide(
    robot: RobotName,
    obstacles: Annotated[
        Path | None,
        typer.Option(help=".obstacles.yaml, a MoveIt scene or a URDF; left out: the robot alone."),
    ] = None,
    q: Configuration = None,
    motion: Annotated[
        str | None, typer.Option(help="A named motion, or a CSV file (time, q.JOINT, ...).")
    ] = None,
    steps: Annotated[int, typer.Option(help="Instants of the motion.")] = 501,
    shapes: Shapes = "described",
    tolerance: Tolerance = "20mm",
    padding: Annotated[str, typer.Option(help="By which every shape is grown: 10mm.")] = "0",
    srdf: Srdf = None,
    visuals: Visuals = False,
    report: Annotated[bool, typer.Option("--report", help="Show what the shapes are.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="A page about the motion: curve and picture of the worst.")
    ] = None,
) -> Answer:
    """Whether a configuration or a motion touches obstacles or the robot itself;
    exit code 1 if it does.

    Example:  linkwork collide arm.urdf --obstacles cell.obstacles.yaml --q "elbow=90deg"
    """
    loaded = lw.load(robot)
    around = None if obstacles is None else lw.collision.load_obstacles(obstacles)
    if q is not None and motion is not None:
        raise InvalidInput("collide: --q and --motion are both given, expected one of them")
    if html is not None and motion is None:
        raise InvalidInput(
            "collide: --html is given without --motion, expected a motion to tell about"
        )
    # what is wrong about the question is said before anything is computed
    here = configuration(loaded, q) if motion is None else None
    moving = None if motion is None else _samples(loaded, motion, steps)
    with working(f"shapes of {loaded.name}"):
        model = _model(loaded, shapes, tolerance, padding, srdf, visuals)
    if here is not None:
        facts = _at(model, here, around)
    if moving is not None:
        name, time, q_at = moving
        facts = {"motion": name, **_over(model, time, q_at, around)}
        if html is not None:
            from linkwork.view.clearance import write_clearance

            write_clearance(html, model, time, q_at, around)
    facts = {"robot": loaded.name, **facts}
    shown = [str(model.report), *_told(facts)] if report else _told(facts)
    if report:
        facts["shapes"] = _shapes(model)
    return Answer(
        facts, shown, None if html is None else [html], code=1 if facts["collides"] else 0
    )


def pairs(
    robot: RobotName,
    samples: Annotated[int, typer.Option(help="Random configurations.")] = 10_000,
    seed: Annotated[int, typer.Option(help="That draws them.")] = 0,
    shapes: Shapes = "described",
    tolerance: Tolerance = "20mm",
    visuals: Visuals = False,
    out: Annotated[Path | None, typer.Option(help="An SRDF file for the disabled pairs.")] = None,
) -> Answer:
    """Which pairs of bodies can touch, and why the others need no look.

    Example:  linkwork pairs arm.urdf --out arm.srdf
    """
    loaded = lw.load(robot)
    with working(f"pairs of {loaded.name}"):
        model = _model(loaded, shapes, tolerance, "0", None, visuals, pairs=[])
        listed = sampled(model, samples, seed)
    if out is not None:
        listed.to_srdf(out)
    rows = [
        {"first": p.first, "second": p.second, "reason": p.reason, "distance": p.distance}
        for p in listed
    ]
    cells = [
        (p.first, p.second, p.reason, "" if p.distance is None else f"{1e3 * p.distance:.1f}")
        for p in listed
    ]
    title = f"{loaded.name}: {len(listed.checked)} of {len(listed)} pairs are checked"
    table = Table(title, ("first", "second", "reason", "closest [mm]"), cells)
    return Answer({"robot": loaded.name, "pairs": rows}, [table], [] if out is None else [out])


def fit(
    robot: RobotName,
    spheres: Annotated[bool, typer.Option("--spheres", help="Spheres, the usual choice.")] = False,
    capsules: Annotated[
        bool, typer.Option("--capsules", help="One capsule a described shape.")
    ] = False,
    tolerance: Tolerance = "20mm",
    visuals: Visuals = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A robot with these collision shapes: .urdf, .xml or .robot.yaml."),
    ] = None,
) -> Answer:
    """Spheres or capsules around the collision shapes of a robot, the cover proved.

    Example:  linkwork fit arm.urdf --spheres --tolerance 20mm --out arm_spheres.urdf
    """
    if spheres and capsules:
        raise InvalidInput("fit: --spheres and --capsules are both given, expected one of them")
    loaded = lw.load(robot)
    with working(f"shapes around {loaded.name}"):
        model = _model(
            loaded, "capsules" if capsules else "spheres", tolerance, "0", None, visuals, pairs=[]
        )
    if out is not None:
        lw.save(_with_collisions(loaded, model), out)
    facts = {"robot": loaded.name, "bodies": _shapes(model)}
    return Answer(facts, [str(model.report)], [] if out is None else [out])


def _shapes(model: CollisionModel) -> list[dict[str, Any]]:
    """What the shapes of each body are, for machines."""
    return [
        {
            "body": row.body,
            "shapes": len(row.shapes),
            "largest_excess": row.largest_excess,
            "covered": row.covered,
        }
        for row in model.report
    ]


def _with_collisions(robot: lw.Robot, model: CollisionModel) -> lw.Robot:
    """The robot with the shapes of a collision model as the collision shapes of its description."""
    if robot.subject.parametric is not None and robot.subject.live:
        raise NotPossible("fit: the robot has live variables, which its shapes would not follow")
    bodies = tuple(
        replace(
            body,
            collisions=tuple(described_shape(shape) for shape in model.shapes.get(body.name, ())),
        )
        for body in robot.model.bodies
    )
    return lw.Robot(replace(robot.model, bodies=bodies))


def _model(
    robot: lw.Robot,
    shapes: str,
    tolerance: str,
    padding: str,
    srdf: Path | None,
    visuals: bool,
    pairs: Any = "auto",
) -> CollisionModel:
    choice(shapes, WAYS, "--shapes")
    return lw.collision.model(
        robot,
        shapes,
        tolerance=value(tolerance, "--tolerance"),
        pairs=pairs if srdf is None else srdf,
        padding=value(padding, "--padding"),
        visuals=visuals,
    )


def _at(model: CollisionModel, q: np.ndarray, around: Obstacles | None) -> dict[str, Any]:
    """One configuration: whether it touches, the nearest pair, and every contact."""
    with working("distances"):
        nearest = model.clearance(q, around)
        contacts = (
            [str(contact) for contact in model.contacts(q, around)]
            if nearest.distance <= 0.0
            else []
        )
    facts = {
        "q": q,
        "collides": bool(nearest.distance <= 0.0),
        **_pair(nearest, float(nearest.distance)),
    }
    return {**facts, "contacts": contacts}


def _samples(robot: lw.Robot, motion: str, steps: int) -> tuple[str, np.ndarray, np.ndarray]:
    """(name, time (n,), q (n, nq)) of a named motion or of a file."""
    if steps < 2:
        raise InvalidInput(f"collide: --steps is {steps}, expected at least 2")
    name, named_or_read = motion_of(robot, motion, "collide")
    if not isinstance(named_or_read, str):
        return name, named_or_read["time"], named_or_read["q"]
    chosen = robot.motions[named_or_read]
    time = np.linspace(0.0, chosen.duration, steps)
    return name, time, chosen.sample(time)[0]


def _over(
    model: CollisionModel, time: np.ndarray, q: np.ndarray, around: Obstacles | None
) -> dict[str, Any]:
    """A motion: the least clearance over its instants, when it is and between what."""
    with working("distances"):
        distances = model.clearance(q, around).distance
        worst = int(np.argmin(distances))
        nearest = model.clearance(q[worst], around)
    least = float(nearest.distance)
    facts = {"instants": len(time), "time": float(time[worst]), "q": q[worst]}
    facts |= {"collides": least <= 0.0, **_pair(nearest, least)}
    return {**facts, "share": float((distances <= 0.0).mean())}


def _pair(nearest: Any, distance: float) -> dict[str, Any]:
    """The nearest pair, for people and machines; nothing where there is nothing to touch."""
    if not np.isfinite(distance):
        return {"distance": None, "body": None, "other": None}
    points = {"point": nearest.point, "other_point": nearest.other_point}
    return {"distance": distance, "body": nearest.body, "other": nearest.other, **points}


def _told(facts: dict[str, Any]) -> list[str]:
    """A verdict in a sentence, then where."""
    name = facts["robot"]
    when = "" if "motion" not in facts else f" at {facts['time']:.4g} s of {facts['motion']}"
    if facts["distance"] is None:
        return [f"{name}: there is nothing it could touch"]
    between = f"{facts['body']} and {facts['other']}"
    apart = 1e3 * facts["distance"]
    if facts["collides"]:
        told = [f"{name} collides: {between} overlap by {-apart:.1f} mm{when}"]
    else:
        told = [f"{name} is free: {between} are nearest, {apart:.1f} mm apart{when}"]
    if facts.get("share"):
        told.append(f"it touches in {100.0 * facts['share']:.1f} % of {facts['instants']} instants")
    return told + [f"  {contact}" for contact in facts.get("contacts", ())]
