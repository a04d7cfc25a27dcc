"""Offset wrist: arms of the FANUC CRX kind, every posture from a trigonometric polynomial of degree
4 in theta6.

Standard DH with alpha = (90, 180, -90, alpha4, alpha5, 0) deg, a = (0, a2, 0, 0, 0, 0), d =
(0, 0, 0, d4, d5, 0): the heights d1 and d6 belong to base and tool, d2 and d3 cancel. Eight roots,
two postures each: at most sixteen.
Source: [Carbonari2023] for the constraints Phi4, Phi6. Corrected: the paper eliminates down to
degree 16, half of whose roots are false (carbonari.py); with theta5, theta6 as unknowns the same
constraints give degree 8 and no false root.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import casadi
import numpy as np
from casadi import SX, atan2, fabs, fmax, sqrt, sumsqr

from linkwork.inverse.analytic import crossings, wrist_angles, wrist_kernels
from linkwork.inverse.analytic.angles import FREE, both, either
from linkwork.inverse.analytic.candidates import (
    CONTINUUM,
    ISOLATED,
    TANGENT,
    Candidate,
    Proposal,
    orthonormal,
)
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import Family, Geometry, Rows, merge, short
from linkwork.inverse.analytic.ideal import Lines
from linkwork.inverse.analytic.polish import kinds
from linkwork.inverse.analytic.roots import trigonometric_roots
from linkwork.inverse.analytic.spherical import exact_cos, exact_sin
from linkwork.inverse.analytic.wrist_angles import ROOTS, Dimensions, direction
from linkwork.spatial import Transform

UPRIGHT = 1e-9
"""Lengths [of the arm's] and cosines that may be off where both arms stand on axis 1."""
VOID = 1e-12
"""Coefficients of the scaled polynomial below which it vanishes: theta6 is free."""


def recognise(lines: Lines) -> Lines:
    """1 meets 2 at right angles; 2 and 3 parallel; 4 meets 3 at right angles,
    without offset from 1; 4-5, 5-6 meet."""
    lines.parallel(1, 2).perpendicular(0, 1).meeting(0, 1).perpendicular(3, 2)
    return lines.beside(3, 0, 1, "shoulder offset").meeting(3, 2).meeting(4, 3).meeting(5, 4)


def canonical(lines: Lines) -> tuple[Frames, Dimensions]:
    """The DH frames of the ideal lines and the arm's numbers."""
    chain = lines.result
    signs = [1, 1, -1 if chain.directions[2] @ chain.directions[1] > 0 else 1, 1, 1, 1]
    placed = frames(chain, signs, (1, 1, -1, -1, 1))
    a2, d4, d5 = (float(x) for x in (placed.a[1], placed.d[3], placed.d[4]))
    return placed, Dimensions(a2, d4, d5, float(placed.alpha[3]), float(placed.alpha[4]))


def _refused(size: Dimensions) -> str:
    if abs(size.d5) < 1e-9 * size.scale:
        return "d5 = 0: the wrist is spherical"
    if abs(np.sin(size.alpha4)) < 1e-6 or abs(np.sin(size.alpha5)) < 1e-6:
        return "neighbouring wrist axes are parallel"
    return short("a2", "d4")(size)


def solve(size: Dimensions, T: Transform, seed: SX, pair: SX, on_axis: float = FREE) -> Proposal:
    """The two postures of one pair of angles, a row (c5, s5, c6, s6, exists, double) that was kept.

        h = the longer of the plans of P3 and P4,   theta1 = atan2(h) + {0, pi},   e = (cos theta1, sin theta1, 0)
        theta2 = atan2(P3_z, P3 . e),   theta2 - theta3 = atan2(z3 . e, -z3_z)
        theta4 = atan2(x3 . z4, -y3 . z4)  (times the sign of s_a4),   x3 = -z3_z e + (z3 . e) z0,   y3 = (s1, -c1, 0)

    on_axis: distance of P3 and P4 from axis 1 [of the arm's length] below which theta1 is free and
    stays at the seed. Replaces appendix E of [Carbonari2023], which divides by sin theta1, cos
    theta2 and sin(theta2 - theta3) and prints P3_x for P3_z in theta2 and -cos theta4 for cos
    theta4.
    """
    c5, s5, c6, s6, exists, double = (pair[k] for k in range(6))
    sa4, ca4, sa5, ca5 = (f(x) for x in (size.alpha4, size.alpha5) for f in (exact_sin, exact_cos))
    x6, y6, z6 = T.R[:, 0], T.R[:, 1], T.R[:, 2]
    x5, y5 = c6 * x6 - s6 * y6, s6 * x6 + c6 * y6
    z4, Y = sa5 * y5 + ca5 * z6, ca5 * y5 - sa5 * z6
    z3 = sa4 * (s5 * x5 + c5 * Y) + ca4 * z4
    P4 = T.p - size.d5 * z4
    P3 = P4 - size.d4 * z3
    plan3, plan4 = P3[0] ** 2 + P3[1] ** 2, P4[0] ** 2 + P4[1] ** 2
    outer = plan3 > plan4
    hx, hy = either(outer, P3[0], P4[0]), either(outer, P3[1], P4[1])
    h2 = either(outer, plan3, plan4)
    free1 = h2 <= (on_axis * size.scale) ** 2
    inverse = 1.0 / sqrt(either(free1, 1.0, h2))
    c1 = either(free1, casadi.cos(seed[0]), hx * inverse)
    s1 = either(free1, casadi.sin(seed[0]), hy * inverse)
    level, front = z3[0] * c1 + z3[1] * s1, P3[0] * c1 + P3[1] * s1
    x3z4 = -z3[2] * (z4[0] * c1 + z4[1] * s1) + level * z4[2]
    y3z4 = s1 * z4[0] - c1 * z4[1]
    turn = 1.0 if sa4 > 0 else -1.0
    theta1, theta2 = atan2(s1, c1), atan2(P3[2], front)
    theta3 = theta2 - atan2(level, -z3[2])
    theta4 = atan2(turn * x3z4, -turn * y3z4)
    theta5, theta6 = atan2(s5, c5), atan2(s6, c6)
    kind = either(free1, CONTINUUM, either(double, TANGENT, ISOLATED))
    multiplicity = either(double, 2, 1)
    mirror = (theta1 + np.pi, np.pi - theta2, np.pi - theta3, theta4 + np.pi, theta5, theta6)
    first = Candidate((theta1, theta2, theta3, theta4, theta5, theta6), exists, kind, multiplicity)
    return Proposal([first, Candidate(mirror, exists, kind, multiplicity)])


def uprights(size: Dimensions, T: Transform) -> list[SX]:
    """Pairs for `solve`: postures with both arms on axis 1, stretched or folded,
    where theta1 is free.

        z3 = +-z0,   P4 = (0, 0, +-a2) + d4 z3,   z4 = (P5 - P4) / d5,   |z4| = 1,   z4 . z6 = c_a5,   z4 . z3 = c_a4

    As roots of `polynomial` they are multiple ones, known to few digits.
    """
    L = size.scale
    sa4, ca4, sa5, ca5 = (f(x) for x in (size.alpha4, size.alpha5) for f in (exact_sin, exact_cos))
    x6, y6, z6 = T.R[:, 0], T.R[:, 1], T.R[:, 2]
    pairs = []
    for up in (1, -1):
        for on in (1, -1):
            z3 = SX(casadi.DM([0, 0, on]))
            z4 = (T.p - casadi.vertcat(0, 0, up * size.a2 + on * size.d4)) / size.d5
            off = fabs(sqrt(casadi.sumsqr(z4)) - 1.0) * abs(size.d5) / L
            lean = fmax(fabs(casadi.dot(z4, z6) - ca5), fabs(casadi.dot(z4, z3) - ca4))
            c6, s6 = direction(casadi.dot(z4, y6) / sa5, casadi.dot(z4, x6) / sa5)
            x5, Y = c6 * x6 - s6 * y6, ca5 * (s6 * x6 + c6 * y6) - sa5 * z6
            y4 = (z3 - ca4 * z4) / sa4
            c5, s5 = direction(casadi.dot(y4, Y), casadi.dot(y4, x5))
            exists = both(off < UPRIGHT, lean < UPRIGHT)
            pairs.append(casadi.vertcat(c5, s5, c6, s6, exists, 1))
    return pairs


def determinant(size: Dimensions, theta: SX) -> SX:
    """det J [m^3] of an arm with right-angled wrist (alpha4 = -90, alpha5 = 90 deg),
    canonical axes, linear on top.

    a2 [ r4 s5 (d4 c3 - d5 s3 s4) - a2 d5 c2 c3 s4 c4 c5 ],    r4 = a2 c2 + d4 sin(theta2 - theta3)
    """
    s, c = [casadi.sin(theta[k]) for k in range(6)], [casadi.cos(theta[k]) for k in range(6)]
    r4 = size.a2 * c[1] + size.d4 * casadi.sin(theta[1] - theta[2])
    return size.a2 * (
        r4 * s[4] * (size.d4 * c[2] - size.d5 * s[2] * s[3])
        - size.a2 * size.d5 * c[1] * c[2] * s[3] * c[3] * c[4]
    )


CERTAIN = wrist_angles.Trial(1.0, 1e-14, 2, False)
EXACT, NOMINAL = wrist_angles.Trial(1e-2, 1e-12, 3, False), wrist_angles.Trial(0.15, 1e-6, 6, True)
STANDING = (1, 2, 4, 5)
"""The angles that theta1 does not change where both arms stand on axis 1;
theta4 turns back what theta1 turns."""
CHUNK = 4096
"""Targets solved at once: what passes between the kernels then stays in the cache."""


class Asked(NamedTuple):
    """What targets (N, 4, 4) ask for: both constraints (N, 3, 3) and the coefficients (N, 5, 2) of
    their polynomial.

    distance (N,): of the wrist from the shoulder [m]; defect (N,): how far the target is from a
    rigid motion.
    """

    plane: np.ndarray
    length: np.ndarray
    coefficients: np.ndarray
    distance: np.ndarray
    defect: np.ndarray


class OffsetWrist(Family):
    name = "offset_wrist"
    title = "offset wrist: FANUC CRX type, axes 4-5 and 5-6 meet in two points"
    axes, rank, geometry = 6, 21, Geometry(recognise, canonical, refused=_refused)
    slots = 2 * ROOTS
    size: Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        rows = self._none(len(target))
        left = np.arange(len(target))
        if self.exact:
            done = [self._quick(rows.part(w), target[w], _own(q0, w)) for w in _chunks(len(target))]
            left = np.flatnonzero(~np.concatenate([np.zeros(0, dtype=bool), *done]))
        if len(left):
            rows.put(left, self._careful(target[left], _own(q0, left)))
        if self.exact and len(left):
            self._stand(rows, left, target, q0)
        return rows

    def _stand(self, rows: Rows, left: np.ndarray, target: np.ndarray, q0: np.ndarray) -> None:
        """Put postures with both arms on axis 1, of which there are infinitely many,
        in the place of what is near them.

        They are multiple roots, so `left` has them all.
        """
        goal = np.ascontiguousarray(target[left])
        starts = np.ascontiguousarray(np.broadcast_to(_own(q0, left), (len(left), 6)))
        some = Rows(*self.kernel_of("offset_wrist_uprights")(goal, starts))
        stands = np.flatnonzero((some.state > 0).any(axis=1))
        if not len(stands):
            return
        where, some = left[stands], Rows(*(getattr(some, name)[stands] for name in vars(some)))
        angles = [5 - k for k in STANDING] if self.canonical.backward else list(STANDING)
        turns = rows.q[where][:, :, None, angles] - some.q[:, None, :, angles]
        near = (np.abs((turns + np.pi) % (2 * np.pi) - np.pi) < wrist_angles.CROWD).all(axis=-1)
        repeated = (near & (some.state[:, None] > 0)).any(axis=-1)
        rows.state[where] = np.where(repeated, 0.0, rows.state[where])
        merge(rows, some, where)

    def _none(self, targets: int) -> Rows:
        """No row yet; with twice the room for a nominal arm, whose complex roots are tried too."""
        return Rows.none(targets, self.slots if self.exact else 2 * self.slots, 6, 1)

    def polish(self, proposed: Rows, target: np.ndarray) -> Rows:
        return super().polish(proposed, target).first(self.slots)

    def _quick(self, rows: Rows, target: np.ndarray, q0: np.ndarray) -> np.ndarray:
        """Put the rows of some targets into `rows`; gives which of them are complete,
        each root proven to be alone."""
        known, roots, unclear, distance, defect = self.kernel_of("offset_wrist_sampled")(target)
        rows.distances[:, 0], rows.defect[:] = distance, defect
        row, at = crossings.bins(roots)
        middle = crossings.COARSE.take(at, axis=0)
        done = np.ones(len(target), dtype=bool)
        open_row, open_at = crossings.bins(unclear)
        if len(open_row):
            words, undecided = wrist_kernels.cut()(
                known.take(open_row, axis=0), crossings.COARSE.take(open_at, axis=0)
            )
            done[open_row[undecided > 0]] = False
            of, part = crossings.fine_bins(words)
            row = np.concatenate([row, open_row[of]])
            more = crossings.FINE.take(open_at[of] * crossings.CUTS + part, axis=0)
            order = np.argsort(row, kind="stable")
            order = order[done[row[order]]]
            row, middle = row[order], np.concatenate([middle, more]).take(order, axis=0)
        if not len(row):
            return done
        starts = np.repeat(q0[None], len(row), axis=0) if q0.ndim == 1 else q0.take(row, axis=0)
        postures = self.kernel_of("offset_wrist_root")
        q, state, residual, _, _ = postures(
            target.take(row, axis=0), starts, known.take(row, axis=0), middle
        )
        done[row[(state == 0.0).any(axis=1)]] = False
        self._scatter(rows, row, q, state, residual)
        return done

    def _scatter(self, rows: Rows, row: np.ndarray, *pairs: np.ndarray) -> None:
        """Both postures of each pair (q, state, residual), in order of their targets,
        into the first slots of these."""
        room = rows.state.shape[1] // 2
        counts = np.bincount(row, minlength=len(rows.state))
        rank = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        if counts.max(initial=0) > room:
            few = rank < room
            row, rank, pairs = row[few], rank[few], tuple(x[few] for x in pairs)
        slot = row * room + rank
        for whole, part in zip((rows.q, rows.state, rows.residual), pairs, strict=True):
            whole.reshape(len(rows.state) * room, -1)[slot] = part.reshape(len(row), -1)

    def _careful(self, target: np.ndarray, q0: np.ndarray) -> Rows:
        """Rows from all roots, complex ones too: the arm decides which are double,
        or real but for rounding."""
        rows = self._none(len(target))
        doubtful = [self._fill(rows.part(w), target[w], _own(q0, w)) for w in _chunks(len(target))]
        some = np.flatnonzero(np.concatenate(doubtful))
        if len(some):
            # what lies beside a singular row found again is that row,
            # from a root which rounding has moved
            again = self._from_means(target[some], _own(q0, some))
            singular = again.state % 4 > ISOLATED
            merge(rows, again, some, np.where(singular, wrist_angles.CROWD, wrist_angles.SAME))
        return rows

    def _fill(self, rows: Rows, target: np.ndarray, q0: np.ndarray) -> np.ndarray:
        """Put the rows of some targets into `rows`; gives which of them may have multiple roots."""
        asked = self.asked(target)
        roots, void = self._pinned(asked.coefficients, trigonometric_roots(asked.coefficients), q0)
        tried = self._tried(asked, roots, q0)
        self._put(rows, target, q0, asked, tried)
        if void.any():
            np.copyto(rows.state, CONTINUUM + 4.0, where=void[:, None] & (rows.state > 0))
        if not self.exact:
            return np.zeros(len(target), dtype=bool)
        self._settle(rows, target)
        return (wrist_kernels.crowds()(roots, tried)[1] > 0) & ~void

    def _tried(self, asked: Asked, roots: np.ndarray, q0: np.ndarray) -> np.ndarray:
        """(N, 16, 6): what the roots lead to."""
        seed = self._seed(q0, 4)
        trial = wrist_kernels.tried(EXACT if self.exact else NOMINAL)
        plane, length = asked.plane[:, None], asked.length[:, None]
        starts = trial(plane, length, roots, seed if seed.ndim == 0 else seed[:, None])
        return starts.reshape(len(roots), 2 * ROOTS, 6)

    def _put(
        self, rows: Rows, target: np.ndarray, q0: np.ndarray, asked: Asked, tried: np.ndarray
    ) -> None:
        """Both postures of everything tried that is kept, into the first slots of its target."""
        rows.distances[:, 0], rows.defect[:] = asked.distance, asked.defect
        at = np.flatnonzero(wrist_kernels.kept()(tried) > 0.0)
        if not len(at):
            return
        row = at // (2 * ROOTS)
        pairs = tried.reshape(-1, 6).take(at, axis=0)
        pairs[:, 4] = 1.0
        starts = np.repeat(q0[None], len(row), axis=0) if q0.ndim == 1 else q0.take(row, axis=0)
        q, state, residual, _, _ = self.kernel_of("offset_wrist_pair")(
            target.take(row, axis=0), starts, pairs
        )
        self._scatter(rows, row, q, state, residual)

    def _from_means(self, target: np.ndarray, q0: np.ndarray) -> Rows:
        """Rows from the means of crowded roots, taken as nominal ones and polished on the arm
        itself."""
        loose = replace(self, exact=False)
        asked = self.asked(target)
        roots = trigonometric_roots(asked.coefficients)
        means = wrist_kernels.crowds()(roots, self._tried(asked, roots, q0))[0]
        rows = loose._none(len(target))
        loose._put(rows, target, q0, asked, loose._tried(asked, means, q0))
        return loose.polish(rows, target)

    def _settle(self, rows: Rows, target: np.ndarray) -> None:
        """Decide on the true arm about rows whose constraints are nearly singular."""
        doubled = rows.state == TANGENT + 8.0
        some = np.flatnonzero(doubled.any(axis=1))
        if len(some):
            tangent = np.where(doubled[some], rows.state[some], 0.0)
            decided = kinds(self.subject, self.chain, rows.q[some], target[some], tangent)
            rows.state[some] = np.where(doubled[some], decided, rows.state[some])

    def traced(self, goal: Transform, q0: SX, pair: SX) -> Proposal:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        on_axis = FREE if self.exact else 1e-4
        return self.canonical.rows(solve(self.size, T, seed, pair, on_axis))

    def traced_uprights(self, goal: Transform, q0: SX) -> Proposal:
        """Postures with both arms on axis 1."""
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        pairs = uprights(self.size, T)
        rows = [row for pair in pairs for row in solve(self.size, T, seed, pair, 1e-8).rows]
        return self.canonical.rows(Proposal(rows))

    def traced_root(self, goal: Transform, q0: SX, known: SX, middle: SX) -> Proposal:
        """Both postures of a root, from the constraints with polynomial and the middle of its
        bin."""
        plane, length, f = wrist_angles.parts(known)
        return self.traced(goal, q0, wrist_angles.at_crossing(plane, length, f, middle, CERTAIN))

    def sampled(self, target: SX) -> tuple[SX, ...]:
        """Constraints with polynomial (28,), bins with roots (2,), open ones (2,),
        distance and defect of a target."""
        goal, defect = orthonormal(target)
        T = self.canonical.goal(goal)
        f = wrist_angles.polynomial(self.size, T)
        known = wrist_angles.joined(*wrist_angles.constraints(self.size, T), f)
        return known, *crossings.crossings(f), sqrt(sumsqr(T.p)), defect

    def constraints(self, target: SX) -> tuple[SX, ...]:
        """What `Asked` has, of a target."""
        goal, defect = orthonormal(target)
        T = self.canonical.goal(goal)
        p, q = wrist_angles.constraints(self.size, T)
        f = wrist_angles.polynomial(self.size, T).pairs()
        return wrist_angles.packed(p), wrist_angles.packed(q), f, sqrt(sumsqr(T.p)), defect

    def asked(self, target: np.ndarray) -> Asked:
        """The constraints of targets (N, 4, 4)."""
        return Asked(*self.kernel_of("offset_wrist_constraints")(target))

    def _pinned(
        self, coefficients: np.ndarray, z: np.ndarray, q0: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Roots with theta6 at the seed where the polynomial vanishes altogether:
        there the arm moves within itself."""
        void = np.abs(coefficients).max(axis=(-1, -2)) < VOID
        if void.any():
            seed = self._seed(q0, 5)
            pinned = np.zeros_like(z)
            pinned[:, 0] = np.stack([np.cos(seed), np.sin(seed)], axis=-1)
            z = np.where(void[:, None, None], pinned, z)
        return z, void

    def _seed(self, q0: np.ndarray, k: int) -> np.ndarray:
        placed = self.canonical.placed
        return placed.sign[k] * q0[..., k] + placed.offset[k]

    def reason(self, distances: np.ndarray) -> str:
        far, longest = float(distances[0]), self.size.scale
        if far > longest:
            return (
                f"out of reach: wrist {far:.4g} m from the shoulder, the arm is {longest:.4g} "
                "m long"
            )
        return (
            "out of reach: no angles of axes 5 and 6 give both arms their lengths in one plane "
            "with axis 1"
        )

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]] | None:
        right = np.allclose(
            (self.size.alpha4, self.size.alpha5), (-np.pi / 2, np.pi / 2), atol=1e-12
        )
        return (determinant(self.size, theta), {}) if right else None


def _own(q0: np.ndarray, where: slice | np.ndarray) -> np.ndarray:
    """The seeds (n,) of all targets, or those of some of (N, n)."""
    return q0 if q0.ndim == 1 else q0[where]


def _chunks(count: int) -> list[slice]:
    return [slice(begin, begin + CHUNK) for begin in range(0, count, CHUNK)]
