"""Grip simulation: force, turn and currents of a rotary gripper with its sampled cascades,
in machine code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork import deadlines
from linkwork.arguments import finite_doubles, flag, number
from linkwork.control.checks import positive, positive_array
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import ByName, short_repr
from linkwork.simulation.algebra import clipped

if TYPE_CHECKING:
    from linkwork.control.rotary_gripper import RotaryGripper

STEP = 10e-6
SLOW = 0.05
"""Speed [rad/s] below which dry friction of a shaft falls off: T tanh(w / SLOW)."""
ENDLESS = 1e12
"""Stands for no limit: symbols know no infinity."""
PARAMETERS = {
    "motor": 6,
    "train": 4,
    "contact": 2,
    "loops": 5,
    "gains": 2,
    "limits": 2,
    "rubbing": 2,
    "profile": 5,
    "set": 1,
}
PLANT = ("i1", "i2", "phi1", "w1", "phi2", "w2")
CONTROL = ("a1", "a2", "ad", "u1", "u2", "v_set", "i_set")
COLUMNS = ("force", "turn", "current1", "current2")


@short_repr
@dataclass(frozen=True)
class GripRun(Tabular, ByName[np.ndarray]):
    """Rows over time: force [N], turn [rad], current1, current2 [A]; (..., T).

    sag, peak   [N] largest fall and rise of the force from its set-point;  end: turn at the end
                less what was asked
    """

    time: np.ndarray
    columns: Mapping[str, np.ndarray]
    force: np.ndarray
    turn: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise UnknownName(f'the run has no column "{name}"{did_you_mean(name, self.columns)}')
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def _table(self) -> dict[str, np.ndarray]:
        return {"time": self.time, **self.columns}

    @property
    def sag(self) -> np.ndarray:
        return self.force - self.columns["force"].min(axis=-1)

    @property
    def peak(self) -> np.ndarray:
        return self.columns["force"].max(axis=-1) - self.force

    @property
    def end(self) -> np.ndarray:
        return self.columns["turn"][..., -1] - self.turn


def simulate_grip(
    gripper: RotaryGripper,
    force: ArrayLike,
    turn: ArrayLike,
    velocity: ArrayLike = 5.9,
    acceleration: ArrayLike = 73.3,
    start: float = 0.1,
    duration: float | None = None,
    feed_forward: Any = True,
    coupling: ArrayLike | None = None,
    stiffness: ArrayLike = 2000.0,
    damping: ArrayLike = 5.0,
    friction: ArrayLike = 0.0,
    sampled: bool = True,
    sample: float = 1e-3,
    differentiator: ArrayLike | None = None,
    voltage: ArrayLike | None = None,
    limited: bool = False,
) -> GripRun:
    """Grip at a force [N], then turn by an angle [rad] from `start` on, the fingers holding;
    arrays broadcast.

    velocity [rad/s], acceleration [rad/s^2]   of the trapezoidal turn
    duration        [s]; left out: 0.25 s after the turn
    feed_forward    True: with the plant's coupling; False: none; a number: the k of its gains
    coupling        the plant's k; left out: the gripper's
    stiffness, damping   of the contact at the fingertip [N/m, N s/m]: assumed, not published
    friction        dry friction torque of each motor shaft [N m], smoothed below 0.05 rad/s
    sampled         loops at 50, 200 and 400 us over steps of 10 us; False: continuous loops
    differentiator  time constant of the acceleration's set-point [s]; left out: that of the drives
    limited         True: currents that are asked for stay within the peak current of the drives
    voltage         [V] that the drives have, either sign; the integrators wait while it is all
                    used, unless their error leads back from the limit. None: endless
    The sequence is grip, turn, hold: the run starts in equilibrium at the force, and a turn that
    would begin at once or a force that changes while it turns is refused by there being no way to
    ask for it; `start` must be positive.
    """
    if not 0 < number(start, "simulate: start") < np.inf:
        told = "no turn while closing, expected a time above 0"
        raise InvalidInput(f"simulate: start is {start!r} s: {told}")
    d = gripper.drives
    lag = d.differentiator if differentiator is None else differentiator
    asked = {
        "force": positive_array(force, "simulate: force"),
        "turn": finite_doubles(turn, "simulate: turn"),
        "velocity": positive_array(velocity, "simulate: velocity"),
        "acceleration": positive_array(acceleration, "simulate: acceleration"),
        "k": finite_doubles(
            gripper.coupling if coupling is None else coupling, "simulate: coupling"
        ),
        "stiffness": positive_array(stiffness, "simulate: stiffness"),
        "damping": positive_array(damping, "simulate: damping", zero=True),
        "friction": positive_array(friction, "simulate: friction", zero=True),
        "lag": positive_array(lag, "simulate: differentiator"),
        "voltage": positive_array(ENDLESS if voltage is None else voltage, "simulate: voltage"),
        "peak": np.array(d.peak_current if flag(limited, "simulate: limited") else ENDLESS),
    }
    fed = 0.0 if feed_forward is False else feed_forward
    asked["k_gains"] = asked["k"] if fed is True else finite_doubles(fed, "simulate: feed_forward")
    gripper.current(asked["force"])  # beyond the peak current it is refused here
    shape = np.broadcast_shapes(*[x.shape for x in asked.values()])
    top, lasting = _turning(asked)
    every, rows = _counted(start, float(np.max(lasting)), duration, sample, int(np.prod(shape)))
    inputs: dict[str, Any] = _inputs(gripper, asked, start, top, shape)
    first: dict[str, Any] = _equilibrium(inputs)
    loop = _loop(flag(sampled, "simulate: sampled"), tuple(round(p / STEP) for p in d.periods))
    done = loop(**inputs, **first, steps=rows * every + 1, every=every)
    if done.failed.any():
        told = "its state is no longer finite"
        raise NotPossible(f"simulate: the force loop is unstable with these gains: {told}")
    columns = {name: done.record["row"][..., k] for k, name in enumerate(COLUMNS)}
    forces, turns = (np.broadcast_to(asked[name], shape) for name in ("force", "turn"))
    return GripRun(sample * np.arange(rows + 1), columns, forces, turns)


def _turning(asked: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(largest speed, time) of the trapezoidal turn."""
    distance, a = np.abs(asked["turn"]), asked["acceleration"]
    top = np.maximum(np.minimum(asked["velocity"], np.sqrt(distance * a)), 1e-12)
    return top, np.where(distance > 0, distance / top + top / a, 0.0)


def _counted(
    start: float, lasting: float, duration: float | None, sample: float, runs: int
) -> tuple[int, int]:
    """(steps a row, rows) of a run."""
    ends = start + lasting + 0.25
    total = ends if duration is None else positive(duration, "simulate: duration")
    if total < start:
        raise InvalidInput(
            f"simulate: duration {total:g} s ends before the turn begins at {start:g} s"
        )
    deadlines.check_steps(total / STEP * runs, "simulate")
    every = round(positive(sample, "simulate: sample") / STEP)
    if every < 1 or abs(every * STEP - sample) > 1e-9:
        raise InvalidInput(
            f"simulate: sample {sample:g} s is no whole number of steps of {STEP:g} s"
        )
    return every, round(total / sample)


def _inputs(
    gripper: RotaryGripper,
    asked: Mapping[str, np.ndarray],
    start: float,
    top: np.ndarray,
    shape: tuple[int, ...],
) -> dict[str, np.ndarray]:
    """Every number of the loop, (..., n) by PARAMETERS."""
    d, way = gripper.drives, asked["turn"]

    def spread(*parts: Any) -> np.ndarray:
        rows = [np.broadcast_to(np.asarray(x, dtype=float), shape) for x in parts]
        return np.stack(rows, axis=-1)

    loops = (d.current_gain, d.current_time, d.velocity_gain, d.position_gain, asked["lag"])
    sizes = (gripper.finger_ratio, gripper.turn_ratio, gripper.finger_length, asked["k"])
    k = asked["k_gains"]
    return {
        "motor": spread(d.torque_constant, d.back_emf, d.inductance, d.resistance, *d.inertias),
        "train": spread(*sizes),
        "contact": spread(asked["stiffness"], asked["damping"]),
        "loops": spread(*loops),
        "gains": spread(k * d.inertias[0] / d.torque_constant, k * d.back_emf),
        "limits": spread(asked["peak"], asked["voltage"]),
        "rubbing": spread(asked["friction"], asked["friction"]),
        "profile": spread(start, np.sign(way), np.abs(way), top, asked["acceleration"]),
        "set": spread(asked["force"]),
    }


def _equilibrium(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Holding the force at rest: digest 3.6b, step 2."""
    motor, train = inputs["motor"], inputs["train"]
    K_t, R = motor[..., 0], motor[..., 3]
    g_f, g_c, l_f, k = (train[..., j] for j in range(4))
    f, stiffness = inputs["set"][..., 0], inputs["contact"][..., 0]
    i1 = f * l_f / (K_t * g_f)
    i2 = k * i1 / g_c
    turned = i2 / (inputs["loops"][..., 2] * inputs["loops"][..., 3])
    x = {
        "i1": i1,
        "i2": i2,
        "phi1": g_f * f / (stiffness * l_f) + k * turned,
        "phi2": -g_c * turned,
    }
    x |= {
        "a1": R * i1,
        "a2": R * i2,
        "u1": R * i1,
        "u2": R * i2,
        "i_set": i2,
        "v_set": -inputs["loops"][..., 3] * turned,
    }
    return {name: x.get(name, np.zeros_like(i1))[..., None] for name in (*PLANT, *CONTROL)}


def _profile(p: SX, t: SX) -> tuple[SX, SX]:
    """(angle, speed) of the trapezoidal turn."""
    s, way, distance, v, a = (p[k] for k in range(5))
    rise = v / a
    whole = distance / v + rise

    def ramp(x: SX) -> SX:
        return casadi.fmax(x, 0)

    u = casadi.fmin(casadi.fmax(t - s, 0), whole)
    speed = a * (ramp(u) - ramp(u - rise) - ramp(u - (whole - rise)))
    angle = a / 2 * (ramp(u) ** 2 - ramp(u - rise) ** 2 - ramp(u - (whole - rise)) ** 2)
    return way * angle, way * speed


def _motion(x: SX, u: SX, p: Mapping[str, SX]) -> tuple[SX, SX]:
    """(rates of currents, angles and speeds; grip force)."""
    K_t, K_e, L, R, J1, J2 = (p["motor"][k] for k in range(6))
    g_f, g_c, l_f, k = (p["train"][j] for j in range(4))
    i1, i2, phi1, w1, phi2, w2 = (x[j] for j in range(6))
    finger, w_finger = (phi1 + k / g_c * phi2) / g_f, (w1 + k / g_c * w2) / g_f
    force = casadi.fmax(0, p["contact"][0] * l_f * finger + p["contact"][1] * l_f * w_finger)
    rub1, rub2 = (p["rubbing"][j] * casadi.tanh(w / SLOW) for j, w in ((0, w1), (1, w2)))
    rates = casadi.vertcat(
        (u[0] - R * i1 - K_e * w1) / L,
        (u[1] - R * i2 - K_e * w2) / L,
        w1,
        (K_t * i1 - rub1 - force * l_f / g_f) / J1,
        w2,
        (K_t * i2 - rub2 - k * force * l_f / (g_f * g_c)) / J2,
    )
    return rates, force


def differentiated(x: Any, kept: Any, T: Any) -> tuple[Any, Any]:
    """(rate of x through the lag T, rate of what the differentiator keeps):
    s/(T s + 1) (eqs. 11 and 12)."""
    rate = x / T - kept
    return rate, rate / T


def _errors(x: SX, c: Mapping[str, SX], p: Mapping[str, SX], t: SX) -> tuple[SX, SX, SX]:
    """(current errors of M1 and M2, rate of what the differentiator keeps)."""
    _, speed = _profile(p["profile"], t)
    eps, kept = differentiated(speed, c["ad"], p["loops"][4])
    wanted = p["set"] * p["train"][2] / (p["motor"][0] * p["train"][0])
    peak = p["limits"][0]
    return (
        clipped(wanted + p["gains"][0] * eps, peak) - x[0],
        clipped(c["i_set"], peak) - x[1],
        kept,
    )


@cache
def _loop(sampled: bool, periods: tuple[int, ...]) -> Scan:
    """The whole drive as one scan: RK4 on the plant, and the loops at their periods or
    continuous."""
    state = dict.fromkeys((*PLANT, *CONTROL), 1)

    def split(symbols: Mapping[str, SX]) -> tuple[SX, dict[str, SX], dict[str, SX]]:
        x = casadi.vertcat(*[symbols[name] for name in PLANT])
        return (
            x,
            {name: symbols[name] for name in CONTROL},
            {name: symbols[name] for name in PARAMETERS},
        )

    def turned(x: SX, p: Mapping[str, SX]) -> tuple[SX, SX]:
        return -x[4] / p["train"][1], -x[5] / p["train"][1]

    def voltages(x: SX, c: Mapping[str, SX], p: Mapping[str, SX], t: SX) -> tuple[SX, SX, SX]:
        """(voltages of M1 and M2, rates of their integrators and of what the differentiator
        keeps)."""
        e1, e2, kept = _errors(x, c, p, t)
        gain, ratio, most = p["loops"][0], p["loops"][0] / p["loops"][1], p["limits"][1]
        asked = (
            gain * e1 + c["a1"] + p["gains"][1] * _profile(p["profile"], t)[1],
            gain * e2 + c["a2"],
        )
        u1, u2 = (clipped(u, most) for u in asked)
        moving = []
        for u, got, e in zip(asked, (u1, u2), (e1, e2), strict=True):
            free = casadi.logic_or(got == u, e * u < 0)  # what leads back from the limit counts
            moving.append(casadi.if_else(free, ratio * e, 0.0))
        return u1, u2, casadi.vertcat(*moving, kept)

    def step(k: SX, **symbols: SX) -> dict[str, SX]:
        x, c, p = split(symbols)
        t, h = k * STEP, STEP

        def rates(x: SX, c: Mapping[str, SX], t: SX) -> tuple[SX, SX]:
            if sampled:
                return _motion(x, casadi.vertcat(c["u1"], c["u2"]), p)[0], SX.zeros(3)
            angle, speed = turned(x, p)
            inner = p["loops"][3] * (_profile(p["profile"], t)[0] - angle)
            c = {**c, "i_set": -(inner - speed) * p["loops"][2]}
            u1, u2, slow = voltages(x, c, p, t)
            return _motion(x, casadi.vertcat(u1, u2), p)[0], slow

        def moved(slow: SX) -> dict[str, SX]:
            return {**c, "a1": slow[0], "a2": slow[1], "ad": slow[2]}

        z = casadi.vertcat(c["a1"], c["a2"], c["ad"])
        k1, s1 = rates(x, moved(z), t)
        k2, s2 = rates(x + h / 2 * k1, moved(z + h / 2 * s1), t + h / 2)
        k3, s3 = rates(x + h / 2 * k2, moved(z + h / 2 * s2), t + h / 2)
        k4, s4 = rates(x + h * k3, moved(z + h * s3), t + h)
        after = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        slow = z + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
        out = {name: after[j] for j, name in enumerate(PLANT)} | {name: c[name] for name in CONTROL}
        out |= {"a1": slow[0], "a2": slow[1], "ad": slow[2]}
        out["row"] = casadi.vertcat(_motion(x, SX.zeros(2), p)[1], turned(x, p)[0], x[0], x[1])
        return out

    def position(k: SX, **symbols: SX) -> dict[str, SX]:
        x, _, p = split(symbols)
        wanted = _profile(p["profile"], k * STEP)[0]
        return {
            "due": casadi.fmod(k, periods[2]) < 0.5,
            "v_set": p["loops"][3] * (wanted - turned(x, p)[0]),
        }

    def velocity(k: SX, **symbols: SX) -> dict[str, SX]:
        x, c, p = split(symbols)
        current = -(c["v_set"] - turned(x, p)[1]) * p["loops"][2]
        return {"due": casadi.fmod(k, periods[1]) < 0.5, "i_set": current}

    def current(k: SX, **symbols: SX) -> dict[str, SX]:
        x, c, p = split(symbols)
        u1, u2, slow = voltages(x, c, p, k * STEP)
        moved = {
            name: c[name] + periods[0] * STEP * slow[j] for j, name in enumerate(("a1", "a2", "ad"))
        }
        return {"due": casadi.fmod(k, periods[0]) < 0.5, "u1": u1, "u2": u2, **moved}

    stages = [position, velocity, current] if sampled else []
    return keyed_scan(
        None, [step], state, PARAMETERS, record={"row": 4}, name="simulate grip", stages=stages
    )
