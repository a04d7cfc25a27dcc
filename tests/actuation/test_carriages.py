"""Carriages on guides that push a joint by a rod: way, rates, forces, and what cannot reach."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, InvalidModel
from linkwork.formats.robot_yaml import Description, robot_yaml_text
from linkwork.model import Joint, Model, Placement, validated
from linkwork.model.elements import LinearActuator, Point
from tests.loops.machines import link, slope

# [Zhu2023] ankle: (q11, q12) [rad] -> ways of both sliders [m], rows of the Jacobian,
# recomputed from eqs. 11-14
ANKLE = {
    (0.0, 0.0): ((0.23676586, 0.23676586), (0.0579125069, 0.04), (0.0579125069, -0.04)),
    (0.3, 0.0): (
        (0.2529773, 0.2529773),
        (0.0496849195, 0.0370327279),
        (0.0496849195, -0.0370327279),
    ),
    (-0.3, 0.0): (
        (0.21861721, 0.21861721),
        (0.0622595566, 0.0399740320),
        (0.0622595566, -0.0399740320),
    ),
    (0.0, 0.2): (
        (0.24445257, 0.22853309),
        (0.0568475256, 0.0366896068),
        (0.0590599734, -0.0421022404),
    ),
    (0.3, 0.2): (
        (0.26011046, 0.24537248),
        (0.0471816313, 0.0341321606),
        (0.0525843738, -0.0388062025),
    ),
}


@pytest.fixture(scope="module")
def forrest() -> lw.Robot:
    return lw.load("forrest")


def machine(branch: int = 1, rod: float = 0.4, direction=(0.0, 1.0, 0.2), **more) -> Model:
    """A hinge pushed by a rod from a carriage on an oblique guide."""
    push = LinearActuator(
        "push", Point("base", (0.3, -0.2, 0.1)), Point("arm", (0.25, 0.05, 0.02)), "joint", branch,
        rod=rod, direction=direction, lower=-2.0, **more,
    )  # fmt: skip
    joints = (
        Joint("root", "fixed", None, "base"),
        Joint(
            "joint",
            "revolute",
            "base",
            "arm",
            Placement(position=(0.1, 0.0, 0.0)),
            (0.1, 0.2, 0.97),
        ),
    )
    start = (("reference", (("joint", (0.3,)),)),)
    bodies = (link("base", 0.5), link("arm", 0.5))
    return validated(Model("rod_machine", bodies, joints, elements=(push,), configurations=start))


@pytest.mark.parametrize("branch", [1, -1])
def test_the_rod_keeps_its_length_and_the_carriage_its_guide(branch):
    robot = lw.Robot(machine(branch))
    q = np.linspace(-0.3, 0.9, 13)[:, None]
    (way,) = robot.to_actuators(q)[0].T
    g = np.array((0.0, 1.0, 0.2)) / np.hypot(1.0, 0.2)
    carriage = np.array((0.3, -0.2, 0.1)) + way[:, None] * g
    T = robot.forward_kinematics(q)["arm"]
    head = T[:, :3, :3] @ np.array((0.25, 0.05, 0.02)) + T[:, :3, 3]
    assert np.linalg.norm(head - carriage, axis=1) == pytest.approx(np.full(13, 0.4), abs=1e-15 * 4)
    assert (branch * ((carriage - head) @ g) > 0).all()
    member = robot.members(q, np.ones_like(q))["push"]
    assert (
        np.abs(member.first - carriage).max() < 1e-15 and np.abs(member.second - head).max() < 1e-15
    )
    assert member.length == pytest.approx(np.full(13, 0.4), abs=1e-15 * 4) and not member.rate.any()


@pytest.mark.parametrize("branch", [1, -1])
def test_rates_and_forces_of_a_carriage(branch):
    """Central differences of the motion; the power of its force is the power of the joint."""
    robot = lw.Robot(machine(branch))
    t = np.linspace(0.0, 1.0, 401)
    c0 = robot.to_actuators([0.3])[0][0]
    c, cd, cdd = (
        f[:, None] for f in (c0 + 0.05 * np.sin(3 * t), 0.15 * np.cos(3 * t), -0.45 * np.sin(3 * t))
    )
    q, v, a = robot.from_actuators(c, cd, cdd)
    # the difference itself errs by h^4 / 30 of the fifth derivative
    assert np.abs(slope(q, t[1]) - v[2:-2]).max() < 1e-7
    assert np.abs(slope(v, t[1]) - a[2:-2]).max() < 1e-7
    loads = robot.loads(q, v, a)
    assert loads.actuator("push") * cd[:, 0] == pytest.approx(
        (robot.inverse_dynamics(q, v, a) * v).sum(1), rel=1e-12, abs=1e-13
    )
    assert np.abs(loads.residual).max() < 1e-13
    force = loads.support("push", axes="world")[:, :3]
    along = robot.members(q)["push"].second - robot.members(q)["push"].first
    assert np.abs(np.cross(force, along)).max() < 1e-13  # the rod carries along itself alone
    accelerated = robot.loop_dynamics(q, v, loads.actuator("push")[:, None])
    assert accelerated == pytest.approx(a, rel=1e-10, abs=1e-10)


def test_a_rod_that_cannot_reach_says_by_how_much():
    robot = lw.Robot(machine(rod=0.25))
    sentence = (
        r'actuator "push": its rod of 0.25 m does not reach its head, 0.\d+ m beside its '
        r"guide, in q = \[2.5\]"
    )
    for call in (robot.to_actuators, robot.members, lambda q: robot.loads(q, [0.0], [0.0])):
        with pytest.raises(InvalidInput, match=sentence):
            call([2.5])


def test_a_way_out_of_the_stroke_is_refused():
    robot = lw.Robot(machine(upper=0.6))
    with pytest.raises(InvalidInput, match=r'actuator "push": way 0.7 m outside -2 .. 0.6 m'):
        robot.from_actuators([0.7])


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"rod": -1.0}, "rod"),
        ({"ends": "hinge"}, "has ball ends"),
        ({"direction": (0.0, 0.0, 0.0)}, "direction"),
    ],
)
def test_contradictions_are_refused(more, sentence):
    with pytest.raises(InvalidModel, match=f'actuator "push".*{sentence}'):
        machine(**more)


def test_a_carriage_survives_its_file():
    model = machine(-1)
    again = Description(robot_yaml_text(model), check="any").build({})
    assert again.elements == model.elements


@pytest.mark.parametrize("pose", ANKLE)
def test_the_ankle_of_forrest_has_the_papers_ways_and_levers(forrest, pose):
    ways, *rows = ANKLE[pose]
    q = forrest.q(left_ankle_pitch=pose[0], left_ankle_roll=pose[1])
    sliders = [forrest.actuators.index(name) for name in ("left_slider_1", "left_slider_2")]
    assert forrest.to_actuators(q)[0][sliders] == pytest.approx(ways, abs=1e-8)
    v = np.zeros((2, forrest.nv))
    v[0, forrest.index("left_ankle_pitch")] = v[1, forrest.index("left_ankle_roll")] = 1.0
    J = forrest.to_actuators(np.stack([q, q]), v)[1][:, sliders].T
    assert np.array(rows) == pytest.approx(J, abs=1e-9)


def test_sliders_put_the_ankles_of_forrest_where_they_were(forrest):
    """Newton from the reference over the whole range, both legs;
    forces of the sliders are J^-T of the torques."""
    rng = np.random.default_rng(0)
    q = np.zeros((60, forrest.nv))
    for side in ("left", "right"):
        pitch, roll, knee = (
            f"{side}_{joint}" for joint in ("ankle_pitch", "ankle_roll", "knee_pitch")
        )
        q[:, forrest.index(pitch).start] = rng.uniform(-0.6, 0.6, 60)
        q[:, forrest.index(roll).start] = rng.uniform(-0.4, 0.4, 60)
        q[:, forrest.index(knee).start] = rng.uniform(-1.5, -0.1, 60)
    v, a = rng.normal(size=(2, 60, forrest.nv))
    c, cd, cdd = forrest.to_actuators(q, v, a)
    for found, expected in zip(forrest.from_actuators(c, cd, cdd), (q, v, a), strict=True):
        assert np.abs(found - expected).max() < 1e-12
    loads = forrest.loads(q, v, a)
    power = (forrest.inverse_dynamics(q, v, a) * v).sum(1)
    assert (loads.efforts * cd).sum(1) == pytest.approx(power, abs=1e-10)
    assert np.abs(loads.residual).max() < 1e-11
    found = forrest.mobility()
    assert (found.degrees, found.gruebler) == (18, 18)


# [Zhu2023] knee: flexion [deg] -> length of the spindle and its lever [m], recomputed from eqs. 1-5
KNEE = (
    (20.0, 0.33387537310, 0.04269635909),
    (0.0, 0.315, 0.065),
    (-30.0, 0.27357748540, 0.09145259196),
    (-60.0, 0.22177975497, 0.10307442293),
    (-60.453555, 0.22096379791, 0.10307764064),
    (-90.0, 0.17066048166, 0.08540348567),
)


@pytest.mark.parametrize(("angle", "length", "lever"), KNEE)
def test_the_knee_spindle_of_forrest_has_the_papers_length_and_lever(forrest, angle, length, lever):
    q = forrest.q(left_knee_pitch=np.radians(angle), right_knee_pitch=np.radians(angle))
    v = np.zeros(forrest.nv)
    v[forrest.index("left_knee_pitch")] = v[forrest.index("right_knee_pitch")] = 1.0
    c, cd, _ = forrest.to_actuators(q, v)
    for name in ("left_knee", "right_knee"):
        k = forrest.actuators.index(name)
        assert c[k] == pytest.approx(length, rel=1e-9)
        assert cd[k] == pytest.approx(lever, rel=1e-9)
