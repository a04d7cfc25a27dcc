"""Loads: the wrench of every joint, the force of every actuator, the pull of every spring,
and the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import backward
from linkwork.actuation.layout import layout_of
from linkwork.arguments import choice
from linkwork.errors import ComputationError, InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.loads.load_sharing import Structure, solved_amounts, structure_of
from linkwork.loads.members import refuse_open_bars, strut_levers
from linkwork.loads.residual import body_residuals
from linkwork.loads.statics import Statics
from linkwork.loads.supports import ends_of, loop_elements
from linkwork.loops.assembly import has_closures
from linkwork.loops.closed import OPEN, largest_gap, refuse_open
from linkwork.loops.singular import refuse_singular
from linkwork.model import Placement, Tree
from linkwork.model.element_checks import about
from linkwork.model.elements import LinearActuator
from linkwork.quantities import Inputs
from linkwork.spatial import Force
from linkwork.subject import Subject

DEAD_POINT = 1e-9
"""A lever below this [m/rad, m/m] cannot carry a load in any machine."""
UNHELD = 1e-7
"""Torque left in a joint without a motor, as part of the reactions,
above which equilibrium does not hold."""


def loads_trace(tree: Tree, x: Inputs) -> tuple[SX, ...]:
    """What `loads` computes, on the tree with every body: see the outputs of its line below."""
    subject = x.subject
    structure = structure_of(subject)
    statics = Statics(tree, x.q, x.v, x.a, x.forces)
    amounts = solved_amounts(statics, subject, structure)
    F = statics.wrenches(amounts)
    tau = statics.independent(statics.joint_forces(F, amounts))
    nodes = [tree.bodies[name][0] for name in tree.bodies]
    effort, levers = _efforts(subject, tree, x, statics, amounts, tau)
    held = [_six(statics.support_wrench(k, amounts)).T for k in range(len(statics.supports))]
    others = [
        _six(statics.support_wrench(k, amounts, on_second=False)).T
        for k in range(len(statics.supports))
    ]
    springs = [statics.tension[name] for name in statics.tension]
    return (
        casadi.vertcat(*[_six(F[i]).T for i in nodes]),
        effort,
        casadi.vertcat(*held, SX(0, 6)),
        casadi.vertcat(*others, SX(0, 6)),
        casadi.vertcat(*springs, SX(0, 1)),
        casadi.vertcat(*[statics.length[name] for name in statics.length], SX(0, 1)),
        # what the ground gives as a whole: no element and no rule can change it
        _six(statics.open[0]),
        levers,
    )


def _efforts(
    subject: Subject, tree: Tree, x: Inputs, statics: Statics, amounts: SX, tau: SX
) -> tuple[SX, SX]:
    """(force of every command, then of every other strut; the smallest lever of a strut on its
    joint).

    The lever counts as zero where loops are singular and a joint without a motor stays unheld, as
    -1 where a loop is open.
    """
    layout = layout_of(subject)
    q, v = x.own["q"], SX.sym("rates", subject.nv)
    merged = _merged(subject, tree)
    _, cd, _ = backward(subject, merged, q, v, SX.zeros(subject.nv))
    rates = casadi.jacobian(cd, v)
    held, effort, tau = tau, SX.zeros(layout.sizes[1]), SX(tau)
    for driven in reversed(layout.driven):
        if driven.carrier is not None:  # the wheel turns against the joint that carries the belt
            tau[driven.carrier] = tau[driven.carrier] - tau[driven.v[0]]
    for _, at_cd, _, at_v, _, nv in layout.direct:
        effort[at_cd : at_cd + nv] = tau[at_v : at_v + nv]
    levers = []
    axial = {s.name: amounts[statics.offset(k)] for k, s in enumerate(statics.supports)}
    for driven in layout.driven:
        block = rates[list(driven.rates), list(driven.v)]
        if isinstance(driven.element, LinearActuator):
            effort[driven.rates[0]] = axial[driven.element.name]
            levers.append(block[0])
        else:
            efforts = casadi.solve(block.T, tau[list(driven.v)])
            for k, at in enumerate(driven.rates):
                effort[at] = efforts[k]
    for strut, at in zip(layout.struts, layout.strut_rates, strict=True):
        effort[at] = axial[strut.name]
    others = [axial[name] for name in _idle_struts(subject)]
    smallest = SX(1)
    for lever in levers:
        smallest = casadi.fmin(smallest, casadi.fabs(lever))
    lever = casadi.if_else(_unheld(layout.passive, held, amounts), 0.0, smallest)
    if has_closures(subject):
        lever = casadi.if_else(largest_gap(merged, q) > OPEN, -1.0, lever)
    return casadi.vertcat(effort, *others), lever


def _unheld(passive: tuple[int, ...], tau: SX, amounts: SX) -> SX:
    """Whether a joint without a motor would need a torque: a singular loop,
    whose reactions cannot hold it."""
    largest, scale = SX(0), SX(1)
    for k in passive:
        largest = casadi.fmax(largest, casadi.fabs(tau[k]))
    for k in range(amounts.numel()):
        scale = scale + casadi.fabs(amounts[k])
    return largest > UNHELD * scale


def _merged(subject: Subject, tree: Tree) -> Tree:
    """The tree with fixed joints merged that belongs to a full tree, with the same symbols."""
    if not subject.live:
        return subject.tree
    where: list[tuple[int, Placement]] = [(0, Placement())]
    nodes = [tree.nodes[0]]
    for i in tree.outward:
        node = tree.nodes[i]
        parent, T = where[node.parent]
        if node.row.is_fixed:
            where.append((parent, T @ node.placement))
        else:
            nodes.append(replace(node, parent=parent, placement=T @ node.placement))
            where.append((len(nodes) - 1, Placement()))
    bodies = {name: (where[i][0], where[i][1] @ T) for name, (i, T) in tree.bodies.items()}
    frames = {name: (where[i][0], where[i][1] @ T) for name, (i, T) in tree.frames.items()}
    return replace(tree, nodes=tuple(nodes), bodies=bodies, frames=frames)


def _idle_struts(subject: Subject) -> list[str]:
    """Struts that no command sets: they carry load and follow."""
    commanded = set(layout_of(subject).names)
    return [
        e.name
        for e in subject.model.elements
        if isinstance(e, LinearActuator) and e.name not in commanded
    ]


def _support_names(subject: Subject) -> list[str]:
    return [e.name for e in loop_elements(subject.full_tree)[0]]


def _spring_names(subject: Subject) -> list[str]:
    _, springs, dampers = loop_elements(subject.full_tree)
    return [e.name for e in springs] + [e.name for e in dampers]


@dataclass(frozen=True)
class LoadNames:
    """Names in the order of the outputs of the loads."""

    bodies: tuple[str, ...]
    actuators: tuple[str, ...]
    supports: tuple[str, ...]
    springs: tuple[str, ...]


def loads_names(subject: Subject) -> LoadNames:
    """Bodies; commands then struts that follow; struts, sliders and closures; springs then
    dampers."""
    return LoadNames(
        tuple(body.name for body in subject.model.bodies),
        (*layout_of(subject).names, *_idle_struts(subject)),
        tuple(_support_names(subject)),
        tuple(_spring_names(subject)),
    )


@dataclass(frozen=True, repr=False)
class Loads(Tabular):
    """Every load of a robot for one state or a batch. Wrenches are (..., 6): force [N],
    then moment [N m].

    base   what the ground applies on the whole robot, world axes, moment about the world's origin
    Unique components do not depend on any sharing rule; `unique_*` say which those are.
    """

    subject: Subject
    q: Any
    v: Any
    a: Any
    wrenches: np.ndarray
    efforts: np.ndarray
    supports: np.ndarray
    supports_first: np.ndarray
    tensions: np.ndarray
    lengths: np.ndarray
    base: np.ndarray
    variables: Mapping[str, Any] | None = None
    forces: Mapping[str, Any] | None = None
    payload: Any = None

    @property
    def structure(self) -> Structure:
        """Ranks, unknowns and kept rules."""
        return structure_of(self.subject)

    @property
    def bodies(self) -> tuple[str, ...]:
        return loads_names(self.subject).bodies

    @property
    def actuators(self) -> tuple[str, ...]:
        """Commands in the order of c, then struts that follow."""
        return loads_names(self.subject).actuators

    @property
    def springs(self) -> tuple[str, ...]:
        """Springs, then dampers."""
        return loads_names(self.subject).springs

    @property
    def support_names(self) -> tuple[str, ...]:
        """Struts, sliders and closures: the supports beside joints."""
        return loads_names(self.subject).supports

    def __repr__(self) -> str:
        batch = "one state" if self.efforts.ndim == 1 else f"{self.efforts.shape[:-1]} states"
        parts = ((self.bodies, "bodies"), (self.actuators, "actuators"), (self.springs, "springs"))
        counts = ", ".join(f"{len(names)} {what}" for names, what in parts)
        return f'<Loads of "{self.subject.model.name}" in {batch}: {counts}>'

    def _table(self) -> dict[str, np.ndarray]:
        named = {f"actuator.{name}": self.actuator(name) for name in self.actuators}
        named |= {f"spring.{name}": self.spring(name) for name in self.springs}
        for label, wrench in (
            *((body, self.joint_wrench(body)) for body in self.bodies),
            ("ground", self.base),
        ):
            for k, part in enumerate(
                ("force x", "force y", "force z", "moment x", "moment y", "moment z")
            ):
                named[f"{label} {part}"] = wrench[..., k]
        return {name: np.atleast_1d(values) for name, values in named.items()}

    def joint_wrench(self, body: str, axes: str = "body") -> np.ndarray:
        """(..., 6): what its predecessor applies on the body at its joint (the body's origin),
        motors included."""
        k = self._find(body, self.bodies, "body")
        wrench = self.wrenches[..., k, :]
        return (
            wrench
            if choice(axes, ("body", "world"), "joint_wrench: axes") == "body"
            else self._turned(wrench, k)
        )

    def actuator(self, name: str) -> np.ndarray:
        """(...): force of a strut, positive pushing [N]; torque of a motor [N m],
        as its command sees it."""
        return self.efforts[..., self._find(name, self.actuators, "actuator")]

    def spring(self, name: str) -> np.ndarray:
        """(...): pull of a spring or damper [N]; negative: it pushes."""
        return self.tensions[..., self._find(name, self.springs, "spring or damper")]

    def spring_length(self, name: str) -> np.ndarray:
        """(...) [m]."""
        return self.lengths[..., self._find(name, self.springs, "spring or damper")]

    def support(self, name: str, on: str = "second", axes: str = "body") -> np.ndarray:
        """(..., 6): what a strut, slider or closure applies on its second (head, guided) or first
        body, at its end."""
        k = self._find(name, self.support_names, "strut, slider or closure")
        second = choice(on, ("second", "first"), "support: on") == "second"
        wrench = (self.supports if second else self.supports_first)[..., k, :]
        if choice(axes, ("body", "world"), "support: axes") == "body":
            return wrench
        body = ends_of(self.subject, name)[1 if second else 0]
        return wrench if body is None else self._turned(wrench, self.bodies.index(body))

    def unique(self, body: str) -> np.ndarray:
        """(6,) of bool: components of the body's joint wrench that no sharing rule can change."""
        return self.structure.unique_joint[self._find(body, self.bodies, "body")]

    def unique_support(self, name: str) -> np.ndarray:
        """(6,) of bool: the same for a strut, slider or closure on its second body."""
        return self.structure.unique_support[
            self._find(name, self.support_names, "strut, slider or closure")
        ]

    def unique_actuator(self, name: str) -> bool:
        """Whether equilibrium alone decides this actuator's force."""
        self._find(name, self.actuators, "actuator")
        if (name, "axial") in self.structure.labels:
            return bool(self.structure.unique_amounts[self.structure.labels.index((name, "axial"))])
        layout = layout_of(self.subject)
        for driven in layout.driven:
            if name in driven.drive.names:
                return bool(self.structure.unique_tau[list(driven.v)].all())
        for _, at_cd, _, at_v, _, nv in layout.direct:
            if name in layout.names[at_cd : at_cd + nv]:
                return bool(self.structure.unique_tau[at_v + layout.names.index(name) - at_cd])
        return True

    @cached_property
    def residual(self) -> np.ndarray:
        """(..., nb, 6): force and moment left over on each body by Newton and Euler: a self-check,
        zero to rounding."""
        return body_residuals(self)

    @cached_property
    def _rotations(self) -> np.ndarray:
        return quantities.evaluate(
            self.subject, "forward_kinematics", {"q": self.q}, variables=self.variables
        )[0]

    def _turned(self, wrench: np.ndarray, k: int) -> np.ndarray:
        R = self._rotations[..., k, :, :]
        return np.concatenate([(R @ wrench[..., i : i + 3, None])[..., 0] for i in (0, 3)], axis=-1)

    def _find(self, name: str, names: tuple[str, ...], what: str) -> int:
        if not isinstance(name, str) or name not in names:
            robot = self.subject.model.name
            raise UnknownName(
                f'loads: robot "{robot}" has no {what} "{name}"{did_you_mean(name, names)}'
            )
        return names.index(name)


def loads(
    subject: Subject,
    q: Any,
    v: Any,
    a: Any,
    forces: Mapping[str, Any] | None = None,
    payload: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> Loads:
    """Every load of the robot for q, v, a; see `Loads`."""
    try:
        if forces is None and payload is None and not subject.live:
            results = _caller(subject)(q, v, a)
        else:
            results = quantities.evaluate(
                subject, "loads", {"q": q, "v": v, "a": a}, None, forces, payload, variables
            )
    except ComputationError:
        refuse_open(subject, "loads", q, variables)
        _explain(subject, np.asarray(q, dtype=float), variables)
        raise
    wrench, effort, support, support_first, tension, length, base, lever = results
    if (lever.item() if lever.ndim == 0 else lever.min(initial=1.0)) < DEAD_POINT:
        refuse_open(subject, "loads", q, variables)
        _explain(subject, np.asarray(q, dtype=float), variables)
        sample = (
            f" of sample {tuple(map(int, np.argwhere(lever < DEAD_POINT)[0]))}"
            if lever.ndim
            else ""
        )
        raise InvalidInput(
            f"loads{sample}: the elements of the loops cannot hold the joints without a motor there"
        )
    # a frozen class would set its fourteen fields one by one: a fifth of the call
    made = object.__new__(Loads)
    made.__dict__.update(
        subject=subject,
        q=q,
        v=v,
        a=a,
        wrenches=wrench,
        efforts=effort,
        supports=support,
        supports_first=support_first,
        tensions=tension,
        lengths=length,
        base=base,
        variables=variables,
        forces=forces,
        payload=payload,
    )
    return made


def _caller(subject: Subject) -> Callable[..., Any]:
    """The fastest callable for plain arguments."""
    return subject.once(_caller, lambda: quantities.caller(subject, "loads"))


def _refuse_dead_points(subject: Subject, levers: np.ndarray) -> None:
    if not levers.size or np.abs(levers).min() > DEAD_POINT:
        return
    struts = [d for d in layout_of(subject).driven if isinstance(d.element, LinearActuator)]
    *sample, k = np.argwhere(np.abs(levers) <= DEAD_POINT)[0]
    driven = struts[k]
    where = f" (sample {tuple(int(i) for i in sample)})" if sample else ""
    raise InvalidInput(
        f"loads: the line of {about(driven.element)} passes through joint "
        f'"{driven.drive.joints[0]}": '
        f"moment arm {levers[(*sample, k)]:.3g}{where}; no force of it can hold the joint"
    )


def _explain(subject: Subject, q: np.ndarray, variables: Mapping[str, Any] | None) -> None:
    """Say which element makes the loads of a configuration not finite."""
    if variables is not None or q.ndim == 0 or q.shape[-1] != subject.nq:
        return
    refuse_open_bars(subject, q)
    refuse_singular(subject, "loads", q)
    _refuse_dead_points(subject, strut_levers(subject, q))


def _six(force: Force) -> SX:
    return casadi.vertcat(force.linear, force.angular)
