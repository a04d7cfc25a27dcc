"""The random test arm of [Safeea2019] with any number of joints.

Draws of MATLAB's default generator (Mersenne twister, seed 5489), in the order of the authors' data
file: alpha, a, d, centres of mass, masses, then for each link three angles x, y, z and three
eigenvalues e with I = R' diag(e) R, R = Rx(x) Ry(y) Rz(z). Five joints give the published robot
"christoffel-5". The inertias are positive definite and need not satisfy the triangle inequality.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.model.rotation import about

MOST = 1000
_SEED = 5489


def christoffel_rows(n: int) -> list[dict[str, Any]]:
    """Modified DH rows of the arm with n joints."""
    draw = np.random.RandomState(_SEED).random_sample
    alpha, a, d = draw(n), draw(n), draw(n)
    com, mass = draw((n, 3)), draw(n)
    rows = []
    for k in range(n):
        x, y, z = draw(3)
        R: np.ndarray = np.array(about("x", x)) @ np.array(about("y", y)) @ np.array(about("z", z))
        I = R.T @ np.diag(draw(3)) @ R
        parameters = {"alpha": alpha[k], "a": a[k], "d": d[k], "mass": mass[k]}
        rows.append({**parameters, "com": com[k], "inertia": (I + I.T) / 2.0})
    return rows
