"""Poles: the landmarks of a motion in the plane, and the cubics that pass through them.

P_ij is the point that stays where it is while the body goes from position i to j. The centre-point
curve, the locus of ground pivots of four positions, is a circular cubic through the six poles and
the six opposite points Pi_ij; the circle-point curve, of moving pivots at position 1, is one
through the image poles.
Source: [Mather2023] eq. 23-24. Corrected: Pi_12 is printed with the same line twice, and (24) is
unreadable.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from linkwork.errors import NotPossible
from linkwork.synthesis.task import PlanarTask, as_task, check_poses

Landmarks = dict[tuple[int, int], complex]
MONOMIALS = ("x^3", "x^2 y", "x y^2", "y^3", "x^2", "x y", "y^2", "x", "y", "1")
_OPPOSITE = {
    (1, 2): (((1, 3), (2, 3)), ((1, 4), (2, 4))),
    (1, 3): (((1, 2), (2, 3)), ((1, 4), (3, 4))),
    (1, 4): (((1, 2), (2, 4)), ((1, 3), (3, 4))),
    (2, 3): (((1, 2), (1, 3)), ((2, 4), (3, 4))),
    (2, 4): (((1, 2), (1, 4)), ((2, 3), (3, 4))),
    (3, 4): (((1, 3), (1, 4)), ((2, 3), (2, 4))),
}
"""Pi_ij: where two lines, each through two poles, meet."""


def poles(task: PlanarTask) -> Landmarks:
    """P_ij by (i, j), i < j [m]; infinite for positions with the same angle."""
    task = _one(task, "poles", 2)
    P, u = task.positions, np.exp(1j * task.angles)
    centres = {}
    for i, j in combinations(range(task.n), 2):
        r = u[j] / u[i]
        bottom = 1.0 - r
        centres[i + 1, j + 1] = (
            complex((P[j] - r * P[i]) / bottom) if abs(bottom) > 1e-14 else complex(np.inf, np.inf)
        )
    return centres


def image_poles(task: PlanarTask) -> Landmarks:
    """P_ij as it lies on the body at position 1."""
    task = _one(task, "image_poles", 2)
    u = np.exp(1j * (task.angles - task.angles[0]))
    at = lambda i, p: complex(task.positions[0] + (p - task.positions[i - 1]) / u[i - 1])
    return {(i, j): at(i, p) for (i, j), p in poles(task).items()}


def opposite_points(task: PlanarTask, image: bool = False) -> Landmarks:
    """Pi_ij of four positions on the centre-point curve, or with `image` on the circle-point
    curve."""
    task = _one(task, "opposite_points", 4, 4)
    P = image_poles(task) if image else poles(task)
    return {
        ij: _meet(*(P[k] for k in first), *(P[k] for k in second))
        for ij, (first, second) in _OPPOSITE.items()
    }


def center_cubic(task: PlanarTask) -> np.ndarray:
    """(10,) coefficients of the centre-point curve, in the order of MONOMIALS,
    the first one 1 where it can be.

    Rows j = 2 .. 4 of the determinant: [q_j - q_1, conj(q_j - q_1), |P_j - m|^2 - |P_1 - m|^2], q_j
    = (P_j - m)* u_j.
    """
    task = _one(task, "center_cubic", 4, 4)
    return _cubic(task.positions, np.exp(1j * task.angles))


def circle_cubic(task: PlanarTask) -> np.ndarray:
    """(10,) coefficients of the circle-point curve: the centre-point curve of the inverse
    motion."""
    task = _one(task, "circle_cubic", 4, 4)
    u = np.exp(1j * (task.angles - task.angles[0]))
    origin = task.positions[0]
    return _cubic(origin + (origin - task.positions) / u, 1.0 / u)


def cubic_value(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The polynomial at complex points (...,)."""
    x, y = points.real, points.imag
    terms = [x**3, x**2 * y, x * y**2, y**3, x**2, x * y, y**2, x, y, np.ones_like(x)]
    return sum(c * t for c, t in zip(coefficients, terms))


def _cubic(P: np.ndarray, u: np.ndarray) -> np.ndarray:
    """From the determinant's values at more points than it has coefficients."""
    centre = P.mean()
    size = max(float(np.abs(P - centre).max()), 1e-300)
    P = (P - centre) / size
    x, y = (v.ravel() for v in np.meshgrid(np.linspace(-1.5, 1.5, 5), np.linspace(-1.4, 1.6, 5)))
    m = x + 1j * y
    q = (P - m[:, None]).conj() * u
    square = np.abs(P - m[:, None]) ** 2
    e, s = q[:, 1:] - q[:, :1], square[:, 1:] - square[:, :1]
    determinant = np.linalg.det(np.stack([e, e.conj(), s + 0j], axis=-1)).imag
    terms = np.stack(
        [x**3, x**2 * y, x * y**2, y**3, x**2, x * y, y**2, x, y, np.ones_like(x)], axis=-1
    )
    local = np.linalg.lstsq(terms, determinant, rcond=None)[0]
    moved = _shifted(
        local / size ** np.array([3, 3, 3, 3, 2, 2, 2, 1, 1, 0]), centre.real, centre.imag
    )
    scale = moved[0] if abs(moved[0]) > 1e-9 * np.abs(moved[:4]).max() else np.abs(moved[:4]).max()
    return moved / scale


def _shifted(c: np.ndarray, x0: float, y0: float) -> np.ndarray:
    """Coefficients of p(x - x0, y - y0)."""
    powers = [(3, 0), (2, 1), (1, 2), (0, 3), (2, 0), (1, 1), (0, 2), (1, 0), (0, 1), (0, 0)]
    out = dict.fromkeys(powers, 0.0)
    line = lambda n, shift: np.polynomial.polynomial.polypow([-shift, 1.0], n)
    for value, (i, j) in zip(c, powers):
        for a, ca in enumerate(line(i, x0)):
            for b, cb in enumerate(line(j, y0)):
                out[a, b] += value * ca * cb
    return np.array([out[k] for k in powers])


def _meet(a: complex, b: complex, c: complex, d: complex) -> complex:
    """Where the line through a and b meets the one through c and d."""
    r, s = b - a, d - c
    bottom = (r.conjugate() * s).imag
    if abs(bottom) < 1e-14 * abs(r) * abs(s) or not np.isfinite(bottom):
        return complex(np.inf, np.inf)
    return a + r * ((c - a).conjugate() * s).imag / bottom


def _one(task: PlanarTask, who: str, least: int, most: int | None = None) -> PlanarTask:
    task = as_task(task, who)
    check_poses(task, who)
    if task.batch or task.n < least or (most is not None and task.n > most):
        told = f"{least} poses" if most else f"at least {least} poses"
        raise NotPossible(
            f"{who}: the task has {task.n} positions and batch {task.batch}, expected one task "
            f"of {told}"
        )
    return task
