"""Members: where struts, springs, dampers, bars and sliders are, and how fast they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import commands_of
from linkwork.actuation.layout import layout_of
from linkwork.arguments import as_doubles
from linkwork.errors import ComputationError, InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular, table_of
from linkwork.loops.constraints import rate
from linkwork.loops.geometry import Geometry, Pair, has_rod
from linkwork.loops.singular import refuse_singular
from linkwork.model import Tree
from linkwork.model.element_checks import about
from linkwork.model.elements import Bar, Damper, LinearActuator, LoopClosure, Slider, Spring
from linkwork.quantities import Inputs
from linkwork.recursions.joints import transforms
from linkwork.results import FEW, ByName, short_repr
from linkwork.subject import Subject

KINDS = (LinearActuator, Spring, Damper, Bar, Slider, LoopClosure)
PARTS = ("first", "second", "length", "rate")


@short_repr
@dataclass(frozen=True)
class Member(Tabular, rows="length"):
    """first, second (..., 3): its ends in world axes [m]; length (...) [m]; rate (...):
    of its length [m/s]."""

    first: np.ndarray
    second: np.ndarray
    length: np.ndarray
    rate: np.ndarray

    @property
    def direction(self) -> np.ndarray:
        """(..., 3): unit vector from first to second,
        which keeps the sign an angle by arc cosine loses."""
        return (self.second - self.first) / self.length[..., None]


class Members(Tabular, ByName[Member]):
    """Every member by name."""

    def __init__(
        self, names: tuple[str, ...], ends: np.ndarray, lengths: np.ndarray, rates: np.ndarray
    ) -> None:
        self._members = {
            name: Member(ends[..., k, 0, :], ends[..., k, 1, :], lengths[..., k], rates[..., k])
            for k, name in enumerate(names)
        }

    def __getitem__(self, name: str) -> Member:
        if name not in self._members:
            raise UnknownName(
                "there is no strut, spring, bar or slider "
                f'"{name}"{did_you_mean(name, self._members)}'
            )
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        names = ", ".join(list(self._members)[:FEW]) + (", ..." if len(self) > FEW else "")
        return f"<Members: {names}>" if names else "<Members: none>"

    def _table(self) -> dict[str, np.ndarray]:
        """A row a member (of each sample): its ends, length and rate."""
        if not self._members:
            return {}
        several = list(self._members.values())
        shape = (*np.shape(several[0].length), len(several))
        parts = {
            part: np.stack([getattr(member, part) for member in several], axis=len(shape) - 1)
            for part in PARTS
        }
        names = np.broadcast_to(np.array(list(self._members), dtype=object), shape)
        return table_of(shape, {"member": names, **parts})


def members(
    subject: Subject, q: Any, v: Any = None, variables: Mapping[str, Any] | None = None
) -> Members:
    """Every strut, spring, damper, bar, slider and closure for q (and v: rates; left out, zero).

    Source: [Goncalves2022] eqs. 24, 25 and [Goncalves2023] eqs. 20-27 (step 5). Corrected: the
    papers' eqs. 25 and 21 lose the arc cosine; a direction vector replaces the angle.
    """
    state = (q, np.zeros(subject.nv) if v is None else v)
    try:
        if variables is None:
            ends, lengths, rates = _caller(subject)(*state)
        else:
            named = dict(zip("qv", state, strict=True))
            ends, lengths, rates = quantities.evaluate(
                subject, "members", named, variables=variables
            )
    except ComputationError:
        refuse_open_bars(subject, as_doubles(q, "members: q"), variables)
        refuse_singular(subject, "members", q, variables)
        raise
    return Members(member_names(subject), ends, lengths, rates)


def _caller(subject: Subject) -> Callable[..., Any]:
    """The fastest callable for plain arguments."""
    return subject.once(_caller, lambda: quantities.caller(subject, "members"))


def member_names(subject: Subject) -> tuple[str, ...]:
    return tuple(e.name for e in subject.model.elements if isinstance(e, KINDS))


def pair_of(geometry: Geometry, element: Any) -> Pair:
    """The two ends of a member: a slider's are its guide's point and the tip it carries,
    a rod's carriage and head."""
    if isinstance(element, LinearActuator):
        return geometry.actuator(element).pair
    if isinstance(element, Bar):
        return geometry.bar(element.name).pair
    if isinstance(element, Slider):
        tip = geometry.bar(element.bar).pair
        node, at = geometry.place(element.guide)
        return Pair(
            tip.base, tip.second, tip.second, geometry.seen(tip.base, node, at), tip.p_second
        )
    if isinstance(element, LoopClosure):
        return geometry.closure(element)
    return geometry.pair(element.first, element.second)


def members_trace(tree: Tree, x: Inputs) -> tuple[SX, SX, SX]:
    geometry = Geometry(tree, transforms(tree, x.q), tree.elements)
    ends, lengths = [], []
    for element in tree.elements:
        if isinstance(element, KINDS):
            pair = pair_of(geometry, element)
            ends += [geometry.seen(0, pair.base, p).T for p in (pair.p_first, pair.p_second)]
            lengths.append(casadi.norm_2(pair.across))
    return casadi.vertcat(*ends, SX(0, 3)), casadi.vertcat(*lengths, SX(0, 1)), _rates(tree, x)


def _rates(tree: Tree, x: Inputs) -> SX:
    q, v = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    geometry = Geometry(tree, transforms(tree, q), tree.elements)
    changes = []
    for element in tree.elements:
        if isinstance(element, KINDS):
            across = pair_of(geometry, element).across
            length = casadi.norm_2(across)
            moved = casadi.jtimes(across, q, rate(tree, q, v))
            rod = isinstance(element, LinearActuator) and has_rod(element)
            constant = isinstance(element, (LoopClosure, Bar)) or rod
            changes.append(SX(0) if constant else casadi.dot(across, moved) / length)
    return casadi.substitute([casadi.vertcat(*changes, SX(0, 1))], [q, v], [x.q, x.v])[0]


def strut_levers(subject: Subject, q: np.ndarray) -> np.ndarray:
    """(..., n): d(length)/d(joint) of every strut with a closed form, in the order of the
    layout."""
    rates = []
    for driven in layout_of(subject).driven:
        if isinstance(driven.element, LinearActuator):
            v = np.zeros(subject.nv)
            v[driven.v[0]] = 1.0
            rates.append(commands_of(subject, q, v)[1][..., driven.rates[0]])
    return np.stack(rates, axis=-1) if rates else np.ones((*q.shape[:-1], 0))


def refuse_open_bars(
    subject: Subject, q: np.ndarray, variables: Mapping[str, Any] | None = None
) -> None:
    """A bar must reach the line on which its slider moves."""
    bars = [e for e in subject.model.elements if isinstance(e, Bar)]
    if not bars or variables is not None or not q.size or q.ndim == 0 or q.shape[-1] != subject.nq:
        return
    tree = subject.tree
    x = SX.sym("q", tree.nq)
    geometry = Geometry(tree, transforms(tree, x), tree.elements)
    check = casadi.Function(
        "reach", [x], [casadi.vertcat(*[geometry.bar(bar.name).inside for bar in bars])]
    )
    Gq, b, _ = tree.mimic_map
    samples = q.reshape(-1, subject.nq)
    inside = np.array(check(Gq @ samples.T + b[:, None])).T
    for at, k in np.argwhere(~(inside >= 0.0)):
        bar = bars[k]
        height = float(np.sqrt(float(bar.length) ** 2 - inside[at, k]))
        where = (
            f" (sample {tuple(int(i) for i in np.unravel_index(at, q.shape[:-1]))})"
            if q.ndim > 1
            else ""
        )
        raise InvalidInput(
            f"{about(bar)}: length {float(bar.length):.6g} m is shorter than the {height:.6g} m "
            "between its pivot and "
            f"the line of its slider{where}"
        )
