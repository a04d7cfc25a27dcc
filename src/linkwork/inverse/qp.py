"""The quadratic program of differential inverse kinematics,
solved by the dual active-set solver DAQP.

    minimise  x'H x / 2 + c'x    with    lower <= x <= upper,   A x = b,   G x <= h

Of the solvers at hand this one is exact on the ill-conditioned problems that weakly damped tasks
make: within 2e-9 of quadprog's optimum where H has a condition of 1e14. (CasADi's own qrqp reports
success far from the optimum there, and its copy of DAQP loses all digits.)

Source: [Arnstrom2022].
"""

from __future__ import annotations

import functools
from types import ModuleType

import numpy as np

from linkwork.errors import InvalidInput, NotPossible

ENDLESS = 1e30
_EQUALITY = 5  # what DAQP calls a constraint that is always active
_SOLVED = 1


def solve_qp(
    who: str,
    H: np.ndarray,
    c: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    G: np.ndarray | None = None,
    h: np.ndarray | None = None,
) -> np.ndarray:
    """x (n,), or NotPossible where equalities, inequalities and bounds contradict each other."""
    low, high = np.maximum(lower, -ENDLESS), np.minimum(upper, ENDLESS)
    n, m = len(c), len(b)
    k = 0 if h is None else len(h)
    rows = A if G is None else np.concatenate([A, G])
    # the first n rows are bounds on x itself, then m equalities,
    # then k rows that are bounded from above
    sense = np.zeros(n + m + k, dtype=np.int32)
    above = np.empty(n + m + k)
    below = np.empty(n + m + k)
    sense[n : n + m] = _EQUALITY
    above[:n], above[n : n + m] = high, b
    below[:n], below[n : n + m], below[n + m :] = low, b, -ENDLESS
    if h is not None:
        np.minimum(h, ENDLESS, out=above[n + m :])
    x, _, flag, _ = _daqp(who).solve(
        np.ascontiguousarray(H), c, np.ascontiguousarray(rows), above, below, sense
    )
    if flag != _SOLVED or not np.isfinite(x).all():
        if not (np.isfinite(H).all() and np.isfinite(c).all()):
            raise InvalidInput(
                f"{who}: targets, costs or damping are so large that their squares are not finite"
            )
        raise NotPossible(f"{who}: the constraints cannot be met within the limits of this step")
    return np.minimum(np.maximum(x, low), high)


@functools.cache
def _daqp(who: str) -> ModuleType:
    try:
        import daqp
    except ImportError:
        raise NotPossible(f"{who} needs the QP solver DAQP: pip install 'linkwork[qp]'") from None
    return daqp
