"""Solver of the offset-wrist family."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from casadi import SX, sqrt, sumsqr

from linkwork.engine.compile import compile as compile_function
from linkwork.engine.kernel import Kernel
from linkwork.inverse.analytic import crossings, offset_wrist
from linkwork.inverse.analytic.angles import FREE
from linkwork.inverse.analytic.candidates import CONTINUUM, ISOLATED, TANGENT, Found, Layout, orthonormal
from linkwork.inverse.analytic.family import Family, Rows, Shapes, merge
from linkwork.inverse.analytic.offset_wrist import ROOTS
from linkwork.inverse.analytic.polish import kinds
from linkwork.inverse.analytic.roots import trigonometric_roots
from linkwork.spatial import Transform

CERTAIN = offset_wrist.Trial(1.0, 1e-14, 2, False)
EXACT, NOMINAL = offset_wrist.Trial(1e-2, 1e-12, 3, False), offset_wrist.Trial(0.15, 1e-6, 6, True)
STANDING = (1, 2, 4, 5)
"""The angles that theta1 does not change where both arms stand on axis 1; theta4 turns back what theta1 turns."""
CHUNK = 4096
"""Targets solved at once: what passes between the kernels then stays in the cache."""


class Asked(NamedTuple):
    """What targets (N, 4, 4) ask for: both constraints (N, 3, 3) and the coefficients (N, 5, 2) of their polynomial.

    distance (N,): of the wrist from the shoulder [m]; defect (N,): how far the target is from a rigid motion.
    """

    plane: np.ndarray
    length: np.ndarray
    coefficients: np.ndarray
    distance: np.ndarray
    defect: np.ndarray


class OffsetWrist(Family):
    name, title = "offset_wrist", "offset wrist: FANUC CRX type, axes 4-5 and 5-6 meet in two points"
    slots = 2 * ROOTS
    size: offset_wrist.Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        found = self._none(len(target))
        left = np.arange(len(target))
        if self.exact:
            done = [self._quick(found.part(w), target[w], _own(q0, w)) for w in _chunks(len(target))]
            left = np.flatnonzero(~np.concatenate([np.zeros(0, dtype=bool), *done]))
        if len(left):
            found.put(left, self._careful(target[left], _own(q0, left)))
        if self.exact and len(left):
            self._stand(found, left, target, q0)
        return found

    def _stand(self, found: Rows, left: np.ndarray, target: np.ndarray, q0: np.ndarray) -> None:
        """Put postures with both arms on axis 1, of which there are infinitely many, in the place of what is near them.

        They are multiple roots, so `left` has them all.
        """
        goal = np.ascontiguousarray(target[left])
        own = np.ascontiguousarray(np.broadcast_to(_own(q0, left), (len(left), 6)))
        some = Rows(*self.of_uprights(goal, own))
        stands = np.flatnonzero((some.state > 0).any(axis=1))
        if not len(stands):
            return
        where, some = left[stands], Rows(*(getattr(some, name)[stands] for name in vars(some)))
        angles = [5 - k for k in STANDING] if self.canonical.backward else list(STANDING)
        turns = found.q[where][:, :, None, angles] - some.q[:, None, :, angles]
        near = (np.abs((turns + np.pi) % (2 * np.pi) - np.pi) < offset_wrist.CROWD).all(axis=-1)
        repeated = (near & (some.state[:, None] > 0)).any(axis=-1)
        found.state[where] = np.where(repeated, 0.0, found.state[where])
        merge(found, some, where)

    def _none(self, targets: int) -> Rows:
        """No row yet; with twice the room for a nominal arm, whose complex roots are tried too."""
        return Rows.none(targets, self.slots if self.exact else 2 * self.slots, 6, 1)

    def polish(self, found: Rows, target: np.ndarray) -> Rows:
        return super().polish(found, target).first(self.slots)

    def _quick(self, found: Rows, target: np.ndarray, q0: np.ndarray) -> np.ndarray:
        """Put the rows of some targets into `found`; gives which of them are complete, each root proven to be alone."""
        known, roots, unclear, distance, defect = self.sampled()(target)
        found.distances[:, 0], found.defect[:] = distance, defect
        row, at = crossings.bins(roots)
        middle = crossings.COARSE.take(at, axis=0)
        done = np.ones(len(target), dtype=bool)
        open_row, open_at = crossings.bins(unclear)
        if len(open_row):
            words, undecided = _cut()(known.take(open_row, axis=0), crossings.COARSE.take(open_at, axis=0))
            done[open_row[undecided > 0]] = False
            of, part = crossings.fine_bins(words)
            row = np.concatenate([row, open_row[of]])
            more = crossings.FINE.take(open_at[of] * crossings.CUTS + part, axis=0)
            order = np.argsort(row, kind="stable")
            order = order[done[row[order]]]
            row, middle = row[order], np.concatenate([middle, more]).take(order, axis=0)
        if not len(row):
            return done
        own = np.repeat(q0[None], len(row), axis=0) if q0.ndim == 1 else q0.take(row, axis=0)
        q, state, residual, _, _ = self.of_roots(target.take(row, axis=0), own, known.take(row, axis=0), middle)
        done[row[(state == 0.0).any(axis=1)]] = False
        self._scatter(found, row, q, state, residual)
        return done

    def _scatter(self, found: Rows, row: np.ndarray, *pairs: np.ndarray) -> None:
        """Both postures of each pair (q, state, residual), in order of their targets, into the first slots of these."""
        room = found.state.shape[1] // 2
        counts = np.bincount(row, minlength=len(found.state))
        rank = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        if counts.max(initial=0) > room:
            few = rank < room
            row, rank, pairs = row[few], rank[few], tuple(x[few] for x in pairs)
        slot = row * room + rank
        for whole, part in zip((found.q, found.state, found.residual), pairs, strict=True):
            whole.reshape(len(found.state) * room, -1)[slot] = part.reshape(len(row), -1)

    def _careful(self, target: np.ndarray, q0: np.ndarray) -> Rows:
        """Rows from all roots, complex ones too: the arm decides which are double, or real but for rounding."""
        found = self._none(len(target))
        doubtful = [self._fill(found.part(w), target[w], _own(q0, w)) for w in _chunks(len(target))]
        some = np.flatnonzero(np.concatenate(doubtful))
        if len(some):
            # what lies beside a singular row found again is that row, from a root which rounding has moved
            again = self._from_means(target[some], _own(q0, some))
            merge(found, again, some, np.where(again.state % 4 > ISOLATED, offset_wrist.CROWD, offset_wrist.SAME))
        return found

    def _fill(self, found: Rows, target: np.ndarray, q0: np.ndarray) -> np.ndarray:
        """Put the rows of some targets into `found`; gives which of them may have multiple roots."""
        asked = Asked(*self.constraints()(target))
        roots, void = self._pinned(asked.coefficients, trigonometric_roots(asked.coefficients), q0)
        tried = self._tried(asked, roots, q0)
        self._put(found, target, q0, asked, tried)
        if void.any():
            np.copyto(found.state, CONTINUUM + 4.0, where=void[:, None] & (found.state > 0))
        if not self.exact:
            return np.zeros(len(target), dtype=bool)
        self._settle(found, target)
        return (_crowds()(roots, tried)[1] > 0) & ~void

    def _tried(self, asked: Asked, roots: np.ndarray, q0: np.ndarray) -> np.ndarray:
        """(N, 16, 6): what the roots lead to."""
        seed = self._seed(q0, 4)
        trial = _tried(EXACT if self.exact else NOMINAL)
        plane, length = asked.plane[:, None], asked.length[:, None]
        found = trial(plane, length, roots, seed if seed.ndim == 0 else seed[:, None])
        return found.reshape(len(roots), 2 * ROOTS, 6)

    def _put(self, found: Rows, target: np.ndarray, q0: np.ndarray, asked: Asked, tried: np.ndarray) -> None:
        """Both postures of everything tried that is kept, into the first slots of its target."""
        found.distances[:, 0], found.defect[:] = asked.distance, asked.defect
        at = np.flatnonzero(_kept()(tried) > 0.0)
        if not len(at):
            return
        row = at // (2 * ROOTS)
        pairs = tried.reshape(-1, 6).take(at, axis=0)
        pairs[:, 4] = 1.0
        own = np.repeat(q0[None], len(row), axis=0) if q0.ndim == 1 else q0.take(row, axis=0)
        q, state, residual, _, _ = self.of_pairs(target.take(row, axis=0), own, pairs)
        self._scatter(found, row, q, state, residual)

    def _from_means(self, target: np.ndarray, q0: np.ndarray) -> Rows:
        """Rows from the means of crowded roots, taken as nominal ones and polished on the arm itself."""
        loose = replace(self, exact=False)
        asked = Asked(*self.constraints()(target))
        roots = trigonometric_roots(asked.coefficients)
        means = _crowds()(roots, self._tried(asked, roots, q0))[0]
        found = loose._none(len(target))
        loose._put(found, target, q0, asked, loose._tried(asked, means, q0))
        return loose.polish(found, target)

    def _settle(self, found: Rows, target: np.ndarray) -> None:
        """Decide on the true arm about rows whose constraints are nearly singular."""
        doubled = found.state == TANGENT + 8.0
        some = np.flatnonzero(doubled.any(axis=1))
        if len(some):
            tangent = np.where(doubled[some], found.state[some], 0.0)
            decided = kinds(self.subject, self.chain, found.q[some], target[some], tangent)
            found.state[some] = np.where(doubled[some], decided, found.state[some])

    def traced(self, goal: Transform, q0: SX, pair: SX) -> Found:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        on_axis = FREE if self.exact else 1e-4
        return self.canonical.rows(offset_wrist.solve(self.size, T, seed, pair, on_axis))

    @functools.cached_property
    def of_roots(self) -> Kernel:
        """target, q0, constraints with polynomial, middle of a bin -> both postures of its root."""
        return self.rows_kernel(Layout(2, 0, (("known", (28,)), ("middle", (3,)))), self.traced_root)

    @functools.cached_property
    def of_uprights(self) -> Kernel:
        """target, q0 -> postures with both arms on axis 1."""
        return self.rows_kernel(Layout(8), self.traced_uprights)

    def traced_uprights(self, goal: Transform, q0: SX) -> Found:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        pairs = offset_wrist.uprights(self.size, T)
        rows = [row for pair in pairs for row in offset_wrist.solve(self.size, T, seed, pair, 1e-8).rows]
        return self.canonical.rows(Found(rows))

    @functools.cached_property
    def of_pairs(self) -> Kernel:
        """target, q0, a row of what was tried -> both postures of it."""
        return self.rows_kernel(Layout(2, 0, (("pair", (6,)),)), self.traced)

    def traced_root(self, goal: Transform, q0: SX, known: SX, middle: SX) -> Found:
        plane, length, f = offset_wrist.parts(known)
        return self.traced(goal, q0, offset_wrist.at_crossing(plane, length, f, middle, CERTAIN))

    def sampled(self) -> Kernel:
        """target -> constraints with polynomial (28,), bins with roots (2,), open ones (2,), distance and defect."""

        def trace(target: SX) -> tuple[SX, ...]:
            goal, defect = orthonormal(target)
            T = self.canonical.goal(goal)
            f = offset_wrist.polynomial(self.size, T)
            known = offset_wrist.joined(*offset_wrist.constraints(self.size, T), f)
            return known, *crossings.crossings(f), sqrt(sumsqr(T.p)), defect

        outputs: Shapes = (("known", (28,)), ("roots", (2,)), ("unclear", (2,)), ("distance", ()), ("defect", ()))
        return self.side_kernel("sampled", (("target", (4, 4)),), outputs, trace)

    def constraints(self) -> Kernel:
        """target -> `Asked`."""

        def trace(target: SX) -> tuple[SX, ...]:
            goal, defect = orthonormal(target)
            T = self.canonical.goal(goal)
            p, q = offset_wrist.constraints(self.size, T)
            f = offset_wrist.polynomial(self.size, T).pairs()
            return offset_wrist.packed(p), offset_wrist.packed(q), f, sqrt(sumsqr(T.p)), defect

        outputs: Shapes = (("plane", (3, 3)), ("length", (3, 3)), ("coefficients", (ROOTS // 2 + 1, 2)))
        outputs = (*outputs, ("distance", ()), ("defect", ()))
        return self.side_kernel("constraints", (("target", (4, 4)),), outputs, trace)

    def _pinned(self, coefficients: np.ndarray, z: np.ndarray, q0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roots with theta6 at the seed where the polynomial vanishes altogether: there the arm moves within itself."""
        void = np.abs(coefficients).max(axis=(-1, -2)) < offset_wrist.VOID
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
            return f"out of reach: wrist {far:.4g} m from the shoulder, the arm is {longest:.4g} m long"
        return "out of reach: no angles of axes 5 and 6 give both arms their lengths in one plane with axis 1"

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]] | None:
        right = np.allclose((self.size.alpha4, self.size.alpha5), (-np.pi / 2, np.pi / 2), atol=1e-12)
        return (offset_wrist.determinant(self.size, theta), {}) if right else None


def _own(q0: np.ndarray, where: slice | np.ndarray) -> np.ndarray:
    """The seeds (n,) of all targets, or those of some of (N, n)."""
    return q0 if q0.ndim == 1 else q0[where]


def _chunks(count: int) -> list[slice]:
    return [slice(begin, begin + CHUNK) for begin in range(0, count, CHUNK)]


# Kernels that know no robot are shared by all.


@functools.cache
def _cut() -> Kernel:
    """Both constraints with their polynomial, the middle of an open bin -> its roots; see crossings.cut."""

    def trace(known: SX, middle: SX) -> tuple[SX, SX]:
        return crossings.cut(offset_wrist.parts(known)[2], middle)

    return compile_function(trace, {"known": 28, "middle": 3}, "cut")


@functools.cache
def _tried(trial: offset_wrist.Trial) -> Kernel:
    """Both constraints and one root -> what it leads to; see offset_wrist.tried."""

    def trace(p: SX, q: SX, z: SX, seed: SX) -> SX:
        return offset_wrist.tried(offset_wrist.unpacked(p), offset_wrist.unpacked(q), z, seed, trial)

    return compile_function(trace, {"plane": (3, 3), "length": (3, 3), "root": 2, "seed": ()}, "tried")


@functools.cache
def _kept() -> Kernel:
    """All that was tried -> which are kept; see offset_wrist.kept."""
    return compile_function(offset_wrist.kept, {"tried": (2 * ROOTS, 6)}, "kept")


@functools.cache
def _crowds() -> Kernel:
    """Roots and what they led to -> means of crowds, and whether a multiple root is likely."""
    return compile_function(offset_wrist.crowds, {"roots": (ROOTS, 2), "tried": (2 * ROOTS, 6)}, "crowds")
