"""Christoffel symbols against published numbers, Pinocchio and their own identities."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.engine.passes import optimised
from linkwork.engine.program import Program, from_casadi
from linkwork.model import Body, Joint, MassProperties, Model, Placement
from linkwork.reproduce.paper_03 import published_symbols
from linkwork.robot import Robot
from tests.christoffel5 import drawn_model
from tests.pinocchio_models import Twin, assert_close, twin, twin_of
from tests.random_models import random_model
from tests.robots_list import COMPILED, MACHINES

SIMPLE = (
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "planar",
    "fixed",
)
POSE = np.array([0.1, 0.2, 0.3, 0.4, 0.5])


@pytest.fixture(scope="module")
def five():
    return Robot(drawn_model())


def pinocchio_symbols(pair: Twin, q: np.ndarray) -> np.ndarray:
    """C(q, e_j) for every unit velocity e_j, in our order of coordinates."""
    data, n = pair.model.createData(), pair.model.nv
    c = np.stack(
        [pin.computeCoriolisMatrix(pair.model, data, pair.q(q), e).copy() for e in np.eye(n)],
        axis=-1,
    )
    return c[np.ix_(pair.index, pair.index, pair.index)]


def symbols(robot: Robot, q: np.ndarray) -> np.ndarray:
    """c (..., nv, nv, nv) through CasADi's own evaluation: no compilation."""
    f = robot.function("christoffel")
    rows = [np.array(f.call([x])[0]) for x in np.atleast_2d(q)]
    return np.reshape(rows, (*np.shape(q)[:-1], robot.nv, robot.nv, robot.nv))


def ancestors(robot: Robot) -> np.ndarray:
    """above[i, k]: coordinate i belongs to a joint that carries, or is, that of coordinate k."""
    tree = robot.subject.tree
    above = np.zeros((tree.nv, tree.nv), dtype=bool)
    for b in tree.outward:
        for a in tree.paths[b]:
            rows = slice(tree.nodes[a].v, tree.nodes[a].v + tree.nodes[a].nv)
            above[rows, tree.nodes[b].v : tree.nodes[b].v + tree.nodes[b].nv] = True
    return above


# other people's numbers


def test_the_built_in_robot_is_the_drawn_one(five):
    built_in = lw.load("christoffel-5")
    np.testing.assert_allclose(
        built_in.christoffel(POSE), five.christoffel(POSE), rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(
        lw.load("christoffel-7").christoffel(np.ones(7)),
        Robot(drawn_model(7)).christoffel(np.ones(7)),
        atol=1e-13,
    )


def test_the_published_table(five):
    c = five.christoffel(POSE)
    # printed with 12 decimals
    np.testing.assert_allclose(c, published_symbols(), rtol=0, atol=1e-12)
    assert np.abs(c).sum() == pytest.approx(21.611983349870, abs=1e-11)
    assert np.linalg.norm(c) == pytest.approx(2.840258503654, abs=1e-11)
    v = np.array([1, -0.5, 0.25, 2, -1])
    expected = [-1.276120544417, -0.692838127486, -0.761364283461, 0.421614019556, 0.844538902175]
    np.testing.assert_allclose(np.einsum("kij,i,j", c, v, v), expected, rtol=0, atol=1e-11)


def test_planar_arm_in_closed_form():
    l1, r2, m2, q2 = 0.7, 0.25, 1.5, 0.8
    model = Model(
        name="2R",
        bodies=(
            Body("upper", MassProperties(2.0, (0.3, 0, 0))),
            Body("fore", MassProperties(m2, (r2, 0, 0))),
        ),
        joints=(
            Joint("shoulder", "revolute", None, "upper"),
            Joint("elbow", "revolute", "upper", "fore", Placement(position=(l1, 0.0, 0.0))),
        ),
    )
    x = m2 * l1 * r2 * np.sin(q2)
    expected = np.array([[[0, -x], [-x, -x]], [[x, 0], [0, 0]]])
    np.testing.assert_allclose(Robot(model).christoffel([0.4, q2]), expected, rtol=0, atol=1e-15)
    assert x == pytest.approx(0.188305973861, abs=1e-12)


def test_turning_slider_in_closed_form():
    m2, d = 1.5, 0.6
    model = Model(
        name="RP",
        bodies=(Body("arm"), Body("mass", MassProperties(m2))),
        joints=(
            Joint("turn", "revolute", None, "arm"),
            Joint("slide", "prismatic", "arm", "mass", axis=(1.0, 0.0, 0.0)),
        ),
    )
    expected = np.array([[[0, m2 * d], [m2 * d, 0]], [[-m2 * d, 0], [0, 0]]])
    np.testing.assert_allclose(Robot(model).christoffel([0.3, d]), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", MACHINES)
def test_every_published_machine_agrees_with_pinocchio(name):
    pair = twin(name)
    q = pair.robot.random(2, seed=1)
    ours = symbols(pair.robot, q)
    if pair.robot.nv == 0:
        assert ours.shape == (2, 0, 0, 0)  # a drone without joints on a fixed base
        return
    theirs = np.stack([pinocchio_symbols(pair, x) for x in q])
    # A symbol is a difference of inertias: below their rounding it has no digits
    # (double_pendulum: 6e-12 of 5e-3).
    inertia = np.abs(pin.crba(pair.model, pair.model.createData(), pair.q(q[0]))).max(initial=0.0)
    settled = np.abs(ours - theirs) < 1e-15 * inertia
    assert_close(np.where(settled, theirs, ours), theirs, 1e-10)


@pytest.mark.parametrize("name", ["solo/solo12", "ur/ur5_robot", "g1/g1_29dof_rev_1_0"])
def test_a_floating_base_gives_the_connection_of_body_velocities(name):
    """Pinocchio's matrix for unit velocities: not symmetric in the six of the base,
    and so are ours."""
    pair = twin(name, "floating")
    q = pair.robot.random(2, seed=2)
    ours = symbols(pair.robot, q)
    assert_close(ours, np.stack([pinocchio_symbols(pair, x) for x in q]), 1e-10)
    assert np.abs(ours - ours.swapaxes(2, 3)).max() > 1.0


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_agree_with_pinocchio(seed):
    model = random_model(seed, bodies=6, mimic=False)
    pair = twin_of(model)
    q = pair.robot.random(seed=seed)
    ours = symbols(pair.robot, q)
    scale = np.abs(ours).max()
    np.testing.assert_allclose(ours, pinocchio_symbols(pair, q), rtol=0, atol=1e-13 * scale)


# operations


def operations(n: int) -> Program:
    return from_casadi(Robot(drawn_model(n)).function("christoffel"))


def test_operations_of_a_chain_grow_with_the_number_of_values():
    """Two independent values a triple of joints, n^3 / 3 of them, three multiply-adds each:
    n^3 and lower powers."""
    for n in (5, 10, 20):
        assert optimised(operations(n)).operations == pytest.approx(
            n**3 + 5 * n**2 + 108 * n - 231, rel=0.1
        )
    n = 28  # three products and two sums a value, not yet fused
    assert operations(n).operations == pytest.approx(
        5 / 3 * n**3 + 9.5 * n**2 + 170 * n - 372, rel=0.1
    )


def test_no_automatic_differentiation(monkeypatch):
    """The recursions never ask CasADi for a derivative."""
    for name in ("jacobian", "gradient", "jtimes", "hessian", "tangent", "linearize"):
        monkeypatch.setattr(casadi, name, None)
        assert not hasattr(casadi.SX, name) or monkeypatch.setattr(casadi.SX, name, None) is None
    robot = Robot(random_model(2, bodies=5, mimic=False))
    for name in (
        "christoffel",
        "christoffel_paper",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
    ):
        assert robot.function(name).n_instructions() > 100


# identities


def test_compiled_code_equals_the_trace(five):
    robots = [five, *(twin(name).robot for name in COMPILED[1:3])]
    for robot in robots:
        q = robot.random(9, seed=3)
        c = robot.christoffel(q)
        assert c.shape == (9, robot.nv, robot.nv, robot.nv)
        expected = symbols(robot, q)
        np.testing.assert_allclose(c, expected, rtol=0, atol=1e-14 * np.abs(expected).max())
        assert np.array_equal(robot.christoffel(q[4]), c[4])
        assert np.array_equal(robot.christoffel(q, out=np.full_like(c, np.nan)), c)


@pytest.mark.parametrize("seed", range(10))
def test_symmetries_of_trees_of_simple_joints(seed):
    robot = Robot(random_model(seed, bodies=6, types=SIMPLE, mimic=False))
    c, above = symbols(robot, robot.random(seed=seed)), ancestors(robot)
    scale = np.abs(c).max()
    np.testing.assert_allclose(c, c.swapaxes(1, 2), rtol=0, atol=1e-12 * scale)
    both = above[:, :, None] & above[:, None, :]  # [i, j, k]: i above j and k
    opposite = np.einsum("kij->ijk", c) + np.einsum("jik->ijk", c)
    np.testing.assert_allclose(opposite[both], 0, atol=1e-12 * scale)
    related = above | above.T
    on_one_path = related[:, :, None] & related[:, None, :] & related[None, :, :]
    assert (c[~on_one_path] == 0).all()


@pytest.mark.parametrize("seed", range(10))
def test_energy_and_skew_symmetry_with_any_joint(seed):
    """dM/dt = C + C' along the motion, by a central difference; hence v'(dM/dt - 2 C) v = 0.
    C v is the bias."""
    robot = Robot(random_model(seed, bodies=4, mimic=False)).with_gravity((0, 0, 0))
    q, v = robot.random(seed=seed), np.random.default_rng(seed).normal(size=robot.nv)
    integrate, tau = robot.function("integrate"), robot.function("inverse_dynamics")
    first = (lambda x: x[0]) if robot.nq > robot.nv else (lambda x: x)

    def M(x):
        return np.column_stack([np.array(first(tau(x, 0 * v, e))) for e in np.eye(robot.nv)])

    C, h = symbols(robot, q) @ v, 1e-4
    rate = (M(first(integrate(q, h * v))) - M(first(integrate(q, -h * v)))) / (2 * h)
    scale = np.abs(M(q)).max() * np.abs(v).max()
    # h^2 times |v|^2 and rounding / h
    np.testing.assert_allclose(C + C.T, rate, rtol=0, atol=1e-6 * scale)
    bias = np.array(first(tau(q, v, 0 * v))).ravel()
    np.testing.assert_allclose(C @ v, bias, rtol=0, atol=1e-13 * np.abs(bias).max())


def test_what_the_symbols_do_not_depend_on(five):
    c, tolerance = five.christoffel(POSE), {"rtol": 0, "atol": 1e-13}
    np.testing.assert_allclose(
        five.with_gravity((3.0, -2.0, 1.0)).christoffel(POSE), c, **tolerance
    )
    np.testing.assert_allclose(five.christoffel(POSE + [2.0, 0, 0, 0, 0]), c, **tolerance)
    R = np.array([[0.0, -1.0, 0.0], [0.6, 0.0, -0.8], [0.8, 0.0, 0.6]])
    np.testing.assert_allclose(
        five.with_base((4.0, -3.0, 2.0), R).christoffel(POSE), c, **tolerance
    )
    geared = replace(five.model, joints=tuple(replace(j, armature=0.7) for j in five.model.joints))
    np.testing.assert_allclose(Robot(geared).christoffel(POSE), c, **tolerance)


def test_scaling_of_matter_and_of_lengths(five):
    c, s = five.christoffel(POSE), 3.0
    heavier = _matter(five.model, lambda m: MassProperties(s * m.mass, m.com, _times(s, m.inertia)))
    np.testing.assert_allclose(Robot(heavier).christoffel(POSE), s * c, rtol=1e-13, atol=1e-13)
    larger = _matter(
        five.model, lambda m: MassProperties(m.mass, _times(s, m.com), _times(s * s, m.inertia))
    )
    placed = [
        (j, Placement(j.placement.rotation, _times(s, j.placement.position))) for j in larger.joints
    ]
    larger = Robot(
        replace(larger, joints=tuple(replace(j, placement=place) for j, place in placed))
    )
    np.testing.assert_allclose(larger.christoffel(POSE), s * s * c, rtol=1e-12, atol=1e-12)


def test_reversing_an_axis_flips_signs(five):
    r = 2
    joints = list(five.model.joints)
    joints[r] = replace(joints[r], axis=(0.0, 0.0, -1.0))
    q, sign = POSE.copy(), np.ones(5)
    q[r], sign[r] = -q[r], -1
    flipped = Robot(replace(five.model, joints=tuple(joints))).christoffel(q)
    expected = np.einsum("kij,k,i,j->kij", five.christoffel(POSE), sign, sign, sign)
    np.testing.assert_allclose(flipped, expected, rtol=0, atol=1e-13)


def test_a_payload_adds_its_own_symbols(five):
    """c is linear in the matter: robot with load = robot + load alone on massless links."""
    I = np.array([[0.02, 0.003, 0.0], [0.003, 0.03, -0.001], [0.0, -0.001, 0.025]])
    load = lw.Payload("link_5", 1.7, (0.1, -0.2, 0.3), I)
    bare = Robot(_matter(five.model, lambda m: MassProperties()))
    loaded = five.christoffel(POSE, payload=load)
    alone = bare.christoffel(POSE, payload=load)
    np.testing.assert_allclose(loaded, five.christoffel(POSE) + alone, rtol=0, atol=1e-12)
    held = five.model.bodies[-1].mass_properties + MassProperties(
        1.7, (0.1, -0.2, 0.3), tuple(map(tuple, I.tolist()))
    )
    bodies = (*five.model.bodies[:-1], replace(five.model.bodies[-1], mass_properties=held))
    np.testing.assert_allclose(
        Robot(replace(five.model, bodies=bodies)).christoffel(POSE), loaded, rtol=0, atol=1e-12
    )
    masses = np.linspace(0, 2, 5)
    many = five.christoffel(POSE, payload=lw.Payload("link_5", masses, (0.1, -0.2, 0.3)))
    assert many.shape == (5, 5, 5, 5)
    np.testing.assert_allclose(many[2], (many[0] + many[4]) / 2, rtol=0, atol=1e-13)
    assert np.array_equal(five.christoffel(POSE), five.christoffel(POSE))


def test_a_mimicking_joint_contracts_the_tensor():
    model = random_model(3, bodies=6, types=("revolute", "prismatic"))
    follows, free = (
        Robot(model),
        Robot(replace(model, joints=tuple(replace(j, mimic=None) for j in model.joints))),
    )
    assert follows.nv < free.nv
    Gq, b, G = follows.subject.tree.mimic_map
    q = follows.random(seed=0)
    expected = np.einsum("kij,ka,ib,jc->abc", free.christoffel(Gq @ q + b), G, G, G)
    np.testing.assert_allclose(
        follows.christoffel(q), expected, rtol=0, atol=1e-13 * np.abs(expected).max()
    )


def _matter(model: Model, change) -> Model:
    return replace(
        model,
        bodies=tuple(replace(b, mass_properties=change(b.mass_properties)) for b in model.bodies),
    )


def _times(s: float, x):
    return tuple(_times(s, e) if isinstance(e, tuple) else s * e for e in x)
