"""Answers: what a command found out, shown as tables or as one JSON document.

A command returns an `Answer` and prints nothing itself, so that it can be called as a function:

    from linkwork.cli.commands.fk import fk

    fk("ur5e").facts["poses"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import typer

from linkwork.cli.output import console, print_json, print_table


class Table(NamedTuple):
    """A table for people: its title, the words above its columns, its rows."""

    title: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True)
class Answer:
    """facts: what --json prints; tables, then lines: what people read; wrote: files, said by both; code: of the exit.

    wrote=None: a command that writes none, so that its facts have no such key.
    """

    facts: Mapping[str, Any]
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()
    wrote: Sequence[Path] | None = None
    code: int = 0


def show(answer: Answer, as_json: bool) -> None:
    """Print an answer."""
    if as_json:
        print_json(dict(answer.facts) if answer.wrote is None else {**answer.facts, "wrote": list(answer.wrote)})
        return
    for table in answer.tables:
        print_table(*table)
    for line in answer.lines:
        console().print(line, markup=False)
    for target in answer.wrote or ():
        console().print(f"wrote {target}", markup=False)


def printed(command: Callable[..., Any]) -> Callable[..., None]:
    """The command as the command line runs it: its answer is shown, its code is the exit's."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        answer = command(*arguments, **options)
        if isinstance(answer, Answer):
            show(answer, bool(options.get("as_json")))
            if answer.code:
                raise typer.Exit(answer.code)

    return run
