"""The one exception family of linkwork: few children, each also the builtin a caller would
expect."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable


class LinkworkError(Exception):
    """Base of everything linkwork raises on purpose."""


class InvalidInput(LinkworkError, ValueError):
    """An argument has the wrong shape, type, range, or is not finite."""


class WrongCall(InvalidInput, TypeError):
    """An argument is missing, unknown or one too many."""


class InvalidModel(LinkworkError, ValueError):
    """A robot description contradicts itself or physics.

    `culprit` is ("body" | "joint" | "frame", name) where one is to blame; a reader of files finds
    the line by it.
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
    """A simulation could not run to its end; `partial` is the result with everything computed until
    then."""

    def __init__(self, sentence: str = "", partial: object = None) -> None:
        super().__init__(sentence)
        self.partial = partial


LONGEST_MEANT = 100
MOST_MEANT = 1000
"""Names longer than the one and lists longer than the other get no suggestion:
its cost grows with both."""


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """` did you mean "x"?` for the nearest choice, or an empty string.

    The work is bounded: nothing is suggested for a name of more than LONGEST_MEANT characters or
    among more than MOST_MEANT choices, and longer choices are not looked at.
    """
    name = str(name)
    if len(name) > LONGEST_MEANT:
        return ""
    known = [str(choice) for choice in itertools.islice(choices, MOST_MEANT + 1)]
    if len(known) > MOST_MEANT:
        return ""
    short = [choice for choice in known if len(choice) <= LONGEST_MEANT]
    near = difflib.get_close_matches(name, short, n=1, cutoff=0.5)
    return f'; did you mean "{near[0]}"?' if near else ""


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names as one readable list, cut after `most`."""
    names = [str(n) for n in names]
    tail = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + tail
