"""Tabular: results that are a table, with the same doors out of linkwork for all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically

ROWS_SHOWN, COLUMNS_SHOWN = 10, 12
"""What of a table a notebook shows; the doors give all of it."""
STYLE = "text-align:right;padding:2px 8px;white-space:nowrap"
NUMBERS = "biuf"
"""Kinds of numpy types that an array of numbers can hold."""


class Tabular:
    """A result with columns (n,) by name: `to_numpy`, `to_pandas`, `to_csv`, `to_parquet`;
    notebooks show it.

    A result gives its columns by `_table`, one line of text by `__repr__`. A dataclass need not: it
    names the field whose shape is that of its rows, `class Clearance(Tabular, rows="distance")`,
    and its fields are the columns; the last `within` axes of that field belong to one row,
    `class Assembly(Tabular, rows="q", within=1)`. Fields that have nothing to do with the rows, and
    may have as many entries, stand `aside`: `aside=("goal",)`.
    """

    __slots__ = ()

    _rows: ClassVar[str] = ""
    _within: ClassVar[int] = 0
    _aside: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls, rows: str = "", within: int = 0, aside: tuple[str, ...] = (), **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if rows:
            cls._rows, cls._within, cls._aside = rows, within, aside

    def _table(self) -> Mapping[str, Any]:
        """name -> (n,): the columns of the table, all of one length."""
        shape = np.shape(getattr(self, self._rows))
        names = [part.name for part in fields(self) if part.name not in self._aside]  # type: ignore[arg-type]
        parts = {name: getattr(self, name) for name in names}
        return table_of(shape[: len(shape) - self._within], parts)

    def to_numpy(self) -> np.ndarray:
        """(n, columns): the columns beside each other, named by `to_pandas`;
        objects where one of them holds text."""
        columns = [np.asarray(values) for values in self._whole_table().values()]
        if not columns:
            return np.empty((0, 0))
        numbers = all(values.dtype.kind in NUMBERS for values in columns)
        return np.column_stack([values.astype(float if numbers else object) for values in columns])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of every column (needs pandas)."""
        try:
            import pandas
        except ImportError:
            raise NotPossible(
                "to_pandas needs the package pandas: pip install 'linkwork[tables]'"
            ) from None
        return pandas.DataFrame(dict(self._whole_table()))

    def to_csv(self, path: str | Path) -> Path:
        """Write the table: a header with the names, then its rows, numbers with all digits."""
        # whoever writes no file does not wait for its writer
        from linkwork.formats.tables import (
            csv_text,
        )

        write_atomically(path, csv_text(self._whole_table()))
        return Path(path)

    def to_parquet(self, path: str | Path) -> Path:
        """Write the table as Parquet (needs pyarrow)."""
        from linkwork.formats.tables import parquet_bytes

        write_atomically(path, parquet_bytes(self._whole_table()))
        return Path(path)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><code>{escape(repr(self))}</code></p>" + html_table(self._table())

    def _whole_table(self) -> Mapping[str, Any]:
        table = self._table()
        flat = {name for name, values in table.items() if np.ndim(values) == 1}
        if len(flat) != len(table):
            raise InvalidInput(
                f"{type(self).__name__}: this is a batch, and a table holds one of it"
            )
        return table


def table_of(shape: tuple[int, ...], parts: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Arrays (*shape, ...) by name as the columns of one table, a row for each place of `shape`.

    With several axes the place itself comes first, "index[0]", "index[1]". What a place has several
    numbers of becomes several columns, "q[0]", "q[1]"; a complex number becomes two, "W.real",
    "W.imag". Entries of a mapping are columns by their names, "figures.effort"; another table of as
    many rows lends its columns. Parts of any other shape or kind are no columns of this table.
    """
    places = np.indices(shape).reshape(len(shape), -1) if len(shape) > 1 else ()
    columns = {f"index[{axis}]": place for axis, place in enumerate(places)}
    for name, part in parts.items():
        if name.startswith("_"):
            continue
        if isinstance(part, Tabular):
            lent = {label: np.asarray(values) for label, values in part._table().items()}
            columns |= {
                label: values
                for label, values in lent.items()
                if values.shape == (math.prod(shape),)
            }
        elif isinstance(part, Mapping):
            for label, entry in part.items():
                columns |= _columns(f"{name}.{label}", entry, shape)
        else:
            columns |= _columns(name, part, shape)
    return columns


def _columns(name: str, part: Any, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The columns of one part, none where it is not (*shape, ...) numbers or words."""
    if not _plain(part):
        return {}
    array = np.asarray(part)
    if array.shape[: len(shape)] != shape:
        return {}
    rows = array.reshape(math.prod(shape), *array.shape[len(shape) :])
    halves = {".real": rows.real, ".imag": rows.imag} if array.dtype.kind == "c" else {"": rows}
    columns = {}
    for ending, values in halves.items():
        for place in np.ndindex(values.shape[1:]):
            index = f"[{', '.join(map(str, place))}]" if place else ""
            columns[f"{name}{index}{ending}"] = values[(slice(None), *place)]
    return columns


def _plain(part: Any) -> bool:
    """Whether a value is made of numbers and words alone."""
    if isinstance(part, (list, tuple)):
        return all(isinstance(entry, (str, int, float, np.generic)) for entry in part)
    if isinstance(part, np.ndarray) and part.dtype == object:
        return all(isinstance(entry, str) for entry in part.flat)
    return isinstance(part, (np.ndarray, np.generic, int, float, complex, str))


def html_table(columns: Mapping[str, Any]) -> str:
    """The first rows and columns of a table as HTML; what is left out is counted."""
    from html import escape

    shown = {name: np.asarray(values) for name, values in list(columns.items())[:COLUMNS_SHOWN]}
    if not shown or any(values.ndim != 1 for values in shown.values()):
        return ""
    count = len(next(iter(shown.values())))
    head = "".join(f"<th style='{STYLE}'>{escape(name)}</th>" for name in shown)
    rows = [
        "".join(f"<td style='{STYLE}'>{escape(_cell(values[k]))}</td>" for values in shown.values())
        for k in range(min(count, ROWS_SHOWN))
    ]
    beyond = {"row": count - ROWS_SHOWN, "column": len(columns) - COLUMNS_SHOWN}
    left_out = [
        f"{more} more {what}{'s' if more > 1 else ''}" for what, more in beyond.items() if more > 0
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    note = f"<p><small>and {', '.join(left_out)}</small></p>" if left_out else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, (float, np.floating)) else str(value)
