"""Answers: what a command found out, shown to people or printed as one JSON document.

A command returns an `Answer` and prints nothing itself, so that it can be called as a function:

    from linkwork.cli.commands.fk import fk

    fk("ur5e").facts["poses"]

Printing, the option --json and "wrote" are here, once.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from linkwork.cli.output import print_json, print_line, print_table, print_tree
from linkwork.engine.waiting import on_the_command_line

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of a table.")]
SEVERAL = 4
"""Files of one folder beyond which their number is told, not each."""


class Table(NamedTuple):
    """A table for people: its title, the words above its columns, its rows."""

    title: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


class Branch(NamedTuple):
    """A tree for people: its name, a word about it, what hangs on it."""

    name: str
    note: str = ""
    branches: Sequence[Branch] = ()


@dataclass(frozen=True)
class Answer:
    """facts: what --json prints; shown: what people read, in order; wrote: files, said by both;
    code: of the exit.

    wrote=None: a command that writes none, so that its facts have no such key. then: what goes on
    after the answer is shown, such as a page that is served until Ctrl-C.
    """

    facts: Mapping[str, Any]
    shown: Sequence[Table | Branch | str] = ()
    wrote: Sequence[Path] | None = None
    code: int = 0
    then: Callable[[], None] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """What --json prints."""
        return dict(self.facts) if self.wrote is None else {**self.facts, "wrote": list(self.wrote)}

    @property
    def tables(self) -> list[Table]:
        return [part for part in self.shown if isinstance(part, Table)]


def show(answer: Answer, as_json: bool) -> None:
    """Print an answer."""
    if as_json:
        print_json(answer.document)
        return
    for part in answer.shown:
        if isinstance(part, Table):
            print_table(*part)
        elif isinstance(part, Branch):
            print_tree(part)
        else:
            print_line(part)
    for line in _written(answer.wrote or ()):
        print_line(line)


def printed(command: Callable[..., Any]) -> Callable[..., None]:
    """The command as the command line runs it: with --json, its answer shown, its code the
    exit's."""
    signature = inspect.signature(command, eval_str=True)
    has_json = "as_json" in signature.parameters

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        as_json = bool(options.get("as_json") if has_json else options.pop("as_json", False))
        with on_the_command_line(command.__name__):
            answer = command(*arguments, **options)
        if not isinstance(answer, Answer):
            return
        show(answer, as_json)
        if answer.then is not None:
            sys.stdout.flush()
            answer.then()
        if answer.code:
            raise typer.Exit(answer.code)

    if not has_json:
        option = inspect.Parameter(
            "as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json
        )
        signature = signature.replace(parameters=[*signature.parameters.values(), option])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    return run


def _written(files: Sequence[Path]) -> list[str]:
    """A line a file; of many files in one folder their number."""
    folders: dict[Path, list[Path]] = {}
    for file in files:
        folders.setdefault(Path(file).parent, []).append(file)
    lines = []
    for folder, inside in folders.items():
        many = len(inside) > SEVERAL
        lines += (
            [f"wrote {len(inside)} files into {folder}"]
            if many
            else [f"wrote {file}" for file in inside]
        )
    return lines
