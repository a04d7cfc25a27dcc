"""Parametric: a description that can be built again with other numbers, or with symbols, for its variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from linkwork.model.model import Model
from linkwork.model.number import Number


class Parametric(Protocol):
    """What a format reader gives for a file with variables."""

    @property
    def defaults(self) -> Mapping[str, float]:
        """Value of every variable as the description states it, in SI units."""

    @property
    def fingerprint(self) -> str:
        """A hash of the description."""

    def build(self, values: Mapping[str, Number]) -> Model:
        """The model for these values (missing ones take their defaults); numbers may be symbols."""


@dataclass(frozen=True)
class Edited:
    """A parametric description followed by an edit of the model (such as a frame added)."""

    origin: Parametric
    edit: Callable[[Model], Model]
    label: str

    @property
    def defaults(self) -> Mapping[str, float]:
        return self.origin.defaults

    @property
    def fingerprint(self) -> str:
        return f"{self.origin.fingerprint}\n{self.label}"

    def build(self, values: Mapping[str, Number]) -> Model:
        return self.edit(self.origin.build(values))
