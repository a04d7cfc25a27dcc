"""Spin: a motor with its inverter and cascade on one shaft, in machine code,
one or thousands at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork import deadlines
from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive, positive_array
from linkwork.control.drives import Cascade, Inverter, Thermal
from linkwork.control.motors import PMSM
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation.signals import Source
from linkwork.simulation.tracing import UserFunction

STATE = ("i_d", "i_q", "speed", "angle", "heat")
"""Currents [A peak], shaft speed [rad/s] and angle [rad], temperature above the ambient [K]."""
KEPT = ("u_a", "u_b", "next_a", "next_b", "w_d", "w_q", "slow", "torque_set", "speed_set")
"""Voltages of the stator that act and that come next, integrals of both PIs,
set points of the outer loops."""
ROW = ("speed", "angle", "torque", "current_d", "current_q", "temperature")
PARAMETERS = {"machine": 8, "loops": 9, "thermal": 2, "reference": 1, "load": 1}


@short_repr
@dataclass(frozen=True)
class Spin(Tabular):
    """Rows over time (..., T): speed [rad/s], angle [rad], torque [N m], current_d,
    current_q [A peak], temperature."""

    time: np.ndarray
    columns: Mapping[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise UnknownName(
                f'spin: there is no column "{name}"{did_you_mean(name, self.columns)}'
            )
        return self.columns[name]

    def _table(self) -> dict[str, np.ndarray]:
        return {"time": self.time, **self.columns}


def spin(
    motor: PMSM,
    cascade: Cascade | None = None,
    reference: ArrayLike | Callable[[Any], Any] = 0.0,
    load: ArrayLike | Callable[[Any], Any] = 0.0,
    duration: float = 0.5,
    inverter: Inverter | None = None,
    inertia: ArrayLike = 0.0,
    damping: ArrayLike = 0.0,
    thermal: Thermal | None = None,
    step: float | None = None,
    record: bool = True,
) -> Spin:
    """A motor under field-oriented control, from rest.

    reference   shaft speed [rad/s] (angle [rad] where the cascade has a position loop): numbers
                (...,) or a function of time that CasADi can follow;  load [N m]: the same, against
                the motion's positive sense
    inertia     of what the shaft drives [kg m^2], beside the motor's own;  damping [N m s/rad]
    step [s]    of the integrator (RK4), a whole part of the current loop's period; left out: half
                of it
    record      False keeps the last row only

    The voltage is computed at the samples, acts `delay` periods later and stands still in the
    stator between samples, as a bridge gives it; its angle leads by the way that the rotor turns
    meanwhile.
    """
    loops = cascade or Cascade()
    bridge = inverter or Inverter(1e6)
    T = loops.current.period
    h = 0.5 * T if step is None else positive(step, "spin: step")
    deadlines.check_steps(T / h, "spin")
    substeps = round(T / h)
    if substeps < 1 or abs(substeps * h - T) > 1e-9 * T:
        raise InvalidInput(
            f"spin: step {h:g} s is no whole part of the current loop's period of {T:g} s"
        )
    wanted = positive(duration, "spin: duration") / T
    numbers, sources = _numbers(motor, loops, reference, load, inertia, damping, thermal)
    inputs: dict[str, Any] = dict(numbers)
    runs = max(1, inputs["machine"][..., 0].size)
    deadlines.check_steps(wanted * substeps * runs, "spin")
    samples = round(wanted)
    if record:
        size = 8.0 * len(ROW) * (samples + 1) * runs
        deadlines.check_memory(
            size, f"spin: {(samples + 1) * runs:.3g} rows", "set duration= or record=False"
        )
    run = _loop(loops, bridge, h, substeps, sources)
    first: dict[str, Any] = {
        name: np.zeros((*inputs["machine"].shape[:-1], 1)) for name in (*STATE, *KEPT)
    }
    count = samples * substeps
    done = run(**inputs, **first, steps=count + 1, every=substeps if record else count)
    if done.failed.any():
        raise NotPossible("spin: the currents are no longer finite: these loops are unstable")
    rows = done.record["row"]
    columns = {name: rows[..., k] for k, name in enumerate(ROW)}
    columns["temperature"] = columns["temperature"] + (25.0 if thermal is None else thermal.ambient)
    return Spin(T * np.arange(samples + 1) if record else np.array([0.0, samples * T]), columns)


def _numbers(
    motor: PMSM,
    loops: Cascade,
    reference: Any,
    load: Any,
    inertia: Any,
    damping: Any,
    thermal: Thermal | None,
) -> tuple[dict[str, np.ndarray], tuple[Any, Any]]:
    if not isinstance(motor, PMSM):
        raise InvalidInput(f"spin: motor is {type(motor).__name__}, expected PMSM")
    driven = positive_array(inertia, "spin: inertia", zero=True)
    rubbing = positive_array(damping, "spin: damping", zero=True)
    signals: list[tuple[np.ndarray, Any]] = []
    for name, x in (("reference", reference), ("load", load)):
        if not callable(x):
            signals.append((finite_doubles(x, f"spin: {name}"), None))
            continue
        function = Source(x, f"spin: {name}").function
        if function is None or function.function is None:
            raise NotPossible(
                f"spin: {name} cannot be traced: {'' if function is None else function.why_not}"
            )
        signals.append((np.zeros(()), function))
    shape = np.broadcast_shapes(driven.shape, rubbing.shape, *[x.shape for x, _ in signals])

    def spread(*parts: Any) -> np.ndarray:
        return np.stack(
            [np.broadcast_to(np.asarray(x, dtype=float), shape) for x in parts], axis=-1
        )

    J = motor.inertia + driven
    speed, position, current = loops.velocity, loops.position, loops.current
    designed = J if speed.inertia is None else speed.inertia
    gain = (
        (position.gain, position.feed_forward, position.limit)
        if position is not None
        else (0.0, 0.0, np.inf)
    )
    limits = [min(x, 1e12) for x in (speed.limit, current.limit, gain[2])]
    heat = (0.0, 1.0) if thermal is None else (1.0 / thermal.capacity, thermal.time)
    return {
        "machine": spread(
            motor.resistance,
            motor.inductance_d,
            motor.inductance_q,
            motor.flux,
            motor.pole_pairs,
            J,
            rubbing,
            0.0,
        ),
        "loops": spread(
            current.bandwidth,
            speed.bandwidth,
            designed,
            limits[0],
            limits[1],
            gain[0],
            gain[1],
            limits[2],
            0.0,
        ),
        "thermal": spread(*heat),
        "reference": spread(signals[0][0]),
        "load": spread(signals[1][0]),
    }, (signals[0][1], signals[1][1])


def _torque(p: Mapping[str, SX], i_d: SX, i_q: SX) -> SX:
    L_d, L_q, psi, n = (p["machine"][k] for k in (1, 2, 3, 4))
    return 1.5 * n * (psi + (L_d - L_q) * i_d) * i_q


def _loop(
    loops: Cascade, bridge: Inverter, h: float, substeps: int, sources: tuple[Any, Any]
) -> Scan:
    if sources == (None, None):
        plan = (
            loops.velocity.every,
            loops.position.every if loops.position else 0,
            loops.current.delay,
        )
        return _plain(plan, bridge, h, substeps)
    plan = (
        loops.velocity.every,
        loops.position.every if loops.position else 0,
        loops.current.delay,
    )
    return _made(plan, bridge, h, substeps, sources)


@cache
def _plain(plan: tuple[int, int, int], bridge: Inverter, h: float, substeps: int) -> Scan:
    return _made(plan, bridge, h, substeps, (None, None))


@dataclass(frozen=True)
class _Drive:
    """Machine, bridge and loops over symbols.

    plan     periods of the current loop in one of the velocity loop, of the position loop
             (0: none); steps of delay
    sources  what the reference and the load are, where they are functions of time
    """

    plan: tuple[int, int, int]
    bridge: Inverter
    h: float
    substeps: int
    sources: tuple[UserFunction | None, UserFunction | None]

    @property
    def period(self) -> float:
        """Of the current loop [s]."""
        return self.h * self.substeps

    def signal(self, name: str, p: Mapping[str, SX], t: SX) -> tuple[SX, SX]:
        """(value, its rate)."""
        function = self.sources[("reference", "load").index(name)]
        if function is None:
            return p[name][0], SX(0)
        x = SX.sym("t")
        value = function(x)[0]
        both = casadi.Function("both", [x], [value, casadi.jacobian(value, x)])
        at, rate = both.call([t])
        return at, rate

    def rates(self, x: SX, t: SX, p: Mapping[str, SX], u_a: SX, u_b: SX) -> SX:
        """Of currents, speed, angle and heat, with the voltages that the bridge holds in stator
        axes."""
        R, L_d, L_q, psi, n, J, b, _ = (p["machine"][j] for j in range(8))
        i_d, i_q, w, angle, heat = (x[j] for j in range(5))
        w_e = n * w
        c, z = casadi.cos(n * angle), casadi.sin(n * angle)
        u_d, u_q = c * u_a + z * u_b, c * u_b - z * u_a
        if self.bridge.lost:
            size = casadi.sqrt(i_d * i_d + i_q * i_q + 1e-6)
            u_d, u_q = u_d - self.bridge.lost * i_d / size, u_q - self.bridge.lost * i_q / size
        pushed = self.signal("load", p, t)[0]
        return casadi.vertcat(
            (u_d - R * i_d + w_e * L_q * i_q) / L_d,
            (u_q - R * i_q - w_e * (L_d * i_d + psi)) / L_q,
            (_torque(p, i_d, i_q) - b * w - pushed) / J,
            w,
            1.5 * R * (i_d * i_d + i_q * i_q) * p["thermal"][0] - heat / p["thermal"][1],
        )

    def step(self, k: SX, **s: SX) -> dict[str, SX]:
        """The machine after one step of the integrator (Runge-Kutta 4)."""
        p, h, t = {name: s[name] for name in PARAMETERS}, self.h, k * self.h
        rates = lambda x, t: self.rates(x, t, p, s["u_a"], s["u_b"])
        x = casadi.vertcat(*[s[name] for name in STATE])
        k1 = rates(x, t)
        k2 = rates(x + h / 2 * k1, t + h / 2)
        k3 = rates(x + h / 2 * k2, t + h / 2)
        k4 = rates(x + h * k3, t + h)
        after = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        row = casadi.vertcat(x[2], x[3], _torque(p, x[0], x[1]), x[0], x[1], x[4])
        return (
            {name: after[j] for j, name in enumerate(STATE)}
            | {name: s[name] for name in KEPT}
            | {"row": row}
        )

    def position(self, k: SX, **s: SX) -> dict[str, SX]:
        """The loop that asks for a speed."""
        p = {name: s[name] for name in PARAMETERS}
        wanted, rate = self.signal("reference", p, k * self.h)
        gain, share, limit = (p["loops"][j] for j in (5, 6, 7))
        speed = share * rate + gain * (wanted - s["angle"])
        return {
            "due": casadi.fmod(k, self.substeps * max(self.plan[1], 1)) < 0.5,
            "speed_set": casadi.fmax(casadi.fmin(speed, limit), -limit),
        }

    def velocity(self, k: SX, **s: SX) -> dict[str, SX]:
        """The loop that asks for a torque."""
        p, plan = {name: s[name] for name in PARAMETERS}, self.plan
        alpha, J, limit = (p["loops"][j] for j in (1, 2, 3))
        wanted = s["speed_set"] if plan[1] else self.signal("reference", p, k * self.h)[0]
        known = s["slow"] - alpha * J * s["speed"]
        torque = alpha * J * (wanted - s["speed"]) + known
        most = casadi.fmin(limit, _torque(p, SX(0), p["loops"][4]))
        torque = casadi.fmax(casadi.fmin(torque, most), -most)
        slow = s["slow"] + self.period * plan[0] * alpha * (torque - known)
        return {
            "due": casadi.fmod(k, self.substeps * plan[0]) < 0.5,
            "torque_set": torque,
            "slow": slow,
        }

    def current(self, k: SX, **s: SX) -> dict[str, SX]:
        """The loop that asks for voltages, which act at once or a period later."""
        p, T = {name: s[name] for name in PARAMETERS}, self.period
        _, L_d, L_q, psi, n, *_ = (p["machine"][j] for j in range(8))
        alpha, w_e = p["loops"][0], n * s["speed"]
        i_set = s["torque_set"] / (1.5 * n * psi)
        known_d, known_q = s["w_d"] - alpha * L_d * s["i_d"], s["w_q"] - alpha * L_q * s["i_q"]
        u_d = alpha * L_d * (0 - s["i_d"]) + known_d
        u_q = alpha * L_q * (i_set - s["i_q"]) + known_q
        lead = n * s["angle"] + w_e * T * (self.plan[2] + 0.5)
        c, z = casadi.cos(lead), casadi.sin(lead)
        u_a, u_b = self.bridge.held(c * u_d - z * u_q, z * u_d + c * u_q)
        got_d, got_q = c * u_a + z * u_b - known_d, c * u_b - z * u_a - known_q
        observed = {
            "due": casadi.fmod(k, self.substeps) < 0.5,
            "w_d": s["w_d"] + T * (alpha * got_d - w_e * got_q),
            "w_q": s["w_q"] + T * (alpha * got_q + w_e * got_d),
        }
        if not self.plan[2]:
            return observed | {"u_a": u_a, "u_b": u_b}
        return observed | {"u_a": s["next_a"], "u_b": s["next_b"], "next_a": u_a, "next_b": u_b}


def _made(
    plan: tuple[int, int, int],
    bridge: Inverter,
    h: float,
    substeps: int,
    sources: tuple[UserFunction | None, UserFunction | None],
) -> Scan:
    """Machine, bridge and loops as one scan."""
    drive = _Drive(plan, bridge, h, substeps, sources)
    stages = [*([drive.position] if plan[1] else []), drive.velocity, drive.current]
    state = dict.fromkeys((*STATE, *KEPT), 1)
    return keyed_scan(
        None, [drive.step], state, PARAMETERS, record={"row": 6}, name="spin", stages=stages
    )
