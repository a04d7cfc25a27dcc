"""Paper 13: an elbow that makes way, of Simas and Di Gregorio.

The arm, the task and the two human arms of section 5; what the paper leaves out is assumed and
said. The published claim of a collision-free motion with p = 0.2 1/s does not hold, and is shown as
what it is.

The paper says neither in which plane its angles swing nor which way they turn. Three readings are
run (`SCENES`): swings in the vertical plane, both arms alike, and swings about y_b, where the arms
mirror each other: towards the plane z_b = 0 between them, or away from it. Where an arc is kept, it
is one of the arm angles in (-pi, pi]: the elbow does not pass under the line from shoulder to
wrist, and what the filter follows never leaves that turn. The least clearances of these runs were
noted to the millimetre from four digits: one of them, -0.050, is -0.0495 before its last rounding.

Not reproduced: figures 5 to 14 (pictures, and a film).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.avoidance import (
    CriticallyDampedFilter,
    Elbow,
    ElbowAvoidance,
    SafetyVolume,
    nearest_free,
)
from linkwork.avoidance.arcs import wrapped
from linkwork.avoidance.around import around
from linkwork.library import load
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, panels
from linkwork.reproduce.human_arms import circle, human_points, tool_pose

PERIOD, RATE, SAMPLES = 0.06, 0.2, 1000
VOLUME = SafetyVolume(0.0, 0.15)
SAME = 1e-9
"""Two numbers of few digits this near are one."""
HALF_A_TURN = np.array([[-math.pi, -math.pi]])
"""An arc without width, which parts the free arcs there: they lie within (-pi, pi]."""
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
class Scene:
    """A reading of section 5: whether the tool points up, the plane in which the arms swing, its
    sense. Of its runs samples inside the hard volume [%] and least clearance [m]: at arm angle 0,
    and of each of `SETTINGS`; of its exact arcs the largest arm rate [rad/s] and its decimals."""

    up: bool
    plane: str
    sign: float
    at_zero: tuple[float, float]
    kept: tuple[tuple[float, float], ...]
    fastest: tuple[float, int] | None = None

    def __str__(self) -> str:
        sense = "+" if self.sign > 0.0 else "-"
        return f"tool {'up' if self.up else 'down'}, arms in {self.plane} ({sense})"

    def poses(self) -> np.ndarray:
        """Of the tool (n, 4, 4) at every sample."""
        return np.array([circle(k / SAMPLES, self.up) for k in range(SAMPLES)])

    def points(self, a_link: int) -> np.ndarray:
        """Points on the human arms (n, k, 3) at every sample."""
        return human_points(np.arange(SAMPLES) / SAMPLES, a_link, self.plane, self.sign)


SETTINGS = ((0.15, 3.33), (0.15, 10.0), (0.18, 10.0), (0.20, 10.0))
"""Activation radius [m] and rate [1/s] where the arc is kept."""
SCENES = (
    Scene(False, "xy", 1.0, (41.7, -0.071),
          ((23.3, -0.036), (21.5, -0.018), (0.0, 0.006), (0.6, -0.080))),
    Scene(False, "xz", -1.0, (10.8, -0.069),
          ((8.3, -0.043), (6.9, -0.023), (2.1, -0.009), (0.0, 0.001)), (0.96, 2)),
    Scene(True, "xz", 1.0, (62.5, -0.124),
          ((39.7, -0.091), (34.0, -0.050), (3.5, -0.031), (1.1, -0.031)), (31.0, 0)),
)  # fmt: skip
SIDE_CHANGE = 1.3
"""Largest step [rad] of the wanted arm angle in the first scene with the last setting, whose free
arc vanishes."""


def paper() -> Paper:
    """Every number of the acceptance list, and the reference run."""
    elbow = Elbow(load("redundant-7"), "tool", (0.0, 1.0, 0.0))
    cases = [*_filter(), *_postures(elbow), *_points(elbow), *_runs(elbow)]
    for scene in SCENES:
        cases += [*_exact(elbow, scene), *_kept(elbow, scene), _guarded(elbow, scene)]
    where = "`lw.avoidance.Elbow`, exact free arcs of the arm angle"
    return Paper(
        13, "Simas2022", "Collision avoidance of 7-axis arms", tuple(cases), CORRECTIONS, where
    )


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


def reference_run(elbow: Elbow) -> Run:
    """Section 5 with the assumptions: the worst point's corrected turn through the filter."""
    smooth = CriticallyDampedFilter(RATE, PERIOD)
    wanted, filtered, zero, after = (np.zeros(SAMPLES) for _ in range(4))
    joints = {name: np.zeros((SAMPLES, 7)) for name in ("raw", "filtered", "zero")}
    last: dict[str, np.ndarray] = {}
    for k, points in enumerate(SCENES[0].points(21)):
        T = circle(k / SAMPLES)
        room = elbow.clearance(T, 0.0, points, VOLUME)
        zero[k] = room.min()
        if zero[k] < 0.0:
            wanted[k] = elbow.single_point_correction(T, points[np.argmin(room)], VOLUME)
        filtered[k] = smooth.step(wanted[k])
        after[k] = elbow.clearance(T, filtered[k], points, VOLUME).min()
        for name, angle in (("raw", wanted[k]), ("filtered", filtered[k]), ("zero", 0.0)):
            rows = elbow.configurations(T, angle)
            before = last.get(name, np.array(POSTURES[0][2]))
            turned = before + wrapped(rows - before)
            last[name] = turned[np.nanargmin(np.abs(turned - before).max(axis=1))]
            joints[name][k] = last[name]
    return Run(wanted, filtered, zero, after, joints)


def _runs(elbow: Elbow) -> list[Case]:
    run = reference_run(elbow)
    note = "reference run with the stated assumptions; the paper shows it as pictures"
    claim = "the paper claims a motion without collisions"
    zero = run.clearance_at_zero
    cases = [
        Case(
            "samples inside the volume at arm angle 0", 41.8, share_inside(zero), 0.051, "%", note
        ),
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
            "samples inside the volume with p = 0.2",
            34.1,
            share_inside(run.clearance),
            0.051,
            "%",
            claim,
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


def share_inside(room: np.ndarray) -> float:
    """Samples with an obstacle inside the hard volume [%], of clearances (n,)."""
    return 100.0 * float(np.mean(room < -1e-6))


def least_clearances(
    elbow: Elbow, poses: np.ndarray, angles: np.ndarray | float, points: np.ndarray
) -> np.ndarray:
    """(n,): the least of the points (n, k, 3) at poses (n, 4, 4) and arm angles (n,) or one;
    `Elbow.clearance` of all in one call."""
    swings, _, _ = elbow.equations.caller("swing")(poses)
    n, k, _ = points.shape
    elbows = (np.repeat(swings, k, axis=0), np.repeat(np.broadcast_to(angles, n), k))
    radii = (np.full(n * k, radius) for radius in (VOLUME.minimum, VOLUME.maximum))
    rows = elbow.equations.caller("clearance")(*elbows, points.reshape(-1, 3), *radii)
    return rows.reshape(n, k).min(axis=1)


def _nearest_angles(elbow: Elbow, poses: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,): the free arm angles nearest to 0, by the exact arcs."""
    both = zip(poses, points, strict=True)
    return np.array([nearest_free(elbow.forbidden(T, here, VOLUME)) for T, here in both])


def _exact(elbow: Elbow, scene: Scene) -> list[Case]:
    """The nearest free angle of the joined arcs, without a filter."""
    poses, points = scene.poses(), scene.points(21)
    wanted = _nearest_angles(elbow, poses, points)
    room = least_clearances(elbow, poses, wanted, points)
    who = f"{scene}, exact arcs without a filter"
    cases = [Case(f"{who}: samples inside", 0.0, share_inside(room), 0.0, "%")]
    if scene.fastest is None:
        widest = float(np.abs(wanted).max())
        return [*cases, Case(f"{who}: largest arm angle", 0.499, widest, 5.1e-4, "rad")]
    published, digits = scene.fastest
    rate = round(float(np.abs(np.diff(wanted)).max()) / PERIOD, digits)
    what = f"{who}: largest arm rate to {digits} decimals"
    return [*cases, Case(what, published, rate, SAME, "rad/s")]


@dataclass(frozen=True)
class Kept:
    """A minute (n,) with one of `SETTINGS`: arm angles wanted and filtered."""

    wanted: np.ndarray
    filtered: np.ndarray


def kept_runs(elbow: Elbow, scene: Scene, points: np.ndarray) -> list[Kept]:
    """A run of each of `SETTINGS` among points (n, k, 3): the target stays in the free arc where
    the elbow is, from a larger radius on."""
    volumes = {activation: SafetyVolume(0.0, activation) for activation, _ in SETTINGS}
    filters = [CriticallyDampedFilter(rate, PERIOD) for _, rate in SETTINGS]
    runs = [Kept(np.zeros(SAMPLES), np.zeros(SAMPLES)) for _ in SETTINGS]
    for k, T in enumerate(scene.poses()):
        swing, stands = elbow.swing(T, "kept_runs"), around(points[k], 0.0, "kept_runs")
        forbidden = {
            activation: np.concatenate([elbow.forbidden_at(swing, stands, volume), HALF_A_TURN])
            for activation, volume in volumes.items()
        }
        for (activation, _), smooth, run in zip(SETTINGS, filters, runs, strict=True):
            run.wanted[k] = nearest_free(forbidden[activation], 0.0, keep=smooth.value)
            run.filtered[k] = smooth.step(run.wanted[k])
    return runs


def _kept(elbow: Elbow, scene: Scene) -> list[Case]:
    """The free arc where the elbow is, through faster filters."""
    poses, points = scene.poses(), scene.points(11)
    runs = kept_runs(elbow, scene, points)
    note = (
        "a filtered elbow alone keeps nothing clear for certain: the guard and the hard volume do"
    )
    zero = least_clearances(elbow, poses, 0.0, points)
    cases = _noted(f"{scene}, 11 points a link, arm angle 0", scene.at_zero, zero, "")
    for (activation, rate), published, run in zip(SETTINGS, scene.kept, runs, strict=True):
        who = f"{scene}, arc kept, activation {activation} m, p = {rate} 1/s"
        room = least_clearances(elbow, poses, run.filtered, points)
        cases += _noted(who, published, room, note)
    if scene is SCENES[0]:
        jump = round(float(np.abs(np.diff(runs[-1].wanted)).max()), 1)
        what = f"{who}: forced change of sides to one decimal"
        cases.append(Case(what, SIDE_CHANGE, jump, SAME, "rad"))
    return cases


def _noted(who: str, published: tuple[float, float], room: np.ndarray, note: str) -> list[Case]:
    share, least = published
    ours = round(round(float(room.min()), 4), 3)
    return [
        Case(f"{who}: samples inside", share, share_inside(room), SAME, "%", note),
        Case(f"{who}: least clearance to the millimetre", least, ours, SAME, "m", note),
    ]


def _guarded(elbow: Elbow, scene: Scene) -> Case:
    """The same minute with the hard volume and the guard, which may make the tool wait."""
    filter = CriticallyDampedFilter(10.0, PERIOD)
    avoidance = ElbowAvoidance(elbow, VOLUME, filter, activation=0.18)
    points, poses, angles = scene.points(11), np.zeros((SAMPLES, 4, 4)), np.zeros(SAMPLES)
    s = 0.0
    for k in range(SAMPLES):
        poses[k] = circle(s, scene.up)
        step = avoidance.step(poses[k], points[k])
        angles[k] = step.arm_angle
        s += step.speed_scale / SAMPLES
    room = least_clearances(elbow, poses, angles, points)
    return Case(f"{scene}, guarded: samples inside", 0.0, share_inside(room), 0.0, "%")


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
    poses, points = np.array([circle(x) for x in s]), human_points(s)
    angles = _nearest_angles(elbow, poses, points)
    up = least_clearances(elbow, poses, 0.0, points)
    away = least_clearances(elbow, poses, angles, points)
    rows = [
        ("least clearance", "m", {"elbow up": up, "making way": away}),
        ("arm angle", "rad", {"nearest free angle": angles}),
    ]
    panels(figure, s * SAMPLES * PERIOD, rows)
