"""The command line as a subprocess: plain, interrupted, on a full disk, without permission,
on a screen."""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COMMAND = (
    sys.executable,
    "-c",
    "import sys; from linkwork_command import main; sys.argv[0] = 'linkwork'; main()",
)
"""What the installed script does."""

LEVER = Path(__file__).with_name("lever.robot.yaml")
# Every command once, with arguments under which it works; {out} stands for what it writes. Those of
# a room stand in its own tests, in a file command_runs.py.
COMMANDS: dict[str, tuple[str, ...]] = {
    "robots": (),
    "info": ("lever.robot.yaml",),
    "fk": ("lever.robot.yaml",),
    "id": ("lever.robot.yaml", "--q", "random"),
    "view": ("lever.robot.yaml", "--record", "{out}.png"),
    "convert": ("arm-2", "{out}.urdf"),
    "check": ("lever.robot.yaml",),
    "report": ("lever.robot.yaml", "--motion", "lift", "--out", "{out}.html"),
    "bench": ("lever.robot.yaml", "--samples", "64"),
    "new": ("{out}.robot.yaml", "--joints", "rr", "--length", "300mm", "--mass", "1"),
    "doctor": (),
    "schema": ("{out}.json",),
}
for _runs in sorted(Path(__file__).parents[1].glob("*/command_runs.py")):
    COMMANDS |= importlib.import_module(f"tests.{_runs.parent.name}.command_runs").COMMANDS
WRITING = [name for name, words in COMMANDS.items() if any("{out}" in word for word in words)]


def words(name: str, for_machines: bool = True) -> list[str]:
    """The words of a command of the table above."""
    here = {file.name: str(file) for file in LEVER.parent.glob("*.yaml")}
    given = (here.get(w, w.replace("{out}", "out")) for w in COMMANDS[name])
    return [*name.split(), *given, *(["--json"] if for_machines else [])]


def run(
    *args: str, cwd: Path | None = None, timeout: float = 900
) -> subprocess.CompletedProcess[str]:
    """A command, from the start of its interpreter."""
    return subprocess.run(
        [*COMMAND, *args],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        check=False,
        stdin=subprocess.DEVNULL,
    )


class Server:
    """Commands in forked processes; see fork_server.py."""

    def __init__(self) -> None:
        here = Path(__file__).with_name("fork_server.py")
        self.process = subprocess.Popen(
            [sys.executable, str(here)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, *args: str, cwd: Path | None = None, before: str = "", obedient: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """A command; `before` is Python that runs in its process first; obedient:
        bound by permissions, root or not."""
        request = {
            "args": args,
            "cwd": str(cwd or Path.cwd()),
            "before": before,
            "obedient": obedient,
        }
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return subprocess.CompletedProcess(args, answer["code"], answer["out"], answer["err"])

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(300)
        self.process.stdout.close()


@functools.cache
def shared_server() -> Server:
    """One for all the tests of this process: it takes seconds to start."""
    running = Server()
    atexit.register(running.close)
    return running


FULL_DISK = """
import errno, os
from linkwork.formats import files
class Full:
    def __init__(self, file): self.file = file
    def __enter__(self): return self
    def __exit__(self, *_): self.file.close()
    def write(self, data):
        self.file.write(data[: len(data) // 2]); self.file.flush()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
real = files.os.fdopen
files.os = type("os", (), {n: getattr(os, n) for n in dir(os)} | {"fdopen": staticmethod(lambda *a: Full(real(*a)))})
"""
"""Half of what is written arrives, then the disk is full."""

INTERRUPT_AT_WRITING = """
import os, signal
from linkwork.formats import files
def pressed(handle): signal.raise_signal(signal.SIGINT)
files.os = type("os", (), {n: getattr(os, n) for n in dir(os)} | {"fsync": staticmethod(pressed)})
"""
"""Ctrl-C at the worst moment: the temporary file is there, the rename is not."""


def interrupt_after(calls: int) -> str:
    """Ctrl-C in the middle of the work: at a call of a function of linkwork,
    counted from the start of `main`."""
    return f"""
import signal, sys
left = {calls}
def watch(frame, event, argument):
    global left
    if event == "call" and "linkwork/" in frame.f_code.co_filename:
        left -= 1
        if not left:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)
import linkwork_command
real = linkwork_command.signal.signal
def after_imports(number, handler):
    if getattr(handler, "__name__", "") == "notice": sys.setprofile(watch)
    return real(number, handler)
signal.signal = after_imports
"""


def on_a_screen(args: Sequence[str], cwd: Path, timeout: float = 900) -> str:
    """What a terminal of 100 columns shows: output and bars."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=cwd,
        env=environment,
        close_fds=True,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    assert process.wait(timeout) == 0, shown.decode(errors="replace")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))  # without colours
