"""Configurations of a subject: neutral, random, by name; limits; and the table a person reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import finite, whole
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.model import Joint
from linkwork.results import JointLimits
from linkwork.subject import Subject

_ROUND = 1 << 18  # samples drawn without a look at the clock


def places(subject: Subject) -> tuple[tuple[Joint, slice, slice], ...]:
    """(joint, where in q, where in v) of every independent joint."""
    return subject.once(places, lambda: _places(subject))


def _places(subject: Subject) -> tuple[tuple[Joint, slice, slice], ...]:
    own_q, own_v = subject.tree.independent
    placed = []
    for name in subject.joints:
        q, nq, v, nv = subject.tree.coordinates[name]
        k, j = own_q.index(q), own_v.index(v)
        placed.append((subject.model.joint(name), slice(k, k + nq), slice(j, j + nv)))
    return tuple(placed)


def coordinate_names(subject: Subject, positions: bool) -> list[str]:
    """Names of the entries of q or of v: the joint's, numbered where it has several coordinates."""
    names = []
    for joint, _, _ in places(subject):
        size = joint.nq if positions else joint.nv
        names += [joint.name] if size == 1 else [f"{joint.name}[{k}]" for k in range(size)]
    return names


def joints_of_rates(subject: Subject) -> list[str]:
    """The joint of every entry of v."""
    return [joint.name for joint, _, v in places(subject) for _ in range(v.start, v.stop)]


def place(subject: Subject, name: str) -> slice:
    """Where a joint's coordinates stand in q."""
    for joint, at, _ in places(subject):
        if joint.name == name:
            return at
    raise UnknownName(
        f'robot "{subject.model.name}" has no moving joint '
        f'"{name}"{did_you_mean(name, subject.joints)}'
    )


def neutral(subject: Subject) -> np.ndarray:
    q = np.zeros(subject.nq)
    for joint, at, _ in places(subject):
        if joint.nq > joint.nv:
            q[at.stop - 1] = 1.0
    return q


def named(subject: Subject, values: Mapping[str, float | Sequence[float]]) -> np.ndarray:
    q = neutral(subject)
    for name, value in values.items():
        at = place(subject, name)
        numbers = np.atleast_1d(np.asarray(value, dtype=float))
        if numbers.shape != (at.stop - at.start,) or not np.isfinite(numbers).all():
            raise InvalidInput(
                f'q: joint "{name}" got {value!r}, expected {at.stop - at.start} finite number(s)'
            )
        q[at] = numbers
    return q


def limits(subject: Subject) -> JointLimits:
    """Limits of every coordinate; none are infinite."""
    return subject.once(limits, lambda: _limits(subject))


def _limits(subject: Subject) -> JointLimits:
    lower, upper = np.full(subject.nq, -np.inf), np.full(subject.nq, np.inf)
    velocity, effort, acceleration = (np.full(subject.nv, np.inf) for _ in range(3))
    for joint, q, v in places(subject):
        for k, limit in enumerate(joint.limits):
            if joint.nq == joint.nv:
                lower[q.start + k], upper[q.start + k] = limit.lower, limit.upper
            velocity[v.start + k], effort[v.start + k] = limit.velocity, limit.effort
            acceleration[v.start + k] = limit.acceleration
    for array in (lower, upper, velocity, effort, acceleration):
        array.flags.writeable = False
    return JointLimits(lower, upper, velocity, effort, acceleration)


def random(subject: Subject, n: int | None, seed: int | None) -> np.ndarray:
    count = 1 if n is None else whole(n, "random: n", 0, "a whole number of samples or None")
    if count > _ROUND:
        deadlines.check_memory(8.0 * count * subject.nq, f"random: {count:.3g} samples", "set n=")
    generator = np.random.default_rng(seed)
    q = np.empty((count, subject.nq))
    for joint, at, _ in places(subject):
        for k in range(at.start, at.stop):
            low, high = ranges(subject)[k]
            for some in deadlines.rounds(count, _ROUND):
                q[some, k] = generator.uniform(low, high, some.stop - some.start)
        if joint.nq == joint.nv:
            continue
        for some in deadlines.rounds(count, _ROUND):
            xyzw = generator.normal(size=(some.stop - some.start, 4))
            q[some, at.stop - 4 : at.stop] = xyzw / np.linalg.norm(xyzw, axis=1, keepdims=True)
    return q[0] if n is None else q


def ranges(subject: Subject) -> tuple[tuple[float, float], ...]:
    """(lower, upper) of every entry of q from which random ones are drawn:
    its limits; where there is none, +-pi or +-1 m, or as wide from the other limit."""
    return subject.once(ranges, lambda: tuple(_ranges(subject)))


def _ranges(subject: Subject) -> Iterator[tuple[float, float]]:
    bounds = limits(subject)
    for joint, at, _ in places(subject):
        for k in range(at.start, at.stop):
            reach = 1.0 if k - at.start in joint.kind.slides else math.pi
            low, high = float(bounds.lower[k]), float(bounds.upper[k])
            if not math.isfinite(low):
                low = high - 2 * reach if math.isfinite(high) else -reach
            if not math.isfinite(high):
                high = max(reach, low + 2 * reach if low > -reach else reach)
            yield low, high


def table(subject: Subject) -> str:
    """The robot as a table: joints, what carries what, limits, masses."""
    model = subject.model
    mass = sum(float(body.mass_properties.mass) for body in model.bodies)
    lines = [
        f"{model.name}: {len(model.bodies)} bodies, {len(subject.joints)} moving joints, "
        f"nq = {subject.nq}, nv = {subject.nv}, {mass:.4g} kg"
        + (", kinematic only" if model.kinematic_only else "")
    ]
    rows: list[tuple[Any, ...]] = [
        ("q", "joint", "type", "parent", "child", "lower", "upper", "mass [kg]")
    ]
    for joint, q, _ in places(subject):
        # with what is fixed to it
        moved = subject.tree.nodes[subject.tree.bodies[joint.child][0]].mass_properties
        at = str(q.start) if q.stop - q.start == 1 else f"{q.start}-{q.stop - 1}"
        low, high = (
            ("", "")
            if not joint.limits
            else (f"{joint.limits[0].lower:.4g}", f"{joint.limits[0].upper:.4g}")
        )
        parent = joint.parent or "(world)"
        rows.append(
            (at, joint.name, joint.type, parent, joint.child, low, high, f"{moved.mass:.4g}")
        )
    widths = [max(len(str(row[c])) for row in rows) for c in range(len(rows[0]))]
    lines += [
        "  ".join(str(cell).ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def parameter_changes(subject: Subject, parameters: Any) -> dict[str, Any]:
    """Arguments of `edit.with_parameters` from an array (10 nb,),
    or from what identification found."""
    numbers = finite(
        getattr(parameters, "parameters", parameters),
        (10 * len(subject.model.bodies),),
        "with_parameters: parameters",
    )
    changes: dict[str, Any] = {"parameters": tuple(numbers.tolist())}
    if hasattr(parameters, "parameters"):
        single = [
            (joint.name, at.start) for joint, _, at in places(subject) if at.stop - at.start == 1
        ]
        changes["order"] = tuple(name for name, _ in single)
        for label in ("damping", "friction", "armature"):
            values = finite(getattr(parameters, label), (subject.nv,), f"with_parameters: {label}")
            changes[label] = tuple(float(values[at]) for _, at in single)
    return changes
