"""Tables: named columns as CSV text or as a Parquet file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import InvalidFile, NotPossible
from linkwork.formats.files import read_bounded

LARGEST = 256 * 2**20
"""Bytes of a table that is read."""


def csv_text(columns: Mapping[str, Any]) -> str:
    """A header with the names, then one row an entry; numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(np.asarray(x).tolist() for x in columns.values()), strict=True))
    return text.getvalue()


def read_csv(path: str | Path) -> dict[str, np.ndarray]:
    """The columns of numbers (n,) that a file has below its header, at least two rows."""
    # spreadsheets put a mark in front
    text = read_bounded(path, LARGEST).decode("utf-8-sig", "replace")
    rows = list(csv.reader(io.StringIO(text)))
    while rows and not rows[-1]:  # blank lines at the end
        rows.pop()
    if len(rows) < 3:
        raise InvalidFile(
            f"{path}: has {max(0, len(rows) - 1)} rows below its header, expected at least 2"
        )
    header = rows[0]
    table = np.empty((len(rows) - 1, len(header)))
    for k, row in enumerate(rows[1:]):
        try:
            table[k] = [float(cell) for cell in row] if len(row) == len(header) else np.nan
        except ValueError:
            table[k] = np.nan
        if not np.isfinite(table[k]).all():
            raise InvalidFile(f"{path}:{k + 2}: expected {len(header)} numbers")
    return dict(zip(header, table.T, strict=True))


def parquet_bytes(columns: Mapping[str, Any]) -> bytes:
    """The same as the content of a Parquet file (needs pyarrow)."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise NotPossible(
            "Parquet needs the package pyarrow: pip install 'linkwork[tables]'"
        ) from None
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), sink)
    return sink.getvalue().to_pybytes()
