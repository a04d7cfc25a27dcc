"""Every command as a subprocess, in every kind of trouble."""

from __future__ import annotations

import json

import pytest

from tests.cli.runs import (
    COMMANDS,
    FULL_DISK,
    INTERRUPT_AT_WRITING,
    LEVER,
    WRITING,
    interrupt_after,
    on_a_screen,
    run,
    shared_server,
    words,
)

OF_A_ROBOT = [
    name
    for name, given in COMMANDS.items()
    if name not in ("robots", "reproduce", "new", "synthesis new", "doctor", "schema", "stability")
]
FEW_CALLS = {"robots": 5, "schema": 5, "new": 5, "synthesis new": 5, "doctor": 20}
"""Where Ctrl-C comes in commands that are done with less."""
# name -> an option with a number, and what is no such number
NUMBERS = {
    "fk": ("--q", "1 x"),
    "ik": ("--xyz", "1 2"),
    "id": ("--a", "1 2 3"),
    "simulate": ("--duration", "-1"),
    "analyse": ("--steps", "0"),
    "study sweep": ("--vary", "pull=0:200:many"),
    "study balance": ("--poses", "few"),
    "study actuators": ("--margin", "big"),
    "minimum-time": ("--torque", "1 -"),
    "report": ("--steps", "none"),
    "bench": ("--samples", "0"),
    "new": ("--mass", "-2"),
}


@pytest.fixture(scope="module")
def server():
    return shared_server()


def replaced(name: str, robot: str) -> list[str]:
    """The words of a command with another robot."""
    given = words(name)
    given[len(name.split())] = robot
    return given


def left_behind(folder) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_the_table_knows_every_command():
    help_text = run("--help").stdout
    rows = help_text.partition("Commands:\n")[2].splitlines()
    listed = {row.split()[0] for row in rows if row[:2] == "  " and row[2].isalpha()}
    assert listed == {name.split()[0] for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_machines_read_one_document(name, server, tmp_path):
    done = server.run(*words(name), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if name in WRITING:
        assert all((tmp_path / target).stat().st_size > 0 for target in found["wrote"])
        assert left_behind(tmp_path) == sorted(found["wrote"])
    else:
        assert not left_behind(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_is_quiet(name, server, tmp_path):
    done = server.run(*words(name), cwd=tmp_path, before=interrupt_after(FEW_CALLS.get(name, 150)))
    assert done.returncode == 130, (done.stdout, done.stderr)
    assert done.stderr.strip() == "interrupted" and not left_behind(tmp_path)


@pytest.mark.parametrize("name", WRITING)
def test_ctrl_c_while_writing_leaves_nothing(name, server, tmp_path):
    done = server.run(*words(name), cwd=tmp_path, before=INTERRUPT_AT_WRITING)
    assert done.returncode == 130, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and not left_behind(tmp_path)


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_leaves_nothing(name, server, tmp_path):
    done = server.run(*words(name), cwd=tmp_path, before=FULL_DISK)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr
    # convert also says what URDF cannot hold
    assert len(done.stderr.strip().splitlines()) == 1 or name == "convert"
    assert not left_behind(tmp_path)


@pytest.mark.parametrize("name", WRITING)
def test_no_permission_is_a_sentence(name, server, tmp_path):
    tmp_path.chmod(0o500)
    done = server.run(*words(name), cwd=tmp_path, obedient=True)
    tmp_path.chmod(0o700)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert (
        "Permission denied" in done.stderr
        and "Traceback" not in done.stderr
        and not left_behind(tmp_path)
    )


@pytest.mark.parametrize("name", OF_A_ROBOT)
def test_a_wrong_name_is_answered_with_the_nearest(name, server, tmp_path):
    done = server.run(*replaced(name, "ur5ee"), cwd=tmp_path)
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert (
        'did you mean "ur5e"' in done.stderr
        and "Traceback" not in done.stderr
        and not left_behind(tmp_path)
    )


@pytest.mark.parametrize("name", OF_A_ROBOT)
def test_a_broken_file_is_named_with_its_line(name, server, tmp_path):
    text = LEVER.read_text().replace("type: revolute", "type: screw")
    (tmp_path / "a.robot.yaml").write_text(text)
    line = 1 + text[: text.index("screw")].count("\n")
    done = server.run(*replaced(name, "a.robot.yaml"), cwd=tmp_path)
    assert done.returncode == 4, (done.stdout, done.stderr)
    assert (
        f"a.robot.yaml:{line}:" in done.stderr
        and "Traceback" not in done.stderr
        and left_behind(tmp_path) == ["a.robot.yaml"]
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_a_wrong_number_is_a_sentence(name, server, tmp_path):
    option, value = NUMBERS[name]
    given = words(name)
    given = (
        [*given[: given.index(option)], *given[given.index(option) + 2 :]]
        if option in given
        else given
    )
    done = server.run(*given, option, value, cwd=tmp_path)
    assert done.returncode in (2, 5), (done.stdout, done.stderr)
    assert (
        option.strip("-") in done.stderr
        and "Traceback" not in done.stderr
        and not left_behind(tmp_path)
    )


@pytest.mark.parametrize("name", ["simulate", "study sweep", "report", "info", "reproduce"])
def test_a_bar_shows_on_a_screen(name, tmp_path):
    shown = on_a_screen(words(name, for_machines=False), tmp_path)
    assert "━━━━━━━━" in shown and "0:00:0" in shown  # the bar, and the time that passes


def test_the_bar_of_a_sweep_fills(tmp_path):
    given = [
        "study",
        "sweep",
        str(LEVER),
        "--vary",
        "pull=0:200:3000",
        "--column",
        "actuator.hinge",
    ]
    shown = on_a_screen([*given, "--steps", "100"], tmp_path)
    assert "100%" in shown and "3000 designs" in shown
    assert shown.count("│") < 60 * 4  # of thousands of designs a few are printed


def test_nothing_but_the_answer_where_nobody_looks(tmp_path):
    done = run(*words("simulate", for_machines=False), cwd=tmp_path)
    assert done.stderr == "" and "\x1b" not in done.stdout
