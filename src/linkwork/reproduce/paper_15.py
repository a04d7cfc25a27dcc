"""Paper 15: singularities and complete inverse kinematics of UR/TM arms, of Villalobos,
Sanchez and Martell.

Tables 3 to 6: the posture that each of the two algorithms selects for ten poses, its determinant
and its distance, by the paper's own arithmetic in millimetres; and how many postures the library
finds regular.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import linkwork
from linkwork.inverse.analytic.villalobos import (
    Arm,
    Choice,
    Thresholds,
    algorithm_1,
    algorithm_2,
    forward,
)
from linkwork.library import load
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, standing

PI = math.pi
ARM = Arm(89.2, 425.0, 392.0, 109.3, 94.75, 82.5)
TESTS = (
    (PI, PI / 4, PI / 2, PI / 2, 0, PI / 5),
    (PI, -PI / 2, 0, PI, PI / 3, 0),
    (PI, 0, PI / 2, PI, PI, 0),
    (PI / 2, PI / 2, 0, -PI / 2, PI / 3, PI),
    (PI / 2, 0, PI / 4, PI, -PI, 0),
    (-PI / 3, 3 * PI / 4, 0, PI, -PI, 0),
    (PI / 3, PI / 3, PI / 2, PI / 4, PI / 3, 0),
    (PI / 5, PI / 2, PI / 2, PI / 2, PI, PI / 2),
    (-PI, PI / 3, -PI / 2, PI / 2, PI / 6, PI / 2),
    (-PI / 2, PI / 2, 0, PI, -PI, PI / 2),
)
# test: selected angles, determinant [mm^3], distance (48)
SELECTED = {
    1: ((2.3815, 0.7054, 1.6608, 0.7755, 0.7601, 1.4137), 4.9919e6, 3.4792),
    2: ((-1.7132, -2.0438, 0.5154, 2.5800, 1.4998, 1.4473), -7.7601e6, 4.2870),
    3: ((-0.6392, 1.4741, 1.9941, -0.3266, 0.6392, -1.5708), -2.9926e7, 3.0888),
    4: ((1.5708, 0.9088, 1.3914, 0.8414, -1.0472, 0), -0.1915, 2.6521),
    5: ((-1.9116, 2.2113, 1.1655, -0.2352, 0.3408, -0.7854), -3.2505e7, 3.2697),
    6: ((2.4303, 0.2367, 0.7022, 2.2027, -0.3359, -2.3562), -2.2865e7, 4.1197),
    7: ((1.0472, 1.0472, 1.5708, 0.7854, 1.0472, 0), -2.1859e7, 2.5247),
    8: ((-2.0715, -0.1327, 1.5357, 1.7386, -0.4418, 0), -3.4649e7, 3.1441),
    9: ((3.1416, -0.4429, 1.5708, -0.0807, 0.5236, 1.5708), 5.2815e7, 3.9091),
    10: ((-2.9992, 0.9905, 0.9407, 1.2104, -1.7132, 0), -1.2625e7, 3.9066),
}
BY_MACHINE = {
    7: ((-0.8445, 0.5569, 1.3797, 2.0214, 2.8289, 0.9248), 7.6226e6, 3.9838),
    8: ((-2.0715, 0.3281, 1.0257, -1.3537, 0.4418, 3.1416), 2.9645e7, 4.1651),
    9: ((-0.3414, 2.5392, 0.8718, -1.9651, 2.6900, -2.2975), -3.5288e7, 4.8683),
}
STATES = {1: 5, 2: 5, 3: 5, 4: 7, 5: 6, 6: 8, 7: 5, 8: 6, 9: 5, 10: 8}
REGULAR = {1: 4, 2: 2, 3: 4, 4: 0, 5: 4, 6: 2, 7: 8, 8: 4, 9: 8, 10: 2}
CORRECTIONS = (
    "eq. 23 loses the posture wherever c5 c6 = s6 = 0; theta234 from r33 and c1 r13 + s1 "
    "r23 instead",
    "test 4 is shoulder-singular in every posture: the printed determinant -0.1915 mm^3 is "
    "rounding",
    "thresholds of 1e-12 and 1e-9 mm cannot be met in double precision: s3 and S are square roots "
    "of rounded numbers",
    "eq. 37: c23 for c2; eq. 44 is J_L5; eqs. 28-29: s3 carries the sign of its branch",
    "eq. 48 is not circular; algorithm 2 does not move less than algorithm 1 (tests 7-9)",
    "ties are broken towards the plus branch, which the paper does not say; with minus no row "
    "comes out",
)


def paper() -> Paper:
    """Every number of the acceptance list."""
    cases: list[Case] = []
    for test, theta in enumerate(TESTS, 1):
        T = forward(ARM, theta)
        by_enumeration = algorithm_1(ARM, T, [0.0] * 6, Thresholds.paper())
        by_machine = algorithm_2(ARM, T, [0.0] * 6, Thresholds.paper())
        cases += _rows(f"algorithm 1, test {test}", SELECTED[test], by_enumeration)
        cases += _rows(
            f"algorithm 2, test {test}", BY_MACHINE.get(test, SELECTED[test]), by_machine
        )
        cases.append(Case(f"states visited in test {test}", STATES[test], len(by_machine.trace), 0))
    return Paper(
        15,
        "Villalobos2022",
        "Inverse kinematics and singularities of UR/TM arms",
        (*cases, *_library()),
        CORRECTIONS,
        "`robot.inverse_kinematics_all`, singularities",
    )


def _rows(what: str, published: tuple[tuple[float, ...], float, float], ours: Choice) -> list[Case]:
    angles, det, distance = published
    assert ours.posture is not None
    cases = [
        Case(f"{what}, theta{k + 1}", x, y, 1e-4, "rad")
        for k, (x, y) in enumerate(zip(angles, ours.posture.theta, strict=True))
    ]
    digits = 10.0 ** (math.floor(math.log10(abs(det))) - 3)
    cases.append(Case(f"{what}, determinant", det, ours.posture.determinant, 0.51 * digits, "mm^3"))
    return [*cases, Case(f"{what}, distance", distance, ours.distance, 1e-4, "rad")]


def _library() -> list[Case]:
    robot, frame = load("ur5-villalobos"), "tool0"
    cases = []
    for test, theta in enumerate(TESTS, 1):
        solutions = robot.inverse_kinematics_all(robot.pose(np.array(theta), frame), frame)
        regular = np.count_nonzero(~robot.singularity(solutions.q, frame).singular)
        cases.append(Case(f"regular postures of test {test}", REGULAR[test], float(regular), 0))
    square = robot.inverse_kinematics_all(
        robot.pose(np.array([0.3, 1.2, -1.5, 0.6, PI / 2, 0.0]), frame), frame
    )
    cases.append(
        Case(
            "postures of a wrist square to the arm",
            8,
            float(square.count),
            0,
            "",
            "eq. 23 finds none",
        )
    )
    row = square.q[
        (square.q[:, 4] < 0) & (square.q[:, 2] > 0) & (np.abs(square.q[:, 0] - 0.3) < 1e-6)
    ][0]
    for k, printed in enumerate((0.3, -0.553069, 1.519173, 2.475489, -1.570796)):
        cases.append(
            Case(f"its flipped posture, theta{k + 1}", printed, float(row[k]), 1e-6, "rad")
        )
    return cases


def figures() -> tuple[Redrawn, ...]:
    """Figures 2 and 3 of paper 15: a shoulder singularity,
    and the way through the finite-state machine."""
    return (
        Redrawn(
            "figure-2",
            "the wrist point above axis 1: test 4, and a regular pose",
            _draw_shoulder,
            (10.0, 5.0),
        ),
        Redrawn(
            "figure-3", "states that the machine visits in the ten tests", _draw_states, (9.0, 6.5)
        ),
    )


def _draw_shoulder(figure: Any) -> None:
    robot = linkwork.load("ur5-villalobos")
    for k, (title, test) in enumerate((("singular: test 4", 4), ("regular: test 7", 7))):
        q = np.array(TESTS[test - 1])
        report = robot.singularity(q, "tool0")
        said = f"{title}, smallest singular value {report.sigma_min:.2g}"
        # of the base, which the wrist meets where it is singular
        axis = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        standing(figure, (1, 2, k + 1), robot, q, said, paths=[axis])


def _draw_states(figure: Any) -> None:
    axes = figure.add_subplot()
    levels = {state: k for k, state in enumerate((1, 5, 6, 3, 24))}
    for test, theta in enumerate(TESTS, 1):
        trace = algorithm_2(ARM, forward(ARM, theta), [0.0] * 6, Thresholds.paper()).trace
        x = test + np.linspace(0.0, 0.8, len(trace))
        axes.plot(x, [levels[state] for state in trace], "o-", markersize=4, linewidth=1.4)
    axes.set_yticks(
        list(levels.values()),
        ["theta 2, 4" if state == 24 else f"theta {state}" for state in levels],
    )
    axes.set_xticks(np.arange(1, 11) + 0.4, [str(k) for k in range(1, 11)])
    axes.set(xlabel="test", title="decisions joint by joint; a step down is a way back")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
