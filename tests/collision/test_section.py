"""The part of a report about clearance."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from typer.testing import CliRunner

import linkwork as lw
from linkwork.cli.application import app, load_commands
from linkwork.collision import save_obstacles
from linkwork.collision.section import section
from linkwork.view import clearance
from linkwork.view.clearance import _curve, write_clearance
from linkwork.view.report import report_html

LEVER = Path(__file__).parents[1] / "cli" / "lever.robot.yaml"


def two_levers(reach):
    """Two pendulums side by side: their tips meet when both swing inwards."""
    text = LEVER.read_text()
    first, rest = text.split("\njoints:\n", 1)
    second = (
        "  other:\n    mass: 2.0\n    com: [0.2, 0, 0]\n    inertia: [0.001, 0.03, 0.03]\n"
        f"    collisions: [{{kind: sphere, size: 0.05, placement: [{reach}, 0, 0]}}]\n"
    )
    hinge = (
        '  swing: {type: revolute, parent: base, child: other, axis: "y", placement: [0, 0, 0.6]}\n'
    )
    return first + "\n" + second + "joints:\n" + hinge + rest


def test_a_report_tells_the_least_clearance_and_its_pair(tmp_path):
    path = tmp_path / "levers.robot.yaml"
    path.write_text(two_levers(0.3))
    robot = lw.load(path)
    analysis = robot.analyse("lift", steps=21)
    made = report_html(robot, analysis)  # with the section in it
    model = lw.collision.model(robot)
    distance = model.clearance(analysis.q).distance
    worst = int(np.argmin(distance))
    assert (
        f'data-value="{1e3 * float(distance[worst])!r}"' in made
        or f"{1e3 * distance[worst]:.6g}" in made
    )
    assert "<figure data-chart=" in made and "It never touches itself." in made
    assert 'alt="the instant of the least clearance"' in made
    assert made.count("<h2>Clearance</h2>") == 1
    assert section(robot, None) == ""


def test_a_page_tells_of_obstacles(tmp_path, monkeypatch):
    """The post stands where the lever swings: it touches, the picture shows it, the table names
    it."""
    path = tmp_path / "levers.robot.yaml"
    path.write_text(two_levers(0.3))
    robot = lw.load(path)
    made = lw.collision.model(robot)
    motion = robot.motions["lift"]
    time = np.linspace(0, motion.duration, 21)
    q = motion.sample(time)[0]
    tip = robot.pose(q[10], robot.bodies[-1])[:3, 3]
    post = lw.collision.Obstacles({"post": lw.collision.Sphere(tip, 0.4)})
    monkeypatch.setattr(clearance, "PIXELS", tuple(n // 4 for n in clearance.PIXELS))
    page = write_clearance(tmp_path / "page.html", made, time, q, post).read_text()
    assert (
        "It touches itself or an obstacle in" in page and "post" in page and "1 obstacles" in page
    )
    assert page.count("data:image/png;base64,") == 1 and "<figure data-chart=" in page
    save_obstacles(post, tmp_path / "cell.obstacles.yaml")
    options = [
        "--steps",
        "21",
        "--out",
        str(tmp_path / "r.html"),
        "--obstacles",
        str(tmp_path / "cell.obstacles.yaml"),
    ]
    load_commands()
    assert (
        CliRunner().invoke(app, ["report", str(path), "--motion", "lift", *options]).exit_code == 0
    )
    report = (tmp_path / "r.html").read_text()
    assert (
        report.count("<h2>Clearance</h2>") == 1 and "It touches itself or an obstacle in" in report
    )
    without = CliRunner().invoke(app, ["report", str(path), *options])
    assert without.exit_code != 0 and "--obstacles are those of a motion" in str(
        without.exception or without.output
    )
    free = lw.collision.Obstacles({"far": lw.collision.Sphere((9, 9, 9), 0.1)})
    monkeypatch.setattr(clearance, "_picture", lambda *_: "")  # seen above
    page = write_clearance(tmp_path / "b.html", made, time, q, free).read_text()
    assert "It never touches itself or an obstacle." in page


def test_a_robot_without_shapes_has_no_such_part():
    assert section(lw.load("charmie"), SimpleNamespace(time=np.zeros(2), q=np.zeros((2, 1)))) == ""


def test_the_curve_marks_the_least_and_zero():
    text = _curve(np.array([0.0, 1.0, 2.0]), np.array([0.2, -0.1, 0.3]))
    chart = json.loads(unescape(re.search(r'data-chart="(.*?)"', text)[1]))
    assert chart["mark"] == [1.0, -0.1] and chart["zero"] and chart["x"] == [0.0, 1.0, 2.0]
    assert chart["series"] == [{"name": "clearance", "values": [0.2, -0.1, 0.3]}]
