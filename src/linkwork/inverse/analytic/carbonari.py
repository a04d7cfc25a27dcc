"""Offset-wrist arms as [Carbonari2023] solves them:
a polynomial of degree 16 in a Cayley parameter, half of it false.

A reference for the paper's tables and for teaching; the library's own solver is offset_wrist.py.
Unknowns are the Cayley parameters c1, c2, c3 of the rotation R04 = (I + C)(I - C)^-1; three
constraints, all quadrics in c, are eliminated by two resultants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_STAYS = 1e-2  # of its size: false roots are farther from any solution, true ones are known better
_MONOMIALS = (
    (0, 0, 2),
    (0, 1, 1),
    (1, 0, 1),
    (0, 0, 1),
    (0, 2, 0),
    (1, 1, 0),
    (0, 1, 0),
    (2, 0, 0),
    (1, 0, 0),
    (0, 0, 0),
)


@dataclass(frozen=True)
class Roots:
    """The sixteen roots of Lambda (25): c (16, 3) complex,
    and whether each fulfils all three constraints.

    coefficients: of Lambda, highest power of c1 first; point: P4 (16, 3) in frame 0.
    """

    coefficients: np.ndarray
    c: np.ndarray
    genuine: np.ndarray
    point: np.ndarray

    @property
    def real(self) -> np.ndarray:
        """Which roots are real."""
        return np.abs(self.c[:, 0].imag) < 1e-6 * np.maximum(1.0, np.abs(self.c[:, 0]))


def constraint_coefficients(
    P5: np.ndarray, P6: np.ndarray, d1: float, a2: float, d4: float, d5: float
) -> np.ndarray:
    """phi (3, 10): coefficients of c1^i c2^j c3^k in Phi4, Phi5, Phi6 (appendix A),
    monomials in order `_MONOMIALS`.

    Corrected, re-derived: (17) has a2^2 (1 + c.c)^2 in its last term, not a2^2; in phi6 "-d2^2" is
    -a2^2 and entries 011, 101 and 200 are damaged; (14) lost its z.
    """
    (x, y, z), (X, Y, Z) = P5, P6
    K = x * x + y * y + z * z - a2**2 + d1**2 + d4**2 + d5**2
    plane = (x, 0.0, -2 * d5, -2 * y, -x, 2 * y, 2 * d5, x, 0.0, -x)
    square = (
        z - Z,
        2 * (y - Y),
        2 * (x - X),
        0.0,
        Z - z,
        0.0,
        2 * (x - X),
        Z - z,
        2 * (Y - y),
        z - Z,
    )
    length = (
        K - 2 * y * d4 - 2 * z * (d1 + d5) + 2 * d1 * d5,
        -4 * y * d5 + 4 * z * d4 - 4 * d1 * d4,
        -4 * x * d5,
        -4 * x * d4,
        K + 2 * y * d4 - 2 * z * (d1 - d5) - 2 * d1 * d5,
        4 * x * d4,
        -4 * x * d5,
        K - 2 * y * d4 - 2 * z * (d1 - d5) - 2 * d1 * d5,
        4 * y * d5 + 4 * z * d4 - 4 * d1 * d4,
        K + 2 * y * d4 - 2 * z * (d1 + d5) + 2 * d1 * d5,
    )
    phi = np.array([plane, square, length])
    return phi / np.abs(phi).max(axis=1, keepdims=True)


def solve(P5: np.ndarray, P6: np.ndarray, d1: float, a2: float, d4: float, d5: float) -> Roots:
    """All sixteen roots for the wrist points P5, P6 of a target, seen in frame 0.

    genuine: Newton's steps on the three constraints stay at the root (and give it the digits that
    the polynomial, in double precision, has lost). Missing in the paper: without such a test half
    of the roots are false, because the two resultants may vanish for two different c3.
    """
    phi = constraint_coefficients(P5, P6, d1, a2, d4, d5)
    quadratics = [_in_c3(row) for row in phi]
    omega = [_resultant(quadratics[0], quadratics[2]), _resultant(quadratics[1], quadratics[2])]
    coefficients = _determinant(omega)
    c = np.array([_back(omega, quadratics, value) for value in np.roots(coefficients)])
    refined = _refined(phi, c)
    moved = np.abs(refined - c).max(axis=1) / np.abs(c).max(axis=1)
    genuine = moved < _STAYS
    c = np.where(genuine[:, None], refined, c)
    return Roots(coefficients, c, genuine, P5 - d5 * _third_column(c))


def _refined(phi: np.ndarray, c: np.ndarray) -> np.ndarray:
    """c (n, 3) after a few of Newton's steps on Phi4 = Phi5 = Phi6 = 0, over the complex
    numbers."""
    c = c.copy()
    for _ in range(8):
        F = np.stack([_value(row, c) for row in phi], axis=-1)
        J = np.stack(
            [np.stack([_slope(row, c, k) for k in range(3)], axis=-1) for row in phi], axis=-2
        )
        c = c - np.linalg.solve(J + 1e-300 * np.eye(3), F[..., None])[..., 0]
    return c


def _slope(row: np.ndarray, c: np.ndarray, by: int) -> np.ndarray:
    total = np.zeros(len(c), dtype=complex)
    for value, powers in zip(row, _MONOMIALS, strict=True):
        if powers[by]:
            left = [p - (k == by) for k, p in enumerate(powers)]
            total += (
                value * powers[by] * np.prod([c[:, k] ** p for k, p in enumerate(left)], axis=0)
            )
    return total


def _in_c3(row: np.ndarray) -> list[np.ndarray]:
    """chi_0, chi_1, chi_2 (appendix B): coefficients of c3^k,
    each an array [power of c1, power of c2] (20)."""
    chi = [np.zeros((3, 3)) for _ in range(3)]
    for value, (i, j, k) in zip(row, _MONOMIALS, strict=True):
        chi[k][i, j] = value
    return chi


def _resultant(a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
    """Psi = (a2 b0 - a0 b2)^2 - (a2 b1 - a1 b2)(a1 b0 - a0 b1): degree 4 in (c1, c2),
    by convolution (21)-(22)."""
    first = _times(a[2], b[0]) - _times(a[0], b[2])
    second = _times(a[2], b[1]) - _times(a[1], b[2])
    third = _times(a[1], b[0]) - _times(a[0], b[1])
    psi = _times(first, first) - _times(second, third)
    return psi[:5, :5] / np.abs(psi).max()


def _times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    out = np.zeros(
        (p.shape[0] + q.shape[0] - 1, p.shape[1] + q.shape[1] - 1), dtype=np.result_type(p, q)
    )
    for (i, j), value in np.ndenumerate(p):
        out[i : i + q.shape[0], j : j + q.shape[1]] += value * q
    return out


def _determinant(omega: list[np.ndarray]) -> np.ndarray:
    """Lambda(c1), degree 16, highest power first: the 8 x 8 Sylvester determinant at 32 points,
    by DFT (24)-(25)."""
    points = np.exp(2j * np.pi * np.arange(32) / 32)
    values = np.array([np.linalg.det(_sylvester(omega, x)) for x in points])
    ascending = np.fft.fft(values).real / 32
    return ascending[16::-1]


def _in_c2(omega: np.ndarray, c1: complex) -> np.ndarray:
    """omega_j (23): coefficients of c2^j, j = 0 .. 4, at a value of c1."""
    return c1 ** np.arange(5) @ omega


def _sylvester(omega: list[np.ndarray], c1: complex) -> np.ndarray:
    M = np.zeros((8, 8), dtype=complex)
    for k in range(2):
        row = _in_c2(omega[k], c1)[::-1]
        for i in range(4):
            M[4 * k + i, i : i + 5] = row
    return M


def _back(
    omega: list[np.ndarray], quadratics: list[list[np.ndarray]], c1: complex
) -> tuple[complex, complex, complex]:
    """(c1, c2, c3): c2 from the null vector of the Sylvester matrix (29),
    c3 from two of the quadratics (30)."""
    _, _, Vh = np.linalg.svd(_sylvester(omega, c1))
    v = Vh[-1].conj()
    k = int(np.argmax(np.abs(v[1:])))
    c2 = v[k] / v[k + 1]
    powers = np.outer(c1 ** np.arange(3), c2 ** np.arange(3))
    rows = [[np.sum(chi * powers) for chi in q] for q in quadratics]
    A = np.array([[row[2], row[1]] for row in rows])
    b = -np.array([row[0] for row in rows])
    _, c3 = np.linalg.lstsq(A[[0, 2]], b[[0, 2]], rcond=None)[0]
    return c1, c2, c3


def _value(row: np.ndarray, c: np.ndarray) -> np.ndarray:
    return sum(
        v * c[:, 0] ** i * c[:, 1] ** j * c[:, 2] ** k
        for v, (i, j, k) in zip(row, _MONOMIALS, strict=True)
    )


def _third_column(c: np.ndarray) -> np.ndarray:
    """z4, the third column of R04 (6)."""
    c1, c2, c3 = c.T
    n = 1 + c1**2 + c2**2 + c3**2
    return (
        np.stack([2 * (c1 * c3 + c2), 2 * (c2 * c3 - c1), 1 - c1**2 - c2**2 + c3**2], axis=1)
        / n[:, None]
    )
