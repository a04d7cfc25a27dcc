"""Build: from what a user wrote to the parts of a System, checked at the door."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean, listed
from linkwork.lagrange.expressions import Scope, Symbols
from linkwork.lagrange.joints import PlanarJoint, Pose, turn
from linkwork.lagrange.terms import (
    NOTHING,
    Body,
    Dissipation,
    Drag,
    Lagrangian,
    Point,
    Potential,
    Spring,
    Term,
    TorsionSpring,
)
from linkwork.recursions.joints import joint_transform, placement
from linkwork.spatial import matrix

if TYPE_CHECKING:
    from linkwork.lagrange.system import Frame, System
    from linkwork.subject import Subject

_LETTERS = {"R": "revolute", "P": "prismatic", "F": "fixed"}


def declared(
    symbols: Symbols, coordinates: Any, variables: Mapping[str, float], taken: Collection[str] = ()
) -> tuple[str, ...]:
    """Declare coordinates and variables; gives the coordinates' names."""
    items = coordinates.split() if isinstance(coordinates, str) else coordinates
    names = []
    for item in casadi.vertsplit(items) if isinstance(items, SX) else items:
        if isinstance(item, SX) and not (item.shape == (1, 1) and item.is_symbolic()):
            raise InvalidInput(f"System: coordinate {item} is not a symbol, expected a name or a scalar SX.sym")
        if not isinstance(item, (SX, str)):
            raise InvalidInput(f"System: coordinate {item!r} is neither a name nor a CasADi SX symbol")
        name = item.name() if isinstance(item, SX) else item
        names.append(name)
        if isinstance(item, SX) and name in symbols.q and not casadi.is_equal(symbols.q[name], item):
            raise InvalidInput(f'System: coordinate "{name}" is declared by two different symbols')
        symbols.declare(name, item if isinstance(item, SX) else None)
    everything = [*taken, *names, *variables, "t"]
    for name in (*names, *variables):
        if not name.isidentifier():
            raise InvalidInput(f"System: {name!r} cannot name a coordinate or variable, expected letters, digits and _")
        if everything.count(name) > 1:
            raise InvalidInput(f'System: the name "{name}" is declared twice (t means time)')
    for name in variables:
        symbols.variable(name)
    return tuple(names)


def value(name: str, given: Any) -> float:
    """A finite number for a variable."""
    try:
        number = float(given)
    except (TypeError, ValueError):
        raise InvalidInput(f'System: variable "{name}" is {given!r}, expected a number') from None
    if not np.isfinite(number):
        raise InvalidInput(f'System: variable "{name}" is {number}, expected a finite number')
    return number


def gravity(given: Any, scope: Scope) -> SX:
    """The gravity vector (3)."""
    if given is None or (isinstance(given, (int, float)) and given == 0):
        return SX(3, 1)
    g = scope.position(given, "System: gravity")
    if any(casadi.depends_on(g, scope.symbols.q[name]) for name in scope.coordinates):
        raise InvalidInput("System: gravity depends on a coordinate, expected numbers, variables or time")
    return g


def free_name(name: str, taken: Collection[str], who: str) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"{who}: name is {name!r}, expected a name")
    if name in taken:
        raise InvalidInput(
            f'{who}: the name "{name}" is taken; use replace_body or replace_joint to change what is there'
        )


# terms


def body(system: System, name: str, frame: str | None, given: Mapping[str, Any], piecewise: bool = False) -> Body:
    """A body from the keywords of `with_body`."""
    if frame is not None and frame not in system.frames:
        raise UnknownName(f'body "{name}" stands on unknown frame "{frame}"{did_you_mean(frame, system.frames)}')
    resolved = _body_properties(system.scope, name, given, piecewise)
    made = Body(name=name, frame=frame, **resolved)
    _check_inertia(system, made)
    return made


def changed_body(system: System, name: str, changes: Mapping[str, Any]) -> Body:
    """A body with some properties changed."""
    old = system.terms.get(name)
    if not isinstance(old, Body):
        raise UnknownName(
            f'replace_body: system "{system.name}" has no body "{name}"{did_you_mean(name, system.bodies)}'
        )
    allowed = ("mass", "position", "frame", "orientation", "inertia", "spring", "anchor", "drag", "piecewise")
    for key in changes:
        if key not in allowed:
            raise UnknownName(f'replace_body: a body has no property "{key}"{did_you_mean(key, allowed)}')
    given = dict(changes)
    frame, piecewise = given.pop("frame", old.frame), bool(given.pop("piecewise", False))
    if frame is not None and frame not in system.frames:
        raise UnknownName(f'body "{name}" stands on unknown frame "{frame}"{did_you_mean(frame, system.frames)}')
    made = replace(old, frame=frame, **_body_properties(system.scope, name, given, piecewise))
    _check_inertia(system, made)
    return made


def _body_properties(scope: Scope, name: str, given: Mapping[str, Any], piecewise: bool) -> dict[str, SX | None]:
    who = f'body "{name}"'
    found: dict[str, SX | None] = {}
    for key, x in given.items():
        if key in ("mass", "spring", "drag"):
            found[key] = scope.number(x, f"{who}: {key}")
        elif key == "anchor":
            found[key] = scope.position(x, f"{who}: {key}", piecewise)
        elif key == "position":
            found[key] = scope.position(x, f"{who}: {key}", piecewise)
        elif x is None:
            found[key] = None
        else:
            turned = scope.smooth(x, f"{who}: {key}", piecewise)
            if turned.shape not in ((1, 1), (3, 3)):
                raise InvalidInput(f"{who}: {key} has shape {turned.shape}, expected one number or (3, 3)")
            found[key] = turned
            if key == "orientation" and turned.shape == (3, 3):
                _check_rotation(turned, f"{who}: orientation")
    return found


def _check_inertia(system: System, made: Body) -> None:
    who = f'body "{made.name}"'
    if made.inertia is None:
        if made.orientation is not None:
            raise InvalidInput(f"{who} has an orientation but no inertia, which would turn nothing; give inertia too")
        return
    planar = system.pose(made.frame).angle is not None
    if made.orientation is None and made.frame is None:
        raise InvalidInput(
            f"{who} has an inertia but no orientation; give the angle or the rotation matrix of the body"
        )
    if made.inertia.shape == (1, 1):
        if not planar or (made.orientation is not None and made.orientation.shape != (1, 1)):
            raise InvalidInput(f"{who} turns in space: inertia is one number, expected a matrix (3, 3) in body axes")
    if made.inertia.is_constant():
        I = np.array(casadi.DM(made.inertia), dtype=float)
        if (
            not np.allclose(I, I.T, rtol=0, atol=1e-12 * np.abs(I).max())
            or np.linalg.eigvalsh(I)[0] < -1e-9 * np.abs(I).max()
        ):
            raise InvalidInput(f"{who}: inertia {I.tolist()} is not symmetric with principal moments >= 0")


def _check_rotation(R: SX, who: str) -> None:
    """R'R = 1 and det R = 1 at a few places: a matrix that is no rotation would turn into plausible numbers."""
    f = casadi.Function("R", casadi.symvar(R), [R])
    rng = np.random.default_rng(0)
    for _ in range(3):
        A = np.array(f.call(list(rng.uniform(-1.0, 1.0, f.n_in())))[0], dtype=float)
        if np.isfinite(A).all() and not (np.allclose(A.T @ A, np.eye(3), atol=1e-9) and np.linalg.det(A) > 0):
            raise InvalidInput(f"{who} is not a rotation matrix: R'R differs from 1 or det R is not 1")


def _point(system: System, given: Any, who: str) -> Point:
    """A body, a frame, (frame, offset), or a fixed position."""
    if isinstance(given, str):
        if given in system.bodies:
            return Point(body=given)
        if given in system.frames:
            return Point(frame=given)
        known = (*system.bodies, *system.frames)
        raise UnknownName(f'{who} names "{given}", which is no body or frame{did_you_mean(given, known)}')
    if isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str):
        frame, offset = given
        if frame not in system.frames:
            raise UnknownName(f'{who} names unknown frame "{frame}"{did_you_mean(frame, system.frames)}')
        return Point(frame=frame, offset=system.scope.position(offset, who))
    return Point(offset=system.scope.position(given, who))


def _scalar_of(system: System, given: Any, who: str) -> SX:
    """A coordinate by name, or any smooth scalar of the coordinates."""
    if isinstance(given, str):
        if given not in system.coordinates:
            known = system.coordinates
            raise UnknownName(f'{who} names "{given}", which is no coordinate{did_you_mean(given, known)}')
        return system.scope.symbols.q[given]
    x = system.scope.smooth(given, who)
    if x.shape != (1, 1):
        raise InvalidInput(f"{who} has shape {x.shape}, expected a scalar")
    return x


def spring(system: System, name: str, stiffness: Any, start: Any, end: Any, length: Any) -> Spring:
    who = f'spring "{name}"'
    ends = _point(system, start, f"{who}: start"), _point(system, end, f"{who}: end")
    number = system.scope.number
    return Spring(name, number(stiffness, f"{who}: stiffness"), ends, number(length, f"{who}: length"))


def torsion_spring(system: System, name: str, stiffness: Any, angle: Any, rest: Any) -> TorsionSpring:
    who = f'torsion spring "{name}"'
    k = system.scope.number(stiffness, f"{who}: stiffness")
    return TorsionSpring(name, k, _scalar_of(system, angle, f"{who}: angle"), system.scope.scalar(rest, f"{who}: rest"))


def drag(system: System, name: str, coefficient: Any, point: Any) -> Drag:
    who = f'drag "{name}"'
    return Drag(name, system.scope.number(coefficient, f"{who}: coefficient"), _point(system, point, f"{who}: point"))


def joint_drag(system: System, name: str, coefficient: Any, coordinate: Any) -> Drag:
    who = f'joint drag "{name}"'
    c = system.scope.number(coefficient, f"{who}: coefficient")
    return Drag(name, c, _scalar_of(system, coordinate, f"{who}: coordinate"))


def potential(system: System, name: str, energy: Any) -> Potential:
    return Potential(name, system.scope.scalar(energy, f'potential "{name}"'))


def dissipation(system: System, name: str, function: Any) -> Dissipation:
    return Dissipation(name, system.scope.scalar(function, f'dissipation "{name}"', velocities=True))


def lagrangian(system: System, name: str, function: Any) -> Lagrangian:
    return Lagrangian(name, system.scope.scalar(function, f'Lagrangian "{name}"', velocities=True))


# frames and joints


def motion(system: System, name: str, given: Any, piecewise: bool) -> Pose:
    """The pose of a frame in its parent by a function: (x, y, angle), or (rotation matrix, position)."""
    scope, who = system.scope, f'frame "{name}"'
    if callable(given) and not isinstance(given, SX):
        from linkwork.lagrange.expressions import _called

        given = _called(given, [scope.names(scope.symbols.q, who), scope.symbols.t], who)
    if isinstance(given, (tuple, list)) and len(given) == 2:
        R = scope.smooth(given[0], f"{who}: rotation", piecewise)
        if R.shape != (3, 3):
            raise InvalidInput(f"{who}: rotation has shape {R.shape}, expected (3, 3)")
        _check_rotation(R, f"{who}: rotation")
        return Pose(scope.position(given[1], f"{who}: position", piecewise), None, R, SX(3, 1))
    x = scope.smooth(given, who, piecewise)
    if x.shape != (3, 1):
        raise InvalidInput(f"{who} has shape {x.shape}, expected (x, y, angle) or (rotation matrix, position)")
    return Pose(casadi.vertcat(x[:2], 0), x[2], turn(x[2]), SX(3, 1))


def with_joint(system: System, frame: Frame) -> System:
    """The system with the frame of a joint, new or in the place of the one of its name, and with its coordinate."""
    joint, name = frame.joint, frame.name
    assert joint is not None
    symbols = system.scope.symbols
    moves = joint.type != "fixed"
    coordinates = system.coordinates
    if moves and name not in coordinates:
        declared(symbols, (name,), {}, taken=(*coordinates, *system.variables))
        coordinates = (*coordinates, name)
        if name in system.frames:  # a fixed joint that moves now: its coordinate stands where its joint does
            order = [*[f for f in system.frames if f in coordinates]]
            others = [c for c in coordinates if c not in order]
            coordinates = (*others, *order)
    pose = joint.pose(symbols.q[name] if moves else None, system.scope, f'joint "{name}"')
    made = replace(frame, pose=pose, coordinate=name if moves else None)
    new = system._edited(frames={**system.frames, name: made}, coordinates=coordinates)
    if not moves and name in coordinates:
        _refuse_use_of(new, name, f'joint "{name}" cannot become fixed')
        new = new._edited(coordinates=tuple(c for c in coordinates if c != name))
    for term in new.terms.values():
        if isinstance(term, Body):
            _check_inertia(new, term)
    return new


def extended(
    system: System,
    joints: str,
    lengths: Any = 1.0,
    masses: Any = 1.0,
    angles: Any = 0.0,
    inertias: Any = 0.0,
    centers: Any = 1.0,
    springs: Any = 0.0,
    drags: Any = 0.0,
) -> System:
    """Planar links appended to the last joint of the system; see System.planar_chain."""
    letters = joints.upper()
    for letter in letters:
        if letter not in _LETTERS:
            raise InvalidInput(f"planar_chain: joint {letter!r} of {joints!r} is unknown, expected letters R, P, F")
    n = len(letters)
    columns = [
        _each(x, n, f"planar_chain: {label}")
        for label, x in {
            "lengths": lengths,
            "masses": masses,
            "angles": angles,
            "inertias": inertias,
            "centers": centers,
            "springs": springs,
            "drags": drags,
        }.items()
    ]
    first = 1 + len(system.frames)
    parent = next(reversed(system.frames), None)
    for k, (letter, length, mass, angle, inertia, center, spring_, drag_) in enumerate(zip(letters, *columns), first):
        name = f"joint{k}"
        system = system.with_joint(name, PlanarJoint(_LETTERS[letter], length, angle), parent)
        reach = system.scope.symbols.q[name] if letter == "P" else system.scope.number(length, f"{name}: length")
        offset = (center - 1.0) * reach
        system = system.with_body(
            f"link{k}",
            mass,
            casadi.vertcat(offset, 0) if not SX(offset).is_zero() else (0.0, 0.0),
            frame=name,
            inertia=None if isinstance(inertia, (int, float)) and inertia == 0 else inertia,
            spring=spring_,
            drag=drag_,
        )
        parent = name
    return system


def _each(given: Any, n: int, who: str) -> list[Any]:
    if isinstance(given, (int, float, SX)) or not isinstance(given, (Sequence, np.ndarray)):
        return [given] * n
    if len(given) != n:
        raise InvalidInput(f"{who} has {len(given)} entries, expected one number or {n}")
    return list(given)


def without(system: System, name: str) -> System:
    """The system without a term, constraint, joint or frame."""
    terms, constraints, frames = dict(system.terms), dict(system.constraints), dict(system.frames)
    if name in terms and name in frames:
        raise InvalidInput(f'remove: "{name}" names both a {terms[name].kind} and a joint; give them different names')
    if name in terms:
        users = [t.name for t in terms.values() if name in t.bodies]
        if users:
            raise InvalidInput(f'remove: "{name}" is held by {listed(users)}; remove these first')
        del terms[name]
        return system._edited(terms=terms)
    if name in constraints:
        del constraints[name]
        return system._edited(constraints=constraints)
    if name not in frames:
        known = (*terms, *constraints, *frames)
        raise UnknownName(f'remove: system "{system.name}" has no "{name}"{did_you_mean(name, known)}')
    users = [f.name for f in frames.values() if f.parent == name] + [t.name for t in terms.values() if name in t.frames]
    if users:
        raise InvalidInput(f'remove: "{name}" carries {listed(users)}; remove these first')
    frame = frames.pop(name)
    new = system._edited(frames=frames)
    if frame.coordinate is None:
        return new
    _refuse_use_of(new, frame.coordinate, f'remove: joint "{name}" cannot go')
    return new._edited(coordinates=tuple(c for c in system.coordinates if c != frame.coordinate))


def _refuse_use_of(system: System, coordinate: str, sentence: str) -> None:
    """Nothing may depend on a coordinate that disappears."""
    symbols = system.scope.symbols
    symbol = casadi.vertcat(symbols.q[coordinate], symbols.v[coordinate])
    users = [term.name for term, x in system.placed if casadi.depends_on(casadi.vertcat(x, _function_of(term)), symbol)]
    users += [c.name for c in system.constraints.values() if casadi.depends_on(c.function, symbol)]
    users += [f.name for f in system.frames.values() if casadi.depends_on(_all_of(f.pose), symbol)]
    if users:
        raise InvalidInput(f'{sentence}: coordinate "{coordinate}" is used by {listed(users)}')


def _function_of(term: Term) -> SX:
    return getattr(term, "function", NOTHING)


def _all_of(pose: Pose) -> SX:
    return casadi.vertcat(pose.before, casadi.vec(pose.R), pose.after)


def from_subject(cls: type[System], subject: Subject) -> System:
    """The System of a robot: a frame a joint, a body for each described body that has matter, rotors as Lagrangians."""
    from linkwork.lagrange.system import Frame

    tree, model = subject.full_tree, subject.model
    who = f'robot "{model.name}"'
    if model.kinematic_only:
        raise NotPossible(f"System.from_robot: {who} is kinematic only: no mass properties are published for it")
    turning = [node.joint for node in tree.nodes if node.nq > 1]
    if turning:
        raise NotPossible(
            f"System.from_robot: {who} has ball or floating joints ({listed(turning)}); their quaternions are no "
            "generalised coordinates"
        )
    names = _coordinate_names(subject)
    system = cls(tuple(dict.fromkeys(names.values())), gravity=tuple(model.gravity), name=model.name)
    symbols = system.scope.symbols
    Gq, b, _ = tree.mimic_map
    own = [names[k] for k in tree.independent[0]]
    frames: dict[str, Frame] = {}
    label: dict[int, str | None] = {0: None}
    q = casadi.sparsify(casadi.DM(Gq)) @ casadi.vertcat(*[symbols.q[name] for name in own]) + b if own else SX(0, 1)
    for i in tree.outward:
        node = tree.nodes[i]
        T = placement(node) @ joint_transform(node, q[node.q : node.q + node.nq])
        label[i] = node.name
        frames[node.name] = Frame(node.name, label[node.parent], Pose(T.p, None, T.R, SX(3, 1)))
    system = system._edited(frames=frames)
    for i in tree.outward:
        node = tree.nodes[i]
        matter = node.mass_properties
        if float(matter.mass) != 0.0 or any(x for row in matter.inertia for x in row):
            I = None if not any(x for row in matter.inertia for x in row) else matrix(matter.inertia)
            made = Body(node.name, SX(matter.mass), casadi.vertcat(*matter.com), node.name, None, I)
            system = system._with_term(made)
        if node.nv and float(node.armature[0]) != 0.0:
            rate = casadi.jtimes(q[node.q], system.scope.q, system.scope.v)
            system = system._with_term(Lagrangian(f"rotor of {node.name}", float(node.armature[0]) * rate**2 / 2))
    return system


def _coordinate_names(subject: Subject) -> dict[int, str]:
    """Tree index of an independent coordinate -> a name: the joint's, numbered where it has several coordinates."""
    names = {}
    for joint in subject.joints:
        first, nq, _, _ = subject.tree.coordinates[joint]
        for k in range(nq):
            plain = "".join(c if c.isalnum() else "_" for c in joint)
            plain = plain if plain[0].isalpha() else f"q_{plain}"
            names[first + k] = plain if nq == 1 else f"{plain}_{k + 1}"
    return names


def table(system: System) -> str:
    """The system as a table a person can read: every term, its kind, the coordinates it depends on."""
    head = f"{system.name}: coordinates {listed(system.coordinates)}; {len(system.terms)} terms"
    head += f", {len(system.constraints)} constraints" if system.constraints else ""
    rows: Iterable[tuple[str, str, str]] = [("term", "kind", "depends on")]
    for term, x in system.placed:
        used = casadi.vertcat(x, _function_of(term))
        symbols = system.scope.symbols
        names = [c for c in system.coordinates if casadi.depends_on(used, casadi.vertcat(symbols.q[c], symbols.v[c]))]
        rows = [*rows, (term.name, term.kind, ", ".join(names))]
    widths = [max(len(row[c]) for row in rows) for c in range(3)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([head, *lines])
