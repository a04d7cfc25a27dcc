"""Paper 02: the recursive inverse kinematics of Nicolato and Madrid:
a planar arm of four joints on closed paths.

The paper's results are pictures; "published" are the values its corrected equations have with the
stated assumptions, computed independently by two programs (a planar closed form and spatial DH)
that agree to 1e-10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import linkwork
from linkwork.inverse.cycles import cycle_drift, recorded_limits
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.solve import joint_step
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, panels
from linkwork.robot import Robot

CORRECTIONS = (
    "eq. 19: k2 ends in b'c + c'c; the printed tail is damaged",
    "before eq. 17 the vector is seen from frame i - 1; before eq. 6 J = d fk / dq",
    "eq. 22, second line: the lower speed limit",
    "claim that each step lowers the error: false for the small-angle step where the goal is far "
    "from the axis",
    "claim of convergence inside the workspace: with all links on one line through the goal "
    "nothing moves",
    "eq. 23: as printed a joint that reaches its limit sticks to it; one-sided it does not",
    "repeatability is not a property of the recursion; the recorded limits bring it",
)
ASSUMED = (
    "assumed: the path begins at p0, its rightmost point, and runs counter-clockwise; tested "
    "after each sweep"
)
PI = math.pi
DT = 1e-3
TURN = (np.full(4, -PI), np.full(4, PI))
CORNER = np.array([0.1 * (1 + math.sqrt(3))] * 2 + [0.0])


def paper() -> Paper:
    """First solutions, the three experiments, the traps and the way out of them."""
    robot = linkwork.load("planar-4r")
    cases = [
        *_first_solutions(robot),
        *_limits(robot),
        *_repeatability(robot),
        *_traps(robot),
        *_wrist(),
    ]
    return Paper(
        2,
        "Nicolato2005",
        "Recursive inverse kinematics of redundant arms",
        tuple(cases),
        CORRECTIONS,
        'method="recursive"',
    )


def _solve(robot: Robot, target: Any, q0: Any, **options: Any) -> InverseKinematics:
    settings: dict[str, Any] = {
        "method": "recursive",
        "step": "small_angle",
        "tolerance": 1e-5,
        "kick": 0.0,
    } | options
    return robot.inverse_kinematics(target, "tip", q0, **settings)


def _each(
    what: str, published: list[float], ours: np.ndarray, tolerance: float, note: str = ""
) -> list[Case]:
    return [
        Case(f"{what}, q{k + 1}", x, float(y), tolerance, "rad", note)
        for k, (x, y) in enumerate(zip(published, ours, strict=True))
    ]


def _first_solutions(robot: Robot) -> list[Case]:
    reached = _solve(robot, CORNER, np.zeros(4), limits=TURN)
    once = _solve(robot, CORNER, np.zeros(4), limits=TURN, sweeps=1)
    held = _solve(robot, CORNER, np.zeros(4), limits=TURN, penalty="symmetric")
    solution = [-0.0322662737, 0.3962757126, 0.7702373262, 1.8708823029]
    return [
        Case("sweeps from the straight arm to p0", 8, reached.iterations, 0),
        Case("error after them", 8.646e-6, reached.error, 1e-9, "m"),
        *_each("solution", solution, reached.q, 1e-8),
        *_each(
            "after one sweep",
            [0.3415063509, 0.2765492999, 0.2974059413, 0.5854433236],
            once.q,
            1e-8,
        ),
        Case("error after one sweep", 0.3428215542, once.error, 1e-8, "m"),
        Case("sweeps with the printed penalty", 7, held.iterations, 0),
        *_each(
            "with the printed penalty",
            [-0.0683333796, 0.4126342671, 0.8041928056, 1.8074171820],
            held.q,
            1e-8,
        ),
    ]


def ellipse(
    start: np.ndarray, rx: float, ry: float, period: float, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at times first dt .. last dt."""
    w, t = 2 * PI / period, DT * np.arange(first, last + 1)
    p = (
        start
        - np.array([rx, 0.0, 0.0])
        + np.stack([rx * np.cos(w * t), ry * np.sin(w * t), 0 * t], 1)
    )
    return p, np.stack([-rx * w * np.sin(w * t), ry * w * np.cos(w * t), 0 * t], 1)


def limited_laps(robot: Robot) -> tuple[np.ndarray, tuple[InverseKinematics, InverseKinematics]]:
    """(start, one lap each): joint 4 with limits of position, and with limits of speed beside
    them."""
    q0 = np.array([PI / 4, PI / 6, PI / 2, PI / 4])
    path, _ = ellipse(robot.pose(q0, "tip")[:3, 3], 0.15, 0.15, 1.0, 1, 1000)
    lower, upper = np.full(4, -np.inf), np.full(4, np.inf)
    lower[3], upper[3] = 0.60, 0.85
    speed = np.array([np.inf] * 3 + [0.5])
    one = _solve(robot, path, q0, limits=(lower, upper), track=True)
    two = _solve(
        robot, path, q0, limits=(lower, upper), track=True, velocity_limits=(-speed, speed), dt=DT
    )
    return q0, (one, two)


def _limits(robot: Robot) -> list[Case]:
    q0, (one, two) = limited_laps(robot)
    fastest = np.abs(np.diff(np.concatenate([q0[3:], two.q[:, 3]]))).max() / DT
    return [
        Case("experiment 1: points within 1e-5 m", 1000, int(one.success.sum()), 0, "", ASSUMED),
        Case("experiment 1: sweeps", 4780, int(one.iterations.sum()), 0, "", ASSUMED),
        Case("experiment 1: lowest q4", 0.60, float(one.q[:, 3].min()), 1e-15, "rad"),
        Case("experiment 1: highest q4", 0.85, float(one.q[:, 3].max()), 1e-15, "rad"),
        Case(
            "experiment 1: share of the lap with q4 on a limit, as printed",
            49,
            round(100 * float(one.on_limit[:, 3].mean())),
            0,
            "%",
        ),
        *_each(
            "experiment 1 after 1 s",
            [0.7703729107, 0.5460079895, 1.5613252707, 0.7796197839],
            one.q[-1],
            1e-6,
            ASSUMED,
        ),
        Case("experiment 2: points within 1e-5 m", 1000, int(two.success.sum()), 0, "", ASSUMED),
        Case("experiment 2: sweeps", 5289, int(two.iterations.sum()), 0, "", ASSUMED),
        Case("experiment 2: fastest q4", 0.5, float(fastest), 1e-9, "rad/s"),
        *_each(
            "experiment 2 after 1 s",
            [0.7862436879, 0.5221537213, 1.5716395142, 0.7853881574],
            two.q[-1],
            1e-6,
            ASSUMED,
        ),
    ]


def _repeatability(robot: Robot) -> list[Case]:
    q0 = np.array([PI / 3, PI / 3, -PI / 2, -PI / 2])
    path, rate = ellipse(CORNER, 0.1, 0.2, 2.0, 0, 50_000)
    lost = robot.inverse_kinematics(
        path, "tip", q0, method="pseudo_inverse", dt=DT, gain=100.0, velocity=rate
    )
    drift = cycle_drift(lost.q, 2000)
    total = float(np.linalg.norm(lost.q[-1] - lost.q[0]))
    ours = []
    for words, penalty, tolerance in (
        ("one-sided", "one_sided", 1e-12),
        ("printed", "symmetric", 1e-3),
    ):
        who = f"experiment 3, {words} penalty"
        q, errors, _ = repeated(robot, path[1:], penalty)
        within, last = float(np.sum(errors <= 1e-5)), float(cycle_drift(q, 2000)[-1])
        ours.append(Case(f"{who}: points within 1e-5 m", 50_000, within, 0, "", ASSUMED))
        ours.append(Case(f"{who}: drift of the last lap", 0.0, last, tolerance, "rad"))
    return [
        Case(
            "experiment 3, pseudo-inverse: largest error is below 2.2e-5 m",
            0.0,
            float(lost.error.max()),
            2.2e-5,
            "m",
        ),
        Case(
            "experiment 3, pseudo-inverse: drift of the first lap",
            0.496,
            float(drift[0]),
            5e-4,
            "rad",
            ASSUMED,
        ),
        Case(
            "experiment 3, pseudo-inverse: drift of the last lap",
            1.88,
            float(drift[-1]),
            5e-3,
            "rad",
            ASSUMED,
        ),
        Case("experiment 3, pseudo-inverse: drift in all", 12.63, total, 5e-3, "rad", ASSUMED),
        Case(
            "experiment 3, pseudo-inverse: last q2",
            13.68,
            float(lost.q[-1, 1]),
            5e-3,
            "rad",
            ASSUMED,
        ),
        *ours,
    ]


def repeated(
    robot: Robot, path: np.ndarray, penalty: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(motion, errors, sweeps): limits recorded over six seconds, then imposed."""
    begin = _solve(robot, CORNER, np.zeros(4), limits=TURN, penalty=penalty)
    first = _solve(robot, path[:6000], begin.q, limits=TURN, penalty=penalty, track=True)
    seen = np.vstack([begin.q, first.q])
    rest = _solve(
        robot, path[6000:], first.q[-1], limits=recorded_limits(seen), penalty=penalty, track=True
    )
    errors = np.concatenate([first.error, rest.error])
    return np.vstack([seen, rest.q]), errors, np.concatenate([first.iterations, rest.iterations])


def _traps(robot: Robot) -> list[Case]:
    lever = Robot.from_dh([{"a": 0.2}], convention="standard")
    goal = 0.6 * np.array([math.cos(0.1), math.sin(0.1), 0.0])
    step = joint_step(lever.subject, np.zeros(1), lever.joints[0], goal, "link1")
    before, after = (
        float(np.linalg.norm(lever.pose(np.array([d]), "link1")[:3, 3] - goal))
        for d in (0.0, step.small_angle)
    )
    stuck = _solve(robot, [0.5, 0.0, 0.0], np.zeros(4), limits=False)
    locked = _solve(robot, CORNER, np.zeros(4), limits=False, step="exact")
    kicked = [
        _solve(robot, [0.5, 0.0, 0.0], np.zeros(4), limits=False, step=s, kick=1e-3)
        for s in ("small_angle", "exact")
    ]
    note = "one more sweep finds that nothing moves"
    return [
        Case("overshoot: small-angle step", 0.29950, step.small_angle, 5e-6, "rad"),
        Case("overshoot: error before", 0.401496, before, 5e-7, "m"),
        Case("overshoot: error after", 0.405907, after, 5e-7, "m"),
        Case("straight arm, goal (0.5, 0): error where it stays", 0.3, stuck.error, 1e-12, "m"),
        Case(
            "the same after the kick, small-angle: sweeps",
            17,
            kicked[0].iterations - 1,
            0,
            "",
            note,
        ),
        Case("the same after the kick, exact: sweeps", 6, kicked[1].iterations - 1, 0, "", note),
        Case("deadlock of the exact step: error", 1.36e-2, locked.error, 5e-5, "m"),
        *_each("deadlock of the exact step", [PI / 4, 0.0, PI, PI], locked.q, 1e-9),
    ]


def _wrist() -> list[Case]:
    """Half a turn: the exact step leaves in one sweep where the small-angle step is stuck."""
    wrist = Robot.from_dh([{"alpha": -PI / 2}, {"alpha": PI / 2}, {}], convention="standard")
    axis = np.array([0.6, 0.0, 0.8])
    R = 2 * np.outer(axis, axis) - np.eye(3)
    reached = wrist.inverse_kinematics(
        R,
        "link3",
        np.zeros(3),
        method="recursive",
        task="orientation",
        sweeps=1,
        kick=0.0,
        limits=False,
    )
    note = "the signs of a half turn are free"
    return [
        Case(
            "wrist, half a turn, one exact sweep: q1",
            PI,
            float(abs(reached.q[0])),
            1e-8,
            "rad",
            note,
        ),
        Case(
            "wrist, half a turn, one exact sweep: q2",
            1.28700222,
            float(abs(reached.q[1])),
            1e-8,
            "rad",
            note,
        ),
    ]


def figures() -> tuple[Redrawn, ...]:
    """Figures 4 to 7 of paper 02: the recursion under limits of position and speed,
    and over fifty laps."""
    return (
        Redrawn(
            "figure-4", "joint 4 within 0.60 .. 0.85 rad", lambda f: _draw_limited(f, 0), (8.0, 6.5)
        ),
        Redrawn(
            "figure-5",
            "the same, and joint 4 within 0.5 rad/s",
            lambda f: _draw_limited(f, 1),
            (8.0, 6.5),
        ),
        Redrawn(
            "figure-6",
            "pseudo-inverse over 25 laps: the joints drift",
            _draw_pseudo_inverse,
            (8.0, 6.5),
        ),
        Redrawn(
            "figure-7",
            "the recursion with recorded limits: the joints repeat",
            _draw_recursive,
            (8.0, 6.5),
        ),
    )


def _draw_limited(figure: Any, which: int) -> None:
    robot = linkwork.load("planar-4r")
    q0, laps = limited_laps(robot)
    axes = _draw_joints(figure, DT, np.vstack([q0, laps[which].q]))
    for bound in (0.60, 0.85):
        axes[0].axhline(bound, color="black", linewidth=0.8, linestyle=":")
    for bound in (-0.5, 0.5) if which else ():
        axes[1].axhline(bound, color="black", linewidth=0.8, linestyle=":")


def _draw_pseudo_inverse(figure: Any) -> None:
    robot = linkwork.load("planar-4r")
    q0 = np.array([PI / 3, PI / 3, -PI / 2, -PI / 2])
    path, rate = ellipse(CORNER, 0.1, 0.2, 2.0, 0, 50_000)
    lost = robot.inverse_kinematics(
        path, "tip", q0, method="pseudo_inverse", dt=DT, gain=100.0, velocity=rate
    )
    _draw_joints(figure, 10 * DT, lost.q[::10])


def _draw_recursive(figure: Any) -> None:
    robot = linkwork.load("planar-4r")
    path, _ = ellipse(CORNER, 0.1, 0.2, 2.0, 0, 50_000)
    motion, _, _ = repeated(robot, path[1:], "one_sided")
    _draw_joints(figure, 10 * DT, motion[::10])


def _draw_joints(figure: Any, dt: float, q: np.ndarray) -> list[Any]:
    """Positions and velocities of the four joints."""
    time, v = dt * np.arange(len(q)), np.gradient(q, dt, axis=0)
    positions = {f"q{k + 1}": q[:, k] for k in range(4)}
    velocities = {f"q{k + 1}": v[:, k] for k in range(4)}
    return panels(
        figure,
        time,
        [("joint positions", "rad", positions), ("joint velocities", "rad/s", velocities)],
    )
