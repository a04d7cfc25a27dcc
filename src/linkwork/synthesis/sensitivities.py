"""Sensitivities: how errors of the dimensions move the tracer, exactly.

At a position, with the driver held, loops c(x, d) = 0 give dx = -J^-1 (dc/dd) dd for the dimensions
d (the points at position 1), and the tracer y(x, d) moves by dy/dx dx + dy/dd dd.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import deadlines
from linkwork.arguments import finite_doubles, number, shown
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import kinematics
from linkwork.synthesis.linkage import Linkages, Topology, as_linkages
from linkwork.synthesis.task import PlanarTask, as_task

MOST_SAMPLES = 1_000_000


@short_repr
@dataclass(frozen=True)
class Sensitivity(Tabular, rows="speed", aside=("dimensions",)):
    """Derivatives at the positions of a task; dimensions are the x and y of every point,
    in the order of `names`.

    dimensions   names of the columns: "A.x", "A.y", ...
    slope        (..., n, 3, k): d(x, y, angle of the tracer) / d(dimension) [m/m, rad/m], the
                 driver held
    band         (..., n, 3): largest deviation for a tolerance of 1 m of every dimension, to first
                 order
    worst        (...,): largest movement of the tracer for a unit error of one dimension [m/m]
    speed        (..., n): speed of the tracer over the driver's rate [m/rad]
    """

    dimensions: tuple[str, ...]
    slope: np.ndarray
    band: np.ndarray
    worst: np.ndarray
    speed: np.ndarray


def sensitivity(linkage: Linkages, task: PlanarTask) -> Sensitivity:
    """Exact derivatives of the tracer's poses at a task's positions by the dimensions of one
    linkage or many."""
    linkage = as_linkages(linkage, "sensitivity")
    task = as_task(task, "sensitivity")
    x = _postures(linkage, task)
    points = kinematics.pairs_of_points(linkage.points)
    slope, rate = _kernel(linkage.topology)(x, points[..., None, :, :])
    names = tuple(f"{name}.{letter}" for name in linkage.names for letter in "xy")
    moved = np.hypot(slope[..., 0, :], slope[..., 1, :])
    return Sensitivity(
        names,
        slope,
        np.abs(slope).sum(axis=-1),
        moved.max(axis=(-1, -2)),
        np.hypot(rate[..., 0], rate[..., 1]),
    )


def monte_carlo(
    linkage: Linkages, task: PlanarTask, tolerance: float, samples: int = 1000, seed: int = 0
) -> np.ndarray:
    """(samples, n, 3): deviations of the tracer of one linkage with dimensions off by up to
    `tolerance` [m]."""
    linkage = as_linkages(linkage, "monte_carlo")
    if linkage.batch:
        raise InvalidInput(f"monte_carlo: got {len(linkage)} linkages, expected one")
    samples = deadlines.counted(samples, "monte_carlo: samples", 1, MOST_SAMPLES)
    off = number(tolerance, "monte_carlo: tolerance")
    if off < 0.0:
        raise InvalidInput(
            f"monte_carlo: tolerance is {off:g} m, expected a length that is not negative"
        )
    x = _postures(linkage, as_task(task, "monte_carlo"))
    random = np.random.default_rng(seed)
    count = len(linkage.names)
    noise = random.uniform(-off, off, size=(samples, 1, count)) + 1j * random.uniform(
        -off, off, (samples, 1, count)
    )
    points = kinematics.pairs_of_points(linkage.points + noise)
    kernel = kinematics.posture_kernel(linkage.topology)
    exact = kernel(x, kinematics.pairs_of_points(linkage.points))[2]
    driver = linkage.topology.moving.index(linkage.topology.driver)
    free = [k for k in range(x.shape[-1]) if k != driver]
    y = np.broadcast_to(x, (samples, *x.shape)).copy()
    # loops are measured against their own position 1, so that the driver's zero follows the crank
    for _ in range(20):
        r, J, _, _ = kernel(y, points)
        step = np.linalg.solve(J[..., free], -r[..., None])[..., 0]
        y[..., free] += step
        if np.abs(step).max() < 1e-14:
            break
    return kernel(y, points)[2] - exact


def _postures(linkage: Linkages, task: PlanarTask) -> np.ndarray:
    """(..., n, bodies): known rotations, or found ones."""
    known = linkage.rotations
    if known is not None and known.shape[-2] == task.n:
        return known
    x = kinematics.rotations_at(linkage, task)
    if not np.isfinite(x).all():
        missed = int((~np.isfinite(x)).any(axis=-1).reshape(-1, task.n).any(axis=0).argmax()) + 1
        raise InvalidInput(f"sensitivity: a linkage does not meet position {missed}")
    return x


def _kernel(topology: Topology) -> Kernel:
    kinematics._KNOWN.setdefault(repr(topology), topology)
    return _kernel_of(repr(topology))


@functools.cache
def _kernel_of(text: str) -> Kernel:
    topology = kinematics._KNOWN[text]
    n, k = len(topology.moving), len(topology.points)
    driver = topology.moving.index(topology.driver)
    free = [i for i in range(n) if i != driver]

    def sensitivity(x: SX, points: SX) -> tuple[SX, SX]:
        c, y = kinematics.residual(topology, x, points), kinematics.tracer(topology, x, points)
        by_x, by_d = casadi.jacobian(c, x), casadi.jacobian(c, points)
        tool_x, tool_d = casadi.jacobian(y, x), casadi.jacobian(y, points)
        order = [i + k * j for i in range(k) for j in range(2)]  # casadi counts columns first
        right = casadi.horzcat(by_d[:, order], by_x[:, driver])
        followed = -casadi.solve(casadi.densify(by_x[:, free]), casadi.densify(right))
        slope = tool_d[:, order] + tool_x[:, free] @ followed[:, :-1]
        rate = tool_x[:, driver] + tool_x[:, free] @ followed[:, -1]
        return slope, rate

    inputs = (("x", (n,)), ("points", (k, 2)))
    outputs = (("slope", (3, 2 * k)), ("rate", (3,)))
    return traced(Signature("sensitivity", inputs, outputs), sensitivity)


def tolerance_band(sensitivity: Sensitivity, tolerance: Any) -> np.ndarray:
    """(..., n, 3) largest deviations for tolerances (k,) of the dimensions, or one for all [m]."""
    count = len(sensitivity.dimensions)
    off = finite_doubles(tolerance, "tolerance_band: tolerance")
    if off.shape not in ((), (count,)) or (off < 0.0).any():
        told = f"expected one length that is not negative, or {count} of them"
        raise InvalidInput(f"tolerance_band: tolerance is {shown(tolerance)}, {told}")
    wide = np.broadcast_to(off, (count,))
    return (np.abs(sensitivity.slope) * wide).sum(axis=-1)
