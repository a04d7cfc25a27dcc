"""Paper 13: an elbow that makes way, of Simas and Di Gregorio.

The arm, the task and the two human arms of section 5; what the paper leaves out is assumed and
said. The published claim of a collision-free motion with p = 0.2 1/s does not hold, and is shown as
what it is.

Not reproduced: figures 5 to 14 (pictures, and a film), and what a kept arc does through a filter in
readings of the scene that swing the arms about y_b. The paper says neither where its angles begin
nor which way they turn, and of 192 readings none gives both the share of samples inside and the
least clearance that were noted for them; there only the exact arcs without a filter are shown.
Where an activation radius of 0.20 m forces the elbow to change sides, the sample at which it does
decides everything after it, and no number is claimed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.avoidance import CriticallyDampedFilter, Elbow, SafetyVolume, nearest_free
from linkwork.avoidance.arcs import merged, wrapped
from linkwork.library import load
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, panels

PERIOD, RATE, SAMPLES = 0.06, 0.2, 1000
VOLUME = SafetyVolume(0.0, 0.15)
UPPER_ARM, FOREARM = 0.3196, 0.2465
COEFFICIENTS = {
    "h1": 7.142658372627508e-05,
    "h2": 7.085745032192843e-05,
    "b1": 1.976143425723861,
    "b2": -0.9762857097579093,
}
# eq. 9-14 with theta4 < 0, the branch of the paper
POSTURES = (
    (
        (0.6, 0.2, 0.2),
        0.0,
        (-0.3217505544, 0.6366093872, 0.0, -1.317483433, math.pi, 0.8899222813, 2.819842099),
    ),
    (
        (0.6, 0.2, 0.2),
        0.5,
        (
            -0.672352112,
            0.546331605,
            0.595550059,
            -1.317483433,
            2.5277776,
            0.982966628,
            -3.102927901,
        ),
    ),
    (
        (0.4 + 0.1 * math.sqrt(2.0), 0.2, 0.2 + 0.1 * math.sqrt(2.0)),
        -0.7,
        (
            -0.117694698,
            0.456707184,
            -0.800367506,
            -1.286020216,
            -2.319825936,
            1.074701057,
            2.124236742,
        ),
    ),
)
# obstacle, clearance at 0, centre and half width of the arc, nearest free angle, eqs.
# 18-19 corrected and as printed
POINTS = (
    ((0.15, 0.46, 0.09), -0.039966, 0.297542731, 0.592517260, -0.294974529, -0.320158, 0.272654),
    ((0.47, 0.44, 0.19), -0.030900, 0.277127766, 0.553925864, -0.276798099, -0.300525, 0.241365),
    ((0.30, 0.70, 0.15), -0.018495, 0.128445820, 0.272685140, -0.144239320, -0.144239, -0.002100),
)
# activation radius [m], rate [1/s]: samples inside the hard volume [%] and least clearance [m]
# where the arc is kept
KEEPING = {(0.15, 3.33): (23.3, -0.036), (0.15, 10.0): (21.5, -0.018), (0.18, 10.0): (0.0, 0.006)}
# tool up, plane in which the arms swing, sense
OTHER_SCENES = (
    (False, "xz", -1.0),
    (True, "xz", 1.0),
)
CORRECTIONS = (
    "eq. 8 holds for theta4 < 0 only: the sign -s4 belongs before it",
    "eqs. 18-19 mix axial offsets into turning radius and beta; as printed the elbow can turn "
    "towards the obstacle",
    "Algorithm 1, lines 18-33: forearm not tested beside the upper arm, radii exchanged, the "
    "elbow's distance stored",
    "'one degree of redundancy handles one point': the exact arcs of any number of points "
    "are joined",
    "'reacts in 60 ms' is the sample time: with p = 0.2 1/s 26 % of a step has come after 5 s; the "
    "motion collides",
)


@dataclass(frozen=True)
class HumanArm:
    """Table 1: base [m], its turns a minute, and swing of shoulder and elbow
    (range, offset [rad], turns)."""

    base: tuple[float, float, float]
    turns: int
    shoulder: tuple[float, float, int]
    elbow: tuple[float, float, int]


ARMS = (
    HumanArm((-0.05, 0.5, 0.25), 5, (0.4, 0.4, 9), (0.4, 0.4, 7)),
    HumanArm((0.15, 0.5, -0.2), 11, (0.4, 0.2, 13), (0.4, 0.0, 9)),
)


def paper() -> Paper:
    """Every number of the acceptance list, and the reference run."""
    elbow = Elbow(load("redundant-7"), "tool", (0.0, 1.0, 0.0))
    cases = [*_filter(), *_postures(elbow), *_points(elbow), *_runs(elbow), *_kept(elbow)]
    where = "`lw.avoidance.Elbow`, exact free arcs of the arm angle"
    return Paper(
        13, "Simas2022", "Collision avoidance of 7-axis arms", tuple(cases), CORRECTIONS, where
    )


def tool_pose(position: tuple[float, float, float]) -> np.ndarray:
    """The tool at a point, pointing down: x_e = x_b, y_e = z_b, z_e = -y_b."""
    T = np.eye(4)
    T[:3, :3] = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    T[:3, 3] = position
    return T


def circle(s: float, up: bool = False) -> np.ndarray:
    """Five laps on the circle of section 5; s in [0, 1). `up`: the tool points up,
    as in another reading."""
    turn = 10.0 * math.pi * s
    T = tool_pose((0.4 + 0.2 * math.cos(turn), 0.2, 0.2 + 0.2 * math.sin(turn)))
    if up:
        T[:3, :3] = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return T


def human_points(s: float, a_link: int = 21, plane: str = "xy", sign: float = 1.0) -> np.ndarray:
    """Points on both human arms (n, 3); assumed: angles swing in a vertical plane, from x_b."""
    points = []
    for arm in ARMS:
        phase = 2.0 * math.pi * s
        base = np.array(arm.base) + 0.05 * np.array(
            [math.cos(arm.turns * phase), 0.0, math.sin(arm.turns * phase)]
        )
        first = arm.shoulder[1] + arm.shoulder[0] * math.sin(arm.shoulder[2] * phase)
        second = first + arm.elbow[1] + arm.elbow[0] * math.sin(arm.elbow[2] * phase)
        joint = base + UPPER_ARM * _direction(sign * first, plane)
        hand = joint + FOREARM * _direction(sign * second, plane)
        share = np.linspace(0.0, 1.0, a_link)[:, None]
        points += [base + share * (joint - base), joint + share * (hand - joint)]
    return np.concatenate(points)


def _direction(angle: float, plane: str) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c, s, 0.0]) if plane == "xy" else np.array([c, 0.0, -s])  # about y_b


def _filter() -> list[Case]:
    ours = CriticallyDampedFilter(RATE, PERIOD).coefficients
    name = "filter, coefficient"
    return [
        Case(f"{name} {k}", value, getattr(ours, k), 1e-15) for k, value in COEFFICIENTS.items()
    ]


def _postures(elbow: Elbow) -> list[Case]:
    cases = []
    for k, (position, angle, theta) in enumerate(POSTURES):
        rows = elbow.configurations(tool_pose(position), angle)
        off = np.abs(wrapped(rows - np.array(theta))).max(axis=1)
        what = f"posture {k + 1} at arm angle {angle}, largest difference of a joint"
        cases.append(Case(what, 0.0, float(np.nanmin(off)), 1e-8, "rad"))
    return cases


def _points(elbow: Elbow) -> list[Case]:
    T = tool_pose((0.6, 0.2, 0.2))
    cases = []
    for point, least, center, half, exact, corrected, printed in POINTS:
        at = np.array([point])
        who = f"obstacle at {point}"
        arc = elbow.arcs(T, at, VOLUME)
        free = nearest_free(elbow.forbidden(T, at, VOLUME))
        angle = elbow.single_point_correction(T, at[0], VOLUME)
        cases += [
            Case(
                f"{who}: clearance", least, float(elbow.clearance(T, 0.0, at, VOLUME)[0]), 1e-6, "m"
            ),
            Case(f"{who}: centre of its arc", center, float(arc[0][0]), 1e-9, "rad"),
            Case(f"{who}: half width", half, float(arc[1][0]), 1e-9, "rad"),
            Case(f"{who}: nearest free arm angle", exact, free, 1e-9, "rad"),
            Case(f"{who}: eqs. 18-19, corrected", corrected, angle, 1e-6, "rad"),
            Case(
                f"{who}: eqs. 18-19, as printed",
                printed,
                printed_turn(elbow, T, at[0]),
                1e-6,
                "rad",
                "the wrong way" if printed > 0.0 else "no reaction",
            ),
        ]
    return cases


def printed_turn(elbow: Elbow, T: np.ndarray, point: np.ndarray) -> float:
    """Eqs. 18-19 and Algorithm 1 to the letter: offsets along the line mixed in, the forearm's
    radii exchanged, the elbow's distance in the place of its radius."""
    S, E, W = elbow.points(T)
    u = (W - S) / np.linalg.norm(W - S)
    solids = [(np.linalg.norm(point - E) - VOLUME.maximum, E, float(np.linalg.norm(point - E)))]
    for end, forearm in ((S, False), (W, True)):
        along = E - end
        share = float((point - end) @ along / (along @ along))
        if 0.0 <= share <= 1.0:
            foot, radius = end + share * along, share * VOLUME.maximum
            away = np.linalg.norm(point - foot) - radius
            solids.append((away, foot, (1.0 - share) * VOLUME.maximum if forearm else radius))
    _, column, allowed = min(solids, key=lambda solid: solid[0])
    of_point, of_elbow = (S + ((x - S) @ u) * u for x in (point, E))
    k1, k2 = np.linalg.norm(column - of_point), np.linalg.norm(point - of_point)
    v1, v2 = E - of_elbow, point - of_elbow
    gamma = math.acos((k1**2 + k2**2 - allowed**2) / (2.0 * k1 * k2))
    beta = math.acos(v1 @ v2 / (np.linalg.norm(v1) * np.linalg.norm(v2)))
    return float(np.sign(np.cross(point - of_point, v1) @ u) * (gamma - beta))


@dataclass(frozen=True)
class Run:
    """A simulated minute (n,): arm angles wanted and filtered,
    least clearances at zero and at the filtered angle."""

    wanted: np.ndarray
    filtered: np.ndarray
    clearance_at_zero: np.ndarray
    clearance: np.ndarray
    joints: dict[str, np.ndarray]


def reference_run(elbow: Elbow, exact: bool = False) -> Run:
    """Section 5 with the assumptions: the worst point's corrected turn (or the joined arcs) through
    the filter."""
    smooth = CriticallyDampedFilter(RATE, PERIOD)
    wanted, filtered, zero, after = (np.zeros(SAMPLES) for _ in range(4))
    joints = {name: np.zeros((SAMPLES, 7)) for name in ("raw", "filtered", "zero")}
    last: dict[str, np.ndarray] = {}
    for k in range(SAMPLES):
        T, points = circle(k / SAMPLES), human_points(k / SAMPLES)
        room = elbow.clearance(T, 0.0, points, VOLUME)
        zero[k] = room.min()
        if exact:
            wanted[k] = nearest_free(merged(*elbow.arcs(T, points, VOLUME)))
        elif zero[k] < 0.0:
            wanted[k] = elbow.single_point_correction(T, points[np.argmin(room)], VOLUME)
        filtered[k] = smooth.step(wanted[k])
        shown = wanted[k] if exact else filtered[k]
        after[k] = elbow.clearance(T, shown, points, VOLUME).min()
        for name, angle in (("raw", wanted[k]), ("filtered", filtered[k]), ("zero", 0.0)):
            rows = elbow.configurations(T, angle)
            before = last.get(name, np.array(POSTURES[0][2]))
            turned = before + wrapped(rows - before)
            last[name] = turned[np.nanargmin(np.abs(turned - before).max(axis=1))]
            joints[name][k] = last[name]
    return Run(wanted, filtered, zero, after, joints)


def _runs(elbow: Elbow) -> list[Case]:
    run, exact = reference_run(elbow), reference_run(elbow, exact=True)
    inside = lambda room: 100.0 * float(np.mean(room < -1e-6))
    note = "reference run with the stated assumptions; the paper shows it as pictures"
    claim = "the paper claims a motion without collisions"
    zero = run.clearance_at_zero
    cases = [
        Case("samples inside the volume at arm angle 0", 41.8, inside(zero), 0.051, "%", note),
        Case("least clearance at arm angle 0", -0.0713, float(zero.min()), 5.1e-5, "m", note),
        Case(
            "largest wanted arm angle", 0.464, float(np.abs(run.wanted).max()), 5.1e-4, "rad", note
        ),
        Case(
            "largest filtered arm angle",
            0.112,
            float(np.abs(run.filtered).max()),
            5.1e-4,
            "rad",
            note,
        ),
        Case(
            "samples inside the volume with p = 0.2", 34.1, inside(run.clearance), 0.051, "%", claim
        ),
        Case(
            "samples inside, exact arcs without a filter",
            0.0,
            inside(exact.clearance),
            0.0,
            "%",
            note,
        ),
        Case(
            "largest arm angle, exact arcs",
            0.499,
            float(np.abs(exact.wanted).max()),
            5.1e-4,
            "rad",
            note,
        ),
    ]
    speeds = {name: np.diff(q, axis=0) / PERIOD for name, q in run.joints.items()}
    for name, published, digit in (
        ("raw", 1.76, 0.0051),
        ("filtered", 0.456, 5.1e-4),
        ("zero", 0.423, 5.1e-4),
    ):
        ours = float(np.abs(speeds[name]).max())
        cases.append(
            Case(f"largest joint rate, {name} arm angle", published, ours, digit, "rad/s", note)
        )
    jerky = float(np.abs(np.diff(speeds["raw"], axis=0)).max()) / PERIOD
    return [
        *cases,
        Case("largest joint acceleration, raw arm angle", 21.7, jerky, 0.051, "rad/s^2", note),
    ]


def kept_run(elbow: Elbow, activation: float, rate: float) -> np.ndarray:
    """Least clearances (n,): the target stays in the free arc where the elbow is,
    from a larger radius on."""
    smooth, volume = CriticallyDampedFilter(rate, PERIOD, angle=True), SafetyVolume(0.0, activation)
    room = np.zeros(SAMPLES)
    for k in range(SAMPLES):
        T, points = circle(k / SAMPLES), human_points(k / SAMPLES, 11)
        wanted = nearest_free(elbow.forbidden(T, points, volume), 0.0, keep=smooth.value)
        room[k] = elbow.clearance(T, smooth.step(wanted), points, VOLUME).min()
    return room


def _kept(elbow: Elbow) -> list[Case]:
    """The free arc where the elbow is, through faster filters; exact arcs in other scenes."""
    cases = []
    note = (
        "a filtered elbow alone keeps nothing clear for certain: the guard and the hard volume do"
    )
    for (activation, rate), (share, least) in KEEPING.items():
        room = kept_run(elbow, activation, rate)
        inside = 100.0 * float(np.mean(room < -1e-6))
        who = f"arc kept, activation {activation} m, p = {rate} 1/s"
        cases += [
            Case(f"{who}: samples inside", share, inside, 0.051 if share else 0.0, "%", note),
            Case(
                f"{who}: least clearance to the millimetre",
                least,
                round(float(room.min()), 3),
                1e-9,
                "m",
                note,
            ),
        ]
    for up, plane, sign in OTHER_SCENES:
        room = np.zeros(SAMPLES // 4)
        for k in range(len(room)):
            T, points = circle(k / len(room), up), human_points(k / len(room), 11, plane, sign)
            wanted = nearest_free(elbow.forbidden(T, points, VOLUME))
            room[k] = elbow.clearance(T, wanted, points, VOLUME).min()
        who = f"exact arcs without a filter, tool {'up' if up else 'down'}, arms in {plane}"
        cases.append(
            Case(f"{who}: samples inside", 0.0, 100.0 * float(np.mean(room < -1e-6)), 0.0, "%")
        )
    return cases


def figures() -> tuple[Redrawn, ...]:
    """The clearance of the arms over the minute, with the elbow up and with the elbow making
    way."""
    caption = (
        "clearance of the human arms: elbow up, and at the nearest free arm angle of the exact arcs"
    )
    return (Redrawn("clearance", caption, _draw_clearance),)


def _draw_clearance(figure: Any) -> None:
    elbow = Elbow(load("redundant-7"), "tool", (0.0, 1.0, 0.0))
    s = np.linspace(0.0, 1.0, 120, endpoint=False)
    up, away, angles = (np.zeros(len(s)) for _ in range(3))
    for k, x in enumerate(s):
        T, points = circle(x), human_points(x)
        angles[k] = nearest_free(elbow.forbidden(T, points, VOLUME))
        up[k] = elbow.clearance(T, 0.0, points, VOLUME).min()
        away[k] = elbow.clearance(T, angles[k], points, VOLUME).min()
    rows = [
        ("least clearance", "m", {"elbow up": up, "making way": away}),
        ("arm angle", "rad", {"nearest free angle": angles}),
    ]
    panels(figure, s * SAMPLES * PERIOD, rows)
