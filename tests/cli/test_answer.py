"""Commands return answers: called as functions they print nothing, and what is printed is the answer."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table, printed, show
from linkwork.cli.commands.fk import fk
from linkwork.loads.commands import analyse
from linkwork.simulation.commands import simulate


def test_a_command_is_a_function_that_prints_nothing(capsys):
    robot = lw.load("ur5e")
    answer = fk("ur5e", frame="tool0")
    np.testing.assert_array_equal(answer.facts["pose"], robot.pose(robot.neutral(), "tool0"))
    assert answer.tables[0].header[-1] == "position [m]"
    assert capsys.readouterr() == ("", "")


def test_files_that_were_written_are_named(tmp_path, capsys):
    (path,) = simulate("ur5e", duration=0.05, out=tmp_path / "fall.csv").wrote
    assert path.is_file()
    assert analyse("charmie", steps=11).wrote == []
    assert capsys.readouterr().out == ""


ANSWER = Answer({"a": np.array([1.0, 2.0])}, [Table("numbers", ("a",), [(1.0,), (2.0,)])], ["[s] stays"], ["x.csv"], 3)


def test_an_answer_is_shown_for_people_and_for_machines(capsys):
    show(ANSWER, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": [1.0, 2.0], "wrote": ["x.csv"]}
    show(Answer({"a": 1}), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_the_code_of_an_answer_is_the_exits():
    with pytest.raises(typer.Exit) as stop:
        printed(lambda as_json: ANSWER)(as_json=True)
    assert stop.value.exit_code == 3
