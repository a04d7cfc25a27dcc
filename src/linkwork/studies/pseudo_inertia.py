"""Pseudo-inertia: inertial parameters that some distribution of matter can have,
and the nearest of them to data.

The pseudo-inertia of a body is the 4 x 4 matrix of its moments of mass of order 0, 1, 2,

    P = [ S  h ]      S = tr(I) 1 / 2 - I,    I about the body's origin,    h = m c
        [ h' m ]

and the parameters belong to a body of positive density exactly when P is positive definite; that
includes positive mass, positive definite inertia and the triangle inequality. Source: [Wensing2018]
section III.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.errors import NotPossible
from linkwork.recursions.regressor import PAIRS

SMALLEST = 1e-6
"""Least eigenvalue of P of a found body, as part of the described body's in the same directions."""
UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))
"""Entries of a symmetric 4 x 4 matrix as a vector: the upper triangle, column by column."""
ROOT = np.array([1.0 if i == j else math.sqrt(2.0) for i, j in UPPER])
"""Weights that make the vector's length the matrix's (Frobenius)."""


def pseudo_inertia(parameters: np.ndarray) -> np.ndarray:
    """P (..., 4, 4) of ten parameters (..., 10) in the order of `robot.parameters`."""
    x = np.asarray(parameters, dtype=float)
    P = np.zeros((*x.shape[:-1], 4, 4))
    I = np.zeros((*x.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        I[..., i, j] = I[..., j, i] = x[..., 4 + k]
    trace = I[..., 0, 0] + I[..., 1, 1] + I[..., 2, 2]
    P[..., :3, :3] = 0.5 * trace[..., None, None] * np.eye(3) - I
    P[..., :3, 3] = P[..., 3, :3] = x[..., 1:4]
    P[..., 3, 3] = x[..., 0]
    return P


def parameters_of(P: np.ndarray) -> np.ndarray:
    """Ten parameters (..., 10) of pseudo-inertias (..., 4, 4): I = tr(S) 1 - S."""
    S = P[..., :3, :3]
    trace = S[..., 0, 0] + S[..., 1, 1] + S[..., 2, 2]
    I = trace[..., None, None] * np.eye(3) - S
    moments = [I[..., i, j] for i, j in PAIRS]
    return np.stack([P[..., 3, 3], P[..., 0, 3], P[..., 1, 3], P[..., 2, 3], *moments], axis=-1)


def nearest_physical(
    R: np.ndarray, z: np.ndarray, others: int, described: np.ndarray, belief: float
) -> tuple[np.ndarray, np.ndarray]:
    """The parameters of physical bodies that fit best:
    phi (10 nb,) and the other unknowns (others,), not negative.

        min |R (phi, x) - z|^2 + sum over bodies |L^-1 (P(phi_b) - P0) L^-T|^2 / belief^2,    P0 = L L'
        so that L^-1 P(phi_b) L^-T >= SMALLEST 1,    x >= 0

    R (k, 10 nb + others), z (k,)   the data, whitened: one standard deviation of the noise is 1
    described (nb, 10)              parameters of the description; what the data do not show stays
                                    near them
    belief                          relative standard deviation that the description is given

    The second term is the distance of matter distributions to second order, so it does not depend
    on the choice of frames or units. Source: [Lee2020] (constant pullback); bodies described
    without mass stay without.
    """
    try:
        import clarabel
    except ImportError:
        raise NotPossible(
            "identify: physical=True needs the package clarabel: pip install 'linkwork[identify]' "
            "(or physical=False)"
        ) from None
    from scipy import sparse

    bodies = np.flatnonzero(described[:, 0] > 0.0)
    T = _coordinates(described, bodies)
    n = 10 * len(bodies)
    fixed = described.copy()
    fixed[bodies] = 0.0
    A = np.hstack([R[:, : 10 * len(described)] @ T, R[:, 10 * len(described) :]])
    rhs = z - R[:, : 10 * len(described)] @ fixed.ravel()
    # svec of the identity: as described
    at_one = np.tile([1.0 if i == j else 0.0 for i, j in UPPER], len(bodies))
    weight = np.concatenate([np.full(n, 1.0 / belief), np.zeros(others)])
    if others:
        weight[n:] = 1e-9 * np.linalg.norm(A[:, n:], axis=0)
    start = np.concatenate([at_one, np.zeros(others)])

    # The free optimum x0, then the way d from it to the cone in the metric of the data:
    # x = x0 + W d, min |d|^2.
    whole = np.vstack([A, np.diag(weight)])
    U, sizes, Vt = np.linalg.svd(whole, full_matrices=False)
    W = Vt.T / sizes
    x0 = W @ (U.T @ np.concatenate([rhs, weight * start]))
    floor = np.concatenate([SMALLEST * at_one, np.zeros(others)])
    cones = [clarabel.PSDTriangleConeT(4) for _ in bodies]
    if others:
        cones.append(clarabel.NonnegativeConeT(others))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    d = np.zeros(n + others)
    solver = clarabel.DefaultSolver(
        sparse.eye(len(d), format="csc"), d, sparse.csc_matrix(-W), x0 - floor, cones, settings
    )
    solution = solver.solve()
    if "Solved" not in str(solution.status):
        raise NotPossible(
            f"identify: no physical parameters were found ({solution.status}); physical=False "
            "has none"
        )
    x = x0 + W @ np.array(solution.x)
    return T @ x[:n] + fixed.ravel(), np.maximum(x[n:], 0.0)


def _coordinates(described: np.ndarray, bodies: np.ndarray) -> np.ndarray:
    """phi = T x (10 nb, 10 bodies): P = L X L' of each body, x the weighted upper triangle of X."""
    T = np.zeros((described.size, 10 * len(bodies)))
    for column, body in enumerate(bodies):
        L = np.linalg.cholesky(_definite(pseudo_inertia(described[body])))
        for k, (i, j) in enumerate(UPPER):
            X = np.zeros((4, 4))
            X[i, j] = X[j, i] = 1.0 / ROOT[k]
            T[10 * body : 10 * body + 10, 10 * column + k] = parameters_of(L @ X @ L.T)
    return T


def _definite(P: np.ndarray) -> np.ndarray:
    """The nearest matrix that is safely positive definite:
    published inertias often break the triangle inequality."""
    scale = np.sqrt(np.diag(P).clip(min=0.0))
    length = max(scale[:3].max() / scale[3], 1e-3)  # a point mass gets the size of a millimetre
    units = scale[3] * np.array([length, length, length, 1.0])
    values, vectors = np.linalg.eigh(P / np.outer(units, units))
    return np.outer(units, units) * (vectors @ np.diag(values.clip(min=1e-4)) @ vectors.T)
