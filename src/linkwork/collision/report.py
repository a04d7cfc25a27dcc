"""Report: what the shapes of a collision model are, as a table a person reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.collision.shapes import Shape
from linkwork.formats.tabular import Tabular

_COVERED = {True: "proved", False: "no", None: "as described"}


@dataclass(frozen=True, slots=True)
class Row:
    """A body: its shapes, how they stand to what the description says.

    covered           True: proved that the described surface lies inside; None: it is the described
                      shape itself
    largest_excess    how far the shapes stick out of the described surface [m]: at most, and on
                      average over them
    """

    body: str
    shapes: tuple[str, ...]
    covered: bool | None = None
    largest_excess: float | None = None
    mean_excess: float | None = None

    @property
    def kinds(self) -> str:
        """ "12 spheres, 1 box"."""
        plural = {
            "sphere": "spheres",
            "capsule": "capsules",
            "box": "boxes",
            "mesh": "meshes",
            "convex": "hulls",
        }
        counts = Counter(self.shapes)
        words = (
            f"{n} {kind if n == 1 else plural.get(kind, kind + 's')}" for kind, n in counts.items()
        )
        return ", ".join(words).replace("_", " ")


@dataclass(frozen=True)
class Report(Tabular):
    """A row a body."""

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Report: {sum(len(row.shapes) for row in self.rows)} shapes of {len(self)} bodies>"

    def _table(self) -> dict[str, Any]:
        excess = {
            name: [getattr(row, name) for row in self.rows]
            for name in ("largest_excess", "mean_excess")
        }
        return {
            "body": np.array([row.body for row in self.rows], dtype=object),
            "shapes": np.array([row.kinds for row in self.rows], dtype=object),
            "covered": np.array([_COVERED[row.covered] for row in self.rows], dtype=object),
            **{name: np.array(column, dtype=float) for name, column in excess.items()},
        }

    def __str__(self) -> str:
        cells = [("body", "shapes", "covered", "largest excess [mm]", "mean excess [mm]")]
        for row in self.rows:
            cells.append(
                (
                    row.body,
                    row.kinds,
                    _COVERED[row.covered],
                    _mm(row.largest_excess),
                    _mm(row.mean_excess),
                )
            )
        total = sum(len(row.shapes) for row in self.rows)
        cells.append(("all", f"{total} shapes", "", "", ""))
        widths = [max(len(line[k]) for line in cells) for k in range(5)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in cells
        )


def plain_report(shapes: Mapping[str, Iterable[Shape]]) -> Report:
    """The report of shapes that are used as they were given."""
    return Report(
        tuple(Row(body, tuple(shape.kind for shape in several)) for body, several in shapes.items())
    )


def _mm(x: float | None) -> str:
    return "" if x is None else f"{1e3 * x:.1f}"
