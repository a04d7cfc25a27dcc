"""Configurations: adding a velocity to a configuration and taking the difference of two,
on unit quaternions."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.spatial import cross, quaternion_rotation

# below this angle squared what follows the terms kept is less than rounding,
# in the sums they go into
_SMALL = 1e-3


def integrate(tree: Tree, q: SX, v: SX) -> SX:
    """q (+) v: the configuration reached by the constant body velocity v during one unit of time.

    One-coordinate joints add. Quaternions are multiplied by exp(v / 2) on the right and normalised;
    a floating joint moves along the screw of v: p + R V(w) u with V the left Jacobian of rotations.
    """
    out = SX(q)
    for node in tree.nodes:
        if node.row.is_ball:
            out[node.q : node.q + 4] = _turned(q[node.q : node.q + 4], v[node.v : node.v + 3])
        elif node.row.is_free:
            u, w = v[node.v : node.v + 3], v[node.v + 3 : node.v + 6]
            xyzw = q[node.q + 3 : node.q + 7]
            b, c = _exponential_coefficients(casadi.dot(w, w))
            step = u + b * cross(w, u) + c * cross(w, cross(w, u))
            out[node.q : node.q + 3] = q[node.q : node.q + 3] + quaternion_rotation(xyzw) @ step
            out[node.q + 3 : node.q + 7] = _turned(xyzw, w)
        elif node.nv == 1:
            out[node.q] = q[node.q] + v[node.v]
    return out


def difference(tree: Tree, q0: SX, q1: SX) -> SX:
    """v with q0 (+) v = q1, of the shortest turn."""
    out = SX(tree.nv, 1)
    for node in tree.nodes:
        if node.row.is_ball:
            out[node.v : node.v + 3] = _turn_between(
                q0[node.q : node.q + 4], q1[node.q : node.q + 4]
            )
        elif node.row.is_free:
            a, b = q0[node.q + 3 : node.q + 7], q1[node.q + 3 : node.q + 7]
            w = _turn_between(a, b)
            d = quaternion_rotation(a).T @ (q1[node.q : node.q + 3] - q0[node.q : node.q + 3])
            c = _inverse_coefficient(casadi.dot(w, w))
            out[node.v : node.v + 3] = d - cross(w, d) / 2 + c * cross(w, cross(w, d))
            out[node.v + 3 : node.v + 6] = w
        elif node.nv == 1:
            out[node.v] = q1[node.q] - q0[node.q]
    return casadi.densify(out)


def _exponential_coefficients(tt: SX) -> tuple[SX, SX]:
    """(1 - cos t)/t^2 = 2 (sin(t/2)/t)^2, (t - sin t)/t^3 of t = sqrt(tt); series near 0."""
    near = tt < _SMALL
    safe = casadi.if_else(near, 1.0, tt)
    t = casadi.sqrt(safe)
    half = casadi.sin(t / 2) / t
    b = casadi.if_else(near, (1 - tt / 12 * (1 - tt / 30 * (1 - tt / 56))) / 2, 2 * half * half)
    c = casadi.if_else(near, (1 - tt / 20 * (1 - tt / 42)) / 6, (t - casadi.sin(t)) / (safe * t))
    return b, c


def _inverse_coefficient(tt: SX) -> SX:
    """(1 - (t/2) cot(t/2)) / t^2, by series near zero."""
    safe = casadi.if_else(tt < _SMALL, 1.0, tt)
    half = casadi.sqrt(safe) / 2
    exact = (1 - half * casadi.cos(half) / casadi.sin(half)) / safe
    return casadi.if_else(tt < _SMALL, (1 + tt / 60 * (1 + tt / 42)) / 12, exact)


def _turned(xyzw: SX, w: SX) -> SX:
    """xyzw * exp(w / 2), normalised."""
    hh = casadi.dot(w, w) / 4
    safe = casadi.if_else(hh < _SMALL, 1.0, hh)
    t = casadi.sqrt(safe)
    sinc = casadi.if_else(
        hh < _SMALL, 1 - hh / 6 * (1 - hh / 20 * (1 - hh / 42)), casadi.sin(t) / t
    )
    cosine = casadi.if_else(hh < _SMALL, 1 - hh / 2 * (1 - hh / 12 * (1 - hh / 30)), casadi.cos(t))
    result = quaternion_product(xyzw, casadi.vertcat(w / 2 * sinc, cosine))
    return result / casadi.sqrt(casadi.dot(result, result))


def _turn_between(a: SX, b: SX) -> SX:
    """Rotation vector w with a * exp(w / 2) = +-b, |w| <= pi."""
    r = quaternion_product(casadi.vertcat(-a[0:3], a[3]), b)
    r = r * casadi.if_else(r[3] < 0, -1.0, 1.0)
    nn = casadi.dot(r[0:3], r[0:3])
    tiny = nn < 1e-10
    n = casadi.sqrt(casadi.if_else(tiny, 1.0, nn))
    ratio = casadi.if_else(
        tiny, 2 / r[3] * (1 - nn / (3 * r[3] * r[3])), 2 * casadi.atan2(n, r[3]) / n
    )
    return ratio * r[0:3]


def quaternion_product(a: SX, b: SX) -> SX:
    """a b for quaternions (x, y, z, w)."""
    u, v = a[0:3], b[0:3]
    return casadi.vertcat(a[3] * v + b[3] * u + cross(u, v), a[3] * b[3] - casadi.dot(u, v))
