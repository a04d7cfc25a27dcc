"""Family: a robot recognised, with everything needed to solve for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from casadi import SX

from linkwork import configurations
from linkwork.engine.kernel import Kernel
from linkwork.inverse.analytic import ideal
from linkwork.inverse.analytic.angles import EXACT, SLACK, SPREADS, Margin
from linkwork.inverse.analytic.candidates import (
    ISOLATED,
    TOLERANCE,
    Canonical,
    Proposal,
    orthonormal,
)
from linkwork.inverse.analytic.denavit import Frames
from linkwork.inverse.analytic.polish import distinct, jacobian_kernel, kinds, polished
from linkwork.inverse.analytic.screws import Chain
from linkwork.once import Keeper
from linkwork.quantities import kernel_of
from linkwork.spatial import Transform
from linkwork.subject import Subject

SHORT = 256
"""Targets up to which a call's own overhead is most of its time."""


@dataclass
class Rows:
    """What a family finds for N targets, in M slots, for the n coordinates of the chain.

    q (N, M, n); state (N, M): kind + 4 multiplicity, 0 where there is no solution; residual (N, M)
    of true FK; distances (N, k) that explain an empty answer; defect (N,) of the targets.
    """

    q: np.ndarray
    state: np.ndarray
    residual: np.ndarray
    distances: np.ndarray
    defect: np.ndarray

    @staticmethod
    def none(targets: int, slots: int, joints: int, distances: int) -> Rows:
        """No row yet."""
        q = np.zeros((targets, slots, joints))
        state = np.zeros((targets, slots))
        residual = np.ones((targets, slots))
        return Rows(q, state, residual, np.zeros((targets, distances)), np.zeros(targets))

    def part(self, where: slice) -> Rows:
        """The rows of some targets, in the same memory."""
        return Rows(
            self.q[where],
            self.state[where],
            self.residual[where],
            self.distances[where],
            self.defect[where],
        )

    def first(self, slots: int) -> Rows:
        """The rows that are solutions, before empty ones, in the first slots."""
        order = np.argsort(self.state <= 0, axis=1, kind="stable")[:, :slots]
        q = np.take_along_axis(self.q, order[..., None], axis=1)
        state, residual = (
            np.take_along_axis(x, order, axis=1) for x in (self.state, self.residual)
        )
        return Rows(q, state, residual, self.distances, self.defect)

    def put(self, where: np.ndarray, rows: Rows) -> None:
        """Replace the rows of some targets."""
        for name in ("q", "state", "residual", "distances", "defect"):
            getattr(self, name)[where] = getattr(rows, name)


@dataclass(frozen=True)
class Geometry:
    """How a family is told from the axes of a chain.

    recognise   the lines with every relation of the family applied; how far they were from it is
                theirs to say
    canonical   the frames of those lines and the numbers of the arm
    backward    the chain is seen from its frame
    refused     why an arm of these numbers is not solved as this family, "" where it is
    """

    recognise: Callable[[ideal.Lines], ideal.Lines]
    canonical: Callable[[ideal.Lines], tuple[Frames, Any]]
    backward: bool = False
    refused: Callable[[Any], str] = lambda size: ""

    def solver(
        self, family: type[Family], subject: Subject, chain: Chain
    ) -> tuple[float, Family | str]:
        """How far the axes are from the family's, and its solver, or the reason why there is
        none."""
        lines = self.recognise(ideal.Lines(chain.backward() if self.backward else chain))
        deviation, why = lines.worst
        if deviation > ideal.NEAR:
            return deviation, why
        placed, size = self.canonical(lines)
        no = self.refused(size)
        if no:
            return 1.0, no
        return deviation, family(
            subject, chain, Canonical(placed, self.backward), size, deviation <= ideal.EXACT
        )


def short(*names: str) -> Callable[[Any], str]:
    """`refused` of a `Geometry`: an arm one of whose needed lengths is zero."""

    def refused(size: Any) -> str:
        zero = [n for n in names if abs(getattr(size, n)) < 1e-9 * size.scale]
        return f"{' and '.join(zero)} = 0" if zero else ""

    return refused


@dataclass(frozen=True)
class Family(Keeper):
    """One recognised robot; a subclass for each family, found by its `axes` (classify.families).

    axes, rank   of how many axes the family is, and its place in the order in which families are
                 tried
    geometry     how it is recognised; a family with another way has its own `ways`
    last_resort  tried only where no other family fits

    canonical   between the robot and the frames in which the family is solved
    size        the numbers of the canonical arm
    exact       the robot has the family's geometry to rounding; otherwise its rows are polished on
                the true one
    spread      angle between the starts that a double root of the nominal arm gives [rad]

    slots        rows that it has for a target at the most; explained: distances that explain an
                 empty answer
    position    targets are points (3,), otherwise poses (4, 4)
    free        what a free parameter means, "" where there is none
    branches    signs of each slot, named by branch_names; None where postures have no labels
    """

    subject: Subject
    chain: Chain
    canonical: Canonical
    size: Any
    exact: bool
    spread: float = SPREADS[0]

    name: ClassVar[str]
    title: ClassVar[str]
    axes: ClassVar[int] = 0
    rank: ClassVar[int] = 0
    geometry: ClassVar[Geometry]
    last_resort: ClassVar[bool] = False
    slots: ClassVar[int]
    explained: ClassVar[int] = 1
    position: ClassVar[bool] = False
    free: ClassVar[str] = ""
    branches: ClassVar[tuple[tuple[int, ...], ...] | None] = None
    branch_names: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def branch_rows(self) -> np.ndarray:
        """`branches` as an array (slots, signs) that nobody writes to."""
        rows = np.array(self.branches, dtype=np.int8)
        rows.flags.writeable = False
        return rows

    @classmethod
    def ways(cls) -> tuple[Callable[[Subject, Chain], tuple[float, Family | str]], ...]:
        """How it may be recognised: (subject, chain) -> how far the axes are off,
        and the solver or why not."""
        return (lambda subject, chain: cls.geometry.solver(cls, subject, chain),)

    @property
    def held(self) -> int | None:
        """A joint of the chain that is itself the free parameter."""
        return None

    @property
    def margin(self) -> Margin:
        return EXACT if self.exact else Margin(SLACK, self.spread)

    def decided_by(self) -> tuple[Any, ...]:
        """What decides the code of its kernels, besides the robot (engine/keys.py):
        all that it was made of."""
        return tuple(getattr(self, field.name) for field in fields(self) if field.name != "subject")

    @cached_property
    def rest(self) -> np.ndarray:
        """The chain's coordinates (n,) at the robot's neutral configuration."""
        return configurations.neutral(self.subject)[list(self.chain.columns)]

    @property
    def parameters(self) -> Mapping[str, float]:
        """The canonical lengths [m] and angles [rad]."""
        return {k: v for k, v in vars(self.size).items() if isinstance(v, float)}

    def rows(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None = None) -> Rows:
        """Every solution of every target (N, 4, 4) or (N, 3); q0 (n,) or (N, n) pins what is
        free."""
        proposed = self.propose(target, q0, free)
        if self.exact:
            return proposed
        rows = self.polish(proposed, target)
        double = np.flatnonzero((proposed.state >= 8.0).any(axis=1))
        for spread in SPREADS[1:] if len(double) else ():
            starts = q0 if q0.ndim == 1 else q0[double]
            own_free = free if free is None or free.ndim == 1 else free[double]
            wider = self.with_spread(spread)
            merge(
                rows,
                wider.polish(wider.propose(target[double], starts, own_free), target[double]),
                double,
            )
        return rows

    def with_spread(self, spread: float) -> Family:
        """This solver with starts at other distances from double roots."""
        return replace(self, spread=spread)

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        """Rows of the canonical arm; of an exact one they are verified."""
        raise NotImplementedError

    def polish(self, proposed: Rows, target: np.ndarray) -> Rows:
        """Rows of the nominal arm brought onto the true one; what does not get there, or repeats,
        is dropped."""
        where = np.nonzero(proposed.state > 0)
        q, residual = proposed.q.copy(), np.ones(proposed.state.shape)
        if len(where[0]):
            goal = target[where[0]]
            q[where], residual[where] = polished(
                self.subject, self.chain, proposed.q[where], goal, self.held
            )
        if self.free:  # whatever the posture, it is one of infinitely many
            state = distinct(q, proposed.state, residual)
        else:
            state = kinds(
                self.subject, self.chain, q, target, distinct(q, proposed.state, residual)
            )
        return Rows(q, state, residual, proposed.distances, proposed.defect)

    def reason(self, distances: np.ndarray) -> str:
        """Why a target has no solution."""
        return "out of reach"

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]] | None:
        """det J in closed form, in canonical axes, with its named scale-free factors;
        None where none is known."""
        return None

    def kernel_of(self, line: str) -> Kernel:
        """The kernel of a line of the table that is about families (inverse/quantities.py)."""
        return self.once(
            (Family.kernel_of, line),
            lambda: kernel_of(self.subject, line, self.chain.frame, about=self),
        )

    def canonical_goal(self, target: SX) -> Transform:
        """The canonical goal of a target (4, 4)."""
        return self.canonical.goal(orthonormal(target)[0])


class ClosedForm(Family):
    """One kernel does everything."""

    @cached_property
    def kernel(self) -> Kernel:
        """target, q0 -> rows."""
        return self.kernel_of("closed_form_points" if self.position else "closed_form_poses")

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        # a plain batch takes the short way into machine code;
        # of a long one the copies would cost more than they save
        starts = (
            np.repeat(q0[None], len(target), axis=0) if q0.ndim == 1 and len(target) < SHORT else q0
        )
        return Rows(*self.kernel(target, starts))

    def traced(self, goal: Transform, q0: SX) -> Proposal:
        seed = self.canonical.angles(q0)
        if self.position:
            return self.canonical.rows(
                self.postures(Transform(SX.eye(3), self.canonical.point(goal.p)), seed)
            )
        return self.canonical.rows(self.postures(self.canonical.goal(goal), seed))

    def postures(self, T: Transform, seed: SX) -> Proposal:
        """Rows in canonical angles."""
        raise NotImplementedError


def merge(rows: Rows, more: Rows, where: np.ndarray, same: np.ndarray | float = 1e-6) -> None:
    """Rows of `more`, for the targets `where`, joined with those found before: these come after,
    if they are others.

    same: how near [rad] to a row of `more` a later one must be to repeat it, for all or for each
    (len(where), M).
    """
    slots = rows.state.shape[1]
    q, state, residual = (
        np.concatenate([getattr(more, name), getattr(rows, name)[where]], axis=1)
        for name in ("q", "state", "residual")
    )
    near = np.full(state.shape, 1e-6)
    near[:, : more.state.shape[1]] = same
    state = distinct(q, state, residual, near)
    order = np.argsort(state <= 0, axis=1, kind="stable")[:, :slots]
    rows.q[where] = np.take_along_axis(q, order[..., None], axis=1)
    rows.state[where] = np.take_along_axis(state, order, axis=1)
    rows.residual[where] = np.take_along_axis(residual, order, axis=1)


PUSHES = (0.01, 0.03, 0.1, 0.3, 0.6, 1.2, 2.4)
"""How far [rad] from a nearly singular posture its partner is looked for."""


def beside_singular(family: Family, rows: Rows, target: np.ndarray, i: int) -> None:
    """Put the partner of a nearly singular posture of target i into the free slot whose labels are
    nearest to its own.

    The two halves of a pair lie on both sides of a singular posture, along the motion that hardly
    moves the frame.
    """
    assert family.branches is not None
    slots = np.flatnonzero(rows.state[i] > 0)
    q = rows.q[i, slots]
    _, sigma, Vt = np.linalg.svd(jacobian_kernel(family.subject, family.chain)(q))
    for k in np.argsort(sigma[:, -1]):
        pushes = np.array([sign * size for size in PUSHES for sign in (1, -1)])
        starts = q[k] + pushes[:, None] * Vt[k, -1]
        beside, residual = polished(
            family.subject, family.chain, starts, np.repeat(target[i][None], len(starts), axis=0)
        )
        apart = np.abs((beside[:, None] - q + np.pi) % (2 * np.pi) - np.pi).max(axis=-1).min(axis=1)
        new = np.flatnonzero((residual <= TOLERANCE) & (apart > 1e-6))
        empty = np.flatnonzero(rows.state[i] <= 0)
        if len(new) and len(empty):
            labels = np.array(family.branches)
            slot = empty[np.argmin((labels[empty] != labels[slots[k]]).sum(axis=1))]
            rows.q[i, slot] = beside[new[0]]
            rows.state[i, slot] = ISOLATED + 4.0
            rows.residual[i, slot] = residual[new[0]]
            return


def over_free(
    kernel: Kernel,
    target: np.ndarray,
    q0: np.ndarray,
    free: np.ndarray,
    more: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Rows:
    """Rows for every value of the free parameter: slots of the first value, then of the second, ...

    free: (k,) values for every target, or (N, 1) one for each. more: a further input of the kernel.
    """
    n, k = len(target), free.shape[-1]
    T = np.ascontiguousarray(np.broadcast_to(target[:, None], (n, k, *target.shape[1:])))
    values = np.ascontiguousarray(np.broadcast_to(free, (n, k)))
    starts = q0 if q0.ndim == 1 else q0[:, None]
    extra = () if more is None else (more(T, values),)
    q, state, residual, distances, defect = kernel(T, starts, values, *extra)
    slots = k * state.shape[-1]
    q = q.reshape(n, slots, q.shape[-1])
    return Rows(
        q, state.reshape(n, slots), residual.reshape(n, slots), distances[:, 0], defect[:, 0]
    )


def own_free(value: np.ndarray, count: int) -> np.ndarray:
    """One value for all targets () or one for each (N,), as `over_free` takes it."""
    return np.broadcast_to(np.asarray(value, dtype=float), (count,))[:, None]
