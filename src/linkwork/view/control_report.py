"""Report of controlled runs: laws side by side on one page: their figures, their loops' margins, errors and forces."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import __version__
from linkwork.control.judge import judge
from linkwork.control.linear import closed_loop
from linkwork.control.sliding import SlidingMode
from linkwork.errors import InvalidInput, LinkworkError, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.robot import Robot
from linkwork.view.html import table
from linkwork.view.palette import BRANCHES

WIDE, HIGH, LEFT, BELOW = 520, 200, 58, 24
POINTS = 600
"""Most points of a curve: more can not be seen."""
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
) -> Path:
    """Write a page (.html) about runs of one robot, whole or not at all; it opens without a network.

    runs     {law: the result of lw.simulate}, each one motion, over the same rows
    target   as for control.judge: a configuration, rows (T, nq), or a function of time
    laws     {law: its controller}: their linear loops about the end of each run are told too, where they have one
    """
    named = dict(runs)
    if not named or any(run.q.ndim != 2 for run in named.values()):
        raise InvalidInput("write_control_report: expected runs of one motion each, {name: lw.simulate(...)}")
    title = title or f"{robot.name}: {', '.join(named)}"
    style = files("linkwork.view").joinpath("report.css").read_text(encoding="utf-8")
    figures = {name: judge(run, target) for name, run in named.items()}
    parts = [f"<h1>{escape(title)}</h1>", _summary(named, figures), _joints(robot, figures)]
    if laws is not None:
        parts.append(_loops(robot, named, laws))
    parts += _curves(robot, named, target)
    parts.append(f"<footer>linkwork {escape(__version__)}; SI units, angles in radians</footer>")
    page = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    page += f"<style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    write_atomically(path, page)
    return Path(path)


def _summary(runs: Mapping[str, Any], figures: Mapping[str, Mapping[str, np.ndarray]]) -> str:
    """One row a law, and what its run foresaw."""
    header = ("law", "squared error", "effort", "energy [J]", "ran in")
    keys = ("squared_error", "effort", "energy")
    rows = [(name, *[float(figures[name][key]) for key in keys], run.where) for name, run in runs.items()]
    told = "".join(f"<p>{escape(name)}: {escape(run.foreseen)}</p>" for name, run in runs.items() if run.foreseen)
    return f"<h2>Laws</h2>{table('laws', header, rows)}{told}"


def _joints(robot: Robot, figures: Mapping[str, Mapping[str, np.ndarray]]) -> str:
    parts: list[str] = []
    for name, judged in figures.items():
        columns = [(label, judged[key]) for key, label in SHOWN if key in judged]
        rows = [(joint, *[_number(x[k]) for _, x in columns]) for k, joint in enumerate(robot.joints)]
        header = ("joint", *[label for label, _ in columns])
        parts.append(f"<h3>{escape(name)}</h3>{table(f'joints-{len(parts)}', header, rows)}")
    units = "<p>Errors in rad or m, forces in N m or N; variation is that of the force in a second: what is heard.</p>"
    return f"<h2>Joints</h2>{units}" + "".join(parts)


def _number(x: Any) -> Any:
    return float(x) if np.isfinite(x) else ""


def _loops(robot: Robot, runs: Mapping[str, Any], laws: Mapping[str, Any]) -> str:
    """Radius and margins of every law's linear loop where its run ended; a law without one says why."""
    parts: list[str] = []
    for name, law in laws.items():
        try:
            if isinstance(getattr(law, "controller", law), SlidingMode):
                raise NotPossible("a law that switches has none")
            loop = closed_loop(robot, law, runs[name].q[-1])
            rows = []
            for joint in robot.joints:
                margins = loop.loop_gain(joint).margins()
                numbers = (margins.gain, np.rad2deg(margins.phase), 1e3 * margins.delay)
                rows.append((joint, *[_number(x) for x in numbers]))
            header = ("joint", "gain margin [-]", "phase margin [deg]", "delay margin [ms]")
            told = f"largest eigenvalue of its samples {loop.radius:.6f}"
            parts.append(f"<h3>{escape(name)}</h3><p>{told}</p>{table(f'loops-{len(parts)}', header, rows)}")
        except LinkworkError as error:
            parts.append(f"<h3>{escape(name)}</h3><p>No linear loop: {escape(str(error))}.</p>")
    return "<h2>Loops, linear about the end</h2>" + "".join(parts)


def _curves(robot: Robot, runs: Mapping[str, Any], target: Any) -> list[str]:
    """Error and force of every joint, all laws in one chart."""
    parts = []
    for what, unit in (("error", "rad, m"), ("force", "N m, N")):
        charts = []
        for k, joint in enumerate(robot.joints):
            curves = {}
            for name, run in runs.items():
                rows = run.tau if what == "force" else _wanted(target, run) - run.q
                curves[name] = (run.time, rows[:, k])
            charts.append(f"<figure>{curve_chart(f'{joint}: {what} [{unit}] over time [s]', curves)}</figure>")
        parts.append(f'<h2>{what.capitalize()} of every joint</h2><div class="charts">{"".join(charts)}</div>')
    return parts


def _wanted(target: Any, run: Any) -> np.ndarray:
    if callable(target):
        return np.array([np.ravel(np.asarray(target(t), dtype=float)) for t in run.time])
    rows = np.asarray(target, dtype=float)
    return np.broadcast_to(rows, run.q.shape)


def curve_chart(title: str, curves: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> str:
    """Several curves {name: (x, y)} with axes and a legend, as SVG; what is not finite is left out."""
    thinned = {name: _thin(x, y) for name, (x, y) in curves.items()}
    xs = np.concatenate([x for x, _ in thinned.values()])
    ys = np.concatenate([y for _, y in thinned.values()])
    low, high = (float(ys.min()), float(ys.max())) if len(ys) else (0.0, 1.0)
    low, high = (low - 0.5, high + 0.5) if high - low < 1e-12 else (low, high)
    left, right = (float(xs.min()), float(xs.max())) if len(xs) else (0.0, 1.0)

    def across(v: Any) -> Any:
        return LEFT + (v - left) / max(right - left, 1e-300) * (WIDE - LEFT - 8)

    def up(v: Any) -> Any:
        return (HIGH - BELOW) - (v - low) / (high - low) * (HIGH - BELOW - 24)

    words = 'font-size="11" fill="currentColor"'
    drawn = [
        f'<line x1="{LEFT}" x2="{WIDE - 8}" y1="{up(v):.1f}" y2="{up(v):.1f}" stroke="#8886"/>'
        f'<text x="{LEFT - 6}" y="{up(v) + 4:.1f}" text-anchor="end" {words}>{v:.3g}</text>'
        for v in np.linspace(low, high, 4)
    ]
    drawn += [
        f'<text x="{across(v):.1f}" y="{HIGH - 6}" text-anchor="middle" {words}>{v:.3g}</text>'
        for v in np.linspace(left, right, 5)
    ]
    for k, (name, (x, y)) in enumerate(thinned.items()):
        colour = "rgb({}, {}, {})".format(*BRANCHES[k % len(BRANCHES)])
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across(x), up(y), strict=True))
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        drawn.append(_key(name, colour, k, words))
    return f'<figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDE} {HIGH}" role="img">{"".join(drawn)}</svg>'


def _key(name: str, colour: str, k: int, words: str) -> str:
    at = LEFT + 4 + 120 * k
    return (
        f'<line x1="{at}" x2="{at + 16}" y1="9" y2="9" stroke="{colour}" stroke-width="2.5"/>'
        f'<text x="{at + 20}" y="13" {words}>{escape(name)}</text>'
    )


def _thin(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kept = np.isfinite(y)
    x, y = x[kept], y[kept]
    every = max(1, len(x) // POINTS)
    return x[::every], y[::every]
