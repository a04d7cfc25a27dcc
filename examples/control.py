"""Control: which law holds an arm whose weight in the hand it does not know; judged, tuned,
behind servo drives.

python examples/control.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw
from linkwork.control import (
    Cascade,
    ConstantRate,
    CurrentLoop,
    DCMotor,
    DisturbanceObserver,
    JointCascade,
    PositionLoop,
    SlidingMode,
    Surface,
    VelocityLoop,
    compare,
    disturbance_bound,
    tune,
)
from linkwork.simulation import PD, GravityCompensation, Metrics, Sampled


def main() -> None:
    arm = lw.load("rehabilitation-arm")
    start, goal = np.array([0.3, 0.8]), np.array([0.5, 1.1])
    weight = lw.Payload("2", 0.4536, com=(0.225, 0.0, 0.0))
    options = {"duration": 1.0, "step": 1e-3, "energy_tolerance": np.inf}

    # Before anything moves: which gain rejects the weight?
    needed = disturbance_bound(arm, np.stack([start, goal]), payload=weight)
    weak = SlidingMode(Surface([40.0, 50.0]), ConstantRate([2.0, 0.8]), goal, model=arm)
    print(weak.check(needed, cause=weight))

    # Three laws that believe in the empty arm, with and without the weight.
    spring = GravityCompensation(model=arm) + PD(30.0, 3.0, goal)
    laws = {
        "springs": Sampled(spring, 1e-3),
        "springs and an observer": Sampled(DisturbanceObserver(spring, 40.0, model=arm), 1e-3),
        "sliding": Sampled(
            SlidingMode(Surface(30.0), ConstantRate(30.0 + 1.5 * needed), goal, model=arm), 1e-3
        ),
    }
    found = compare(
        laws, arm, start, goal, {"empty": {}, "0.45 kg": {"payload": weight}}, **options
    )
    for name, figures in found.items():
        left, effort = np.rad2deg(figures["steady_error"]).max(), figures["effort"]
        print(f"{name:32s} left {left:7.3f} deg, effort {effort:6.2f} N^2 m^2 s")

    # The springs again, tuned for the worse of both cases.
    def springs(kp: Any, kd: Any) -> Any:
        return Sampled(GravityCompensation(model=arm) + PD(kp, kd, goal), 1e-3)

    bounds = {"kp": (5.0, 200.0), "kd": (0.5, 20.0)}
    cases = [{}, {"payload": weight}]
    best = tune(
        arm,
        springs,
        bounds,
        start,
        Metrics(goal),
        constraints={"peak": 12.0},
        scenarios=cases,
        **options,
    )
    print(
        f"best of {len(best.stable)} gain sets within 12 N m:",
        {name: round(x, 2) for name, x in best.gains.items()},
    )

    # And behind drives as they are built: current, velocity and position loops of 50,
    # 200 and 400 us.
    motor = DCMotor(
        torque_constant=0.05, resistance=0.5, inductance=1e-3, inertia=1e-5, peak_current=10.0
    )
    loops = Cascade(
        CurrentLoop(2000.0, period=50e-6), VelocityLoop(200.0, every=4), PositionLoop(40.0, every=8)
    )
    servo = JointCascade(
        loops, motor, goal, ratios=50.0, voltage=24.0, torque=GravityCompensation(model=arm)
    )
    servo_options = options | {"duration": 0.5, "step": 50e-6, "sample": 1e-3, "payload": weight}
    run = lw.simulate(arm, start, control=servo.control, drives=servo.drives, **servo_options)
    left = np.rad2deg(np.abs(goal - run.q[-1])).max()
    print(f"servo drives: left {left:.3f} deg, at most {np.abs(servo.currents(run)).max():.2f} A")
    if left > 0.2:
        raise SystemExit("the servo drives do not hold their goal")


if __name__ == "__main__":
    main()
