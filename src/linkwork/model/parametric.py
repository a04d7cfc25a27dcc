"""Parametric: a description that can be built again with other numbers, or with symbols,
for its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from linkwork.errors import UnknownName, did_you_mean
from linkwork.model.model import Model
from linkwork.model.number import Number


class Parametric(Protocol):
    """What a format reader gives for a file with variables."""

    @property
    def defaults(self) -> Mapping[str, float]:
        """Value of every variable as the description states it, in SI units."""

    @property
    def expressions(self) -> Mapping[str, str]:
        """What follows variables and cannot be set: its name, and its text in the description."""

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
    def expressions(self) -> Mapping[str, str]:
        return self.origin.expressions

    @property
    def fingerprint(self) -> str:
        return f"{self.origin.fingerprint}\n{self.label}"

    def build(self, values: Mapping[str, Number]) -> Model:
        return self.edit(self.origin.build(values))


def unknown_variable(
    model: Model,
    parametric: Parametric | None,
    name: str,
    who: str = "",
    others: Iterable[str] = (),
) -> UnknownName:
    """The error for a name that is no variable of a robot, or only follows others."""
    follows = {} if parametric is None else parametric.expressions
    if name in follows:
        text = follows[name]
        return UnknownName(
            f'{who}"{name}" of robot "{model.name}" is the expression "{text}": set what it follows'
        )
    near = did_you_mean(name, [*dict(model.variables), *others])
    return UnknownName(f'{who}robot "{model.name}" has no variable "{name}"{near}')
