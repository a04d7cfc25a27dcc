"""Identification: inertial parameters and friction of a robot from measured motions and torques.

    tau = Y1(q, v, a) beta + damping v + friction sign(v) + armature a + noise

beta are the base parameters (base_parameters.py). Weighted least squares: every joint is weighted
with its own noise, which is estimated from what it leaves unexplained. The samples are reduced
joint by joint to triangular factors once (Householder), so that weights, confidence and the
semidefinite fit of pseudo_inertia.py cost nothing that grows with their number. Source:
[Gautier1991] (base parameters), [Swevers1997] (weights), [Wensing2018] (physical consistency).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles, flag, number
from linkwork.configurations import places, random
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.studies.base_parameters import (
    BaseParameters,
    base_parameters,
    described_parameters,
    without_loops,
)
from linkwork.studies.pseudo_inertia import nearest_physical
from linkwork.subject import RobotLike, Subject, subject_of

CHUNK = 2048
"""Samples whose regressor is in memory at once."""
WEIGHTINGS = 3
"""Rounds of weighting: the noise of the joints is estimated again with the parameters it gave."""
QUIETEST = 1e-6
"""Least noise of a joint that the semidefinite fit works with, as part of its torque: beyond,
doubles run out."""


@dataclass(frozen=True)
class Identification(Tabular):
    """What was found; `robot.with_parameters(found)` is the robot that has it.

    base         the combinations that were identified, with the description's own values
    values       (p,) beta by least squares [kg, kg m, kg m^2]; deviation (p,): their standard
                 deviations
    damping      (nv,) viscous friction [N m s/rad, N s/m], `friction` (nv,) dry friction [N m, N],
                 `armature` (nv,) rotor inertia [kg m^2, kg]; those that were not asked for are the
                 description's
    extra        names of the identified ones among these, extra_values and extra_deviation: by
                 least squares
    parameters   (10 nb,) a whole set with these base parameters, nearest to the description;
                 physical ones where asked
    physical     whether every body of `parameters` can exist (and friction is not negative)
    noise        (nv,) standard deviation of the torques around the model [N m, N]
    samples      how many instants; condition: of the weighted regressor, columns scaled
    """

    base: BaseParameters
    values: np.ndarray
    deviation: np.ndarray
    extra: tuple[str, ...]
    extra_values: np.ndarray
    extra_deviation: np.ndarray
    parameters: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    armature: np.ndarray
    physical: bool
    noise: np.ndarray
    samples: int
    condition: float

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) (p,): where each base parameter lies with this confidence,
        others aside (Student's t)."""
        from scipy.stats import t

        level = number(level, "interval: level")
        if not 0.0 < level < 1.0:
            raise InvalidInput(f"interval: level is {level}, expected a number between 0 and 1")
        freedom = self.samples * len(self.noise) - len(self.values) - len(self.extra)
        reach = t.ppf(0.5 + 0.5 * level, freedom) * self.deviation
        return self.values - reach, self.values + reach

    def __repr__(self) -> str:
        kind = "physical" if self.physical else "least squares"
        more = f", {len(self.extra)} of friction and rotors" if self.extra else ""
        noise = f"{self.noise.min():.3g} to {self.noise.max():.3g}"
        return (
            f"<Identification: {len(self.values)} base parameters{more}, {kind}, noise "
            f"{noise} N m, N>"
        )

    def _table(self) -> dict[str, object]:
        described = np.concatenate([self.base.values, np.full(len(self.extra), np.nan)])
        return {
            "combination": [*self.base.names, *self.extra],
            "value": np.concatenate([self.values, self.extra_values]),
            "deviation": np.concatenate([self.deviation, self.extra_deviation]),
            "described": described,
        }


def identify(
    robot: RobotLike,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    *,
    friction: bool = True,
    armature: bool = False,
    physical: bool = True,
    belief: float = 10.0,
) -> Identification:
    """Inertial parameters and friction from samples q (n, nq), v, a,
    tau (n, nv) of one motion or several.

    friction   identify damping and dry friction of the joints too; otherwise the description's
               count
    armature   identify rotor inertias too; otherwise the description's count
    physical   find parameters that bodies of positive density have (semidefinite; needs clarabel)
    belief     relative standard deviation given to the description's parameters, which decides only
               what the torques do not show: 10 means that they may be wrong by ten times

    `lw.studies.excitation` gives motions that show everything; `found.deviation` tells what these
    did not show.
    """
    subject = subject_of(robot, "identify")
    without_loops(subject, "identify")
    states = _samples(subject, q, v, a, tau)
    if not number(belief, "identify: belief") > 0.0:
        raise InvalidInput(f"identify: belief is {belief}, expected a positive number")
    flag(physical, "identify: physical")
    described = described_parameters(subject).reshape(-1, 10)
    if physical and not (described[:, 0] > 0.0).any():
        raise NotPossible(
            f'identify: robot "{subject.model.name}" has no masses; describe guesses, or '
            "physical=False"
        )
    base = subject.once((base_parameters,), lambda: base_parameters(subject))
    wanted = {"damping": friction, "friction": friction, "armature": armature}
    signals = _signals(
        subject, base, [kind for kind, asked in wanted.items() if flag(asked, f"identify: {kind}")]
    )
    extra = tuple(f"{_name(subject, at)}.{kind}" for kind, at in signals)
    factors = _factors(subject, base, signals, states)
    p, n = len(base) + len(extra), len(states[0])
    if n * subject.nv <= p:
        raise InvalidInput(
            f"identify: {n} samples of {subject.nv} torques cannot show {p} parameters; give more"
        )

    values, noise = _weighted(factors, n, p)
    quiet = np.maximum(noise, QUIETEST * _size(states[3]))
    R, z = _stacked(factors, quiet)
    covariance, condition = _covariance(R, base, extra)
    spread = (
        np.sqrt(_left(R, z, values) / (n * subject.nv - p))
        if (noise > quiet * 0.999).any()
        else 0.0
    )
    deviation = spread * np.sqrt(np.diag(covariance))

    count = len(base)
    full = np.hstack([R[:, :count] @ base.matrix, R[:, count:]])
    if physical:
        parameters, extras = nearest_physical(full, z, len(extra), described, belief)
    else:
        lacking = values[:count] - base.values
        parameters = described.ravel() + np.linalg.pinv(base.matrix) @ lacking
        extras = values[count:]
    damping, dry, rotors = _joint_numbers(subject, signals, extras)
    return Identification(
        base=base,
        values=values[:count],
        deviation=deviation[:count],
        extra=extra,
        extra_values=values[count:],
        extra_deviation=deviation[count:],
        parameters=parameters,
        damping=damping,
        friction=dry,
        armature=rotors,
        physical=physical,
        noise=noise,
        samples=n,
        condition=condition,
    )


def _samples(subject: Subject, *given: ArrayLike) -> list[np.ndarray]:
    """q, v, a, tau as (n, size), checked."""
    samples = []
    for label, x, size in zip(
        ("q", "v", "a", "tau"), given, (subject.nq, subject.nv, subject.nv, subject.nv)
    ):
        rows = as_doubles(x, f"identify: {label}")
        if rows.ndim < 2 or rows.shape[-1] != size:
            raise InvalidInput(
                f"identify: {label} has shape {rows.shape}, expected (n, {size}): one row a sample"
            )
        rows = rows.reshape(-1, size)
        if not np.isfinite(rows).all():
            raise InvalidInput(
                f"identify: {label} is not finite in row "
                f"{int(np.argwhere(~np.isfinite(rows))[0, 0])}"
            )
        samples.append(rows)
    if len({len(rows) for rows in samples}) != 1:
        shapes = ", ".join(
            f"{label} {len(rows)}" for label, rows in zip(("q", "v", "a", "tau"), samples)
        )
        raise InvalidInput(f"identify: the numbers of samples differ: {shapes}")
    return samples


Signals = list[tuple[str, int]]
"""Unknowns beside beta: (what it multiplies: "damping" v, "friction" sign v, "armature" a; its
coordinate)."""


def _signals(subject: Subject, base: BaseParameters, kinds: list[str]) -> Signals:
    """The unknowns of joints with one coordinate. A rotor that turns with a link about a fixed axis
    is left out: its inertia is part of the link's, and a base parameter has both."""
    states, Y = _probe(subject, base, 60)
    rows = Y.reshape(-1, len(base))
    signals = []
    for _, _, place in places(subject):
        if place.stop - place.start != 1:
            continue
        at = place.start
        turning = np.zeros_like(states["a"])
        turning[:, at] = states["a"][:, at]
        left = turning.ravel() - rows @ np.linalg.lstsq(rows, turning.ravel(), rcond=1e-12)[0]
        hidden = np.linalg.norm(left) < 1e-8 * np.linalg.norm(turning)
        signals += [(kind, at) for kind in kinds if not (kind == "armature" and hidden)]
    return signals


def _name(subject: Subject, at: int) -> str:
    return next(joint.name for joint, _, place in places(subject) if place.start == at)


def _probe(
    subject: Subject, base: BaseParameters, n: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Random states and their regressor of the base parameters (n, nv, p)."""
    states = {"q": random(subject, n, 0)}
    states |= dict(zip("va", np.random.default_rng(0).normal(size=(2, n, subject.nv))))
    return states, np.asarray(quantities.evaluate(subject, "regressor", states))[..., base.columns]


def _factors(
    subject: Subject,
    base: BaseParameters,
    signals: Signals,
    states: list[np.ndarray],
) -> list[np.ndarray]:
    """For every joint the triangular factor of its rows (Y1, signals, tau): QR of chunks,
    joined by QR."""
    known = dict(zip(("damping", "friction", "armature"), _described(subject)))
    for kind, at in signals:
        known[kind][at] = 0.0
    columns = _felt(subject, base, signals)
    factors = [np.zeros((0, len(some))) for some in columns]
    for begin in range(0, len(states[0]), CHUNK):
        q, v, a, tau = (x[begin : begin + CHUNK] for x in states)
        Y = np.asarray(quantities.evaluate(subject, "regressor", {"q": q, "v": v, "a": a}))[
            ..., base.columns
        ]
        moved = {"damping": v, "friction": np.sign(v), "armature": a}
        tau = tau - sum(known[kind] * signal for kind, signal in moved.items())
        for j, some in enumerate(columns):
            signal = [moved[kind][:, at] for kind, at in signals if at == j]
            rows = np.column_stack([Y[:, j, some[some < len(base)]], *signal, tau[:, j]])
            factors[j] = _triangular(np.vstack([factors[j], rows]))
    whole = []
    for factor, some in zip(factors, columns):
        whole.append(np.zeros((len(factor), len(base) + len(signals) + 1)))
        whole[-1][:, some] = factor
    return whole


def _triangular(rows: np.ndarray) -> np.ndarray:
    """The triangular factor R of a tall matrix, rows = Q R: blocks of twice its width are reduced,
    level by level.

    Blocks are small enough for the matrix library to work alone: its threads cost more than they
    bring here.
    """
    width = rows.shape[1]
    while len(rows) > 2 * width:
        blocks = -(-len(rows) // (2 * width))
        padded = np.zeros((blocks * 2 * width, width))
        padded[: len(rows)] = rows
        rows = _r_of(padded.reshape(blocks, 2 * width, width)).reshape(-1, width)
        if blocks == 1:
            return rows
    return _r_of(rows)


def _r_of(rows: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _felt(subject: Subject, base: BaseParameters, signals: Signals) -> list[np.ndarray]:
    """For every joint its columns of (Y1, signals, tau) that are not always zero:
    it feels only what it carries."""
    _, Y = _probe(subject, base, 8)
    felt = np.abs(Y).max(axis=0) > 0.0
    return [
        np.flatnonzero([*felt[j], *(at == j for _, at in signals), True]) for j in range(subject.nv)
    ]


def _stacked(factors: list[np.ndarray], noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R, z) of all joints, each divided by its noise: |R x - z| is the weighted residual."""
    whole = _r_of(np.vstack([factor / size for factor, size in zip(factors, noise)]))
    return whole[:, :-1], whole[:, -1]


def _weighted(factors: list[np.ndarray], n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """(x (p,), noise (nv,)): weighted least squares,
    the weights from what each joint leaves unexplained."""
    floor = 1e-12 * max(float(np.abs(factor).max()) for factor in factors)
    noise = np.ones(len(factors))
    freedom = n - p / len(factors)  # every joint pays its share of the parameters
    for _ in range(WEIGHTINGS):
        R, z = _stacked(factors, noise)
        lengths = np.linalg.norm(R, axis=0)
        lengths[lengths == 0.0] = 1.0
        values = np.linalg.lstsq(R / lengths, z, rcond=1e-13)[0] / lengths
        left = np.array(
            [np.linalg.norm(factor[:, :-1] @ values - factor[:, -1]) for factor in factors]
        )
        noise = np.maximum(left, floor) / np.sqrt(freedom)
    return values, noise


def _covariance(
    R: np.ndarray, base: BaseParameters, extra: tuple[str, ...]
) -> tuple[np.ndarray, float]:
    """((R'R)^-1, condition of R with columns of length one);
    what cannot be seen at all is an error by its name."""
    lengths = np.linalg.norm(R, axis=0)
    names = (*base.names, *extra)
    scaled = R / np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    condition = float(np.sqrt(values[-1] / values[0])) if values[0] > 1e-24 * values[-1] else np.inf
    if (lengths == 0.0).any() or condition > 1e10:
        hidden = (
            int(np.argmin(lengths))
            if (lengths == 0.0).any()
            else int(np.argmax(np.abs(vectors[:, 0])))
        )
        raise NotPossible(
            f"identify: these motions do not show {names[hidden]}; move more joints at once "
            "and faster "
            "(lw.studies.excitation finds such a motion)"
        )
    inverse = vectors @ np.diag(1.0 / values) @ vectors.T
    return inverse / np.outer(lengths, lengths), condition


def _left(R: np.ndarray, z: np.ndarray, x: np.ndarray) -> float:
    return float(np.sum((R @ x - z) ** 2))


def _size(tau: np.ndarray) -> np.ndarray:
    rms = np.sqrt(np.mean(tau**2, axis=0))
    return np.maximum(rms, max(1e-9, 1e-6 * float(rms.max())))


def _described(subject: Subject) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Damping, dry friction and rotor inertia (nv,) of the description."""
    numbers = np.zeros((3, subject.nv))
    for joint, _, at in places(subject):
        for k, value in enumerate((joint.damping, joint.friction, joint.armature)):
            numbers[k, at] = value
    return numbers[0], numbers[1], numbers[2]


def _joint_numbers(
    subject: Subject, signals: Signals, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    damping, dry, rotors = _described(subject)
    into = {"damping": damping, "friction": dry, "armature": rotors}
    for (kind, at), value in zip(signals, values):
        into[kind][at] = value
    return damping, dry, rotors
