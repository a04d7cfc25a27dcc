"""How fast is the same inverse dynamics written with JAX (jit + vmap, 64 bit)?"""

from __future__ import annotations

import os

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import FILES, Pair, check, pair


def rows() -> list[Row]:
    lw.threads(1)
    return [batch(pair(name)) for name in FILES]


def newton_euler(robot: lw.Robot):
    """A plain Newton-Euler recursion over the robot's bodies, as one writes it in JAX; one
    sample."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    nodes = robot.subject.tree.nodes

    def rotation(axis, angle):
        n = jnp.array(axis)
        K = jnp.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        return jnp.eye(3) + jnp.sin(angle) * K + (1 - jnp.cos(angle)) * (K @ K)

    def tau(q, v, a):
        w, wd, pdd = [jnp.zeros(3)], [jnp.zeros(3)], [jnp.array([0.0, 0.0, 9.81])]
        R, r, f, mu = [jnp.eye(3)], [jnp.zeros(3)], [jnp.zeros(3)], [jnp.zeros(3)]
        for node in nodes[1:]:
            p, n = node.parent, jnp.array(node.axis)
            R0, offset = jnp.array(node.placement.rotation), jnp.array(node.placement.position)
            slides = node.kind == "prismatic"
            turn = R0 if slides else R0 @ rotation(node.axis, q[node.q])
            offset = offset + R0 @ n * q[node.q] if slides else offset
            carried = turn.T @ w[p]
            base = turn.T @ (
                pdd[p] + jnp.cross(wd[p], offset) + jnp.cross(w[p], jnp.cross(w[p], offset))
            )
            if slides:
                w_i, wd_i = carried, turn.T @ wd[p]
                base = base + n * a[node.v] + 2 * jnp.cross(carried, n * v[node.v])
            else:
                w_i = carried + n * v[node.v]
                wd_i = turn.T @ wd[p] + n * a[node.v] + jnp.cross(carried, n * v[node.v])
            m = node.mass_properties
            c, I = jnp.array(m.com), jnp.array(m.inertia)
            force = m.mass * (base + jnp.cross(wd_i, c) + jnp.cross(w_i, jnp.cross(w_i, c)))
            (
                w.append(w_i),
                wd.append(wd_i),
                pdd.append(base),
                R.append(turn),
                r.append(offset),
                f.append(force),
            )
            mu.append(I @ wd_i + jnp.cross(w_i, I @ w_i) + jnp.cross(c, force))
        torques = [jnp.zeros(())] * robot.nv
        for i in range(len(nodes) - 1, 0, -1):
            node = nodes[i]
            torques[node.v] = jnp.array(node.axis) @ (f[i] if node.kind == "prismatic" else mu[i])
            moved = R[i] @ f[i]
            f[node.parent] = f[node.parent] + moved
            mu[node.parent] = mu[node.parent] + R[i] @ mu[i] + jnp.cross(r[i], moved)
        return jnp.stack(torques)

    return jax.jit(jax.vmap(tau))


def batch(p: Pair, count: int = 16_384) -> Row:
    (q, v, a), _ = p.samples(count)
    function = newton_euler(p.robot)
    work = lambda: np.asarray(function(q, v, a))
    check(p.robot.inverse_dynamics(q, v, a), work().copy())
    ours, peer = side_by_side(lambda: p.robot.inverse_dynamics(q, v, a), work)
    return Row(
        "inverse dynamics, 1 thread",
        f"{p.name}, batch {count}",
        ours / count,
        peer / count,
        "JAX jit + vmap",
    )
