"""Compatibility: the fictitious linkage whose assemblies are the unknown rotations of a chain.

The rows of the standard form are dependent when a determinant vanishes; expanded along the unknown
column it is

    D1 + D2 exp(i beta2) + D3 exp(i beta3) + ... = 0

with complex minors D_j of the task: a closed linkage with D1 as its fixed link.
Source: [Mather2023] eq. 6-21 and (A1)-(A4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, finite_doubles, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.task import PlanarTask, check_count, complex_points, exact_poses, troubles

SCAN = 4096
"""Values of beta2 that the scan of the linkages starts from."""


@dataclass(frozen=True)
class FourBar:
    """D1 + D2 exp(i beta2) + D3 exp(i beta3) + D4 exp(i beta4) = 0, one or many: every D is
    (...,)."""

    deltas: np.ndarray

    def limits(self) -> np.ndarray:
        """(..., 4) values of beta2 at which the linkage is stretched (two) or folded (two);
        NaN where it never is.

        Corrected: the paper's outer circle |D2| + |D3| + |D4| is never reached, and it leaves out
        the inner one.
        """
        D1, D2, D3, D4 = (self.deltas[..., k] for k in range(4))
        base = np.angle(D1) - np.angle(D2)
        angles = []
        for r in (np.abs(D3) + np.abs(D4), np.abs(np.abs(D3) - np.abs(D4))):
            bottom = 2.0 * np.abs(D1) * np.abs(D2)
            c = (r**2 - np.abs(D1) ** 2 - np.abs(D2) ** 2) / np.where(bottom > 0, bottom, 1.0)
            with np.errstate(invalid="ignore"):
                half = np.where(np.abs(c) <= 1.0, np.arccos(np.clip(c, -1.0, 1.0)), np.nan)
            angles += [wrapped(base - half), wrapped(base + half)]
        return np.stack(angles, axis=-1)

    def closes(self, beta2: Any) -> np.ndarray:
        """Whether the linkage can be assembled with this rotation of its second link."""
        D1, D2, D3, D4 = (self.deltas[..., k] for k in range(4))
        K = np.abs(D1 + D2 * np.exp(1j * np.asarray(beta2)))
        return (K <= np.abs(D3) + np.abs(D4)) & (K >= np.abs(np.abs(D3) - np.abs(D4)))

    def intervals(self) -> list[tuple[float, float]]:
        """Feasible beta2 of one linkage as intervals [rad], each beginning in (-pi, pi];
        the last may end beyond pi."""
        ends = np.sort(self.limits()[np.isfinite(self.limits())])
        if not len(ends):
            return [(-np.pi, np.pi)] if self.closes(0.0) else []
        feasible = []
        for low, high in zip(ends, np.append(ends[1:], ends[0] + 2.0 * np.pi)):
            if high - low > 1e-14 and self.closes(0.5 * (low + high)):
                feasible.append((float(low), float(high)))
        return feasible

    def solve(self, beta2: Any) -> tuple[np.ndarray, np.ndarray]:
        """(beta3, beta4), both (..., 2): the two assemblies at beta2; NaN where it cannot close."""
        D1, D2, D3, D4 = (self.deltas[..., k] for k in range(4))
        K = D1 + D2 * np.exp(1j * np.asarray(beta2))
        bottom = 2.0 * np.abs(K) * np.abs(D3)
        c = (np.abs(D4) ** 2 - np.abs(K) ** 2 - np.abs(D3) ** 2) / np.where(bottom > 0, bottom, 1.0)
        half = np.where(np.abs(c) <= 1.0, np.arccos(np.clip(c, -1.0, 1.0)), np.nan)
        middle = np.angle(K) - np.angle(D3)
        beta3 = wrapped(np.stack([middle + half, middle - half], axis=-1))
        beta4 = np.angle(-(K[..., None] + D3[..., None] * np.exp(1j * beta3)) / D4[..., None])
        return beta3, beta4


@dataclass(frozen=True)
class Ring:
    """D1 + D2 exp(i beta2) + ... + Dk exp(i betak) = 0, one loop of k links: D (k,)."""

    deltas: np.ndarray

    def closing(self, *beta: float) -> FourBar:
        """The four-bar that remains when all links but three are turned by beta2, beta3, ...;
        D1 is all of them."""
        D, turned = self.deltas, np.exp(1j * np.asarray(beta, dtype=float))
        free = len(D) - 4
        fixed = D[0] + (D[1 : 1 + free] * turned[:free]).sum()
        return FourBar(np.stack([fixed, *D[1 + free :]]))

    def intervals(self) -> list[tuple[float, float]]:
        """Feasible beta2 [rad]: the links behind the second reach every distance between two
        circles, and no other."""
        lengths = np.abs(self.deltas[2:])
        outer, inner = lengths.sum(), max(0.0, 2.0 * lengths.max() - lengths.sum())
        # a four-bar whose last two links reach the same circles
        last = 0.5 * np.array([outer + inner, outer - inner])
        return FourBar(np.array([*self.deltas[:2], *last])).intervals()


@short_repr
@dataclass(frozen=True)
class Compatibility(Tabular, rows="grashof"):
    """The compatibility linkage of a task.

    deltas    (loops, k) complex, D1 .. Dk of each loop: k is 4 for a dyad, 5 for a triad; a second
              loop belongs to the last of five (six) poses
    grashof   (loops,): shortest + longest < the others: the curves have two pieces
    ranges    feasible intervals of beta2 [rad]: (low, high) each, in which every loop closes
    """

    deltas: np.ndarray
    grashof: np.ndarray
    ranges: list[tuple[float, float]]

    def solve(self, *beta: Any) -> tuple[np.ndarray, np.ndarray]:
        """The two assemblies (..., 2) of the first loop, NaN where it cannot close.

        Of a dyad solve(beta2) -> (beta3, beta4); of a triad solve(beta2, beta3) -> (beta4, beta5).
        """
        angles = self._rotations(beta)
        D, free = self.deltas[0], self.deltas.shape[1] - 4
        fixed = sum((D[1 + k] * np.exp(1j * angles[k]) for k in range(free)), D[0])
        links = np.broadcast_arrays(fixed, *D[1 + free :], angles[-1])[:-1]
        return FourBar(np.stack(links, axis=-1)).solve(angles[-1])

    def drawing(self, *beta: float) -> list[np.ndarray]:
        """Corner points of the loops, assembled at beta2 (and beta3 of a triad),
        as closed polygons."""
        angles = [number(angle, "drawing: beta") for angle in self._rotations(beta)]
        polygons = []
        for D in self.deltas:
            ends = Ring(D).closing(*angles).solve(angles[-1])
            for last in zip(*ends):
                links = D * np.exp(1j * np.array([0.0, *angles, *last]))
                polygons.append(np.concatenate([[0.0], np.cumsum(links)]))
        return polygons

    def _rotations(self, beta: tuple) -> list[np.ndarray]:
        wanted = self.deltas.shape[1] - 3
        if len(beta) != wanted:
            names = ", ".join(f"beta{k + 2}" for k in range(wanted))
            raise InvalidInput(
                f"compatibility: got {len(beta)} rotations, expected {wanted}: {names}"
            )
        return [
            finite_doubles(angle, f"compatibility: beta{k + 2}") for k, angle in enumerate(beta)
        ]


def compatibility(task: PlanarTask, alpha: Any = None, tail: Any = None) -> Compatibility:
    """The compatibility linkage of a dyad of 4 or 5 poses,
    or with `alpha` (n,) of a triad of 5 or 6.

    alpha    rotations of a triad's grounded link [rad]; the task's angles are then gamma
    tail     (n,) displacement of the chain's ground pivot [m]
    """
    who = "compatibility"
    task = exact_poses(task, who)
    if task.batch:
        raise NotPossible(f"{who}: the task is a batch of shape {task.batch}, expected one task")
    least, most, chain = (4, 5, "dyad") if alpha is None else (5, 6, "triad")
    check_count(
        task,
        least,
        most,
        who,
        f"a {chain} has a compatibility linkage for {least} or {most} positions",
    )
    trouble = troubles(task)[()]
    if trouble:
        raise NotPossible(f"{who}: {trouble}")
    d = task.displacements
    if tail is not None:
        h = complex_points(tail, f"{who}: tail")
        if h.shape != (task.n,):
            raise InvalidInput(
                f"{who}: tail has shape {h.shape}, expected ({task.n},) complex, one a position"
            )
        d = d - (h[1:] - h[:1])
    d = d / np.abs(d).max()
    g = np.exp(1j * task.rotations) - 1.0
    if alpha is None:
        D = dyad_deltas(g, d)
    else:
        a = as_doubles(alpha, f"{who}: alpha")
        if a.shape != (task.n,) or not np.isfinite(a).all():
            raise InvalidInput(
                f"{who}: alpha has shape {a.shape}, expected ({task.n},) finite angles"
            )
        D = triad_deltas(np.exp(1j * (a[1:] - a[:1])) - 1.0, g, d)
    lengths = np.sort(np.abs(D), axis=-1)
    grashof = lengths[:, 0] + lengths[:, -1] < lengths[:, 1:-1].sum(axis=-1)
    ranges = Ring(D[0]).intervals()
    for row in D[1:]:
        ranges = common(ranges, Ring(row).intervals())
    return Compatibility(D, grashof, ranges)


def told(intervals: list[tuple[float, float]]) -> str:
    """Intervals in words, or that there are none."""
    return ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in intervals) or "none"


def dyad_deltas(a: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(..., n-3, 4): D1 .. D4 of rows 2, 3, 4 and then of 2, 3, 5 (eq. 7, 14);
    a = exp(i alpha) - 1, d (..., n-1).

    Corrected: Table 3 calls D1 the sum of the others; it is minus that.
    """
    loops = []
    for last in range(2, a.shape[-1]):
        a2, a3, a4 = a[..., 0], a[..., 1], a[..., last]
        d2, d3, d4 = d[..., 0], d[..., 1], d[..., last]
        D2, D3, D4 = a3 * d4 - a4 * d3, -(a2 * d4 - a4 * d2), a2 * d3 - a3 * d2
        loops.append(np.stack([-(D2 + D3 + D4), D2, D3, D4], axis=-1))
    return np.stack(loops, axis=-2)


def triad_deltas(a: np.ndarray, g: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(..., n-4, 5): D1 .. D5 of rows 2, 3, 4, 5 and then of 2, 3, 4, 6 (eq. 20, A1)."""
    loops = []
    rows = np.stack(np.broadcast_arrays(a, g, d), axis=-1)
    for last in range(3, rows.shape[-2]):
        taken = rows[..., [0, 1, 2, last], :]
        minors = []
        for k in range(4):
            rest = np.delete(taken, k, axis=-2)
            minors.append((-1) ** k * np.linalg.det(rest))
        loops.append(np.stack([-sum(minors), *minors], axis=-1))
    return np.stack(loops, axis=-2)


def four_bar_of(a: np.ndarray, d: np.ndarray) -> FourBar:
    """The compatibility linkage of four poses."""
    return FourBar(dyad_deltas(a, d)[..., 0, :])


def scan_of_linkages(a: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(m, 4) rotations beta2 .. beta5 at which both linkages of five poses agree,
    without the trivial ones.

    The paper's way: drive beta2 through what both allow, and look where beta3 is the same. Each of
    the four pairs of assemblies gives a curve; its zeros are bisected.
    """
    first, second = (FourBar(D) for D in dyad_deltas(a, d))
    alpha2 = np.angle(a[0] + 1.0)
    agreeing = []
    for low, high in common(first.intervals(), second.intervals()):
        t = 0.5 - 0.5 * np.cos(np.linspace(1e-9, np.pi - 1e-9, SCAN))
        beta2 = low + (high - low) * t
        for i in range(2):
            for j in range(2):
                apart = lambda b, i=i, j=j: wrapped(
                    first.solve(b)[0][..., i] - second.solve(b)[0][..., j]
                )
                for b in _zeros(apart, beta2):
                    trivial = min(abs(wrapped(b)), abs(wrapped(b - alpha2))) < 1e-7
                    if not trivial:
                        beta3, beta4 = first.solve(b)
                        agreeing.append([b, beta3[i], beta4[i], second.solve(b)[1][j]])
    return np.array(sorted(agreeing)).reshape(-1, 4)


def _zeros(f: Any, x: np.ndarray) -> list[float]:
    values = f(x)
    change = (np.sign(values[1:]) != np.sign(values[:-1])) & (
        np.abs(values[1:] - values[:-1]) < np.pi
    )
    zeros = []
    for k in np.flatnonzero(change):
        low, high = x[k], x[k + 1]
        sign = np.sign(values[k])
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.sign(f(middle)) == sign else (low, middle)
        zeros.append(float(0.5 * (low + high)))
    return zeros


def common(
    first: list[tuple[float, float]], second: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Parts of intervals on the circle that lie in both."""
    shared = []
    for low, high in first:
        for a, b in second:
            for turn in (-2.0 * np.pi, 0.0, 2.0 * np.pi):
                left, right = max(low, a + turn), min(high, b + turn)
                if right - left > 1e-14:
                    begin = float(wrapped(left))
                    shared.append((begin, begin + float(right - left)))
    return sorted(set(shared))


def wrapped(x: Any) -> Any:
    """An angle in (-pi, pi]."""
    return np.angle(np.exp(1j * np.asarray(x)))
