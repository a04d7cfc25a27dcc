"""Paper 03: a recursive algorithm for Christoffel symbols; minimum time along a path.

The paper prints no symbols. "Published" are those of the authors' own symbolic function for the
5-joint robot, whose data file is known; poses, path and limits are ours where the paper is silent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.model import Body, Joint, MassProperties, Model, Placement
from linkwork.recursions.christoffel_paper import table_2
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, panels
from linkwork.trajectory import Path, minimum_time, path_coefficients

CORRECTIONS = (
    "eqs. 26, 27 hold for j <= i and links k >= i only; the paper states neither "
    "(errors as large as the symbols)",
    "eq. 29 needs F of the next link: H is updated before F",
    "f and h are half the Coriolis force for i != j and the whole centrifugal force for i = j: "
    "no factor",
    "table 2: additions 12 n^3 + 19 n^2 + 41 n - 3; the paper prints 40 n - 1",
    "eq. 31 divides by n^3 although structural zeros (25 of 125) are skipped",
    "the inertias' eigenvalues, not their entries, are in [0, 1]; links 1 and 4 break the triangle "
    "inequality",
    "the tensor is not needed for minimum time: c~ is inverse dynamics of (q', q'')",
)
POSE = (0.1, 0.2, 0.3, 0.4, 0.5)
# For each k the rows i of the upper triangle of c^k_ij, j >= i.
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
VELOCITY = (1.0, -0.5, 0.25, 2.0, -1.0)
BIAS = (-1.276120544417, -0.692838127486, -0.761364283461, 0.421614019556, 0.844538902175)
MASS_ROW = (6.285430472246, 1.609335703474, 0.751554816077, -0.900488310504, -0.742564858518)
LIMITS = (25.0, 25.0, 20.0, 15.0, 8.0)
END = (1.0, -0.5, 0.8, 0.6, -1.2)


def published_symbols() -> np.ndarray:
    """(5, 5, 5), both triangles."""
    c = np.zeros((5, 5, 5))
    for k, rows in enumerate(SYMBOLS):
        for i, row in enumerate(rows):
            c[k, i, i:] = c[k, i:, i] = row
    return c


def paper() -> Paper:
    """Symbols, bias and mass matrix of the 5-joint robot, closed forms, the error metric,
    operations, minimum time."""
    robot = linkwork.load("christoffel-5")
    cases = [
        *_symbols(robot),
        *_closed_forms(),
        *_accuracy(robot),
        *_operations(robot),
        *_minimum_time(robot),
    ]
    return Paper(
        3,
        "Safeea2019",
        "Recursive Christoffel symbols",
        tuple(cases),
        CORRECTIONS,
        "`robot.christoffel`, bounds",
    )


def _symbols(robot: linkwork.Robot) -> list[Case]:
    ours, expected = robot.christoffel(POSE), published_symbols()
    cases = [
        Case(
            f"c^{k + 1}_{i + 1}{j + 1}",
            float(expected[k, i, j]),
            float(ours[k, i, j]),
            1e-11,
            "kg m^2",
        )
        for k in range(5)
        for i in range(5)
        for j in range(i, 5)
    ]
    cases.append(Case("sum of |c|", 21.611983349870, float(np.abs(ours).sum()), 1e-11, "kg m^2"))
    cases.append(
        Case("Frobenius norm of c", 2.840258503654, float(np.linalg.norm(ours)), 1e-11, "kg m^2")
    )
    bias = np.einsum("kij,i,j", ours, VELOCITY, VELOCITY)
    cases += [
        Case(f"(C v)_{k + 1}", x, float(y), 1e-11, "N m")
        for k, (x, y) in enumerate(zip(BIAS, bias, strict=True))
    ]
    row = robot.mass_matrix(POSE)[0]
    cases += [
        Case(f"M_1{k + 1}", x, float(y), 1e-11, "kg m^2")
        for k, (x, y) in enumerate(zip(MASS_ROW, row, strict=True))
    ]
    return cases


def _closed_forms() -> list[Case]:
    forearm = MassProperties(1.5, (0.25, 0.0, 0.0))
    elbow = Joint("elbow", "revolute", "upper", "fore", Placement(position=(0.7, 0.0, 0.0)))
    bodies = (Body("upper", MassProperties(1.0)), Body("fore", forearm))
    planar = linkwork.Robot(
        Model("2R", bodies, (Joint("shoulder", "revolute", None, "upper"), elbow))
    )
    c = planar.christoffel((0.3, 0.8))
    expected = 0.188305973861
    note = "m2 l1 r2 sin q2 with l1 = 0.7, r2 = 0.25, m2 = 1.5, q2 = 0.8"
    return [
        Case("planar 2R: c^1_12", -expected, float(c[0, 0, 1]), 1e-12, "kg m^2", note),
        Case("planar 2R: c^1_22", -expected, float(c[0, 1, 1]), 1e-12, "kg m^2", note),
        Case("planar 2R: c^2_11", expected, float(c[1, 0, 0]), 1e-12, "kg m^2", note),
    ]


def _accuracy(robot: linkwork.Robot) -> list[Case]:
    """Eq. 31 between the paper's recursion and the composite form, over 300 poses in [0, 1]^5."""
    q = np.random.default_rng(0).uniform(size=(300, 5))
    paper, f = np.empty((300, 5, 5, 5)), robot.function("christoffel_paper")
    for k, pose in enumerate(q):
        paper[k] = np.array(f(pose)).reshape(5, 5, 5)
    counted = np.abs(paper) > 1e-14
    relative = np.abs(robot.christoffel(q) - paper) / np.where(counted, np.abs(paper), 1.0)
    metric = np.where(counted, relative, 0.0).sum(axis=(1, 2, 3)) / 125
    note = "exact symbols would give 0; the paper's code reached 2.196e-14 on poses of its own"
    return [
        Case(
            "error metric (31), median of 300 poses",
            0.0,
            float(np.median(metric)),
            2.2e-14,
            "",
            note,
        )
    ]


def _operations(robot: linkwork.Robot) -> list[Case]:
    multiplications, additions = table_2(5)
    robot.christoffel(POSE)
    ours = robot.kernels["christoffel"].operations
    note = (
        f"table 2; the composite form here needs {ours} operations, a fused multiply-add "
        "counting once"
    )
    return [
        Case("multiplications of the loop, n = 5", 2120, multiplications, 0, "", note),
        Case(
            "additions of the loop, n = 5",
            2174,
            additions,
            3,
            "",
            "table 2, corrected by 3: see the corrections",
        ),
    ]


def _minimum_time(robot: linkwork.Robot) -> list[Case]:
    path = Path.line(np.zeros(5), END)
    law = minimum_time(robot, path, LIMITS, points=1601)
    s = np.linspace(0.0, 1.0, 11)
    routes = [
        path_coefficients(robot, path, s, method=method).c
        for method in ("newton_euler", "christoffel")
    ]
    apart = float(np.abs(routes[0] - routes[1]).max())
    wheel = MassProperties(
        0.0, (0.0, 0.0, 0.0), ((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5))
    )
    single = linkwork.Robot(
        Model("wheel", (Body("wheel", wheel),), (Joint("hinge", "revolute", None, "wheel"),))
    )
    alone = minimum_time(single, Path.line([0.0], [2.0]), [3.0], points=401)
    note = (
        "path and limits are ours: figure 4 has no data. TOPP-RA 1.08157, convex programme 1.081498"
    )
    return [
        Case("least duration, 5 joints", 1.08149, float(law.duration), 2e-4, "s", note),
        Case(
            "ds/dt in the middle", 1.642, float(np.interp(0.5, law.s, law.speed)), 2e-3, "1/s", note
        ),
        Case(
            "share of the path with a torque at its limit",
            1.0,
            float((abs(law.saturation).max(1) > 0.999).mean()),
            1e-3,
        ),
        Case(
            "least duration, 1 joint",
            1.154700538379,
            float(alone.duration),
            1e-6,
            "s",
            "2 sqrt(J way / tau)",
        ),
        Case("eq. 32 by both routes, difference", 0.0, apart, 1e-12, "N m s^2"),
    ]


def figures() -> tuple[Redrawn, ...]:
    """Figure 4 of paper 03: a path in minimum time, with the torque that decides."""
    caption = (
        "minimum time along a straight joint path of the five-joint arm; path and limits are ours"
    )
    return (Redrawn("figure-4", caption, _draw_minimum_time, (8.0, 7.5)),)


def _draw_minimum_time(figure: Any) -> None:
    robot = linkwork.load("christoffel-5")
    law = minimum_time(robot, Path.line(np.zeros(5), END), LIMITS, points=1601)
    time = np.linspace(0.0, law.duration, 601)
    q, v, a = law.at(time)
    share = robot.inverse_dynamics(q, v, a) / np.array(LIMITS)
    rows = [
        (f"joint angles: {law.duration:.5f} s", "rad", {f"q{k + 1}": q[:, k] for k in range(5)}),
        ("joint velocities", "rad/s", {f"v{k + 1}": v[:, k] for k in range(5)}),
        ("torque over its limit", "1", {f"tau{k + 1}": share[:, k] for k in range(5)}),
    ]
    torques = panels(figure, time, rows)[2]
    for bound in (-1.0, 1.0):
        torques.axhline(bound, color="black", linewidth=0.8, linestyle=":")
