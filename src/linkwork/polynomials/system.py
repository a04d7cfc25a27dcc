"""System: polynomial equations over the complex numbers, with parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from linkwork import deadlines
from linkwork.engine import keys, machine
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.scan import Scan
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.polynomials import monodromy, tracking
from linkwork.polynomials.fingerprints import Symmetry, collisions
from linkwork.polynomials.starts import Starts
from linkwork.results import short_repr

MOST_STEPS = 40_000
MOST_LOOPS = 10**6
FIRST_STEP = 0.05
TIGHTER = (1.0, 0.2, 5.0, 1e-2)
"""Goals of the step length [of the usual one]: paths that failed or met another are tracked again
with the next; the third one is loose, for paths that pass so far out that rounding is more than the
usual goal."""
REASONS = np.array(
    ["", "the path did not arrive", "the path met another one", "the start does not fit"]
)


@short_repr
@dataclass(frozen=True)
class Solutions(Tabular, rows="success"):
    """Ends of the paths for every member of a batch.

    x           (..., k, n) complex, at the place of the start; of a path that failed, where it
                stood
    success     (..., k): arrived, and at no other path's solution
    reason      (..., k): why not, or ""
    residual    (..., k): size of the last correction, relative to each unknown
    condition   (..., k): of the Jacobian with columns and rows scaled to one
    """

    x: np.ndarray
    success: np.ndarray
    reason: np.ndarray
    residual: np.ndarray
    condition: np.ndarray


class System:
    """`equations(x, p)` gives as many expressions as there are unknowns;
    x and p are lists of `Complex`.

    unknowns and parameters are numbers or lists of names. The equations are polynomial in x, or
    rational, like u and 1/u of a rotation. A `key` (engine/keys.py) names everything that the
    equations depend on: kept code then needs no tracing. Equations from outside linkwork are keyed
    by what was traced.
    """

    def __init__(
        self,
        equations: tracking.Equations,
        unknowns: int | Sequence[str],
        parameters: int | Sequence[str],
        name: str,
        key: str | None = None,
    ) -> None:
        self.equations, self.name, self.key = equations, name, key
        self.n, self.m = (x if isinstance(x, int) else len(x) for x in (unknowns, parameters))
        if self.n < 1:
            raise InvalidInput(f"System {name!r}: there are no unknowns")

    def __repr__(self) -> str:
        return f"<System {self.name}: {self.n} equations, {self.m} parameters>"

    @functools.cached_property
    def tracker(self) -> Scan:
        """The scan that follows paths."""
        return tracking.tracker(self.equations, self.n, self.m, f"{self.name}.solve", self.key)

    @functools.cached_property
    def evaluation(self) -> Kernel:
        """The kernel (x (n, 2), p (m, 2)) -> residuals (n, 2), Jacobian (n, 2 n): real parts,
        then imaginary ones."""

        def trace() -> casadi.Function:
            x, p, f, J = tracking.residual_and_jacobian(self.equations, self.n, self.m)
            values = casadi.vertcat(*[casadi.horzcat(e.re, e.im) for e in f])
            real = casadi.vertcat(
                *[casadi.horzcat(*[0 if e is None else e.re for e in row]) for row in J]
            )
            imaginary = casadi.vertcat(
                *[casadi.horzcat(*[0 if e is None else e.im for e in row]) for row in J]
            )
            jacobian = casadi.horzcat(real, imaginary)
            return casadi.Function("evaluation", [x, p], [values, jacobian], {"cse": True})

        inputs = (("x", (self.n, 2)), ("p", (self.m, 2)))
        outputs = (("f", (self.n, 2)), ("J", (self.n, 2 * self.n)))
        key = None if self.key is None else keys.key("evaluation", self.key)
        return Kernel(Signature(f"{self.name}.evaluation", inputs, outputs), trace, key)

    def evaluate(self, x: Any, p: Any) -> tuple[np.ndarray, np.ndarray]:
        """(f (..., n), J (..., n, n)) at x (..., n) with the parameters p (..., m)."""
        f, J = self.evaluation(_split(x), _split(p))
        return f[..., 0] + 1j * f[..., 1], J[..., : self.n] + 1j * J[..., self.n :]

    def corrections(self, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(size of Newton's step relative to each unknown, condition of the scaled Jacobian),
        both (...,)."""
        f, J = self.evaluate(x, p)
        scale = np.abs(x) + tracking.FLOOR
        A = J * scale[..., None, :]
        size = np.abs(A).max(axis=-1)
        rows = np.where(size > 0, size, 1.0)
        A, b = A / rows[..., None], f / rows
        U, s, Vh = np.linalg.svd(A)
        floor = np.maximum(s, 1e-300)
        y = np.einsum("...ji,...j->...i", U.conj(), b) / floor
        step = np.einsum("...ji,...j->...i", Vh.conj(), y)
        return np.abs(step).max(axis=-1), s[..., 0] / floor[..., -1]

    def solve(
        self, p: Any, starts: Starts, symmetry: Symmetry | None = None, conditions: bool = True
    ) -> Solutions:
        """Follow all start solutions to the parameters p (..., m);
        without `conditions` the last two are left NaN.

        symmetry: (x, p) -> (..., s, n), the solutions that come with each one, itself first.
        """
        goal = self._parameters(p)
        batch, rows = goal.shape[:-1], goal.reshape(-1, self.m)
        self._check_starts(starts)
        x, end = self._follow(rows, starts.parameters, starts.solutions[None], 0)
        met = collisions(x, rows, end, symmetry)
        for attempt in range(1, len(TIGHTER)):
            bad = ~end | met
            if not bad.any():
                break
            task, path = np.nonzero(bad)
            other = starts.solutions[path]
            if symmetry is not None:
                orbit = symmetry(other, starts.parameters)
                other = orbit[:, attempt % orbit.shape[1]]
            again, fine = self._follow(rows[task], starts.parameters, other[:, None], attempt)
            x[task[fine[:, 0]], path[fine[:, 0]]] = again[fine[:, 0], 0]
            end[task, path] |= fine[:, 0]
            met = collisions(x, rows, end, symmetry)
        met &= end
        residual = condition = np.full(end.shape, np.nan)
        if conditions:
            residual, condition = self.corrections(x, rows[:, None, :])
        reason = REASONS[np.where(end, np.where(met, 2, 0), 1)]
        shaped = (
            values.reshape(*batch, *values.shape[1:])
            for values in (x, end & ~met, reason, residual, condition)
        )
        return Solutions(*shaped)

    def prepare(self) -> System:
        """Compile, or load from the cache, what `solve` runs."""
        self.tracker.prepare(machine.widths()[0])
        return self

    def track(
        self, start: np.ndarray, goal: np.ndarray, x: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(ends (k, n), arrived (k,)) of paths from the solutions x (k, n) at `start` (m,) to
        `goal` (m,)."""
        start, goal = self._parameters(start), self._parameters(goal)
        x = np.asarray(x, dtype=complex)
        if start.ndim != 1 or goal.ndim != 1 or x.ndim != 2 or x.shape[1] != self.n:
            shapes = f"start {start.shape}, goal {goal.shape}, x {x.shape}"
            raise InvalidInput(
                f"{self.name}: {shapes}, expected ({self.m},), ({self.m},) and (k, {self.n})"
            )
        ends, arrived = self._follow(goal[None], start, x[None], 0)
        return ends[0], arrived[0]

    def monodromy(
        self,
        x: Any,
        p: Any,
        seed: int,
        symmetry: Symmetry | None = None,
        idle: int = 5,
        most_loops: int = 400,
        *,
        time_limit: float | None = None,
    ) -> Starts:
        """All solutions at a generic p (m,) that loops of the parameters join to x (n,) or (k, n);
        monodromy.py.

        idle         loops in a row that bring nothing new, after which the set counts as complete
        time_limit   seconds after which it ends with NotPossible; None: as long as it takes
        """
        least = deadlines.counted(idle, f"{self.name}: monodromy: idle", 1, MOST_LOOPS)
        most = deadlines.counted(most_loops, f"{self.name}: monodromy: most_loops", 1, MOST_LOOPS)
        known = np.atleast_2d(np.asarray(x, dtype=complex))
        with deadlines.time_limit(time_limit, f"{self.name}: monodromy"):
            return monodromy.explore(self, known, self._parameters(p), seed, symmetry, least, most)

    def _follow(
        self, goal: np.ndarray, start: np.ndarray, x: np.ndarray, attempt: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Paths of every goal (tasks, m) from every start x (tasks or 1, k, n):
        (ends (tasks, k, n), arrived)."""
        k, shape = x.shape[1], (len(goal), x.shape[1], self.n)
        begin = _split(np.broadcast_to(x, shape))
        run = self.tracker(
            x=begin,
            e=begin,
            total=np.zeros((self.n, 2)),
            t=0.0,
            h=FIRST_STEP,
            phase=0.0,
            size=1.0,
            goal_size=tracking.GOAL * TIGHTER[attempt],
            polished=0.0,
            end=tracking.RUNNING,
            start=_split(start),
            goal=np.broadcast_to(_split(goal)[:, None], (len(goal), k, self.m, 2)),
            steps=MOST_STEPS,
            # a single path, too: code of another width would take seconds to compile
            width=machine.widths()[0],
        )
        ends = np.ascontiguousarray(run.state["x"]).view(complex)[..., 0]
        return ends, (run.state["end"] == tracking.ARRIVING) & ~run.failed

    def _parameters(self, p: Any) -> np.ndarray:
        p = np.asarray(p)
        if p.dtype.kind not in "fiuc" or p.ndim < 1 or p.shape[-1] != self.m:
            raise InvalidInput(
                f"{self.name}: parameters have shape {p.shape}, expected (..., {self.m}) numbers"
            )
        if not np.isfinite(p).all():
            raise InvalidInput(f"{self.name}: parameters are not finite")
        return np.asarray(p, dtype=complex)

    def _check_starts(self, starts: Starts) -> None:
        if starts.solutions.shape[1] != self.n or starts.parameters.shape != (self.m,):
            raise InvalidInput(
                f"{self.name}: starts have {starts.solutions.shape[1]} unknowns and "
                f"{len(starts.parameters)} "
                f"parameters, expected {self.n} and {self.m}"
            )


def _split(x: Any) -> np.ndarray:
    """Complex (..., n) as real (..., n, 2)."""
    x = np.ascontiguousarray(x, dtype=complex)
    return x.view(float).reshape(*x.shape, 2)
