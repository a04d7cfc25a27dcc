"""Build: terms and frames from what a user wrote, checked at the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.lagrange.expressions import Scope, called
from linkwork.lagrange.joints import Pose, turn
from linkwork.lagrange.terms import (
    Body,
    Dissipation,
    Drag,
    Lagrangian,
    Point,
    Potential,
    Spring,
    TorsionSpring,
)

if TYPE_CHECKING:
    from linkwork.lagrange.system import System


def body(
    system: System,
    name: str,
    frame: str | None,
    properties: Mapping[str, Any],
    piecewise: bool = False,
) -> Body:
    """A body from the keywords of `with_body`."""
    if frame is not None and frame not in system.frames:
        raise UnknownName(
            f'body "{name}" stands on unknown frame "{frame}"{did_you_mean(frame, system.frames)}'
        )
    resolved = _body_properties(system.scope, name, properties, piecewise)
    made = Body(name=name, frame=frame, **resolved)
    check_inertia(system, made)
    return made


def changed_body(system: System, name: str, changes: Mapping[str, Any]) -> Body:
    """A body with some properties changed."""
    old = system.terms.get(name)
    if not isinstance(old, Body):
        raise UnknownName(
            f'replace_body: system "{system.name}" has no body '
            f'"{name}"{did_you_mean(name, system.bodies)}'
        )
    allowed = (
        "mass",
        "position",
        "frame",
        "orientation",
        "inertia",
        "spring",
        "anchor",
        "drag",
        "piecewise",
    )
    for key in changes:
        if key not in allowed:
            raise UnknownName(
                f'replace_body: a body has no property "{key}"{did_you_mean(key, allowed)}'
            )
    properties = dict(changes)
    frame, piecewise = properties.pop("frame", old.frame), bool(properties.pop("piecewise", False))
    if frame is not None and frame not in system.frames:
        raise UnknownName(
            f'body "{name}" stands on unknown frame "{frame}"{did_you_mean(frame, system.frames)}'
        )
    made = replace(old, frame=frame, **_body_properties(system.scope, name, properties, piecewise))
    check_inertia(system, made)
    return made


def _body_properties(
    scope: Scope, name: str, described: Mapping[str, Any], piecewise: bool
) -> dict[str, Any]:
    who = f'body "{name}"'
    properties: dict[str, Any] = {}
    for key, x in described.items():
        if key in ("mass", "spring", "drag"):
            properties[key] = scope.number(x, f"{who}: {key}")
        elif key in ("position", "anchor"):
            properties[key] = scope.position(x, f"{who}: {key}", piecewise)
        elif x is None:
            properties[key] = None
        else:
            turned = scope.smooth(x, f"{who}: {key}", piecewise)
            if turned.shape not in ((1, 1), (3, 3)):
                raise InvalidInput(
                    f"{who}: {key} has shape {turned.shape}, expected one number or (3, 3)"
                )
            properties[key] = turned
            if key == "orientation" and turned.shape == (3, 3):
                _check_rotation(turned, f"{who}: orientation")
    return properties


def check_inertia(system: System, made: Body) -> None:
    who = f'body "{made.name}"'
    if made.inertia is None:
        if made.orientation is not None:
            raise InvalidInput(
                f"{who} has an orientation but no inertia, which would turn nothing; give "
                "inertia too"
            )
        return
    planar = system.pose(made.frame).angle is not None
    if made.orientation is None and made.frame is None:
        raise InvalidInput(
            f"{who} has an inertia but no orientation; give the angle or the rotation matrix of "
            "the body"
        )
    if made.inertia.shape == (1, 1):
        if not planar or (made.orientation is not None and made.orientation.shape != (1, 1)):
            raise InvalidInput(
                f"{who} turns in space: inertia is one number, expected a matrix (3, 3) in "
                "body axes"
            )
    if made.inertia.is_constant():
        I = np.array(casadi.DM(made.inertia), dtype=float)
        if (
            not np.allclose(I, I.T, rtol=0, atol=1e-12 * np.abs(I).max())
            or np.linalg.eigvalsh(I)[0] < -1e-9 * np.abs(I).max()
        ):
            raise InvalidInput(
                f"{who}: inertia {I.tolist()} is not symmetric with principal moments >= 0"
            )


def _check_rotation(R: SX, who: str) -> None:
    """R'R = 1 and det R = 1 at a few places: a matrix that is no rotation would turn into plausible
    numbers."""
    f = casadi.Function("R", casadi.symvar(R), [R])
    rng = np.random.default_rng(0)
    for _ in range(3):
        A = np.array(f.call(list(rng.uniform(-1.0, 1.0, f.n_in())))[0], dtype=float)
        if np.isfinite(A).all() and not (
            np.allclose(A.T @ A, np.eye(3), atol=1e-9) and np.linalg.det(A) > 0
        ):
            raise InvalidInput(
                f"{who} is not a rotation matrix: R'R differs from 1 or det R is not 1"
            )


def _point(system: System, place: Any, who: str) -> Point:
    """A body, a frame, (frame, offset), or a fixed position."""
    if isinstance(place, str):
        if place in system.bodies:
            return Point(body=place)
        if place in system.frames:
            return Point(frame=place)
        known = (*system.bodies, *system.frames)
        raise UnknownName(
            f'{who} names "{place}", which is no body or frame{did_you_mean(place, known)}'
        )
    if isinstance(place, (tuple, list)) and len(place) == 2 and isinstance(place[0], str):
        frame, offset = place
        if frame not in system.frames:
            raise UnknownName(
                f'{who} names unknown frame "{frame}"{did_you_mean(frame, system.frames)}'
            )
        return Point(frame=frame, offset=system.scope.position(offset, who))
    return Point(offset=system.scope.position(place, who))


def _scalar_of(system: System, given: Any, who: str) -> SX:
    """A coordinate by name, or any smooth scalar of the coordinates."""
    if isinstance(given, str):
        if given not in system.coordinates:
            known = system.coordinates
            raise UnknownName(
                f'{who} names "{given}", which is no coordinate{did_you_mean(given, known)}'
            )
        return system.scope.symbols.q[given]
    x = system.scope.smooth(given, who)
    if x.shape != (1, 1):
        raise InvalidInput(f"{who} has shape {x.shape}, expected a scalar")
    return x


def spring(system: System, name: str, stiffness: Any, start: Any, end: Any, length: Any) -> Spring:
    who = f'spring "{name}"'
    ends = _point(system, start, f"{who}: start"), _point(system, end, f"{who}: end")
    number = system.scope.number
    return Spring(
        name, number(stiffness, f"{who}: stiffness"), ends, number(length, f"{who}: length")
    )


def torsion_spring(
    system: System, name: str, stiffness: Any, angle: Any, rest: Any
) -> TorsionSpring:
    who = f'torsion spring "{name}"'
    k = system.scope.number(stiffness, f"{who}: stiffness")
    return TorsionSpring(
        name,
        k,
        _scalar_of(system, angle, f"{who}: angle"),
        system.scope.scalar(rest, f"{who}: rest"),
    )


def drag(system: System, name: str, coefficient: Any, point: Any) -> Drag:
    who = f'drag "{name}"'
    return Drag(
        name,
        system.scope.number(coefficient, f"{who}: coefficient"),
        _point(system, point, f"{who}: point"),
    )


def joint_drag(system: System, name: str, coefficient: Any, coordinate: Any) -> Drag:
    who = f'joint drag "{name}"'
    c = system.scope.number(coefficient, f"{who}: coefficient")
    return Drag(name, c, _scalar_of(system, coordinate, f"{who}: coordinate"))


def potential(system: System, name: str, energy: Any) -> Potential:
    return Potential(name, system.scope.scalar(energy, f'potential "{name}"'))


def dissipation(system: System, name: str, function: Any) -> Dissipation:
    return Dissipation(
        name, system.scope.scalar(function, f'dissipation "{name}"', velocities=True)
    )


def lagrangian(system: System, name: str, function: Any) -> Lagrangian:
    return Lagrangian(name, system.scope.scalar(function, f'Lagrangian "{name}"', velocities=True))


def motion(system: System, name: str, pose: Any, piecewise: bool) -> Pose:
    """The pose of a frame in its parent by a function: (x, y, angle),
    or (rotation matrix, position)."""
    scope, who = system.scope, f'frame "{name}"'
    if callable(pose) and not isinstance(pose, SX):
        pose = called(pose, [scope.names(scope.symbols.q, who), scope.symbols.t], who)
    if isinstance(pose, (tuple, list)) and len(pose) == 2:
        R = scope.smooth(pose[0], f"{who}: rotation", piecewise)
        if R.shape != (3, 3):
            raise InvalidInput(f"{who}: rotation has shape {R.shape}, expected (3, 3)")
        _check_rotation(R, f"{who}: rotation")
        return Pose(scope.position(pose[1], f"{who}: position", piecewise), None, R, SX(3, 1))
    x = scope.smooth(pose, who, piecewise)
    if x.shape != (3, 1):
        raise InvalidInput(
            f"{who} has shape {x.shape}, expected (x, y, angle) or (rotation matrix, position)"
        )
    return Pose(casadi.vertcat(x[:2], 0), x[2], turn(x[2]), SX(3, 1))
