"""Output: tables for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table


@cache
def console() -> Console:
    return Console(highlight=False, soft_wrap=True)


@cache
def error_console() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document on standard output; arrays as nested lists, infinities as null."""
    json.dump(_plain(value), sys.stdout, indent=1)
    sys.stdout.write("\n")


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    table = Table(*[escape(h) for h in header], title=escape(title), title_justify="left", title_style="bold")
    for row in rows:
        table.add_row(*[escape(number(cell) if isinstance(cell, float) else str(cell)) for cell in row])
    console().print(table)


def number(x: float) -> str:
    return f"{x:.6g}"


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
    return value
