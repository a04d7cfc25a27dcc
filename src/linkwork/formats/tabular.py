"""Tabular: results that are a table, with the same doors out of linkwork for all of them."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.formats.tables import csv_text, parquet_bytes

ROWS_SHOWN, COLUMNS_SHOWN = 8, 12
"""What of a table a notebook shows; the doors give all of it."""
STYLE = "text-align:right;padding:2px 8px"


class Tabular:
    """A result with columns (n,) by name: `to_numpy`, `to_pandas`, `to_csv`, `to_parquet`; notebooks show it.

    A result gives its columns by `_table`, one line of text by `__repr__`.
    """

    __slots__ = ()

    def _table(self) -> Mapping[str, Any]:
        """name -> (n,): the columns of the table, all of one length."""
        raise NotImplementedError

    def to_numpy(self) -> np.ndarray:
        """(n, columns): the columns beside each other. Names are those of `to_pandas`; text is refused."""
        columns = {name: np.asarray(values) for name, values in self._whole_table().items()}
        for name, values in columns.items():
            if values.dtype.kind not in "biuf":
                raise InvalidInput(f'to_numpy: column "{name}" holds text, which an array of numbers cannot; to_pandas')
        return np.column_stack([values.astype(float) for values in columns.values()])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of every column (needs pandas)."""
        try:
            import pandas
        except ImportError:
            raise NotPossible("to_pandas needs the package pandas: pip install 'linkwork[tables]'") from None
        return pandas.DataFrame(dict(self._whole_table()))

    def to_csv(self, path: str | Path) -> Path:
        """Write the table: a header with the names, then its rows, numbers with all digits."""
        write_atomically(path, csv_text(self._whole_table()))
        return Path(path)

    def to_parquet(self, path: str | Path) -> Path:
        """Write the table as Parquet (needs pyarrow)."""
        write_atomically(path, parquet_bytes(self._whole_table()))
        return Path(path)

    def _repr_html_(self) -> str:
        return f"<p><code>{html.escape(repr(self))}</code></p>" + html_table(self._table())

    def _whole_table(self) -> Mapping[str, Any]:
        table = self._table()
        flat = {name for name, values in table.items() if np.ndim(values) == 1}
        if len(flat) != len(table):
            raise InvalidInput(f"{type(self).__name__}: this is a batch, and a table holds one of it")
        return table


def html_table(columns: Mapping[str, Any]) -> str:
    """The first rows and columns of a table as HTML; what is left out is counted."""
    shown = {name: np.asarray(values) for name, values in list(columns.items())[:COLUMNS_SHOWN]}
    if not shown or any(values.ndim != 1 for values in shown.values()):
        return ""
    count = len(next(iter(shown.values())))
    head = "".join(f"<th style='{STYLE}'>{html.escape(name)}</th>" for name in shown)
    rows = [
        "".join(f"<td style='{STYLE}'>{_cell(values[k])}</td>" for values in shown.values())
        for k in range(min(count, ROWS_SHOWN))
    ]
    left_out = [
        f"{all_ - most} more {what}"
        for what, all_, most in (("rows", count, ROWS_SHOWN), ("columns", len(columns), COLUMNS_SHOWN))
        if all_ > most
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    note = f"<p><small>and {', '.join(left_out)}</small></p>" if left_out else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, (float, np.floating)) else html.escape(str(value))
