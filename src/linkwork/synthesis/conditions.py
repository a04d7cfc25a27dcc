"""Conditions: what a dyad must meet, each as one row that is bilinear in its two pivots.

With position 1 as origin and lengths in task sizes, a the ground pivot and z the moving one at
position 1, a row is

    c0 Re(a z*) + c1 Im(a z*) + c2 ax + c3 ay + c4 zx + c5 zy + c6 = 0

Four rows determine a dyad. A pose is one of them (dyad_kernels.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import InvalidInput
from linkwork.synthesis.task import complex_points


def velocity(d: np.ndarray, u: np.ndarray, v: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """The distance does not change while the body moves: Re[(d + z u - a)* (v + i rate z u)] = 0,
    (..., 7).

    Corrected: (25) of [Mather2023] writes rotations exp(i beta') for what are rates.
    """
    w = 1j * rate * u
    q = d.conj() * w + u * v.conj()
    columns = [-w.real, -w.imag, -v.real, -v.imag, q.real, -q.imag, (d.conj() * v).real]
    return normalised(np.stack(columns, axis=-1))


def rotation(d: np.ndarray, u: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """The standard form W (exp(i beta) - 1) + Z (u - 1) = d with W = z - a, Z = -z: (..., 2, 7)."""
    b = np.exp(1j * beta) - 1.0
    return equal(-b, b - (u - 1.0), d)


def equal(on_a: Any, on_z: Any, value: Any) -> np.ndarray:
    """on_a a + on_z z = value over the complex numbers, as two rows (..., 2, 7)."""
    on_a, on_z, value = np.broadcast_arrays(
        *(np.asarray(x, dtype=complex) for x in (on_a, on_z, value))
    )
    zero = np.zeros(value.shape)
    real = [zero, zero, on_a.real, -on_a.imag, on_z.real, -on_z.imag, -value.real]
    imaginary = [zero, zero, on_a.imag, on_a.real, on_z.imag, on_z.real, -value.imag]
    rows = np.stack([np.stack(real, axis=-1), np.stack(imaginary, axis=-1)], axis=-2)
    return normalised(rows)


def on_line(line: Any, which: str, origin: np.ndarray, size: np.ndarray, who: str) -> np.ndarray:
    """A pivot on the line through two points ((x, y), (x, y)), or complex (2,): (..., 7)."""
    ends = complex_points(line, who)
    if ends.shape[-1:] != (2,):
        raise InvalidInput(
            f"{who} has shape {ends.shape}, expected two points: complex (..., 2) or real "
            "(..., 2, 2)"
        )
    along = ends[..., 1] - ends[..., 0]
    # real arithmetic: numpy rounds complex products of one and of many differently
    length = np.sqrt(along.real * along.real + along.imag * along.imag)
    if (length == 0).any():
        raise InvalidInput(
            f"{who}: both points are equal, expected two different points of the line"
        )
    off = ends[..., 0] - origin
    nx, ny = -along.imag / length, along.real / length
    nx, ny, value = np.broadcast_arrays(nx, ny, (nx * off.real + ny * off.imag) / size)
    zero = np.zeros(value.shape)
    parts = [nx, ny]
    columns = [zero, zero, *parts, zero, zero] if which == "a" else [zero, zero, zero, zero, *parts]
    return np.stack([*columns, -value], axis=-1)


def normalised(rows: np.ndarray) -> np.ndarray:
    """Rows of length one, so that all count alike."""
    size = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(size > 0, size, 1.0)
