"""Linear: Gaussian elimination of complex equations as straight-line code, by structure first.

An unknown that stands in two equations alone is eliminated from them with one comparison; only what
remains is dense, and is eliminated with partial pivoting by conditional swaps.
"""

from __future__ import annotations

from casadi import SX, fmax

from linkwork.polynomials.complex_pair import Complex

Row = dict[int, Complex]
"""Coefficients by unknown; what is missing is zero for every number the equations may see."""


def solve(rows: list[Row], right: list[Complex]) -> list[Complex]:
    """x with sum_j rows[i][j] x_j = right[i]; rows are scaled by their largest coefficient
    first."""
    n = len(rows)
    scaled = [_normalised(row, b) for row, b in zip(rows, right)]
    pairs = _pairs(rows)
    used = {i for _, i, j in pairs for i in (i, j)}
    later: list[tuple[int, Row, Complex]] = []
    dense = [scaled[i] for i in range(n) if i not in used]
    for unknown, i, j in pairs:
        pivot, remaining = _eliminate(unknown, scaled[i], scaled[j])
        later.append((unknown, *pivot))
        dense.append(remaining)
    gone = {unknown for unknown, _, _ in pairs}
    kept = [j for j in range(n) if j not in gone]
    x = dict(zip(kept, _dense(dense, kept)))
    for unknown, row, b in later:
        rest = b
        for j, a in row.items():
            rest = rest if j == unknown else rest - a * x[j]
        x[unknown] = rest / row[unknown]
    return [x[j] for j in range(n)]


def _normalised(row: Row, right: Complex) -> tuple[Row, Complex]:
    size = SX(1e-300)
    for a in row.values():
        size = fmax(size, a.size())
    scale = 1.0 / size
    return {j: a * Complex(scale) for j, a in row.items()}, right * Complex(scale)


def _pairs(rows: list[Row]) -> list[tuple[int, int, int]]:
    """(unknown, equation, equation) for unknowns that stand in exactly two equations,
    which no other of them uses."""
    pairs: list[tuple[int, int, int]] = []
    used: set[int] = set()
    for j in reversed(range(len(rows))):
        at = [i for i, row in enumerate(rows) if j in row]
        if len(at) == 2 and not used.intersection(at):
            pairs.append((j, at[0], at[1]))
            used.update(at)
    return pairs


def _eliminate(
    unknown: int, first: tuple[Row, Complex], second: tuple[Row, Complex]
) -> tuple[tuple[Row, Complex], tuple[Row, Complex]]:
    """(the equation that gives the unknown, what remains of the other):
    the larger coefficient is the pivot."""
    (a, x), (b, y) = first, second
    swap = b[unknown].abs2() > a[unknown].abs2()
    zero = Complex(0.0)
    columns = sorted({*a, *b})
    upper = {j: b.get(j, zero).where(swap, a.get(j, zero)) for j in columns}
    lower = {j: a.get(j, zero).where(swap, b.get(j, zero)) for j in columns}
    above, below = y.where(swap, x), x.where(swap, y)
    factor = lower[unknown] / upper[unknown]
    remaining = {j: lower[j] - factor * upper[j] for j in columns if j != unknown}
    return (upper, above), (remaining, below - factor * above)


def _dense(rows: list[tuple[Row, Complex]], columns: list[int]) -> list[Complex]:
    n = len(columns)
    zero = Complex(0.0)
    A = [[row.get(j, zero) for j in columns] + [b] for row, b in rows]
    for k in range(n):
        for i in range(k + 1, n):  # the largest one comes up
            swap = A[i][k].abs2() > A[k][k].abs2()
            for j in range(k, n + 1):
                up, down = A[i][j], A[k][j]
                A[k][j], A[i][j] = up.where(swap, down), down.where(swap, up)
        inverse = A[k][k].inverse()
        for i in range(k + 1, n):
            factor = A[i][k] * inverse
            for j in range(k + 1, n + 1):
                A[i][j] = A[i][j] - factor * A[k][j]
        A[k][k] = inverse
    x: list[Complex] = [zero] * n
    for k in reversed(range(n)):
        rest = A[k][n]
        for j in range(k + 1, n):
            rest = rest - A[k][j] * x[j]
        x[k] = rest * A[k][k]
    return x


def largest(values: list[Complex]) -> SX:
    """max |z|^2."""
    size = SX(0)
    for z in values:
        size = fmax(size, z.abs2())
    return size
