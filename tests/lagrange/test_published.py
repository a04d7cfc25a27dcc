"""The numbers of [Kusaka2022]: its examples corrected, and what its errata and listing would
give."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import SX, Function, cos, dot, gradient, jacobian, jtimes, sin, vertcat

from linkwork.lagrange import System
from tests.lagrange.published import ONE, THREE, THREE_SLIDER, TWO

PRINTED = 1e-9  # twelve digits are given
STATE_2 = ([0.4, -0.7], [0.9, 1.3], [0.5, -0.2])
STATE_3 = ([0.4, -0.7, 0.5], [0.9, 1.3, -0.6], [0.5, -0.2, 0.8])
STATE_SLIDER = ([0.4, 0.8, 0.5], [0.9, -0.3, -0.6], [0.5, 0.7, 0.8])


def close(x, y, atol=PRINTED):
    np.testing.assert_allclose(x, y, rtol=0, atol=atol)


def test_torque_table_of_two_links():
    close(TWO.torque_table(*STATE_2), [[60.158386447, 36.131235135], [0, 9.383507127]])
    close(TWO.inverse_dynamics(*STATE_2), [96.289621582, 9.383507127])


def test_three_links_keep_the_first_two_columns_and_add_one():
    table = THREE.torque_table(*STATE_3)
    assert (table[:2, :2] == TWO.torque_table(*STATE_2)).all()
    close(table[:, 2], [52.989149119061, 23.068087666852, 13.946569100209])
    close(THREE.bias(*STATE_3[:2]), [130.766447066061, 27.013228255186, 11.603227753801])
    M = [
        [34.794168933422, 9.774667028601, 3.837715717573],
        [9.774667028601, 4.755165123781, 1.87758256189],
    ]
    close(THREE.mass_matrix(STATE_3[0]), [*M, [3.837715717573, 1.87758256189, 1]])


def test_a_slider_in_the_middle():
    table = THREE_SLIDER.torque_table(*STATE_SLIDER)
    columns = [60.158386447370, 0, 0], [27.681913675439, 2.248299754625, 0]
    close(table.T, [*columns, [39.653736901801, 1.546064123869, 8.89823793681]])
    M = [[33.594462346586, -0.479425538604, 3.457231173293], [-0.479425538604, 2, -0.479425538604]]
    close(THREE_SLIDER.mass_matrix(STATE_SLIDER[0]), [*M, [3.457231173293, -0.479425538604, 1]])
    close(THREE_SLIDER.bias(*STATE_SLIDER[:2]), [108.266618789706, 3.017617078679, 6.705220227186])


def test_the_first_column_does_not_move_a_bit_when_joint_two_becomes_a_slider():
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 1000, 3))
    assert (THREE.torque_table(q, v, a)[..., 0] == THREE_SLIDER.torque_table(q, v, a)[..., 0]).all()


@pytest.mark.parametrize(
    ("system", "kp", "target", "resting"),
    [
        (ONE, [200], [110], [117.87602983]),
        (TWO, [100, 50], [80, 30], [49.71304012, 27.51793749]),
        (THREE, [1000, 1000, 500], [125, -30, -30], [128.44462632, -30.04653635, -30.42110031]),
    ],
)
def test_resting_angles_under_pd_control(system, kp, target, resting):
    rest = system.equilibrium(np.radians(target), lambda q: SX(kp) * (np.radians(target) - q))
    close(np.degrees(rest), resting, 1e-6)


def table_of(energies):
    """tau of a two-link Lagrangian written out by hand, by the Euler-Lagrange operator."""
    q, v, a = SX.sym("q", 2), SX.sym("v", 2), SX.sym("a", 2)
    L = energies(q, v)
    tau = jtimes(gradient(L, v), vertcat(q, v), vertcat(v, a)) - gradient(L, q)
    return np.array(Function("tau", [q, v, a], [tau])(*STATE_2)).ravel()


def two_links(q, v, length=2.0, cross=2.0):
    """Eqs. 16-22; `length` multiplies sin in eq. 16,
    `cross` the products of both links' velocities after eq. 17."""
    l1, l2, m1, m2, g = 2.0, 1.0, 3.0, 1.0, 9.8
    w = v[0] + v[1]
    K = m1 * l1**2 * v[0] ** 2 / 2
    K = K + m2 * (l1**2 * v[0] ** 2 + l2**2 * w**2 + cross * l1 * l2 * v[0] * w * cos(q[1])) / 2
    P = m1 * g * length * sin(q[0]) + m2 * g * (l1 * sin(q[0]) + l2 * sin(q[0] + q[1]))
    return K - P


def test_errata_of_the_printed_equations():
    """Eq. 16 lacks the length, the quadratic forms after eq. 17 lack a factor 2:
    neither gives the torque."""
    close(table_of(two_links), [96.289621582, 9.383507127])
    close(table_of(lambda q, v: two_links(q, v, length=1.0)), [69.2104, 9.3835], 1e-4)
    close(table_of(lambda q, v: two_links(q, v, cross=1.0)), [93.0816, 9.5229], 1e-4)


def test_the_spring_to_the_origin_does_nothing_to_one_link():
    stiff = System.planar_chain("R", 2, 3, gravity=(0, -9.8), springs=50.0)
    close(stiff.gravity_torque([0.3]), ONE.gravity_torque([0.3]), 1e-12)


def test_point_drag_and_joint_friction_differ_by_the_square_of_the_length():
    dragged = ONE.replace_body("link1", drag=1.0)
    rubbed = ONE.with_joint_drag("friction", 1.0, "joint1")
    close(dragged.bias([0.3], [1.0]) - ONE.bias([0.3], [1.0]), [4.0], 1e-14)
    close(rubbed.bias([0.3], [1.0]) - ONE.bias([0.3], [1.0]), [1.0], 1e-14)


def listing_inertia(m=3.0, l=2.0):
    """What Listing A1 takes for inertia: d/d acc d/d dt dK/d omega along its theta = theta0 +
    (omega0 + acc dt) dt."""
    theta0, omega0, acc, dt = (SX.sym(name) for name in ("theta0", "omega0", "acc", "dt"))
    theta = theta0 + (omega0 + acc * dt) * dt
    pd = jacobian(vertcat(l * cos(theta), l * sin(theta)), dt)
    rate = jacobian(jacobian(m * dot(pd, pd) / 2, omega0), dt)
    f = Function("I", [theta0, omega0, acc, dt], [jacobian(rate, acc)])
    return float(f(0.3, 0.0, 0.7, 0.0))


def listing_step(theta, omega, acc, dt, inertia, m=3.0, l=2.0, g=9.8):
    """One step of the listing: omega is advanced once by the old acceleration and once by the new
    one."""
    omega = omega + acc * dt
    theta = theta + omega * dt
    acc = -m * g * l * np.cos(theta) / inertia
    return theta, omega + acc * dt, acc


def test_faults_of_the_listing():
    """Twice the inertia, half the acceleration, omega advanced twice: right in the limit,
    at first order only."""
    inertia = listing_inertia()
    close(inertia, 24.0, 1e-12)
    close(ONE.mass_matrix([0.3]), [[12.0]], 1e-12)
    _, _, acc = listing_step(0.3, 0.0, 0.0, 1e-9, inertia)
    close(ONE.forward_dynamics([0.3], [0.0], [0.0])[0], -4.6811, 1e-4)
    close(acc, -2.3406, 1e-4)
    errors = []
    reference = swing(lambda theta, omega: (omega, -4.9 * np.cos(theta)), 2e-4)
    for dt in (0.01, 0.0025):
        theta, omega, acc = 0.0, 0.0, 0.0
        for _ in range(round(2 / dt)):
            theta, omega, acc = listing_step(theta, omega, acc, dt, inertia)
        errors.append(abs(theta - reference))
    assert 1e-3 < errors[0] < 2e-2
    # first order: the error is proportional to dt
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    theta, omega, acc = 0.0, 0.0, 0.0
    for _ in range(200):
        # one of the two faults mended alone
        theta, omega, acc = listing_step(theta, omega, acc, 0.01, 12.0)
    assert abs(theta - reference) > 0.5


def swing(rate, dt):
    """theta after 2 s from rest at 0, by the midpoint rule."""
    theta, omega = 0.0, 0.0
    for _ in range(round(2 / dt)):
        a, b = rate(theta, omega)
        a, b = rate(theta + a * dt / 2, omega + b * dt / 2)
        theta, omega = theta + a * dt, omega + b * dt
    return theta


def test_a_scalar_inertia_is_wrong_for_two_links():
    """acc = rest / I with one inertia a joint, as the listing divides:
    not the acceleration of the coupled links."""
    q, v, _ = STATE_2
    right = TWO.forward_dynamics(q, v, [0.0, 0.0])
    close(right, [-4.8113, 3.8523], 1e-4)
    M, gravity = TWO.mass_matrix(q), TWO.gravity_torque(q)
    L_q = gradient_of_lagrangian(q, v)
    close(L_q / np.diag(M), [-4.0666, -6.8112], 1e-4)
    assert not np.allclose(gravity, -L_q)


def gradient_of_lagrangian(q, v):
    x, w = SX.sym("q", 2), SX.sym("v", 2)
    return np.array(Function("f", [x, w], [gradient(two_links(x, w), x)])(q, v)).ravel()


def test_quadratic_forms_of_two_links():
    q, v = SX.sym("q", 2), SX.sym("v", 2)
    p = vertcat(2 * cos(q[0]) + cos(q[0] + q[1]), 2 * sin(q[0]) + sin(q[0] + q[1]))
    pd = jtimes(p, q, v)
    w = v[0] + v[1]
    forms = vertcat(5 + 4 * cos(q[1]), 4 * v[0] ** 2 + w**2 + 4 * v[0] * w * cos(q[1]))
    f = Function("f", [q, v], [vertcat(dot(p, p), dot(pd, pd)) - forms])
    close(np.array(f(*STATE_2[:2])), np.zeros((2, 1)), 1e-14)
