"""Linkage: bodies with named points at position 1, joined by pins and sliders;
many of one topology are arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.arguments import shown
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.dyads import Dyads
from linkwork.synthesis.sliders import Sliders
from linkwork.synthesis.task import PlanarTask, complex_points

GROUND = "ground"
COINCIDE = 1e-9


@dataclass(frozen=True)
class Edge:
    """A joint of the tree: `child` hangs on `parent` at `point`;
    a slider runs along the line to `along`."""

    child: str
    parent: str
    point: str
    along: str | None = None


@dataclass(frozen=True)
class Topology:
    """Which bodies there are and how they are joined.

    bodies    body -> names of the points it carries; the first one is the ground
    pins      (point, body, body): the bodies turn about the point, which both carry
    sliders   (point, body, body, point): the second body slides on the first, along the line
              through both points, which the first body carries; the second carries the first point
    driver    the body whose joint with the ground is driven
    tracer    (body, point): what goes through the positions
    """

    name: str
    bodies: Mapping[str, tuple[str, ...]]
    pins: tuple[tuple[str, str, str], ...]
    sliders: tuple[tuple[str, str, str, str], ...] = ()
    driver: str = ""
    tracer: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        known = set(self.bodies)
        for joint in (*self.pins, *self.sliders):
            for body in joint[1:3]:
                if body not in known:
                    raise UnknownName(
                        f'linkage "{self.name}" has no body "{body}"{did_you_mean(body, known)}'
                    )
                if joint[0] not in self.bodies[body] and not (
                    joint in self.sliders and body == joint[1]
                ):
                    raise InvalidInput(
                        f'linkage "{self.name}": body "{body}" does not carry the point '
                        f'"{joint[0]}"'
                    )
        if self.tracer[0] not in known or self.tracer[1] not in self.bodies[self.tracer[0]]:
            raise UnknownName(
                f'linkage "{self.name}": tracer {self.tracer} is not a point of a body'
            )
        loose = known - {edge.child for edge in self.tree[0]} - {self.ground}
        if loose:
            raise InvalidInput(
                f'linkage "{self.name}": body "{min(loose)}" is loose: no joint holds it'
            )
        if self.driver not in {edge.child for edge in self.tree[0] if edge.parent == self.ground}:
            raise InvalidInput(
                f'linkage "{self.name}": driver "{self.driver}" has no joint with the ground'
            )

    @property
    def ground(self) -> str:
        return next(iter(self.bodies))

    @property
    def moving(self) -> tuple[str, ...]:
        """Bodies in the order of the tree: each after the one that it hangs on."""
        return tuple(edge.child for edge in self.tree[0])

    @property
    def points(self) -> tuple[str, ...]:
        """Names of all points, each once."""
        return tuple(dict.fromkeys(point for points in self.bodies.values() for point in points))

    @property
    def mobility(self) -> int:
        """Degrees of freedom by counting: 3 (bodies - 1) - 2 (pins + sliders)."""
        return 3 * (len(self.bodies) - 1) - 2 * (len(self.pins) + len(self.sliders))

    @cached_property
    def tree(self) -> tuple[tuple[Edge, ...], tuple[tuple[str, str, str], ...]]:
        """(joints of a spanning tree from the ground outward, pins that close loops as (point,
        body, body)).

        The driver's joint and the sliders come first, then pins breadth first.
        """
        edges = [(p, a, b, q) for p, a, b, q in self.sliders] + [
            (p, a, b, None) for p, a, b in self.pins
        ]
        is_driver = lambda e: self.ground in e[1:3] and self.driver in e[1:3]
        edges.sort(key=lambda e: (not is_driver(e), e[3] is None))
        reached, order, used = [self.ground], [], set()
        at = 0
        while at < len(reached):
            body = reached[at]
            at += 1
            for k, (point, a, b, along) in enumerate(edges):
                if k in used or body not in (a, b):
                    continue
                other = b if body == a else a
                if other in reached:
                    continue
                used.add(k)
                reached.append(other)
                order.append(Edge(other, body, point, along))
        closing = tuple(
            (p, a, b) for k, (p, a, b, along) in enumerate(edges) if k not in used and along is None
        )
        left = [e for k, e in enumerate(edges) if k not in used and e[3] is not None]
        if left:
            raise NotPossible(
                f'linkage "{self.name}": the slider between "{left[0][1]}" and "{left[0][2]}" '
                "closes a loop"
            )
        return tuple(order), closing


@short_repr
@dataclass(frozen=True, eq=False)
class Linkages(Tabular):
    """Many linkages of one topology: `points` (..., k) complex [m] at position 1,
    in the order of `names`.

    rotations   (..., n, bodies) of the moving bodies at the positions of a task
                [rad; m for a slider], where known
    """

    topology: Topology
    points: np.ndarray
    rotations: np.ndarray | None = field(default=None)

    @property
    def names(self) -> tuple[str, ...]:
        return self.topology.points

    @property
    def batch(self) -> tuple[int, ...]:
        return self.points.shape[:-1]

    def __len__(self) -> int:
        return self.points.shape[0]

    def __getitem__(self, chosen: Any) -> Linkages:
        """Some of them; one number gives a `Linkage`."""
        points = self.points[chosen]
        rotations = None if self.rotations is None else self.rotations[chosen]
        return (Linkage if points.ndim == 1 else Linkages)(self.topology, points, rotations)

    def one(self, k: int) -> Linkage:
        """The k-th of them."""
        known = (
            isinstance(k, (int, np.integer)) and not isinstance(k, bool) and len(self.batch) == 1
        )
        if not known or not -len(self) <= k < len(self):
            raise InvalidInput(
                f"one: k is {shown(k)}, expected the number of one of {self.batch} linkages"
            )
        return Linkage(
            self.topology, self.points[k], None if self.rotations is None else self.rotations[k]
        )

    def __iter__(self) -> Iterator[Linkages]:
        return (self[k] for k in range(len(self)))

    def _table(self) -> dict[str, np.ndarray]:
        """A row a linkage: its points as "A.x", "A.y" [m]."""
        rows = self.points.reshape(-1, len(self.names))
        both = {"x": rows.real, "y": rows.imag}
        return {
            f"{name}.{axis}": places[:, k]
            for k, name in enumerate(self.names)
            for axis, places in both.items()
        }

    def at(self, point: str) -> np.ndarray:
        """(...,) where a point is at position 1, complex [m]."""
        if point not in self.names:
            raise UnknownName(f'linkage has no point "{point}"{did_you_mean(point, self.names)}')
        return self.points[..., self.names.index(point)]

    def length(self, first: str, second: str) -> np.ndarray:
        """(...,) distance of two points at position 1 [m]."""
        return np.abs(self.at(first) - self.at(second))

    @property
    def tracer(self) -> np.ndarray:
        return self.at(self.topology.tracer[1])

    @property
    def size(self) -> np.ndarray:
        """(...,) extent of all points [m]."""
        centre = self.points.mean(axis=-1, keepdims=True)
        return 2.0 * np.abs(self.points - centre).max(axis=-1)


class Linkage(Linkages):
    """One linkage: `points` (k,)."""

    @property
    def named_points(self) -> dict[str, complex]:
        return {name: complex(p) for name, p in zip(self.names, self.points)}

    def __repr__(self) -> str:
        places = ", ".join(f"{n} {p.real:.4g}{p.imag:+.4g}j" for n, p in self.named_points.items())
        return f"<Linkage {self.topology.name}: {places}; driver {self.topology.driver}>"


def four_bar_topology(driver: str = "crank") -> Topology:
    """Ground A-D, crank A-B, coupler B-C with tracer P, rocker D-C."""
    bodies = {
        "ground": ("A", "D"),
        "crank": ("A", "B"),
        "coupler": ("B", "C", "P"),
        "rocker": ("D", "C"),
    }
    pins = (
        ("A", "ground", "crank"),
        ("D", "ground", "rocker"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
    )
    return Topology("four-bar", bodies, pins, driver=driver, tracer=("coupler", "P"))


FOUR_BAR = {driver: four_bar_topology(driver) for driver in ("crank", "rocker")}
SLIDER_CRANK = Topology(
    "slider-crank",
    {"ground": ("A", "C", "L"), "crank": ("A", "B"), "coupler": ("B", "C", "P"), "slider": ("C",)},
    (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "slider")),
    (("C", "ground", "slider", "L"),),
    driver="crank",
    tracer=("coupler", "P"),
)
"""A crank, a coupler with the tracer, and a pin that slides on the ground along C-L."""


def four_bar(ground: Any, moving: Any, tracer: Any, driver: str = "crank") -> Linkages:
    """Four-bars from their pivots at position 1: ground (..., 2), moving (..., 2), tracer (...,),
    complex [m].

    The first pivot of each belongs to the "crank", the second to the "rocker"; either may be the
    driver.
    """
    known_driver(driver, "four_bar")
    a, k = (_two_points(x, f"four_bar: {n}") for x, n in ((ground, "ground"), (moving, "moving")))
    p = complex_points(tracer, "four_bar: tracer")
    for name, array in (("ground", a), ("moving", k)):
        if array.shape[-1:] != (2,):
            raise InvalidInput(
                f"four_bar: {name} has shape {array.shape}, expected two complex pivots (..., 2)"
            )
    batch = np.broadcast_shapes(a.shape[:-1], k.shape[:-1], p.shape)
    parts = [np.broadcast_to(x, batch) for x in (a[..., 0], a[..., 1], k[..., 0], k[..., 1], p)]
    points = np.stack(parts, axis=-1)  # A, D, B, C, P: the order of the topology
    return linkages(FOUR_BAR[driver], points)


def _two_points(x: Any, who: str) -> np.ndarray:
    """Two pivots; two plain real numbers are two pivots on the real axis."""
    array = np.asarray(x)
    return complex_points(
        array.astype(complex) if array.shape == (2,) and array.dtype.kind in "fiu" else x, who
    )


def linkages(
    topology: Topology, points: np.ndarray, rotations: np.ndarray | None = None
) -> Linkages:
    """A Linkage for points (k,), Linkages for (..., k)."""
    return (Linkage if points.ndim == 1 else Linkages)(topology, points, rotations)


def from_dyads(
    task: PlanarTask, first: Dyads, second: Dyads | Sliders, driver: str = "crank"
) -> Linkage:
    """The four-bar of two dyads of a task, such as dyads[0] and dyads[2],
    or a slider-crank of a dyad and a slider."""
    if task.batch:
        raise NotPossible(
            "from_dyads: the task is a batch; four_bars pairs the dyads of many tasks"
        )
    known_driver(driver, "from_dyads")
    tip = complex(task.positions[0])
    one = lambda x: complex(np.asarray(x).reshape(-1)[0])
    for chain in (first, second):
        turns_of = chain.travel if isinstance(chain, Sliders) else chain.beta
        if np.shape(turns_of)[-1:] != (task.n - 1,):
            raise InvalidInput(
                f"from_dyads: a dyad has {np.shape(turns_of)[-1] + 1} positions, the task {task.n}"
            )
    alpha = task.rotations
    beta = np.asarray(first.beta).reshape(-1, task.n - 1)[0]
    zero = np.zeros(1)
    if isinstance(second, Sliders):
        if second.kind != "PR":
            raise NotPossible(
                'from_dyads: sliders of kind "RP" ride on the body; take one of kind "PR"'
            )
        pin, direction = one(second.moving), one(second.direction)
        points = np.array(
            [one(first.ground), pin, pin + direction * float(task.size), one(first.moving), tip]
        )
        travel = np.asarray(second.travel).reshape(-1, task.n - 1)[0]
        turns = dict(zip(("crank", "coupler", "slider"), (beta, alpha, travel)))
        rotations = np.stack(
            [np.concatenate([zero, turns[b]]) for b in SLIDER_CRANK.moving], axis=-1
        )
        return Linkage(SLIDER_CRANK, points, rotations)
    if abs(one(first.ground) - one(second.ground)) < COINCIDE * float(task.size):
        raise NotPossible("from_dyads: both dyads are the same one")
    points = np.array(
        [one(first.ground), one(second.ground), one(first.moving), one(second.moving), tip]
    )
    other = np.asarray(second.beta).reshape(-1, task.n - 1)[0]
    turns = {"crank": beta, "coupler": alpha, "rocker": other}
    topology = FOUR_BAR[driver]
    rotations = np.stack([np.concatenate([zero, turns[b]]) for b in topology.moving], axis=-1)
    return Linkage(topology, points, rotations)


def pairs_of(task: PlanarTask, chains: Dyads) -> tuple[Linkages, np.ndarray]:
    """(four-bars, index of the task) of every pair of valid dyads; (m, ...) over the whole
    batch."""
    ground, moving, valid = (np.atleast_2d(x) for x in (chains.ground, chains.moving, chains.valid))
    slots = valid.shape[-1]
    flat = lambda x: x.reshape(int(np.prod(x.shape[:-1])), slots)  # slots may be none
    ground, moving, valid = flat(ground), flat(moving), flat(valid)
    tips = np.broadcast_to(task.positions[..., 0], task.batch or (1,)).reshape(-1)
    first, second = np.triu_indices(slots, 1)
    both = valid[:, first] & valid[:, second]
    row, pair = np.nonzero(both)
    a, b = first[pair], second[pair]
    points = [ground[row, a], ground[row, b], moving[row, a], moving[row, b], tips[row]]
    return Linkages(FOUR_BAR["crank"], np.stack(points, axis=-1)), row


def as_linkages(x: Any, who: str) -> Linkages:
    """A Linkage or Linkages, or a sentence."""
    if not isinstance(x, Linkages):
        raise InvalidInput(
            f"{who}: got {type(x).__name__}, expected a Linkage or Linkages of linkwork.synthesis"
        )
    return x


def known_driver(driver: str, who: str) -> None:
    """One of a four-bar's two grounded links, or a sentence."""
    if driver not in FOUR_BAR:
        near = did_you_mean(str(driver), FOUR_BAR)
        raise UnknownName(f'{who}: driver is "{driver}", expected "crank" or "rocker"{near}')
