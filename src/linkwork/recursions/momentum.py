"""Momentum about the centre of mass, and the matrix that gives it."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carried, carriers
from linkwork.recursions.center_of_mass import first_moments, total_mass
from linkwork.recursions.joints import inertia, second_moments, subspace, velocities
from linkwork.recursions.moments import Moments
from linkwork.recursions.newton_euler import gathered
from linkwork.recursions.poses import poses
from linkwork.spatial import Force, cross


def momentum(tree: Tree, q: SX, v: SX) -> SX:
    """Centroidal momentum (6) in world axes: linear [kg m/s],
    then angular about the centre of mass [kg m^2/s].

    Sum of the bodies' momenta I V about the world's origin, moved: L_c = L_0 - c x p. Rotors
    (armature) are left out.
    Source: [Orin2013], linear part first.
    """
    X = carriers(tree, q)
    V, F = velocities(tree, X, v), [Force()]
    for i in tree.outward:
        F.append(inertia(tree.nodes[i]) @ V[i])
    total = gathered(tree, X, F)[0]
    m, h = first_moments(tree, X)
    return casadi.densify(
        casadi.vertcat(total.linear, total.angular - cross(h[0] / total_mass(m), total.linear))
    )


def centroidal_matrix(tree: Tree, q: SX) -> SX:
    """A (6, nv) with A v = momentum.

    Column of coordinate k of node i: the momentum I^c_i S of all it carries, from axes of i to the
    centre of mass.
    Source: [Orin2013], by composite bodies.
    """
    X, T = carriers(tree, q), poses(tree, q)
    body = [Moments(B.m, B.h, second_moments(node)) for node in tree.nodes for B in [inertia(node)]]
    for i in tree.inward:
        p = tree.parent(i)
        body[p] = body[p] + carried(X[i], body[i])
    center = body[0].h / total_mass([body[0].m])
    A = SX(6, tree.nv)
    for i in tree.outward:
        for k, S in enumerate(subspace(tree.nodes[i])):
            F = body[i].momentum(S)
            f = T[i].R @ F.linear
            A[:, tree.nodes[i].v + k] = casadi.vertcat(
                f, T[i].R @ F.angular + cross(T[i].p - center, f)
            )
    return casadi.sparsify(A)
