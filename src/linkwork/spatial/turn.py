"""Turn: a rotation kept as a product of simple factors,
applied one after the other with the fewest operations.

Between two bodies of a robot stand a turn about the joint's axis and a constant one. Kept apart,
about coordinate axes, they carry a vector in 4 + 3 operations; multiplied out into a matrix, which
has to be computed first, in 8 or 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from casadi import SX

from linkwork.spatial.operators import entries
from linkwork.spatial.vector import matrix, vector

_ZERO = 1e-14  # entries of a rotation below this are rounding


@dataclass(frozen=True)
class Planar:
    """Rotation by an angle in the plane of the coordinate axes i, j: x_i' = c x_i - s x_j,
    x_j' = s x_i + c x_j."""

    i: int
    j: int
    c: SX
    s: SX

    @cached_property
    def T(self) -> Planar:
        return Planar(self.i, self.j, self.c, -self.s)

    def __matmul__(self, x: SX) -> SX:
        if not self._is_constant:
            return self._matrix @ x
        out = entries(x)
        out[self.i], out[self.j] = self.pair(out[self.i], out[self.j])
        return vector(out)

    @cached_property
    def _is_constant(self) -> bool:
        return self.c.is_constant() and self.s.is_constant()

    @cached_property
    def _shear(self) -> SX:
        return self.s / (1 + self.c)

    @cached_property
    def _matrix(self) -> SX:
        """The rotation with its structural zeros: a product with it is traced in one call instead
        of a dozen."""
        i, j = self.i, self.j
        R = SX(3, 3)
        R[i, i] = R[j, j] = self.c
        R[i, j], R[j, i] = -self.s, self.s
        R[3 - i - j, 3 - i - j] = 1
        return R

    def pair(self, x: SX, y: SX) -> tuple[SX, SX]:
        """(x, y) turned. A constant angle by three shears:
        three multiply-adds instead of four operations."""
        c, s = self.c, self.s
        if not self._is_constant:
            return c * x - s * y, s * x + c * y
        t = self._shear
        x = x - t * y
        y = y + s * x
        return x - t * y, y

    def around(self, A: SX, symmetric: bool) -> SX:
        """R A R'.

        The block of the plane has a trace and a skew part that do not change; with d = A_ii - A_jj,
        y = A_ij + A_ji and u = s d + c y:  A_ii - s u, A_jj + s u, and c u - A_ji, c u - A_ij
        beside the diagonal.
        """
        i, j, c, s = self.i, self.j, self.c, self.s
        k = 3 - i - j
        a = _rows(A)
        out = [row.copy() for row in a]
        u = s * (a[i][i] - a[j][j]) + (2 * c * a[i][j] if symmetric else c * (a[i][j] + a[j][i]))
        out[i][i], out[j][j] = a[i][i] - s * u, a[j][j] + s * u
        out[i][j] = c * u - a[j][i]
        out[i][k], out[j][k] = self.pair(a[i][k], a[j][k])
        if symmetric:
            out[j][i], out[k][i], out[k][j] = out[i][j], out[i][k], out[j][k]
        else:
            out[j][i] = c * u - a[i][j]
            out[k][i], out[k][j] = self.pair(a[k][i], a[k][j])
        return matrix(out)


@dataclass(frozen=True)
class Exchange:
    """Axes exchanged, some reversed: x'_k = sign_k x_(from_k). Costs nothing."""

    origin: tuple[int, int, int]
    sign: tuple[int, int, int]

    @cached_property
    def T(self) -> Exchange:
        back = tuple(self.origin.index(k) for k in range(3))
        return Exchange(back, tuple(self.sign[k] for k in back))  # type: ignore[arg-type]

    def __matmul__(self, x: SX) -> SX:
        return self._matrix @ x

    @cached_property
    def _matrix(self) -> SX:
        P = SX(3, 3)
        for k in range(3):
            P[k, self.origin[k]] = self.sign[k]
        return P

    def around(self, A: SX, symmetric: bool) -> SX:
        a, origin, sign = _rows(A), self.origin, self.sign
        rows = [
            [_signed(sign[k] * sign[l], a[origin[k]][origin[l]]) for l in range(3)]
            for k in range(3)
        ]
        return matrix(rows)


def _rows(A: SX) -> list[list[SX]]:
    """The entries of a matrix (3, 3)."""
    by_columns = entries(A)
    return [by_columns[k::3] for k in range(3)]


def _signed(sign: int, x: SX) -> SX:
    return x if sign > 0 else -x


@dataclass(frozen=True, slots=True)
class Dense:
    """A rotation without structure."""

    R: SX

    @property
    def T(self) -> Dense:
        return Dense(self.R.T)

    def __matmul__(self, x: SX) -> SX:
        return self.R @ x

    def around(self, A: SX, symmetric: bool) -> SX:
        half = self.R @ A
        if not symmetric:
            return half @ self.R.T
        out = SX.zeros(3, 3)
        for k in range(3):
            for l in range(k, 3):
                out[k, l] = out[l, k] = half[k, :] @ self.R[l, :].T
        return out


@dataclass(frozen=True, slots=True)
class Turn:
    """The product of factors, the last one applied first. `turn @ x` for a vector,
    `turn.around(A)` for R A R'."""

    factors: tuple[Planar | Exchange | Dense, ...] = ()

    @property
    def T(self) -> Turn:
        return Turn(tuple(f.T for f in reversed(self.factors)))

    def __matmul__(self, x: SX) -> SX:
        for f in reversed(self.factors):
            x = f @ x
        return x

    def after(self, other: Turn) -> Turn:
        """This turn after another one, as one."""
        return Turn(self.factors + other.factors)

    def around(self, A: SX, symmetric: bool = True) -> SX:
        """R A R' of a symmetric matrix (each entry computed once), or of any."""
        for f in reversed(self.factors):
            A = f.around(A, symmetric)
        return A


def constant_turn(R: np.ndarray) -> Turn:
    """A rotation given in numbers as turns about coordinate axes by at most 45 degrees,
    and an exchange of axes."""
    R = np.where(np.abs(R) <= _ZERO, 0.0, R)
    planars: list[Planar] = []
    for _ in range(3):
        if np.count_nonzero(R) == 3:
            break
        k, c = _next(R)
        i, j = ((1, 2), (2, 0), (0, 1))[k]
        angle = np.arctan2(R[j, c], R[i, c])
        angle -= np.round(angle / (np.pi / 2)) * (np.pi / 2)
        cos, sin = float(np.cos(angle)), float(np.sin(angle))
        planars.append(Planar(i, j, SX(cos), SX(sin)))
        R = R.copy()
        R[[i, j]] = np.array([[cos, sin], [-sin, cos]]) @ R[[i, j]]
        R = np.where(np.abs(R) <= _ZERO, 0.0, R)
    origin = tuple(int(np.argmax(np.abs(row))) for row in R)
    sign = tuple(1 if R[k, origin[k]] > 0 else -1 for k in range(3))
    if origin == (0, 1, 2) and sign == (1, 1, 1):
        return Turn(tuple(planars))
    return Turn((*planars, Exchange(origin, sign)))  # type: ignore[arg-type]


def _next(R: np.ndarray) -> tuple[int, int]:
    """(axis, column): turning about that axis until the column lies on one of the other two axes
    leads on fastest."""
    ones = np.argwhere(np.abs(np.abs(R) - 1.0) <= _ZERO)
    for k, c in ones:
        if np.count_nonzero(R[k]) == 1 and np.count_nonzero(R[:, c]) == 1:
            return int(k), (int(c) + 1) % 3
    zeros = np.argwhere(R == 0.0)
    return (int(zeros[0][0]), int(zeros[0][1])) if len(zeros) else (0, 0)
