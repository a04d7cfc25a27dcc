"""Verdicts on any linkage by going round its circuit."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.engine import keys
from linkwork.engine.scan import Scan
from linkwork.errors import UnknownName, did_you_mean
from linkwork.loops import circuits
from linkwork.synthesis import kinematics
from linkwork.synthesis.four_bar_verdicts import STUCK
from linkwork.synthesis.linkage import Linkage, Linkages, Topology
from linkwork.synthesis.task import PlanarTask

STILL = 1e-4
"""A driver that turns less than this [rad] over a whole circuit does not move."""
CHUNK = 512
"""Linkages that are judged at once: their records are of a size whose memory is used again."""


def driven_by(topology: Topology, driver: str) -> Topology:
    """The same linkage with another driver."""
    grounded = [b for _, a, b in topology.pins if a == topology.ground]
    grounded += [a for _, a, b in topology.pins if b == topology.ground]
    if driver not in grounded:
        near = did_you_mean(driver, grounded)
        raise UnknownName(
            f'driver is "{driver}", expected a body with a pin on the ground: '
            f"{', '.join(grounded)}{near}"
        )
    return replace(topology, driver=driver)


def poses_of(linkage: Linkages, task: PlanarTask) -> tuple[np.ndarray, np.ndarray]:
    """(positions, rotations) (m, n) of the tracer's body, with position 1 where the linkage is.

    Points have no rotation: it is what brings the tracer there, found by Newton where the task does
    not say.
    """
    count = linkage.points.shape[0]
    P = np.broadcast_to(task.positions, (count, task.n))
    alpha = np.broadcast_to(
        task.angles - np.where(task.oriented[0], task.angles[..., :1], 0.0), (count, task.n)
    )
    if task.oriented.all():
        return P, alpha
    alpha = alpha.copy()
    alpha[:, 0] = 0.0
    place = linkage.topology.moving.index(linkage.topology.tracer[0])
    turns = linkage.rotations
    if turns is None or turns.shape[:-1] != alpha.shape:
        turns = kinematics.rotations_at(linkage, task)
    alpha = np.where(np.isfinite(alpha), alpha, turns[..., place])
    return P, np.where(np.isfinite(alpha), alpha, 0.0)


@functools.cache
def _scan_of(text: str, goals: int) -> Scan:
    topology = kinematics._KNOWN[text]
    n, k = len(topology.moving), len(topology.points)
    shaped = lambda p: p.reshape((2, k)).T
    rows = lambda x, p: kinematics.residual(topology, x, shaped(p))
    tool = lambda x, p: kinematics.tracer(topology, x, shaped(p))
    angles = tuple(edge.along is None for edge in topology.tree[0])
    driver = topology.moving.index(topology.driver)
    key = keys.key(__name__, "circuit", text, goals)
    return circuits.circuit_scan(
        rows, tool, n, 2 * k, driver, angles, goals, f"{topology.name}.circuit", key
    )


def circuits_of(linkage: Linkages, task: PlanarTask | None = None) -> circuits.Circuits:
    """Circuits of many linkages (m, ...), lengths in sizes of each linkage,
    with the task's positions as goals."""
    topology = linkage.topology
    size = np.maximum(linkage.size, 1e-300)
    points = kinematics.pairs_of_points(linkage.points / size[:, None])
    kernel = kinematics.posture_kernel(topology)
    n = len(topology.moving)
    zero = np.zeros((len(points), n))
    J = kernel(zero, points)[1]
    goals: dict[str, Any] = {}
    count = 0 if task is None else task.n
    if task is not None:
        P = np.broadcast_to(task.positions, (len(points), task.n)) / size[:, None]
        alpha = np.broadcast_to(task.angles - task.angles[..., :1], P.shape)
        known = np.isfinite(alpha)
        goals["goals"] = np.stack([P.real, P.imag, np.where(known, alpha, 0.0)], axis=-1)
        goals["with_angle"] = known.astype(float)
    driver = topology.moving.index(topology.driver)
    flat = points.reshape(len(points), -1)
    return circuits.run(_scan_of(repr(topology), count), J, zero, flat, driver, **goals)


def judge(linkage: Linkages, task: PlanarTask | None) -> dict[str, np.ndarray]:
    """The fields of a Verdict."""
    if isinstance(linkage, Linkage):
        many = Linkages(linkage.topology, linkage.points[None])
        return {name: x[0] for name, x in judge(many, task).items()}
    parts = []
    for low in range(0, max(1, len(linkage)), CHUNK):
        some = Linkages(linkage.topology, linkage.points[low : low + CHUNK])
        parts.append(_judged(some, task))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _judged(linkage: Linkages, task: PlanarTask | None) -> dict[str, np.ndarray]:
    around = circuits_of(linkage, task)
    count, n = len(linkage), 0 if task is None else task.n
    sine = np.where(np.isfinite(around.sine), around.sine, np.inf)
    cycle = np.where(around.dead > 0, 0.0, np.arcsin(np.clip(sine.min(axis=-1), 0.0, 1.0)))
    rotates = around.closed & (around.dead == 0)
    kind = np.where(rotates, "driver goes round", "driver rocks").astype(object)
    none = np.zeros(count, dtype=bool)
    text = np.full(count, "", dtype=object)
    text[~around.closed] = "the circuit did not close within the steps"
    still = held(around, linkage.topology)
    text[still] = f"{STUCK}: the other bodies hold it"
    if task is None:
        empty = np.zeros((count, 0))
        parts = (still, none, none, empty, cycle, cycle, rotates, kind, text)
        return dict(zip(_FIELDS, parts))
    met = around.met.copy()
    met[:, 0] = True  # that is where the circuit begins
    circuit = np.asarray(~met.all(axis=-1)) | still
    # a position on the branch of position 1: before the first dead point,
    # or after the last one of the circuit
    before = around.first_branch == 0
    after = (around.last_branch == around.dead[:, None]) & around.closed[:, None]
    same = np.asarray(before | after)
    same[:, 0] = True
    branch = np.asarray(~same.all(axis=-1) & ~circuit)
    way = np.where(before, around.first, around.last - around.length[:, None])
    way[:, 0] = 0.0
    order = ~_in_order(way, around.length, rotates) & ~circuit & ~branch
    mu, least = _transmissions(around, way, rotates, n)
    least = np.where(circuit | branch, 0.0, least)
    for k in np.flatnonzero((circuit | branch | order) & ~still):
        if circuit[k]:
            text[k] = f"position {int((~met[k]).argmax()) + 1} is not on the circuit of position 1"
        elif branch[k]:
            text[k] = (
                "the driver passes a dead point between position 1 and position "
                f"{int((~same[k]).argmax()) + 1}"
            )
        else:
            text[k] = "the positions are met in another order, in both senses of the driver"
    return dict(zip(_FIELDS, (circuit, branch, order, mu, least, cycle, rotates, kind, text)))


def held(around: circuits.Circuits, topology: Topology) -> np.ndarray:
    """(m,) whether the driver stands still all along the circuit, or there is none."""
    turned = np.nan_to_num(around.x[..., topology.moving.index(topology.driver)])
    return np.ptp(turned, axis=-1) < STILL


_FIELDS = (
    "circuit",
    "branch",
    "order",
    "transmission",
    "transmission_min",
    "transmission_cycle",
    "rotates",
    "kind",
    "reasons",
)


def _in_order(way: np.ndarray, length: np.ndarray, rotates: np.ndarray) -> np.ndarray:
    forth = np.where(rotates[:, None], np.mod(way, length[:, None]), way)
    back = np.where(rotates[:, None], np.mod(-way, length[:, None]), -way)
    rises = (np.diff(forth, axis=-1) > 0).all(axis=-1)
    falls = (np.diff(back, axis=-1) > 0).all(axis=-1)
    return np.asarray(rises | falls)


def _transmissions(
    around: circuits.Circuits, way: np.ndarray, rotates: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """(at the positions (m, n), smallest between the first and the last (m,)) [rad]."""
    at, sine = around.way, np.where(np.isfinite(around.sine), around.sine, np.inf)
    length = around.length[:, None]
    place = np.mod(way, np.maximum(length, 1e-300))
    mu = np.empty((len(at), n))
    rows = np.where(np.isfinite(at), at, np.inf)
    for j in range(n):
        after = np.minimum((rows < place[:, j : j + 1]).sum(axis=-1), rows.shape[1] - 1)
        before = np.maximum(after - 1, 0)
        pick = lambda a, k: np.take_along_axis(a, k[:, None], axis=-1)[:, 0]
        left, right = pick(rows, before), pick(rows, after)
        share = np.clip((place[:, j] - left) / np.maximum(right - left, 1e-300), 0.0, 1.0)
        share = np.where(np.isfinite(right) & (after > 0), share, 0.0)
        low, high = pick(sine, before), pick(sine, after)
        high = np.where(np.isfinite(high), high, low)
        mu[:, j] = np.arcsin(np.clip(low + share * (high - low), 0.0, 1.0))
    # the way between positions, in the sense in which they come one after another
    forth = np.where(rotates[:, None], np.mod(way, length), way)
    rises = (np.diff(forth, axis=-1) > 0).all(axis=-1)
    low = np.where(
        rises, 0.0, np.where(rotates, np.mod(way[:, -1], around.length), way.min(axis=-1))
    )
    high = np.where(rises, forth.max(axis=-1), np.where(rotates, around.length, 0.0))
    inside = (at >= low[:, None]) & (at <= high[:, None])
    inside |= (at - length >= low[:, None]) & (at - length <= high[:, None])
    least = np.where(inside, sine, np.inf).min(axis=-1)
    return mu, np.minimum(np.arcsin(np.clip(least, 0.0, 1.0)), mu.min(axis=-1))
