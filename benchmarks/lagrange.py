"""How fast are systems typed as positions, beside the same Lagrangian in JAX and beside the paper's
listing?"""

from __future__ import annotations

import os

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import check

GRAVITY, LINKS, BATCH = 9.8, 10, 16_384


def rows() -> list[Row]:
    lw.threads(1)
    return [table_in_jax(), forward_dynamics_by_the_listing()]


def jax_lagrangian(length: float, mass: float):
    """L_i of every body of a planar chain (n,), as one writes it in JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def positions(q):
        phi = jnp.cumsum(q)
        return jnp.cumsum(length * jnp.cos(phi)), jnp.cumsum(length * jnp.sin(phi))

    def lagrangians(q, v):
        (_, y), (xd, yd) = jax.jvp(positions, (q,), (v,))
        return mass * (xd**2 + yd**2) / 2 - mass * GRAVITY * y

    return lagrangians


def jax_table(length: float, mass: float):
    """tau_ki = d/dt dL_i/dv_k - dL_i/dq_k for a batch: one directional derivative of the momenta,
    no Hessian."""
    import jax

    lagrangians = jax_lagrangian(length, mass)

    def table(q, v, a):
        momenta = jax.jacrev(lagrangians, argnums=1)
        _, rate = jax.jvp(momenta, (q, v), (v, a))
        return (rate - jax.jacrev(lagrangians, argnums=0)(q, v)).T

    return jax.jit(jax.vmap(table))


def table_in_jax() -> Row:
    system = lw.System.planar_chain("R" * LINKS, 0.5, 1.0, gravity=(0, -GRAVITY))
    q, v, a = np.random.default_rng(0).normal(size=(3, BATCH, LINKS))
    function = jax_table(0.5, 1.0)
    peer = lambda: np.asarray(function(q, v, a))
    check(system.torque_table(q, v, a), peer().copy(), 1e-12)
    ours, theirs = side_by_side(lambda: system.torque_table(q, v, a), peer)
    case = f"{LINKS}-link pendulum, batch {BATCH}, 1 thread"
    return Row("torque table", case, ours / BATCH, theirs / BATCH, "JAX jit + vmap, 64 bit", 10)


def forward_dynamics_by_the_listing() -> Row:
    """Reverse-mode automatic differentiation of L at every call,
    as Listing A1 does (autograd in the place of PyTorch).

    The listing's own acceleration is wrong for two links (one scalar inertia a joint), so the peer
    solves the full mass matrix; its graph, as in the listing, is built anew at every call.
    """
    import autograd.numpy as anp
    from autograd import grad, jacobian

    l, m = (2.0, 1.0), (3.0, 1.0)

    def lagrangian(q, v):
        x = y = xd = yd = phi = w = total = 0.0
        for i in range(2):
            phi, w = phi + q[i], w + v[i]
            c, s = anp.cos(phi), anp.sin(phi)
            x, y, xd, yd = x + l[i] * c, y + l[i] * s, xd - l[i] * s * w, yd + l[i] * c * w
            total = total + m[i] * (xd**2 + yd**2) / 2 - m[i] * GRAVITY * y
        return total

    momentum = grad(lagrangian, 1)
    slope, M, coriolis = grad(lagrangian, 0), jacobian(momentum, 1), jacobian(momentum, 0)

    def listing(q, v, tau):
        return np.linalg.solve(M(q, v), tau + slope(q, v) - coriolis(q, v) @ v)

    system = lw.System.planar_chain("RR", l, m, gravity=(0, -GRAVITY))
    q, v, tau = np.array([0.4, -0.7]), np.array([0.9, 1.3]), np.array([1.0, 2.0])
    check(system.forward_dynamics(q, v, tau)[None], listing(q, v, tau)[None], 1e-12)
    ours, theirs = side_by_side(
        lambda: system.forward_dynamics(q, v, tau), lambda: listing(q, v, tau)
    )
    return Row(
        "forward dynamics, one call",
        "2-link system",
        ours,
        theirs,
        "reverse-mode AD loop (autograd)",
        20,
    )
