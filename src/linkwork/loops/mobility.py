"""Mobility: how many ways a mechanism can move, by counting and by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import finite
from linkwork.formats.tabular import Tabular
from linkwork.loops.assembly import (
    constraint_labels,
    constraints,
    generic_configurations,
    has_closures,
    rank,
)
from linkwork.model.elements import Bar, Coupling, LinearActuator, LoopClosure, Slider, Spring
from linkwork.model.kinds import BALL, PRISMATIC, REVOLUTE
from linkwork.subject import Subject

_HELD = {"point": 3, "distance": 1, "hinge": 5, "planar_hinge": 2, "pin_in_slot": 1}


@dataclass(frozen=True, repr=False)
class Mobility(Tabular):
    """bodies, joints, freedoms: with struts and springs as two bodies each,
    bars and sliders as one.

    by_type      joints of each kind: {"revolute": 34, ...}; loops: joints minus bodies
    gruebler     spatial count: freedoms - 6 loops - couplings (idle spins of ball-ended struts
                 taken off)
    degrees      what it can really do, from the rank of the loop equations in a generic
                 configuration
    redundant    constraints too many: degrees - gruebler; rows of closures that add nothing:
                 redundant_rows
    """

    bodies: int
    joints: int
    freedoms: int
    loops: int
    couplings: int
    by_type: dict[str, int]
    gruebler: int
    degrees: int
    redundant: int
    redundant_rows: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        more = f", {self.redundant} constraints too many" if self.redundant else ""
        return (
            f"<Mobility: {self.degrees} degrees of freedom; {self.bodies} bodies, {self.joints} "
            "joints, "
            f"{self.loops} loops, Gruebler's count {self.gruebler}{more}>"
        )

    def _table(self) -> dict[str, Any]:
        names = (
            "bodies",
            "joints",
            "freedoms",
            "loops",
            "couplings",
            "gruebler",
            "degrees",
            "redundant",
        )
        kinds = {f"{kind} joints": count for kind, count in self.by_type.items()}
        rows = {name: getattr(self, name) for name in names} | kinds
        return {"count of": list(rows), "number": np.array(list(rows.values()))}


def mobility(subject: Subject, q: Any = None) -> Mobility:
    """Counts and ranks of a robot with its loop elements; q:
    one assembled configuration instead of generic ones."""
    model = subject.model
    by_type: dict[str, int] = {}
    freedoms = 0
    for joint in model.joints:
        by_type[joint.type] = by_type.get(joint.type, 0) + 1
        freedoms += joint.nv
    bodies, idle = len(model.bodies), 0
    loops = 0
    for element in model.elements:
        if isinstance(element, (LinearActuator, Spring)):
            ball = element.ends == "ball"
            _count(by_type, BALL if ball else REVOLUTE, 2)
            _count(by_type, PRISMATIC, 1)
            bodies = bodies + 2
            freedoms = freedoms + (7 if ball else 3)
            loops = loops + 1
            idle = idle + ball
        elif isinstance(element, Bar):
            _count(by_type, REVOLUTE, 2)
            bodies, freedoms = bodies + 1, freedoms + 2
        elif isinstance(element, Slider):
            _count(by_type, PRISMATIC, 1)
            bodies, freedoms, loops = bodies + 1, freedoms + 1, loops + 1
        elif isinstance(element, LoopClosure):
            held = len(element.directions) if element.kind == "weld" else _HELD[element.kind]
            _count(by_type, f"closure {element.kind}", 1)
            freedoms, loops = freedoms + 6 - held, loops + 1
    couplings = sum(joint.mimic is not None for joint in model.joints)
    couplings += sum(isinstance(e, Coupling) for e in model.elements)
    gruebler = freedoms - 6 * loops - couplings - idle
    samples = (
        generic_configurations(subject) if q is None else [finite(q, (subject.nq,), "mobility: q")]
    )
    degrees, rows = _by_rank(subject, samples)
    joints = len(model.joints) + sum(
        3 if isinstance(e, (LinearActuator, Spring)) else 2 if isinstance(e, Bar) else 1
        for e in model.elements
        if isinstance(e, (LinearActuator, Spring, Bar, Slider, LoopClosure))
    )
    return Mobility(
        bodies,
        joints,
        freedoms,
        loops,
        couplings,
        by_type,
        gruebler,
        degrees,
        degrees - gruebler,
        rows,
    )


def _by_rank(
    subject: Subject, samples: list[np.ndarray]
) -> tuple[int, tuple[tuple[str, str], ...]]:
    """(degrees of freedom, closure rows that add nothing to those before them)."""
    if not has_closures(subject):
        return subject.nv, ()
    labels = constraint_labels(subject)
    _, jacobians, _ = constraints(subject, np.array(samples))
    best = -1
    kept: tuple[int, ...] = ()
    for J in jacobians:
        rows: list[int] = []
        for k in range(len(labels)):
            if rank(J[[*rows, k]]) > len(rows):
                rows.append(k)
        if len(rows) > best:
            best, kept = len(rows), tuple(rows)
    spare = tuple(labels[k] for k in range(len(labels)) if k not in kept)
    return subject.nv - best, spare


def redundant_rows(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Rows of closures and couplings that add nothing to those before them,
    in a generic configuration."""
    return _by_rank(subject, generic_configurations(subject))[1]


def free_motions(subject: Subject, q: Any) -> np.ndarray:
    """(degrees, nv): orthonormal velocities that keep every loop closed at q."""
    if not has_closures(subject):
        return np.eye(subject.nv)
    _, J, _ = constraints(subject, q)
    _, sizes, Vt = np.linalg.svd(J)
    return Vt[int((sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum()) :]


def _count(by_type: dict[str, int], kind: str, more: int) -> None:
    by_type[kind] = by_type.get(kind, 0) + more
