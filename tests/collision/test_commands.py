"""The commands collide, pairs and fit: what they print, and what they answer by their exit code."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import linkwork as lw
from linkwork.cli.application import app, load_commands
from linkwork.collision import Box, HalfSpace, Obstacles, Sphere, commands, save_obstacles
from tests.collision.test_model import BALL_ARM, ROUND_ARM


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cell")
    (folder / "arm.urdf").write_text(ROUND_ARM)
    (folder / "balls.urdf").write_text(BALL_ARM)
    shapes = [
        HalfSpace((0, 0, 1), -0.5, "floor"),
        Box((0.1, 0.1, 0.1), (1.0, 0, 0.6), "block"),
        Sphere((5, 0, 0), 1, "far"),
    ]
    save_obstacles(Obstacles(shapes), folder / "cell.obstacles.yaml")
    load_commands()
    return folder


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_collide_says_what_is_nearest(cell):
    found = run(
        "collide",
        cell / "balls.urdf",
        "--obstacles",
        cell / "cell.obstacles.yaml",
        "--q",
        "shoulder=40deg",
        "--json",
    )
    facts = json.loads(found.output)
    assert found.exit_code == 0 and not facts["collides"] and facts["distance"] > 0.0
    model = lw.collision.model(lw.load(cell / "balls.urdf"))
    around = lw.collision.load_obstacles(cell / "cell.obstacles.yaml")
    expected = model.clearance(facts["q"], around)
    assert facts["distance"] == pytest.approx(float(expected.distance), abs=1e-12)
    assert (facts["body"], facts["other"]) == (expected.body, expected.other)


def test_collide_ends_with_one_where_it_touches(cell):
    """Straight up, the sleeve is in the camera that stands on the base."""
    found = run("collide", cell / "balls.urdf", "--obstacles", cell / "cell.obstacles.yaml")
    assert found.exit_code == 1
    assert (
        "arm collides: camera and sleeve overlap by" in found.output and "mm inside" in found.output
    )


def test_pairs_writes_an_srdf(cell):
    found = run("pairs", cell / "arm.urdf", "--samples", "500", "--out", cell / "arm.srdf")
    assert found.exit_code == 0 and "pairs are checked" in found.output
    assert "disable_collisions" in (cell / "arm.srdf").read_text()


def test_fit_writes_a_robot_of_spheres(cell):
    found = run(
        "fit", cell / "arm.urdf", "--spheres", "--tolerance", "30mm", "--out", cell / "spheres.urdf"
    )
    assert found.exit_code == 0 and "proved" in found.output
    again = lw.collision.model(lw.load(cell / "spheres.urdf"), pairs=[])
    assert {shape.kind for own in again.shapes.values() for shape in own} == {"sphere"}
    assert len(again.shapes["upper"]) > 1
    both = run("fit", cell / "arm.urdf", "--spheres", "--capsules")
    assert "expected one of them" in str(both.exception)


def test_a_wrong_question_is_refused_before_shapes_are_made(cell, monkeypatch):
    monkeypatch.setattr(commands, "_model", lambda *_: pytest.fail("shapes and pairs were made"))
    for words, expected in (
        (("--q", "1,2,3,4,5,6,7,8,9"), "--q: got 9 numbers"),
        (("--motion", "swing"), "swing"),
        (("--q", "neutral", "--motion", "swing"), "expected one of them"),
    ):
        refused = run("collide", cell / "arm.urdf", *words)
        assert refused.exit_code != 0 and expected in str(refused.exception)
