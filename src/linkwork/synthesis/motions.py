"""Motions: a linkage along its whole circuit, with transmission angle and torque of the driver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.errors import NotPossible
from linkwork.loops.circuits import Circuits
from linkwork.synthesis.circuit_verdicts import circuits_of, held
from linkwork.synthesis.four_bar_verdicts import STUCK, links, reach, stuck
from linkwork.synthesis.kinematics import pairs_of_points, posture_kernel
from linkwork.synthesis.linkage import Linkage, Linkages

LARGEST_TORQUE = 5.0
"""Torque for a unit weight [linkage sizes] where curves end: at dead points it has no bound."""


@dataclass(frozen=True)
class Motion:
    """k postures from position 1 all round.

    x              (k, bodies) rotations of the moving bodies [rad], travels of sliders
                   [linkage sizes]
    path           (k,) the tracer, complex [m]
    driver         (k,) rotation of the driver [rad]
    transmission   (k,) [rad], 0 .. pi/2
    torque         (k,) of the driver against a unit weight at the tracer, pulling along -y
                   [linkage sizes]
    """

    x: np.ndarray
    path: np.ndarray
    driver: np.ndarray
    transmission: np.ndarray
    torque: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """(k,) how much of the circuit is done, 0 .. 1."""
        return np.arange(len(self.x)) / max(1, len(self.x) - 1)


def driver_reach(linkage: Linkage) -> tuple[float, float] | None:
    """(low, high) of the driver's rotation from position 1 up to its dead points [rad];
    None where it goes round."""
    if linkage.topology.name == "four-bar":
        g, a, b, c = (complex(v) for v in links(linkage))
        lengths = np.abs(np.array([g, a, b, c]))
        _refuse(stuck(lengths[None]))
        low, high = (float(x) for x in reach(lengths))
        theta = float(np.angle(a / g))
        if low <= 0.0 and high >= np.pi:
            return None
        # the driver's angle from the ground line is between low and high, on either side; without a
        # low end it passes the line itself, without a high end the far side of it
        if low <= 0.0:
            return -high - theta, high - theta
        if high >= np.pi:
            theta %= 2.0 * np.pi
            return low - theta, 2.0 * np.pi - low - theta
        return (low - theta, high - theta) if theta >= 0 else (-high - theta, -low - theta)
    around = _around(linkage)
    if around.dead[0] == 0 and around.closed[0]:
        return None
    turned = around.x[0][:, linkage.topology.moving.index(linkage.topology.driver)]
    turned = turned[np.isfinite(turned)]
    # the branch of position 1 ends at the first dead point, and backward at the last one
    steps = np.diff(turned)
    dead = turned[1:-1][steps[1:] * steps[:-1] < 0]
    if not len(dead):
        return float(min(turned[0], turned[-1])), float(max(turned[0], turned[-1]))
    whole = 2.0 * np.pi * round((turned[-1] - turned[0]) / (2.0 * np.pi))
    first, last = float(dead[0]), float(dead[-1] - whole)
    return min(first, last, 0.0), max(first, last, 0.0)


def _refuse(reasons: np.ndarray | None) -> None:
    if reasons is not None:
        raise NotPossible(f"linkage: {reasons[0]}")


def _around(linkage: Linkage) -> Circuits:
    """The circuit of position 1, or a sentence where the driver is held."""
    around = circuits_of(Linkages(linkage.topology, linkage.points[None]))
    if held(around, linkage.topology)[0]:
        raise NotPossible(f"linkage: {STUCK}: the other bodies hold it")
    return around


def motion_of(linkage: Linkage) -> Motion:
    """The circuit of position 1.

    By virtual work torque = dy / dtheta: how far the tracer rises for a turn of the driver.
    """
    if linkage.topology.name == "four-bar":
        _refuse(stuck(np.abs(np.array(links(linkage)))[None]))
    around = _around(linkage)
    known = np.isfinite(around.x[0]).all(axis=-1)
    x = around.x[0][known]
    size = float(linkage.size)
    scale = np.array([1.0 if edge.along is None else size for edge in linkage.topology.tree[0]])
    pose = posture_kernel(linkage.topology)(x * scale, pairs_of_points(linkage.points))[2]
    path = pose[:, 0] + 1j * pose[:, 1]
    driver = np.unwrap(x[:, linkage.topology.moving.index(linkage.topology.driver)])
    rate, lift = np.gradient(driver), np.gradient(path.imag)
    torque = np.divide(lift, rate, out=np.full(len(rate), np.inf), where=np.abs(rate) > 1e-9) / size
    angle = np.arcsin(np.clip(around.sine[0][known], 0.0, 1.0))
    return Motion(x, path, driver, angle, np.clip(torque, -LARGEST_TORQUE, LARGEST_TORQUE))


def bodies_at(linkage: Linkage, x: np.ndarray) -> dict[str, np.ndarray]:
    """Where the points of every moving body are, complex,
    for rotations x of the bodies (travels in linkage sizes)."""
    topology = linkage.topology
    turn: dict[str, complex] = {topology.ground: 1.0 + 0j}
    shift: dict[str, tuple[complex, complex]] = {topology.ground: (0j, 0j)}
    for k, edge in enumerate(topology.tree[0]):
        joint = complex(linkage.at(edge.point))
        old, new = shift[edge.parent]
        now = new + (joint - old) * turn[edge.parent]
        if edge.along is None:
            turn[edge.child] = complex(np.exp(1j * x[k]))
        else:
            line = complex(linkage.at(edge.along)) - joint
            turn[edge.child] = turn[edge.parent]
            now += line / abs(line) * turn[edge.parent] * x[k] * float(linkage.size)
        shift[edge.child] = (joint, now)
    places = {}
    for body in topology.moving:
        old, new = shift[body]
        places[body] = np.array(
            [new + (complex(linkage.at(p)) - old) * turn[body] for p in topology.bodies[body]]
        )
    return places
