"""Noise: counter-based random numbers in exact double arithmetic, the same on symbols, numbers,
lanes and threads.

A number is a hash of (seed, sample, channel): cubes in the field of the prime 67 108 859, whose
products stay below 2^53 and are therefore exact. Cubing permutes that field
(3 does not divide p - 1), as in the cipher MiMC.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from linkwork.simulation.algebra import is_symbolic, where

PRIME = 67_108_859
_ROUNDS = (40_503_601, 11_400_714, 27_654_847, 51_935_827)
"""What is added before a cube; any numbers below the prime without a pattern will do."""


def _floor(x: Any) -> Any:
    return casadi.floor(x) if is_symbolic(x) else np.floor(x)


def _modulo(x: Any) -> Any:
    """x modulo the prime, exact for whole 0 <= x < 2^52."""
    rest = x - PRIME * _floor(x * (1.0 / PRIME))
    rest = where(rest < 0, rest + PRIME, rest)
    return where(rest >= PRIME, rest - PRIME, rest)


def _cube(x: Any) -> Any:
    x = _modulo(x)
    return _modulo(_modulo(x * x) * x)


def uniforms(seed: Any, sample: Any, channel: int) -> tuple[Any, Any]:
    """Two numbers in (0, 1), decided by seed, sample number and channel alone."""
    x = _cube(seed + _ROUNDS[0])
    x = _cube(x + sample)
    x = _cube(x + ((channel + 1) * _ROUNDS[1]) % PRIME)
    first = _cube(x + _ROUNDS[2])
    second = _cube(first + _ROUNDS[3])
    return (first + 0.5) / PRIME, (second + 0.5) / PRIME


def normals(seed: Any, sample: Any, channel: int) -> tuple[Any, Any]:
    """Two independent standard normal numbers (Box and Muller)."""
    u, w = uniforms(seed, sample, channel)
    if is_symbolic(u):
        radius, angle = casadi.sqrt(-2.0 * casadi.log(u)), 2.0 * np.pi * w
        return radius * casadi.cos(angle), radius * casadi.sin(angle)
    radius, angle = np.sqrt(-2.0 * np.log(u)), 2.0 * np.pi * w
    return radius * np.cos(angle), radius * np.sin(angle)
