"""UR/TM arms as [Villalobos2022] solves them: a posture chosen by enumeration or by a finite-state
machine.

Plain Python on single numbers, in the paper's letters, so that every printed row can be reproduced;
the library's own solver for all postures is ur.py. Lengths in any unit: `Thresholds` says what
counts as zero in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from linkwork.arguments import number
from linkwork.errors import InvalidInput

SNAP = 1e-9
"""Angles this near to 0, pi or -pi are taken as 0 or pi (the paper gives no number)."""


@dataclass(frozen=True)
class Arm:
    """Standard DH with alpha = (90, 0, 0, 90, -90, 0) deg; Table 1 has 89.2, 425, 392, 109.3,
    94.75, 82.5 mm."""

    d1: float
    a2: float
    a3: float
    d4: float
    d5: float
    d6: float


@dataclass(frozen=True)
class Thresholds:
    """|s3|, |s5| and the shoulder factor |S| [unit of length] up to which a posture counts as singular."""

    elbow: float
    wrist: float
    shoulder: float

    def __post_init__(self) -> None:
        for name in ("elbow", "wrist", "shoulder"):
            if not number(getattr(self, name), f"thresholds: {name}") >= 0:
                raise InvalidInput(
                    f"thresholds: {name} is {getattr(self, name)!r}, expected a number not below 0"
                )

    @staticmethod
    def paper() -> Thresholds:
        """The printed ones, for millimetres. Corrected:
        rounding does not reach them (see `scale_free`)."""
        return Thresholds(1e-12, 1e-12, 1e-9)

    @staticmethod
    def scale_free(arm: Arm) -> Thresholds:
        """s3 and S are square roots of rounded numbers:
        below 1e-6 (of the arm's length) they carry no information."""
        return Thresholds(1e-6, 1e-8, 1e-6 * (abs(arm.a2) + abs(arm.a3) + abs(arm.d5)))


@dataclass(frozen=True)
class Posture:
    """Six angles, signs of (shoulder, wrist, elbow),
    determinant (46) and whether a threshold is violated."""

    theta: tuple[float, ...]
    branch: tuple[int, int, int]
    determinant: float
    singular: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The chosen posture (None: no solution), the distance (48) from the previous angles,
    and the states visited."""

    posture: Posture | None
    distance: float
    trace: tuple[int, ...] = ()
    status: str = "solution"
    computed: int = field(default=0)


def forward(arm: Arm, theta: Sequence[float]) -> np.ndarray:
    """T06 (4, 4) by (2)-(13)."""
    t1, t2, t3, t4, t5, t6 = theta
    s1, c1 = math.sin(t1), math.cos(t1)
    s5, c5 = math.sin(t5), math.cos(t5)
    s6, c6 = math.sin(t6), math.cos(t6)
    s2, c2, s23, c23 = math.sin(t2), math.cos(t2), math.sin(t2 + t3), math.cos(t2 + t3)
    s234, c234 = math.sin(t2 + t3 + t4), math.cos(t2 + t3 + t4)
    r13, r23, r33 = -c1 * c234 * s5 + s1 * c5, -s1 * c234 * s5 - c1 * c5, -s234 * s5
    S = arm.d5 * s234 + arm.a3 * c23 + arm.a2 * c2
    return np.array(
        [
            [
                c1 * c234 * c5 * c6 + s1 * s5 * c6 - c1 * s234 * s6,
                -c1 * c234 * c5 * s6 - s1 * s5 * s6 - c1 * s234 * c6,
            ]
            + [r13, arm.d6 * r13 + c1 * S + arm.d4 * s1],
            [
                s1 * c234 * c5 * c6 - c1 * s5 * c6 - s1 * s234 * s6,
                -s1 * c234 * c5 * s6 + c1 * s5 * s6 - s1 * s234 * c6,
            ]
            + [r23, arm.d6 * r23 + s1 * S - arm.d4 * c1],
            [s234 * c5 * c6 + c234 * s6, -s234 * c5 * s6 + c234 * c6, r33]
            + [arm.d6 * r33 - arm.d5 * c234 + arm.a3 * s23 + arm.a2 * s2 + arm.d1],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def jacobian(arm: Arm, theta: Sequence[float]) -> np.ndarray:
    """J (6, 6), linear part on top, by (33)-(45). Corrected: (37) prints c2 for c23; (44) is J_L5,
    printed H_L5."""
    t1, t2, t3, t4, t5, _ = theta
    s1, c1, s5, c5 = math.sin(t1), math.cos(t1), math.sin(t5), math.cos(t5)
    s23, c23 = math.sin(t2 + t3), math.cos(t2 + t3)
    s234, c234 = math.sin(t2 + t3 + t4), math.cos(t2 + t3 + t4)
    T = forward(arm, theta)
    px, py, pz = T[:3, 3]
    u, v = arm.d6 * s5 * s234 + arm.d5 * c234, arm.d5 * s234 - arm.d6 * s5 * c234
    side = (s1, -c1, 0.0)
    linear = (
        (-py, px, 0.0),
        (-c1 * (pz - arm.d1), -s1 * (pz - arm.d1), c1 * px + s1 * py),
        (c1 * (u - arm.a3 * s23), s1 * (u - arm.a3 * s23), v + arm.a3 * c23),
        (c1 * u, s1 * u, v),
        tuple(
            arm.d6 * x for x in (-s1 * s5 - c1 * c234 * c5, c1 * s5 - s1 * c234 * c5, -s234 * c5)
        ),
        (0.0, 0.0, 0.0),
    )
    angular = ((0.0, 0.0, 1.0), side, side, side, (c1 * s234, s1 * s234, -c234), tuple(T[:3, 2]))
    return np.vstack([np.transpose(linear), np.transpose(angular)])


def shoulder_factor(arm: Arm, theta: Sequence[float]) -> float:
    """S = a2 c2 + a3 c23 + d5 s234, equal to +-sqrt(rad): of all postures of one pose, or of
    none."""
    _, t2, t3, t4, _, _ = theta
    return arm.a2 * math.cos(t2) + arm.a3 * math.cos(t2 + t3) + arm.d5 * math.sin(t2 + t3 + t4)


def determinant(arm: Arm, theta: Sequence[float]) -> float:
    """det J = a2 a3 s3 s5 S (46)."""
    return arm.a2 * arm.a3 * math.sin(theta[2]) * math.sin(theta[4]) * shoulder_factor(arm, theta)


class _Stages:
    """Equations (14)-(30) for one pose, each asked for only when it is needed;
    `computed` counts them."""

    def __init__(self, arm: Arm, T: np.ndarray) -> None:
        self.arm, self.r = arm, [[float(x) for x in row[:3]] for row in T[:3]]
        self.p = [float(x) for x in T[:3, 3]]
        self.A, self.B = self.p[1] - arm.d6 * self.r[1][2], self.p[0] - arm.d6 * self.r[0][2]
        self.rad = self.A**2 + self.B**2 - arm.d4**2
        self.computed = 0

    def theta1(self) -> tuple[float, float]:
        """(20), plus and minus."""
        self.computed += 1
        near, middle = math.atan2(math.sqrt(self.rad), self.arm.d4), math.atan2(self.B, -self.A)
        return _tidy(near + middle), _tidy(-near + middle)

    def theta5(self, t1: float) -> tuple[float, float]:
        """(16)-(18), (21), plus and minus."""
        self.computed += 1
        s1, c1, r = math.sin(t1), math.cos(t1), self.r
        D, E = c1 * r[1][1] - s1 * r[0][1], s1 * r[0][0] - c1 * r[1][0]
        size = math.atan2(math.sqrt(E * E + D * D), s1 * r[0][2] - c1 * r[1][2])
        return _tidy(size), _tidy(-size)

    def theta6(self, t1: float, t5: float) -> float:
        """(22)."""
        self.computed += 1
        s1, c1, s5, r = math.sin(t1), math.cos(t1), math.sin(t5), self.r
        D, E = c1 * r[1][1] - s1 * r[0][1], s1 * r[0][0] - c1 * r[1][0]
        return _tidy(math.atan2(D / s5, E / s5))

    def elbow(self, t1: float, t5: float) -> tuple[float, float, float, float]:
        """(theta234, KC, KS, c3) by (24)-(26). Corrected: theta234 from r33 and c1 r13 + s1 r23.

        (23) loses the posture wherever c5 c6 = s6 = 0.
        """
        self.computed += 1
        arm, r, (px, py, pz) = self.arm, self.r, self.p
        s1, c1, s5 = math.sin(t1), math.cos(t1), math.sin(t5)
        t234 = math.atan2(-r[2][2] / s5, -(c1 * r[0][2] + s1 * r[1][2]) / s5)
        s234, c234 = math.sin(t234), math.cos(t234)
        KC = c1 * px + s1 * py - arm.d5 * s234 + arm.d6 * s5 * c234
        KS = pz - arm.d1 + arm.d5 * c234 + arm.d6 * s5 * s234
        c3 = (KS**2 + KC**2 - arm.a2**2 - arm.a3**2) / (2 * arm.a2 * arm.a3)
        return t234, KC, KS, c3

    def theta24(self, t234: float, KC: float, KS: float, t3: float) -> tuple[float, float]:
        """(29), (30). Corrected: s3 carries the sign of its branch."""
        self.computed += 1
        arm = self.arm
        t2 = math.atan2(KS, KC) - math.atan2(arm.a3 * math.sin(t3), arm.a2 + arm.a3 * math.cos(t3))
        return _tidy(t2), _tidy(t234 - t2 - t3)


def enumerate_all(arm: Arm, T: np.ndarray, thresholds: Thresholds) -> list[Posture]:
    """Every posture of a pose that (14)-(30) give; wrist-singular ones are left out,
    as theta6 divides by s5."""
    stages = _Stages(arm, T)
    if stages.rad < 0.0:
        return []
    postures = []
    for (i, t1), k in itertools.product(enumerate(stages.theta1()), range(2)):
        t5 = stages.theta5(t1)[k]
        if abs(math.sin(t5)) <= thresholds.wrist:
            continue
        t6 = stages.theta6(t1, t5)
        t234, KC, KS, c3 = stages.elbow(t1, t5)
        if abs(c3) > 1.0:
            continue
        for sign in (1, -1):
            t3 = math.atan2(sign * math.sqrt(1.0 - c3 * c3), c3)
            t2, t4 = stages.theta24(t234, KC, KS, t3)
            theta = (t1, t2, t3, t4, t5, t6)
            postures.append(_posture(arm, theta, (1 - 2 * i, 1 - 2 * k, sign), thresholds))
    return postures


def algorithm_1(
    arm: Arm, T: np.ndarray, previous: Sequence[float], thresholds: Thresholds
) -> Choice:
    """Enumerate, drop singular postures, take the nearest: plain (not circular) differences,
    (47)-(48)."""
    everything = enumerate_all(arm, T, thresholds)
    regular = [p for p in everything if not p.singular]
    if not regular:
        return Choice(None, math.inf, status=_nothing(everything))
    best = min(regular, key=lambda p: _distance(p.theta, previous))
    return Choice(best, _distance(best.theta, previous))


def algorithm_2(
    arm: Arm, T: np.ndarray, previous: Sequence[float], thresholds: Thresholds, tie: int = 1
) -> Choice:
    """The finite-state machine: decide joint by joint,
    go back one decision where a posture is singular.

    States 1 -> 5 -> 6 -> 3 -> 24; flags say which alternatives have been taken. Among equally near
    angles the one with the sign `tie` comes first: the paper does not say so, but with "+" all its
    rows come out, with "-" none.
    """
    stages = _Stages(arm, T)
    trace = [1]
    if stages.rad < 0.0:
        return Choice(
            None, math.inf, (1,), "out of reach: wrist point too near to axis 1", stages.computed
        )
    first = _ordered(stages.theta1(), previous[0], tie)
    i = j = k = 0
    state = 5
    shoulder = False
    while True:
        trace.append(state)
        if state == 5:
            fives = _ordered(stages.theta5(first[i][0]), previous[4], tie)
            j = k = 0
            if abs(math.sin(fives[0][0])) <= thresholds.wrist:
                if i:
                    return Choice(None, math.inf, tuple(trace), "wrist-singular", stages.computed)
                i = 1
                continue
            state = 6
        elif state == 6:
            t6 = stages.theta6(first[i][0], fives[j][0])
            state = 3
        elif state == 3:
            t234, KC, KS, c3 = stages.elbow(first[i][0], fives[j][0])
            outside = abs(c3) > 1.0
            if outside or math.sqrt(1.0 - c3 * c3) <= thresholds.elbow:
                state = 6 if j == 0 else 5
                if j == 0:
                    j = 1
                elif i == 0:
                    i = 1
                else:
                    return Choice(
                        None,
                        math.inf,
                        tuple(trace),
                        "elbow out of reach or straight",
                        stages.computed,
                    )
                continue
            size = math.sqrt(1.0 - c3 * c3)
            threes = _ordered((math.atan2(size, c3), math.atan2(-size, c3)), previous[2], tie)
            k, state = 0, 24
        else:
            t3 = threes[k][0]
            t2, t4 = stages.theta24(t234, KC, KS, t3)
            theta = (first[i][0], t2, t3, t4, fives[j][0], t6)
            shoulder = abs(shoulder_factor(arm, theta)) <= thresholds.shoulder
            if not shoulder:
                branch = (first[i][1], fives[j][1], threes[k][1])
                chosen = _posture(arm, theta, branch, thresholds)
                return Choice(
                    chosen, _distance(theta, previous), tuple(trace), "solution", stages.computed
                )
            if k == 0:
                k = 1
            elif j == 0:
                j, state = 1, 6
            elif i == 0:
                i, state = 1, 5
            else:
                status = "shoulder-singular for every posture"
                return Choice(None, math.inf, tuple(trace), status, stages.computed)


def _posture(
    arm: Arm, theta: tuple[float, ...], branch: tuple[int, int, int], thresholds: Thresholds
) -> Posture:
    measures = {
        "elbow": (abs(math.sin(theta[2])), thresholds.elbow),
        "wrist": (abs(math.sin(theta[4])), thresholds.wrist),
        "shoulder": (abs(shoulder_factor(arm, theta)), thresholds.shoulder),
    }
    singular = tuple(name for name, (size, least) in measures.items() if size <= least)
    return Posture(theta, branch, determinant(arm, theta), singular)


def _nothing(everything: list[Posture]) -> str:
    if not everything:
        return "out of reach, or wrist-singular"
    if all("shoulder" in p.singular for p in everything):
        return "shoulder-singular for every posture"
    return "every posture is singular"


def _ordered(pair: tuple[float, float], previous: float, tie: int) -> list[tuple[float, int]]:
    """Both roots with their signs, the nearer first; rounding does not break a tie."""
    plus, minus = abs(pair[0] - previous), abs(pair[1] - previous)
    roots = [(pair[0], 1), (pair[1], -1)]
    if abs(plus - minus) <= SNAP:
        return roots if tie > 0 else roots[::-1]
    return roots if plus < minus else roots[::-1]


def _tidy(angle: float) -> float:
    """In [-pi, pi], with 0 and +-pi snapped to 0 and pi."""
    angle = math.remainder(angle, 2 * math.pi)
    if abs(angle) < SNAP:
        return 0.0
    return math.pi if math.pi - abs(angle) < SNAP else angle


def _distance(theta: Sequence[float], previous: Sequence[float]) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(previous, theta, strict=True)))
