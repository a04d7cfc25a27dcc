"""The robots of [Safeea2019]: rows and matter drawn by MATLAB's default generator,
here redrawn bit for bit."""

from __future__ import annotations

import numpy as np

from linkwork.model import Body, Joint, MassProperties, Model, Placement


def drawn_model(n: int = 5) -> Model:
    """Chain of n revolute joints. The published data file is n = 5;
    links 1 and 4 break the triangle inequality."""
    draw = np.random.RandomState(5489).random_sample
    alpha, a, d = draw(n), draw(n), draw(n)
    com = draw(3 * n).reshape(n, 3)  # MATLAB fills a 3 x n array column by column
    mass = draw(n)
    bodies, joints = [], []
    for k in range(n):
        x, y, z = draw(3)
        R = _turn(0, x) @ _turn(1, y) @ _turn(2, z)
        I = R.T @ np.diag(draw(3)) @ R
        I = (I + I.T) / 2
        matter = MassProperties(
            float(mass[k]), tuple(com[k].tolist()), tuple(map(tuple, I.tolist()))
        )
        Rx = _turn(0, alpha[k])
        position = np.array([a[k], 0.0, 0.0]) + d[k] * Rx[:, 2]
        place = Placement(tuple(map(tuple, Rx.tolist())), tuple(position.tolist()))
        bodies.append(Body(f"link_{k + 1}", matter))
        joints.append(
            Joint(f"joint_{k + 1}", "revolute", f"link_{k}" if k else None, f"link_{k + 1}", place)
        )
    return Model(name=f"christoffel-{n}", bodies=tuple(bodies), joints=tuple(joints))


def _turn(axis: int, angle: float) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R
