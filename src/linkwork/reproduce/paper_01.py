"""Paper 01: recursive forward kinematics of a branched robot with Euler angles;
actuator strokes as inputs.

The paper's figures are pictures; "published" are the values its corrected equations have, computed
independently (circle intersections by hand, Pinocchio for the trees).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, marked, panels, standing

CORRECTIONS = (
    "eq. 2, entry (1,3): s1 s2 where the paper prints s1 s3 (not orthogonal otherwise)",
    "eq. 3, y axis: (pi/2, theta, -pi/2), not (pi/2, theta, 0), which is no identity at theta = 0",
    "eq. 21: square root of c^2 - l^2; eq. 23: minus h/e (B_y - G_y); eqs. 16, 17: atan2; eq. "
    "25: acos",
    "tables 1 and 2 round the head's tip differently (-14.75, -14.8); the motion uses table 2",
)
# t, d4 [mm], theta5 [deg], left tip, right tip, head tip [mm]
MOTION = (
    (0, 184.9450, -48.04341, (-1001.5000, 344.0854, 881.1650),
     (1001.5000, 344.0854, 881.1650), (0.0000, 575.4493, 1073.4357)),
    (5, 159.2537, -40.60146, (-1006.3741, 372.2454, 1025.2525),
     (614.5738, 625.1985, 493.5020), (-169.1582, 456.3682, 1197.3072)),
    (10, 133.6421, -33.41133, (-832.7323, 159.3207, 760.2688),
     (-158.5041, 856.3354, 656.4939), (-205.0694, 303.8165, 1289.3879)),
    (15, 108.0969, -26.32645, (-468.1638, -216.5880, 670.7763),
     (-459.1544, 655.2545, 1109.2256), (-143.8449, 204.0959, 1347.4331)),
    (20, 82.6080, -19.23114, (-123.5504, -366.1146, 767.5768),
     (-448.8229, 429.9243, 1289.5836), (-60.3625, 185.6177, 1374.0216)),
)  # fmt: skip
FLANGE = (2151.528569, 583.371417, 2092.396574)


def paper() -> Paper:
    """The 20 s motion, the upright pose, the torso's strut,
    and the three example robots with assumed data."""
    cases = [*_motion(), *_upright(), *_examples()]
    return Paper(
        1,
        "Goncalves2022",
        "Recursive forward kinematics with Euler angles",
        tuple(cases),
        CORRECTIONS,
        "trees with free axes, indirect joints",
    )


def _motion() -> list[Case]:
    robot = linkwork.load("charmie-2022")
    motion = robot.motions["validation"]
    cases = []
    for t, d4, theta5, *tips in MOTION:
        q, _, _ = motion.sample(float(t))
        lift, torso = _indirect(robot)
        cases.append(Case(f"d4 at {t} s", d4, float(q[lift]) * 1e3, 1e-4, "mm"))
        cases.append(Case(f"theta5 at {t} s", theta5, float(np.degrees(q[torso])), 1e-5, "deg"))
        for name, expected, ours in zip(
            ("left", "right", "head"), tips, _tips(robot, q), strict=True
        ):
            cases += [
                Case(f"{name} tip, {axis}, at {t} s", x, float(y) * 1e3, 1e-4, "mm")
                for axis, x, y in zip("xyz", expected, ours, strict=True)
            ]
    return cases


def _upright() -> list[Case]:
    robot = linkwork.load("charmie-2022")
    c = robot.motions["validation"].commands(0.0)[0] * 0.0
    (lift_strut, _), (torso_strut, torso) = _struts(robot)
    c[robot.actuators.index(lift_strut)], c[robot.actuators.index(torso_strut)] = 0.4, 0.4324187785
    q, _, _ = robot.from_actuators(c)
    expected = ((-1001.5, 3.0, 1035.855), (1001.5, 3.0, 1035.855), (0.0, 14.7, 1336.455))
    cases = [
        Case(
            "upright: theta5",
            0.0,
            float(q[robot.index(torso).start]),
            1e-9,
            "rad",
            "strut 432.4187785 mm",
        )
    ]
    for name, wanted, ours in zip(
        ("left", "right", "head"), expected, _tips(robot, q), strict=True
    ):
        cases += [
            Case(f"upright: {name} tip, {axis}", x, float(y) * 1e3, 1e-4, "mm")
            for axis, x, y in zip("xyz", wanted, ours, strict=True)
        ]
    c[robot.actuators.index(torso_strut)] = 0.35
    q, _, _ = robot.from_actuators(c)
    cases.append(
        Case(
            "theta5 at a stroke of 350 mm",
            -0.838515718,
            float(q[robot.index(torso).start]),
            1e-9,
            "rad",
        )
    )
    return cases


def _examples() -> list[Case]:
    arm = linkwork.load("kuka-kr500")
    pose = np.array([0.3, -1.2, 1.4, 0.5, -0.6, 0.7])
    cases = []
    for label, q, flange in (("zero", 0 * pose, (3115.0, 0.0, 990.0)), ("a pose", pose, FLANGE)):
        cases += _point(f"arm at {label}: flange", flange, arm.pose(q, "flange")[:3, 3])
    hexapod = linkwork.load("hexapod")
    q = np.tile([0.0, -0.5, 1.5], 6)
    for k in range(6):
        c, s = np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)
        foot = (round(301.780656 * c, 9), round(301.780656 * s, 9), -80.273555)
        cases += _point(f"hexapod: foot {k}", foot, hexapod.pose(q, f"foot_{k}")[:3, 3])
    quadruped = linkwork.load("quadruped")
    q = np.tile([0.0, 0.8, -1.5], 4)
    for leg, x, y in (
        ("FL", 323.715585, 1),
        ("FR", 323.715585, -1),
        ("RL", -271.984415, 1),
        ("RR", -271.984415, -1),
    ):
        foot = (x, y * 165.945, -524.220012)
        cases += _point(f"quadruped: foot {leg}", foot, quadruped.pose(q, f"foot_{leg}")[:3, 3])
    return cases


def _point(what: str, expected: tuple[float, float, float], ours: np.ndarray) -> list[Case]:
    note = "assumed data: figure 3 of the paper has no numbers"
    return [
        Case(f"{what}, {axis}", x, float(y) * 1e3, 1e-6, "mm", note)
        for axis, x, y in zip("xyz", expected, ours, strict=True)
    ]


def _struts(robot: linkwork.Robot) -> list[tuple[str, str]]:
    """(strut, joint) of the lift and of the torso."""
    return [
        (e.name, e.joint) for e in robot.model.elements if getattr(e, "joint", None) is not None
    ]


def _indirect(robot: linkwork.Robot) -> tuple[int, int]:
    (_, lift), (_, torso) = _struts(robot)
    return robot.index(lift).start, robot.index(torso).start


def _tips(robot: linkwork.Robot, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Both hands and the top of the head."""
    points = robot.points(q)
    return tuple(
        points[body][point] for body, point in (("12a", "tip"), ("12b", "tip"), ("8c", "B"))
    )


def figures() -> tuple[Redrawn, ...]:
    """Figures 3 and 11 of paper 01: the three example robots,
    and the configurations of the 20 s motion."""
    return (
        Redrawn(
            "figure-3",
            "three robots by one recursion; their data are ours",
            _draw_robots,
            (12.0, 4.5),
        ),
        Redrawn(
            "figure-11",
            "configurations of the validation motion",
            _draw_configurations,
            (15.0, 4.2),
        ),
        Redrawn(
            "motion",
            "tips over the motion; circles: the corrected equations by hand",
            _draw_tips,
            (8.0, 8.0),
        ),
    )


def _draw_robots(figure: Any) -> None:
    given = (
        ("(a) quadruped", "quadruped", np.tile([0.0, 0.8, -1.5], 4)),
        ("(b) fixed serial manipulator", "kuka-kr500", np.array([0.3, -1.2, 1.4, 0.5, -0.6, 0.7])),
        ("(c) hexapod", "hexapod", np.tile([0.0, -0.5, 1.5], 6)),
    )
    for k, (title, name, q) in enumerate(given):
        standing(figure, (1, 3, k + 1), linkwork.load(name), q, title)


def _draw_configurations(figure: Any) -> None:
    robot = linkwork.load("charmie-2022")
    motion = robot.motions["validation"]
    for k, t in enumerate((0, 5, 10, 15, 20)):
        standing(
            figure, (1, 5, k + 1), robot, motion.sample(float(t))[0], f"t = {t} s", (-60.0, 14.0)
        )


def _draw_tips(figure: Any) -> None:
    robot = linkwork.load("charmie-2022")
    motion = robot.motions["validation"]
    time = np.linspace(0.0, motion.duration, 401)
    points = robot.points(motion.sample(time)[0])
    tips = {"left": points["12a"]["tip"], "right": points["12b"]["tip"], "head": points["8c"]["B"]}
    rows = [
        (f"{axis} of the tips", "mm", {name: 1e3 * x[:, i] for name, x in tips.items()})
        for i, axis in enumerate("xyz")
    ]
    table: Any = MOTION
    for i, axes in enumerate(panels(figure, time, rows)):
        for j, where in enumerate(("left", "right", "head")):
            label = "computed by hand" if where == "head" else ""
            marked(axes, [row[0] for row in table], [row[3 + j][i] for row in table], label)
