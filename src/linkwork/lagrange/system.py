"""System: a mechanism given by the positions of its masses as functions of any coordinates."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.engine.kernel import Context, Kernel
from linkwork.errors import ComputationError, InvalidInput, UnknownName, did_you_mean, listed
from linkwork.lagrange import build, chains, declarations, diagnosis, edits, kernels, robots
from linkwork.lagrange.columns import Column, dependencies
from linkwork.lagrange.expressions import Scope, Symbols
from linkwork.lagrange.joints import GROUND, Joint, Pose
from linkwork.lagrange.methods import Variables
from linkwork.lagrange.parts import Constraint, Frame, Parts
from linkwork.lagrange.placed_terms import PlacedTerms
from linkwork.lagrange.terms import Body, Term
from linkwork.subject import RobotLike, subject_of


class System(PlacedTerms):
    """A mechanism of generalised coordinates and bodies; immutable, each edit gives a new system.

        pendulum = System("theta", gravity=(0, -9.81))
        pendulum = pendulum.with_body("bob", mass=1.0, position=lambda q: (sin(q.theta),
        -cos(q.theta))) pendulum.forward_dynamics([0.3], [0.0], [0.0])

    coordinates   names in one string or a sequence, or CasADi SX symbols; joints add their own
    gravity       vector [m/s^2] in the axes of the positions; None or 0 for none
    variables     named numbers that positions and masses may use as q.name; they can change without
                  tracing again

    Positions are functions of q (and of t), CasADi expressions, or numbers, with one to three
    elements. Shapes: q, v, a, tau (..., n) with leading batch dimensions that broadcast. An edit
    rebuilds the columns that depend on it and shares the rest. Source: [Kusaka2022].
    """

    def __init__(
        self,
        coordinates: str | SX | Sequence[str | SX] = (),
        *,
        gravity: Any,
        variables: Mapping[str, float] | None = None,
        name: str = "system",
    ) -> None:
        symbols = Symbols()
        names = declarations.declared(symbols, coordinates, variables or {})
        values = {key: declarations.value(key, x) for key, x in (variables or {}).items()}
        scope = Scope(symbols, names, tuple(values))
        parts = Parts(name, names, declarations.gravity(gravity, scope), values, {}, {}, {})
        self._setup(parts, symbols, {})

    def _setup(self, parts: Parts, symbols: Symbols, known: Mapping[Any, Column]) -> None:
        self._parts, self._symbols = parts, symbols
        self.scope = Scope(symbols, parts.coordinates, tuple(parts.variables))
        self._poses: dict[str | None, Pose] = {None: GROUND}
        self._columns = {
            key: known[key] for key in map(self._key, parts.terms.values()) if key in known
        }
        self._kernels: dict[Any, Kernel] = {}
        self._callers: dict[str, Any] = {}

    def _edited(self, **changes: Any) -> System:
        new = object.__new__(System)
        new._setup(replace(self._parts, **changes), self._symbols, self._columns)
        return new

    # what it is

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the generalised coordinates, in the order of q."""
        return self._parts.coordinates

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.coordinates)

    @property
    def variables(self) -> dict[str, float]:
        """Named numbers and their present values."""
        return dict(self._parts.variables)

    @property
    def frames(self) -> Mapping[str, Frame]:
        return dict(self._parts.frames)

    @property
    def terms(self) -> Mapping[str, Term]:
        """What contributes to the equations, by name: the columns of the torque table in order."""
        return dict(self._parts.terms)

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(name for name, term in self._parts.terms.items() if isinstance(term, Body))

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        return dict(self._parts.constraints)

    @functools.cached_property
    def time_dependent(self) -> bool:
        """True if time enters a position, an energy or a constraint explicitly."""
        functions = [c.function for c in self._parts.constraints.values()] + [self._parts.gravity]
        functions += [part for term, x in self.placed for part in (term.function, x)]
        return bool(casadi.depends_on(casadi.vertcat(*functions), self._symbols.t))

    def __deepcopy__(self, memo: dict[int, Any]) -> System:
        return self  # nothing in it changes but compiled code, which cannot be copied

    def __repr__(self) -> str:
        return f'<System "{self.name}": {listed(self.coordinates)}; {len(self._parts.terms)} terms>'

    def __str__(self) -> str:
        head = (
            f"{self.name}: coordinates {listed(self.coordinates)}; {len(self._parts.terms)} terms"
        )
        head += f", {len(self._parts.constraints)} constraints" if self._parts.constraints else ""
        rows = [("term", "kind", "depends on")]
        for term, x in self.placed:
            rows.append((term.name, term.kind, ", ".join(dependencies(term, x, self.scope))))
        widths = [max(len(row[c]) for row in rows) for c in range(3)]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([head, *lines])

    # edits: another system that shares every column the edit does not touch

    def with_coordinates(self, *names: str | SX) -> System:
        """The system with more coordinates."""
        added = declarations.declared(
            self._symbols, names, {}, taken=(*self.coordinates, *self.variables)
        )
        return self._edited(coordinates=(*self.coordinates, *added))

    def with_variables(self, **values: float) -> System:
        """The system with other values of its variables, or with new ones;
        no column is traced again."""
        numbers = {key: declarations.value(key, x) for key, x in values.items()}
        new = [key for key in numbers if key not in self._parts.variables]
        declarations.declared(
            self._symbols, (), dict.fromkeys(new, 0.0), taken=(*self.coordinates, *self.variables)
        )
        return self._edited(variables={**self._parts.variables, **numbers})

    def with_gravity(self, gravity: Any) -> System:
        return self._edited(gravity=declarations.gravity(gravity, self.scope))

    def with_body(
        self,
        name: str,
        mass: Any,
        position: Any = (0.0, 0.0, 0.0),
        *,
        frame: str | None = None,
        orientation: Any = None,
        inertia: Any = None,
        spring: Any = 0.0,
        anchor: Any = (0.0, 0.0, 0.0),
        drag: Any = 0.0,
        piecewise: bool = False,
    ) -> System:
        """The system with one more body, whose equations are one more column.

        mass [kg]; position [m] in the frame's axes (without frame: of the ground); orientation
        relative to the frame: an angle [rad] in the plane or a rotation matrix; inertia [kg m^2]:
        about z for an angle, (3, 3) in body axes for a matrix; spring [N/m] to the anchor on the
        ground, of no rest length; drag [N s/m] on the centre.
        """
        properties = {
            "mass": mass,
            "position": position,
            "orientation": orientation,
            "inertia": inertia,
        }
        properties |= {"spring": spring, "anchor": anchor, "drag": drag}
        return self._with_term(build.body(self, name, frame, properties, piecewise))

    def with_spring(
        self, name: str, stiffness: Any, start: Any, end: Any = (0.0, 0.0, 0.0), length: Any = 0.0
    ) -> System:
        """A spring [N/m] of rest length [m] between two points: each a body, a frame,
        (frame, offset), or fixed."""
        return self._with_term(build.spring(self, name, stiffness, start, end, length))

    def with_torsion_spring(self, name: str, stiffness: Any, angle: Any, rest: Any = 0.0) -> System:
        """A spring [N m/rad] on a coordinate (by name) or on any scalar of the coordinates."""
        return self._with_term(build.torsion_spring(self, name, stiffness, angle, rest))

    def with_drag(self, name: str, coefficient: Any, point: Any) -> System:
        """Drag [N s/m] on the absolute velocity of a point (a body, a frame, or (frame,
        offset))."""
        return self._with_term(build.drag(self, name, coefficient, point))

    def with_joint_drag(self, name: str, coefficient: Any, coordinate: Any) -> System:
        """Viscous friction [N m s/rad] on a coordinate (by name) or on the rate of any scalar of
        the coordinates."""
        return self._with_term(build.joint_drag(self, name, coefficient, coordinate))

    def with_potential(self, name: str, energy: Any) -> System:
        """A potential energy [J] of the user's own: a function (q) or (q, t), or an expression."""
        return self._with_term(build.potential(self, name, energy))

    def with_dissipation(self, name: str, function: Any) -> System:
        """A Rayleigh function [W] of the user's own: (q, v) or (q, v, t); its forces are dR/dv."""
        return self._with_term(build.dissipation(self, name, function))

    def with_lagrangian(self, name: str, function: Any) -> System:
        """A Lagrangian [J] of the user's own: (q, v) or (q, v, t)."""
        return self._with_term(build.lagrangian(self, name, function))

    def with_constraint(self, name: str, function: Any, rate: Any = 10.0) -> System:
        """The system held to function(q) = 0 or function(q, t) = 0 (one or more numbers) by
        multipliers.

        Drift off the constraint decays with the rate [1/s]: Phi'' = -2 rate Phi' - rate^2 Phi.
        """
        declarations.free_name(
            name, {**self._parts.terms, **self._parts.constraints}, "with_constraint"
        )
        phi = self.scope.smooth(function, f'constraint "{name}"')
        made = Constraint(
            name, casadi.vec(phi), self.scope.number(rate, f'constraint "{name}": rate')
        )
        return self._edited(constraints={**self._parts.constraints, name: made})

    def with_frame(
        self, name: str, motion: Any, parent: str | None = None, piecewise: bool = False
    ) -> System:
        """A frame that moves in its parent by a function of q (and t):
        (x, y, angle) or (rotation matrix, position)."""
        declarations.free_name(name, self._parts.frames, "with_frame")
        self._check_frame(parent, f'frame "{name}"')
        frame = Frame(name, parent, build.motion(self, name, motion, piecewise))
        return self._edited(frames={**self._parts.frames, name: frame})

    def with_joint(self, name: str, joint: Joint, parent: str | None = None) -> System:
        """A joint on a frame; it adds the coordinate of its name (none if it is fixed) and the
        frame of its name."""
        declarations.free_name(name, self._parts.frames, "with_joint")
        self._check_frame(parent, f'joint "{name}"')
        return edits.with_joint(self, Frame(name, parent, GROUND, joint=joint))

    def extended(
        self, joints: str, lengths: Any = 1.0, masses: Any = 1.0, **options: Any
    ) -> System:
        """The system with more planar links at the end of its last joint; see `planar_chain`."""
        return chains.extended(self, joints, lengths, masses, **options)

    @classmethod
    def planar_chain(
        cls,
        joints: str,
        lengths: Any = 1.0,
        masses: Any = 1.0,
        *,
        gravity: Any = (0.0, -9.81),
        **options: Any,
    ) -> System:
        """A chain of links in the x-y plane, one letter each: R revolute, P prismatic,
        F fixed angle.

        Joints are joint1, joint2, ..., bodies link1, link2, ...; angles are relative and count from
        the +x axis. One number for all links or one a link: lengths [m] (ignored for P), masses
        [kg], and as options angles [rad] (of P and F), inertias [kg m^2] about the centre, centers
        (distance of the centre from the joint as a part of the length: 1 = point mass at the tip),
        springs [N/m] to the origin, drags [N s/m] on the centre.
        """
        return cls(gravity=gravity, name="planar chain").extended(
            joints, lengths, masses, **options
        )

    @classmethod
    def from_robot(cls, robot: RobotLike) -> System:
        """The system of a robot (or its subject) with one-coordinate joints,
        to extend it by anything."""
        return robots.from_subject(cls, subject_of(robot, "System.from_robot"))

    def replace_body(self, name: str, **changes: Any) -> System:
        """The system with some properties of a body changed (the keywords of `with_body`)."""
        return self._with_term(build.changed_body(self, name, changes), replacing=name)

    def replace_joint(self, name: str, joint: Joint | str) -> System:
        """The system with another joint in the place of one;
        a type alone ("prismatic") keeps length, angle, axis."""
        old = self._frame(name)
        if old.joint is None:
            raise InvalidInput(f'replace_joint: frame "{name}" is not made by a joint')
        new = replace(old.joint, type=joint) if isinstance(joint, str) else joint
        return edits.with_joint(self, replace(old, joint=new))

    def remove(self, name: str) -> System:
        """The system without a term, a constraint, or a joint or frame on which nothing stands any
        more.

        Of a body and a joint of one name, as systems made from robots have, the body goes first.
        """
        return edits.without(self, name)

    def _with_term(self, term: Term, replacing: str | None = None) -> System:
        terms = {**self._parts.terms, **self._parts.constraints}
        if replacing is None:
            declarations.free_name(term.name, terms, f"with_{term.kind.replace(' ', '_').lower()}")
        return self._edited(terms={**self._parts.terms, term.name: term})

    # states, equations, compiled code

    def consistent(
        self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nearest state (q, v) that obeys the constraints, by Newton's method from a guess."""
        return diagnosis.consistent(self, q, np.zeros(self.nq) if v is None else v, t)

    def equilibrium(self, q: ArrayLike, tau: Any = 0.0, t: float = 0.0) -> np.ndarray:
        """A resting configuration near q under the forces tau: numbers,
        or a function of q such as a PD law."""
        return diagnosis.equilibrium(self, q, tau, t)

    def function(self, name: str, variables: Sequence[str] = ()) -> casadi.Function:
        """A quantity as a CasADi function of its inputs, of t if time enters,
        and of the variables named."""
        return kernels.function(self, name, self._known_variables(variables))

    def kernel(self, name: str, variables: Sequence[str] = ()) -> Kernel:
        """The compiled quantity, with these variables as inputs and the others at their values."""
        key = (name, tuple(variables))
        if key not in self._kernels:
            self._kernels[key] = kernels.make(self, name, self._known_variables(variables))
        return self._kernels[key]

    def _known_variables(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Names of variables, or UnknownName for the first that the system does not have."""
        names = tuple(labels)
        for label in names:
            if label not in self._parts.variables:
                known = did_you_mean(label, self._parts.variables)
                raise UnknownName(
                    f'variables: system "{self.name}" has no variable "{label}"{known}'
                )
        return names

    def equations(self, term: str | None = None, simplify: bool | None = None) -> Any:
        """Readable equations of motion, column by column, as SymPy expressions;
        needs linkwork[symbolic]."""
        from linkwork.lagrange.equations import equations

        return equations(self, term, simplify)

    def _evaluate(
        self, name: str, t: ArrayLike, variables: Variables, *arguments: ArrayLike
    ) -> Any:
        if variables is None and not self.time_dependent:
            caller = self._callers.get(name)
            if caller is None:
                caller = self._callers[name] = self.kernel(name).caller(self._context)
            return caller(*arguments)
        live = dict(variables or {})
        self._known_variables(live)
        args = [
            *arguments,
            *([np.asarray(t, dtype=float)] if self.time_dependent else []),
            *live.values(),
        ]
        return self.kernel(name, tuple(live)).call(args, None, self._context)

    def _solve(self, name: str, t: ArrayLike, variables: Variables, *arguments: ArrayLike) -> Any:
        try:
            return self._evaluate(name, t, variables, *arguments)
        except (ComputationError, InvalidInput) as error:
            diagnosis.explain_singular(self, name, arguments[0], t, variables)
            raise error

    @functools.cached_property
    def _context(self) -> Context:
        who = f'system "{self.name}"'
        size = f"{who} has {self.nq} coordinates ({listed(self.coordinates)})"
        return Context(who, dict.fromkeys(("q", "v", "a", "tau"), size))
