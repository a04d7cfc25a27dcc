"""Progress: a bar on the error stream while something takes time; nothing where no person looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from linkwork.cli.output import error_console

Tick = Callable[[int, int], None]


@contextmanager
def working(what: str) -> Iterator[Tick]:
    """A bar that pulses, with the time it takes, until it is told how much of how much is done:
    tick(done, total)."""
    if not sys.stderr.isatty() or not error_console().is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, transient=True, console=error_console()) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
