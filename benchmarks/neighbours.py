"""How fast is the nearest row of a table that a loop appends to,
beside a scan of it and beside scipy's k-d tree?"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.measure import Row, median_of_best, seconds, side_by_side
from linkwork.engine import machine
from linkwork.engine.neighbours import Table
from tests.engine.growing_tables import Grown, grown, scanned

COLUMNS, ROWS, ASKED = (2, 3, 7, 8), (10_000, 30_000, 100_000, 300_000), 256
QUESTION = "nearest row of a table"


def rows() -> list[Row]:
    measured = []
    for columns in COLUMNS:
        table = Table(columns, machine.widths()[0], (0.0,) * columns)
        for count in ROWS:
            rng = np.random.default_rng(0)
            points, asked = rng.random((count, columns)), rng.random((ASKED, columns))
            measured += asked_beside(table, points, asked)
        measured.append(appended(table, rng.random((ROWS[-1], columns))))
    return measured


def asked_beside(table: Table, points: np.ndarray, asked: np.ndarray) -> list[Row]:
    """Many questions to one table: by trees of boxes, by a scan, and by scipy's tree.

    scipy's is built once, when all rows are there, and answers the whole batch in one call: its
    best case.
    """
    ours, scan, peer = grown(table, points), grown(scanned(table), points), cKDTree(points)
    told, by_scan = ours.nearest(asked), scan.nearest(asked)
    assert (
        (told[0] == by_scan[0]).all()
        and (told[1] == by_scan[1]).all()
        and (told[0] == peer.query(asked)[1]).all()
    )
    case = f"{len(points)} rows of {table.columns}"
    measured = []
    for name, ask, target in (
        ("scan", lambda: scan.nearest(asked), 1.0),
        ("cKDTree", lambda: peer.query(asked), None),
    ):
        own, other = side_by_side(lambda: ours.nearest(asked), ask)
        measured.append(Row(QUESTION, case, own / ASKED, other / ASKED, name, target))
    return measured


def appended(table: Table, points: np.ndarray) -> Row:
    """What a row costs that is appended, with its share of the sorting."""

    def work() -> float:
        empty = Grown(table, points)
        return seconds(lambda: empty.grow(len(points)))

    return Row(
        "a row appended to a table",
        f"{len(points)} of {table.columns}",
        median_of_best(work) / len(points),
    )
