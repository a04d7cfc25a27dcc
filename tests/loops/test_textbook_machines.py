"""Text-book linkages, built in as data: their closed forms, statics, and motion under forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.actuation.efforts import loop_dynamics
from linkwork.actuation.transmissions import rocker_angle
from linkwork.errors import InvalidInput
from linkwork.formats.mjcf import read_mjcf_text
from linkwork.loops.dynamics import consistent
from linkwork.loops.mobility import mobility
from linkwork.model import validated
from linkwork.model.elements import Damper, FourBarLoop, LoopClosure, Point, Spring, TorsionSpring
from linkwork.simulation.environment import Environment
from tests.loops.machines import casadi_loads, scissor_lift, slope, stewart_with_legs
from tests.pinocchio_models import twin_of

LINKAGES = {"four-bar": 1, "slider-crank": 1, "five-bar": 2, "delta": 3, "stewart-gough": 6}


def around(robot: lw.Robot, n: int = 5, spread: float = 0.15, seed: int = 0):
    """Commands around the reference, with rates."""
    rng = np.random.default_rng(seed)
    c0 = robot.to_actuators(robot.assemble().q)[0]
    c, cd, cdd = (rng.uniform(-1, 1, (n, len(c0))) for _ in range(3))
    scale = 0.05 if robot.name == "stewart-gough" else spread
    return c0 + scale * c, 0.5 * cd, 0.5 * cdd


@pytest.fixture(scope="module", params=LINKAGES)
def robot(request) -> lw.Robot:
    return lw.load(request.param)


def test_as_many_commands_as_degrees_of_freedom(robot):
    assert mobility(robot.subject).degrees == len(robot.actuators) == LINKAGES[robot.name]


def test_loads_and_forward_dynamics_undo_each_other(robot):
    """Efforts that give an acceleration give it back, and every body is in equilibrium on the
    way."""
    q, v, a = robot.from_actuators(*around(robot))
    loads = casadi_loads(robot, q, v, a)
    again = loop_dynamics(robot.subject, q, v, loads.efforts)
    assert np.abs(again - a).max() < 1e-9 * np.abs(a).max()
    if robot.name in ("five-bar", "stewart-gough"):
        assert np.abs(loads.residual).max() < 1e-10


def test_rates_are_slopes(robot):
    t = np.linspace(0.0, 0.4, 81)
    c0 = robot.to_actuators(robot.assemble().q)[0]
    size = 0.05 * np.arange(1, len(c0) + 1) / len(c0)
    c, cd, cdd = (
        c0 + np.sin(t)[:, None] * size,
        np.cos(t)[:, None] * size,
        -np.sin(t)[:, None] * size,
    )
    q, v, a = robot.from_actuators(c, cd, cdd)
    assert np.abs(slope(q, t[1]) - v[2:-2]).max() < 1e-8
    assert np.abs(slope(v, t[1]) - a[2:-2]).max() < 1e-8


# closed forms


def test_the_four_bar_follows_freudenstein():
    robot = lw.load("four-bar")
    c = np.linspace(0.0, 6.2, 50)[:, None]
    q, _, _ = robot.from_actuators(c)
    loop = FourBarLoop(1.0, 0.3, 0.9, 0.7)
    assert np.abs(q[:, 2] - [float(rocker_angle(loop, x)) for x in c[:, 0]]).max() < 1e-12


def test_the_piston_stands_where_the_engine_formula_says():
    """x = r cos + sqrt(l^2 - r^2 sin^2), its two derivatives,
    and the torque by virtual work of the gas force."""
    robot = lw.load("slider-crank")
    theta = np.linspace(0.1, 6.0, 60)
    w = 20.0
    q, v, a = robot.from_actuators(theta[:, None], np.full((60, 1), w), np.zeros((60, 1)))
    r, l = 0.05, 0.17
    s, c = np.sin(theta), np.cos(theta)
    root = np.sqrt(l**2 - (r * s) ** 2)
    assert q[:, 2] == pytest.approx(r * c + root, abs=1e-14)
    assert v[:, 2] == pytest.approx(w * (-r * s - r**2 * s * c / root), abs=1e-12)
    acceleration = w**2 * (-r * c - (r**2 * (c**2 - s**2) / root + (r**2 * s * c) ** 2 / root**3))
    assert a[:, 2] == pytest.approx(acceleration, abs=1e-9)
    gas = {"piston": np.array([-500.0, 0.0, 0.0, 0.0, 0.0, 0.0])}
    with_gas, without = robot.loads(q, v, a, forces=gas), casadi_loads(robot, q, v, a)
    torque = (with_gas.actuator("crank") - without.actuator("crank")) * w
    assert torque == pytest.approx(500.0 * v[:, 2], rel=1e-10)


def test_the_pen_of_the_five_bar_is_where_two_circles_meet():
    robot = lw.load("five-bar")
    c, cd, cdd = around(robot, 40, 0.4)
    q, _, _ = robot.from_actuators(c, cd, cdd)
    elbows = [
        np.stack([x + 0.2 * np.cos(c[:, k]), 0.2 * np.sin(c[:, k])], 1)
        for k, x in ((0, -0.1), (1, 0.1))
    ]
    middle, across = (elbows[0] + elbows[1]) / 2, elbows[1] - elbows[0]
    gap = np.linalg.norm(across, axis=1, keepdims=True)
    height = np.sqrt(0.3**2 - gap**2 / 4)
    pen = middle + height * np.stack([-across[:, 1], across[:, 0]], 1) / gap
    found = robot.points(q)["lower_left"]["C"][:, [0, 2]]
    assert np.abs(found - pen).max() < 1e-12


def test_the_delta_platform_solves_the_inverse_kinematics_of_each_arm():
    """E cos + F sin + G = 0 of every arm (the usual closed form) is met by the found position."""
    robot = lw.load("delta")
    c, cd, cdd = around(robot, 40, 0.3)
    q, _, _ = robot.from_actuators(c, cd, cdd)
    p = robot.points(q)["platform"]["tool"] + [0.0, 0.0, 0.03]
    for k in range(3):
        turn = 2 * np.pi * k / 3
        x = p[:, 0] * np.cos(turn) + p[:, 1] * np.sin(turn) + 0.05 - 0.2
        y, z = -p[:, 0] * np.sin(turn) + p[:, 1] * np.cos(turn), p[:, 2]
        E, F = -2 * 0.25 * x, 2 * 0.25 * z
        G = x**2 + y**2 + z**2 + 0.25**2 - 0.6**2
        assert np.abs(E * np.cos(c[:, k]) + F * np.sin(c[:, k]) + G).max() < 1e-12


def test_the_stewart_platform_finds_the_pose_of_its_legs_and_their_forces():
    robot = lw.load("stewart-gough")
    rng = np.random.default_rng(3)
    q = np.array([0, 0, 0.6, 0, 0, 0]) + rng.uniform(-1, 1, (40, 6)) * [
        0.1,
        0.1,
        0.08,
        0.2,
        0.15,
        0.15,
    ]
    points = robot.points(q)
    legs = np.stack([points["platform"][f"P{k}"] - points["ground"][f"B{k}"] for k in range(6)], 1)
    lengths = np.linalg.norm(legs, axis=2)
    assert np.abs(robot.to_actuators(q)[0] - lengths).max() < 1e-15
    found, v, a = robot.from_actuators(lengths)
    assert np.abs(found - q).max() < 1e-12
    unit = legs / lengths[..., None]
    origin = robot.forward_kinematics(q).position[:, robot.bodies.index("platform")]
    arms = np.stack([points["platform"][f"P{k}"] for k in range(6)], 1) - origin[:, None]
    wrench = np.concatenate([unit, np.cross(arms, unit)], axis=2).transpose(0, 2, 1)
    com = robot.forward_kinematics(q).rotation[:, robot.bodies.index("platform")] @ np.array(
        [0.01, 0.0, 0.03]
    )
    weight = np.array([0.0, 0.0, 20 * 9.81])
    wanted = np.linalg.solve(
        wrench, np.concatenate([np.tile(weight, (40, 1)), np.cross(com, weight)], 1)[..., None]
    )
    assert casadi_loads(robot, q, v, a).efforts == pytest.approx(wanted[..., 0], abs=1e-10)


def test_a_leg_out_of_its_stroke_is_refused():
    robot = lw.load("stewart-gough")
    with pytest.raises(InvalidInput, match=r'actuator "leg_2": length 1.3 m outside 0.3 .. 1.2 m'):
        robot.from_actuators([0.7, 0.7, 1.3, 0.7, 0.7, 0.7])


# motion under forces


def test_accelerations_agree_with_pinocchio_s_constraint_dynamics():
    """The four-bar closed by a point: Pinocchio's own constrained forward dynamics."""
    robot = lw.load("four-bar")
    model = replace(robot.model, elements=(replace(robot.model.elements[0], kind="point"),))
    closed = lw.Robot(validated(model))
    twin = twin_of(replace(model, elements=()))
    theirs = twin.model
    ids = [theirs.getJointId(name) for name in ("coupler", "rocker")]
    places = [pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])) for x in (0.9, 0.7)]
    constraint = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        theirs,
        ids[0],
        places[0],
        ids[1],
        places[1],
        pin.ReferenceFrame.LOCAL,
    )
    models, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(constraint)
    held.append(constraint.createData())
    data = theirs.createData()
    pin.initConstraintDynamics(theirs, data, models, held)
    settings = pin.ProximalSettings(1e-14, 1e-14, 200)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q, v, _ = closed.from_actuators([rng.uniform(0.3, 5.0)], [rng.normal()], [0.0])
        torque = rng.normal()
        state = (twin.q(q), twin.v(v), twin.v([torque, 0.0, 0.0]))
        expected = pin.constraintDynamics(theirs, data, *state, models, held, settings)[twin.index]
        ours = loop_dynamics(closed.subject, q, v, [torque])
        # the proximal solver's own accuracy on a redundant row
        assert ours == pytest.approx(expected, abs=1e-8)


@pytest.fixture(scope="module")
def stewart() -> lw.Robot:
    return lw.Robot(stewart_with_legs())


def test_a_stewart_platform_with_legs_accelerates_as_pinocchio_s_constraint_dynamics_says(stewart):
    """Nineteen bodies, six ball joints that close eighteen equations;
    springs act as joint forces on their side."""
    plain = replace(stewart.model, elements=(), configurations=())
    twin = twin_of(plain)
    theirs, data = twin.model, twin.model.createData()
    models, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    springs = {}
    for element in stewart.model.elements:
        if isinstance(element, TorsionSpring):
            springs[element.joint] = element
            continue
        sides = [(theirs.getJointId(f"s{element.name[-1]}"), pin.SE3.Identity())]
        sides.append(
            (theirs.getJointId("free"), pin.SE3(np.eye(3), np.array(element.second.position)))
        )
        ends = [x for side in sides for x in side]
        models.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, theirs, *ends, pin.ReferenceFrame.LOCAL
            )
        )
        held.append(models[-1].createData())
    pin.initConstraintDynamics(theirs, data, models, held)
    settings = pin.ProximalSettings(1e-14, 1e-14, 200)
    rng = np.random.default_rng(5)
    for _ in range(3):
        start = stewart.integrate(stewart.assemble().q, rng.normal(size=stewart.nv) * 0.05)
        q, v = stewart.consistent(start, rng.normal(size=stewart.nv))
        tau = np.zeros(stewart.nv)
        for name, spring in springs.items():
            # in q, where the platform's quaternion takes one place more than in v
            at = stewart.index(name).start
            tau[at - 1] = -spring.stiffness * (q[at] - spring.free)
        state = (twin.q(q), twin.v(v), twin.v(tau))
        expected = pin.constraintDynamics(theirs, data, *state, models, held, settings)[twin.index]
        ours = loop_dynamics(stewart.subject, q, v, np.zeros(len(stewart.actuators)))
        assert ours == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_free_stewart_platform_keeps_its_energy_for_ten_seconds(stewart):
    """All six degrees of freedom swing on the springs of the legs; no leg is locked."""
    assert mobility(stewart.subject).degrees == 6
    v = np.zeros(stewart.nv)
    v[:6] = [0.1, -0.2, 0.0, 0.5, 0.1, -0.1]
    q, v = stewart.consistent(None, v)
    run = lw.simulate(stewart, q, v, duration=10.0, tolerance=1e-10, sample=0.05)
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(energy) < 1e-6 * np.ptp(run["energy.kinetic"])  # measured: 1e-10
    assert np.ptp(run["energy.kinetic"]) > 10.0
    poses, points = stewart.forward_kinematics(run.q), stewart.points(run.q)
    for k in range(6):
        gap = poses[f"rod{k}"][:, :3, 3] - points["platform"][f"P{k}"]
        assert np.abs(gap).max() < 1e-9


FOUR_BAR_MJCF = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="0.001"><flag contact="disable"/></option>
  <compiler angle="radian"/>
  <worldbody>
    <body name="crank"><joint name="crank" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
      <body name="coupler" pos="0.3 0 0"><joint name="coupler" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 0.9 0 0" size="0.02"/>
      </body>
    </body>
    <body name="rocker" pos="1 0 0"><joint name="rocker" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 0.7 0 0" size="0.02"/>
    </body>
  </worldbody>
  <equality>
    <connect site1="a" site2="b"/>
  </equality>
</mujoco>
"""


def test_a_loop_read_from_mjcf_accelerates_as_mujoco_s_equality_constraint_says():
    """MuJoCo's constraints are soft: at its stiffest (impedance 0.9999) the two agree to about
    that."""
    mujoco = pytest.importorskip("mujoco")
    text = FOUR_BAR_MJCF.replace(
        'site1="a" site2="b"', 'site1="a" site2="b" solimp="0.9999 0.9999 0.001"'
    )
    ends = {"coupler": ("a", "0.9 0 0"), "rocker": ("b", "0.7 0 0")}
    for body, (site, at) in ends.items():
        text = text.replace(
            f'<joint name="{body}"', f'<site name="{site}" pos="{at}"/><joint name="{body}"'
        )
    robot = lw.Robot(read_mjcf_text(text))
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(1)
    for angle in (0.6, 2.0, 4.0):
        q, v = robot.consistent(np.array([angle, 0.4 - angle, 1.4]), rng.normal(size=3))
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        ours = loop_dynamics(robot.subject, q, v, np.zeros(len(robot.actuators)))
        assert ours == pytest.approx(data.qacc, rel=1e-3, abs=1e-3 * np.abs(data.qacc).max())


def test_the_four_bar_keeps_its_energy_for_ten_seconds():
    robot = lw.load("four-bar")
    q, v = consistent(robot.subject)
    run = lw.simulate(robot, q, v, duration=10.0, tolerance=1e-10, sample=0.05)
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(energy) < 1e-6 * np.ptp(run["energy.kinetic"])
    points = robot.points(run.q)
    assert np.abs(points["coupler"]["C"] - points["rocker"]["C"]).max() < 1e-8
    assert np.ptp(run.q[:, 0]) > 1.0


def test_a_stewart_platform_with_locked_legs_keeps_its_energy_for_ten_seconds():
    """Three legs of fixed length, three free: the platform swings on what is left."""
    whole = lw.load("stewart-gough")
    legs = [e for e in whole.model.elements if e.name in ("leg_0", "leg_2", "leg_4")]
    lengths = whole.to_actuators([0.0, 0.0, -0.6, 0.0, 0.0, 0.0])[0]
    rods = tuple(
        LoopClosure(
            e.name, "distance", e.foot, e.head, length=float(lengths[whole.actuators.index(e.name)])
        )
        for e in legs
    )
    model = replace(whole.model, elements=rods, configurations=(("reference", (("z", (-0.6,)),)),))
    robot = lw.Robot(validated(model))
    assert mobility(robot.subject).degrees == 3
    q, v = consistent(robot.subject, v=np.array([0.1, -0.2, 0.0, 0.5, 0.1, -0.1]))
    run = lw.simulate(robot, q, v, duration=10.0, tolerance=1e-10, sample=0.05)
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(energy) < 1e-6 * np.ptp(run["energy.kinetic"])
    members = robot.members(run.q)
    for rod in rods:
        assert np.abs(members[rod.name].length - rod.length).max() < 1e-8
    assert np.ptp(run["energy.kinetic"]) > 0.1


def test_springs_and_dampers_take_part_in_the_motion():
    """A pendulum on a spring, a torsion spring and a damper:
    energy falls by exactly what the damper eats."""
    from linkwork.model import Joint, Model
    from tests.loops.machines import link

    elements = (
        Spring("s", Point("base", (0.3, 0.2, 0.0)), Point("arm", (0.5, 0.0, 0.0)), 40.0, 0.1, 1.0),
        TorsionSpring("t", "joint", 0.5, 0.1, 0.05),
        Damper("d", Point("base", (-0.1, 0.3, 0.0)), Point("arm", (0.4, 0.0, 0.0)), 0.5),
    )
    joints = (Joint("root", "fixed", None, "base"), Joint("joint", "revolute", "base", "arm"))
    robot = lw.Robot(
        validated(Model("m", (link("base", 0.5), link("arm", 0.5)), joints, elements=elements))
    )
    run = lw.simulate(robot, [1.4], [0.0], duration=2.0, tolerance=1e-11, sample=0.002)
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert energy[-1] < energy[0] - 0.01
    lost = 0.5 * robot.members(run.q, run.v)["d"].rate ** 2
    assert np.abs(slope(energy, 0.002) + lost[2:-2]).max() < 1e-6
    assert np.abs(run["energy.balance"]).max() < 1e-6


def test_the_scissor_lift_falls_and_its_efforts_hold_it():
    robot = scissor_lift()
    q, v, a = robot.from_actuators(robot.to_actuators([0.5, -1.0, 0.5])[0])
    free = loop_dynamics(robot.subject, q, v, [0.0])
    assert free[0] < -0.1 and free[1] == pytest.approx(-2 * free[0], rel=1e-9)
    tau = robot.inverse_dynamics(q, v, a)
    # virtual work of the open tree along the lift's only motion
    held = float(tau @ [1.0, -2.0, 1.0])
    members = robot.members(q, [1.0, -2.0, 1.0])
    spring = robot.loads(q, v, a).spring("spring") * members["spring"].rate
    effort = (held + spring) / members["strut_left"].rate
    assert np.abs(loop_dynamics(robot.subject, q, v, [effort])).max() < 1e-9


def test_drift_is_pulled_back_by_stabilisation():
    robot = lw.load("four-bar")
    q, v, _ = robot.from_actuators([1.0], [0.5], [0.0])
    open_ = q + [0.0, 5e-5, 0.0]
    gap = robot.points(open_)["rocker"]["C"] - robot.points(open_)["coupler"]["C"]
    plain = loop_dynamics(robot.subject, open_, v, [0.0])
    pulled = loop_dynamics(robot.subject, open_, v, [0.0], stabilisation=10.0)
    h = 1e-4
    after = [robot.points(open_ + h * v + h * h / 2 * a) for a in (plain, pulled)]
    rates = [(p["rocker"]["C"] - p["coupler"]["C"]) @ gap for p in after]
    assert rates[1] < rates[0]


def test_a_simulation_refuses_loops_that_are_open_at_its_start():
    robot = lw.load("four-bar")
    with pytest.raises(
        InvalidInput,
        match=r'simulate: robot "four-bar": closure "pin" is open by 0.5 m in x at the start',
    ):
        lw.simulate(robot, np.zeros(3), duration=0.1)
    q, v = robot.consistent(np.zeros(3) + [1.0, -0.5, 1.8], np.ones(3))
    with pytest.raises(
        InvalidInput,
        match=r'closure "pin" opens by .* m in . a second at the start; q, v = robot.consis',
    ):
        lw.simulate(robot, q, np.ones(3), duration=0.1)
    with pytest.raises(InvalidInput, match=r"at the start \(sample 1\)"):
        lw.simulate(robot, np.stack([q, q + [0.1, 0.0, 0.0]]), v, duration=0.1)
    assert lw.simulate(robot, q, v, duration=0.01).success
    with pytest.raises(
        InvalidInput,
        match=r'Environment: start: robot "four-bar": closure "pin" is open by 0.5 m in x',
    ):
        Environment(
            robot, 2, lambda s: s.q[0], start=lambda g, n: (np.zeros((n, 3)), np.zeros((n, 3)))
        ).reset()


def test_consistent_states_keep_the_loops_closed():
    robot = lw.load("five-bar")
    q, v = consistent(robot.subject, robot.assemble().q + 0.05, np.array([1.0, -0.5, 0.3, 0.2]))
    h = 1e-6
    tips = [robot.points(q + s * h * v) for s in (-1, 1)]
    gap = [t["lower_left"]["C"] - t["lower_right"]["C"] for t in tips]
    assert np.abs(gap[1] - gap[0]).max() / (2 * h) < 1e-8


@pytest.mark.parametrize("kind", ["tension", "compression", "both"])
def test_springs_pull_with_the_slope_of_their_energy(kind):
    import casadi

    from linkwork.loops.dynamics import element_energy, element_forces
    from linkwork.model import Joint, Model, build_tree
    from tests.loops.machines import link

    spring = Spring(
        "s", Point("base", (0.3, 0.2, 0.0)), Point("arm", (0.5, 0.0, 0.0)), 40.0, 0.35, 1.5, kind
    )
    turn = TorsionSpring("t", "joint", 0.5, 0.1, 0.05)
    joints = (Joint("root", "fixed", None, "base"), Joint("joint", "revolute", "base", "arm"))
    model = validated(
        Model("m", (link("base", 0.5), link("arm", 0.5)), joints, elements=(spring, turn))
    )
    tree = build_tree(model)
    q, v = casadi.SX.sym("q", 1), casadi.SX.sym("v", 1)
    force = casadi.Function("force", [q, v], [element_forces(tree, q, v)])
    slope_of_energy = casadi.Function("slope", [q], [casadi.gradient(element_energy(tree, q), q)])
    # the spring is longer and shorter than its free length on the way
    for angle in np.linspace(-2.0, 2.5, 10):
        assert float(force(angle, 0.0)) == pytest.approx(-float(slope_of_energy(angle)), abs=1e-12)
