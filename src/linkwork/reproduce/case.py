"""Case: one published number beside ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A figure of a paper: what it is, the published number, ours, and how far they may differ.

    note: the correction of a printing error, or the assumption where the paper is silent.
    """

    what: str
    published: float
    ours: float
    tolerance: float
    unit: str = ""
    note: str = ""

    @property
    def difference(self) -> float:
        return abs(self.ours - self.published)

    @property
    def passed(self) -> bool:
        return bool(self.difference <= self.tolerance)  # False for NaN


@dataclass(frozen=True)
class Paper:
    """One paper: its number in the list of papers, its key in docs/references.bib,
    and what linkwork has of it.

    corrections   printing errors that were found on the way
    where         the part of linkwork that the paper became: its row in the README
    """

    number: int
    key: str
    title: str
    cases: tuple[Case, ...]
    corrections: tuple[str, ...] = ()
    where: str = ""
