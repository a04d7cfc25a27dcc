"""Commands return answers: called as functions they print nothing,
and what is printed is the answer."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import typer

import linkwork as lw
from linkwork.cli import answer as answers
from linkwork.cli.answer import Answer, Branch, Table, printed, show
from linkwork.cli.application import app, load_commands
from linkwork.cli.commands.fk import fk
from linkwork.loads.commands import analyse
from linkwork.simulation.commands import simulate
from tests.cli.runs import COMMANDS, words


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


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_returns_what_json_prints(name, tmp_path, monkeypatch, capsys):
    """The function prints nothing; then its answer is printed, for machines and for people."""
    load_commands()
    monkeypatch.chdir(tmp_path)
    told = []

    def noticed(answer, as_json):
        told.append((answer, as_json, capsys.readouterr().out))
        show(answer, as_json)

    monkeypatch.setattr(answers, "show", noticed)
    app(words(name), standalone_mode=False)
    ((answer, as_json, before),) = told
    assert as_json and before == ""
    document = json.loads(capsys.readouterr().out)
    assert (
        document.keys() == {str(key) for key in answer.document}
        and document.keys() >= answer.facts.keys()
    )
    assert document.get("wrote", []) == [str(file) for file in answer.wrote or ()]
    assert all((tmp_path / file).is_file() for file in answer.wrote or ())
    show(answer, as_json=False)
    shown = capsys.readouterr().out
    assert shown.strip() and all(table.title.split(":")[0] in shown for table in answer.tables)
    assert ("wrote" in shown) == bool(answer.wrote)


def test_json_is_an_option_of_every_command_and_an_argument_of_none():
    load_commands()
    groups = [app, *(group.typer_instance for group in app.registered_groups)]
    found = [command for group in groups for command in group.registered_commands]
    assert len(found) >= len(COMMANDS)
    for command in found:
        assert "as_json" in inspect.signature(command.callback).parameters
        assert "as_json" not in inspect.signature(command.callback.__wrapped__).parameters, (
            command.name
        )


ANSWER = Answer(
    {"a": np.array([1.0, 2.0])},
    [Table("numbers", ("a",), [(1.0,), (2.0,)]), "[s] stays: :key:"],
    ["x.csv"],
    3,
)


def test_sentences_are_shown_as_they_are(capsys):
    show(ANSWER, as_json=False)
    assert "[s] stays: :key:" in capsys.readouterr().out
    show(
        Answer(
            {}, [Branch("arm", branches=[Branch("[base]", "hinge (revolute)", [Branch("tip")])])]
        ),
        as_json=False,
    )
    assert capsys.readouterr().out.split() == [
        "arm",
        "└──",
        "[base]",
        "hinge",
        "(revolute)",
        "└──",
        "tip",
    ]


def test_many_files_of_a_folder_are_counted(capsys):
    show(Answer({}, wrote=["a.html", *(f"figures/{k}.svg" for k in range(9))]), as_json=False)
    assert capsys.readouterr().out == "wrote a.html\nwrote 9 files into figures\n"


def test_what_goes_on_comes_after_the_answer(capsys):
    printed(lambda: Answer({}, ["open"], then=lambda: print("closed")))(as_json=False)
    assert capsys.readouterr().out == "open\nclosed\n"


def test_an_answer_is_shown_for_people_and_for_machines(capsys):
    show(ANSWER, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": [1.0, 2.0], "wrote": ["x.csv"]}
    show(Answer({"a": 1}), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_the_code_of_an_answer_is_the_exits():
    with pytest.raises(typer.Exit) as stop:
        printed(lambda: ANSWER)(as_json=True)
    assert stop.value.exit_code == 3
