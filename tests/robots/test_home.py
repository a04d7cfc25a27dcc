"""Where robots stand first, motions that show life,
and the arms that everybody knows beside published numbers."""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from tests.published import URDFS

MOVING = (
    *("four-bar", "slider-crank", "scotch-yoke", "five-bar", "delta", "stewart-gough"),
    *("hexapod", "quadruped", "forrest"),
)


@functools.cache
def robot(name: str) -> lw.Robot:
    return lw.load(name)


def test_a_home_is_within_the_limits_and_is_not_neutral():
    for name in ("ur5e", "panda", "iiwa14", "gen3", "puma560", "cobra600", "crx-10ial", "hexapod"):
        home, limits = robot(name).home, robot(name).limits
        assert np.abs(home).max() > 0.1, name
        assert ((limits.lower <= home) & (home <= limits.upper)).all() or name == "puma560", name
    # the nominal pose of the textbooks is beyond the range that the same source prints for joint 3


def test_the_home_of_a_machine_with_loops_closes():
    for name in ("four-bar", "delta"):
        assert robot(name).assemble(robot(name).home).success
    np.testing.assert_allclose(robot("arm-2").home, [0.5, 0.7])
    bare = lw.Robot.from_dh([{"a": 1.0, "d": 0.0, "alpha": 0.0, "theta": 0.0}])
    np.testing.assert_array_equal(bare.home, bare.neutral())


def test_every_machine_has_a_motion_that_its_loops_follow():
    for name in MOVING:
        motion = next(iter(robot(name).motions.values()))
        q, v, _ = motion.sample(np.linspace(0.0, motion.duration, 25))
        assert np.abs(v).max() > 0.1, name
        assert np.abs(np.diff(q, axis=0)).max() < 1.0, name  # no jump to another assembly


def test_commands_by_name_are_commands():
    time = np.linspace(0.0, 1.0, 41)
    turn = 1.0 + 2.0 * np.pi * time
    named = robot("four-bar").analyse({"time": time, "crank": turn})
    plain = robot("four-bar").analyse({"time": time, "c": turn[:, None]})
    np.testing.assert_array_equal(named["actuator.crank"], plain["actuator.crank"])
    # the others stay where they stand
    some = robot("delta").analyse({"time": time, "motor_1": 0.3 + 0.1 * time})
    assert np.ptp(some["command.motor_0"]) == 0.0
    with pytest.raises(UnknownName, match='did you mean "crank"'):
        robot("four-bar").analyse({"time": time, "crnk": turn})
    with pytest.raises(InvalidInput, match=r'"crank" has shape \(3,\), expected \(41,\)'):
        robot("four-bar").analyse({"time": time, "crank": turn[:3]})


def test_the_panda_moves_as_its_published_description():
    arm = robot("panda")
    model = pin.buildModelFromUrdf(str(URDFS["panda/panda"]))
    model = pin.buildReducedModel(
        model, [model.getJointId(f"panda_finger_joint{k}") for k in (1, 2)], pin.neutral(model)
    )
    data = model.createData()
    flange = model.getFrameId("panda_link8")
    for q in arm.random(5, seed=1):
        pin.framesForwardKinematics(model, data, q)
        np.testing.assert_allclose(
            arm.pose(q, "panda_link8"), data.oMf[flange].homogeneous, atol=1e-12
        )
    own = {body.name: body.mass_properties for body in arm.model.bodies}
    described = lw.load(str(URDFS["panda/panda"]))
    for body in described.model.bodies:
        if body.name in own:
            np.testing.assert_allclose(
                own[body.name].parameters(), body.mass_properties.parameters(), atol=1e-12
            )


def test_the_puma_needs_the_torques_that_the_toolbox_prints():
    # Robotics Toolbox, p560.gravload(qn) with p560 = mdl_puma560, its manual's page of `gravload`
    torques = robot("puma560").gravity_torque([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
    np.testing.assert_allclose(torques, [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], atol=5e-5)


def test_stretched_arms_reach_what_their_makers_print():
    # iiwa 14 R820: 360 + 420 + 400 + 126 mm; Gen3: 1 187.3 mm from the floor to the flange,
    # straight up
    iiwa, gen3 = robot("iiwa14"), robot("gen3")
    np.testing.assert_allclose(iiwa.pose(iiwa.neutral(), "iiwa_link_ee")[2, 3], 1.306, atol=1e-9)
    np.testing.assert_allclose(
        gen3.pose(gen3.neutral(), "end_effector_link")[2, 3], 1.1873, atol=1e-4
    )
    np.testing.assert_allclose(
        robot("cobra600").pose([0, 0, 0.2, 0], "tool0")[:3, 3], [0.6, 0.0, 0.187], atol=1e-12
    )


def test_counts_of_base_parameters_are_those_of_the_literature():
    assert len(lw.studies.base_parameters(robot("panda"))) == 43  # [Gaz2019]
    assert len(lw.studies.base_parameters(robot("puma560"))) == 36


def test_frames_and_bases_take_poses_and_payloads_hang_on_frames():
    T = lw.pose((0.1, 0.0, 0.2), rpy=(30, 40, 0), degrees=True)
    arm = robot("ur5e").with_frame("tip", "tool0", T)
    q = arm.random(3, seed=2)
    np.testing.assert_allclose(arm.pose(q, "tip"), arm.pose(q, "tool0") @ T, atol=1e-12)
    moved = robot("ur5e").with_base(pin.SE3(T))
    np.testing.assert_allclose(
        moved.pose(q, "tool0"), T @ robot("ur5e").pose(q, "tool0"), atol=1e-12
    )

    com, inertia = np.array([0.1, 0.0, 0.05]), np.diag([0.1, 0.2, 0.3])
    R, p = T[:3, :3], T[:3, 3]
    on_frame = lw.Payload("tip", 2.0, com, inertia)
    on_body = lw.Payload("wrist_3_link", 2.0, R @ com + p, R @ inertia @ R.T)
    by_frame, by_body = (arm.mass_matrix(q, payload=held) for held in (on_frame, on_body))
    np.testing.assert_allclose(by_frame, by_body, atol=1e-12)
    assert np.abs(by_frame - arm.mass_matrix(q)).max() > 0.1
    runs = [
        lw.simulate(arm, q[0], duration=0.02, step=0.01, payload=held).q
        for held in (on_frame, on_body)
    ]
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-12)
    with pytest.raises(UnknownName, match='did you mean "tip"'):
        arm.mass_matrix(q, payload=lw.Payload("tipp", 2.0))
    live = lw.load("charmie", live=["upper_arm"])
    with pytest.raises(NotPossible, match="live variables"):
        live.with_frame("tip", live.bodies[-1]).mass_matrix(
            live.neutral(), payload=lw.Payload("tip", 1.0)
        )


def test_a_seven_axis_arm_without_a_free_angle_is_scanned():
    arm = robot("panda")
    poses = arm.pose(arm.random(60, seed=4), "panda_link8")
    found = [arm.inverse_kinematics_all(T, "panda_link8") for T in poses]
    scanned = [s for s in found if s.scanned]
    assert scanned, "some pose cannot be reached with the last joint at zero"
    assert all(s.count for s in found)
    for T, s in zip(poses, found, strict=True):
        np.testing.assert_allclose(
            arm.pose(s.q, "panda_link8"), np.broadcast_to(T, (s.count, 4, 4)), atol=1e-8
        )
    assert "48 values of the" in repr(scanned[0])
    beyond = poses[0].copy()
    beyond[:3, 3] += 3.0
    assert arm.inverse_kinematics_all(beyond, "panda_link8").reason.startswith(
        "none at any of 48 values"
    )


def test_functions_have_names_payloads_and_live_variables():
    arm = robot("ur5e")
    f = arm.function("inverse_dynamics", payload="wrist_3_link", forces="tool0")
    names = [
        "q",
        "v",
        "a",
        "force_tool0",
        "mass_wrist_3_link",
        "com_wrist_3_link",
        "inertia_wrist_3_link",
    ]
    assert f.name_in() == names
    assert f.name_out() == ["tau"]
    q = arm.random(seed=1)
    held = lw.Payload("wrist_3_link", 2.0, (0.0, 0.0, 0.1))
    given = {"q": q, "v": q, "a": q, "mass_wrist_3_link": 2.0, "com_wrist_3_link": [0.0, 0.0, 0.1]}
    np.testing.assert_allclose(
        f(**given)["tau"].full().ravel(), arm.inverse_dynamics(q, q, q, payload=held), atol=1e-10
    )
    assert robot("four-bar").function("loop_dynamics").name_in() == [
        "q",
        "v",
        "effort",
        "stabilisation",
    ]
    assert lw.load("four-bar", live=["crank"]).function("gravity_torque").name_in() == [
        "q",
        "crank",
    ]
    with pytest.raises(UnknownName, match='did you mean "inverse_dynamics"'):
        arm.function("inverse_dynamic")
