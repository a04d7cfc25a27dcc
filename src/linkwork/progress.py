"""Progress: who is told how much of something long is done: a function, a bar on the terminal,
or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int], None]
"""Takes (done, all)."""


@contextmanager
def reported(progress: bool | Report | None, what: str, total: int) -> Iterator[Report]:
    """What to call with (done, all): the user's function, a bar on the error stream, or nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, all_: None
    else:
        from rich.console import Console  # loads slowly, and only whoever wants a bar waits for it
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done, all_: bar.update(task, completed=done)


@contextmanager
def counted(
    progress: bool | Report | None, what: str, total: int
) -> Iterator[Callable[[int], None] | None]:
    """What to call with the number done since the last call; None where nobody wants to know."""
    if not progress:
        yield None
        return
    done = 0
    with reported(progress, what, total) as report:

        def tick(count: int) -> None:
            nonlocal done
            done += count
            report(done, total)

        yield tick
