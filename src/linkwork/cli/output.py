"""Output: tables for people, JSON for machines.
What draws tables is imported when the first is drawn."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 200
"""Columns where nobody looks at a screen: a table in a file or a pipe is not folded."""


@cache
def console() -> Console:
    from rich.console import Console

    return Console(highlight=False, emoji=False, soft_wrap=True, width=_width(sys.stdout))


@cache
def error_console() -> Console:
    from rich.console import Console

    return Console(
        stderr=True, highlight=False, emoji=False, soft_wrap=True, width=_width(sys.stderr)
    )


def print_json(value: Any) -> None:
    """One JSON document on standard output; arrays as nested lists, infinities as null."""
    json.dump(_plain(value), sys.stdout, indent=1)
    sys.stdout.write("\n")


def print_line(text: str) -> None:
    """A sentence, as it is."""
    console().print(text, markup=False)


def print_tree(top: Any) -> None:
    """A tree of (name, note, branches)."""
    from rich.markup import escape
    from rich.tree import Tree

    def label(branch: Any) -> str:
        return escape(branch.name) + (f"  [dim]{escape(branch.note)}[/dim]" if branch.note else "")

    root = Tree(f"[bold]{escape(top.name)}[/bold]")
    waiting = [(root, top)]
    while waiting:
        drawn, branch = waiting.pop()
        waiting += [(drawn.add(label(lower)), lower) for lower in branch.branches]
    console().print(root)


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table; columns of numbers stand to the right and are never cut."""
    from rich.markup import escape
    from rich.table import Table

    listed = list(rows)
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    for k, name in enumerate(header):
        cells = [_cell(row[k]) for row in listed]
        numeric = bool(listed) and all(isinstance(row[k], (int, float)) for row in listed)
        table.add_column(
            escape(name),
            justify="right" if numeric else "left",
            min_width=max(map(len, cells)) if numeric else None,
            overflow="fold",
        )
    for row in listed:
        table.add_row(*[escape(_cell(cell)) for cell in row])
    console().print(table)


def tidy(places: np.ndarray) -> list[Any]:
    """Places and angles for people: what is below 1e-12 m or rad is rounding, and shown as
    nothing."""
    return list(np.round(places, 12).tolist())


def number(x: float) -> str:
    """Six digits; a zero has no sign."""
    return f"{x + 0.0:.6g}"


def _width(stream: Any) -> int | None:
    return None if stream.isatty() or "COLUMNS" in os.environ else WIDE


def _cell(cell: Any) -> str:
    return number(cell) if isinstance(cell, float) else str(cell)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value
