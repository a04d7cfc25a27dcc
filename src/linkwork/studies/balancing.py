"""Static balancing: numbers of springs and anchors that make actuators do the least at rest.

    minimise  sum over poses p and actuators i of  (w_i F_i(x, p))^2      over the live variables x within bounds

F comes from the static loads with loops; its derivatives by x are exact (automatic differentiation
of the trace, in machine code), so the least-squares solver converges to rounding. A
zero-free-length spring on a bar balances a weight exactly ([Goncalves2023] section 4, k h a / b = W
/ 2 a side); the optimum finds that identity again.

Loops without a closed form are solved for every trial x; their part of the derivatives comes from
the implicit function theorem (`loops.implicit.followed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import SX

from linkwork import deadlines
from linkwork.actuation.conversion import from_actuators
from linkwork.actuation.implicit import followed
from linkwork.actuation.layout import layout_of
from linkwork.arguments import as_doubles, finite_rows, mapping, name_list, number
from linkwork.engine.compile import CompiledFunction, compile
from linkwork.errors import ComputationError, InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.studies.columns import Columns, motion_of_commands, stacked
from linkwork.subject import RobotLike, Subject, subject_of


@short_repr
@dataclass(frozen=True)
class Balance(Tabular):
    """variables: the best values found [SI]; effort_before,
    effort_after (poses, actuators) [N, N m]."""

    variables: dict[str, float]
    actuators: tuple[str, ...]
    effort_before: np.ndarray
    effort_after: np.ndarray
    success: bool
    reason: str
    evaluations: int

    def _table(self) -> dict[str, np.ndarray]:
        """A row a pose: the effort of every actuator before and after."""
        both = {"before": self.effort_before, "after": self.effort_after}
        return {
            f"{name}.{when}": effort[:, k]
            for k, name in enumerate(self.actuators)
            for when, effort in both.items()
        }

    @property
    def saving(self) -> float:
        """1 - rms after / rms before."""
        before, after = (
            float(np.sqrt(np.mean(x**2))) for x in (self.effort_before, self.effort_after)
        )
        return 1.0 - after / before if before else 0.0


@deadlines.limited
def balance(
    robot: RobotLike,
    commands: Any,
    actuators: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    weights: Mapping[str, float] | None = None,
    *,
    time_limit: float | None = None,
) -> Balance:
    """Best values of live variables for a set of poses at rest.

    robot      loaded with the variables live;  commands (poses, nc): where its motors and actuators
               stand
    actuators  whose effort counts (all), with weights;  variables: which live ones may change
               (all), with bounds [SI]
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    subject = subject_of(robot, "balance")
    names, free = _checked(subject, actuators, variables)
    c = np.atleast_2d(finite_rows(commands, layout_of(subject).sizes[0], "balance: commands"))
    if c.ndim != 2 or not len(c):
        raise InvalidInput(
            f"balance: commands has shape {c.shape}, expected (poses, {c.shape[-1]})"
        )
    effort = _effort(subject, names, free)
    slope = effort.jacobian(0, "x")
    scale = _weights(weights, names)
    present = dict(subject.model.variables)
    x0 = np.array([float(present[name]) for name in free])
    low, high = _bounds(bounds, free)
    if not ((low <= x0) & (x0 <= high)).all():
        outside = free[int(np.argmin((low <= x0) & (x0 <= high)))]
        raise InvalidInput(
            f'balance: variable "{outside}" = {present[outside]:g} is outside its bounds'
        )

    from_actuators(subject, c)  # says with its numbers which command is out of its range
    poses = _Poses(subject, c, free)

    def efforts(x: np.ndarray) -> np.ndarray:
        deadlines.check()
        return effort(x, c, poses(x)).reshape(len(c), len(names))

    before = efforts(x0)
    unreachable = np.full(before.size, 10.0 * max(1.0, float(np.abs(before * scale).max())))

    def slopes(x: np.ndarray) -> np.ndarray:
        slopes = slope(x, c, poses(x)).reshape(len(c), len(names), len(free))
        return (slopes * scale[:, None]).reshape(-1, len(free))

    def residuals(x: np.ndarray) -> np.ndarray:
        try:
            slopes(x)  # at a dead point efforts may still exist where slopes do not
            return (efforts(x) * scale).ravel()
        except (
            InvalidInput,
            ComputationError,
        ):  # loops do not close there: the solver turns back from a large value
            return unreachable

    from scipy.optimize import least_squares  # takes longer to import than all of linkwork

    optimum = least_squares(
        residuals,
        x0,
        slopes,
        bounds=(low, high),
        x_scale="jac",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
        max_nfev=500,
    )
    best = {name: float(value) for name, value in zip(free, optimum.x, strict=True)}
    return Balance(
        best,
        names,
        before,
        efforts(optimum.x),
        bool(optimum.success),
        optimum.message,
        int(optimum.nfev),
    )


def _weights(weights: Any, names: tuple[str, ...]) -> np.ndarray:
    told = mapping(weights, "balance: weights")
    _refuse_others("weights", told, names)
    scale = np.array([number(told.get(name, 1.0), f"balance: weights[{name!r}]") for name in names])
    if not (scale > 0.0).all():
        name = names[int(np.argmax(scale <= 0.0))]
        raise InvalidInput(
            f"balance: weights[{name!r}] is {told[name]!r}, expected a positive number"
        )
    return scale


def _refuse_others(label: str, told: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in told:
        if name not in names:
            raise UnknownName(
                f'balance: {label} has "{name}"{did_you_mean(name, names)}, expected some of '
                f"{list(names)}"
            )


def _bounds(bounds: Any, free: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    told = mapping(bounds, "balance: bounds")
    _refuse_others("bounds", told, free)
    ends = []
    for name in free:
        pair = as_doubles(told.get(name, (-np.inf, np.inf)), f"balance: bounds[{name!r}]")
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise InvalidInput(
                f"balance: bounds[{name!r}] is {pair.tolist()}, expected (lowest, highest)"
            )
        ends.append(pair)
    low, high = np.array(ends).T
    return low, high


class _Poses:
    """Coordinates (poses, nq) in which the loops close for x;
    nothing where closed forms give them inside the trace."""

    def __init__(self, subject: Subject, c: np.ndarray, free: tuple[str, ...]) -> None:
        self.subject, self.c, self.free = subject, c, free
        self.implicit = bool(layout_of(subject).implicit)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if not self.implicit:
            return np.zeros((len(self.c), 0))
        return from_actuators(
            self.subject, self.c, variables=dict(zip(self.free, map(float, x), strict=True))
        )[0]


def _effort(subject: Subject, names: tuple[str, ...], free: tuple[str, ...]) -> CompiledFunction:
    """(x, c, q) -> efforts of the named actuators at rest; q: the assembled coordinates,
    empty with closed forms."""
    layout = layout_of(subject)
    n, m = layout.sizes
    present = dict(subject.model.variables)
    rest = SX.zeros(subject.nv)

    def at_rest(x: SX, c: SX, q: SX) -> SX:
        live = {
            name: x[free.index(name)] if name in free else SX(present[name])
            for name in subject.live
        }
        if layout.implicit:
            q = followed(subject, subject.traced_tree(live), q, c)
        else:
            (q, _, _), _ = motion_of_commands(subject, live, c, SX.zeros(m), SX.zeros(m))
        columns = Columns(subject, live, q, rest, rest, c, SX.zeros(m))
        return stacked([columns[f"actuator.{name}"] for name in names])

    return compile(
        at_rest, {"x": len(free), "c": n, "q": subject.nq if layout.implicit else 0}, "balance"
    )


def _checked(
    subject: Subject, actuators: Sequence[str] | None, variables: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    layout = layout_of(subject)
    names = layout.names if actuators is None else name_list(actuators, "balance: actuators")
    free = subject.live if variables is None else name_list(variables, "balance: variables")
    for name in names:
        if name not in layout.names:
            raise UnknownName(
                f'balance: there is no actuator "{name}"{did_you_mean(name, layout.names)}'
            )
    for name in free:
        if name not in subject.live:
            raise UnknownName(
                f'balance: "{name}" is not a live variable{did_you_mean(name, subject.live)}'
            )
    if not names:
        raise InvalidInput("balance: actuators is empty, expected at least one whose effort counts")
    if not subject.live:
        raise InvalidInput("balance: no variable is live; load the robot with live=[...]")
    if not free:
        raise InvalidInput(f"balance: variables is empty, expected some of {list(subject.live)}")
    return names, free
