"""How fast are closed loops with sampled control, beside Python loops over Pinocchio, and fractional derivatives?"""

from __future__ import annotations

import casadi
import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import check
from linkwork.control import ConstantRate, SlidingMode, Surface, fractional_derivative
from linkwork.reproduce import paper_10, paper_12
from linkwork.simulation import Coulomb, Sampled

GAIN, SLOPE, LEVEL = np.array([2.0, 0.8]), np.array([40.0, 50.0]), np.array([0.05, 0.03])


def rows() -> list[Row]:
    return [*sliding_mode(), *half_derivative_damping(), *half_derivatives()]


def sliding_mode() -> list[Row]:
    """Paper 10: 8 s, 1 ms hold, five Runge-Kutta steps a sample, payload and friction unknown to the law."""
    arm = paper_10.arm()
    weight = lw.Payload("2", 0.4536, com=(paper_10.L2, 0.0, 0.0))
    model, data = _pinocchio(0.0), None
    heavy = _pinocchio(0.4536)
    data, heavy_data = model.createData(), heavy.createData()
    t = casadi.SX.sym("t")
    x = paper_10.exercise(t)
    xd = casadi.jacobian(x, t)
    motion = casadi.Function("motion", [t], [x, xd, casadi.jacobian(xd, t)])
    q_d, v_d, a_d = (np.array(part).T for part in motion.map(8001)(1e-3 * np.arange(8001)))

    def loop() -> np.ndarray:
        q, v, h = q_d[0].copy(), v_d[0].copy(), 2e-4
        for k in range(8000):
            e, ed = q - q_d[k], v - v_d[k]
            r = -np.clip((ed + SLOPE * e) / 1e-3, -GAIN, GAIN)
            tau = pin.rnea(model, data, q, v, a_d[k] - SLOPE * ed + r)
            for _ in range(5):
                a1 = pin.aba(heavy, heavy_data, q, v, tau - LEVEL * np.tanh(v / 0.01))
                v2 = v + h / 2 * a1
                a2 = pin.aba(heavy, heavy_data, q + h / 2 * v, v2, tau - LEVEL * np.tanh(v2 / 0.01))
                v3 = v + h / 2 * a2
                a3 = pin.aba(heavy, heavy_data, q + h / 2 * v2, v3, tau - LEVEL * np.tanh(v3 / 0.01))
                v4 = v + h * a3
                a4 = pin.aba(heavy, heavy_data, q + h * v3, v4, tau - LEVEL * np.tanh(v4 / 0.01))
                q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return q

    def ours(sets: int) -> np.ndarray:
        gain = GAIN if sets == 1 else np.linspace(1.0, 2.0, sets)[:, None] * GAIN
        law = SlidingMode(Surface(SLOPE), ConstantRate(gain), paper_10.exercise, model=arm)
        run = lw.simulate(
            arm,
            q_d[0],
            v_d[0],
            duration=8.0,
            step=2e-4,
            sample=1e-3 if sets == 1 else 8.0,
            control=Sampled(law, 1e-3),
            payload=weight,
            friction=Coulomb(LEVEL, width=0.01),
            energy_tolerance=np.inf,
        )
        return run.q[..., -1, :]

    check(ours(1)[None], loop()[None], 1e-9)
    found = []
    for sets, target in ((1, 60), (1024, 400)):
        taken, peer = side_by_side(lambda: ours(sets), loop)  # noqa: B023
        case = f"paper 10, 8 s, 1 ms hold, {sets} gain sets"
        found.append(
            Row("sliding mode, a run", case, taken / sets, peer, "Python loop over pin.rnea and pin.aba", target)
        )
    return found


def _pinocchio(payload: float) -> pin.Model:
    """The arm built joint by joint, flat, with a point mass in the hand."""
    robot = lw.load("rehabilitation-arm")
    model, parent = pin.Model(), 0
    model.gravity.linear[:] = 0.0
    places = (
        pin.SE3(pin.utils.rotate("z", np.pi / 2), np.zeros(3)),
        pin.SE3(pin.utils.rotate("z", np.pi), np.array([paper_10.L1, 0.0, 0.0])),
    )
    for k, body in enumerate(("1", "2")):
        parent = model.addJoint(parent, pin.JointModelRZ(), places[k], f"theta{k + 1}")
        mass = next(b for b in robot.model.bodies if b.name == body).mass_properties
        inertia = pin.Inertia(float(mass.mass), np.array(mass.com, dtype=float), np.array(mass.inertia, dtype=float))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    if payload:
        model.appendBodyToJoint(
            parent, pin.Inertia(payload, np.array([paper_10.L2, 0.0, 0.0]), np.zeros((3, 3))), pin.SE3.Identity()
        )
    return model


def half_derivative_damping() -> list[Row]:
    """Paper 12: 18.2 s, 3640 samples, 18 200 steps: one run, and 1024 (d, hd) pairs with all indices."""
    robot, q = paper_12.arm()
    random = np.random.default_rng(0)

    def ours(pairs: int) -> np.ndarray:
        d = 5000.0 if pairs == 1 else random.uniform(1000.0, 5000.0, pairs)
        hd = 0.0 if pairs == 1 else random.uniform(0.0, 1.0, pairs) * (47_200.0 - 9.44 * d)  # below eq. 20: stable
        return paper_12.run(Sampled(paper_12.law(robot, q, d, hd), paper_12.PERIOD)).metrics["effort"]

    one, many = side_by_side(lambda: ours(1), lambda: ours(1024))
    case = "paper 12, 18.2 s, 18 200 steps, 1024 pairs at once, beside one alone"
    return [Row("half-derivative damping, a run", case, many / 1024, one, "one run alone", None)]


def half_derivatives() -> list[Row]:
    """1e5 samples, whole signal."""
    try:
        import differint.differint as peer
    except ImportError:
        return []
    x = np.random.default_rng(0).normal(size=100_000)

    def ours() -> np.ndarray:
        return fractional_derivative(x, 1e-5, 0.5)

    def theirs() -> np.ndarray:
        return peer.GL(0.5, x, 0.0, 1.0, 100_000)

    check(ours()[None, 1000::1000] / 1e2, theirs()[None, 1000::1000] / 1e2, 1e-2)
    taken, other = side_by_side(ours, theirs)
    return [Row("half derivative", "1e5 samples", taken, other, "differint.GL", 2)]
