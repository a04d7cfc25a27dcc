"""Contacts: which bodies touch what, where and how deep, for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.collision.pair_clearances import PairClearances
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr


@short_repr
@dataclass(frozen=True)
class Contact(Tabular, rows="depth"):
    """A body that touches an obstacle or another body: deepest points,
    normal from the body towards the other."""

    body: str
    other: str
    depth: float
    point: np.ndarray
    normal: np.ndarray

    def __str__(self) -> str:
        x, y, z = self.point
        return (
            f"{self.body} is {1e3 * self.depth:.1f} mm inside {self.other} at "
            f"({x:.3f}, {y:.3f}, {z:.3f}) m"
        )


def contacts(clearances: PairClearances) -> Any:
    """A list of contacts, deepest first, for one configuration; a list of lists for a batch."""
    if clearances.distance.ndim == 1:
        return _of(clearances, ())
    shape = clearances.distance.shape[:-1]
    listed = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        listed[index] = _of(clearances, index)
    return listed.tolist()


def _of(clearances: PairClearances, index: tuple[int, ...]) -> list[Contact]:
    distance = clearances.distance[index]
    order = np.argsort(distance, kind="stable")
    points, normals = clearances.point[index], clearances.normal[index]
    contacts = []
    for k in order[: int((distance < 0.0).sum())]:
        bodies = clearances.body[k], clearances.other[k]
        contacts.append(Contact(*bodies, -float(distance[k]), points[k], normals[k]))
    return contacts
