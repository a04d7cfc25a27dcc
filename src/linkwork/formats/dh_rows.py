"""DH rows of a model: read off its own frames where these are DH frames,
else made with common normals.

A chain of revolute and prismatic joints always has DH rows; a tree has them only where its own
frames fit, because a frame of a row has one z axis and a link with two joints needs two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.errors import NotPossible
from linkwork.formats.dh import DHTable
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits
from linkwork.model.kinds import PRISMATIC, REVOLUTE
from linkwork.model.model import Model
from linkwork.model.number import times
from linkwork.model.placement import HERE, Placement

_FITS = 1e-12
"""An entry that a DH transform has as zero may be this large (relative to 1, or to the robot's size
for lengths)."""
_PARALLEL = 1e-9
"""Sine of the angle below which two axes count as parallel:
their common normal has no direction of its own."""


@dataclass
class _Moving:
    """A moving joint: T_parent_joint from the frame of the link before, T_joint_link
    (None: the link itself moves), and all matter it carries."""

    joint: Joint
    parent: int | None
    before: Placement
    after: Placement | None
    link: str
    matter: MassProperties | None


def dh_rows(model: Model, convention: str) -> DHTable:
    """The table of a model, or NotPossible with the reason."""
    _refuse_what_rows_cannot_hold(model)
    moving = _moving(model)
    if not moving:
        raise NotPossible(f'to_dh: robot "{model.name}" has no moving joint')
    for base in (HERE, moving[0].before):
        rows = _own_rows(_standing_on(moving, base), convention)
        if rows is not None:
            return DHTable(rows, convention, base, HERE)
    return _made_rows(model, moving, convention)


def _standing_on(moving: list[_Moving], base: Placement) -> list[_Moving]:
    """The same joints, those on the base seen from `base`."""
    back = base.inverse()
    return [
        replace(m, before=back @ m.before) if m.parent is None and base != HERE else m
        for m in moving
    ]


def _refuse_what_rows_cannot_hold(model: Model) -> None:
    for joint in model.joints:
        if not (joint.kind.is_fixed or joint.kind.is_hinge or joint.kind.is_slide):
            raise NotPossible(
                f'to_dh: joint "{joint.name}" of robot "{model.name}" is {joint.type}; a DH row '
                "holds one revolute or "
                "prismatic joint"
            )
        if joint.mimic is not None:
            raise NotPossible(
                f'to_dh: joint "{joint.name}" mimics "{joint.mimic.joint}", which no DH row can say'
            )
    if model.elements:
        raise NotPossible(
            f'to_dh: robot "{model.name}" has {len(model.elements)} closed-loop elements, DH '
            "rows none"
        )


def _moving(model: Model) -> list[_Moving]:
    """Moving joints, parents first, seen from link frames:
    a massless body with one fixed child only carries it."""
    below: dict[str | None, list[Joint]] = {}
    for joint in model.joints:
        below.setdefault(joint.parent, []).append(joint)
    bodies = {body.name: body for body in model.bodies}
    children = {joint.child for joint in model.joints}
    moving: list[_Moving] = []
    # (joint, row it hangs on, T from that row's link frame to the joint's parent)
    stack: list[tuple[Joint, int | None, Placement]] = [
        (j, None, HERE) for j in reversed(below.get(None, []))
    ]
    for body in model.bodies:
        if body.name not in children:
            stack += [(joint, None, HERE) for joint in reversed(below.get(body.name, []))]
    while stack:
        joint, row, T = stack.pop()
        if joint.type == "fixed":
            if row is not None:
                _add(moving[row], bodies[joint.child], T @ joint.placement)
            stack += [
                (each, row, T @ joint.placement) for each in reversed(below.get(joint.child, []))
            ]
            continue
        link, after, rest = joint.child, None, below.get(joint.child, [])
        carrier = bodies[joint.child]
        if not (carrier.has_inertia or carrier.points or carrier.visuals) and [
            j.type for j in rest
        ] == ["fixed"]:
            link, after, rest = rest[0].child, rest[0].placement, below.get(rest[0].child, [])
        matter = bodies[link].mass_properties if bodies[link].has_inertia else None
        moving.append(_Moving(joint, row, T @ joint.placement, after, link, matter))
        stack += [(each, len(moving) - 1, HERE) for each in reversed(rest)]
    return moving


def _add(row: _Moving, body: Any, T_link_body: Placement) -> None:
    if body.has_inertia:
        more = body.mass_properties.seen_from(T_link_body)
        row.matter = more if row.matter is None else row.matter + more


def _own_rows(moving: list[_Moving], convention: str) -> list[dict[str, Any]] | None:
    """Rows from the frames the model has, or None where one of them is no DH frame."""
    size = max(
        1.0, *(abs(x) for m in moving for x in (*m.before.position, *(m.after or HERE).position))
    )
    rows = []
    for i, m in enumerate(moving):
        parameters = (_standard_row if convention == "standard" else _modified_row)(m, size)
        if parameters is None:
            return None
        rows.append(_row(i, m, *parameters, m.matter))
    return rows


def _standard_row(m: _Moving, size: float) -> tuple[dict[str, float], float] | None:
    """(parameters, offset) where the joint moves about (along) z of the frame before and the row's
    form fits."""
    turns = not m.joint.kind.is_slide
    along = times(m.before.rotation, m.joint.axis)
    beside = max(map(abs, m.before.position[:2])) if turns else 0.0
    if max(abs(along[0]), abs(along[1]), abs(along[2] - 1.0)) > _FITS or beside > _FITS * size:
        return None
    if m.after is None:
        parameters = _standard(m.before, size)
        return None if parameters is None else (parameters, 0.0)
    offset, parameters = _zero(m.before, turns, size), _standard(m.after, size)
    return None if offset is None or parameters is None else (parameters, offset)


def _modified_row(m: _Moving, size: float) -> tuple[dict[str, float], float] | None:
    """(parameters, offset) where the joint moves about (along) its own z and the row's form
    fits."""
    x, y, z = m.joint.axis
    across, along = _modified(m.before, size), _modified(m.after or HERE, size)
    if max(abs(x), abs(y), abs(z - 1.0)) > _FITS or across is None or along is None:
        return None
    if m.after is None:
        return across, 0.0
    free, other = ("d", "theta") if m.joint.kind.is_slide else ("theta", "d")
    if abs(along["a"]) + abs(along["alpha"]) + abs(across[other]) > _FITS * size:
        return None
    parameters = {
        "a": across["a"],
        "alpha": across["alpha"],
        "d": along["d"],
        "theta": along["theta"],
    }
    return parameters, across[free]


def _zero(T: Placement, turns: bool, size: float) -> float | None:
    """The offset of a joint whose zero is turned about (or moved along) z alone."""
    angle = math.atan2(T.rotation[1][0], T.rotation[0][0])
    if abs(T.rotation[2][2] - 1.0) > _FITS or max(map(abs, T.position[:2])) > _FITS * size:
        return None
    if turns:
        return angle if abs(T.position[2]) <= _FITS * size else None
    return T.position[2] if abs(angle) <= _FITS else None


def _standard(T: Placement, size: float) -> dict[str, float] | None:
    """(a, alpha, d, theta) of Rz(theta) Tz(d) Tx(a) Rx(alpha), or None for another transform."""
    R, p = T.rotation, T.position
    theta = math.atan2(R[1][0], R[0][0])
    c, s = math.cos(theta), math.sin(theta)
    if abs(R[2][0]) > _FITS or abs(c * p[1] - s * p[0]) > _FITS * size:
        return None
    return {
        "a": c * p[0] + s * p[1],
        "alpha": math.atan2(R[2][1], R[2][2]),
        "d": p[2],
        "theta": theta,
    }


def _modified(T: Placement, size: float) -> dict[str, float] | None:
    """(a, alpha, d, theta) of Rx(alpha) Tx(a) Rz(theta) Tz(d), or None for another transform."""
    R, p = T.rotation, T.position
    alpha = math.atan2(-R[1][2], R[2][2])
    c, s = math.cos(alpha), math.sin(alpha)
    if abs(R[0][2]) > _FITS or abs(c * p[1] + s * p[2]) > _FITS * size:
        return None
    return {
        "a": p[0],
        "alpha": alpha,
        "d": c * p[2] - s * p[1],
        "theta": math.atan2(-R[0][1], R[0][0]),
    }


def _row(
    i: int, m: _Moving, parameters: dict[str, float], offset: float, matter: Any
) -> dict[str, Any]:
    row: dict[str, Any] = {**parameters, "joint": PRISMATIC if m.joint.kind.is_slide else REVOLUTE}
    row["offset"] = offset
    if matter is not None:
        row |= {
            "mass": float(matter.mass),
            "com": tuple(matter.com),
            "inertia": tuple(map(tuple, matter.inertia)),
        }
    if m.parent != (i - 1 if i else None):
        row["parent"] = m.parent
    if m.joint.limits:
        row["limits"] = _limits(m.joint.limits[0])
    return row


def _limits(limit: Limits) -> Any:
    if limit == Limits(limit.lower, limit.upper):
        return (limit.lower, limit.upper)
    known = {
        "lower": limit.lower,
        "upper": limit.upper,
        "velocity": limit.velocity,
        "effort": limit.effort,
    }
    return known if math.isinf(limit.acceleration) else known | {"acceleration": limit.acceleration}


def _made_rows(model: Model, moving: list[_Moving], convention: str) -> DHTable:
    """Frames made by common normals along a chain."""
    for i, m in enumerate(moving):
        if m.parent != (i - 1 if i else None):
            on = "the base" if m.parent is None else f'"{moving[m.parent].link}"'
            raise NotPossible(
                f'to_dh: joint "{m.joint.name}" of robot "{model.name}" branches off {on}; its '
                "frames are no DH "
                "frames, and rows made with common normals describe one chain (see robot.subchain)"
            )
    T = HERE
    joints, links = [], []  # poses in the world at q = 0
    for m in moving:
        joints.append(T @ m.before)
        links.append(joints[-1] @ (m.after or HERE))
        T = links[-1]
    points = [np.array(J.position) for J in joints]
    axes = [np.array(J.rotation) @ np.array(m.joint.axis) for J, m in zip(joints, moving)]
    frames = (_standard_frames if convention == "standard" else _modified_frames)(points, axes)
    base, rows = frames[0], []
    for i, m in enumerate(moving):
        step = frames[i].inverse() @ frames[i + 1]
        size = max(1.0, *map(abs, step.position))
        parameters = (_standard if convention == "standard" else _modified)(step, 1e3 * size)
        if parameters is None:
            raise NotPossible(
                f'to_dh: joint "{m.joint.name}" of robot "{model.name}" is {size:.3g} m away from '
                "its neighbour; "
                "rounding at that distance leaves no common normal"
            )
        matter = (
            None if m.matter is None else m.matter.seen_from(frames[i + 1].inverse() @ links[i])
        )
        rows.append(_row(i, m, parameters, 0.0, matter))
    return DHTable(rows, convention, base, frames[-1].inverse() @ links[-1])


def _standard_frames(points: list[np.ndarray], axes: list[np.ndarray]) -> list[Placement]:
    """Frames 0..n: z of frame i is the axis of joint i + 1,
    x the common normal from the axis before."""
    x = _across(axes[0])
    frames = [_frame(points[0], axes[0], x)]
    origin = points[0]
    for i in range(1, len(axes)):
        x, origin = _common_normal(origin, axes[i - 1], points[i], axes[i], x)
        frames.append(_frame(origin, axes[i], x))
    frames.append(_frame(origin, axes[-1], x))
    return frames


def _modified_frames(points: list[np.ndarray], axes: list[np.ndarray]) -> list[Placement]:
    """Frames 0..n: z of frame i is the axis of joint i, x the common normal to the axis after;
    frame 0 is frame 1."""
    x, feet, normals = _across(axes[0]), [], []
    for i in range(len(axes) - 1):
        x, far = _common_normal(points[i], axes[i], points[i + 1], axes[i + 1], x)
        feet.append(far - x * float(x @ (far - points[i])))
        normals.append(x)
    feet.append(points[-1])
    normals.append(x if len(axes) == 1 else _made_across(x, axes[-1]))
    frames = [_frame(p, z, n) for p, z, n in zip(feet, axes, normals)]
    return [frames[0], *frames]


def _common_normal(
    p: np.ndarray, z: np.ndarray, p2: np.ndarray, z2: np.ndarray, x: np.ndarray
) -> tuple[Any, Any]:
    """(direction from the first axis to the second, its foot on the second);
    for parallel axes through p."""
    n = np.cross(z, z2)
    sine = float(np.linalg.norm(n))
    if sine < _PARALLEL:
        foot = p2 + z2 * float(z2 @ (p - p2))
        across = foot - p
        distance = float(np.linalg.norm(across))
        return (across / distance if distance > 1e-9 else _made_across(x, z2)), foot
    # the point of the second axis nearest to the first:
    # (p2 + t z2 - p) is a multiple of n plus one of z
    foot = p2 + z2 * float(np.dot(np.cross(p - p2, z), -n) / sine**2)
    n = n / sine
    return (n if float(n @ (foot - p)) >= 0.0 else -n), foot


def _made_across(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    across = x - z * float(x @ z)
    length = float(np.linalg.norm(across))
    return across / length if length > 1e-6 else _across(z)


def _across(z: np.ndarray) -> np.ndarray:
    """A unit vector across z, along world x where that is possible."""
    for e in np.eye(3):
        across = e - z * float(e @ z)
        length = float(np.linalg.norm(across))
        if length > 0.5:
            return across / length
    raise AssertionError(z)


def _frame(origin: np.ndarray, z: np.ndarray, x: np.ndarray) -> Placement:
    R = np.stack([x, np.cross(z, x), z], axis=1)
    return Placement(tuple(tuple(row) for row in R.tolist()), tuple(origin.tolist()))  # type: ignore[arg-type]
