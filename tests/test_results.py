"""Results of every room have the same doors out, one line of text, and something for notebooks to show."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular


@functools.cache
def results() -> dict[str, Tabular]:
    arm, machine = lw.load("ur5e"), lw.load("four-bar")
    analysis = machine.analyse("turn", steps=11)
    at = machine.home
    zero = np.zeros(machine.nv)
    path = lw.trajectory.Path.line(arm.home, arm.home + 0.2)
    swept = lw.load("four-bar", live=["crank"])
    poses = [arm.pose(arm.home, "tool0"), lw.pose((0.0, 0.0, 0.05)) @ arm.pose(arm.home, "tool0")]
    return {
        "analysis": analysis,
        "simulation": lw.simulate(arm, arm.home, duration=0.05, step=0.01),
        "sweep": lw.studies.sweep(swept, "turn", {"crank": [0.3, 0.31]}, {"actuator.crank": "peak"}, steps=11),
        "law": lw.trajectory.minimum_time(arm, path),
        "line": lw.trajectory.line(arm, "tool0", poses, 0.2, 1.0, q0=arm.home),
        "solutions": arm.inverse_kinematics_all(poses[0], "tool0"),
        "inverse": arm.inverse_kinematics(poses[0], "tool0", q0=arm.home),
        "loads": machine.loads(at, zero, zero),
        "mobility": machine.mobility(),
        "selection": lw.studies.select(machine, "turn")["crank"],
    }


@pytest.mark.parametrize("name", ["analysis", "simulation", "sweep", "law", "line", "inverse", "loads"])
def test_numbers_leave_by_every_door_alike(name, tmp_path):
    result = results()[name]
    frame, array = result.to_pandas(), result.to_numpy()
    assert array.shape == frame.shape
    np.testing.assert_array_equal(array, frame.to_numpy(dtype=float))
    lines = result.to_csv(tmp_path / "x.csv").read_text().splitlines()
    assert lines[0].split(",") == list(frame.columns)
    assert len(lines) == len(frame) + 1
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(result.to_parquet(tmp_path / "x.parquet"))
    assert table.column_names == list(frame.columns)


@pytest.mark.parametrize("name", ["solutions", "mobility", "selection"])
def test_tables_with_words_leave_by_pandas_and_csv(name, tmp_path):
    result = results()[name]
    assert len(result.to_pandas()) == len(result.to_csv(tmp_path / "x.csv").read_text().splitlines()) - 1
    with pytest.raises(InvalidInput, match="holds text"):
        result.to_numpy()


def test_every_result_says_itself_in_one_line_and_shows_a_table():
    for name, result in results().items():
        assert "\n" not in repr(result), name
        assert repr(result).startswith("<"), name
        assert len(repr(result)) < 200, name
        assert "<table>" in result._repr_html_(), name
        assert "object at" not in result._repr_html_(), name


def test_a_batch_is_no_table():
    arm = lw.load("ur5e")
    batch = lw.simulate(arm, np.stack([arm.home, arm.home]), duration=0.02, step=0.01)
    with pytest.raises(InvalidInput, match="this is a batch"):
        batch.to_csv("never.csv")
    assert "<Simulation" in batch._repr_html_().replace("&lt;", "<")


def test_equations_show_as_mathematics():
    equations = lw.lagrange.System.planar_chain("RR", [2.0, 1.0], [3.0, 1.0], gravity=(0, -9.8)).equations()
    assert equations._repr_latex_().startswith("$$")
    assert r"\tau_{2} &=" in equations._repr_latex_()
    assert repr(equations).startswith("<Equations of ")
    assert "2 coordinates" in repr(equations)


def test_results_of_thousands_show_in_a_line_or_two():
    robot = lw.load("ur5e")
    model = lw.collision.model(robot)
    for result in (
        robot.forward_kinematics(robot.random(1000, seed=0)),
        robot.singularity(robot.random(1000, seed=0), "tool0"),
        model.clearance(robot.random(1000, seed=0)),
        lw.synthesis.PlanarTask(np.tile(np.arange(5) + 0j, (500, 1)), np.tile(np.arange(5.0), (500, 1))),
    ):
        assert len(repr(result)) < 600
        assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert "distance 0." in repr(model.clearance(robot.home))
