"""Steppers: one step in time, written once for symbols and numbers,
on configurations with quaternions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwork.simulation.plant import Plant

Rate = Callable[[Any, Any, Any, Any], tuple[Any, Any, Callable[[Any], Any]]]
"""(t, q, v, s) -> acceleration, rate of the control's state, and the powers for a velocity."""


def rk4(
    plant: Plant, rate: Rate, t: Any, q: Any, v: Any, s: Any, w: Any, h: Any
) -> tuple[Any, Any, Any, Any]:
    """(q, v, s, w) after one classical Runge-Kutta step: fourth order,
    also where q holds quaternions.

    The configuration moves as q (+) d; d starts at zero and its rate is pulled back from the
    velocity there (Runge-Kutta-Munthe-Kaas). Quaternions stay unit because (+) multiplies unit
    quaternions.
    Source: [Hairer2006] section IV.8.
    """
    half, third, sixth = h * 0.5, h * (1 / 3), h * (1 / 6)
    a1, s1, p1 = rate(t, q, v, s)
    d1 = v
    at, v2 = half * d1, v + half * a1
    q2, d2 = plant.integrate(q, at), plant.pulled(at, v2)
    a2, s2, p2 = rate(t + half, q2, v2, s + half * s1)
    at, v3 = half * d2, v + half * a2
    q3, d3 = plant.integrate(q, at), plant.pulled(at, v3)
    a3, s3, p3 = rate(t + half, q3, v3, s + half * s2)
    at, v4 = h * d3, v + h * a3
    q4, d4 = plant.integrate(q, at), plant.pulled(at, v4)
    a4, s4, p4 = rate(t + h, q4, v4, s + h * s3)
    return (
        plant.integrate(q, sixth * (d1 + d4) + third * (d2 + d3)),
        v + sixth * (a1 + a4) + third * (a2 + a3),
        s + sixth * (s1 + s4) + third * (s2 + s3),
        w + sixth * (p1(v) + p4(v4)) + third * (p2(v2) + p3(v3)),
    )


def semi_implicit_euler(
    plant: Plant, rate: Rate, t: Any, q: Any, v: Any, s: Any, w: Any, h: Any
) -> tuple[Any, Any, Any, Any]:
    """(q, v, s, w) after v += h a(q, v), q (+)= h v: first order,
    symplectic for a mass matrix that is constant.

    What the listing of [Kusaka2022] amounts to. Work is taken with the mean of both velocities,
    which is exact for a constant mass matrix.
    """
    a, rate_s, power = rate(t, q, v, s)
    after = v + h * a
    return plant.integrate(q, h * after), after, s + h * rate_s, w + h * power((v + after) / 2)


STEPPERS = {"rk4": rk4, "semi_implicit_euler": semi_implicit_euler}
