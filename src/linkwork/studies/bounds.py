"""Bounds of the Christoffel symbols over all configurations of a robot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from linkwork import configurations, deadlines, quantities
from linkwork.arguments import choice
from linkwork.formats.tabular import Tabular
from linkwork.studies.reach import symbols_by_reach
from linkwork.subject import Subject

DEGREE = 2  # of a symbol in sine and cosine of a revolute coordinate, and in a prismatic coordinate
DRAWN = 1_000_000  # poses drawn at a time
ROUNDING = 1e-9  # added to what is certified: a hundred thousand times the rounding of a symbol
MOST_SAMPLES = 10**9
NUMBERS = 1 << 20  # symbols computed at a time: they stay in the cache


@dataclass(frozen=True, repr=False)
class ChristoffelBounds(Tabular):
    """Largest Christoffel symbols over the joint ranges.

    kind      "certified": no configuration exceeds these numbers; "sampled": the largest found,
              others may exceed them
    symbols   (nv, nv, nv), on |c[k, i, j]|
    coriolis  k with ||C(q, v)|| <= k ||v|| in the Euclidean norm, for gains and for robustness
    largest   the largest symbol that was met, and `q` the configuration where
    samples   configurations that were computed
    """

    kind: str
    symbols: np.ndarray
    coriolis: float
    largest: float
    q: np.ndarray
    samples: int

    def _table(self) -> dict[str, np.ndarray]:
        """A row a symbol."""
        places = np.indices(self.symbols.shape).reshape(3, -1)
        return {**dict(zip("kij", places, strict=True)), "bound": self.symbols.ravel()}

    def __repr__(self) -> str:
        top = float(self.symbols.max(initial=0.0))
        return (
            f"<ChristoffelBounds {self.kind}: |c| <= {top:.4g}, ||C|| <= {self.coriolis:.4g} ||v||>"
        )


def christoffel_bounds(
    subject: Subject,
    kind: str = "certified",
    samples: int = 200_000,
    seed: int = 0,
    time_limit: float | None = None,
) -> ChristoffelBounds:
    """Bounds of |c^k_ij| and of ||C(q, v)|| / ||v|| for all q.

    certified   A symbol is a trigonometric polynomial of degree 2 in every revolute coordinate, a
                polynomial of degree 2 in every prismatic one, and does not depend on root joints.
                On a grid of M equal steps a turn its maximum exceeds the grid's by a factor of at
                most 1 / cos(2 pi / M) a coordinate ([Ehlich1964];
                prismatic: Chebyshev points), and so does any norm of C. Revolute joints count with
                their full turn. Where such a grid needs more than `samples`, or gives more, the
                bound is that of reach.py.
    sampled     the best of `samples` random configurations within the limits, climbed further.
    time_limit  seconds after which it ends with NotPossible; None: as long as it takes
    """
    choice(kind, ("certified", "sampled"), "christoffel_bounds: kind")
    samples = deadlines.counted(samples, "christoffel_bounds: samples", 1, MOST_SAMPLES)
    with deadlines.time_limit(time_limit, "christoffel_bounds"):
        return (
            _sampled(subject, samples, seed)
            if kind == "sampled"
            else _of_any(subject, samples, seed)
        )


def _of_any(subject: Subject, samples: int, seed: int) -> ChristoffelBounds:
    """Certified bounds; joints that mimic others are freed for them."""
    if not subject.tree.mimic:
        return _certified(subject, samples)
    free = Subject(
        replace(subject.model, joints=tuple(replace(j, mimic=None) for j in subject.model.joints))
    )
    bounds, G = _certified(free, samples), np.abs(subject.tree.mimic_map[2])
    symbols = np.einsum("kij,ka,ib,jc->abc", bounds.symbols, G, G, G)
    bound = min(float(np.linalg.norm(G, 2)) ** 3 * bounds.coriolis, float(_gain(symbols[None])[0]))
    # what was met without mimic is no pose of this robot
    met = _sampled(subject, min(samples, 1000), seed)
    return ChristoffelBounds(
        "certified", symbols, bound, met.largest, met.q, bounds.samples + met.samples
    )


def _certified(subject: Subject, samples: int) -> ChristoffelBounds:
    symbols = symbols_by_reach(subject.tree, configurations.limits(subject))
    bound, grid = float(_gain(symbols[None])[0]), _grid(subject, samples)
    if grid is None:
        q = configurations.neutral(subject)
        largest = float(np.abs(_symbols(subject, q)).max(initial=0.0))
        return ChristoffelBounds(
            "certified", _rounded_up(symbols), bound * (1 + ROUNDING), largest, q, 1
        )
    axes, factor = grid
    most = _Largest(subject)
    for q in _points(configurations.neutral(subject), axes, _chunk(subject)):
        most.meet(q)
    symbols = np.minimum(symbols, factor * most.symbols)
    bound = min(factor * most.gain, float(_gain(symbols[None])[0])) * (1 + ROUNDING)
    return ChristoffelBounds(
        "certified", _rounded_up(symbols), bound, most.largest, most.q, most.samples
    )


def _rounded_up(symbols: np.ndarray) -> np.ndarray:
    """Structural zeros stay zero: a symbol that is not one may be met with as much rounding as the
    largest has."""
    return np.where(symbols > 0, symbols + ROUNDING * symbols.max(initial=0.0), 0.0)


def _sampled(subject: Subject, samples: int, seed: int) -> ChristoffelBounds:
    most, step = _Largest(subject), _chunk(subject)
    # drawn in portions: a billion poses would not fit into memory
    for first in range(0, samples, DRAWN):
        count = min(DRAWN, samples - first)
        poses = configurations.random(subject, count, seed if first == 0 else _seed(seed, first))
        for at in range(0, count, step):
            most.meet(poses[at : at + step])
    if subject.nq == subject.nv and subject.nv:
        k, i, j = np.unravel_index(int(np.argmax(most.symbols)), most.symbols.shape)
        most.meet(_climbed(subject, most.q, lambda c: np.abs(c[:, k, i, j])))
        most.meet(_climbed(subject, most.q_gain, _gain))
    return ChristoffelBounds("sampled", most.symbols, most.gain, most.largest, most.q, most.samples)


def _seed(seed: int, portion: int) -> int:
    return int(np.random.SeedSequence([seed, portion]).generate_state(1)[0])


def _climbed(
    subject: Subject, q: np.ndarray, measure: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """A local maximum of a measure of c from q on, within the limits, as a batch of one."""
    limits, h = configurations.limits(subject), 1e-6
    steps = np.concatenate(
        [np.zeros((1, subject.nq)), h * np.eye(subject.nq), -h * np.eye(subject.nq)]
    )

    def negative(x: np.ndarray) -> tuple[float, np.ndarray]:
        deadlines.check()
        m = measure(_symbols(subject, x + steps))
        return -m[0], (m[1 + subject.nq :] - m[1 : 1 + subject.nq]) / (2 * h)

    from scipy.optimize import minimize  # takes longer to import than all of linkwork

    optimum = minimize(
        negative, q, jac=True, method="L-BFGS-B", bounds=list(zip(limits.lower, limits.upper))
    )
    return np.clip(optimum.x, limits.lower, limits.upper)[None]


class _Largest:
    """What the configurations met so far have given."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.samples = subject, 0
        self.symbols = np.zeros((subject.nv,) * 3)
        self.gain, self.largest = 0.0, 0.0
        self.q = self.q_gain = configurations.neutral(subject)

    def meet(self, q: np.ndarray) -> None:
        deadlines.check()
        c = _symbols(self.subject, q)
        flat = c.reshape(len(q), -1)
        squares = np.einsum("nx,nx->n", flat, flat)
        np.abs(flat, out=flat)
        largest = flat.max(axis=1, initial=0.0)
        self.symbols = np.maximum(
            self.symbols, flat.max(axis=0, initial=0.0).reshape(self.symbols.shape)
        )
        self.samples += len(q)
        if largest.max(initial=0.0) > self.largest:
            self.largest, self.q = float(largest.max()), q[int(largest.argmax())].copy()
        # the gain is at most the norm of all symbols
        worth = np.flatnonzero(squares > self.gain**2)
        if len(worth):
            gains = _gain(_symbols(self.subject, q[worth]))
            if gains.max() > self.gain:
                self.gain, self.q_gain = float(gains.max()), q[worth[int(gains.argmax())]].copy()


def _chunk(subject: Subject) -> int:
    return max(1, NUMBERS // max(1, subject.nv**3))


def _symbols(subject: Subject, q: np.ndarray) -> np.ndarray:
    return quantities.evaluate(subject, "christoffel", {"q": q})


def _gain(c: np.ndarray) -> np.ndarray:
    """max over v of ||C(v)|| / ||v|| (Frobenius, so at least the spectral norm) of symbols c
    (m, n, n, n): (m,)."""
    m, n = len(c), c.shape[-1]
    flat = c.reshape(m, n * n, n)
    gram = flat.swapaxes(1, 2) @ flat
    return np.sqrt(np.linalg.eigvalsh(gram)[:, -1].clip(0)) if n else np.zeros(m)


def _grid(subject: Subject, samples: int) -> tuple[list[tuple[int, np.ndarray]], float] | None:
    """(values of each coordinate that matters, factor from the largest on the grid to the largest
    of all), or None."""
    moving = [node for node in subject.tree.nodes if node.nv and node.parent]
    if any(not (node.row.is_hinge or node.row.is_slide) for node in moving):
        return None
    limits = configurations.limits(subject)
    steps = int(samples ** (1 / max(1, len(moving))) + 1e-9)
    if moving and steps <= 2 * DEGREE:
        return None
    axes, factor = [], 1.0
    for node in moving:
        if node.row.is_hinge:
            axes.append((node.q, 2 * math.pi * np.arange(steps) / steps))
            factor /= math.cos(math.pi * DEGREE / steps)
        else:
            low, high = limits.lower[node.q], limits.upper[node.q]
            between = np.cos(math.pi * np.arange(steps) / (steps - 1))
            axes.append((node.q, (low + high) / 2 + (high - low) / 2 * between))
            factor /= math.cos(math.pi * DEGREE / (2 * (steps - 1)))
    return axes, factor


def _points(
    start: np.ndarray, axes: list[tuple[int, np.ndarray]], size: int
) -> Iterator[np.ndarray]:
    """All points of the grid, in batches."""
    columns = [at for at, _ in axes]
    points = itertools.product(*[values for _, values in axes])
    while batch := list(itertools.islice(points, size)):
        q = np.tile(start, (len(batch), 1))
        q[:, columns] = batch
        yield q
