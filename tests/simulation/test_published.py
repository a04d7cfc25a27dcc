"""Motions of [Kusaka2022] with the corrected equations: free, damped, under PD and PID control."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.lagrange import System
from linkwork.simulation import PD, PID, simulate
from tests.lagrange.published import GRAVITY, THREE, TWO

ONE = System.planar_chain("R", [2.0], [3.0], gravity=GRAVITY)


def dragged(system):
    for body in system.bodies:
        system = system.replace_body(body, drag=1.0)
    return system


def angles(system, times, step, **options):
    """q at some times by fixed steps in machine code (reproduce/paper_07 finds the same numbers
    with DOP853)."""
    sample = step * 100
    run = simulate(system, duration=times[-1], sample=sample, step=step, **options)
    assert run.where == "machine code"
    # the PD of three links jumps to 2000 N m at the start
    assert abs(run["energy.balance"]).max() < 1e-4
    return run.q[[round(t / sample) for t in times]]


def close(x, y, atol):
    np.testing.assert_allclose(x, y, rtol=0, atol=atol)


def test_one_link_with_drag_on_its_point():
    found = angles(dragged(ONE), [1, 2, 5, 10], 1e-3)
    close(found[:, 0], [-1.8787295118, -2.4344962386, -2.0667455713, -1.7302117060], 1e-7)


def test_one_link_with_friction_in_its_joint():
    found = angles(ONE.with_joint_drag("friction", 1.0, "joint1"), [1, 2, 5, 10], 1e-3)
    close(found[:, 0], [-2.0182418450, -2.7369097169, -2.7744327604, -1.0647632450], 1e-7)


def test_one_link_under_pd_control():
    found = angles(dragged(ONE), [0.2, 0.5, 1, 2], 1e-3, control=PD(200, 50, np.radians([110])))
    close(np.degrees(found[:, 0]), [22.338288, 79.837616, 124.463827, 117.846505], 1e-4)
    assert found[2, 0] > found[3, 0]  # one overshoot, then rest


def test_two_links_with_drag():
    found = angles(dragged(TWO), [1, 2, 5], 1e-3)
    close(
        found,
        [[-1.61669379, 0.24053278], [-2.28392296, -0.24576721], [-1.83749400, -0.12917761]],
        1e-6,
    )


def test_two_links_under_pd_control():
    control = PD([100, 50], [50, 20], np.radians([80, 30]))
    found = angles(dragged(TWO), [1, 5, 10], 1e-3, control=control)
    expected = [[23.751466, 16.908672], [48.090938, 26.950703], [49.599767, 27.478850]]
    close(np.degrees(found), expected, 1e-4)


def test_three_links_under_pd_control():
    control = PD([1000, 1000, 500], [200, 200, 100], np.radians([125, -30, -30]))
    found = angles(dragged(THREE), [0.5, 2], 5e-4, control=control)
    expected = [[116.370550, -25.725157, -25.381762], [128.199088, -30.116567, -30.465686]]
    close(np.degrees(found), expected, 1e-4)


def test_a_slider_in_the_middle_under_pid_control():
    system = dragged(THREE.replace_joint("joint2", "prismatic"))
    control = PID([0, 500, 0], [0, 300, 0], [0, 100, 0], [0, 0.1, 0])
    run = simulate(system, [0, 1, 0], duration=20, sample=0.5, step=1e-3, control=control)
    close(run["q.joint2"][[1, 10, 40]], [0.116367, 0.092121, 0.0999996], 1e-4)
    close(run.q[-1, [0, 2]], [-np.pi / 2, 0], 1e-3)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_damped_chains_settle_hanging(n):
    system = System.planar_chain(
        "R" * n, [2.0, 1.0, 1.0][:n], [3.0, 1.0, 1.0][:n], gravity=GRAVITY, drags=1.0
    )
    run = simulate(system, duration=60, step=2e-3, sample=1.0)
    close(run.q[-1], [-np.pi / 2, *[0.0] * (n - 1)], 2e-4)
    assert (np.diff(run["energy.total"]) < 1e-12).all()


@pytest.mark.parametrize(
    ("n", "seconds", "tolerance", "drift"),
    [(1, 10, 1e-11, 1e-8), (2, 10, 1e-11, 1e-8), (10, 3, 1e-9, 1e-6)],
)
def test_energy_is_conserved_without_damping(n, seconds, tolerance, drift):
    masses, lengths = ([3.0, 1.0, 1.0][:n], [2.0, 1.0, 1.0][:n]) if n < 4 else (1.0, 0.5)
    system = System.planar_chain("R" * n, lengths, masses, gravity=GRAVITY)
    run = simulate(system, duration=seconds, tolerance=tolerance)
    assert abs(run["energy.total"] - run["energy.total"][0]).max() < drift
