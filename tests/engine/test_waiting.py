"""Waiting: long compiles say so to a person at a terminal, and to nobody else."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

import linkwork as lw
from linkwork.engine import waiting as room
from linkwork.engine.waiting import on_the_command_line, waiting


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch):
    """A terminal, a person who has been patient for a hundredth of the time."""
    seen = Screen()
    monkeypatch.setattr(room, "sys", SimpleNamespace(stderr=seen))
    monkeypatch.setattr(room, "PATIENCE", 0.01)
    monkeypatch.setattr(room, "_STEP", 0.01)
    return seen


def _wait_for(screen: Screen, words: str) -> None:
    for _ in range(60_000):
        if re.search(words, screen.getvalue()):
            return
        time.sleep(0.01)
    raise AssertionError(screen.getvalue())


def test_a_command_says_what_it_waits_for_and_wipes_the_line(screen):
    with on_the_command_line("fk"), waiting("compiling mass_matrix"):
        _wait_for(screen, r"compiling mass_matrix: \d+ s")
    last = screen.getvalue().split("\r")
    assert last[-1] == "" and last[-2].strip() == "" and len(last[-2]) == len(last[-3])


def test_a_line_typed_at_the_prompt_is_told_too(screen, monkeypatch):
    monkeypatch.setattr(room, "sys", SimpleNamespace(stderr=screen, ps1=">>> "))
    with waiting("compiling"):
        _wait_for(screen, "compiling")


def test_scripts_hear_nothing(screen):
    with waiting("compiling"):
        time.sleep(0.1)
    assert screen.getvalue() == ""


def test_a_stream_that_is_no_terminal_hears_nothing(screen, monkeypatch):
    quiet = io.StringIO()
    monkeypatch.setattr(room, "sys", SimpleNamespace(stderr=quiet))
    with on_the_command_line("fk"), waiting("compiling"):
        time.sleep(0.1)
    assert quiet.getvalue() == ""


def test_what_is_short_is_not_mentioned(screen, monkeypatch):
    monkeypatch.setattr(room, "PATIENCE", 60.0)
    with on_the_command_line("fk"), waiting("compiling"):
        pass
    assert screen.getvalue() == ""


def test_one_line_at_a_time_inside_another_and_in_threads(screen):
    def other() -> None:
        with waiting("compiling beside"):
            time.sleep(0.05)

    with on_the_command_line("fk"), waiting("compiling outside"):
        beside = threading.Thread(target=other)
        beside.start()
        with waiting("compiling inside"):
            _wait_for(screen, "compiling outside")
        beside.join()
    assert "inside" not in screen.getvalue() and "beside" not in screen.getvalue()


def test_an_error_ends_the_line(screen):
    def failing() -> None:
        with on_the_command_line("fk"), waiting("compiling"):
            _wait_for(screen, "compiling")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert screen.getvalue().endswith("\r") and not room._commands and room._turn


SESSION = """
from linkwork.engine import waiting
waiting.PATIENCE = waiting._STEP = 0.001
import linkwork as lw
robot = lw.load("panda")
done = robot.inverse_dynamics_derivatives(robot.home, robot.home, robot.home)
print("ready", done[0].shape)
"""


@pytest.mark.parametrize("is_prompt", [True, False])
def test_on_a_real_terminal(is_prompt, tmp_path):
    """At the prompt of Python a first call says that it compiles;
    the same lines in a script say nothing."""
    (tmp_path / "script.py").write_text(SESSION)
    command = [sys.executable, "-q", "-i"] if is_prompt else [sys.executable, "script.py"]
    master, slave = pty.openpty()
    environment = {**os.environ, "LINKWORK_CACHE": str(tmp_path / "cache"), "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, cwd=tmp_path, env=environment
    )
    os.close(slave)
    if is_prompt:
        os.write(master, (SESSION + "exit()\n").encode())
    shown = b""
    while True:
        try:
            shown += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    assert process.wait(600) == 0
    assert b"ready (7, 7)" in shown
    said = re.search(rb"\rcompiling inverse_dynamics_derivatives: \d+ s", shown)
    assert bool(said) == is_prompt, shown


def test_the_log_has_every_compile(caplog):
    robot = lw.load("ur5e").with_gravity((0.0, 0.0, -9.7 - time.time() % 1e-3))
    with caplog.at_level("INFO", logger="linkwork"):
        robot.mass_matrix(robot.home)
    assert re.search(r"compiled mass_matrix in \d+\.\d\d s", caplog.text)
