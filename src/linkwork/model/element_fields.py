"""Fields of elements: what each is, declared once beside it in `model/elements.py`.

    length: Annotated[Number, LENGTH_POSITIVE, "from pivot to tip"]

Files are read and written by it (formats/robot_yaml), the JSON schema and the page of the elements
are made of it, and `model/element_checks.py` checks by it; a new element is a dataclass, and what
it does in the loops.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_type_hints


@dataclass(frozen=True)
class Role:
    """What a field is.

    kind          point        a `Point`; on_bars: of a bar too
                  axis         a direction that turns with a mirrored part as an axis of rotation
                               does
                  direction    a direction that is mirrored as a vector
                  number       of a `dimension`, `sign` "positive", "not negative" or "any";
                               `infinite` where it may be; `live` False: it cannot depend on a live
                               variable
                  coordinate   a number whose dimension follows from the element's joint: its
                               position, effort, ...
                  coordinates  such numbers, one a joint
                  word, words  one or some of `choices`, called `what` in sentences
                  branch       1 or -1
                  flag         true or false
                  joint, joints   names of joints with so many `coordinates`
                                  (None: any moving joint), called `what`
                  bar          the name of a bar
                  names        new names
                  rotation     R_body_frame
                  matrix       rows of numbers
                  loops        `FourBarLoop`s
                  terms        (joint, number) ...
    """

    kind: str
    dimension: str = "number"
    sign: str = "any"
    infinite: bool = False
    live: bool = True
    choices: tuple[str, ...] = ()
    what: str = "joint"
    coordinates: int | None = 1
    on_bars: bool = False


POINT = Role("point")
POINT_OR_BAR = Role("point", on_bars=True)
AXIS = Role("axis")
DIRECTION = Role("direction")
BRANCH = Role("branch")
FLAG = Role("flag")
JOINT = Role("joint")
ROTATION = Role("rotation")
ANGLE = Role("number", "angle")
LENGTH = Role("number", "length")
LENGTH_NOT_NEGATIVE = Role("number", "length", "not negative")
LENGTH_POSITIVE = Role("number", "length", "positive")
PLAIN = Role("number")
ANY_JOINT = Role("joint", coordinates=None)
CARRIER = Role("joint", what="carrier")
POSITION = Role("coordinate", "position")
EFFORT = Role("coordinate", "effort")
JOINT_STIFFNESS = Role("coordinate", "stiffness", "not negative")
STIFFNESS = Role("number", "stiffness", "not negative")
DAMPING = Role("number", "damping", "not negative")


def rated(dimension: str) -> Role:
    """A number of a data sheet: infinite where nobody says."""
    return Role("number", dimension, infinite=True, live=False)


def one_of(what: str, choices: tuple[str, ...]) -> Role:
    return Role("word", choices=choices, what=what)


class ElementField(NamedTuple):
    """One field of an element: its role, a description in words,
    and its default (`dataclasses.MISSING`: needed)."""

    role: Role
    description: str
    default: Any

    @property
    def is_needed(self) -> bool:
        return self.default is dataclasses.MISSING


@functools.cache
def fields_of(kind: type) -> Mapping[str, ElementField]:
    """The described fields of an element's class, by name and in order."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {}
    for each in dataclasses.fields(kind):
        role, description = getattr(hints[each.name], "__metadata__", (None, ""))
        if role is not None:
            fields[each.name] = ElementField(role, description, each.default)
    return fields


def type_name(kind: type) -> str:
    """The word for a class in files: LinearActuator -> "linear_actuator"."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def first_paragraph(kind: type) -> str:
    """What a class is, in the words its docstring begins with."""
    return " ".join(inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].split())
