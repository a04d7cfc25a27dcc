"""How fast is a simulated second of UR5 under computed torque as a scan,
beside a Python loop over pin.aba?"""

from __future__ import annotations

import casadi
import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, seconds
from benchmarks.peers import check, pair

STEPS, DT, KP, KD = 10_000, 1e-3, 100.0, 20.0


def rows() -> list[Row]:
    lw.threads(1)
    p = pair("UR5")
    robot = p.robot
    inverse, forward = robot.function("inverse_dynamics"), robot.function("forward_dynamics")

    def step(q, v, amplitude, k):
        """Computed torque along amplitude sin(t), semi-implicit Euler."""
        t = k * DT
        wanted = [amplitude * casadi.sin(t), amplitude * casadi.cos(t), -amplitude * casadi.sin(t)]
        a = wanted[2] + KP * (wanted[0] - q) + KD * (wanted[1] - v)
        v_next = v + DT * forward(q, v, inverse(q, v, a))
        return {"q": q + DT * v_next, "v": v_next}

    simulate = lw.scan(step, {"q": 6, "v": 6}, {"amplitude": 6})
    start, amplitude = np.array([0.1, -1.0, 0.8, 0.2, 0.4, 0.0]), np.full(6, 0.3)
    model, data = p.model, p.model.createData()

    def loop(steps: int) -> np.ndarray:
        q, v = start.copy(), np.zeros(6)
        for k in range(steps):
            t = k * DT
            a = (
                -amplitude * np.sin(t)
                + KP * (amplitude * np.sin(t) - q)
                + KD * (amplitude * np.cos(t) - v)
            )
            tau = pin.rnea(model, data, q, v, a)
            v = v + DT * pin.aba(model, data, q, v, tau)
            q = q + DT * v
        return q

    assert (p.order == np.arange(6)).all()
    check(
        simulate(q=start, v=np.zeros(6), amplitude=amplitude, steps=500).state["q"][None],
        loop(500)[None],
        1e-9,
    )
    found = []
    for samples, target in ((1, 40), (64, 150)):
        q0 = np.tile(start, (samples, 1)) if samples > 1 else start
        run = lambda: simulate(q=q0, v=np.zeros(6), amplitude=amplitude, steps=STEPS)  # noqa: B023
        run()
        ours = min(seconds(run) for _ in range(3)) / samples
        peer = min(seconds(lambda: loop(1000)) for _ in range(3)) * STEPS / 1000
        case = f"UR5, {STEPS} steps, {samples} trajectories at once"
        found.append(
            Row(
                "computed torque, a trajectory",
                case,
                ours,
                peer,
                "Python loop over pin.aba",
                target,
            )
        )
    return found
