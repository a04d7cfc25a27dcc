"""Chains: where the points of a crank-driven four-bar or six-bar are, in closed form.

Two links between known ends are a triangle: with R from the first end to the second, links b and c,

    k = (|R|^2 + b^2 - c^2) / (2 b),    e = R (k + i side sqrt(|R|^2 - k^2)) / |R|^2

is the direction of the first link; `side` chooses the assembly. A four-bar is one triangle on a
crank, a six-bar two: a point E of the coupler, a pivot F on the ground (Stephenson III) or on the
rocker (Watt I), and links E-H and F-H.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX, fmax

from linkwork.engine import keys
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.complex_pair import Complex, pairs
from linkwork.synthesis.linkage import FOUR_BAR, Topology

FOUR = "four-bar"
STEPHENSON, WATT = "Stephenson III", "Watt I"


@dataclass(frozen=True)
class Chain:
    """One kind of crank-driven linkage.

    parameters   how many; the first seven are Ax, Ay, Gx, Gy (ground vector A to D), crank,
                 coupler, rocker
    sides        how many assemblies are chosen
    vectors      first numbers of the pairs that turn with the ground line; other numbers are
                 lengths
    along        two points of the tracer's body: its direction is from the first to the second
    topology     of its linkages
    """

    name: str
    parameters: int
    sides: int
    vectors: tuple[int, ...]
    along: tuple[str, str]
    topology: Topology


def _six_bar(name: str, ground: tuple[str, ...], rocker: tuple[str, ...]) -> Topology:
    bodies = {"ground": ground, "crank": ("A", "B"), "coupler": ("B", "C", "E"), "rocker": rocker}
    bodies |= {"link": ("E", "H", "P"), "lever": ("F", "H")}
    base = "ground" if "F" in ground else "rocker"
    pins = (
        ("A", "ground", "crank"),
        ("D", "ground", "rocker"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
        ("E", "coupler", "link"),
        ("F", base, "lever"),
        ("H", "link", "lever"),
    )
    return Topology(name, bodies, pins, driver="crank", tracer=("link", "P"))


CHAINS = {
    FOUR: Chain(FOUR, 9, 1, (2,), ("B", "C"), FOUR_BAR["crank"]),
    STEPHENSON: Chain(
        STEPHENSON, 15, 2, (2, 9), ("E", "H"), _six_bar(STEPHENSON, ("A", "D", "F"), ("D", "C"))
    ),
    WATT: Chain(WATT, 15, 2, (2,), ("E", "H"), _six_bar(WATT, ("A", "D"), ("D", "C", "F"))),
}


def points_of(
    name: str, p: SX, sides: SX, crank: Complex
) -> tuple[dict[str, Complex], Complex, list[SX]]:
    """(points by name, direction of the tracer's body, what must be positive for each triangle).

    crank   its direction, a unit vector. What must be positive is the square of the last link's
            distance from the line of the first: (c sin mu)^2, mu the transmission angle.
    """
    A = Complex(p[0], p[1])
    D = A + Complex(p[2], p[3])
    B = A + crank * Complex(p[4])
    e, first = _triangle(B, D, p[5], p[6], sides[0])
    C = B + e * Complex(p[5])
    on_coupler = B + Complex(p[7], p[8]) * e
    if name == FOUR:
        return {"A": A, "D": D, "B": B, "C": C, "P": on_coupler}, e, [first]
    if name == STEPHENSON:
        F = A + Complex(p[9], p[10])
    else:
        F = D + Complex(p[9], p[10]) * (C - D) * Complex(1.0 / p[6])
    E = on_coupler
    direction, second = _triangle(E, F, p[11], p[12], sides[1])
    H = E + direction * Complex(p[11])
    P = E + Complex(p[13], p[14]) * direction
    points = {"A": A, "D": D, "B": B, "C": C, "E": E, "F": F, "H": H, "P": P}
    return points, direction, [first, second]


def _triangle(first: Complex, second: Complex, b: SX, c: SX, side: SX) -> tuple[Complex, SX]:
    R = second - first
    r2 = R.abs2()
    k = (r2 + b * b - c * c) / (2 * b)
    inside = r2 - k * k
    h = side * casadi.sqrt(fmax(inside, 1e-12))
    inverse = 1.0 / fmax(r2, 1e-12)
    return Complex((R.re * k - R.im * h) * inverse, (R.im * k + R.re * h) * inverse), inside


@functools.cache
def _kernel(name: str) -> Kernel:
    chain = CHAINS[name]
    count = len(chain.topology.points)

    def posture(p: SX, sides: SX, theta: SX) -> tuple[SX, SX]:
        points, _, inside = points_of(name, p, sides, Complex.direction(theta))
        return pairs([points[label] for label in chain.topology.points]), casadi.vertcat(*inside)

    inputs = (("p", (chain.parameters,)), ("sides", (chain.sides,)), ("theta", ()))
    signature = Signature(
        f"chain {name}", inputs, (("points", (count, 2)), ("inside", (chain.sides,)))
    )
    return traced(signature, posture, keys.key(__name__, "postures", name))


def postures(
    name: str, p: np.ndarray, sides: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(points (..., k) complex in the order of the topology, assembled (...,)) of p (..., n),
    sides (..., s), theta."""
    batch = np.broadcast_shapes(p.shape[:-1], sides.shape[:-1], np.shape(theta))
    wide = lambda x: np.ascontiguousarray(
        np.broadcast_to(x, (*batch, *np.shape(x)[-1:])), dtype=float
    )
    angle = np.ascontiguousarray(np.broadcast_to(theta, batch), dtype=float)
    points, inside = _kernel(name)(wide(p), wide(sides), angle)
    return points[..., 0] + 1j * points[..., 1], (inside >= 0).all(axis=-1)


def parameters_of(name: str, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(parameters (m, n), sides (m, s)) of points (m, k) complex in the order of the topology:
    undoes `postures`."""
    at = dict(zip(CHAINS[name].topology.points, points.T, strict=True))
    A, D, B, C, P = (at[label] for label in "ADBCP")
    e = (C - B) / np.abs(C - B)
    arm = ((P if name == FOUR else at["E"]) - B) / e
    parts = [A, D - A, np.abs(B - A), np.abs(C - B), np.abs(C - D), arm]
    sides = [((D - B).conj() * (C - B)).imag]
    if name != FOUR:
        E, F, H = (at[label] for label in "EFH")
        pivot = F - A if name == STEPHENSON else (F - D) * np.abs(C - D) / (C - D)
        parts += [pivot, np.abs(H - E), np.abs(H - F), (P - E) * np.abs(H - E) / (H - E)]
        sides.append(((F - E).conj() * (H - E)).imag)
    numbers = [
        x for part in parts for x in ((part.real, part.imag) if np.iscomplexobj(part) else (part,))
    ]
    return np.stack(numbers, axis=-1), np.where(np.stack(sides, axis=-1) < 0, -1.0, 1.0)


def tracer_of(name: str, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(tracer, direction of its body), complex (...,) each,
    of points (..., k) as `postures` gives them."""
    labels = CHAINS[name].topology.points
    first, second = (points[..., labels.index(label)] for label in CHAINS[name].along)
    line = second - first
    return points[..., labels.index("P")], line / np.maximum(np.abs(line), 1e-12)


def scaled(name: str, p: np.ndarray, factor: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Parameters (m, n) of the same linkages turned and enlarged by `factor` (m,) complex,
    with A at `origin` (m,)."""
    moved = p * np.abs(factor)[:, None]
    for k in CHAINS[name].vectors:
        vector = (p[:, k] + 1j * p[:, k + 1]) * factor
        moved[:, k], moved[:, k + 1] = vector.real, vector.imag
    moved[:, 0], moved[:, 1] = origin.real, origin.imag
    return moved
