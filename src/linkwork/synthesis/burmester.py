"""Burmester: the curves of all dyads through four positions.

A point of the curve is a dyad: its ground pivot is on the centre-point curve, its moving pivot on the circle-point
curve. The rotation beta2 of the grounded link is the parameter; the compatibility linkage says where it may be, and its
two assemblies are two arms of the curve, which meet where it is stretched or folded.
Source: [Mather2023] eq. 6-13.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.kernel import Kernel, Signature
from linkwork.errors import InvalidInput, NotPossible
from linkwork.polynomials.complex_pair import Complex, numbers, pairs
from linkwork.synthesis.compatibility import four_bar_of
from linkwork.synthesis.task import PlanarTask, as_task, check_poses, troubles

DENSE = 512
"""Points a piece by which its length is measured first."""


@dataclass(frozen=True)
class Curves:
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

    Arcs are measured on the sphere over the plane (of the task's size), so that a curve through the asymptote and back
    from the other side has a length, and points come closer together where the curve is far away.
    """
    who = "burmester"
    task = as_task(task, who)
    check_poses(task, who)
    if task.n != 4 or task.batch:
        raise NotPossible(f"{who}: the task has {task.n} positions and batch {task.batch}, expected one task of four")
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 8:
        raise InvalidInput(f"{who}: samples is {samples!r}, expected a whole number of at least 8")
    trouble = troubles(task)[()]
    if trouble:
        raise NotPossible(f"{who}: {trouble}")
    size, origin = float(task.size), task.positions[0]
    a, d = np.exp(1j * task.rotations) - 1.0, task.displacements / size
    pieces = four_bar_of(a, d).intervals()
    ways = _ways(pieces)
    fixed = _packed(a, d)
    # how long every piece is
    t = np.linspace(0.0, 2.0 * np.pi, DENSE + 1)
    lengths, arcs = [], []
    for way in ways:
        center, circle, _ = _evaluate(fixed, *way(t))
        arc = np.concatenate([[0.0], np.cumsum(_apart(center) + _apart(circle))])
        arcs.append(arc)
        lengths.append(arc[-1])
    total = sum(lengths)
    # the same points, evenly
    parts: list[np.ndarray] = []
    for k, arc in enumerate(arcs):
        count = (
            max(4, round(samples * lengths[k] / total)) if k + 1 < len(ways) else samples - sum(len(p) for p in parts)
        )
        count = max(4, count)
        even = np.interp(np.arange(count) * (arc[-1] / count), arc, t)
        parts.append(even)
    flat = [way(even) for way, even in zip(ways, parts)]
    beta2, side = (np.concatenate([x[i] for x in flat]) for i in range(2))
    center, circle, beta = _evaluate(fixed, beta2, side)
    piece = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
    far = np.maximum(np.abs(center), np.abs(circle))
    return Curves(origin + center * size, origin + circle * size, beta, piece, far < 1e9)


def _ways(intervals: list[tuple[float, float]]) -> list[Callable]:
    """For each closed piece a map t in [0, 2 pi] -> (beta2, which assembly).

    On an interval the two assemblies meet at its ends: beta2 goes forth on one and back on the other, like a cosine.
    A second link that goes all round leaves the assemblies apart: two pieces.
    """
    ways: list[Callable] = []
    for low, high in intervals:
        if high - low > 2.0 * np.pi - 1e-9:
            ways += [functools.partial(_round, s) for s in (1.0, -1.0)]
        else:
            ways.append(functools.partial(_forth_and_back, 0.5 * (low + high), 0.5 * (high - low)))
    return ways


def _round(side: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return t - np.pi, np.full(t.shape, side)


def _forth_and_back(middle: float, half: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return middle + half * np.cos(t), np.where(t <= np.pi, 1.0, -1.0)


def _evaluate(fixed: np.ndarray, beta2: np.ndarray, side: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pivots, beta = curve_kernel()(fixed, np.ascontiguousarray(beta2), np.ascontiguousarray(side))
    points = np.ascontiguousarray(pivots).view(complex)[..., 0]
    return points[..., 0], points[..., 1], beta


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
    """(a, d (6, 2), beta2, side) -> pivots (2, 2): ground, moving; beta (3,). Lengths in task sizes, origin P_1."""

    def trace() -> casadi.Function:
        fixed, beta2, side = SX.sym("fixed", 6, 2), SX.sym("beta2"), SX.sym("side")
        values = numbers(fixed)
        a, d = values[:3], values[3:]
        D2, D3, D4 = a[1] * d[2] - a[2] * d[1], a[2] * d[0] - a[0] * d[2], a[0] * d[1] - a[1] * d[0]
        D1 = -(D2 + D3 + D4)
        x = Complex(casadi.cos(beta2), casadi.sin(beta2))
        # K + D3 y + D4 z = 0: the angle between K and D3 y by the law of cosines
        K = D1 + D2 * x
        q = (D4.abs2() - K.abs2() - D3.abs2()) / 2
        root = casadi.sqrt(casadi.fmax(K.abs2() * D3.abs2() - q * q, 0)) * side
        y = Complex(q, root) * K / _apart_from_zero(K.abs2()) * D3.conjugate() * Complex(1 / D3.abs2())
        z = -(K + D3 * y) * D4.conjugate() * Complex(1 / D4.abs2())
        b = [x - 1, y - 1, z - 1]
        # two rows give W and Z; the pair whose determinant is largest, so that the trivial rotations do no harm
        W, Z, best = Complex(0.0), Complex(0.0), SX(-1)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            bottom = b[i] * a[j] - a[i] * b[j]
            better = bottom.abs2() > best
            inverse = bottom.conjugate() * Complex(1 / (bottom.abs2() + 1e-280))
            W = ((d[i] * a[j] - a[i] * d[j]) * inverse).where(better, W)
            Z = ((b[i] * d[j] - d[i] * b[j]) * inverse).where(better, Z)
            best = casadi.if_else(better, bottom.abs2(), best)
        angles = casadi.vertcat(beta2, casadi.atan2(y.im, y.re), casadi.atan2(z.im, z.re))
        return casadi.Function("curve", [fixed, beta2, side], [pairs([-(W + Z), -Z]), angles], {"cse": True})

    inputs = (("fixed", (6, 2)), ("beta2", ()), ("side", ()))
    outputs = (("pivots", (2, 2)), ("beta", (3,)))
    return Kernel(Signature("burmester", inputs, outputs), trace, "synthesis burmester")


def _apart_from_zero(x: SX) -> Complex:
    return Complex(x + 1e-280)
