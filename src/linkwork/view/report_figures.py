"""The figures of a report as files: each as PNG, SVG, CSV, Parquet,
with every digit and every instant."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.arguments import choice
from linkwork.formats.files import made_folder, write_atomically
from linkwork.formats.tables import csv_text, parquet_bytes
from linkwork.loads.analyse import Analysis
from linkwork.robot import Robot
from linkwork.view.chart import Chart
from linkwork.view.drawing import COLORS, draw_columns, draw_picture
from linkwork.view.picture import described_frames
from linkwork.view.pictures import pictures
from linkwork.view.report_charts import chart_groups
from linkwork.view.segments import segments
from linkwork.view.tree_picture import tree_rows, tree_table

PICTURES, TABLES = ("png", "svg"), ("csv", "parquet")
FORMATS = PICTURES + TABLES


def write_figures(
    robot: Robot,
    analysis: Analysis,
    folder: str | Path,
    formats: Sequence[str] = FORMATS,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Every figure of the report of an analysis, in every format,
    into a folder that is made if needed."""
    for form in formats:
        choice(form, FORMATS, "write_figures: formats")
    place = made_folder(folder)
    figures = list(_figures(robot, analysis))
    written: list[Path] = []
    for k, (title, table, draw) in enumerate(figures):
        target = place / re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
        contents: dict[str, str | bytes] = {
            **pictures(draw, [form for form in formats if form in PICTURES])
        }
        contents |= {form: _numbers(table(), form) for form in formats if form in TABLES}
        for form, content in contents.items():
            written.append(target.with_suffix(f".{form}"))
            write_atomically(written[-1], content)
        if progress is not None:
            progress(k + 1, len(figures))
    return written


Table = Mapping[str, Any]


def _figures(
    robot: Robot, analysis: Analysis
) -> Iterator[tuple[str, Callable[[], Table], Callable[[Any], None]]]:
    """(title, its columns, what draws it into an empty figure of matplotlib)"""
    yield (
        "animation",
        lambda: _ends(robot, analysis),
        lambda figure: _draw_motion(figure, robot, analysis),
    )
    for _, members in chart_groups(robot, analysis):
        for chart in members:

            def draw(figure: Any, chart: Any = chart) -> None:
                axes = figure.add_subplot()
                draw_columns(axes, analysis.time, dict(chart.series), chart.unit, chart.title)

            yield chart.title, functools.partial(_columns, analysis, chart), draw
    yield (
        "kinematic tree",
        lambda: tree_table(robot.model),
        lambda figure: _draw_tree(figure, robot),
    )


def _columns(analysis: Analysis, chart: Chart) -> Table:
    return {"time": analysis.time, **chart.series}


def _ends(robot: Robot, analysis: Analysis) -> dict[str, Any]:
    """One row an instant and a line of the stick figure: both of its ends [m], world axes."""
    drawn = segments(robot, analysis.q)
    ends = drawn.ends.reshape(len(analysis), -1, 6)
    n, lines = ends.shape[:2]
    table: dict[str, Any] = {
        "time": np.repeat(analysis.time, lines),
        "line": np.tile(np.arange(lines), n),
        "kind": list(drawn.kinds) * n,
    }
    return table | {
        name: ends[..., k].ravel() for k, name in enumerate(("x1", "y1", "z1", "x2", "y2", "z2"))
    }


def _draw_motion(figure: Any, robot: Robot, analysis: Analysis) -> None:
    few = np.linspace(0, len(analysis) - 1, 5).round().astype(int)
    paths = [robot.pose(analysis.q, frame)[:, :3, 3] for frame in described_frames(robot)]
    draw_picture(
        figure.add_subplot(), robot, analysis.q[-1], analysis.q[few[:-1]], paths, size=(1100, 800)
    )


def _draw_tree(figure: Any, robot: Robot) -> None:
    """Bodies under the bodies that carry them, as on the page."""
    rows = tree_rows(robot.model)
    axes = figure.add_subplot()
    for k, (depth, parent, name, label) in enumerate(rows):
        if k:
            axes.plot(
                [depth - 1, depth - 1, depth - 0.2],
                [parent + 0.2, k, k],
                color="#9aa8b5",
                linewidth=1,
            )
        axes.plot(depth, k, "o", color=COLORS["body"], markersize=4)
        axes.annotate(name, (depth + 0.3, k), fontsize=8, va="center", annotation_clip=False)
        axes.annotate(label, (depth + 0.3, k), xytext=(7 * len(name) + 8, 0), textcoords="offset points",
                      fontsize=7, color="#5c6b7a", va="center", annotation_clip=False)  # fmt: skip
    axes.set(xlim=(-0.3, max(depth for depth, *_ in rows) + 10), ylim=(len(rows) - 0.5, -0.5))
    axes.axis("off")
    figure.set_size_inches(8, max(2.5, 0.24 * len(rows)))


def _numbers(columns: Table, form: str) -> str | bytes:
    return csv_text(columns) if form == "csv" else parquet_bytes(columns)
