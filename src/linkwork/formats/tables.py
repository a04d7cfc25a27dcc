"""Tables: named columns as CSV text or as a Parquet file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.errors import NotPossible


def csv_text(columns: Mapping[str, Any]) -> str:
    """A header with the names, then one row an entry; numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(np.asarray(x).tolist() for x in columns.values()), strict=True))
    return text.getvalue()


def parquet_bytes(columns: Mapping[str, Any]) -> bytes:
    """The same as the content of a Parquet file (needs pyarrow)."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise NotPossible("Parquet needs the package pyarrow: pip install 'linkwork[tables]'") from None
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), sink)
    return sink.getvalue().to_pybytes()
