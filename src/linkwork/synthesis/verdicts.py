"""Verdicts: does a linkage really go through its positions, one after another,
driven from one side?

circuit   a position that the circuit of position 1 never meets
branch    the driver must pass a dead point between positions
order     the positions are met in another sequence, in both senses of the driver
Four-bars are judged by closed forms, the others by going round their circuit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import circuit_verdicts, four_bar_verdicts
from linkwork.synthesis.linkage import (
    FOUR_BAR,
    Linkage,
    Linkages,
    as_linkages,
    known_driver,
    linkages,
)
from linkwork.synthesis.task import PlanarTask, as_task

MET = 1e-7
"""A position is met when no link's length changes by more [of the linkage's size]."""


@short_repr
@dataclass(frozen=True)
class Verdict(Tabular, rows="circuit"):
    """What `check` found; every array is (...,) like the linkages, transmission (..., n).

    circuit, branch, order   True: the linkage has this defect
    transmission             at the positions [rad], 0 .. pi/2
    transmission_min         the smallest between the first and the last position [rad]
    transmission_cycle       the smallest over the whole circuit [rad]
    rotates                  the driver goes all round
    kind                     crank-rocker, double-crank, rocker-crank, double-rocker, triple-rocker,
                             change point ...
    reasons                  what is wrong, in words; "" where nothing is
    """

    circuit: np.ndarray
    branch: np.ndarray
    order: np.ndarray
    transmission: np.ndarray
    transmission_min: np.ndarray
    transmission_cycle: np.ndarray
    rotates: np.ndarray
    kind: np.ndarray
    reasons: np.ndarray

    @property
    def good(self) -> np.ndarray:
        """No defect."""
        return ~(self.circuit | self.branch | self.order)


def check(linkage: Linkages, task: PlanarTask | None = None, driver: str | None = None) -> Verdict:
    """Judge one linkage or many; `task` may be one task, or a batch with one task for each linkage.

    driver   another driver than the linkage's own: "crank" or "rocker" of a four-bar
    """
    linkage = as_linkages(linkage, "check")
    if task is not None:
        task = as_task(task, "check")
        if task.batch not in ((), linkage.batch):
            raise InvalidInput(
                f"check: the tasks are a batch of {task.batch}, the linkages of {linkage.batch}"
            )
    if linkage.topology.name == "four-bar":
        if driver is not None:
            known_driver(driver, "check")
            linkage = linkages(FOUR_BAR[driver], linkage.points, None)
        return _four_bars(linkage, task)
    if driver is not None and driver != linkage.topology.driver:
        linkage = linkages(
            circuit_verdicts.driven_by(linkage.topology, driver), linkage.points, None
        )
    return _moving(Verdict(**circuit_verdicts.judge(linkage, task)))


def better_driven(linkage: Linkages, task: PlanarTask | None = None) -> tuple[Linkages, Verdict]:
    """Four-bars (m,) with that of their two grounded links as the crank which has the better
    verdict, and the verdicts.

    Better is one without defect, then the larger transmission angle between the positions.
    """
    linkage = as_linkages(linkage, "better_driven")
    if linkage.topology.name != "four-bar" or len(linkage.batch) != 1:
        raise NotPossible(
            f'better_driven: got {linkage.batch} of "{linkage.topology.name}", expected '
            "four-bars (m,)"
        )
    moving = FOUR_BAR["crank"].moving
    turns = linkage.rotations
    if turns is not None:
        turns = turns[..., [linkage.topology.moving.index(body) for body in moving]]
    first = Linkages(FOUR_BAR["crank"], linkage.points, turns)
    exchanged = [
        moving.index({"crank": "rocker", "rocker": "crank"}.get(body, body)) for body in moving
    ]
    places = [first.names.index(name) for name in "DACBP"]
    points = linkage.points[:, places][:, np.argsort([first.names.index(name) for name in "ADBCP"])]
    second = Linkages(FOUR_BAR["crank"], points, None if turns is None else turns[..., exchanged])
    judged = check(first, task), check(second, task)
    worth = [np.where(verdict.good, 10.0, 0.0) + verdict.transmission_min for verdict in judged]
    other = worth[1] > worth[0]

    def chosen(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(other.reshape(-1, *[1] * (np.ndim(a) - 1)), b, a)

    rotations = None if turns is None else chosen(turns, turns[..., exchanged])
    fields = {
        name: chosen(*(getattr(v, name) for v in judged)) for name in Verdict.__dataclass_fields__
    }
    return Linkages(FOUR_BAR["crank"], chosen(first.points, points), rotations), Verdict(**fields)


def _moving(verdict: Verdict) -> Verdict:
    """The verdict; one linkage whose driver cannot move has none, among many it is data."""
    if np.ndim(verdict.reasons) == 0 and str(verdict.reasons).startswith(four_bar_verdicts.STUCK):
        raise NotPossible(f"check: {verdict.reasons}")
    return verdict


def _four_bars(linkage: Linkages, task: PlanarTask | None) -> Verdict:
    one = isinstance(linkage, Linkage)
    if one:
        linkage = Linkages(linkage.topology, linkage.points[None])
    vectors = four_bar_verdicts.links(linkage)
    lengths = np.abs(np.stack(vectors, axis=-1))
    stuck = four_bar_verdicts.stuck(lengths)
    if stuck is not None:
        lengths[stuck != ""] = 1.0  # some linkage that moves: its numbers are not shown
    kind, excess, shortest = four_bar_verdicts.kinds(lengths)
    low, high = four_bar_verdicts.reach(lengths)
    rotates = (low <= 1e-12) & (high >= np.pi - 1e-12)
    cycle = four_bar_verdicts.whole_cycle(lengths)
    count = len(lengths)
    none = np.zeros(count, dtype=bool)
    if task is None:
        empty = np.zeros((count, 0))
        fields: tuple = (
            none,
            none,
            none,
            empty,
            cycle,
            cycle,
            rotates,
            kind,
            np.full(count, "", dtype=object),
        )
    else:
        fields = _at_positions(
            linkage, task, vectors, lengths, kind, excess, shortest, rotates, cycle
        )
    if stuck is not None:
        fields = _without(fields, stuck)
    return _moving(Verdict(*[x[0] if one else x for x in fields]))


def _without(fields: tuple, stuck: np.ndarray) -> tuple:
    """The fields of a verdict with nothing but the reason where the driver cannot move."""
    held = stuck != ""
    circuit, branch, order, mu, least, cycle, rotates, kind, reasons = fields
    defects = circuit | held, branch & ~held, order & ~held
    angles = (
        np.where(held[:, None], 0.0, mu),
        np.where(held, 0.0, least),
        np.where(held, 0.0, cycle),
    )
    return (
        *defects,
        *angles,
        rotates & ~held,
        np.where(held, "none", kind),
        np.where(held, stuck, reasons),
    )


def _at_positions(
    linkage: Linkages,
    task: PlanarTask,
    vectors: tuple[np.ndarray, ...],
    lengths: np.ndarray,
    kind: np.ndarray,
    excess: np.ndarray,
    shortest: np.ndarray,
    rotates: np.ndarray,
    cycle: np.ndarray,
) -> tuple:
    g = vectors[0][:, None]
    P, alpha = circuit_verdicts.poses_of(linkage, task)
    a, b, c = four_bar_verdicts.postures(linkage, alpha, P)
    size = lengths.max(axis=-1)
    off = (
        np.abs(np.abs(np.stack([a, b, c], axis=-1)) - lengths[:, None, 1:]).max(axis=-1)
        / size[:, None]
    )
    missed = ~(off <= MET)
    two = (excess <= 0)[:, None]
    circuits = four_bar_verdicts.signs(g, a, b, c, shortest[:, None])
    elsewhere = two & (circuits != circuits[:, :1])
    # at a change point both circuits meet, so that neither is left for good
    change = np.char.startswith(kind.astype(str), "change")[:, None]
    elsewhere &= ~change
    circuit = (missed | elsewhere).any(axis=-1)
    sides = np.sign((b.conj() * c).imag)
    branch = (sides != sides[:, :1]).any(axis=-1) & ~circuit & ~change[:, 0]
    theta = np.angle(a / g)
    order, travel_low, travel_high = _orders(theta, rotates, lengths)
    order = order & ~circuit & ~branch
    mu = four_bar_verdicts.folded((b.conj() * c).real / (np.abs(b) * np.abs(c)))
    least = np.where(
        circuit | branch, 0.0, four_bar_verdicts.least_between(lengths, travel_low, travel_high)
    )
    reasons = _reasons(missed, elsewhere, sides, circuit, branch, order)
    return circuit, branch, order, mu, least, cycle, rotates, kind, reasons


def _orders(
    theta: np.ndarray, rotates: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(order defect, low, high of the driver's way): angles of the positions,
    taken in their sequence."""
    turn = 2.0 * np.pi
    # all round: the way from position 1 in the positive and in the negative sense
    forth = np.mod(theta - theta[:, :1], turn)
    back = np.mod(theta[:, :1] - theta, turn)
    rises = (np.diff(forth, axis=-1) > 0).all(axis=-1)
    falls = (np.diff(back, axis=-1) > 0).all(axis=-1)
    # forth and back: the driver's range does not contain the far side of its middle
    low, _ = four_bar_verdicts.reach(lengths)
    through_zero = low <= 0
    straight = np.where(through_zero[:, None], theta, np.mod(theta, turn))
    step = np.diff(straight, axis=-1)
    monotone = (step > 0).all(axis=-1) | (step < 0).all(axis=-1)
    order = np.where(rotates, ~(rises | falls), ~monotone)
    first = theta[:, 0]
    way_forth, way_back = forth[:, -1], back[:, -1]
    start = np.where(rotates, np.where(rises, first, first - way_back), straight.min(axis=-1))
    end = np.where(rotates, np.where(rises, first + way_forth, first), straight.max(axis=-1))
    wrong = rotates & ~(rises | falls)
    return order, np.where(wrong, 0.0, start), np.where(wrong, turn, end)


def _reasons(
    missed: np.ndarray,
    elsewhere: np.ndarray,
    sides: np.ndarray,
    circuit: np.ndarray,
    branch: np.ndarray,
    order: np.ndarray,
) -> np.ndarray:
    text = np.full(len(circuit), "", dtype=object)
    for k in np.flatnonzero(circuit | branch | order):
        if missed[k].any():
            text[k] = f"position {int(missed[k].argmax()) + 1} is not met by any posture"
        elif circuit[k]:
            text[k] = (
                f"position {int(elsewhere[k].argmax()) + 1} is on another circuit than position 1"
            )
        elif branch[k]:
            other = int((sides[k] != sides[k, 0]).argmax()) + 1
            text[k] = f"the driver passes a dead point between position 1 and position {other}"
        else:
            text[k] = "the positions are met in another order, in both senses of the driver"
    return text


def summary(verdict: Verdict) -> dict[str, Any]:
    """Numbers of one verdict by name, for tables."""
    return {
        "defect": str(verdict.reasons),
        "kind": str(verdict.kind),
        "transmission_min_deg": float(np.degrees(verdict.transmission_min)),
        "rotates": bool(verdict.rotates),
    }
