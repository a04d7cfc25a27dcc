"""Paper 04: the multibody model of CHARMIE: Newton-Euler on a tree, closed over-constrained loops,
static balancing.

The paper's figures are pictures; "published" are the values its corrected equations have with the
stated assumptions, computed independently (a plain implementation checked against Pinocchio and
MuJoCo).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.loops.mobility import mobility
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, marked, panels, standing
from linkwork.studies.balancing import balance

CORRECTIONS = (
    "eq. 17, entry (1,3): s1 s2 where the paper prints s1 s3",
    "eq. 14: minus h4/e4 (B_y - F_y); else the computed head is 47 to 97 mm off its circle. Eq. 9: "
    "alpha4, with atan2",
    "eq. 19: A''_i; eq. 21: acos; eq. 25: x_4slc = x_4sla",
    "eq. 31: a slide moves along its signed axis; joint 4 moves along -z, joints 1 and 2 along +",
    "eqs. 29-31: fixed joints have no case; eqs. 31-34: gravity is absent, pdd_0 = -g",
    "eq. 35: T = F0 + k (L - L0); eq. 37: three successors and the spring, not four; eq. 43: "
    "labels, four predecessors",
    "after eq. 38: a strut with a side force hands a moment to its foot; without it body 4 is not "
    "in equilibrium",
    "table 2: joint 6c is fixed; table 4: Iyz of body 3, Iyy of 8c, 1.87+3, -0.8E-1",
)
ASSUMED = (
    "assumed: points of both struts and the base's height from the 2022 paper, gravity 9.81, "
    "corrected inertias"
)
# t, side, D of 12a [mm], force 2 -> 3 in axes of 3, in ground axes [N], moment at joint 3 [N m],
# act4, act5 [N]
MOTION = (
    (0.0, "after", (-963.800, 243.153, 970.343), (-0.8047, -1.3892, 612.5897),
     (-0.8047, -1.3892, 612.5897), (30.0189, 0.5201, -1.4296), 169.1114, 203.7228),
    (1.0, "after", (-876.436, 450.647, 1151.777), (-0.0452, -2.3081, 612.1827),
     (-0.4453, -2.2652, 612.1827), (32.7738, 1.3559, -0.9439), 168.7304, 226.6917),
    (2.0, "after", (-492.545, 333.341, 1410.814), (0.9668, -5.7278, 610.2786),
     (-2.9412, -5.0092, 610.2786), (38.2630, 0.5982, -1.1566), 166.8853, 263.8709),
    (2.5, "before", (-436.693, 195.065, 1158.885), (0.8650, -5.7945, 611.5775),
     (-4.7403, -3.4429, 611.5775), (36.7346, -0.8330, -1.3653), 168.3139, 248.8233),
    (2.5, "after", (-436.693, 195.065, 1158.885), (-3.1502, -0.2418, 612.6571),
     (-1.6691, 2.6826, 612.6571), (35.5328, -3.0895, 1.0480), 169.4269, 249.3083),
    (3.0, "after", (-292.505, 253.462, 920.240), (-3.3945, 1.2014, 613.3269),
     (0.9010, 3.4863, 613.3269), (31.5090, -1.9603, 1.4303), 170.2112, 218.6127),
    (4.0, "after", (-33.304, 152.938, 820.056), (-3.5204, 0.6489, 612.4155),
     (2.0759, 2.9163, 612.4155), (30.1117, -1.3664, 1.2308), 169.3994, 205.1719),
    (5.0, "after", (18.671, 58.283, 805.217), (-3.6682, 0.3599, 612.2208),
     (2.3988, 2.7984, 612.2208), (30.4324, -1.3517, 1.1577), 169.2422, 208.0941),
)  # fmt: skip


def paper() -> Paper:
    """Counts, indirect joints, the 5 s motion, load sharing, the static pose,
    and the balancing identity."""
    robot = linkwork.load("charmie")
    cases = [
        *_counts(robot),
        *_indirect_joints(robot),
        *_motion(robot),
        *_sharing(robot),
        *_static(robot),
        *_shape(robot),
        *_balancing(),
    ]
    return Paper(
        4,
        "Goncalves2023",
        "Multibody model of CHARMIE",
        tuple(cases),
        CORRECTIONS,
        "`robot.analyse`, closed loops, balancing",
    )


def _counts(robot: linkwork.Robot) -> list[Case]:
    counted = mobility(robot.subject)
    spatial = counted.freedoms - 6 * counted.loops
    numbers = (
        ("bodies", 40, counted.bodies),
        ("revolute joints", 34, counted.by_type["revolute"]),
        ("prismatic joints", 10, counted.by_type["prismatic"]),
        ("fixed joints", 3, counted.by_type["fixed"]),
        ("independent loops", 7, counted.loops),
        ("degrees of freedom", 21, counted.degrees),
        ("spatial Gruebler count before the claws' couplings", 2, spatial),
        ("redundant constraints", 21, counted.redundant),
        ("mass [kg]", 62.4, sum(float(body.mass_properties.mass) for body in robot.model.bodies)),
    )
    return [Case(what, expected, float(ours), 1e-9) for what, expected, ours in numbers]


def _indirect_joints(robot: linkwork.Robot) -> list[Case]:
    c = np.zeros(len(robot.actuators))
    lift, torso = robot.actuators.index("act4"), robot.actuators.index("act5")
    c[lift], c[torso] = 0.4, 0.4
    q, _, _ = robot.from_actuators(c)
    formula = 573.5 - np.sqrt(400.0**2 - 95.0**2)
    cases = [
        Case(
            "d4 at act4 = 400 mm",
            float(formula),
            float(q[robot.index("d4").start]) * 1e3,
            1e-9,
            "mm",
            ASSUMED,
        ),
        Case(
            "theta5 at act5 = 400 mm",
            -0.561283693,
            float(q[robot.index("th5").start]),
            1e-9,
            "rad",
            ASSUMED,
        ),
    ]
    c[torso] = 0.4532958
    q, _, _ = robot.from_actuators(c)
    cases.append(
        Case(
            "theta5 at act5 = 453.2958 mm (upright)",
            0.0,
            float(q[robot.index("th5").start]),
            1e-6,
            "rad",
        )
    )
    return cases


def _motion(robot: linkwork.Robot) -> list[Case]:
    motion = robot.motions["validation"]
    cases = []
    for t, side, hand, force, force_world, moment, act4, act5 in MOTION:
        when = f"at {t:g} s" + (f" ({side})" if t == 2.5 else "")
        q, v, a = motion.sample(t, side)
        loads = robot.loads(q, v, a)
        point = robot.points(q)["12a"]["D"] * 1e3
        wrench, world = loads.joint_wrench("3"), loads.joint_wrench("3", "world")
        cases += _vector(f"D of 12a {when}", hand, point, 1e-3, "mm")
        cases += _vector(f"force of 2 on 3 {when}, axes of 3", force, wrench[:3], 1e-4, "N")
        cases += _vector(f"force of 2 on 3 {when}, ground axes", force_world, world[:3], 1e-4, "N")
        cases += _vector(f"moment at joint 3 {when}", moment, wrench[3:], 1e-4, "N m")
        cases.append(
            Case(
                f"force of actuator 4 {when}",
                act4,
                float(loads.actuator("act4")),
                1e-4,
                "N",
                ASSUMED,
            )
        )
        cases.append(
            Case(
                f"force of actuator 5 {when}",
                act5,
                float(loads.actuator("act5")),
                1e-4,
                "N",
                ASSUMED,
            )
        )
    return cases


def _sharing(robot: linkwork.Robot) -> list[Case]:
    loads = robot.loads(*robot.motions["validation"].sample(0.0))
    five, four, lift = loads.joint_wrench("5"), loads.joint_wrench("4"), loads.support("act4")
    torso = loads.support("act5")
    # the paper's joint 4 lies d4 above the origin of body 4
    d4 = 0.5735 - np.sqrt(0.4**2 - 0.095**2)
    moment = four[3:] - np.cross((0.0, 0.0, d4), four[:3])
    cases = _vector("f_4 on body 5 at 0 s", (0.2400, -22.4306, -127.8687), five[:3], 1e-4, "N")
    cases += _vector("f_5d on body 5 at 0 s", (0.2400, -24.1158, 202.2904), torso[:3], 1e-4, "N")
    cases += _vector("mu_4 on body 5 at 0 s", (0.0, 0.2409, -0.2797), five[3:], 1e-4, "N m")
    cases += _vector("mu_5d on body 5 at 0 s", (0.0, 0.2409, -0.2797), torso[3:], 1e-4, "N m")
    cases += _vector("f_3 on body 4 at 0 s", (0.3031, 40.1378, 0.0), four[:3], 1e-4, "N")
    cases += _vector("f_4d on body 4 at 0 s", (0.0, -40.1639, 164.2727), lift[:3], 1e-4, "N")
    cases += _vector("mu_3 on body 4 at 0 s", (-12.1542, 0.2878, 0.0), moment, 1e-4, "N m")
    shared = float(loads.support("4slc")[5] + loads.support("4src")[5])
    cases.append(
        Case("z moment of both sliders on body 4 at 0 s", -0.8202, shared, 1e-4, "N m", ASSUMED)
    )
    return cases


def _static(robot: linkwork.Robot) -> list[Case]:
    q, v, a = robot.motions["validation"].sample(0.0)
    loads = robot.loads(q, 0 * v, 0 * a)
    cases = _vector("static base force", (0.0, 0.0, 612.144), loads.base[:3], 1e-9, "N")
    numbers = {"act4": 168.652565, "act5": 203.508396, "th8a": -5.877361, "th8b": -5.877361}
    numbers |= {"th10a": -2.023898, "th10b": -2.023898}
    cases += [
        Case(f"static effort of {name}", x, float(loads.actuator(name)), 1e-6, "N, N m", ASSUMED)
        for name, x in numbers.items()
    ]
    return cases


def _shape(robot: linkwork.Robot) -> list[Case]:
    analysis = robot.analyse("validation", steps=5001)
    force = analysis["force.3.z"]
    return [
        Case("smallest vertical base force", 610.278, float(force.min()), 1e-3, "N", ASSUMED),
        Case("largest vertical base force", 613.384, float(force.max()), 1e-3, "N", ASSUMED),
        Case("time of the largest", 2.86, float(analysis.time[force.argmax()]), 0.01, "s", ASSUMED),
    ]


def _balancing() -> list[Case]:
    """k h a / b = W / 2 a side: the optimum over the stiffness is the identity."""
    robot = linkwork.load("charmie", live=["balance_spring"])
    c = np.zeros((9, len(robot.actuators)))
    c[:, robot.actuators.index("act4")] = np.linspace(0.36, 0.44, 9)
    c[:, robot.actuators.index("act5")] = 0.4
    balanced = balance(robot, c, ["act4"], bounds={"balance_spring": (0.0, 1e5)})
    note = "assumed geometry of the bars: h = 120 mm, a / b = 1/2"
    lift = balanced.variables["balance_spring"] * 0.12 / 2
    left = float(np.abs(balanced.effort_after).max())
    return [
        Case("balancing lift k h a / b a side", 16.7 * 9.81 / 2, lift, 1e-9, "N", note),
        Case("force of actuator 4 left over, 360 to 440 mm", 0.0, left, 1e-10, "N", note),
    ]


def _vector(
    what: str, expected: tuple[float, ...], ours: np.ndarray, tolerance: float, unit: str
) -> list[Case]:
    return [
        Case(f"{what}, {axis}", x, float(y), tolerance, unit, ASSUMED)
        for axis, x, y in zip("xyz", expected, ours, strict=True)
    ]


def figures() -> tuple[Redrawn, ...]:
    """Figures 8, 12 and 13 of paper 04: the complete model, the hand's path, the force on the
    base."""
    return (
        Redrawn(
            "figure-8",
            "the complete model: struts red, springs green, bars grey",
            _draw_model,
            (11.0, 4.2),
        ),
        Redrawn(
            "figure-12",
            "point D of body 12a; circles: the corrected equations",
            _draw_hand,
            (8.0, 7.0),
        ),
        Redrawn(
            "figure-13",
            "force of body 2 on body 3, axes of body 3; circles: as above",
            _draw_base,
            (8.0, 7.0),
        ),
    )


def _draw_model(figure: Any) -> None:
    robot = linkwork.load("charmie")
    motion = robot.motions["validation"]
    for k, t in enumerate((0.0, 2.0, 5.0)):
        standing(figure, (1, 3, k + 1), robot, motion.sample(t)[0], f"t = {t:g} s", (-50.0, 14.0))


def _draw_sampled() -> tuple[linkwork.Robot, Any]:
    robot = linkwork.load("charmie")
    return robot, robot.analyse("validation", steps=2001)


def _draw_hand(figure: Any) -> None:
    robot, analysis = _draw_sampled()
    hand = 1e3 * robot.points(analysis.q)["12a"]["D"]
    _draw_beside(
        figure,
        analysis.time,
        [(f"{a} of the left claw", "mm", hand[:, i]) for i, a in enumerate("xyz")],
        2,
    )


def _draw_base(figure: Any) -> None:
    _, analysis = _draw_sampled()
    force = analysis.loads.joint_wrench("3")[:, :3]
    _draw_beside(
        figure,
        analysis.time,
        [(f"force along {a}", "N", force[:, i]) for i, a in enumerate("xyz")],
        3,
    )


def _draw_beside(
    figure: Any, time: np.ndarray, rows: list[tuple[str, str, np.ndarray]], column: int
) -> None:
    """Our curves, and the computed instants of the reproduce room's table in one of its columns."""
    table: Any = MOTION
    drawn = panels(figure, time, [(title, unit, {"linkwork": x}) for title, unit, x in rows])
    for i, axes in enumerate(drawn):
        marked(
            axes,
            [row[0] for row in table],
            [row[column][i] for row in table],
            "corrected equations",
        )
