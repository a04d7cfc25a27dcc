"""Task files: a task for synthesis written by hand, `.task.yaml`.

linkwork: 1
name: hatch
units: {length: mm, angle: deg}
positions:
  - {at: [0, 0], angle: 0}
  - {at: [120, 40], angle: 25, tolerance: [2, 2, 1]}
  - {at: [200, 90]}                  # a point: without an angle
driver: crank                        # left out: the link that drives better
topology: Watt I                     # of a fit; left out: four-bar
bounds: {length: [20, 500]}          # of a fit: ground [xmin, ymin, xmax, ymax], length
                                     [least, most], ratio

Instead of positions a task may have `pairs: [[input, output], ...]` of a function, in the file's
units of angle (of length for the output of a slider), with `output: rocker | slider`;
`scale: [a, b]` makes radians (metres) of other numbers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.formats.files import read_bounded
from linkwork.synthesis.functions import FunctionTask
from linkwork.synthesis.task import PlanarTask

ENDING = ".task.yaml"
EXAMPLE = """\
linkwork: 1
name: {name}
description: a lid that swings up and back; leave `angle` out for a point without orientation
units: {{length: mm, angle: deg}}
positions:
  - {{at: [0, 0], angle: 0, tolerance: [5, 5, 2]}}
  - {{at: [10, 135], angle: 22, tolerance: [5, 5, 2]}}
  - {{at: [-50, 275], angle: 46, tolerance: [5, 5, 2]}}
  - {{at: [-180, 385], angle: 71, tolerance: [5, 5, 2]}}
  - {{at: [-365, 420], angle: 96, tolerance: [5, 5, 2]}}
"""


@dataclass(frozen=True)
class TaskFile:
    """What a .task.yaml says: the task, and options of the commands by name."""

    name: str
    task: PlanarTask | FunctionTask
    options: dict[str, Any]


def read_task(path: str | os.PathLike[str]) -> TaskFile:
    """The task in a file; errors name line, column and key."""
    # YAML and its schema, for those who read files
    from linkwork.synthesis.task_schema import (
        LARGEST,
    )

    return task_of(read_bounded(path, LARGEST), os.fspath(path))


def task_of(text: str | bytes, source: str = "task.yaml text") -> TaskFile:
    """The task of a text."""
    from linkwork.synthesis.task_schema import parsed

    return TaskFile(*parsed(text, source))


def write_task(path: str | Path, name: str, task: PlanarTask | FunctionTask) -> None:
    """A .task.yaml in metres and radians that reads as the same task."""
    if isinstance(task, FunctionTask):
        pairs = [
            f"  - [{float(x)!r}, {float(y)!r}]"
            for x, y in zip(task.inputs, task.outputs, strict=True)
        ]
        lines = ["linkwork: 1", f"name: {name}", f"output: {task.output}", "pairs:", *pairs]
        lines += (
            []
            if task.scale is None
            else [f"scale: [{', '.join(repr(float(x)) for x in task.scale)}]"]
        )
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    lines = ["linkwork: 1", f"name: {name}", "positions:"]
    for j in range(task.n):
        p = complex(task.positions[j])
        parts = [f"at: [{p.real!r}, {p.imag!r}]"]
        if np.isfinite(task.angles[j]):
            parts.append(f"angle: {float(task.angles[j])!r}")
        if task.tolerance is not None:
            parts.append(f"tolerance: [{', '.join(repr(float(x)) for x in task.tolerance[j])}]")
        if task.weights is not None:
            parts.append(f"weight: {float(task.weights[j])!r}")
        if task.timing is not None:
            parts.append(f"timing: {float(task.timing[j])!r}")
        if task.velocities is not None and np.isfinite(task.velocities[j]).all():
            parts.append(f"velocity: [{', '.join(repr(float(x)) for x in task.velocities[j])}]")
        lines.append("  - {" + ", ".join(parts) + "}")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
