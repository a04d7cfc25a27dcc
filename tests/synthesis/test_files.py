"""Task files, drawings, plates to cut, commands and the page."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork as lw
from linkwork.cli.application import app, load_commands
from linkwork.errors import InvalidFile, InvalidInput, NotPossible
from linkwork.synthesis import (
    PlanarTask,
    burmester,
    fit,
    plates,
    read_task,
    save_picture,
    svg,
    traced_path,
    write_task,
)
from linkwork.synthesis.drawings import draw
from linkwork.synthesis.task_files import EXAMPLE, task_of
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4
from tests.synthesis.test_linkages import crank_rocker


def test_the_example_reads_in_its_units():
    file = task_of(EXAMPLE.format(name="hatch"))
    assert file.name == "hatch" and file.task.n == 5 and file.options == {}
    assert file.task.positions[1] == pytest.approx(0.01 + 0.135j)
    assert file.task.angles[1] == pytest.approx(np.deg2rad(22))
    assert file.task.tolerance[0] == pytest.approx([0.005, 0.005, np.deg2rad(2)])


def test_a_written_task_is_the_same_task(tmp_path):
    angles = TABLE_4.angles.copy()
    angles[2] = np.nan
    task = PlanarTask(TABLE_4.positions, angles, tolerance=(0.1, 0.2, 0.3), weights=[1, 2, 3, 4, 5])
    write_task(tmp_path / "x.task.yaml", "x", task)
    again = read_task(tmp_path / "x.task.yaml").task
    for name in ("positions", "angles", "tolerance", "weights"):
        assert np.array_equal(getattr(again, name), getattr(task, name), equal_nan=True)


def test_pairs_of_a_function_are_read_in_their_units(tmp_path):
    text = "linkwork: 1\nname: f\nunits: {length: mm, angle: deg}\n"
    file = task_of(text + "output: slider\npairs: [[0, 0], [90, 5]]")
    assert file.task.output == "slider" and list(file.task.outputs) == [0, 0.005]
    assert file.task.inputs == pytest.approx([0, np.pi / 2], abs=0)
    scaled = task_of(text + "scale: [0.1, 0.2]\npairs: [[0, 0], [90, 5]]").task
    assert (
        list(scaled.inputs) == [0, 90]
        and scaled.output == "rocker"
        and list(scaled.scale) == [0.1, 0.2]
    )
    write_task(tmp_path / "f.task.yaml", "f", scaled)
    again = read_task(tmp_path / "f.task.yaml").task
    assert list(again.inputs) == [0, 90] and list(again.scale) == [0.1, 0.2]


def test_options_of_a_fit_are_read(tmp_path):
    text = "linkwork: 1\nname: f\nunits: {length: mm, angle: deg}\npositions: "
    text += "[{at: [0, 0], velocity: [100, 0, 90]}, {at: [1, 0]}]\n"
    file = task_of(text + "topology: Watt I\nbounds: {length: [20, 500], ratio: 9}\nbest: 3")
    assert file.options["topology"] == "Watt I" and file.options["best"] == 3
    assert list(file.options["bounds"]["length"]) == [0.02, 0.5] and list(
        file.options["bounds"]["ratio"]
    ) == [9]
    assert (
        file.task.velocities[0] == pytest.approx([0.1, 0, np.pi / 2])
        and np.isnan(file.task.velocities[1]).all()
    )
    write_task(tmp_path / "v.task.yaml", "v", file.task)
    again = read_task(tmp_path / "v.task.yaml").task
    assert np.array_equal(again.velocities, file.task.velocities, equal_nan=True)


WRONG = [
    ("", "empty"),
    ("linkwork: 1\nname: x\npairs: [[0, 0]]", "1 pairs"),
    ("linkwork: 1\nname: x\npairs: [[0, 0, 1]]", "3:.*2 numbers"),
    (
        "linkwork: 1\nname: x\noutput: rocker\npositions: [{at: [0, 0]}, {at: [1, 0]}]",
        'belongs to "pairs"',
    ),
    (
        "linkwork: 1\nname: x\ntopology: Watt 1\npositions: [{at: [0, 0]}, {at: [1, 0]}]",
        "3:.*did you mean",
    ),
    ("linkwork: 1\nname: x\n", "positions"),
    ("linkwork: 1\nname: x\npositions: [{at: [0, 0]}]", "at least 2"),
    ("linkwork: 2\nname: x\npositions: [{at: [0, 0]}, {at: [1, 0]}]", "expected 1"),
    ("linkwork: 1\nname: x\npositions: [{at: [0, 0]}, {att: [1, 0]}]", "3:.*did you mean"),
    ("linkwork: 1\nname: x\npositions: [{at: [0, here]}, {at: [1, 0]}]", "3:.*number"),
    ("linkwork: 1\nname: x\npositions: [{at: [0, 0], timing: 1}, {at: [1, 0]}]", "timing"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[words for _, words in WRONG])
def test_wrong_files_name_line_and_key(text, words):
    with pytest.raises(InvalidFile, match=words):
        task_of(text, "wrong.task.yaml")


def test_a_saved_dxf_has_its_holes_where_they_belong(tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    linkage = crank_rocker()
    parts = plates(linkage, 0.4, 0.15)
    document = ezdxf.readfile(parts.save(tmp_path / "parts.dxf"))
    assert {layer.dxf.name for layer in document.layers} >= set(linkage.topology.bodies)
    for body, points in linkage.topology.bodies.items():
        circles = [
            e for e in document.modelspace() if e.dxftype() == "CIRCLE" and e.dxf.layer == body
        ]
        holes = [
            complex(c.dxf.center.x, c.dxf.center.y)
            for c in circles
            if abs(c.dxf.radius - 75) < 1e-9
        ]
        for point in points:
            if any(point == pin[0] for pin in linkage.topology.pins):
                assert min(abs(h - 1000 * linkage.at(point)) for h in holes) < 1e-6
    outline = next(
        e for e in document.modelspace() if e.dxftype() == "LWPOLYLINE" and e.dxf.layer == "crank"
    )
    corners = np.array([complex(x, y) for x, y, *_ in outline.get_points()]) / 1000
    ends = np.array([linkage.at("A"), linkage.at("B")])
    # round ends of half the width
    assert np.abs(np.abs(corners[:, None] - ends).min(axis=-1) - 0.2).max() < 1e-9


def test_bodies_at_one_pin_lie_in_different_layers():
    parts = {p.body: p.layer for p in plates(crank_rocker(), 0.4, 0.15).parts}
    for _, a, b in crank_rocker().topology.pins:
        assert parts[a] != parts[b]


def test_pictures(tmp_path):
    linkage = crank_rocker()
    text = svg(linkage, CRANK_ROCKER, burmester(CRANK_ROCKER[:4], 100))
    # bodies, and pins on the ground
    assert text.count("<polygon") == 3 and text.count("<path") == 2
    assert text.count("<text") == 9 and all(f">{name}</text>" in text for name in "ADBC12345")
    assert plates(linkage, 0.4, 0.15).save(tmp_path / "parts.svg").read_text().count("<circle") == 8
    assert (
        save_picture(tmp_path / "l.svg", linkage, CRANK_ROCKER).read_text().count("<polygon") == 3
    )
    with pytest.raises(InvalidInput, match="unknown ending"):
        save_picture(tmp_path / "l.jpg", linkage)
    path = traced_path(linkage)
    for p in CRANK_ROCKER.positions:
        assert np.abs(path - p).min() < 0.1  # between two postures


def test_a_png_shows_what_the_svg_shows(tmp_path):
    figure = pytest.importorskip("matplotlib.figure")
    from matplotlib.image import imread

    linkage = crank_rocker()
    picture = imread(
        save_picture(tmp_path / "l.png", linkage, CRANK_ROCKER, burmester(CRANK_ROCKER[:4], 100))
    )
    assert picture.shape[:2] == (1440, 1440) and np.ptp(picture[..., :3]) > 0.9
    axes = figure.Figure().add_subplot()
    draw(axes, linkage, CRANK_ROCKER)
    marks = [
        (line.get_marker(), complex(*line.get_xydata()[0]))
        for line in axes.lines
        if line.get_marker() != "None"
    ]
    for name in "ADBC":
        marker = "^" if name in "AD" else "o"  # on the ground, and between bodies
        assert (
            min(abs(z - complex(linkage.at(name))) for kind, z in marks if kind == marker) < 1e-12
        )
    assert {text.get_text() for text in axes.texts} == set("ADBC12345")
    assert len(axes.patches) == 6  # three bodies, filled and framed
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert right - left == pytest.approx(high - low)
    path = traced_path(linkage)
    assert (
        left < path.real.min()
        and path.real.max() < right
        and low < path.imag.min()
        and path.imag.max() < high
    )


def test_bad_plates(tmp_path):
    with pytest.raises(NotPossible, match="too small for a hole"):
        plates(crank_rocker(), 0.1, 0.09)
    with pytest.raises(InvalidInput, match="positive"):
        plates(crank_rocker(), -1, 0.09)
    with pytest.raises(InvalidInput, match="ending"):
        plates(crank_rocker(), 0.4, 0.1).save(tmp_path / "parts.pdf")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_commands("synthesis")
    return lambda *words: CliRunner().invoke(app, ["synthesis", *words])


def test_commands_from_a_new_task_to_a_robot(run, tmp_path):
    assert run("new", "hatch").exit_code == 0
    assert run("new", "hatch").exit_code != 0
    solved = run("solve", "hatch.task.yaml", "--out", "hatch.robot.yaml", "--json")
    assert solved.exit_code == 0
    told = json.loads(solved.stdout)
    assert told["linkages"] and told["task"] == "hatch"
    robot = lw.load(tmp_path / "hatch.robot.yaml")
    assert robot.mobility().degrees == 1 and robot.assemble().success
    found = run("search", "hatch.task.yaml", "--samples", "300", "--out", "hatch.svg", "--json")
    assert found.exit_code == 0 and json.loads(found.stdout)["linkages"]
    assert (
        run("check", "hatch.task.yaml", "--ground", "0 0 1 0", "--moving", "0 1 1 1").exit_code == 0
    )
    assert run("solve", "hatch.task.yaml", "--out", "x.robot.yaml", "--pick", "99").exit_code != 0
    assert run("solve", "nothing.task.yaml").exit_code != 0


SIX_POSES = """\
linkwork: 1
name: flap
units: {length: mm, angle: deg}
starts: 24
best: 3
positions:
  - {at: [0, 0], angle: 0}
  - {at: [150, 120], angle: 20}
  - {at: [270, 200], angle: 45}
  - {at: [360, 220], angle: 70}
  - {at: [420, 200], angle: 90}
  - {at: [460, 150], angle: 110}
"""


def test_every_topology_and_kind_of_task_from_the_command_line(run, tmp_path):
    """What `fit` takes in Python a file takes too, and a report tells of it."""
    (tmp_path / "flap.task.yaml").write_text(SIX_POSES)
    file = read_task("flap.task.yaml")
    for topology in ("four-bar", "Watt I", "Stephenson III"):
        out = "six.robot.yaml" if topology == "Watt I" else "flap.html"
        answer = run("fit", "flap.task.yaml", "--topology", topology, "--json", "--out", out)
        assert answer.exit_code == 0, answer.output
        told = json.loads(answer.stdout)["linkages"]
        direct = fit(file.task, topology, starts=24, best=3)
        assert [row["rms"] for row in told] == list(direct.rms) and told[0]["topology"] == topology
        assert told[0]["angle"] == pytest.approx(np.degrees(direct.angle_worst[0]))
    assert lw.load(tmp_path / "six.robot.yaml").mobility().degrees == 1
    page = (tmp_path / "flap.html").read_text()  # the last fit: Stephenson III
    assert page.count('<td class="number" data-value=') >= 6 * 3 + 3 * len(told)
    assert page.count("<h2>") == 3 + len(told) and page.count("<span>transmission angle<") == len(
        told
    )
    assert page.count('class="verdict') == len(told) and "http" not in page.replace(
        "http://www.w3.org", ""
    )
    (tmp_path / "f.task.yaml").write_text(
        "linkwork: 1\nname: f\nstarts: 50\npairs: [[0, 0], [0.3, 0.2], [0.6, 0.5]]\n"
    )
    for command in ("solve", "fit"):
        answer = run(command, "f.task.yaml", "--json", "--out", "f.html")
        assert answer.exit_code == 0 and json.loads(answer.stdout)["linkages"][0]["rms"] < 1e-12
    assert "<h2>Pairs</h2>" in (tmp_path / "f.html").read_text()
    assert run("search", "f.task.yaml").exit_code != 0
    assert run("fit", "f.task.yaml", "--topology", "Watt I").exit_code != 0


def test_the_page_follows_a_drag():
    pytest.importorskip("viser")
    from linkwork.view.synthesis_page import SynthesisPage

    page = SynthesisPage(CRANK_ROCKER, "hatch", port=0)
    try:
        before = page.curves.center.copy()
        page.choose(1)
        assert page.linkage is not None and page._motion is not None
        page.move(3, complex(CRANK_ROCKER.positions[2]) + 0.02)
        assert len(page.known) >= 1
        assert not np.array_equal(before, page.curves.center)
        page.move(3, complex(CRANK_ROCKER.positions[0]), float(CRANK_ROCKER.angles[0]))
        assert "equal" in page.status.content
    finally:
        page.close()


def test_known_linkages_follow_points_by_newton():
    from linkwork.synthesis import check, four_bar
    from linkwork.synthesis.following import followed
    from tests.synthesis.test_four_bars import sampled

    positions, angles = sampled(9, 6)
    B = positions[0] - (1.5 + 2j) * np.exp(1j * angles[0])
    linkage = four_bar([0, 4], [B, B + 3.5 * np.exp(1j * angles[0])], positions[0])
    turns = np.stack([np.zeros(9), angles - angles[0], np.zeros(9)], axis=-1)
    order = [linkage.topology.moving.index(b) for b in ("crank", "coupler", "rocker")]
    known = type(linkage)(linkage.topology, linkage.points, turns[:, np.argsort(order)])
    moved = positions.copy()
    moved[4] += 1e-3
    other = followed(known, PlanarTask(moved))
    assert other is not None
    assert not check(other, PlanarTask(moved)).circuit
