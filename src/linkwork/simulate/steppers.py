"""Steppers: one step in time, written once for symbols and numbers, on configurations with quaternions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwork.simulate.plant import Plant

Rate = Callable[[Any, Any, Any, Any], tuple[Any, Any, Callable[[Any], Any]]]
"""(t, q, v, s) -> acceleration, rate of the control's state, and the powers for a velocity."""


def rk4(plant: Plant, rate: Rate, t: Any, q: Any, v: Any, s: Any, w: Any, h: Any) -> tuple[Any, Any, Any, Any]:
    """(q, v, s, w) after one classical Runge-Kutta step: fourth order, also where q holds quaternions.

    The configuration moves as q (+) d; d starts at zero and its rate is pulled back from the velocity there
    (Runge-Kutta-Munthe-Kaas). Quaternions stay unit because (+) multiplies unit quaternions.
    Source: [Hairer2006] section IV.8.
    """
    a1, s1, p1 = rate(t, q, v, s)
    d1 = v
    at, v2 = h / 2 * d1, v + h / 2 * a1
    q2, d2 = plant.integrate(q, at), plant.pulled(at, v2)
    a2, s2, p2 = rate(t + h / 2, q2, v2, s + h / 2 * s1)
    at, v3 = h / 2 * d2, v + h / 2 * a2
    q3, d3 = plant.integrate(q, at), plant.pulled(at, v3)
    a3, s3, p3 = rate(t + h / 2, q3, v3, s + h / 2 * s2)
    at, v4 = h * d3, v + h * a3
    q4, d4 = plant.integrate(q, at), plant.pulled(at, v4)
    a4, s4, p4 = rate(t + h, q4, v4, s + h * s3)
    return (
        plant.integrate(q, h / 6 * (d1 + 2 * (d2 + d3) + d4)),
        v + h / 6 * (a1 + 2 * (a2 + a3) + a4),
        s + h / 6 * (s1 + 2 * (s2 + s3) + s4),
        w + h / 6 * (p1(v) + 2 * (p2(v2) + p3(v3)) + p4(v4)),
    )


def semi_implicit_euler(
    plant: Plant, rate: Rate, t: Any, q: Any, v: Any, s: Any, w: Any, h: Any
) -> tuple[Any, Any, Any, Any]:
    """(q, v, s, w) after v += h a(q, v), q (+)= h v: first order, symplectic for a mass matrix that is constant.

    What the listing of [Kusaka2022] amounts to. Work is taken with the mean of both velocities, which is exact for a
    constant mass matrix.
    """
    a, rate_s, power = rate(t, q, v, s)
    after = v + h * a
    return plant.integrate(q, h * after), after, s + h * rate_s, w + h * power((v + after) / 2)


STEPPERS = {"rk4": rk4, "semi_implicit_euler": semi_implicit_euler}
ORDERS = {"rk4": 4, "semi_implicit_euler": 1}
