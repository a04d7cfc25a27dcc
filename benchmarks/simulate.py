"""How fast is a simulated motion, beside a Python loop over pin.aba and beside a JAX scan?"""

from __future__ import annotations

import os

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import casadi
import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, seconds, side_by_side
from benchmarks.peers import check, pair
from linkwork.simulation import ComputedTorque

STEPS, DT, KP, KD, AMPLITUDE = 10_000, 1e-3, 100.0, 20.0, 0.3
PENDULUMS, SWINGS = 4096, 1000
LENGTHS, MASSES, G = (1.0, 0.7), (1.0, 1.5), 9.81


def rows() -> list[Row]:
    lw.threads(1)
    return [*computed_torque(), *double_pendulums()]


def computed_torque() -> list[Row]:
    """UR5 along a sine under computed torque, semi-implicit Euler on both sides;
    ours with forces and energies."""
    p = pair("UR5")
    start = np.array([0.1, -1.0, 0.8, 0.2, 0.4, 0.0])
    control = ComputedTorque(KP, KD, lambda t: AMPLITUDE * casadi.sin(t) * np.ones(6))
    model, data = p.model, p.model.createData()
    amplitude = np.full(6, AMPLITUDE)
    assert (p.order == np.arange(6)).all()

    def ours(samples: int) -> np.ndarray:
        q = np.tile(start, (samples, 1)) if samples > 1 else start
        options = dict(
            duration=STEPS * DT, step=DT, sample=0.1, method="semi_implicit_euler", control=control
        )
        return lw.simulate(p.robot, q, **options).q

    def loop(steps: int) -> np.ndarray:
        q, v = start.copy(), np.zeros(6)
        for k in range(steps):
            t = k * DT
            wanted = amplitude * np.sin(t)
            a = -wanted + KP * (wanted - q) + KD * (amplitude * np.cos(t) - v)
            tau = pin.rnea(model, data, q, v, a)
            v = v + DT * pin.aba(model, data, q, v, tau)
            q = q + DT * v
        return q

    check(ours(1)[-1:], loop(STEPS)[None], 1e-9)
    found = []
    for samples, target in ((1, 40), (256, 150)):
        taken, peer = side_by_side(lambda: ours(samples), lambda: loop(STEPS))  # noqa: B023
        case = f"UR5, {STEPS} steps of 1 ms, {samples} at once, 1 thread"
        found.append(
            Row(
                "computed torque, a trajectory",
                case,
                taken / samples,
                peer,
                "Python loop over pin.aba",
                target,
            )
        )
    return found


def accelerations_by_hand():
    """The double pendulum's equations derived on paper:
    the shortest program a JAX user could write."""
    import jax.numpy as jnp

    (l1, l2), (m1, m2) = LENGTHS, MASSES

    def acceleration(q, v):
        c2, s2 = jnp.cos(q[1]), jnp.sin(q[1])
        M12 = m2 * l2 * (l2 + l1 * c2)
        M22 = m2 * l2**2
        M11 = m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2)
        b = m2 * l1 * l2 * s2
        weight = m2 * G * l2 * jnp.cos(q[0] + q[1])
        h2 = b * v[0] ** 2 + weight
        h1 = -b * (2 * v[0] * v[1] + v[1] ** 2) + (m1 + m2) * G * l1 * jnp.cos(q[0]) + weight
        d = M11 * M22 - M12**2
        return jnp.stack([(-h1 * M22 + h2 * M12) / d, (-h2 * M11 + h1 * M12) / d])

    return acceleration


def accelerations_of_the_lagrangian():
    """The same input as a System: positions; JAX differentiates the Lagrangian and solves for the
    accelerations."""
    import jax
    import jax.numpy as jnp

    l, m = jnp.array(LENGTHS), jnp.array(MASSES)

    def positions(q):
        phi = jnp.cumsum(q)
        return jnp.cumsum(l * jnp.cos(phi)), jnp.cumsum(l * jnp.sin(phi))

    def lagrangian(q, v):
        (_, y), (xd, yd) = jax.jvp(positions, (q,), (v,))
        return jnp.sum(m * (xd**2 + yd**2) / 2 - m * G * y)

    momentum = jax.grad(lagrangian, 1)

    def acceleration(q, v):
        _, rate = jax.jvp(lambda q: momentum(q, v), (q,), (v,))
        return jnp.linalg.solve(
            jax.hessian(lagrangian, 1)(q, v), jax.grad(lagrangian, 0)(q, v) - rate
        )

    return acceleration


def jax_swing(make):
    """RK4 in a JAX scan over a batch of pendulums (jit + vmap, 64 bit) -> final angles."""
    import jax

    jax.config.update("jax_enable_x64", True)
    acceleration = make()

    def step(state, _):
        q, v = state
        a1 = acceleration(q, v)
        q2, v2 = q + DT / 2 * v, v + DT / 2 * a1
        a2 = acceleration(q2, v2)
        q3, v3 = q + DT / 2 * v2, v + DT / 2 * a2
        a3 = acceleration(q3, v3)
        q4, v4 = q + DT * v3, v + DT * a3
        a4 = acceleration(q4, v4)
        return (q + DT / 6 * (v + 2 * (v2 + v3) + v4), v + DT / 6 * (a1 + 2 * (a2 + a3) + a4)), None

    return jax.jit(jax.vmap(lambda q, v: jax.lax.scan(step, (q, v), None, length=SWINGS)[0][0]))


def double_pendulums() -> list[Row]:
    system = lw.System.planar_chain("RR", LENGTHS, MASSES, gravity=(0, -G))
    q, v = np.random.default_rng(0).uniform(-1, 1, size=(2, PENDULUMS, 2))
    ours = lambda: lw.simulate(system, q, v, duration=SWINGS * DT, step=DT, sample=SWINGS * DT).q[
        :, -1
    ]
    peers = {
        "JAX scan of the same Lagrangian": (accelerations_of_the_lagrangian, 20),
        "JAX scan, equations derived by hand": (accelerations_by_hand, None),
    }
    found = []
    for name, (make, target) in peers.items():
        function = jax_swing(make)
        peer = lambda: np.asarray(function(q, v))  # noqa: B023
        check(ours(), peer().copy(), 1e-9)
        taken = min(
            ((seconds(ours), seconds(peer)) for _ in range(2)), key=lambda pair: pair[1] / pair[0]
        )
        case = f"{PENDULUMS} double pendulums, {SWINGS} steps of RK4, 1 thread"
        found.append(Row("simulation, all", case, *taken, name, target))
    return found
