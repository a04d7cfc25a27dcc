"""Ranking: numbers by which linkages are chosen, and the front of those that nothing beats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from linkwork.arguments import name_list, numbers_by_name
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.linkage import Linkages, as_linkages
from linkwork.synthesis.sensitivities import sensitivity
from linkwork.synthesis.task import PlanarTask
from linkwork.synthesis.verdicts import check

CRITERIA = ("transmission", "size", "ratio", "region", "torque", "sensitivity")
LARGER_IS_BETTER = frozenset({"transmission"})


@short_repr
@dataclass(frozen=True)
class Ranking(Tabular, rows="score"):
    """order (m,): indices, the best first; values: criterion -> (m,); front (m,): no other is
    better in everything;
    score (m,): mean of the criteria, each between 0 (best) and 1."""

    order: np.ndarray
    values: dict[str, np.ndarray]
    front: np.ndarray
    score: np.ndarray


def rank(
    linkages: Linkages,
    criteria: Sequence[str] | Mapping[str, float] = ("transmission", "size"),
    task: PlanarTask | None = None,
    *,
    region: Any = None,
) -> Ranking:
    """Order linkages by one or several criteria; a mapping gives each its weight.

    transmission   smallest transmission angle between the positions (without a task: over the
                   cycle) [rad]
    size           extent of all points [m];  ratio: longest over shortest distance of two pins of
                   one body
    region         how far ground pivots are outside `region` (xmin, ymin, xmax, ymax) [m]
    torque         largest speed of the tracer over the driver's at the positions [m/rad], the
                   torque for a unit force
    sensitivity    largest movement of the tracer for a unit error of a dimension [m/m]
    """
    who = "rank"
    linkages = as_linkages(linkages, who)
    if not linkages.batch:
        raise InvalidInput(f"{who}: got one linkage, expected several")
    weights = _weights(criteria, who)
    values = {name: _values(name, linkages, task, region, who) for name in weights}
    costs = np.stack([-v if name in LARGER_IS_BETTER else v for name, v in values.items()], axis=-1)
    places = costs.argsort(axis=0).argsort(axis=0) / max(1, len(costs) - 1)
    share = np.array([weights[name] for name in values])
    score = places @ share / share.sum()
    return Ranking(np.argsort(score, kind="stable"), values, pareto(costs), score)


def _weights(criteria: Mapping[str, float] | Iterable[str], who: str) -> dict[str, float]:
    """Criteria with what each counts."""
    given = (
        criteria
        if isinstance(criteria, Mapping)
        else dict.fromkeys(name_list(criteria, f"{who}: criteria"), 1.0)
    )
    weights = numbers_by_name(given, f"{who}: criteria")
    if not weights:
        raise InvalidInput(f"{who}: there are no criteria; known are {', '.join(CRITERIA)}")
    for name in weights:
        if name not in CRITERIA:
            raise UnknownName(f'{who}: criterion "{name}" is unknown{did_you_mean(name, CRITERIA)}')
    if min(weights.values()) < 0.0 or not sum(weights.values()) > 0.0:
        raise InvalidInput(
            f"{who}: criteria count {list(weights.values())}, expected none below 0 and one above"
        )
    return weights


def pareto(costs: np.ndarray) -> np.ndarray:
    """(m,) True where no other row is at least as good in every column and better in one."""
    front = np.ones(len(costs), dtype=bool)
    for k in np.lexsort(costs.T[::-1]):
        if front[k]:
            beaten = (costs >= costs[k]).all(axis=-1) & (costs > costs[k]).any(axis=-1)
            front &= ~beaten
    return front


def _values(
    name: str, linkages: Linkages, task: PlanarTask | None, region: Any, who: str
) -> np.ndarray:
    if name == "transmission":
        verdict = check(linkages, task)
        return verdict.transmission_min if task is not None else verdict.transmission_cycle
    if name == "size":
        return linkages.size
    if name == "ratio":
        lengths = _sides(linkages)
        return lengths.max(axis=-1) / np.maximum(lengths.min(axis=-1), 1e-300)
    if name == "region":
        if np.size(region) != 4:
            raise InvalidInput(f"{who}: region is {region!r}, expected (xmin, ymin, xmax, ymax)")
        low_x, low_y, high_x, high_y = (float(v) for v in region)
        topology = linkages.topology
        pivots = np.stack(
            [linkages.at(pin[0]) for pin in topology.pins if topology.ground in pin[1:]], axis=-1
        )
        off_x = np.maximum(np.maximum(low_x - pivots.real, pivots.real - high_x), 0.0)
        off_y = np.maximum(np.maximum(low_y - pivots.imag, pivots.imag - high_y), 0.0)
        return np.hypot(off_x, off_y).max(axis=-1)
    if task is None:
        raise InvalidInput(f'{who}: criterion "{name}" needs the task')
    if name == "torque":
        return sensitivity(linkages, task).speed.max(axis=-1)
    return np.abs(sensitivity(linkages, task).worst)


def _sides(linkages: Linkages) -> np.ndarray:
    """(m, k) distances between pins of one body, of every body."""
    topology = linkages.topology
    pins = {joint[0] for joint in (*topology.pins, *topology.sliders)}
    pairs = {
        pair
        for points in topology.bodies.values()
        for pair in combinations([p for p in points if p in pins], 2)
    }
    return np.stack([linkages.length(*pair) for pair in sorted(pairs)], axis=-1)
