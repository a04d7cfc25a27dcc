"""Report: a robot, and all about one motion of it, as one HTML file that opens without a
network."""

from __future__ import annotations

import base64
import platform
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork import __version__, rooms
from linkwork.arguments import name_list
from linkwork.errors import LinkworkError, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.loads.analyse import Analysis
from linkwork.robot import Robot
from linkwork.view.chart import charts_html, digits
from linkwork.view.html import table
from linkwork.view.picture import picture
from linkwork.view.power import power_balance
from linkwork.view.recording import recorded
from linkwork.view.report_charts import chart_groups
from linkwork.view.report_page import page_html
from linkwork.view.segments import segments
from linkwork.view.show import framed
from linkwork.view.tree_picture import tree_picture, tree_table

if TYPE_CHECKING:
    from linkwork.collision import Obstacles

FRAMES = 200
"""Most instants of the animation and of the curves: more can not be seen, and the file stays
small."""
STILL = (1120, 620)
"""Pixels of the robot's picture; the recording has the same place."""
KINDS = {"body": "bodies", "actuator": "actuators", "spring": "springs", "member": "bars, sliders"}
BALANCED = 1e-9
"""Powers that agree to this part of the largest balance:
both sides are sums of some hundred rounded products."""


def write_report(
    robot: Robot,
    path: str | Path,
    analysis: Analysis | Any = None,
    title: str = "",
    obstacles: Obstacles | None = None,
) -> Path:
    """Write the report of a robot, or of an analysis of it among obstacles, whole or not at all.

    analysis: left out, the description alone; a motion, or the name of one, is analysed first
    """
    if analysis is not None and not isinstance(analysis, Analysis):
        analysis = robot.analyse(analysis)
    write_atomically(path, report_html(robot, analysis, title, obstacles=obstacles))
    return Path(path)


def report_html(
    robot: Robot,
    analysis: Analysis | None = None,
    title: str = "",
    parts: Sequence[str] = (),
    obstacles: Obstacles | None = None,
) -> str:
    """The page: animation, balance of power, sections of rooms, curves, description, assumptions,
    versions.

    A room with a part of its own in reports has a file `section.py` with section(robot, analysis,
    obstacles) -> str: HTML that starts with its heading, or "" where it has nothing to say;
    analysis is None for the description alone, obstacles are what stands around, or None. `parts`
    are further sections, which come first.
    """
    parts = name_list(parts, "report_html: parts")
    kept = np.zeros(1, int) if analysis is None else _kept(len(analysis))
    q = _at_rest(robot)[None] if analysis is None else analysis.q[kept]
    instants = np.zeros(1) if analysis is None else analysis.time[kept]
    figure = segments(robot, q)
    groups = [] if analysis is None else chart_groups(robot, analysis)
    data = {
        "time": [] if analysis is None else digits(analysis.time[kept], 9),
        "instants": digits(instants, 9),
        "kinds": figure.kinds,
        "frames": np.round(figure.ends.reshape(len(q), -1), 5).tolist(),
        "tree": [{"name": name, "values": values} for name, values in tree_table(robot.model).items()],
    }  # fmt: skip
    sections = [
        _head(robot, analysis, title),
        *parts,
        _scene(robot, analysis, q, instants, figure.kinds),
    ]
    if analysis is not None:
        sections.append(_self_check(robot, analysis))
    sections += [
        module.section(robot, analysis, obstacles) for module in rooms.parts("section").values()
    ]
    sections += [charts_html(heading, members, kept) for heading, members in groups]
    sections += [_description(robot), _notes(robot), _versions()]
    return page_html(title or robot.name, "".join(sections), data)


def _at_rest(robot: Robot) -> np.ndarray:
    """A configuration to show: the start of its first motion,
    or the one in which its loops are assembled."""
    for motion in robot.motions.values():
        return motion.sample(0.0)[0]
    return robot.home


def _head(robot: Robot, analysis: Analysis | None, title: str) -> str:
    mass = sum(float(body.mass_properties.mass) for body in robot.model.bodies)
    facts = {
        "bodies": len(robot.bodies),
        "degrees of freedom": _freedom(robot),
        "loop elements": len(robot.model.elements),
        "mass": "unknown" if robot.model.kinematic_only else f"{mass:.6g} kg",
    }
    if analysis is not None:
        facts |= {
            "instants": len(analysis),
            "duration": f"{analysis.time[-1] - analysis.time[0]:.6g} s",
        }
    shown = "".join(
        f'<div class="fact"><b>{escape(str(v))}</b><span>{escape(k)}</span></div>'
        for k, v in facts.items()
    )
    return f'<h1>{escape(title or robot.name)}</h1><div class="facts">{shown}</div>'


def _freedom(robot: Robot) -> str:
    """What the robot can really do; with loops also how many coordinates its tree has."""
    if not robot.model.elements:
        return str(robot.nv)
    try:
        return f"{robot.mobility().degrees} (tree: {robot.nv})"
    except LinkworkError:  # a machine that cannot be assembled has a report all the same
        return f"unknown (tree: {robot.nv})"


def _scene(
    robot: Robot,
    analysis: Analysis | None,
    q: np.ndarray,
    instants: np.ndarray,
    kinds: Sequence[str],
) -> str:
    """The robot, or its motion, in 3-D with a player; a picture where viser is not installed."""
    key = " ".join(f'<i class="{kind}"></i>{name}' for kind, name in KINDS.items() if kind in kinds)
    still = base64.b64encode(picture(robot, q[0], size=STILL)).decode()
    image = f'<img id="still" alt="{escape(robot.name)}" src="data:image/png;base64,{still}">'
    try:
        motion = None if analysis is None or len(q) < 2 else {"time": instants, "q": q}
        frame = framed(recorded(robot, q[0] if motion is None else None, motion), STILL[1], "scene")
    except NotPossible:
        frame = ""
    return (
        '<figure id="scene-figure" class="scene"><figcaption><span '
        f'class="key">{key}</span></figcaption>'
        f"{frame}{image}</figure>"
    )


def _self_check(robot: Robot, analysis: Analysis) -> str:
    """Two laws that hold whatever was computed on the way: power balances, and so does every
    body."""
    balance = power_balance(robot, analysis)
    left = float(np.abs(analysis.loads.residual).max())
    good = balance.relative <= BALANCED
    kind, verb = ("verdict", "equals") if good else ("verdict bad", "DIFFERS FROM")
    return (
        f'<h2>Self-check</h2><p class="{kind}" id="balance" data-relative="{balance.relative!r}" '
        f'data-residual="{left!r}">Power of actuators and springs {verb} the power that the bodies '
        "take: largest "
        f"difference {np.abs(balance.difference).max():.2e} W, {balance.relative:.1e} of the "
        "largest power. "
        f"Newton and Euler on every body leave {left:.1e} N, N m.</p>"
    )


def _description(robot: Robot) -> str:
    limits = robot.limits
    joints = []
    for joint in robot.model.joints:
        parent = joint.parent or "world"
        if joint.name in robot.joints:
            at = robot.index(joint.name).start
            joints.append(
                (
                    joint.name,
                    joint.type,
                    parent,
                    joint.child,
                    at,
                    *_range(limits.lower[at], limits.upper[at]),
                )
            )
        else:
            joints.append((joint.name, joint.type, parent, joint.child, "", "", ""))
    bodies = []
    for body in robot.model.bodies:
        properties = body.mass_properties
        center = [float(x) for x in properties.com]
        bodies.append((body.name, float(properties.mass), *center, len(body.points)))
    elements = [(type(e).__name__, getattr(e, "name", "")) for e in robot.model.elements]
    of_bodies = ("body", "mass [kg]", "com x [m]", "com y [m]", "com z [m]", "points")
    parts = [
        '<h2>Kinematic tree</h2><figure id="tree-figure"><figcaption><span>bodies under what '
        "carries them</span>"
        f'</figcaption><div class="tree">{tree_picture(robot.model)}</div></figure>',
        "<h2>Joints</h2>",
        table("joints", ("joint", "type", "parent", "child", "q", "lower", "upper"), joints),
        "<h2>Bodies</h2>",
        table("bodies", of_bodies, bodies),
    ]
    if elements:
        parts += ["<h2>Loop elements</h2>", table("elements", ("kind", "name"), elements)]
    if robot.model.variables:
        named = [(name, float(value)) for name, value in robot.model.variables]
        parts += ["<h2>Variables</h2>", table("variables", ("name", "value [SI]"), named)]
    return "".join(parts)


def _range(lower: float, upper: float) -> tuple[Any, Any]:
    return tuple(float(x) if np.isfinite(x) else "" for x in (lower, upper))  # type: ignore[return-value]


def _notes(robot: Robot) -> str:
    """Sources, assumptions and corrected data, as the description says them,
    and what the mathematics assumes."""
    said = [
        *robot.model.notes,
        "assumption: rigid bodies, joints without play; friction is left out of every load",
    ]
    return (
        "<h2>Sources, assumptions, "
        f"corrections</h2><ul>{''.join(f'<li>{escape(n)}</li>' for n in said)}</ul>"
    )


def _versions() -> str:
    shown = [f"linkwork {__version__}", f"Python {platform.python_version()}"]
    shown += [f"{name} {version(name)}" for name in ("numpy", "casadi", "llvmlite")]
    return f"<footer>Made by {escape(', '.join(shown))} on {escape(platform.machine())}.</footer>"


def _kept(n: int) -> np.ndarray:
    """Rows of the animation: all, or evenly chosen ones with the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, FRAMES + 1)).round().astype(int))
