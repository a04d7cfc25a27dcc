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
    """The cases of one paper. number: its place in the list of papers; key: its entry in docs/references.bib."""

    number: int
    key: str
    title: str
    cases: tuple[Case, ...]
    corrections: tuple[str, ...] = ()
