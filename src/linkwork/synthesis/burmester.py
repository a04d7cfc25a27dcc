"""Burmester: the curves of all dyads through four positions.

A point of the curve is a dyad: its ground pivot is on the centre-point curve, its moving pivot on
the circle-point curve. The rotation beta2 of the grounded link is the parameter; the compatibility
linkage says where it may be, and its two assemblies are two arms of the curve, which meet where it
is stretched or folded.
Source: [Mather2023] eq. 6-13.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX

from linkwork import deadlines
from linkwork.engine import keys
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.polynomials.complex_pair import Complex, numbers, pairs
from linkwork.results import short_repr
from linkwork.synthesis.compatibility import four_bar_of
from linkwork.synthesis.dyads import Dyads
from linkwork.synthesis.task import PlanarTask, exact_poses, troubles

MOST_SAMPLES = 1_000_000

DENSE = 512
"""Points a piece by which its length is measured first."""


@short_repr
@dataclass(frozen=True)
class Curves(Tabular, rows="piece"):
    """Dyads along the curves of one task, piece after piece, (samples,).

    center, circle   ground pivots, and moving pivots at position 1, complex [m]
    beta             (samples, 3) rotations of the grounded link at positions 2, 3, 4 [rad]
    piece            to which closed piece of the curve a point belongs
    valid            False where a pivot is at infinity
    """

    center: np.ndarray
    circle: np.ndarray
    beta: np.ndarray
    piece: np.ndarray
    valid: np.ndarray

    def __len__(self) -> int:
        return len(self.center)


def burmester(task: PlanarTask, samples: int = 1000) -> Curves:
    """The curves of a task of four poses, with points evenly along the arc.

    Arcs are measured on the sphere over the plane (of the task's size), so that a curve through the
    asymptote and back from the other side has a length, and points come closer together where the
    curve is far away.
    """
    who = "burmester"
    task = exact_poses(task, who)
    if task.n != 4 or task.batch:
        raise NotPossible(
            f"{who}: the task has {task.n} positions and batch {task.batch}, expected one task "
            "of four"
        )
    samples = deadlines.counted(samples, f"{who}: samples", 8, MOST_SAMPLES)
    trouble = troubles(task)[()]
    if trouble:
        raise NotPossible(f"{who}: {trouble}")
    size, origin = float(task.size), task.positions[0]
    a, d = np.exp(1j * task.rotations) - 1.0, task.displacements / size
    pieces = four_bar_of(a, d).intervals()
    ways = _ways(pieces)
    fixed = _packed(a, d)
    place = np.array([origin.real, origin.imag, size])
    # how long every piece is
    t = np.linspace(0.0, 2.0 * np.pi, DENSE + 1)
    arcs = []
    for way in ways:
        center, circle, _, _ = _evaluate(fixed, way, t, _PLAIN)
        arcs.append(np.concatenate([[0.0], np.cumsum(_apart(center) + _apart(circle))]))
    lengths = [float(arc[-1]) for arc in arcs]
    total = sum(lengths)
    # the same points, evenly
    parts: list[tuple[np.ndarray, ...]] = []
    counts: list[int] = []
    for k, arc in enumerate(arcs):
        count = round(samples * lengths[k] / total) if k + 1 < len(arcs) else samples - sum(counts)
        counts.append(max(4, count))
        even = np.interp(np.arange(counts[-1]) * (lengths[k] / counts[-1]), arc, t)
        parts.append(_evaluate(fixed, ways[k], even, place))
    center, circle, beta, far = (
        np.concatenate(part) if len(parts) > 1 else part[0] for part in zip(*parts)
    )
    piece = np.repeat(np.arange(len(parts)), counts)
    return Curves(center, circle, beta, piece, far < 1e18)


_PLAIN = np.array([0.0, 0.0, 1.0])


def _ways(intervals: list[tuple[float, float]]) -> list[np.ndarray]:
    """For each closed piece four numbers: beta2 = middle + half cos(t) + slope t,
    and the assembly (0: by t).

    On an interval the two assemblies meet at its ends: beta2 goes forth on one and back on the
    other, like a cosine. A second link that goes all round leaves the assemblies apart: two pieces.
    """
    ways = []
    for low, high in intervals:
        if high - low > 2.0 * np.pi - 1e-9:
            ways += [np.array([-np.pi, 0.0, 1.0, side]) for side in (1.0, -1.0)]
        else:
            ways.append(np.array([0.5 * (low + high), 0.5 * (high - low), 0.0, 0.0]))
    return ways


def _evaluate(
    fixed: np.ndarray, way: np.ndarray, t: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, ...]:
    """(ground pivots, moving pivots, beta (k, 3), largest square of a distance) at t (k,)."""
    pivots, beta, far = curve_kernel()(fixed, way, t, place)
    points = np.ascontiguousarray(pivots).view(complex)[..., 0]
    return points[..., 0], points[..., 1], beta, far


def _packed(a: np.ndarray, d: np.ndarray) -> np.ndarray:
    both = np.concatenate([a, d], axis=-1)
    return np.ascontiguousarray(both).view(float).reshape(*both.shape, 2)


def _apart(points: np.ndarray) -> np.ndarray:
    """Distances of neighbours on the unit sphere over the plane."""
    r = np.minimum(np.abs(points), 1e12)
    points = np.where(np.abs(points) > 1e12, 1e12 + 0j, points)
    bottom = np.sqrt((1.0 + r[1:] ** 2) * (1.0 + r[:-1] ** 2))
    return np.abs(points[1:] - points[:-1]) / bottom


@functools.cache
def curve_kernel() -> Kernel:
    """(a, d (6, 2), way (4,), t, place (3,)) -> pivots (2, 2): ground, moving; beta (3,);
    largest squared distance.

    a and d in task sizes; place is the origin P_1 and the size, with which the pivots come back.
    """

    def curve(fixed: SX, way: SX, t: SX, place: SX) -> tuple[SX, SX, SX]:
        values = numbers(fixed)
        beta2 = way[0] + way[1] * casadi.cos(t) + way[2] * t
        by_t = casadi.if_else(t <= np.pi, 1.0, -1.0)
        side = casadi.if_else(way[3] == 0, by_t, way[3])
        a, d = values[:3], values[3:]
        D2, D3, D4 = a[1] * d[2] - a[2] * d[1], a[2] * d[0] - a[0] * d[2], a[0] * d[1] - a[1] * d[0]
        D1 = -(D2 + D3 + D4)
        x = Complex(casadi.cos(beta2), casadi.sin(beta2))
        # K + D3 y + D4 z = 0: the angle between K and D3 y by the law of cosines
        K = D1 + D2 * x
        q = (D4.abs2() - K.abs2() - D3.abs2()) / 2
        root = casadi.sqrt(casadi.fmax(K.abs2() * D3.abs2() - q * q, 0)) * side
        along_K = Complex(q, root) * K / _apart_from_zero(K.abs2())
        y = along_K * D3.conjugate() * Complex(1 / D3.abs2())
        z = -(K + D3 * y) * D4.conjugate() * Complex(1 / D4.abs2())
        b = [x - 1, y - 1, z - 1]
        # two rows give W and Z; the pair whose determinant is largest,
        # so that the trivial rotations do no harm
        W, Z, best = Complex(0.0), Complex(0.0), SX(-1)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            bottom = b[i] * a[j] - a[i] * b[j]
            better = bottom.abs2() > best
            inverse = bottom.conjugate() * Complex(1 / (bottom.abs2() + 1e-280))
            W = ((d[i] * a[j] - a[i] * d[j]) * inverse).where(better, W)
            Z = ((b[i] * d[j] - d[i] * b[j]) * inverse).where(better, Z)
            best = casadi.if_else(better, bottom.abs2(), best)
        angles = casadi.vertcat(beta2, casadi.atan2(y.im, y.re), casadi.atan2(z.im, z.re))
        ends = [-(W + Z), -Z]
        far = casadi.fmax(ends[0].abs2(), ends[1].abs2())
        moved = [z * Complex(place[2]) + Complex(place[0], place[1]) for z in ends]
        return pairs(moved), angles, far

    inputs = (("fixed", (6, 2)), ("way", (4,)), ("t", ()), ("place", (3,)))
    outputs = (("pivots", (2, 2)), ("beta", (3,)), ("far", ()))
    return traced(Signature("burmester", inputs, outputs), curve, keys.key(__name__, "curve"))


def _apart_from_zero(x: SX) -> Complex:
    return Complex(x + 1e-280)


def dyads_along(curves: Curves, task: PlanarTask, most: int) -> Dyads:
    """Dyads evenly along the curve of four poses."""
    rows = np.flatnonzero(curves.valid)
    rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    ground, moving = curves.center[rows], curves.circle[rows]
    count = np.zeros(len(rows))
    return Dyads(
        W=moving - ground,
        Z=task.positions[0] - moving,
        beta=curves.beta[rows],
        ground=ground,
        moving=moving,
        residual=count,
        condition=count + 1.0,
        near_trivial=count > 0,
        valid=count == 0,
        reason=np.array("", dtype=object),
    )
