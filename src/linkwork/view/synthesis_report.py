"""Report of linkages: the task, its curves, the ranked table, and the best ones drawn and plotted,
in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import __version__, synthesis
from linkwork.errors import LinkworkError
from linkwork.formats.files import write_atomically
from linkwork.synthesis import FunctionTask, Linkages, PlanarTask, Verdict
from linkwork.synthesis.motions import motion_of
from linkwork.view.chart import Chart
from linkwork.view.html import table
from linkwork.view.report_page import page_html

DRAWN = 6
"""Linkages with a picture and curves: the first ones of the table."""


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
    """Write the report whole or not at all: `rows` are the ranked table, `order` its linkages,
    the best first."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        _task(task),
        "<h2>Linkages, ranked</h2>",
        table("linkages", header, rows),
    ]
    for n, k in enumerate(order[:DRAWN]):
        parts.append(
            _linkage(n + 1, links.one(int(k)), str(verdict.kind[k]), str(verdict.reasons[k]), task)
        )
    parts.append(
        f"<footer>linkwork {escape(__version__)}; lengths in m, angles in degrees</footer>"
    )
    write_atomically(path, page_html(title, "".join(parts)))
    return Path(path)


def _task(task: PlanarTask | FunctionTask) -> str:
    """What was asked for: the positions, and for poses the curves of all dyads through the first
    four."""
    if isinstance(task, FunctionTask):
        pairs = [
            (j + 1, float(x), float(y)) for j, (x, y) in enumerate(zip(task.inputs, task.outputs))
        ]
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
        text += (
            synthesis.svg(None, task, curves)
            + "<figcaption>centre points dark, circle points pale</figcaption>"
        )
        text += "</figure></div>"
    return text


def _linkage(
    number: int, linkage: Any, kind: str, reasons: str, task: PlanarTask | FunctionTask
) -> str:
    """A picture with its path, the verdict, and what happens along the circuit."""
    motion = motion_of(linkage)
    shown = task if isinstance(task, PlanarTask) else None
    bad = " bad" if reasons else ""
    text = (
        f"<h2>{number}. {escape(linkage.topology.name)}</h2><p "
        f'class="verdict{bad}">{escape(kind)}: '
    )
    text += f"{escape(reasons or 'no defect')}</p>"
    text += f'<div class="charts"><figure>{synthesis.svg(linkage, shown)}</figure>'
    curves = {
        ("transmission angle", "deg"): np.degrees(motion.transmission),
        ("torque for a unit weight at the tracer", "linkage sizes"): motion.torque,
    }
    for (title, unit), y in curves.items():
        text += Chart(title, unit, {title: y}, motion.share, "share of the circuit").html()
    places = ", ".join(f"{n} ({p.real:.6g}, {p.imag:.6g})" for n, p in linkage.named_points.items())
    return text + f"</div><p>{escape(places)}</p>"
