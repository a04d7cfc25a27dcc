"""Evaluation: quantities of a subject through their kernels, one sample or a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, mapping, shown
from linkwork.engine import keys
from linkwork.engine.kernel import Context, Kernel, Signature
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.model import Frame
from linkwork.model.payload import Payload
from linkwork.quantities.line import Names, Quantity
from linkwork.quantities.table import quantity
from linkwork.quantities.tracing import INPUT_AXES, guard_of, input_axes, shape_of, trace
from linkwork.subject import Subject


def carried(payload: Any, who: str) -> tuple[Payload, ...]:
    """One payload, several, or None as a tuple."""
    if payload is None:
        return ()
    if isinstance(payload, Payload):
        return (payload,)
    payloads = tuple(payload) if isinstance(payload, Iterable) else (payload,)
    if not all(isinstance(each, Payload) for each in payloads):
        raise InvalidInput(
            f"{who}: payload is {type(payload).__name__}, expected a Payload or several"
        )
    return payloads


def on_bodies(subject: Subject, payloads: tuple[Payload, ...]) -> tuple[Payload, ...]:
    """Payloads on named frames as payloads on the bodies that carry these:
    turned and moved into the body's axes."""
    bodies = {body.name for body in subject.model.bodies}
    frames = {frame.name: frame for frame in subject.model.frames}
    placed = []
    for held in payloads:
        frame = None if held.body in bodies else frames.get(held.body)
        if frame is not None and subject.live:
            raise NotPossible(
                f'payload on frame "{held.body}": robot "{subject.model.name}" has live variables, '
                "which may move the "
                f'frame; put it on body "{frame.body}"'
            )
        placed.append(held if frame is None else _moved(held, frame))
    return tuple(placed)


def _moved(held: Payload, frame: Frame) -> Payload:
    R = np.array(frame.placement.rotation, dtype=float)
    p = np.array(frame.placement.position, dtype=float)
    mass, com, inertia = (as_doubles(x, "payload") for x in held.arrays())
    return Payload(frame.body, mass, com @ R.T + p, R @ inertia @ R.T)


def evaluate(
    subject: Subject,
    name: str,
    arguments: Mapping[str, Any],
    frame: str | None = None,
    forces: Mapping[str, Any] | None = None,
    payload: Payload | Sequence[Payload] | None = None,
    variables: Mapping[str, Any] | None = None,
    out: Any = None,
) -> Any:
    """A quantity of the table for one sample or a batch; for options see `Quantity`."""
    payloads = on_bodies(subject, carried(payload, name)) if payload is not None else ()
    forces = mapping(forces, f"{name}: forces") if forces is not None else None
    kernel = kernel_of(subject, name, frame, tuple(forces or ()), tuple(p.body for p in payloads))
    args = [arguments[i] for i in quantity(name).inputs.split()]
    args += subject.variable_values(variables)
    args += list((forces or {}).values())
    for p in payloads:
        args += p.arrays()
    return kernel.call(args, out, context_of(subject))


def caller(
    subject: Subject,
    name: str,
    frame: str | None = None,
    keep: Callable[[Callable[..., Any]], None] | None = None,
) -> Callable[..., Any]:
    """The fastest callable for the plain arguments of a quantity;
    with live variables it takes `variables=` too.

    `keep` is handed a faster one as soon as there is one (`Kernel.caller`).
    """
    kernel, context = kernel_of(subject, name, frame), context_of(subject)
    if not subject.live:
        return kernel.caller(context, keep)
    fast = kernel.caller(context)
    present = [np.array(x) for x in subject.variable_values(None)]

    def with_variables(*arguments: Any, variables: Mapping[str, Any] | None = None) -> Any:
        if variables is None:
            return fast(*arguments, *present)
        values = subject.variable_values(variables)
        return fast(*arguments, *[np.array(x) if type(x) is float else x for x in values])

    return with_variables


def writer(
    subject: Subject, name: str, frame: str | None = None
) -> Callable[[Sequence[Any], Any], Any]:
    """The fastest callable (arguments, out) of a quantity without live variables."""
    kernel, context = kernel_of(subject, name, frame), context_of(subject)
    return lambda arguments, out: kernel.call(arguments, out, context)


def context_of(subject: Subject) -> Context:
    who = f'robot "{subject.model.name}"'
    sizes = {"q": f"{who} has nq = {subject.nq}", "v": f"{who} has nv = {subject.nv}"}
    return Context(who, {name: sizes[axes] for name, axes in INPUT_AXES.items() if axes in sizes})


def kernel_of(
    subject: Subject,
    name: str,
    frame: str | None = None,
    forces: Names = (),
    payloads: Names = (),
    about: Any = None,
) -> Kernel:
    """The kernel of a quantity, traced with symbols for forces on these frames and payloads on
    these bodies.

    about: what the line is about besides the robot, for lines that say so (`Quantity.about`).
    """
    line = quantity(name)
    _check(subject, line, name, frame, forces, payloads)
    if line.about is not None or about is not None:
        return _kernel_about(subject, line, name, frame, about)
    places = [subject.place_of(f) for f in ((frame,) if frame is not None else ())]
    places += [subject.place_of(f) for f in forces]
    loaded = [subject.place_of(p, subject.full_tree)[0] for p in payloads]
    key = repr((name, len(places) - len(forces), places, loaded, forces, payloads))
    make = lambda full: _make(subject, line, name, frame, forces, payloads, full)
    return subject.kernel(key, make, maker=line.trace)


def _kernel_about(
    subject: Subject, line: Quantity, name: str, frame: str | None, about: Any
) -> Kernel:
    """The kernel of a line about a second thing, at the robot's present numbers,
    from which that thing was read."""
    if line.about is None or not isinstance(about, line.about):
        expected = "nothing" if line.about is None else f"a {line.about.__name__}"
        raise InvalidInput(f"{name}: is asked about {shown(about)}, expected {expected}")
    present = subject.present
    make = lambda full: _make(present, line, name, frame, (), (), full, about)
    try:
        decided = keys.key(about)
    except keys.NoKey:  # of a class from outside linkwork: the traced program is the key
        return make(None)
    place = None if frame is None else present.place_of(frame)
    return present.kernel(repr((name, place, decided)), make, maker=line.trace)


def _check(
    subject: Subject, line: Quantity, name: str, frame: str | None, forces: Names, payloads: Names
) -> None:
    who = f'robot "{subject.model.name}"'
    if line.dynamic and subject.model.kinematic_only:
        raise NotPossible(
            f"{name}: {who} is kinematic only: no mass properties are published for it"
        )
    if payloads and not line.dynamic:
        raise InvalidInput(f"{name}: payload has no influence on this quantity")
    if forces and not line.forces:
        raise InvalidInput(f"{name}: takes no external forces")
    if line.frame and frame is None:
        raise InvalidInput(f"{name}: frame is missing, expected a name of robot.frames")
    bodies = [b.name for b in subject.model.bodies]
    for body in payloads:
        if body not in bodies:
            near = did_you_mean(body, [*bodies, *(f.name for f in subject.model.frames)])
            raise UnknownName(f'{name}: payload on unknown body "{body}" of {who}{near}')


def _make(
    subject: Subject,
    line: Quantity,
    name: str,
    frame: str | None,
    forces: Names,
    payloads: Names,
    key: str | None,
    about: Any = None,
) -> Kernel:
    inputs = [(i, shape_of(subject, line, axes, about)) for i, axes in input_axes(line).items()]
    inputs += [(f"variables[{v!r}]", ()) for v in subject.live]
    inputs += [(f"forces[{f!r}]", (6,)) for f in forces]
    for p in payloads:
        inputs += [
            (f"payload[{p!r}].mass", ()),
            (f"payload[{p!r}].com", (3,)),
            (f"payload[{p!r}].inertia", (3, 3)),
        ]
    outputs = [(label, shape_of(subject, line, axes, about)) for label, axes in line.outputs]
    signature = Signature(line.who or name, tuple(inputs), tuple(outputs), guard_of(subject, line))
    return Kernel(
        signature, lambda: trace(subject, name, frame, forces, payloads, about=about), key
    )
