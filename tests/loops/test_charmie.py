"""CHARMIE with all its loops: the acceptance tables of the 2023 paper's corrected equations,
and laws beyond them.

The tables were computed with an independent implementation and checked there against Pinocchio and
MuJoCo; positions are printed to 1e-3 mm, forces to 1e-4 N.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.loops.mobility import mobility
from linkwork.model import MassProperties
from linkwork.model.elements import LinearActuator, Spring, Stiffness
from tests.loops.charmie_model import PLATFORM_RULES, balancing_springs, charmie, torso_spring
from tests.loops.machines import casadi_loads
from tests.pinocchio_models import twin_of, with_followers

# t, side, D12a [mm], force 2 -> 3 in body 3, the same in ground axes, moment at joint 3, act4, act5
TABLE = [
    (0, "after", (-963.800, 243.153, 970.343), (-0.8047, -1.3892, 612.5897),
     (-0.8047, -1.3892, 612.5897), (30.0189, 0.5201, -1.4296), 169.1114, 203.7228),
    (1, "after", (-876.436, 450.647, 1151.777), (-0.0452, -2.3081, 612.1827),
     (-0.4453, -2.2652, 612.1827), (32.7738, 1.3559, -0.9439), 168.7304, 226.6917),
    (2, "after", (-492.545, 333.341, 1410.814), (0.9668, -5.7278, 610.2786),
     (-2.9412, -5.0092, 610.2786), (38.2630, 0.5982, -1.1566), 166.8853, 263.8709),
    (2.5, "before", (-436.693, 195.065, 1158.885), (0.8650, -5.7945, 611.5775),
     (-4.7403, -3.4429, 611.5775), (36.7346, -0.8330, -1.3653), 168.3139, 248.8233),
    (2.5, "after", (-436.693, 195.065, 1158.885), (-3.1502, -0.2418, 612.6571),
     (-1.6691, 2.6826, 612.6571), (35.5328, -3.0895, 1.0480), 169.4269, 249.3083),
    (3, "after", (-292.505, 253.462, 920.240), (-3.3945, 1.2014, 613.3269),
     (0.9010, 3.4863, 613.3269), (31.5090, -1.9603, 1.4303), 170.2112, 218.6127),
    (4, "after", (-33.304, 152.938, 820.056), (-3.5204, 0.6489, 612.4155),
     (2.0759, 2.9163, 612.4155), (30.1117, -1.3664, 1.2308), 169.3994, 205.1719),
    (5, "after", (18.671, 58.283, 805.217), (-3.6682, 0.3599, 612.2208),
     (2.3988, 2.7984, 612.2208), (30.4324, -1.3517, 1.1577), 169.2422, 208.0941),
]  # fmt: skip
WEIGHT = 62.4 * 9.81
LIFTED = 16.7 * 9.81


@pytest.fixture(scope="module")
def robot() -> lw.Robot:
    return lw.load("charmie")


def random_motion(robot: lw.Robot, n: int = 40, seed: int = 0):
    """Commands well inside the ranges of both struts, with rates."""
    rng = np.random.default_rng(seed)
    nc = len(robot.actuators)
    c = rng.uniform(-1.0, 1.0, (n, nc))
    c[:, robot.actuators.index("act4")] = rng.uniform(0.36, 0.44, n)
    c[:, robot.actuators.index("act5")] = rng.uniform(0.34, 0.46, n)
    return robot.from_actuators(c, rng.normal(size=(n, nc)), rng.normal(size=(n, nc)))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"t={row[0]} {row[1]}")
def test_the_five_second_motion(robot, row):
    t, side, hand, force, force_world, moment, act4, act5 = row
    # one code width serves all tests here
    q, v, a = robot.motions["validation"].sample(np.array([float(t)]), side)
    loads = robot.loads(q, v, a)
    assert robot.points(q)["12a"]["D"][0] * 1e3 == pytest.approx(hand, abs=1e-3)
    assert loads.joint_wrench("3")[0, :3] == pytest.approx(force, abs=1e-4)
    assert loads.joint_wrench("3", "world")[0, :3] == pytest.approx(force_world, abs=1e-4)
    assert loads.joint_wrench("3")[0, 3:] == pytest.approx(moment, abs=1e-4)
    assert loads.actuator("act4") == pytest.approx(act4, abs=1e-4)
    assert loads.actuator("act5") == pytest.approx(act5, abs=1e-4)


def test_the_vertical_base_force_dips_and_peaks_where_it_should(robot):
    analysis = robot.analyse("validation", steps=5001)
    force = analysis["force.3.z"]
    assert force.min() == pytest.approx(610.278, abs=1e-3)
    assert force.max() == pytest.approx(613.384, abs=1e-3)
    assert analysis.time[force.argmax()] == pytest.approx(2.86, abs=0.01)
    assert analysis.time[force.argmin()] == pytest.approx(2.0, abs=0.05)


def test_load_sharing_at_the_start(robot):
    loads = robot.loads(*robot.motions["validation"].sample(np.zeros(1)))
    assert loads.joint_wrench("5")[0, :3] == pytest.approx((0.2400, -22.4306, -127.8687), abs=1e-4)
    assert loads.support("act5")[0, :3] == pytest.approx((0.2400, -24.1158, 202.2904), abs=1e-4)
    for moment in (loads.joint_wrench("5")[0, 3:], loads.support("act5")[0, 3:]):
        assert moment == pytest.approx((0.0, 0.2409, -0.2797), abs=1e-4)
    assert loads.joint_wrench("4")[0, :3] == pytest.approx((0.3031, 40.1378, 0.0), abs=1e-4)
    assert loads.support("act4")[0] == pytest.approx(
        (0.0, -40.1639, 164.2727, 0.0, 0.0, 0.0), abs=1e-4
    )
    # the paper measures the slide's moment at the joint on body 3, d4 above the origin of body 4
    d4 = 0.5735 - np.sqrt(0.4**2 - 0.095**2)
    wrench = loads.joint_wrench("4")[0]
    moment = wrench[3:] - np.cross((0.0, 0.0, d4), wrench[:3])
    assert moment == pytest.approx((-12.1542, 0.2878, 0.0), abs=1e-4)
    halves = loads.support("4slc")[0, 5], loads.support("4src")[0, 5]
    assert halves == pytest.approx((-0.8202 / 2, -0.8202 / 2), abs=1e-4)


def test_static_start_pose(robot):
    q, v, a = robot.motions["validation"].sample(np.zeros(1))
    loads = robot.loads(q, 0 * v, 0 * a)
    assert loads.base[0, :3] == pytest.approx((0.0, 0.0, WEIGHT), abs=1e-11)
    assert loads.actuator("act4") == pytest.approx(168.652565, abs=1e-6)
    assert loads.actuator("act5") == pytest.approx(203.508396, abs=1e-6)
    for side in "ab":
        assert loads.actuator(f"th8{side}") == pytest.approx(-5.877361, abs=1e-6)
        assert loads.actuator(f"th10{side}") == pytest.approx(-2.023898, abs=1e-6)


def test_the_data_file_is_the_table_of_the_tests(robot):
    """The model typed here from the digest and the built-in file give the same loads."""
    typed = lw.Robot(charmie())
    here, there = (
        r.from_actuators(c, 0 * c, c)
        for r, c in ((typed, _commands(typed)), (robot, _commands(robot)))
    )
    a, b = casadi_loads(typed, *here), robot.loads(*there)
    for body in typed.bodies:
        assert a.joint_wrench(body)[0] == pytest.approx(b.joint_wrench(body), abs=1e-11)


def _commands(robot: lw.Robot) -> np.ndarray:
    """The same pose for both names of the joints."""
    plain = [
        name.replace("joint_", "").replace("th", "").replace("d", "").rstrip("1")
        for name in robot.actuators
    ]
    values = {
        name: 0.01 * sum(map(ord, short)) % 1
        for name, short in zip(robot.actuators, plain, strict=True)
    }
    values |= {"act4": 0.39, "act5": 0.41}
    for name in robot.actuators:
        if "13" in name:
            values[name] = 0.3 if "a" in name else -0.2
    return np.array([values[name] for name in robot.actuators])


# laws


@pytest.fixture(scope="module")
def sprung() -> lw.Robot:
    return lw.Robot(charmie(springs=(*balancing_springs(60.0), torso_spring())))


def test_every_body_obeys_newton_and_euler(sprung):
    assert np.abs(sprung.loads(*random_motion(sprung)).residual).max() < 1e-10


def test_the_base_load_knows_neither_springs_nor_rules(sprung):
    q, v, a = random_motion(sprung, 4)
    base = sprung.loads(q, v, a)
    others = [
        charmie(loops=False),
        charmie(springs=tuple(balancing_springs(10.0))),
        charmie(springs=(torso_spring(),), rules=()),
        charmie(rules=(Stiffness("joint_5", (5.0, 1.0, 1.0, 1.0, 2.0, 3.0)),)),
    ]
    for model in others:
        loads = casadi_loads(lw.Robot(model), q, v, a)
        assert np.abs(loads.base - base.base).max() < 1e-9
        assert np.abs(loads.joint_wrench("3") - base.joint_wrench("3")).max() < 1e-9


def test_what_is_marked_unique_is_the_same_under_every_rule(sprung):
    q, v, a = random_motion(sprung, 10)
    base = sprung.loads(q, v, a)
    other = casadi_loads(
        lw.Robot(charmie(springs=(*balancing_springs(60.0), torso_spring()), rules=())), q, v, a
    )
    assert (other.structure.free, base.structure.free) == (12, 0)
    for body in sprung.bodies:
        unique = base.unique(body)
        assert (
            np.abs((base.joint_wrench(body) - other.joint_wrench(body))[:, unique]).max(initial=0.0)
            < 1e-9
        )
        moved = np.abs(base.joint_wrench(body) - other.joint_wrench(body)).max(axis=0)
        assert (moved[~unique] > 1e-6).all()
    for name in ("act4", "act5"):
        assert base.unique_actuator(name)
        assert np.abs(base.actuator(name) - other.actuator(name)).max() < 1e-9


def test_body_five_has_nine_reactions_for_six_equations(robot):
    q, v, a = robot.motions["validation"].sample(np.zeros(1))
    loads = robot.loads(q, v, a)
    assert list(loads.unique("5")) == [False, True, True, True, False, False]
    assert list(loads.unique_support("act5")) == [False, True, True, True, False, False]
    assert all(loads.unique(body).all() for body in robot.bodies if body not in ("4", "5"))


def test_half_and_half_is_the_limit_of_stiff_supports_for_forces():
    """Minimum norm with forces far more important than moments tends to the paper's equal
    shares."""
    robot = lw.Robot(charmie())
    q, v, a = random_motion(robot, 1)
    exact = casadi_loads(robot, q, v, a).support("act5")[0]
    errors = []
    for stiff in (1e2, 1e4):
        rules = [
            Stiffness(name, (1.0, 1.0, 1.0, stiff, stiff, stiff)) for name in ("joint_5", "act5")
        ]
        weighted = casadi_loads(lw.Robot(charmie(rules=(*PLATFORM_RULES, *rules))), q, v, a)
        errors.append(np.abs(weighted.support("act5")[0] - exact).max())
    assert errors[0] > 1e-6
    assert errors[1] < errors[0] / 50


def test_struts_do_the_virtual_work_of_the_open_tree_and_the_springs(sprung):
    """F = tau dq/dc with tau of the open tree less the gradient of the springs' energy,
    by differences."""
    q, v, a = random_motion(sprung, 6)
    loads = sprung.loads(q, v, a)
    tau = sprung.inverse_dynamics(q, v, a)
    for name, joint in (("act4", 3), ("act5", 4)):
        h = 1e-5
        step = np.zeros(sprung.nv)
        step[joint] = h
        work = tau[:, joint] + (_energy(sprung, q + step) - _energy(sprung, q - step)) / (2 * h)
        k = sprung.actuators.index(name)
        lever = sprung.to_actuators(q, np.eye(sprung.nv)[joint])[1][:, k]
        # differences: 1e-16 * 100 J / 1e-5 m
        assert loads.actuator(name) == pytest.approx(work / lever, abs=2e-6)


def _energy(robot: lw.Robot, q: np.ndarray) -> np.ndarray:
    members = robot.members(q)
    total = 0.0
    for spring in robot.model.elements:
        if isinstance(spring, Spring):
            stretch = members[spring.name].length - spring.free_length
            total = total + spring.pretension * stretch + spring.stiffness * stretch**2 / 2
    return total


def test_massless_struts_have_no_net_wrench(sprung):
    """What a strut does to its head and to its foot is opposite, about any one point."""
    q, v, a = random_motion(sprung, 10)
    loads, members = sprung.loads(q, v, a), sprung.members(q)
    for name in ("act4", "act5"):
        head, foot = (loads.support(name, on=end, axes="world") for end in ("second", "first"))
        ends = members[name]
        assert np.abs(head[:, :3] + foot[:, :3]).max() < 1e-11
        about_foot = head[:, 3:] + foot[:, 3:] + np.cross(ends.second - ends.first, head[:, :3])
        assert np.abs(about_foot).max() < 1e-11
        assert np.abs(head).max() > 10.0


def test_bars_are_in_equilibrium_about_their_pivots(sprung):
    q, v, a = random_motion(sprung, 10)
    loads, members = sprung.loads(q, v, a), sprung.members(q)
    R = sprung.forward_kinematics(q).rotation[:, sprung.bodies.index("3")]
    n = R @ np.array([0.0, 1.0, 0.0])
    for side in ("left", "right"):
        spring, bar = members[f"spring_{side}"], members[f"bar_{side}"]
        pull = loads.spring(f"spring_{side}")[:, None] * -spring.direction
        on_body = loads.support(f"slider_{side}", axes="world")
        about_pivot = np.cross(spring.second - bar.first, pull) - np.cross(
            bar.second - bar.first, on_body[:, :3]
        )
        assert np.abs(np.einsum("ki,ki->k", about_pivot - on_body[:, 3:], n)).max() < 1e-11


def test_zero_free_length_springs_balance_the_lift_at_every_height():
    robot = lw.Robot(charmie(springs=tuple(balancing_springs(LIFTED / 2))))
    c = np.zeros((17, robot.nv))
    c[:, 3], c[:, 4] = np.linspace(0.36, 0.44, 17), 0.4
    loads = casadi_loads(robot, *robot.from_actuators(c))
    assert np.abs(loads.actuator("act4")).max() < 1e-11
    assert np.abs(loads.support("slider_left")[:, 2] - LIFTED / 2).max() < 1e-11
    assert np.ptp(loads.spring("spring_left")) > 10.0


def test_power_of_all_actuators_is_the_rate_of_energy(robot):
    """Central differences of kinetic and potential energy along the motion."""
    motion = robot.motions["validation"]
    h, t = 1e-4, np.array([1.2, 3.3])
    _, cd, _ = motion.commands(t)
    power = (robot.loads(*motion.sample(t)).efforts * cd).sum(axis=1)
    energy = [_total_energy(robot, *motion.sample(t + k * h)[:2]) for k in (-2, -1, 1, 2)]
    rate = (energy[0] - 8 * energy[1] + 8 * energy[2] - energy[3]) / (12 * h)
    assert power == pytest.approx(rate, abs=1e-7)


def _total_energy(robot: lw.Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    kinetic, potential = robot.energy(q, v)
    return kinetic + potential


def test_the_mirrored_robot_has_mirrored_loads(robot):
    """x -> -x maps arm a to arm b; what singles out a side (offsets of the head, products of
    inertia) is left out."""
    model = _symmetric(robot)
    r = lw.Robot(model)
    rng = np.random.default_rng(3)
    c, cd, cdd = (rng.uniform(-0.5, 0.5, (3, len(r.actuators))) for _ in range(3))
    c[:, r.actuators.index("act4")], c[:, r.actuators.index("act5")] = 0.4, 0.4
    loads = casadi_loads(r, *r.from_actuators(c, cd, cdd))
    mirrored = casadi_loads(r, *r.from_actuators(*(_mirrored(r, x) for x in (c, cd, cdd))))
    sign = np.array([-1, 1, 1, 1, -1, -1])
    assert np.abs(loads.base * sign - mirrored.base).max() < 1e-10
    for name in ("act4", "act5"):
        assert np.abs(loads.actuator(name) - mirrored.actuator(name)).max() < 1e-10


def _symmetric(robot: lw.Robot):
    """CHARMIE without the products of inertia and offsets that single out a side,
    and with one-fingered hands."""

    def plain(body):
        p = body.mass_properties
        _, y, z = p.com
        (xx, _, _), (_, yy, yz), (_, _, zz) = p.inertia
        round_ = body.name[:2] in ("12", "13") or body.name in ("7c", "8c")
        alone = round_ or body.name[-1] in "ab"
        xx, yy = (max(xx, yy),) * 2 if round_ else (xx, yy)
        com, yz = ((0.0, 0.0, z), 0.0) if alone else ((0.0, y, z), yz)
        inertia = ((xx, 0.0, 0.0), (0.0, yy, yz), (0.0, yz, zz))
        return replace(body, mass_properties=MassProperties(p.mass, com, inertia))

    def centred(joint):
        if joint.name != "th8c":
            return joint
        return replace(
            joint,
            placement=replace(joint.placement, position=(0.0, 0.0, joint.placement.position[2])),
        )

    bodies, joints = tuple(map(plain, robot.model.bodies)), tuple(map(centred, robot.model.joints))
    return replace(robot.model, bodies=bodies, joints=joints, motions=())


def _mirrored(r: lw.Robot, x: np.ndarray) -> np.ndarray:
    """Commands of the mirrored motion: the arms change sides; turns about y and z change sign,
    about x do not."""
    out = x.copy()
    for k, name in enumerate(r.actuators):
        other = (
            name[:-1] + {"a": "b", "b": "a"}.get(name[-1], name[-1])
            if name.startswith("th")
            else name
        )
        j = r.actuators.index(other)
        axis = r.model.joint(name).axis if name.startswith(("th", "d")) else (0.0, 0.0, 0.0)
        if name == "d1":
            out[:, k] = -x[:, k]
        elif name.startswith("th") and name[-1] in "ab":
            out[:, k] = _arm_flip(r, name) * x[:, j]
        elif name.startswith("th"):
            out[:, k] = -x[:, k] if axis[0] == 0.0 else x[:, k]
    return out


def _arm_flip(r: lw.Robot, name: str) -> float:
    """Sign of the same turn on the other arm: the arms' own frames are turned, not mirrored,
    into each other."""
    poses = r.forward_kinematics(r.neutral())
    joint, other = r.model.joint(name), r.model.joint(name[:-1] + {"a": "b", "b": "a"}[name[-1]])
    here, there = (poses[j.child][:3, :3] @ np.array(j.axis) for j in (joint, other))
    mirror = np.array([1.0, -1.0, -1.0])  # an axis of rotation is mirrored as a pseudo-vector
    return float(np.sign(there @ (mirror * here)))


def test_the_tree_agrees_with_pinocchio(robot):
    """Every motor of the open tree, and the generalised forces of both indirect joints through the
    struts' levers."""
    joints = tuple(replace(joint, mimic=None) for joint in robot.model.joints)
    twin = twin_of(replace(robot.model, joints=joints, elements=(), motions=()))
    q, v, a = random_motion(robot, 10)
    full = [with_followers(robot, twin.robot, x) for x in (q, v, a)]
    data = twin.model.createData()
    tau = np.empty_like(full[0])
    for k in range(len(q)):
        tau[k] = pin.rnea(
            twin.model, data, twin.q(full[0][k]), twin.v(full[1][k]), twin.v(full[2][k])
        )[twin.index]
    wanted = {name: tau[:, twin.robot.index(name).start].copy() for name in robot.joints}
    for joint in robot.model.joints:
        if joint.mimic is not None:
            wanted[joint.mimic.joint] += (
                joint.mimic.multiplier * tau[:, twin.robot.index(joint.name).start]
            )
    ours = robot.loads(q, v, a)
    levers = robot.to_actuators(q, np.ones(robot.nv))[1]
    for name in robot.joints:
        command = {"d4": "act4", "th5": "act5"}.get(name, name)
        lever = levers[:, robot.actuators.index(command)]
        assert np.abs(ours.actuator(command) * lever - wanted[name]).max() < 1e-10


def test_mujoco_agrees_on_forces_strut_lengths_and_levers(robot):
    """MuJoCo cannot carry the massless bodies 1 and 2: body 3 gets all three joints of the base.
    Struts are tendons."""
    model = mujoco_model(robot.model)
    data = mujoco.MjData(model)
    q, v, a = random_motion(robot, 6)
    c, cd, _ = robot.to_actuators(q, v, a)
    loads = robot.loads(q, v, a)
    for k in range(len(q)):
        for joint in robot.model.joints:
            if joint.type == "fixed":
                continue
            leader, factor = (
                (joint.mimic.joint, joint.mimic.multiplier) if joint.mimic else (joint.name, 1.0)
            )
            at, ours = model.joint(joint.name).id, robot.index(leader).start
            data.qpos[at], data.qvel[at], data.qacc[at] = (factor * x[k, ours] for x in (q, v, a))
        mujoco.mj_inverse(model, data)
        for name, joint in (("act4", "d4"), ("act5", "th5")):
            number, i = robot.actuators.index(name), model.tendon(name).id
            assert data.ten_length[i] == pytest.approx(c[k, number], abs=1e-14)
            assert data.ten_velocity[i] == pytest.approx(cd[k, number], abs=1e-13)
            force = data.qfrc_inverse[model.joint(joint).id]
            speed = v[k, robot.index(joint).start]
            assert loads.actuator(name)[k] * data.ten_velocity[i] == pytest.approx(
                force * speed, abs=1e-9
            )
        for name in ("d1", "d2", "th3", "th7a", "th8b", "th12a", "th7c", "th8c"):
            assert loads.actuator(name)[k] == pytest.approx(
                data.qfrc_inverse[model.joint(name).id], abs=1e-9
            )


def mujoco_model(model) -> mujoco.MjModel:
    """The tree as MJCF text, every joint at its body's origin, struts as spatial tendons."""
    children: dict = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint)
    struts = [e for e in model.elements if isinstance(e, LinearActuator)]
    sites = {
        (p.body, p.position): f"{e.name}_{k}"
        for e in struts
        for k, p in enumerate((e.foot, e.head))
    }

    def element(joint) -> str:
        kind = {"prismatic": "slide", "revolute": "hinge"}[joint.type]
        return f'<joint name="{joint.name}" type="{kind}" axis="{_text(joint.axis)}"/>'

    def body(joints, placement) -> str:
        last = joints[-1]
        name, p = last.child, model.body(last.child).mass_properties
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = p.inertia
        R, pos = np.array(placement.rotation), placement.position
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.ravel())
        own = "".join(element(j) for j in joints if j.type != "fixed")
        own += (
            f'<inertial pos="{_text(p.com)}" mass="{p.mass}" fullinertia="{xx} {yy} {zz} {xy} '
            f'{xz} {yz}"/>'
        )
        own += "".join(
            f'<site name="{label}" pos="{_text(at)}"/>'
            for (b, at), label in sites.items()
            if b == name
        )
        own += "".join(body([j], j.placement) for j in children.get(name, []))
        return f'<body name="{name}" pos="{_text(pos)}" quat="{_text(quat)}">{own}</body>'

    base = [children[None][0], children["1"][0], children["2"][0]]
    tendons = "".join(
        f'<spatial name="{e.name}"><site site="{e.name}_0"/><site site="{e.name}_1"/></spatial>'
        for e in struts
    )
    tree = body(base, base[0].placement)
    options = '<compiler angle="radian" inertiafromgeom="false"/><option gravity="0 0 -9.81"/>'
    return mujoco.MjModel.from_xml_string(
        f"<mujoco>{options}<worldbody>{tree}</worldbody><tendon>{tendons}</tendon></mujoco>"
    )


def _text(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def test_counts_of_the_paper():
    robot = lw.Robot(charmie(springs=(*balancing_springs(1.0), torso_spring())))
    found = mobility(robot.subject)
    assert (found.bodies, found.joints, found.freedoms, found.loops) == (40, 47, 44, 7)
    assert found.by_type == {"prismatic": 10, "revolute": 34, "fixed": 3}
    assert found.degrees == 21
    assert found.freedoms - 6 * found.loops == 2
    assert found.redundant == 21


def test_an_analysis_with_other_values_is_that_of_the_other_robot():
    live = lw.load("charmie", live=["upper_arm", "torso_spring"])
    values = {"upper_arm": 0.17, "torso_spring": 300.0}
    found = live.analyse("validation", steps=5, variables=values)
    expected = live.with_variables(**values).analyse("validation", steps=5)
    assert found.names == expected.names
    for name in found.names:
        assert found[name] == pytest.approx(expected[name], abs=1e-10), name
    lengths = np.linspace(0.1, 0.2, 5)
    each = live.analyse("validation", steps=5, variables={"upper_arm": lengths})
    alone = live.analyse("validation", times=[2.5], variables={"upper_arm": lengths[2]})
    assert each["actuator.act5"][2] == pytest.approx(alone["actuator.act5"][0], rel=1e-12)
