"""HTML of reports: tables whose numbers keep all their digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def table(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with an id; columns of numbers stand to the right."""
    listed = list(rows)
    numeric = [any(not isinstance(row[k], str) for row in listed) for k in range(len(header))]
    head = "".join(f"<th{_class(n)}>{escape(h)}</th>" for h, n in zip(header, numeric, strict=True))
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in listed)
    return (
        '<div class="scroll"><table '
        f'id="{name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _class(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _cell(cell: Any) -> str:
    """A number is shown with six digits and kept with all of them."""
    if isinstance(cell, float):
        return f'<td class="number" data-value="{cell!r}">{cell + 0.0:.6g}</td>'
    return f"<td{_class(isinstance(cell, int))}>{escape(str(cell))}</td>"
