"""Arguments: numbers, configurations and poses as people type them."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.errors import InvalidInput, UnknownName, did_you_mean


def names(incomplete: str) -> list[str]:
    """Built-in robots, for the shell's completion."""
    return [name for name in lw.robots() if name.startswith(incomplete)]


RobotName = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A built-in name (see `linkwork robots`) or a file.",
        autocompletion=names,
    ),
]
Configuration = Annotated[
    str | None,
    typer.Option(
        "--q",
        help='Numbers ("0.1 -1.2 90deg"), names ("elbow=0.3 wrist=45deg"), "random" or "neutral"; '
        "of a robot with "
        "closed loops names are enough, the other joints follow.",
    ),
]

_UNITS = {"deg": math.pi / 180, "rad": 1.0, "mm": 1e-3, "m": 1.0, "": 1.0}
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(deg|rad|mm|m)?")


def value(text: str, what: str) -> float:
    """A number with an optional unit: 0.3, 45deg, 120mm."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise InvalidInput(
            f"{what}: {text!r} is not a number; expected such as 0.3, 45deg or 120mm"
        )
    return float(match[1]) * _UNITS[match[2] or ""]


def vector(text: str | None, size: int, what: str) -> np.ndarray:
    """`size` numbers separated by blanks or commas; nothing given: zeros."""
    if text is None:
        return np.zeros(size)
    words = text.replace(",", " ").split()
    if len(words) != size:
        raise InvalidInput(f"{what}: got {len(words)} numbers, expected {size}")
    return np.array([value(word, what) for word in words])


def payload_of(robot: lw.Robot, mass: float) -> lw.Payload | None:
    """A point mass at the last named frame, or at the last body; none where there is no mass."""
    if not mass:
        return None
    return lw.Payload(robot.model.frames[-1].name if robot.model.frames else robot.bodies[-1], mass)


def configuration(robot: lw.Robot, text: str | None) -> np.ndarray:
    """q from numbers, which are taken as they are; from joint names, or "random" and "neutral",
    with loops closed.

    Nothing given, a robot with struts or loops stands at its reference: where neutral is, they may
    not fit.
    """
    usual = _usual(robot)
    if text is None:
        return usual
    if text == "neutral":
        return _closed(robot, robot.neutral())
    if text == "random":
        return _closed(robot, robot.random(seed=0, assembled=False))
    if "=" not in text:
        return vector(text, robot.nq, "--q")
    named: dict[str, Any] = {}
    for part in text.replace(",", " ").split():
        name, _, number = part.partition("=")
        if name not in robot.joints:
            raise UnknownName(
                f'--q: robot "{robot.name}" has no joint "{name}"{did_you_mean(name, robot.joints)}'
            )
        named[name] = value(number, f"--q {name}")
    q, chosen = usual.copy(), robot.q(**named)
    for name in named:
        q[robot.index(name)] = chosen[robot.index(name)]
    return _closed(robot, q, tuple(named))


def _usual(robot: lw.Robot) -> np.ndarray:
    if not robot.model.elements:
        return robot.neutral()
    from linkwork.loops.assembly import reference

    return reference(robot.subject)


def _closed(robot: lw.Robot, q: np.ndarray, hold: tuple[str, ...] = ()) -> np.ndarray:
    """The configuration nearest to q whose loops close, with the named joints where they are."""
    if not robot.model.elements:
        return q
    from linkwork.loops.assembly import has_closures  # who has no loops waits for none

    if not has_closures(robot.subject):
        return q
    assembly = robot.assemble(q, hold)
    if not assembly.success:
        raise InvalidInput(f"--q: {assembly.reason}")
    return np.asarray(assembly.q)


def last_frame(robot: lw.Robot, frame: str | None) -> str:
    """The frame asked for, or the last body of the description."""
    return frame if frame is not None else robot.bodies[-1]
