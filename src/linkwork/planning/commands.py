"""linkwork plan, graph: a motion around obstacles, and the map of all branches of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.arguments import choice
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import RobotName, configuration, last_frame, value, vector
from linkwork.cli.progress import working
from linkwork.collision.model import WAYS
from linkwork.errors import InvalidInput
from linkwork.formats.files import write_atomically
from linkwork.formats.tables import csv_text
from linkwork.planning.goals import PoseGoal
from linkwork.planning.kinematic_graph import KinematicGraph
from linkwork.planning.planner import METHODS
from linkwork.planning.planner import plan as planned
from linkwork.planning.sampling import moving_joints


def plan(
    robot: RobotName,
    start: Annotated[
        str, typer.Option("--from", help='Where it begins, as in --q of `fk`: "0 -1 1 0 0 0".')
    ],
    to: Annotated[
        list[str] | None,
        typer.Option("--to", help="Where it ends, as in --q of `fk`; several times: any of them."),
    ] = None,
    pose: Annotated[
        str | None,
        typer.Option(help='Where a frame ends: "x y z" or "x y z roll pitch yaw", world axes.'),
    ] = None,
    frame: Annotated[
        str | None, typer.Option(help="The frame of --pose; left out: the last body.")
    ] = None,
    obstacles: Annotated[
        Path | None,
        typer.Option(help=".obstacles.yaml, a MoveIt scene or a URDF; left out: the robot alone."),
    ] = None,
    shapes: Annotated[str, typer.Option(help=f"Of the robot: {', '.join(WAYS)}.")] = "described",
    tolerance: Annotated[str, typer.Option(help="How far spheres may stick out: 20mm.")] = "20mm",
    padding: Annotated[str, typer.Option(help="By which every shape is grown: 10mm.")] = "0",
    srdf: Annotated[
        Path | None, typer.Option(help="Disabled pairs; left out: found by sampling.")
    ] = None,
    visuals: Annotated[
        bool, typer.Option(help="Take visual shapes where a body has no collision shapes.")
    ] = False,
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}.")] = "rrt_connect",
    seed: Annotated[int, typer.Option(help="Another seed, another path.")] = 0,
    time_limit: Annotated[float, typer.Option(help="Of the search [s].")] = 1.0,
    timed: Annotated[
        bool, typer.Option("--time", help="The fastest motion along it, within the limits.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            help="A page (.html) with picture, clearance and torque over the fastest motion."
        ),
    ] = None,
    view: Annotated[
        bool,
        typer.Option("--view", help="Show path, obstacles and motion in the browser; Ctrl-C ends."),
    ] = False,
    port: Annotated[int, typer.Option(help="Of --view; 0 takes a free one.")] = 8080,
    seconds: Annotated[
        float | None, typer.Option(help="End --view after this long; left out: until Ctrl-C.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A CSV file: waypoints, or with --time 501 instants of time, q, v, a."),
    ] = None,
) -> Answer:
    """A path around obstacles, shortened and proved free over its whole length;
    exit code 1 if there is none.

    Example:  linkwork plan arm.urdf --obstacles cell.obstacles.yaml --from "0 -1 1 0 0 0" --to "1.5
              -1 1 0 0 0" --time
    """
    loaded = lw.load(robot)
    choice(shapes, WAYS, "--shapes")
    around = None if obstacles is None else lw.collision.load_obstacles(obstacles)
    if (to is None) == (pose is None):
        raise InvalidInput("plan: give either --to or --pose")
    goal: Any = (
        _pose_goal(loaded, pose, frame)
        if pose is not None
        else [configuration(loaded, q) for q in to or []]
    )
    with working(f"shapes of {loaded.name}"):
        size, more = value(tolerance, "--tolerance"), value(padding, "--padding")
        model = lw.collision.model(
            loaded, shapes, size, "auto" if srdf is None else srdf, more, visuals
        )
    with working("planning"):
        answer = planned(
            model,
            configuration(loaded, start),
            goal,
            around,
            method,
            seed=seed,
            time_limit=time_limit,
        )
    facts: dict[str, Any] = {
        "robot": loaded.name,
        "success": answer.success,
        "reason": answer.reason,
    }
    if not answer.success:
        return Answer(facts, [f"{loaded.name}: {answer.reason}"], [], code=1)
    facts |= {"path": answer.path, "length": answer.length, "certified": answer.certified}
    facts |= {
        "clearance": answer.clearance,
        "iterations": answer.iterations,
        "seconds": dict(answer.seconds),
    }
    shown: list[Any] = [_told(loaded.name, answer), _waypoints(loaded, answer.path)]
    columns = {f"q.{name}": answer.path[:, k] for k, name in enumerate(loaded.joints)}
    law: Any = None
    if timed or report is not None or view:
        with working("timing"):
            law = answer.timed()
        facts["duration"] = law.duration
        facts["motion_clearance"] = answer.motion_clearance()
        room = (
            f", at least {1e3 * facts['motion_clearance']:.2g} mm clear" if answer.certified else ""
        )
        shown.append(
            "the fastest motion within the limits, corners rounded, takes "
            f"{law.duration:.4g} s{room}"
        )
    if timed:
        instants = np.linspace(0.0, float(law.duration), 501)
        parts = zip(("q", "v", "a"), law.at(instants), strict=True)
        columns = {"time": instants} | {
            f"{letter}.{name}": rows[:, k]
            for letter, rows in parts
            for k, name in enumerate(loaded.joints)
        }
    if out is not None:
        write_atomically(out, csv_text(columns))
    if report is not None:
        from linkwork.view.plan_report import write_plan_report

        with working("report"):
            write_plan_report(answer, report, law)
    wrote = [file for file in (out, report) if file is not None]
    if not view:
        return Answer(facts, shown, wrote)
    viewer = _opened(loaded, answer, law, obstacles, port)
    facts["address"] = viewer.address

    def wait() -> None:
        with viewer:
            viewer.wait(seconds)

    return Answer(facts, [*shown, f"open {viewer.address} (Ctrl-C ends)"], wrote, then=wait)


def graph(
    robot: RobotName,
    point: Annotated[
        str | None, typer.Option(help="The frame that is placed; left out: the last body.")
    ] = None,
    resolution: Annotated[
        str,
        typer.Option(
            help='Of every joint of the grid: 5deg; where some slide, one a joint: "5deg '
            '5deg 20mm".'
        ),
    ] = "5deg",
    voxel: Annotated[str, typer.Option(help="Side of a voxel: 0.05, 50mm.")] = "50mm",
    joints: Annotated[
        list[str] | None, typer.Option(help="Of the grid; left out: those that move the point.")
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            help='Of every joint of the grid: "-180deg 180deg"; left out: those of the description.'
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="A configuration, as in --q of `fk`.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help='A position of the point: "0.4 0.1 0.3".')
    ] = None,
    cost: Annotated[str, typer.Option(help="task, joint or manipulability.")] = "task",
    obstacles: Annotated[
        Path | None,
        typer.Option(
            help=".obstacles.yaml: nodes that touch are left out, steps of a way are proved."
        ),
    ] = None,
) -> Answer:
    """Every branch of a positioning task and how branches hang together;
    with --from and --to the cheapest way.

    Example:  linkwork graph planar-4r --point tip --resolution 30deg --voxel 0.1 --limits "-90deg
              90deg"
    """
    loaded = lw.load(robot)
    frame = last_frame(loaded, point)
    moving = moving_joints(loaded.subject, frame, joints or None)
    steps = resolution.replace(",", " ").split()
    with working(f"graph of {loaded.name}"):
        built = KinematicGraph.build(
            loaded,
            frame,
            value(resolution, "--resolution")
            if len(steps) == 1
            else vector(resolution, len(moving), "--resolution"),
            value(voxel, "--voxel"),
            None if limits is None else np.tile(vector(limits, 2, "--limits"), (len(moving), 1)),
            joints or None,
        )
    if obstacles is not None:
        with working("obstacles"):
            around = lw.collision.load_obstacles(obstacles)
            built = built.with_obstacles(lw.collision.model(loaded), around)
    counts = {"nodes": len(built.nodes), "vertices": len(built.vertices), "edges": len(built.edges)}
    facts: dict[str, Any] = {
        "robot": loaded.name,
        "point": frame,
        **counts,
        "voxels": len(built.voxels),
    }
    facts["blocked"] = 0 if built.blocked is None else int(built.blocked.sum())
    rows = [(name, facts[name]) for name in ("nodes", "blocked", "voxels", "vertices", "edges")]
    shown: list[Any] = [Table(f"{loaded.name}: where {frame} can be", ("what", "how many"), rows)]
    if (start is None) != (to is None):
        raise InvalidInput("graph: --from and --to belong together, expected both or none")
    if start is None:
        return Answer(facts, shown)
    way = built.plan(configuration(loaded, start), vector(to, 3, "--to"), cost=cost)
    facts |= {
        "success": way.success,
        "cost": way.cost,
        "certified_optimal": way.certified_optimal,
        "path": way.path,
    }
    if way.success:
        cheapest = ", certified to be the cheapest" if way.certified_optimal else ""
        shown.append(f"way of cost {way.cost:.4g} over {len(way.vertices)} vertices{cheapest}")
    else:
        shown.append("there is no way at this resolution")
    return Answer(facts, shown, code=0 if way.success else 1)


def _pose_goal(robot: lw.Robot, text: str, frame: str | None) -> PoseGoal:
    numbers = text.replace(",", " ").split()
    name = last_frame(robot, frame)
    if len(numbers) == 3:
        return PoseGoal(name, vector(text, 3, "--pose"))
    x, y, z, roll, pitch, yaw = vector(text, 6, "--pose").tolist()
    return PoseGoal(name, lw.pose((x, y, z), rpy=(roll, pitch, yaw)))


def _opened(robot: lw.Robot, answer: Any, law: Any, obstacles: Path | None, port: int) -> Any:
    """A viewer with the path, its obstacles and its motion, playing."""
    from linkwork.view.viewer import Viewer

    viewer = Viewer(robot, port=port)
    stand = viewer.stands[0]
    stand.show(answer.path[0])
    panel: Any = stand.panels.get("planning")
    if panel is not None and panel.plan is not None:
        panel.plan.begin(answer, law, obstacles)
        panel.plan.play_it()
    return viewer


def _told(name: str, answer: Any) -> str:
    proof = (
        f"proved free, at least {1e3 * answer.clearance:.2g} mm clear"
        if answer.certified
        else "not proved"
    )
    total = 1e3 * sum(answer.seconds.values())
    return (
        f"{name}: length {answer.length:.3f}, {proof}; {answer.iterations} iterations, "
        f"{total:.2f} ms"
    )


def _waypoints(robot: lw.Robot, path: np.ndarray) -> Table:
    rows = [(k, *(f"{x:.4f}" for x in q)) for k, q in enumerate(path)]
    return Table("waypoints [rad, m]", ("", *robot.joints), rows)
