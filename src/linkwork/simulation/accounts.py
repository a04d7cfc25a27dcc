"""Accounts: energy book-keeping after a run, and the verdict on its step size."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.simulation.plant import Plant
from linkwork.simulation.step_loop import WORKS


def energy_kernel_of(plant: Plant) -> Kernel:
    """The compiled energies of a plant, made once for its robot or system."""
    owner, numbers = plant.identity
    return owner.once((energy_kernel_of, numbers), lambda: _energy_kernel(plant))


def _energy_kernel(plant: Plant) -> Kernel:
    shapes: dict[str, tuple[int, ...]] = {
        name: x.shape[-1:] for name, x in plant.parameters.items()
    }
    inputs = {"q": (plant.nq,), "v": (plant.nv,), "t": (), **shapes}

    def energy(q: SX, v: SX, t: SX, *parameters: SX) -> SX:
        return plant.carrying(dict(zip(shapes, parameters, strict=True))).energy(q, v, t)

    key = None if plant.key is None else keys.key("energy", plant.key, shapes)
    return traced(Signature("energy", tuple(inputs.items()), (("o0", (2,)),)), energy, key)


def energies(
    plant: Plant, time: np.ndarray, q: np.ndarray, v: np.ndarray, works: np.ndarray
) -> dict[str, np.ndarray]:
    """Energy columns (B, T): kinetic, potential, total, the works since the start,
    and their balance.

        balance = total - total(0) - control - external - stops + dissipated

    is zero for an exact motion: it is the error of the integration, in joules. Rows that are NaN
    stay NaN.
    """
    known = np.isfinite(q).all(-1) & np.isfinite(v).all(-1)
    # a plain batch, which kernels read fastest
    times = np.ascontiguousarray(np.broadcast_to(time, known.shape))
    kernel = energy_kernel_of(plant)
    # (B, 1, n) or, shared, (n,)
    p = [x[:, None] if x.ndim > 1 else x for x in plant.parameters.values()]
    if known.all():
        parts = kernel(q, v, times, *p)
    else:
        parts = np.full((*known.shape, 2), np.nan)
        if known.any():
            rows = [np.broadcast_to(x, (*known.shape, x.shape[-1]))[known] for x in p]
            parts[known] = kernel(q[known], v[known], times[known], *rows)
    energies: dict[str, Any] = {"energy.kinetic": parts[..., 0], "energy.potential": parts[..., 1]}
    total = parts.sum(-1)
    energies["energy.total"] = total
    for k, name in enumerate(WORKS):
        energies[f"energy.{name}"] = works[..., k]
    put_in = works[..., 0] + works[..., 1] + works[..., 2] - works[..., 3]
    energies["energy.balance"] = total - total[..., :1] - put_in
    return energies


def first_imbalance(columns: dict[str, np.ndarray], tolerance: float) -> np.ndarray:
    """Row (...,) from which on a motion is not to be trusted; T where it is good to its end.

    A motion is bad if its balance exceeds the tolerance's part of the energy moved so far, at a
    time when at least a hundredth of all that ever moves has moved: a jump of the control at rest
    is no reason. It is then cut at the first row that exceeds.
    """
    kinetic, potential = columns["energy.kinetic"], columns["energy.potential"]
    moved = kinetic + np.abs(potential - potential[..., :1])
    for name in WORKS:
        moved = moved + np.abs(columns[f"energy.{name}"])
    so_far = np.fmax.accumulate(moved, axis=-1)
    rounding = 1e-9 * (1.0 + np.abs(columns["energy.total"][..., :1]))
    with np.errstate(invalid="ignore"):
        off = np.abs(columns["energy.balance"]) > tolerance * so_far + rounding
        bad = (off & (so_far > 0.01 * so_far[..., -1:])).any(-1)
    return np.where(bad, off.argmax(-1), off.shape[-1])
