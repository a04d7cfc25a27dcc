"""The robots of [Safeea2019]: rows and matter drawn by MATLAB's default generator, here redrawn bit for bit."""

from __future__ import annotations

import numpy as np

from linkwork.model import Body, Joint, MassProperties, Model, Placement


def drawn_model(n: int = 5) -> Model:
    """Chain of n revolute joints. The published data file is n = 5; links 1 and 4 break the triangle inequality."""
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
        matter = MassProperties(float(mass[k]), tuple(com[k].tolist()), tuple(map(tuple, I.tolist())))
        Rx = _turn(0, alpha[k])
        position = np.array([a[k], 0.0, 0.0]) + d[k] * Rx[:, 2]
        place = Placement(tuple(map(tuple, Rx.tolist())), tuple(position.tolist()))
        bodies.append(Body(f"link_{k + 1}", matter))
        joints.append(Joint(f"joint_{k + 1}", "revolute", f"link_{k}" if k else None, f"link_{k + 1}", place))
    return Model(name=f"christoffel-{n}", bodies=tuple(bodies), joints=tuple(joints))


def _turn(axis: int, angle: float) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


# The table of the symbols at q = (0.1, 0.2, 0.3, 0.4, 0.5): for each k the rows i of the upper triangle, j >= i.
SYMBOLS = (
    (
        (0, -0.649682052026, -0.288540205104, 0.071266874587, -0.089621955101),
        (-1.355152020320, -0.733668644615, 0.056114870055, 0.212273980802),
        (-0.788453970025, 0.034804194108, 0.245067889836),
        (-0.242893244356, 0.318083160035),
        (0.190396442294,),
    ),
    (
        (0.649682052026, 0, -0.094438917995, -0.235579907240, -0.170166161588),
        (0, -0.185261657753, -0.291603056364, -0.147725971149),
        (-0.191684194644, -0.294869524432, -0.141416390528),
        (-0.319931940679, -0.113510592646),
        (-0.113281987284,),
    ),
    (
        (0.288540205104, 0.094438917995, 0, -0.208438412835, -0.152150423905),
        (0.185261657753, 0, -0.251700810418, -0.147327331463),
        (0, -0.253451515986, -0.144621266522),
        (-0.267054112177, -0.143048831115),
        (-0.151240463879,),
    ),
    (
        (-0.071266874587, 0.235579907240, 0.208438412835, 0, -0.065106113742),
        (0.291603056364, 0.251700810418, 0, -0.127069845850),
        (0.253451515986, 0, -0.134346639422),
        (0, -0.174809501235),
        (-0.171128392555,),
    ),
    (
        (0.089621955101, 0.170166161588, 0.152150423905, 0.065106113742, 0),
        (0.147725971149, 0.147327331463, 0.127069845850, 0),
        (0.144621266522, 0.134346639422, 0),
        (0.174809501235, 0),
        (0,),
    ),
)


def published_symbols() -> np.ndarray:
    """(5, 5, 5), both triangles."""
    c = np.zeros((5, 5, 5))
    for k, rows in enumerate(SYMBOLS):
        for i, row in enumerate(rows):
            c[k, i, i:] = row
            c[k, i:, i] = row
    return c
