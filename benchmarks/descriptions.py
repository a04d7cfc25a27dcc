"""How long does loading a description take, and changing a live variable?"""

from __future__ import annotations

import tempfile
from pathlib import Path

import linkwork as lw
from benchmarks.measure import Row, seconds


def rows() -> list[Row]:
    return [charmie(), thousand_bodies(), live_variable()]


def charmie() -> Row:
    lw.load("charmie")
    best = min(seconds(lambda: lw.load("charmie")) for _ in range(9))
    return Row("load a description", "charmie", best, target=0.05, smaller_is_better=True)


def thousand_bodies() -> Row:
    matter = "mass: 1, com: [0, 0, 1], inertia: [1, 1, 1], points: {tip: [0, 0, 1]}"
    place = "placement: {xyz: [0, 0, 1], rpy: [0.1, 0.2, 0.3]}, limits: [-1, 1]"
    lines = [
        "linkwork: 1",
        "name: long",
        "bodies:",
        *(f"  b{k}: {{{matter}}}" for k in range(1000)),
        "joints:",
    ]
    lines += [
        f"  j{k}: {{type: revolute, parent: b{k}, child: b{k + 1}, axis: x, {place}}}"
        for k in range(999)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "long.robot.yaml"
        file.write_text("\n".join(lines))
        best = min(seconds(lambda: lw.load(file)) for _ in range(5))
    return Row("load a description", "1000 bodies", best, target=1.0, smaller_is_better=True)


def live_variable() -> Row:
    robot = lw.load("charmie", live=["upper_arm"])
    q = robot.random(seed=0)
    work = lambda: robot.pose(q, "hand", variables={"upper_arm": 0.16})
    work()
    best = min(seconds(work, 200) for _ in range(9))
    return Row(
        "pose with another live value", "charmie", best, target=10e-6, smaller_is_better=True
    )
