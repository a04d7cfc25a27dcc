"""Report of controlled runs: laws side by side on one page: their figures, their loops' margins,
errors and forces."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import __version__
from linkwork.control.judge import judge, target_rows
from linkwork.control.linear import closed_loop
from linkwork.control.sliding import SlidingMode
from linkwork.errors import InvalidInput, LinkworkError, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.robot import Robot
from linkwork.view.chart import Chart, charts_html
from linkwork.view.html import table
from linkwork.view.report_page import page_html

SHOWN = (
    ("rms", "rms error"),
    ("max_error", "largest error"),
    ("steady_error", "at the end"),
    ("overshoot", "overshoot"),
    ("settling", "settling [s]"),
    ("peak", "peak force"),
    ("variation", "variation / s"),
)


def write_control_report(
    robot: Robot,
    runs: Mapping[str, Any],
    target: Any,
    path: str | Path,
    laws: Mapping[str, Any] | None = None,
    title: str = "",
    payload: Any = None,
) -> Path:
    """Write a page (.html) about runs of one robot, whole or not at all;
    it opens without a network.

    runs     {law: the result of lw.simulate}, each one motion, over the same rows; one that stopped
             (failures="keep") is told of, without figures
    target   as for control.judge: a configuration, rows (T, nq), or a function of time
    laws     {law: its controller}: their linear loops about the end of each run are told too, where
             they have one
    payload  what the robot carries in these loops, as in the runs
    """
    named = dict(runs)
    if not named or any(run.q.ndim != 2 for run in named.values()):
        raise InvalidInput(
            "write_control_report: expected runs of one motion each, {name: lw.simulate(...)}"
        )
    title = title or f"{robot.name}: {', '.join(named)}"
    whole = {name: run for name, run in named.items() if bool(run.success)}
    figures = {name: judge(run, target) for name, run in whole.items()}
    parts = [f"<h1>{escape(title)}</h1>", _summary(named, figures)]
    parts += [_joints(robot, figures)] if whole else []
    if laws is not None:
        parts.append(
            _loops(robot, whole, {name: laws[name] for name in whole if name in laws}, payload)
        )
    parts += _curves(robot, whole, target) if whole else []
    parts.append(f"<footer>linkwork {escape(__version__)}; SI units, angles in radians</footer>")
    write_atomically(path, page_html(title, "".join(parts)))
    return Path(path)


def _summary(runs: Mapping[str, Any], figures: Mapping[str, Mapping[str, np.ndarray]]) -> str:
    """One row a law whose run is whole, and what was foreseen or became of each."""
    header = ("law", "squared error", "effort", "energy [J]", "ran in")
    keys = ("squared_error", "effort", "energy")
    rows = [
        (name, *[float(x[key]) for key in keys], runs[name].where) for name, x in figures.items()
    ]
    told = {name: run.foreseen for name, run in runs.items() if run.foreseen}
    told |= {
        name: f"lost: {run.foreseen or run.reason}"
        for name, run in runs.items()
        if name not in figures
    }
    words = "".join(f"<p>{escape(name)}: {escape(text)}</p>" for name, text in told.items())
    return f"<h2>Laws</h2>{table('laws', header, rows)}{words}"


def _joints(robot: Robot, figures: Mapping[str, Mapping[str, np.ndarray]]) -> str:
    parts: list[str] = []
    for name, judged in figures.items():
        columns = [(label, judged[key]) for key, label in SHOWN if key in judged]
        rows = [
            (joint, *[_number(x[k]) for _, x in columns]) for k, joint in enumerate(robot.joints)
        ]
        header = ("joint", *[label for label, _ in columns])
        parts.append(f"<h3>{escape(name)}</h3>{table(f'joints-{len(parts)}', header, rows)}")
    units = (
        "<p>Errors in rad or m, forces in N m or N; variation is that of the force in a "
        "second: what is heard.</p>"
    )
    return f"<h2>Joints</h2>{units}" + "".join(parts)


def _number(x: Any) -> Any:
    return float(x) if np.isfinite(x) else ""


def _loops(robot: Robot, runs: Mapping[str, Any], laws: Mapping[str, Any], payload: Any) -> str:
    """Radius and margins of every law's linear loop where its run ended;
    a law without them says why."""
    parts: list[str] = []
    for name, law in laws.items():
        try:
            if isinstance(getattr(law, "controller", law), SlidingMode):
                raise NotPossible("a law that switches has none")
            loop = closed_loop(robot, law, runs[name].q[-1], payload=payload)
            if not loop.stable:
                raise NotPossible(
                    f"it is UNSTABLE, largest eigenvalue {loop.radius:.6f}, and has no margins"
                )
            rows = []
            for joint in robot.joints:
                margins = loop.loop_gain(joint).margins()
                numbers = (margins.gain, np.rad2deg(margins.phase), 1e3 * margins.delay)
                rows.append((joint, *["any" if x == np.inf else _number(x) for x in numbers]))
            header = ("joint", "gain margin [-]", "phase margin [deg]", "delay margin [ms]")
            told = f"largest eigenvalue of its samples {loop.radius:.6f}"
            parts.append(
                f"<h3>{escape(name)}</h3><p>{told}</p>{table(f'loops-{len(parts)}', header, rows)}"
            )
        except LinkworkError as error:
            parts.append(f"<h3>{escape(name)}</h3><p>Linear loop: {escape(str(error))}.</p>")
    return "<h2>Loops, linear about the end</h2>" + "".join(parts)


def _curves(robot: Robot, runs: Mapping[str, Any], target: Any) -> list[str]:
    """Error and force of every joint, all laws in one chart."""
    parts = []
    time = max((run.time for run in runs.values()), key=lambda instants: instants[-1])
    for what, unit in (("error", "rad, m"), ("force", "N m, N")):
        rows = {
            name: run.tau if what == "force" else target_rows(target, run) - run.q
            for name, run in runs.items()
        }
        charts = []
        for k, joint in enumerate(robot.joints):
            curves = {
                name: np.interp(time, runs[name].time, x[:, k], right=np.nan)
                for name, x in rows.items()
            }
            charts.append(Chart(f"{joint}: {what}", unit, curves, time))
        parts.append(charts_html(f"{what.capitalize()} of every joint", charts))
    return parts
