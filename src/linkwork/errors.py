"""The one exception family of linkwork: few children, each also the builtin a caller would expect."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LinkworkError(Exception):
    """Base of everything linkwork raises on purpose."""


class InvalidInput(LinkworkError, ValueError):
    """An argument has the wrong shape, type, range, or is not finite."""


class InvalidModel(LinkworkError, ValueError):
    """A robot description contradicts itself or physics.

    `culprit` is ("body" | "joint" | "frame", name) where one is to blame; a reader of files finds the line by it.
    """

    def __init__(self, sentence: str = "", culprit: tuple[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.culprit = culprit


class InvalidFile(LinkworkError, ValueError):
    """A file cannot be read as what it claims to be; the message carries file, line and element."""


class UnknownName(LinkworkError, LookupError):
    """A robot, body, joint, frame, quantity or option of that name does not exist."""


class NotPossible(LinkworkError, ValueError):
    """What was asked is well formed but cannot be done for this robot; the message says why."""


class ComputationError(LinkworkError, ArithmeticError):
    """A result is not finite although the input was; the message names quantity and sample."""


class SimulationStopped(ComputationError):
    """A simulation could not run to its end; `partial` is the result with everything computed until then."""

    def __init__(self, sentence: str = "", partial: object = None) -> None:
        super().__init__(sentence)
        self.partial = partial


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """` did you mean "x"?` for the nearest choice, or an empty string."""
    near = difflib.get_close_matches(str(name), [str(c) for c in choices], n=1, cutoff=0.5)
    return f'; did you mean "{near[0]}"?' if near else ""


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names as one readable list, cut after `most`."""
    names = [str(n) for n in names]
    tail = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + tail
