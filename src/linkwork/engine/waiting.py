"""Waiting: a line on the terminal while something takes long, for the person who sits before it.

A script stays quiet. Somebody who typed a command or a line at the prompt sees after a second what
is going on and for how long; the line is wiped when it is done. Where a bar of rich is shown
already, it speaks for this too.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

PATIENCE = 1.0
"""How long nothing is said [s]."""
_STEP = 0.5
_commands: list[str] = []  # commands that run; none: a script, or the prompt
_turn = [True]  # whoever has it may speak: the outermost wait of one thread


@contextmanager
def on_the_command_line(name: str) -> Iterator[None]:
    """Inside, a person waits for a command."""
    _commands.append(name)
    try:
        yield
    finally:
        _commands.remove(name)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Inside, `what` is done; from the first second on it is said."""
    screen = sys.stderr
    if not _is_watched(screen) or not _taken():
        yield
        return
    done = threading.Event()
    speaker = threading.Thread(target=_speak, args=(screen, what, done), daemon=True)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join()
        _turn.append(True)


def _taken() -> bool:
    """Whether this wait may speak: of threads that ask at once, one may."""
    try:
        return _turn.pop()
    except IndexError:
        return False


def _is_watched(screen: TextIO | None) -> bool:
    is_person_there = bool(_commands) or hasattr(sys, "ps1")
    if not is_person_there or screen is None or hasattr(screen, "rich_proxied_file"):
        return False
    return bool(screen.isatty())


def _speak(screen: TextIO, what: str, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(PATIENCE):
        return
    line = ""
    while True:
        line = f"{what}: {time.monotonic() - start:.0f} s (kept for the next time)"
        screen.write(f"\r{line}")
        screen.flush()
        if done.wait(_STEP):
            break
    screen.write(f"\r{' ' * len(line)}\r")
    screen.flush()
