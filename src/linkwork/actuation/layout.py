"""CommandLayout: which command moves which coordinate of a robot,
and which coordinates no motor holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linkwork.actuation.transmissions import (
    Drive,
    belt_drive,
    differential_drive,
    four_bar_drive,
    gear_drive,
    strut_drive,
)
from linkwork.configurations import places
from linkwork.errors import InvalidModel
from linkwork.loops.assembly import chosen_dependent
from linkwork.model import Joint, Limits, Tree
from linkwork.model.element_checks import about
from linkwork.model.elements import (
    Belt,
    Coupling,
    Differential,
    FourBar,
    Gear,
    LinearActuator,
    LoopClosure,
)
from linkwork.subject import Subject

CLOSED_FORM = (LinearActuator, Gear, Belt, Differential, FourBar)
_MAKERS: dict[type, Callable[[Any], Drive]] = {
    Gear: gear_drive,
    Belt: belt_drive,
    Differential: differential_drive,
    FourBar: four_bar_drive,
}


@dataclass(frozen=True)
class Driven:
    """A transmission in closed form with its places: in c, in cd,
    and coordinates of its joints in q and v."""

    element: Any
    drive: Drive
    commands: tuple[int, ...]
    rates: tuple[int, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]
    carrier: int | None = None  # coordinate (in q) that a belt's carrier adds to the wheel's angle


@dataclass(frozen=True)
class Follower:
    """A coupling whose first joint follows the others: places in q and v of every term,
    the dependent one first."""

    coupling: Coupling
    q: int
    v: int
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CommandLayout:
    """How commands c become coordinates q.

    names       of every entry of cd (one a motor or actuator; joints of several coordinates
                numbered)
    entries     for each name its entry of c; None for coordinates of a quaternion joint, which have
                none of their own
    sizes       (entries of c, entries of cd): they differ where a floating or ball joint is
                commanded directly
    direct      (first c, first cd, first q, first v, nq, nv) of joints commanded themselves
    driven      transmissions in closed form; followers: coupled joints
    implicit    coordinates v that only the loop equations decide (closures, struts across several
                joints)
    struts      actuators among the implicit equations, with their places in c and cd
    closures    elements of the other implicit equations
    passive     coordinates v that no motor holds: loads of loop elements must balance them
    """

    names: tuple[str, ...]
    entries: tuple[int | None, ...]
    sizes: tuple[int, int]
    direct: tuple[tuple[int, int, int, int, int, int], ...]
    driven: tuple[Driven, ...]
    followers: tuple[Follower, ...]
    implicit: tuple[int, ...]
    implicit_q: tuple[int, ...]
    struts: tuple[LinearActuator, ...]
    strut_commands: tuple[int, ...]
    strut_rates: tuple[int, ...]
    closures: tuple[Any, ...]
    passive: tuple[int, ...]


def layout_of(subject: Subject) -> CommandLayout:
    """The layout of a subject, made once."""
    return subject.once(layout_of, lambda: _Builder(subject).layout())


def drive_of(
    tree: Tree, element: Any, joint: Joint | None = None, like: Drive | None = None
) -> Drive | None:
    """The closed form of a transmission on a tree with merged fixed joints (numbers or symbols),
    or None."""
    if isinstance(element, LinearActuator):
        limits = joint.limits[0] if joint is not None and joint.limits else Limits()
        middle = (limits.lower + limits.upper) / 2
        return strut_drive(tree, element, middle if math.isfinite(middle) else 0.0, like)
    return _MAKERS[type(element)](element)


class _Builder:
    def __init__(self, subject: Subject) -> None:
        self.subject, self.model = subject, subject.model
        self.places = {joint.name: (joint, q, v) for joint, q, v in places(subject)}
        self.names: list[str] = []
        self.entries: list[int | None] = []
        self.c = self.cd = 0
        self.by_joint: dict[str, list[Any]] = {}
        for element in self.model.elements:
            if isinstance(element, CLOSED_FORM):
                for joint in (
                    element.joints if isinstance(element, Differential) else (element.joint,)
                ):
                    if joint is not None:
                        self.by_joint.setdefault(joint, []).append(element)

    def layout(self) -> CommandLayout:
        couplings = [e for e in self.model.elements if isinstance(e, Coupling)]
        closures = [e for e in self.model.elements if isinstance(e, LoopClosure)]
        dependent = self._dependent(closures)
        implicit = {k for name in dependent for k in self._v(name)}
        follows = {e.terms[0][0]: e for e in couplings}
        # every joint in turn: decided by a loop, commanded itself, driven in closed form,
        # or held by struts
        driven: list[Driven] = []
        direct: list[tuple[int, int, int, int, int, int]] = []
        struts: list[LinearActuator] = []
        strut_commands: list[int] = []
        strut_rates: list[int] = []
        for name, (joint, q, v) in self.places.items():
            elements = self.by_joint.get(name, [])
            if name in dependent or name in follows:
                if elements:
                    raise InvalidModel(
                        f'joint "{name}" is decided by a loop and driven by {about(elements[0])}'
                    )
                continue
            if not elements:
                direct.append((self.c, self.cd, q.start, v.start, joint.nq, joint.nv))
                self._count(
                    [name] if joint.nv == 1 else [f"{name}[{k}]" for k in range(joint.nv)], joint.nq
                )
                continue
            drive = self._closed(elements, joint)
            if drive is not None:
                if drive.joints[0] == name:
                    driven.append(self._driven(elements[0], drive))
                continue
            if (
                not all(isinstance(e, LinearActuator) for e in elements)
                or len(elements) != joint.nv
            ):
                listed = ", ".join(about(e) for e in elements)
                raise InvalidModel(
                    f'joint "{name}" has {joint.nv} coordinate(s) and is driven by {len(elements)} '
                    f"element(s): {listed}"
                )
            struts += elements
            strut_commands += range(self.c, self.c + len(elements))
            strut_rates += range(self.cd, self.cd + len(elements))
            implicit |= set(self._v(name))
            self._count([e.name for e in elements], len(elements))
        # couplings follow what is known by now; what is left are equations of the loops
        followers, equations = self._couplings(couplings, implicit, dependent)
        by_strut = [k for d in driven if isinstance(d.element, LinearActuator) for k in d.v]
        passive = sorted({*implicit, *by_strut, *(f.v for f in followers)})
        return CommandLayout(
            names=tuple(self.names),
            entries=tuple(self.entries),
            sizes=(self.c, self.cd),
            direct=tuple(direct),
            driven=tuple(driven),
            followers=followers,
            implicit=tuple(sorted(implicit)),
            implicit_q=tuple(sorted(k for name in self._names_of(implicit) for k in self._q(name))),
            struts=tuple(struts),
            strut_commands=tuple(strut_commands),
            strut_rates=tuple(strut_rates),
            closures=(*closures, *equations),
            passive=tuple(passive),
        )

    def _dependent(self, closures: list[LoopClosure]) -> set[str]:
        """Joints that closures decide: named by the description,
        or chosen where the loop is assembled."""
        if not closures:
            return set()
        named = {name for closure in closures for name in closure.dependent}
        if all(closure.dependent for closure in closures):
            return named
        follows = {e.terms[0][0] for e in self.model.elements if isinstance(e, Coupling)}
        return named | chosen_dependent(self.subject, named, {*self.by_joint, *follows})

    def _closed(self, elements: list[Any], joint: Joint) -> Drive | None:
        if len(elements) != 1:
            return None
        return drive_of(self.subject.tree, elements[0], joint)

    def _driven(self, element: Any, drive: Drive) -> Driven:
        commands = tuple(range(self.c, self.c + len(drive.names)))
        rates = tuple(range(self.cd, self.cd + len(drive.names)))
        self._count(list(drive.names), len(drive.names))
        q, v = (
            tuple(k for name in drive.joints for k in where(name)) for where in (self._q, self._v)
        )
        carrier = getattr(element, "carrier", None)
        return Driven(
            element, drive, commands, rates, q, v, None if carrier is None else self._q(carrier)[0]
        )

    def _couplings(
        self, couplings: list[Coupling], implicit: set[int], dependent: set[str]
    ) -> tuple[tuple[Follower, ...], tuple[Coupling, ...]]:
        """Couplings among known joints follow at once; those that touch a loop join its
        equations."""
        followers, equations = [], []
        waiting = list(couplings)
        unknown = {e.terms[0][0] for e in couplings}
        while waiting:
            ready = [e for e in waiting if all(name not in unknown for name, _ in e.terms[1:])]
            if not ready:
                names = ", ".join(about(e) for e in waiting)
                raise InvalidModel(
                    f'robot "{self.model.name}": {names} depend on each other in a circle'
                )
            for e in ready:
                waiting.remove(e)
                unknown.discard(e.terms[0][0])
                if any(set(self._v(name)) & implicit for name, _ in e.terms):
                    equations.append(e)
                    implicit |= set(self._v(e.terms[0][0]))
                else:
                    terms = tuple((self._q(name)[0], self._v(name)[0]) for name, _ in e.terms)
                    followers.append(Follower(e, terms[0][0], terms[0][1], terms))
        return tuple(followers), tuple(equations)

    def _count(self, names: list[str], entries: int) -> None:
        self.names += names
        self.entries += [self.c + k if entries == len(names) else None for k in range(len(names))]
        self.c += entries
        self.cd += len(names)

    def _q(self, name: str) -> tuple[int, ...]:
        at = self._place(name)[1]
        return tuple(range(at.start, at.stop))

    def _v(self, name: str) -> tuple[int, ...]:
        at = self._place(name)[2]
        return tuple(range(at.start, at.stop))

    def _place(self, name: str) -> tuple[Joint, slice, slice]:
        return self.places[name]

    def _names_of(self, coordinates: set[int]) -> list[str]:
        return [name for name in self.places if set(self._v(name)) & coordinates]
