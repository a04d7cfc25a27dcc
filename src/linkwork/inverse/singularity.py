"""Singularities: where a frame cannot move in some direction, how near that is,
and where a path meets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork import deadlines, quantities
from linkwork.arguments import as_doubles, mapping, number
from linkwork.engine.kernel import Kernel
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.inverse.analytic.classify import classified
from linkwork.inverse.analytic.family import Family
from linkwork.inverse.analytic.screws import chain_of
from linkwork.model import Tree
from linkwork.quantities import Inputs
from linkwork.results import short_repr
from linkwork.subject import Subject

_ROUND = 2000  # decompositions without a look at the clock: some hundredths of a second
Thresholds: TypeAlias = Mapping[str, float] | None
THRESHOLDS = MappingProxyType(
    {"elbow": 1e-6, "wrist": 1e-8, "shoulder": 1e-6, "arm": 1e-6, "sigma": 1e-6}
)
"""Scale-free measures below which a posture counts as singular.

Elbow and shoulder factors come out of square roots, where rounding takes half the digits.
"""


@short_repr
@dataclass(frozen=True)
class Singularity(Tabular, rows="singular"):
    """Measures of configurations (...), lengths in units of `length`, the chain's own.

    sigma            (..., k) singular values of the frame's Jacobian, largest first; k =
                     min(6, joints on the chain)
    sigma_min        (...,) the smallest; condition (...,): largest over smallest; manipulability
                     (...,): their product
    lost             (..., 6) the direction the frame moves least in (linear part first), a unit
                     vector
    idle             (..., nv) the joint velocity that moves the frame least, a unit vector
    determinant      (...,) of the Jacobian [m^3] in closed form, or None: not square, or of no
                     known family
    factors          its scale-free factors by name ("elbow", "wrist", "shoulder", "arm"), each
                     (...,)
    singular         (...,) whether any measure is below its threshold; flags: the same by name
    """

    sigma: np.ndarray
    lost: np.ndarray
    idle: np.ndarray
    length: float
    determinant: np.ndarray | None
    factors: Mapping[str, np.ndarray]
    flags: Mapping[str, np.ndarray]
    singular: np.ndarray

    @property
    def sigma_min(self) -> np.ndarray:
        return self.sigma[..., -1]

    @property
    def condition(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return self.sigma[..., 0] / self.sigma[..., -1]

    @property
    def manipulability(self) -> np.ndarray:
        return self.sigma.prod(axis=-1)


@short_repr
@dataclass(frozen=True)
class PathSingularity(Tabular, rows="sigma_min", aside=("crossings", "arcs")):
    """Singularities along a path of N configurations.

    sigma_min   (N,); arc (N,): length of the path so far in joint space [rad, m]
    crossings   places on the path (fractions of the row index) where the determinant changes sign
                or sigma_min touches its threshold; arcs: the same as arc length
    distance    (N,) along the path to the nearest crossing, infinite where there is none
    """

    sigma_min: np.ndarray
    arc: np.ndarray
    crossings: np.ndarray
    arcs: np.ndarray = field(repr=False)

    @property
    def distance(self) -> np.ndarray:
        if not len(self.arcs):
            return np.full(self.arc.shape, np.inf)
        return np.abs(self.arc[:, None] - self.arcs[None, :]).min(axis=1)


def singularity(
    subject: Subject,
    q: ArrayLike,
    frame: str,
    length: float | None,
    thresholds: Thresholds,
    time_limit: float | None,
) -> Singularity:
    """How singular configurations q (..., nq) are for a frame; see `Singularity`.

    length       unit of length that makes metres comparable with radians
    thresholds   other values for names of THRESHOLDS
    time_limit   seconds after which it ends with NotPossible; None: as long as it takes
    """
    limits = _thresholds(thresholds)
    with deadlines.time_limit(time_limit, "singularity"):
        return _measured(subject, q, frame, length, limits)


def _measured(
    subject: Subject, q: ArrayLike, frame: str, length: float | None, limits: Mapping[str, float]
) -> Singularity:
    """The measures, and what is below its limit."""
    J = quantities.evaluate(subject, "jacobian", {"q": q}, frame)
    moving = np.flatnonzero(_moving(subject, frame))
    unit = _length(subject, frame, length)
    scaled = J[..., moving] / np.array([unit] * 3 + [1.0] * 3)[:, None]
    U, sigma, Vt = _decomposed(scaled)
    k = sigma.shape[-1]
    idle = np.zeros((*J.shape[:-2], subject.nv))
    idle[..., moving] = Vt[..., k - 1, :]
    known = _determinant(subject, frame, q)
    factors = {} if known is None else known[1]
    flags = {name: np.abs(values) < limits[name] for name, values in factors.items()}
    flags["sigma"] = sigma[..., -1] < limits["sigma"]
    singular = np.logical_or.reduce(list(flags.values()))
    return Singularity(
        sigma,
        U[..., :, k - 1],
        idle,
        unit,
        None if known is None else known[0],
        MappingProxyType(factors),
        MappingProxyType(flags),
        singular,
    )


def _decomposed(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular value decompositions of matrices (..., m, n),
    in rounds between which Ctrl-C is heard."""
    flat = A.reshape(-1, *A.shape[-2:])
    parts = [
        np.linalg.svd(flat[some], full_matrices=False)
        for some in deadlines.rounds(len(flat), _ROUND)
    ]
    U, sigma, Vt = (
        part[0] if len(parts) == 1 else np.concatenate(part) for part in zip(*parts, strict=True)
    )
    batch = A.shape[:-2]
    return (
        U.reshape(*batch, *U.shape[1:]),
        sigma.reshape(*batch, *sigma.shape[1:]),
        Vt.reshape(*batch, *Vt.shape[1:]),
    )


def along_path(
    subject: Subject, q: ArrayLike, frame: str, tolerance: float = 1e-6
) -> PathSingularity:
    """Where a path of configurations q (N, nq) is singular for a frame;
    straight lines in joint space between rows.

    A change of sign of the determinant is found by bisection. Without a square Jacobian
    (or where it only touches zero) rows count whose smallest singular value is below the tolerance.
    """
    path = as_doubles(q, "along_path: q")
    if path.ndim != 2 or len(path) < 2:
        raise InvalidInput(
            f"along_path: q has shape {path.shape}, expected (N, {subject.nq}) with N >= 2"
        )
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    sigma = singularity(subject, path, frame, None, None, None).sigma_min
    crossings = [float(i) for i in np.flatnonzero(sigma < tolerance)]
    if len(np.flatnonzero(_moving(subject, frame))) == 6:
        signs = np.sign(_square_determinant(subject, path, frame))
        for i in np.flatnonzero(signs[1:] * signs[:-1] < 0):
            if sigma[i] >= tolerance and sigma[i + 1] >= tolerance:
                crossings.append(i + _bisected(subject, path[i], path[i + 1], frame))
    places = np.array(sorted(crossings))
    return PathSingularity(sigma, arc, places, np.interp(places, np.arange(len(path)), arc))


def _bisected(subject: Subject, a: np.ndarray, b: np.ndarray, frame: str) -> float:
    """Where between a (0) and b (1) the determinant vanishes."""
    low, high = 0.0, 1.0
    sign = np.sign(_square_determinant(subject, a, frame))
    for _ in range(50):
        middle = (low + high) / 2
        same = np.sign(_square_determinant(subject, a + middle * (b - a), frame)) == sign
        low, high = (middle, high) if same else (low, middle)
    return (low + high) / 2


def _square_determinant(subject: Subject, q: np.ndarray, frame: str) -> np.ndarray:
    J = quantities.evaluate(subject, "jacobian", {"q": q}, frame)
    return np.linalg.det(J[..., np.flatnonzero(_moving(subject, frame))])


def _moving(subject: Subject, frame: str) -> np.ndarray:
    """Which velocity coordinates move the frame."""
    pattern = quantities.trace(subject, "jacobian", frame).sparsity_out(0)
    columns = np.zeros(subject.nv, dtype=bool)
    columns[list(set(pattern.get_triplet()[1]))] = True
    if not columns.any():
        raise InvalidInput(
            f'singularity: no joint of robot "{subject.model.name}" moves frame "{frame}"'
        )
    return columns


def _length(subject: Subject, frame: str, given: float | None) -> float:
    if given is not None:
        if not (isinstance(given, (int, float)) and np.isfinite(given) and given > 0):
            raise InvalidInput(f"singularity: length is {given!r}, expected a positive number [m]")
        return float(given)
    classification = classified(subject, frame)
    return chain_of(subject, frame).length if classification.joints else 1.0


def _thresholds(given: Thresholds) -> dict[str, float]:
    limits = dict(THRESHOLDS)
    for name, value in mapping(given, "singularity: thresholds").items():
        if name not in limits:
            raise UnknownName(
                f'singularity: there is no threshold "{name}"{did_you_mean(name, limits)}'
            )
        limits[name] = number(value, f"singularity: threshold {name!r}")
        if not limits[name] >= 0.0:
            raise InvalidInput(
                f"singularity: threshold {name!r} is {value!r}, expected a number >= 0"
            )
    return limits


def _determinant(
    subject: Subject, frame: str, q: ArrayLike
) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
    """(det J, factors) in closed form, or None where there is none."""
    family = classified(subject, frame).pose
    if family is None or not family.exact or len(family.chain) != 6:
        return None
    if family.determinant(SX.sym("theta", 6)) is None:
        return None
    kernel = family.kernel_of("closed_determinant")
    chain_q = as_doubles(q, "singularity: q")[..., list(family.chain.columns)]
    values = kernel(np.ascontiguousarray(chain_q))
    return _sense(family, kernel) * values[..., 0], {
        name: values[..., k + 1] for k, name in enumerate(_factor_names(family))
    }


def _factor_names(family: Family) -> tuple[str, ...]:
    closed = family.determinant(SX.sym("theta", len(family.chain)))
    return () if closed is None else tuple(closed[1])


def factor_count(family: Family) -> int:
    """How many numbers the closed form of a determinant has: its factors after itself."""
    return 1 + len(_factor_names(family))


def traced_determinant(tree: Tree, x: Inputs) -> tuple[SX]:
    """(det J, factors ...) of the chain's q (n,), up to the sign that the robot's axes give it:
    a line of the table."""
    closed = x.about.determinant(x.about.canonical.angles(x.own["q"]))
    assert closed is not None
    det, factors = closed
    return (casadi.vertcat(det, *factors.values()),)


def _sense(family: Family, kernel: Kernel) -> float:
    """+1 or -1: the closed form counts axes in canonical senses, the robot in its own."""
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (8, len(family.chain)))
    closed = kernel(q)[:, 0]
    best = int(np.argmax(np.abs(closed)))
    return float(np.sign(np.linalg.det(family.chain.jacobian(q[best])) * closed[best]))
