"""Configuration of pytest and hypothesis, nothing else:
samples and robots live in modules of their own.

While tests are collected it notes who builds a robot; tests/test_collection.py refuses that.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import traceback
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from linkwork.subject import Subject

HERE = os.path.dirname(__file__)

# The same examples in every run, on every machine: a failure is then of the change, not of the
# draw. New draws: pytest --hypothesis-profile=explore. Nothing is timed: an example may compile a
# kernel, on a machine that is busy.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("linkwork", derandomize=True, **UNTIMED)
settings.register_profile("explore", print_blob=True, **UNTIMED)
settings.load_profile("linkwork")

# Run in the background of a shell, a process is told to ignore Ctrl-C,
# and so are the commands whose Ctrl-C is tested.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Commands draw for who looks: what a person's or a CI's shell says of its screen would fold and
# colour what is tested.
_ABOUT_A_SCREEN = (
    "COLUMNS LINES FORCE_COLOR NO_COLOR PY_COLORS TTY_COMPATIBLE TTY_INTERACTIVE GITHUB_ACTIONS"
)
for _name in _ABOUT_A_SCREEN.split():
    os.environ.pop(_name, None)


BUILT: list[str] = []
"""Where robots were built while tests were collected:
whoever runs one test should wait for that one alone."""
COLLECTED: set[str] = set()
"""Files of tests that were collected: those that are not cannot be judged."""
_subject_init = Subject.__init__


def _noted(self, *arguments, **options) -> None:
    stack = traceback.extract_stack()[:-1]  # without this line itself
    lines = [f"{line.filename}:{line.lineno}" for line in stack if HERE in line.filename]
    BUILT.extend(lines[-1:])
    _subject_init(self, *arguments, **options)


def pytest_sessionstart() -> None:
    Subject.__init__ = _noted


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: whoever looks through it for what can be freed finds
    nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collectstart(collector) -> None:
    if isinstance(collector, pytest.Module):
        COLLECTED.add(str(collector.path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pages first: who waits for the frames of a browser would keep everybody waiting at the
    end."""
    items.sort(key=lambda item: "view" not in item.path.parts)


def pytest_collection_finish() -> None:
    Subject.__init__ = _subject_init


def pytest_terminal_summary(terminalreporter) -> None:
    """Say in one line what a machine without a browser has not tested."""
    skipped = [
        r for r in terminalreporter.stats.get("skipped", ()) if "no chromium" in str(r.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests in a browser were skipped: `make browser` installs chromium"
        )
