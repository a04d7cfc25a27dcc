"""Excitation: periodic motions that show the inertial parameters of a robot well,
for identification.

    q(t) = centre + sum over k = 1 .. H of  a_k sin(k w t) + b_k cos(k w t),      w = 2 pi / duration

with the coefficients chosen so that the regressor of the base parameters, columns of unit length,
has a small condition number. At t = 0 the motion rests (v = a = 0) at its start; each joint is
scaled to the largest amplitude that its limits of position, velocity and acceleration allow, so
every set of coefficients is a motion that can be run.
Source: [Swevers1997] section III (Fourier series), with scaling in the place of constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import deadlines, quantities
from linkwork.arguments import as_doubles, number
from linkwork.configurations import limits
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.studies.base_parameters import base_parameters, without_loops
from linkwork.subject import RobotLike, Subject, subject_of

FREE_RANGE, FREE_SPEED = np.pi / 2.0, 2.0
"""Largest distance from the centre [rad, m] and speed where neither the description nor the caller
says."""
STARTS, ROUNDS = 64, 40
"""Random sets of coefficients tried, and rounds of improvement of the best."""


@dataclass(frozen=True)
class Excitation(Tabular):
    """time (n,) [s], q (n, nq), v, a (n, nv): one period; condition: of the regressor,
    columns of unit length.

    coefficients (H, 2, nv) of sine and cosine, centre (nv,): `sample(t)` runs it at any times,
    period after period
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    condition: float
    coefficients: np.ndarray
    centre: np.ndarray
    joints: tuple[str, ...]

    @property
    def duration(self) -> float:
        return float(self.time[-1])

    def sample(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v, a (..., nv) at t (...) [s]."""
        times = as_doubles(t, "excitation: t")
        q, v, a = _motion(self.coefficients, times.ravel(), self.duration)
        shape = (*times.shape, len(self.centre))
        return (self.centre + q).reshape(shape), v.reshape(shape), a.reshape(shape)

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """What `robot.analyse` and the viewer take."""
        return {"time": self.time, "q": self.q, "v": self.v, "a": self.a}

    def __repr__(self) -> str:
        return (
            f"<Excitation of {len(self.centre)} joints: {self.duration:g} s, condition "
            f"{self.condition:.3g}>"
        )

    def _table(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"time": self.time}
        for label, values in (("q", self.q), ("v", self.v), ("a", self.a)):
            columns |= {f"{label}.{name}": values[:, k] for k, name in enumerate(self.joints)}
        return columns


@deadlines.limited
def excitation(
    robot: RobotLike,
    duration: float = 10.0,
    harmonics: int = 5,
    rate: float = 100.0,
    *,
    centre: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    share: float = 0.9,
    allowed: Callable[[np.ndarray], ArrayLike] | None = None,
    seed: int = 0,
    time_limit: float | None = None,
) -> Excitation:
    """A periodic motion for identification, with a condition number that random search and descent
    made small.

    duration       of one period [s]; harmonics: frequencies 1/duration to harmonics/duration; rate:
                   samples a second
    centre         (nv,) configuration it moves about; by default the middle of the limits
    velocity, acceleration   largest ones (nv,) or a number; by default the description's, where it
                             has them
    share          of all these limits that may be used
    allowed        q (n, nq) -> (n,) booleans: where the robot may be
                   (lw.collision.model(robot).check, for instance)
    time_limit     seconds after which it ends with NotPossible; None: as long as it takes
    """
    subject = subject_of(robot, "excitation")
    without_loops(subject, "excitation")
    if subject.nq != subject.nv:
        raise NotPossible(
            f'excitation: robot "{subject.model.name}" has joints with quaternions; its motions '
            "are no series"
        )
    for label, value in (("duration", duration), ("rate", rate), ("share", share)):
        if not number(value, f"excitation: {label}") > 0.0:
            raise InvalidInput(f"excitation: {label} is {value}, expected a positive number")
    if not isinstance(harmonics, int) or not 2 <= harmonics <= 50:
        raise InvalidInput(
            f"excitation: harmonics is {harmonics!r}, expected a whole number from 2 to 50"
        )
    box = _Box.of(subject, centre, velocity, acceleration, float(share))
    columns = base_parameters(subject).columns
    times = np.linspace(0.0, duration, max(60, 16 * harmonics), endpoint=False)
    check = np.linspace(0.0, duration, max(200, 40 * harmonics), endpoint=False)

    def fitted(free: np.ndarray) -> np.ndarray:
        return box.scaled(_resting(free), check, duration)

    def cost(sets: np.ndarray) -> np.ndarray:
        """Logarithm of the condition number of many sets of coefficients (m, ...);
        forbidden ones cost infinity."""
        scores = np.full(len(sets), np.inf)
        for k, free in enumerate(sets):
            q, v, a = _motion(fitted(free), times, duration)
            q = box.centre + q
            if allowed is None or np.all(np.asarray(allowed(q), dtype=bool)):
                Y = quantities.evaluate(subject, "regressor", {"q": q, "v": v, "a": a})
                scores[k] = np.log(
                    _condition(np.asarray(Y)[..., columns].reshape(-1, len(columns)))
                )
        return scores

    best, worth = _searched(cost, (harmonics, 2, subject.nv), np.random.default_rng(seed))
    if not np.isfinite(worth):
        raise NotPossible(
            f"excitation: none of {STARTS} motions about the centre stays where it is allowed; "
            "choose another"
        )
    coefficients = fitted(best)
    time = np.linspace(0.0, float(duration), round(rate * duration) + 1)
    q, v, a = _motion(coefficients, time, float(duration))
    Y = quantities.evaluate(subject, "regressor", {"q": box.centre + q, "v": v, "a": a})
    condition = _condition(np.asarray(Y)[..., columns].reshape(-1, len(columns)))
    return Excitation(
        time, box.centre + q, v, a, condition, coefficients, box.centre, subject.joints
    )


@dataclass(frozen=True)
class _Box:
    """Where a motion may go: centre, and the largest distance from it, speed, acceleration,
    all (nv,)."""

    centre: np.ndarray
    reach: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    @staticmethod
    def of(subject: Subject, centre: Any, velocity: Any, acceleration: Any, share: float) -> _Box:
        known = limits(subject)
        finite = np.isfinite(known.lower) & np.isfinite(known.upper)
        lower = np.where(finite, known.lower, -FREE_RANGE)
        upper = np.where(finite, known.upper, FREE_RANGE)
        middle = 0.5 * (lower + upper) if centre is None else _row(subject, centre, "centre")
        reach = np.minimum(np.minimum(upper - middle, middle - lower), 2.0 * FREE_RANGE)
        if not (reach > 0.0).all():
            name = subject.joints[int(np.argmin(reach))]
            raise InvalidInput(
                f'excitation: centre leaves joint "{name}" no room within its limits'
            )
        speeds = np.where(np.isfinite(known.velocity), known.velocity, FREE_SPEED)
        v = speeds if velocity is None else _row(subject, velocity, "velocity")
        a = 3.0 * v if acceleration is None else _row(subject, acceleration, "acceleration")
        if not ((v > 0.0).all() and (a > 0.0).all()):
            raise InvalidInput("excitation: velocity and acceleration must be positive")
        return _Box(middle, share * reach, share * v, share * a)

    def scaled(self, coefficients: np.ndarray, times: np.ndarray, duration: float) -> np.ndarray:
        """Coefficients with every joint as large as its limits allow."""
        moved = _motion(coefficients, times, duration)
        factors = [
            limit / np.maximum(np.abs(x).max(axis=0), 1e-12)
            for limit, x in zip((self.reach, self.velocity, self.acceleration), moved, strict=True)
        ]
        return coefficients * np.min(factors, axis=0)


def _row(subject: Subject, x: Any, label: str) -> np.ndarray:
    values = as_doubles(x, f"excitation: {label}")
    if values.shape not in ((), (subject.nv,)) or not np.isfinite(values).all():
        raise InvalidInput(
            f"excitation: {label} has shape {values.shape}, expected a number or "
            f"({subject.nv},), finite"
        )
    return np.broadcast_to(values, (subject.nv,)).copy()


def _resting(coefficients: np.ndarray) -> np.ndarray:
    """The nearest coefficients with v = a = 0 at t = 0: sum of k a_k and sum of k^2 b_k vanish."""
    k = np.arange(1, len(coefficients) + 1)[:, None]
    resting = coefficients.copy()
    for part, weight in ((0, k), (1, k**2)):
        resting[:, part] -= weight * (weight * resting[:, part]).sum(axis=0) / (weight**2).sum()
    return resting


def _motion(
    coefficients: np.ndarray, t: np.ndarray, duration: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q - centre, v, a (n, nv) of the series at t (n,)."""
    w = 2.0 * np.pi / duration * np.arange(1, len(coefficients) + 1)
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = coefficients[:, 0], coefficients[:, 1]
    return (
        sine @ a + cosine @ b,
        (cosine * w) @ a - (sine * w) @ b,
        -(sine * w**2) @ a - (cosine * w**2) @ b,
    )


def _condition(Y: np.ndarray) -> float:
    """Condition number of a matrix with its columns at unit length."""
    lengths = np.linalg.norm(Y, axis=0)
    if not (lengths > 0.0).all():
        return np.inf
    # A product this small is slower by threads of the matrix library than by one of our own.
    values = np.linalg.eigvalsh(np.einsum("ki,kj->ij", Y, Y) / np.outer(lengths, lengths))
    return float(np.sqrt(values[-1] / max(values[0], 1e-16 * values[-1])))


def _searched(
    cost: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...], rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The best of random sets of coefficients, improved by steps whose size follows their success.

    An evolution strategy with a fifth of successes as its aim: it needs no derivatives of
    eigenvalues, which meet where the condition is best.
    """
    sets = rng.normal(size=(STARTS, *shape)) / np.arange(1, shape[0] + 1)[:, None, None]
    worth = cost(sets)
    best, least = sets[int(np.argmin(worth))], float(worth.min())
    step, brood = 0.3, 8
    for _ in range(ROUNDS):
        deadlines.check()
        tries = best + step * np.abs(best).mean() * rng.normal(size=(brood, *shape))
        worth = cost(tries)
        better = np.count_nonzero(worth < least)
        if better:
            best, least = tries[int(np.argmin(worth))], float(worth.min())
        step *= 1.25 if better > brood / 5.0 else 0.85
    return best, least
