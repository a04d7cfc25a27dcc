"""Report of linkages: the task, its curves, the ranked table, and the best ones drawn and plotted, in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import __version__, synthesis
from linkwork.errors import LinkworkError
from linkwork.formats.files import write_atomically
from linkwork.synthesis import FunctionTask, Linkages, PlanarTask, Verdict
from linkwork.synthesis.motions import motion_of
from linkwork.view.html import table

DRAWN = 6
"""Linkages with a picture and curves: the first ones of the table."""
WIDE, HIGH = 520, 190
LEFT, BELOW = 52, 24


def write_synthesis_report(
    path: str | Path,
    title: str,
    task: PlanarTask | FunctionTask,
    links: Linkages,
    verdict: Verdict,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    order: Sequence[int] | np.ndarray,
) -> Path:
    """Write the report whole or not at all: `rows` are the ranked table, `order` its linkages, the best first."""
    style = files("linkwork.view").joinpath("report.css").read_text(encoding="utf-8")
    style += "#linkages td:last-child { white-space: normal; min-width: 16em; }"  # defects are sentences
    parts = [f"<h1>{escape(title)}</h1>", _task(task), "<h2>Linkages, ranked</h2>", table("linkages", header, rows)]
    for n, k in enumerate(order[:DRAWN]):
        parts.append(_linkage(n + 1, links.one(int(k)), str(verdict.kind[k]), str(verdict.reasons[k]), task))
    parts.append(f"<footer>linkwork {escape(__version__)}; lengths in m, angles in degrees</footer>")
    page = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    page += f"<style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    write_atomically(path, page)
    return Path(path)


def _task(task: PlanarTask | FunctionTask) -> str:
    """What was asked for: the positions, and for poses the curves of all dyads through the first four."""
    if isinstance(task, FunctionTask):
        pairs = [(j + 1, float(x), float(y)) for j, (x, y) in enumerate(zip(task.inputs, task.outputs))]
        return "<h2>Pairs</h2>" + table("task", ("#", "input", "output"), pairs)
    rows = [
        (j + 1, float(p.real), float(p.imag), float(np.degrees(a)) if np.isfinite(a) else "")
        for j, (p, a) in enumerate(zip(task.positions, task.angles))
    ]
    text = "<h2>Positions</h2>" + table("task", ("#", "x [m]", "y [m]", "angle [deg]"), rows)
    if task.n >= 4 and task.oriented[:4].all():
        try:
            curves = synthesis.burmester(task[:4], 600)
        except LinkworkError as error:
            return text + f"<p>{escape(str(error))}</p>"
        text += '<h2>Dyads through the first four poses</h2><div class="charts"><figure>'
        text += synthesis.svg(None, task, curves) + "<figcaption>centre points dark, circle points pale</figcaption>"
        text += "</figure></div>"
    return text


def _linkage(number: int, linkage: Any, kind: str, reasons: str, task: PlanarTask | FunctionTask) -> str:
    """A picture with its path, the verdict, and what happens along the circuit."""
    motion = motion_of(linkage)
    shown = task if isinstance(task, PlanarTask) else None
    bad = " bad" if reasons else ""
    text = f'<h2>{number}. {escape(linkage.topology.name)}</h2><p class="verdict{bad}">{escape(kind)}: '
    text += f"{escape(reasons or 'no defect')}</p>"
    text += f'<div class="charts"><figure>{synthesis.svg(linkage, shown)}</figure><figure>'
    text += chart("transmission angle [deg] along the circuit", motion.share, np.degrees(motion.transmission))
    text += chart("torque for a unit weight at the tracer [linkage sizes]", motion.share, motion.torque)
    places = ", ".join(f"{n} ({p.real:.6g}, {p.imag:.6g})" for n, p in linkage.named_points.items())
    return text + f"<p>{escape(places)}</p></figure></div>"


def chart(title: str, x: np.ndarray, y: np.ndarray) -> str:
    """One curve with its axes, as SVG."""
    low, high = float(y.min()), float(y.max())
    low, high = (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)
    across = lambda v: LEFT + (v - x[0]) / max(x[-1] - x[0], 1e-300) * (WIDE - LEFT - 8)
    up = lambda v: (HIGH - BELOW) - (v - low) / (high - low) * (HIGH - BELOW - 10)
    line = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(x, y))
    words = 'font-size="11" fill="currentColor"'
    marks = "".join(
        f'<line x1="{LEFT}" x2="{WIDE - 8}" y1="{up(v):.1f}" y2="{up(v):.1f}" stroke="#8886"/>'
        f'<text x="{LEFT - 6}" y="{up(v) + 4:.1f}" text-anchor="end" {words}>{v:.3g}</text>'
        for v in np.linspace(low, high, 4)
    )
    foot = "".join(
        f'<text x="{across(v):.1f}" y="{HIGH - 6}" text-anchor="middle" {words}>{v:.3g}</text>'
        for v in np.linspace(x[0], x[-1], 5)
    )
    return (
        f'<figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDE} {HIGH}" role="img">{marks}{foot}'
        f'<polyline points="{line}" fill="none" stroke="#3b6ea5" stroke-width="1.8"/></svg>'
    )
