"""System: dynamics of mechanisms given by positions, against Pinocchio,
closed forms and the laws of mechanics."""

from __future__ import annotations

import casadi
import numpy as np
import pinocchio as pin
import pytest
from casadi import SX, cos, sin

from linkwork import quantities
from linkwork.lagrange import PlanarJoint, SpatialJoint, System
from linkwork.lagrange.columns import euler_lagrange
from linkwork.subject import Subject
from tests.random_models import random_model

G = 9.81


def close(x, y, rtol=1e-12, atol=1e-12):
    np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)


def states(n, count=20, seed=0):
    return np.random.default_rng(seed).normal(size=(4, count, n))


def planar_twin(letters, lengths, masses, inertias, centers, angles):
    """The same chain in Pinocchio: gravity along -y."""
    model = pin.Model()
    model.gravity.linear = np.array([0, -G, 0])
    parent, placement = 0, pin.SE3.Identity()
    for k, (letter, l, m, I, c, angle) in enumerate(
        zip(letters, lengths, masses, inertias, centers, angles)
    ):
        turned = pin.SE3(pin.utils.rotate("z", angle), np.zeros(3))
        if letter == "R":
            parent = model.addJoint(parent, pin.JointModelRZ(), placement, f"j{k}")
            center, placement = np.array([c * l, 0, 0]), pin.SE3(np.eye(3), np.array([l, 0, 0]))
        else:
            parent = model.addJoint(parent, pin.JointModelPX(), placement * turned, f"j{k}")
            center, placement = np.array([0.0, 0, 0]), pin.SE3.Identity()
        model.appendBodyToJoint(
            parent, pin.Inertia(m, center, np.diag([0, 0, I])), pin.SE3.Identity()
        )
    return model


@pytest.mark.parametrize(
    ("letters", "compiled"), [("R", False), ("RPR", True), ("PRPR", False), ("RRRRRR", False)]
)
def test_planar_chains_agree_with_pinocchio(letters, compiled):
    rng = np.random.default_rng(len(letters))
    n = len(letters)
    lengths, masses, inertias = (
        rng.uniform(0.2, 2, n),
        rng.uniform(0.5, 3, n),
        rng.uniform(0, 0.4, n),
    )
    centers = np.where(np.array(list(letters)) == "R", rng.uniform(0.1, 1, n), 1.0)
    angles = rng.uniform(-1, 1, n)
    system = System.planar_chain(
        letters,
        list(lengths),
        list(masses),
        angles=list(angles),
        inertias=list(inertias),
        centers=list(centers),
    )
    model = planar_twin(letters, lengths, masses, inertias, centers, angles)
    data = model.createData()
    q, v, a, tau = states(n, count=8)

    def found(name, *arguments):
        return getattr(system, name)(*arguments) if compiled else traced(system, name, *arguments)

    close(found("inverse_dynamics", q, v, a), [pin.rnea(model, data, *s) for s in zip(q, v, a)])
    close(found("bias", q, v), [pin.nle(model, data, *s).copy() for s in zip(q, v)])
    close(
        found("gravity_torque", q),
        [pin.computeGeneralizedGravity(model, data, s).copy() for s in q],
    )
    upper = [np.triu(pin.crba(model, data, s)) for s in q]
    close(np.triu(found("mass_matrix", q)), upper)
    accelerations = [pin.aba(model, data, *s).copy() for s in zip(q, v, tau)]
    # condition of M up to 1e4
    close(found("forward_dynamics", q, v, tau), accelerations, rtol=1e-9)
    table = found("torque_table", q, v, a)
    for i in range(n):  # a column is the inverse dynamics with every other body massless
        alone = planar_twin(
            letters,
            lengths,
            masses * (np.arange(n) == i),
            inertias * (np.arange(n) == i),
            centers,
            angles,
        )
        other = alone.createData()
        close(table[..., i], [pin.rnea(alone, other, *s) for s in zip(q, v, a)])
    assert (table[:, np.tril_indices(n, -1)[0], np.tril_indices(n, -1)[1]] == 0).all()


def test_closed_form_of_planar_revolute_links():
    """tau_ki = m_i sum_a sum_b l_a l_b [cos(phi_a - phi_b) phi_b'' + sin(phi_a - phi_b) phi_b'^2] +
    weight, a >= k."""
    n = 5
    rng = np.random.default_rng(1)
    l, m = rng.uniform(0.3, 1.5, n), rng.uniform(0.5, 2, n)
    system = System.planar_chain("R" * n, list(l), list(m))
    q, v, a = (x[0] for x in states(n)[:3])
    phi, phid, phidd = np.cumsum(q), np.cumsum(v), np.cumsum(a)
    expected = np.zeros((n, n))
    for i in range(n):
        for k in range(i + 1):
            for x in range(k, i + 1):
                d = phi[x] - phi[: i + 1]
                inertial = l[: i + 1] * (
                    np.cos(d) * phidd[: i + 1] + np.sin(d) * phid[: i + 1] ** 2
                )
                expected[k, i] += m[i] * l[x] * (inertial.sum() + G * np.cos(phi[x]))
    close(system.torque_table(q, v, a), expected)


def traced(system, name, *arguments):
    """A quantity through CasADi's own evaluation of the trace:
    no machine code to compile for a model used once."""
    f, line = (
        system.function(name),
        {"mass_matrix": (system.nq,) * 2, "torque_table": (system.nq, len(system.terms))},
    )
    shape = line.get(name, (system.nq,))
    return np.array([np.array(f.call(list(row))[0]).reshape(shape) for row in zip(*arguments)])


@pytest.mark.parametrize("seed", range(2))
def test_spatial_robots_agree_with_newton_euler(seed):
    types = ("revolute", "prismatic", "helical", "universal", "planar", "cylindrical", "fixed")
    model = random_model(seed, bodies=6, types=types)
    subject = Subject(model)
    system = System.from_robot(subject)
    q, v, a, _ = states(subject.nv, count=3, seed=seed)
    f = quantities.trace(subject, "inverse_dynamics")
    expected = np.array([np.array(f(*row)).ravel() for row in zip(q, v, a)])
    tolerance = {"rtol": 1e-10, "atol": 1e-10 * np.abs(expected).max()}
    close(traced(system, "inverse_dynamics", q, v, a), expected, **tolerance)
    close(traced(system, "torque_table", q, v, a).sum(-1), expected, **tolerance)
    # condition of M up to 1e5
    close(traced(system, "forward_dynamics", q, v, expected), a, rtol=1e-8, atol=1e-8)
    assert 0 < len(system.bodies) <= 6


def whirl(q):
    """A rotation matrix by angles about z, then x."""
    z, x = q.alpha, q.beta
    Rz = casadi.vertcat(
        casadi.horzcat(cos(z), -sin(z), 0), casadi.horzcat(sin(z), cos(z), 0), SX([[0, 0, 1]])
    )
    Rx = casadi.vertcat(
        SX([[1, 0, 0]]), casadi.horzcat(0, cos(x), -sin(x)), casadi.horzcat(0, sin(x), cos(x))
    )
    return Rz @ Rx


def crane():
    """Everything at once: time, drag, springs of all kinds, a body in space, potentials,
    Lagrangians of one's own."""
    system = System(
        "x theta alpha beta", gravity=(0, -G, 0.3), variables={"rope": 1.5, "load": 2.0}
    )
    return (
        system.with_body("trolley", 4.0, lambda q: (q.x, 0.2 * sin(q.x)))
        .with_body(
            "load",
            lambda p: p.load,
            lambda q, t: (q.x + q.rope * sin(q.theta), -q.rope * cos(q.theta) + 0.1 * sin(t)),
        )
        .with_body(
            "rotor",
            0.5,
            lambda q: (cos(q.alpha), q.x, q.beta),
            orientation=whirl,
            inertia=np.diag([0.2, 0.3, 0.4]),
        )
        .with_body(
            "disk",
            0.3,
            lambda q: (q.x, q.beta),
            orientation=lambda q: q.theta - q.alpha,
            inertia=0.7,
        )
        .with_spring("rubber", 30.0, "trolley", (3.0, 1.0), length=0.5)
        .with_spring("link", 12.0, "trolley", "load")
        .with_torsion_spring("clock", 3.0, "theta", rest=0.1)
        .with_torsion_spring("twist", 2.0, lambda q: q.alpha - 2 * q.beta)
        .with_drag("air", 0.4, "load")
        .with_joint_drag("hinge", 0.2, "beta")
        .with_potential("bumps", lambda q, t: cos(3 * q.x) * (1 + 0.1 * t))
        .with_dissipation("cubic", lambda q, v: 0.1 * casadi.sqrt(1 + v.x**2) ** 3)
        .with_lagrangian(
            "charge",
            lambda q, v, t: v.x * sin(q.theta) + 0.3 * v.alpha**2 * (2 + sin(q.beta)) - q.x * t,
        )
    )


def energies(system):
    """L and R of a system as sums over its columns, in its own symbols."""
    columns = system.columns
    L = sum((c.kinetic - c.potential for c in columns), SX(0))
    return L, sum((c.rayleigh for c in columns), SX(0))


def test_columns_are_the_euler_lagrange_operator_of_their_energies():
    """The projection of forces equals d/dt dL/dv - dL/dq + dR/dv for every kind of term
    (digest 3.2)."""
    system = crane()
    scope, symbols = system.scope, system.scope.symbols
    q, v, a, _ = (x[0] for x in states(4))
    variables = casadi.vertcat(*[symbols.variables[n] for n in system.variables])
    arguments = [scope.q, scope.v, scope.a, symbols.t, variables]
    values = [q, v, a, 0.7, list(system.variables.values())]
    table = system.torque_table(q, v, a, t=0.7)
    for k, column in enumerate(system.columns):
        L = column.kinetic - column.potential
        if column.name == "charge":
            L = system.terms["charge"].function  # the energies of a general L do not give it back
        tau = euler_lagrange(L, scope) + casadi.gradient(column.rayleigh, scope.v)
        expected = np.array(casadi.Function("tau", arguments, [tau])(*values)).ravel()
        close(table[:, k], expected, rtol=1e-12, atol=1e-12)
    close(table.sum(-1), system.inverse_dynamics(q, v, a, t=0.7))


def test_terms_against_central_differences_of_their_lagrangian():
    system = crane()
    scope, symbols = system.scope, system.scope.symbols
    variables = casadi.vertcat(*[symbols.variables[n] for n in system.variables])
    terms = system.terms
    L, R = energies(system.remove("charge"))
    f = casadi.Function(
        "LR", [scope.q, scope.v, symbols.t, variables], [L + terms["charge"].function, R]
    )
    numbers = list(system.variables.values())
    q, v, a, _ = (x[1] for x in states(4))
    h = 1e-4

    def lagrangian(q, v, t):
        return float(f(q, v, t, numbers)[0])

    def momentum(s):
        """dL/dv at time s along a motion with these q, v, a."""
        at, rate = q + v * s + a * s**2 / 2, v + a * s
        return np.array(
            [
                (lagrangian(at, rate + e, 0.7 + s) - lagrangian(at, rate - e, 0.7 + s)) / (2 * h)
                for e in h * np.eye(4)
            ]
        )

    slope = np.array(
        [(lagrangian(q + e, v, 0.7) - lagrangian(q - e, v, 0.7)) / (2 * h) for e in h * np.eye(4)]
    )
    damping = np.array(
        [
            float(f(q, v + e, 0.7, numbers)[1] - f(q, v - e, 0.7, numbers)[1]) / (2 * h)
            for e in h * np.eye(4)
        ]
    )
    expected = (momentum(h) - momentum(-h)) / (2 * h) - slope + damping
    # differences of order h^2, rounding / h^2
    close(system.inverse_dynamics(q, v, a, t=0.7), expected, rtol=3e-6, atol=3e-6)


LENGTHS, MASSES, ANGLE = (2.0, None, 0.7), (3.0, 1.0, 2.5), 0.3


def plain_lagrangian(q, v, body):
    """L_i of a revolute - sliding - revolute chain of point masses in plain numpy,
    which takes complex numbers."""
    phi, length = (q[0], q[0] + ANGLE, q[0] + ANGLE + q[2]), (LENGTHS[0], q[1], LENGTHS[2])
    rate, stretch = (v[0], v[0], v[0] + v[2]), (0.0, v[1], 0.0)
    e = [np.array([np.cos(p), np.sin(p)]) for p in phi]
    n = [np.array([-np.sin(p), np.cos(p)]) for p in phi]
    position = sum(length[k] * e[k] for k in range(body + 1))
    velocity = sum(length[k] * rate[k] * n[k] + stretch[k] * e[k] for k in range(body + 1))
    return MASSES[body] * ((velocity @ velocity) / 2 - G * position[1])


def complex_step(f, x, direction):
    """The derivative of a real analytic function along a direction, without a difference:
    exact to rounding."""
    return np.imag(f(x + 1e-40j * direction)) / 1e-40


def central_difference(f, x, direction, h=1e-3):
    ends = [f(x + s * h * direction) for s in (-2, -1, 1, 2)]
    return np.real(ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)


@pytest.mark.parametrize(
    ("derivative", "accuracy"),
    [(complex_step, 1e-13), (central_difference, 1e-7)],
    ids=["complex step", "differences"],
)
def test_the_torque_table_by_derivatives_of_numbers(derivative, accuracy):
    """tau = M a + (dM/dt) v - dL/dq with M from K by polarisation, which needs no derivative:
    K is quadratic in v."""
    system = System.planar_chain(
        "RPR", [2.0, 1.0, 0.7], list(MASSES), gravity=(0, -G), angles=[0, ANGLE, 0]
    )
    eye, rest = np.eye(3), np.zeros(3)
    for q, v, a in zip(*states(3, count=4)[:3]):
        table = system.torque_table(q, v, a)
        for body in range(3):

            def mass_matrix(at, body=body):
                kinetic = lambda rate: (
                    plain_lagrangian(at, rate, body) - plain_lagrangian(at, rest, body)
                )
                single = [kinetic(e) for e in eye]
                return np.array(
                    [
                        [kinetic(eye[i] + eye[j]) - single[i] - single[j] for j in range(3)]
                        for i in range(3)
                    ]
                )

            slope = [
                derivative(lambda x, v=v, body=body: plain_lagrangian(x, v, body), q, e)
                for e in eye
            ]
            expected = mass_matrix(q) @ a + derivative(mass_matrix, q, v) @ v - np.array(slope)
            close(table[:, body], expected, rtol=accuracy, atol=accuracy * np.abs(table).max())


def test_single_precision_is_taken_as_double():
    system = System.planar_chain("RR", 1.0, 1.0)
    q, v, a = np.float32([0.1, 0.2]), np.float32([1, 2]), np.float32([0.5, 0.25])
    found = system.inverse_dynamics(q, v, a)
    assert found.dtype == np.float64
    assert (found == system.inverse_dynamics(*(np.float64(x) for x in (q, v, a)))).all()


def test_forward_dynamics_undoes_inverse_dynamics_with_time_and_variables():
    system = crane()
    q, v, a, _ = states(4)
    t, rope = np.linspace(0, 1, len(q)), np.linspace(1, 2, len(q))
    tau = system.inverse_dynamics(q, v, a, t, variables={"rope": rope})
    close(system.forward_dynamics(q, v, tau, t, variables={"rope": rope}), a, rtol=1e-9, atol=1e-9)
    third = system.with_variables(rope=rope[3]).inverse_dynamics(q[3], v[3], a[3], t[3])
    close(tau[3], third)


def test_power_balance():
    """dE/dt = v . tau - v . dR/dv for a system without explicit time."""
    system = System("x theta", gravity=(0, -G)).with_body(
        "a", 2.0, lambda q: (q.x, 0.1 * q.x**2), drag=0.3
    )
    system = system.with_body(
        "b", 1.0, lambda q: (q.x + sin(q.theta), -cos(q.theta)), spring=5.0, anchor=(1.0, 1.0)
    )
    system = system.with_spring("s", 7.0, "a", "b", length=0.4).with_joint_drag(
        "hinge", 0.2, "theta"
    )
    q, v, a, _ = (x[2] for x in states(2))
    tau = system.inverse_dynamics(q, v, a)
    h = 1e-5
    after, before = (sum(system.energy(q + s * v + s**2 / 2 * a, v + s * a)) for s in (h, -h))
    close((after - before) / (2 * h), v @ tau - system.dissipated_power(q, v), rtol=1e-8, atol=1e-8)
    assert system.dissipated_power(q, v) > 0


def test_mass_matrices_of_columns_are_semidefinite_and_of_low_rank():
    system = System.planar_chain("RRRR", 1.0, 1.0)
    q = states(4)[0]
    for name in system.bodies:
        alone = system
        for other in system.bodies:
            alone = alone if other == name else alone.remove(other)
        M = traced(alone, "mass_matrix", q)
        close(M, np.swapaxes(M, -1, -2), rtol=0, atol=0)
        values = np.linalg.eigvalsh(M)
        assert values.min() > -1e-12
        assert (np.linalg.matrix_rank(M, tol=1e-10) <= 2).all()


def test_a_total_derivative_and_a_constant_change_nothing_and_a_scale_scales():
    base = System("x y", gravity=None).with_lagrangian(
        "L", lambda q, v: v.x**2 + v.x * v.y * q.x + v.y**2 * 2 - q.x * q.y
    )
    q, v, a, _ = states(2)
    tau = base.inverse_dynamics(q, v, a)
    # d/dt F(q, t) for F = sin(x) y t
    gauge = base.with_lagrangian(
        "dF/dt", lambda q, v, t: cos(q.x) * v.x * q.y * t + sin(q.x) * v.y * t + sin(q.x) * q.y
    )
    close(gauge.inverse_dynamics(q, v, a, 1.3), tau, atol=1e-12)
    close(base.with_lagrangian("constant", SX(5.0)).inverse_dynamics(q, v, a), tau)
    scaled = System("x y", gravity=None).with_lagrangian(
        "3L", lambda q, v: 3 * (v.x**2 + v.x * v.y * q.x + v.y**2 * 2 - q.x * q.y)
    )
    close(scaled.inverse_dynamics(q, v, a), 3 * tau)


def test_a_change_of_coordinates_transforms_forces_by_its_jacobian():
    """Relative against absolute angles: phi = A theta, tau_theta = A' tau_phi."""
    relative = System.planar_chain("RRR", [2.0, 1.0, 0.5], [3.0, 1.0, 2.0])
    absolute = System("p1 p2 p3", gravity=(0, -G))
    reach = (0.0, 0.0)
    for k, (l, m) in enumerate(zip((2.0, 1.0, 0.5), (3.0, 1.0, 2.0)), 1):
        angle = absolute.scope.symbols.q[f"p{k}"]
        reach = (reach[0] + l * cos(angle), reach[1] + l * sin(angle))
        absolute = absolute.with_body(f"b{k}", m, reach)
    A = np.tril(np.ones((3, 3)))
    q, v, a, _ = states(3)
    close(
        relative.inverse_dynamics(q, v, a), absolute.inverse_dynamics(q @ A.T, v @ A.T, a @ A.T) @ A
    )


def test_joints_in_space_and_in_the_plane_agree():
    planar = System.planar_chain(
        "RPR", [1.0, 1.0, 0.7], [1.0, 2.0, 3.0], angles=[0, 0.4, 0], inertias=[0.1, 0.2, 0.3]
    )
    spatial = System(gravity=(0, -9.81, 0))
    Rz = [[np.cos(0.4), -np.sin(0.4), 0], [np.sin(0.4), np.cos(0.4), 0], [0, 0, 1]]
    spatial = spatial.with_joint("a", SpatialJoint("revolute"))
    spatial = spatial.with_joint(
        "b", SpatialJoint("prismatic", axis=(2, 0, 0), xyz=(1, 0, 0), rotation=Rz), "a"
    )
    spatial = spatial.with_joint("c", SpatialJoint("revolute"), "b")
    spatial = spatial.with_joint("d", SpatialJoint("fixed", xyz=(0.7, 0, 0)), "c")
    for frame, m, I in (("a", 1.0, 0.1), ("b", 2.0, 0.2), ("d", 3.0, 0.3)):
        at = (1.0, 0, 0) if frame == "a" else (0, 0, 0)
        spatial = spatial.with_body(frame, m, at, frame=frame, inertia=np.diag([1.0, 1.0, I]))
    q, v, a, _ = states(3)
    close(spatial.torque_table(q, v, a), planar.torque_table(q, v, a), atol=1e-11)


def test_a_frame_by_a_function_carries_bodies():
    """A wheel rolling on a line: x = -r phi; kinetic energy (m r^2 + I) phi'^2 / 2."""
    wheel = System("phi", gravity=(0, -G)).with_frame("hub", lambda q: (-0.5 * q.phi, 0.5, q.phi))
    wheel = wheel.with_body("rim", 2.0, frame="hub", inertia=0.3).with_body(
        "nail", 0.1, (0.4, 0.0), frame="hub"
    )
    close(wheel.remove("nail").mass_matrix([0.2]), [[2.0 * 0.25 + 0.3]])
    p = wheel.positions([np.pi / 2])
    close(p["nail"], [-0.25 * np.pi, 0.9, 0.0], atol=1e-15)
    M = wheel.mass_matrix([0.3])[0, 0] - 0.8
    close(M, 0.1 * ((-0.5 - 0.4 * np.sin(0.3)) ** 2 + (0.4 * np.cos(0.3)) ** 2))


def test_expressions_functions_and_indices_say_the_same():
    x = SX.sym("x")
    q, v, a, _ = states(1)
    by_symbol = System([x], gravity=(0, -G)).with_body("b", 1.0, (x, x**2))
    by_name = System("x", gravity=(0, -G)).with_body("b", 1.0, lambda q: (q.x, q["x"] ** 2))
    by_index = System("x", gravity=(0, -G)).with_body("b", 1.0, lambda q: [q[0], q[0] ** 2])

    def unpacked(q):
        (x,) = q
        return x, x**2

    by_unpacking = System("x", gravity=(0, -G)).with_body("b", 1.0, unpacked)
    expected = (1 + 4 * q**2) * a + 4 * q * v**2 + 2 * G * q
    for system in (by_symbol, by_name, by_index, by_unpacking):
        close(system.inverse_dynamics(q, v, a), expected)


def slider_crank(guess=0.6):
    """Crank of 0.3, rod of 1.0, slider on the x axis;
    the slider coordinate is tied by a constraint."""
    system = System("crank rod x", gravity=(0, -G)).with_body(
        "crank", 1.0, lambda q: (0.15 * cos(q.crank), 0.15 * sin(q.crank))
    )
    joint = lambda q: (0.3 * cos(q.crank) + 0.5 * cos(q.rod), 0.3 * sin(q.crank) + 0.5 * sin(q.rod))
    system = system.with_body("rod", 2.0, joint, orientation=lambda q: q.rod, inertia=2.0 / 12)
    system = system.with_body("slider", 0.7, lambda q: (q.x, 0.0))
    end = lambda q: (0.3 * cos(q.crank) + cos(q.rod) - q.x, 0.3 * sin(q.crank) + sin(q.rod))
    system = system.with_constraint("pin", end)
    return system, system.consistent([guess, 0.0, 1.2], [1.0, 0.0, 0.0])


def test_constraints_agree_with_the_reduced_mechanism():
    """The same slider crank with the crank angle alone: rod = -asin(0.3 sin(crank)),
    x by the law of cosines."""
    system, (q, v) = slider_crank()
    close(system.constraint_residual(q, v)[0], [0, 0], atol=1e-12)
    close(system.constraint_residual(q, v)[1], [0, 0], atol=1e-12)
    rod = lambda q: -casadi.asin(0.3 * sin(q.crank))
    reduced = System("crank", gravity=(0, -G)).with_body(
        "crank", 1.0, lambda q: (0.15 * cos(q.crank), 0.15 * sin(q.crank))
    )
    joint = lambda q: (
        0.3 * cos(q.crank) + 0.5 * cos(rod(q)),
        0.3 * sin(q.crank) + 0.5 * sin(rod(q)),
    )
    reduced = reduced.with_body("rod", 2.0, joint, orientation=rod, inertia=2.0 / 12)
    reduced = reduced.with_body("slider", 0.7, lambda q: (0.3 * cos(q.crank) + cos(rod(q)), 0.0))
    expected = reduced.forward_dynamics(q[:1], v[:1], [0.4])
    found = system.forward_dynamics(q, v, [0.4, 0.0, 0.0])
    close(found[:1], expected, rtol=1e-10)
    forces = system.constraint_forces(q, v, [0.4, 0.0, 0.0])
    J = np.array([[-0.3 * np.sin(q[0]), -np.sin(q[1]), -1], [0.3 * np.cos(q[0]), np.cos(q[1]), 0]])
    close(system.inverse_dynamics(q, v, found), np.array([0.4, 0, 0]) + J.T @ forces, atol=1e-11)


def test_a_massless_coordinate_may_be_held_by_constraints():
    """A bead on a circle with both coordinates and a free angle that only the constraint knows."""
    system = System("x y phi", gravity=(0, -G)).with_body("bead", 1.5, lambda q: (q.x, q.y))
    system = system.with_constraint("ring", lambda q: (q.x - 2 * cos(q.phi), q.y - 2 * sin(q.phi)))
    q, v = system.consistent([2 * np.cos(0.4), 2 * np.sin(0.4), 0.4], [0, 0, 0])
    a = system.forward_dynamics(q, v, np.zeros(3))
    close(a[2], -G * np.cos(q[2]) / 2, rtol=1e-12)


def test_forces_on_bodies():
    from linkwork.lagrange.traces import applied

    system = System.planar_chain("RR", [2.0, 1.0], [1.0, 1.0], inertias=[0.0, 0.2])
    q = np.array([0.3, 0.5])
    force, moment = SX([1.0, 2.0, 0.0]), SX([0.0, 0.0, 3.0])
    f = casadi.Function(
        "f", [system.scope.q], [applied(system, "link2", casadi.vertcat(force, moment))]
    )
    phi = np.cumsum(q)
    p = [
        np.array([2 * np.cos(phi[0]), 2 * np.sin(phi[0])]),
        np.array([np.cos(phi[1]), np.sin(phi[1])]),
    ]
    lever = [p[0] + p[1], p[1]]
    close(np.array(f(q)).ravel(), [r[0] * 2.0 - r[1] * 1.0 + 3.0 for r in lever])
    rotor = crane()
    n = SX([0.3, -0.7, 0.9])
    g = casadi.Function(
        "f", [rotor.scope.q], [applied(rotor, "rotor", casadi.vertcat(SX(3, 1), n))]
    )
    alpha = (
        0.8  # turned about z by alpha, then about the turned x by beta: w = z alpha' + R_z x beta'
    )
    close(
        np.array(g([0.1, 0.2, alpha, 0.5])).ravel(),
        [0, 0, 0.9, 0.3 * np.cos(alpha) - 0.7 * np.sin(alpha)],
        atol=1e-14,
    )


def test_batches_of_any_shape():
    system = System.planar_chain("RR", 1.0, 1.0)
    q, v, a, tau = (x.reshape(4, 5, 2) for x in states(2))
    assert system.inverse_dynamics(q, v, a).shape == (4, 5, 2)
    assert system.torque_table(q[0, 0], v, a[0]).shape == (4, 5, 2, 2)
    assert system.forward_dynamics(q[:1, :1], v[:1, :1], tau[:1, :1]).shape == (1, 1, 2)
    one = system.torque_table(q[2, 3], v[2, 3], a[2, 3])
    assert (system.torque_table(q, v, a)[2, 3] == one).all()
    assert system.inverse_dynamics(q.astype(np.float32), v, a).dtype == np.float64


def test_operations_grow_linearly_with_the_links():
    """Sum first for numbers: at most 70 operations a link;
    the table costs less than 60 % more at ten links."""
    count = [
        System.planar_chain("R" * n, 0.5, 1.0).kernel("inverse_dynamics").program.operations
        for n in (5, 10, 20)
    ]
    assert count[2] - count[1] == 2 * (count[1] - count[0])
    assert count[1] < 25 * 10
    assert (
        System.planar_chain("R" * 10, 0.5, 1.0).kernel("torque_table").program.operations
        < 1.6 * count[1]
    )


def test_the_joint_of_a_planar_link_may_have_a_variable_length():
    system = System(gravity=(0, -G), variables={"l": 0.8})
    system = system.with_joint("a", PlanarJoint(length=lambda p: p.l)).with_body(
        "b", 1.0, frame="a"
    )
    close(system.mass_matrix([0.1]), [[0.64]])
    close(
        system.mass_matrix(np.zeros((3, 1)), variables={"l": [1.0, 2.0, 3.0]})[:, 0, 0], [1, 4, 9]
    )


def test_a_spring_pulls_its_ends_together():
    """Two masses on a line, 3 m apart, a spring of 100 N/m and 2 m: 100 N each, towards each
    other."""
    pair = System("x y", gravity=None)
    pair = pair.with_body("left", 1.0, lambda q: (q.x,)).with_body("right", 1.0, lambda q: (q.y,))
    pair = pair.with_spring("spring", 100.0, "left", "right", length=2.0)
    close(pair.gravity_torque([1.0, 4.0]), [-100.0, 100.0])
    close(pair.energy([1.0, 4.0], [0.0, 0.0])[1], 50.0)
    close(pair.forward_dynamics([1.0, 4.0], [0.0, 0.0], [0.0, 0.0]), [100.0, -100.0])


def test_the_energy_of_a_lagrangian_of_one_s_own():
    """m v^2 / 2 + b v - m g x: kinetic energy without the part linear in v,
    the potential as it stands."""
    system = System("x", gravity=None).with_lagrangian(
        "L", lambda q, v: v.x**2 + 5.0 * v.x - 2.0 * G * q.x
    )
    kinetic, potential = system.energy([1.5], [3.0])
    close([kinetic, potential], [9.0, 3.0 * G])
