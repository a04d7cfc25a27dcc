"""Functions: quantities as CasADi functions with names, for optimisations of the caller's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

import casadi
from casadi import SX

from linkwork.arguments import name_list
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model import Frame
from linkwork.quantities.evaluate import kernel_of
from linkwork.quantities.table import quantity
from linkwork.quantities.tracing import guard_of, trace
from linkwork.subject import Subject


def named_function(
    subject: Subject,
    name: str,
    frame: str | None = None,
    payload: str | Sequence[str] = (),
    forces: str | Sequence[str] = (),
) -> casadi.Function:
    """A quantity as a CasADi function whose inputs and outputs have names.

    Inputs in order: those of the quantity (q, v, a, tau), live variables by their names,
    `force_<frame>` (6,) for every name of `forces`, and `mass_<body>`, `com_<body>` (3,),
    `inertia_<body>` (3, 3) for every name of `payload`, body or frame. With quaternions a last
    output, `guard`, is not negative where they have unit length. An output called as an input is
    (the next q of `integrate`) ends in `_out`.
    """
    bodies = name_list([payload] if isinstance(payload, str) else payload, "function: payload")
    frames = name_list([forces] if isinstance(forces, str) else forces, "function: forces")
    line = quantity(name)
    known = {body.name for body in subject.model.bodies}
    carriers = {f.name: f for f in subject.model.frames if f.name in bodies and f.name not in known}
    if carriers and subject.live:
        held = next(iter(carriers))
        raise NotPossible(
            f'function: payload on frame "{held}": robot "{subject.model.name}" has live '
            "variables, which may move the "
            f'frame; put it on body "{carriers[held].body}"'
        )
    on = tuple(carriers[held].body if held in carriers else held for held in bodies)
    if len(set(on)) < len(on):
        raise InvalidInput(
            f"function: payload is {bodies}, expected each body once: frames count for their body"
        )
    kernel_of(subject, name, frame, frames, on)  # whose checks are those of a call
    plain = trace(subject, name, frame, frames, on)
    inputs = [*line.inputs.split(), *subject.live, *(f"force_{f}" for f in frames)]
    for body in bodies:
        inputs += [f"mass_{body}", f"com_{body}", f"inertia_{body}"]
    outputs = [f"{label}_out" if label in inputs else label for label, _ in line.outputs]
    outputs += ["guard"] if guard_of(subject, line) else []
    symbols = plain.sx_in()
    given = list(symbols)
    first = len(symbols) - 3 * len(bodies)
    for k, held in enumerate(bodies):
        if held in carriers:
            at = slice(first + 3 * k + 1, first + 3 * k + 3)
            given[at] = _in_body_axes(carriers[held], *symbols[at])
    return casadi.Function(
        name, symbols, plain.call(given), _identifiers(inputs), _identifiers(outputs)
    )


def _in_body_axes(frame: Frame, com: SX, inertia: SX) -> list[SX]:
    """Centre of mass and inertia of what hangs on a frame,
    in axes of the body that carries the frame."""
    R = SX(casadi.DM(frame.placement.rotation))
    p = SX(casadi.DM(frame.placement.position))
    column = R @ casadi.vec(com) + p
    return [SX(casadi.reshape(column, com.shape)), SX(R @ inertia @ R.T)]


def _identifiers(names: list[str]) -> list[str]:
    """Names as CasADi allows them: letters, digits, single underscores; all different."""
    words: list[str] = []
    for name in names:
        word = re.sub(r"_+", "_", re.sub(r"\W", "_", name, flags=re.ASCII)).strip("_")
        word = word if word[:1].isalpha() else f"x{word}"
        while word in words:
            word += "x"
        words.append(word)
    return words
