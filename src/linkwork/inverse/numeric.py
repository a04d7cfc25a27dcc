"""Numeric inverse kinematics: damped least squares as one loop in machine code,
for one target or a queue of them.

Every target runs in a lane of the vector unit: step after step (descent.py), and from another start
(seeds.py) where an attempt stops getting closer; a lane that has found its answer takes the next
target. What comes back has been checked by forward kinematics, which alone decides about success.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import configurations
from linkwork.engine.kernel import Context, Kernel, Signature
from linkwork.engine.scan import Scan
from linkwork.engine.traced import traced
from linkwork.inverse.blocking import MOST, blocked_by
from linkwork.inverse.mechanism import mechanism, stroke
from linkwork.inverse.residual import errors
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.search_loop import ENDLESS, LONG_PATIENCE, SearchLoop
from linkwork.inverse.seeds import box
from linkwork.inverse.targets import Format, Goal, fault, packed, refuse
from linkwork.once import Keeper
from linkwork.subject import Subject

RESTARTS = 100
TOLERANCE = 1e-9
REACHED, NOT_REACHED, BEYOND = 0, 1, 2
Limits = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class SearchSettings:
    """limits: (lower, upper) of q, None: the robot's own. tolerance: [m], [rad]. prefer:
    a configuration, or None."""

    limits: Limits | None = None
    tolerance: tuple[float, float] = (TOLERANCE, TOLERANCE)
    restarts: int = RESTARTS
    prefer: np.ndarray | None = None


class Solver(Keeper):
    """Everything compiled for some goals of a robot and targets of some formats."""

    def __init__(
        self, who: str, subject: Subject, goals: tuple[Goal, ...], formats: tuple[Format, ...]
    ) -> None:
        self.who, self.subject, self.goals, self.formats = who, subject, goals, formats
        self.mechanism = mechanism(who, subject, goals)
        self.limits = stroke(subject)
        self.neutral = np.clip(configurations.neutral(subject), *self.limits)
        self.moving = np.array(self.mechanism.q)
        self.whole = len(self.moving) == subject.nq
        self.size = sum(goal.size for goal in goals)
        self.context = Context(f'robot "{subject.model.name}"')
        self.tracks: dict[bool, Scan] = {}
        self._loops: dict[tuple[bool, bool], SearchLoop] = {}

    def key(self, maker: Callable[..., Any], *options: Any) -> str | None:
        """The key of something traced for these goals (`Subject.key`)."""
        return self.subject.key(maker, self.goals, *options)

    @functools.cached_property
    def pack(self) -> Kernel:
        """targets -> (numbers (size), checks (4 a goal), fault, beyond reach)."""
        names = (
            ["target"]
            if len(self.goals) == 1
            else [f'target of "{goal.frame}"' for goal in self.goals]
        )
        outputs = (
            ("numbers", (self.size,)),
            ("checks", (4 * len(self.goals),)),
            ("fault", ()),
            ("beyond", ()),
        )
        signature = Signature(self.who, tuple(zip(names, self.formats, strict=True)), outputs)
        return traced(signature, self._packed, self.key(Solver._packed, self.formats))

    def _packed(self, *raw: SX) -> list[SX]:
        parts = [packed(goal, x) for goal, x in zip(self.goals, raw, strict=True)]
        bad = functools.reduce(casadi.logic_or, [fault(checks) for _, checks in parts])
        far = functools.reduce(
            casadi.logic_or, [SX(0), *self._beyond([numbers for numbers, _ in parts])]
        )
        return [
            casadi.vertcat(*[n for n, _ in parts]),
            casadi.vertcat(*[c for _, c in parts]),
            bad,
            far,
        ]

    def _beyond(self, numbers: list[SX]) -> list[SX]:
        """Whether targets lie farther from the first joint than the chain is long."""
        tree, beyond = self.mechanism.tree, []
        for goal, (node, placement), x in zip(
            self.goals, self.mechanism.places, numbers, strict=True
        ):
            first = tree.nodes[tree.paths[node][0]]
            if len(goal.positions) == 3 and self.mechanism.bounded(node):
                p = x[goal.size - 3 :] - SX(casadi.DM([float(c) for c in first.placement.position]))
                beyond.append(
                    casadi.sumsqr(p) > self.mechanism.reach_of(node, placement) ** 2 * (1 + 1e-9)
                )
        return beyond

    @functools.cached_property
    def verify(self) -> Kernel:
        """(coordinates, numbers) -> (position error [m], rotation error [rad]) by forward
        kinematics."""
        inputs = (("q", (len(self.moving),)), ("target", (self.size,)))
        signature = Signature(self.who, inputs, (("position error", ()), ("rotation error", ())))
        return traced(signature, self._verified, self.key(Solver._verified))

    def _verified(self, x: SX, target: SX) -> tuple[SX, SX]:
        m = self.mechanism
        q = m.in_tree(x)
        position, turn = errors(m.tree, q, self.goals, m.places, target)
        loops = m.loop_rows(q)
        if loops is not None:
            for row in casadi.vertsplit(loops[0]):
                position = casadi.fmax(position, casadi.fabs(row))
        return position, turn

    def loop(self, live: bool, wish: bool) -> SearchLoop:
        """The loop with limits that come with the call (live) or the robot's own,
        with or without a preference."""
        if (live, wish) not in self._loops:
            limits = tuple(x[self.moving] for x in self.limits)
            self._loops[live, wish] = SearchLoop(
                self.mechanism, self.goals, None if live else limits, wish
            )
        return self._loops[live, wish]

    @functools.cached_property
    def plain(self) -> Plain:
        return Plain(self)

    def plain_start(self) -> np.ndarray:
        """The flat state from which a single target without q0 and options begins."""
        loop = self.loop(False, False)
        x0 = self.neutral[self.moving]
        x0[loop.single] = box(self.mechanism, *(x[self.moving][loop.single] for x in self.limits))[
            0
        ]
        return loop.flat(x0, RESTARTS, TOLERANCE, TOLERANCE)

    def many(
        self, targets: tuple[np.ndarray, ...], q0: np.ndarray | None, settings: SearchSettings
    ) -> InverseKinematics:
        """One target or a batch, with any settings."""
        numbers, checks, bad, beyond = self.pack.call(targets, None, self.context)
        if np.any(bad):
            self.refuse(checks)
        x, steps, limits = self._search(numbers, beyond, q0, settings)
        return self.judged(x, numbers, q0, beyond, steps, limits, settings.tolerance)

    def searched(
        self, numbers: np.ndarray, q0: np.ndarray, limits: Limits, restarts: int
    ) -> np.ndarray | None:
        """The configuration (nq,) that reaches one packed target from q0 within other limits,
        or None."""
        settings = SearchSettings(limits, restarts=restarts)
        x, _, _ = self._search(numbers, False, q0, settings)
        position, turn = self.verify.call((x, numbers), None, self.context)
        if not (position <= settings.tolerance[0] and turn <= settings.tolerance[1]):
            return None
        q = q0.copy()
        q[self.moving] = x
        return q

    def _search(
        self, numbers: np.ndarray, beyond: Any, q0: np.ndarray | None, settings: SearchSettings
    ) -> tuple[np.ndarray, np.ndarray, Limits]:
        """(best coordinates, steps, limits) for packed targets."""
        loop = self.loop(settings.limits is not None, settings.prefer is not None)
        limits = self.limits if settings.limits is None else settings.limits
        floor, ceiling = (x[self.moving] for x in limits)
        values: dict[str, Any] = {"target": numbers}
        ranges = (floor[loop.single], ceiling[loop.single])
        centre, spread = box(self.mechanism, *ranges)
        if settings.limits is not None:
            lower, upper = (np.clip(x, -ENDLESS, ENDLESS) for x in ranges)
            values |= {"lower": lower, "upper": upper, "centre": centre, "spread": spread}
        if settings.prefer is not None:
            values["preferred"] = np.clip(settings.prefer[..., self.moving], floor, ceiling)[
                ..., loop.single
            ]
        if q0 is None:
            x0 = self.neutral[self.moving]
            x0[loop.single] = centre
        else:
            x0 = np.clip(q0[..., self.moving], floor, ceiling)
        run = loop.scan(
            x=x0,
            attempt=0.0 if q0 is None else -1.0,
            left=np.where(beyond, 0.0, float(settings.restarts)),
            **loop.fresh(x0),
            tolerance=loop.weighted(*settings.tolerance),
            **values,
            steps=(settings.restarts + 1) * LONG_PATIENCE,
        )
        x = self.unwound(
            run.state["best"], None if q0 is None else q0[..., self.moving], self.endless(limits)
        )
        return x, run.steps, limits

    def judged(
        self,
        x: np.ndarray,
        numbers: np.ndarray,
        q0: np.ndarray | None,
        beyond: Any,
        steps: np.ndarray,
        limits: Limits,
        tolerance: tuple[float, float],
    ) -> InverseKinematics:
        """The answer, with success decided by forward kinematics."""
        position, turn = self.verify.call((x, numbers), None, self.context)
        q = np.array(
            np.broadcast_to(self.neutral if q0 is None else q0, (*x.shape[:-1], self.subject.nq))
        )
        q[..., self.moving] = x
        success = (position <= tolerance[0]) & (turn <= tolerance[1])
        code = np.where(success, REACHED, np.where(beyond, BEYOND, NOT_REACHED))
        explain = functools.partial(self.explain, numbers)
        if success.shape:
            return InverseKinematics(q, success, position, turn, steps, code, limits, explain)
        numbers_ = bool(success), float(position), float(turn), int(steps), int(code)
        return InverseKinematics(q, *numbers_, limits, explain)

    def endless(self, limits: Limits) -> np.ndarray:
        """Which of the mechanism's coordinates turn without end."""
        floor, ceiling = (x[self.moving] for x in limits)
        turning = [at for at, v in self.mechanism.single if self.mechanism.units[v] == 1.0]
        return np.array(
            [at for at in turning if np.isinf(floor[at]) and np.isinf(ceiling[at])], dtype=int
        )

    @staticmethod
    def unwound(x: np.ndarray, near: np.ndarray | None, endless: np.ndarray) -> np.ndarray:
        """x with whole turns of endless joints taken off: nearest to the start, or to zero."""
        if len(endless):
            x = x.copy()
            centre = 0.0 if near is None else near[..., endless]
            x[..., endless] -= 2 * np.pi * np.round((x[..., endless] - centre) / (2 * np.pi))
        return x

    def refuse(self, checks: np.ndarray) -> None:
        for k, goal in enumerate(self.goals):
            refuse(self.who, goal, checks[..., 4 * k : 4 * k + 4])

    def explain(
        self, numbers: np.ndarray, result: InverseKinematics, index: tuple[int, ...]
    ) -> str:
        """The reason in words; numbers: the packed targets."""
        code, position, turn = (
            np.asarray(x)[index]
            for x in (result.code, result.position_error, result.rotation_error)
        )
        if code == REACHED:
            return f"reached within {position:.1e} m and {turn:.1e} rad"
        nearest = f"the nearest configuration found is {position:.4g} m and {turn:.4g} rad away"
        if code == BEYOND:
            return f"out of reach: the chain is {self.mechanism.reach:.4g} m long; {nearest}"
        if np.size(result.success) <= MOST:
            chosen = np.broadcast_to(numbers, (*np.shape(result.success), self.size))[index]
            blocked = blocked_by(
                self, np.ascontiguousarray(chosen), np.array(result.q)[index], result.limits
            )
            return f"no configuration within the limits was found; {nearest}; {blocked}"
        names = [
            joint.name
            for joint, q, _ in configurations.places(self.subject)
            for _ in range(q.start, q.stop)
        ]
        stands = list(
            dict.fromkeys(
                n for n, limit in zip(names, result.on_limit[index], strict=True) if limit
            )
        )
        held = f", with {', '.join(stands)} on a limit" if stands else ""
        return f"no configuration within the limits was found; {nearest}{held}"


class Plain:
    """The leanest way for one target without options."""

    def __init__(self, solver: Solver) -> None:
        self.solver, self.loop = solver, solver.loop(False, False)
        self.pack = solver.pack.caller(solver.context)
        self.verify = solver.verify.caller(solver.context)
        self.run = self.loop.call
        self.floor, self.ceiling = (x[solver.moving] for x in solver.limits)
        self.start = solver.plain_start()
        self.steps = np.array((RESTARTS + 1.0) * LONG_PATIENCE)
        self.endless = solver.endless(solver.limits)

    def __call__(self, target: np.ndarray, q0: np.ndarray | None) -> InverseKinematics:
        """One target of the solver's format; q0 (nq,) of finite numbers, or None."""
        solver, loop = self.solver, self.loop
        numbers, checks, bad, beyond = self.pack(target)
        if bad:
            solver.refuse(checks)
        start, near = self.start.copy(), None
        if q0 is not None:
            near = q0 if solver.whole else q0[solver.moving]
            start[loop.x] = start[loop.best] = np.minimum(
                np.maximum(near, self.floor), self.ceiling
            )
            start[loop.attempt] = -1.0
        if beyond:
            start[loop.left] = 0.0
        final, _ = self.run(start, numbers, self.steps)
        x = final[loop.best]
        if len(self.endless):
            x = solver.unwound(x, near, self.endless)
        position, turn = map(float, self.verify(x, numbers))
        q = x
        if not solver.whole:
            q = solver.neutral.copy() if q0 is None else q0.copy()
            q[solver.moving] = x
        success = position <= TOLERANCE and turn <= TOLERANCE
        code = REACHED if success else BEYOND if beyond else NOT_REACHED
        steps = int(final[0])
        explain = functools.partial(solver.explain, numbers)
        return InverseKinematics(q, success, position, turn, steps, code, solver.limits, explain)


def solver_of(
    who: str, subject: Subject, goals: tuple[Goal, ...], formats: tuple[Format, ...]
) -> Solver:
    """The solver for some goals, made once."""
    return subject.once((solver_of, goals, formats), lambda: Solver(who, subject, goals, formats))


def remember_plain(subject: Subject, frame: str, shape: tuple[int, ...], solver: Solver) -> None:
    """From now on single targets of this frame and shape take the shortest way."""
    _plain_solvers(subject)[frame, shape] = solver


def plain_of(subject: Subject, frame: str, shape: tuple[int, ...]) -> Plain | None:
    """What answers a single target without options, if that frame has been asked for before."""
    solver = _plain_solvers(subject).get((frame, shape))
    return solver.plain if solver is not None else None


def _plain_solvers(subject: Subject) -> dict[tuple[str, tuple[int, ...]], Solver]:
    return subject.once(_plain_solvers, dict)
