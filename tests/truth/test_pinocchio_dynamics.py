"""Every published robot and every machine afloat against Pinocchio: kinematics, dynamics both ways,
mass matrix.

All robots run through CasADi's evaluation of the trace, a dozen as machine code. Agreement is to
1e-10 of each entry's largest value over the samples. Forward dynamics is given joint forces that
Pinocchio has rounded: what that rounding alone changes in the accelerations
(on hands whose fingers weigh grams more than 1e-10) is allowed on top.
"""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest

from linkwork import quantities
from linkwork.errors import NotPossible
from linkwork.recursions.articulated_body import articulated_body
from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.factorisation import factorised
from linkwork.recursions.newton_euler import newton_euler
from tests.pinocchio_models import Twin, assert_close, twin
from tests.published import URDFS
from tests.robots_list import COMPILED, MACHINES, ROBOTS, robot
from tests.traced import evaluated, minimal, states, traced

MASSLESS = ("romeo/romeo", "romeo/romeo_laas_small")
"""Robots with joints that move no inertia (fingers)."""
TEXTS = {name: URDFS[name].read_text("utf-8", "replace") for name in ROBOTS}
"""Which robots a test is about is read from their files: to collect tests is not to build
robots."""
DROPPED = ("alex/", "talos_data/talos_left_arm", "talos_data/talos_reduced")
"""Files whose mimic joints follow a joint that is missing or fixed: nothing follows there."""
MIMIC = [name for name in ROBOTS if "<mimic" in TEXTS[name] and not name.startswith(DROPPED)]


def tip(pair: Twin) -> str:
    """The body behind the longest path."""
    tree = pair.robot.subject.full_tree
    return max(tree.bodies, key=lambda body: len(tree.paths[tree.bodies[body][0]]))


STILL = [name for name in ROBOTS if not re.search(r'<joint\s[^>]*type="(?!fixed)', TEXTS[name])]
"""Two quadrotors have no joint but that of their base."""
MOVING = [
    *((name, "fixed") for name in ROBOTS if name not in STILL),
    *((name, "floating") for name in ROBOTS if name in STILL or name in MACHINES),
]
"""What a free base adds to a machine is the same whatever its hands are."""


def test_the_files_say_which_robots_move_and_which_follow():
    assert [name for name in ROBOTS if not robot(name).nv] == STILL
    assert [
        name for name in ROBOTS if any(joint.mimic for joint in robot(name).model.joints)
    ] == MIMIC


@pytest.mark.parametrize("name, root", MOVING)
def test_kinematics(name, root):
    """Floating robots by the quantities that contain the others."""
    pair = twin(name, root)
    model, data, frame = pair.model, pair.model.createData(), tip(pair)
    at = model.getFrameId(frame, pin.BODY)
    q, v, a = states(pair.robot)
    found: dict[str, list[np.ndarray]] = {}
    for x, y, z in zip(q, v, a):
        x, y, z = pair.q(x), pair.v(y), pair.v(z)
        pin.forwardKinematics(model, data, x, y, z)
        pin.computeJointJacobiansTimeVariation(model, data, x, y)
        pin.updateFramePlacements(model, data)
        values = {"pose": data.oMf[at].homogeneous}
        for suffix, reference in (("", pin.LOCAL_WORLD_ALIGNED), ("_body", pin.LOCAL)):
            values[f"jacobian{suffix}"] = pin.getFrameJacobian(model, data, at, reference)[
                :, pair.index
            ]
            values[f"velocity{suffix}"] = pin.getFrameVelocity(model, data, at, reference).vector
            values[f"acceleration{suffix}"] = pin.getFrameClassicalAcceleration(
                model, data, at, reference
            ).vector
        rate = pin.getFrameJacobianTimeVariation(model, data, at, pin.LOCAL_WORLD_ALIGNED)
        values["jacobian_derivative"] = rate[:, pair.index]
        values["positions"] = [
            data.oMf[model.getFrameId(b, pin.BODY)].translation for b in pair.robot.bodies
        ]
        for label, value in values.items():
            found.setdefault(label, []).append(np.array(value))
    arguments = {"pose": (q,), "jacobian": (q,), "acceleration": (q, v, a)}
    if root == "fixed":
        arguments |= {"velocity": (q, v), "velocity_body": (q, v), "acceleration_body": (q, v, a)}
        arguments |= {"jacobian_body": (q,), "jacobian_derivative": (q, v)}
        assert_close(
            traced(pair.robot, "forward_kinematics", q)[1],
            np.array(found["positions"]),
            what="positions",
        )
    for quantity, given in arguments.items():
        (ours,) = traced(pair.robot, quantity, *given, frame=frame)
        assert_close(ours, np.array(found[quantity]), what=quantity)


def assert_accelerations(
    ours: np.ndarray, a: np.ndarray, M: np.ndarray, tau: np.ndarray, bias: np.ndarray
) -> None:
    """Within 1e-10, and within what 20 roundings of every force change."""
    forces = np.abs(tau) + np.abs(bias) + (np.abs(M) @ np.abs(a)[..., None])[..., 0]
    rounding = 20 * np.finfo(float).eps * (np.abs(np.linalg.inv(M)) @ forces[..., None])[..., 0]
    error = np.abs(ours - a) - rounding
    assert np.isfinite(ours).all()
    assert (error <= 1e-10 * np.abs(a).max(axis=0)).all(), (
        f"forward dynamics: {(error / np.abs(a).max(axis=0)).max()}"
    )


@pytest.mark.parametrize("name, root", MOVING)
def test_dynamics(name, root):
    """Forward dynamics by the factors of the mass matrix on a fixed base,
    by articulated bodies on a floating one."""
    pair = twin(name, root)
    model, data, index = pair.model, pair.model.createData(), pair.index
    q, v, a = states(pair.robot)
    tau, M = np.empty_like(a), np.empty((len(a), a.shape[1], a.shape[1]))
    for k in range(len(q)):
        tau[k] = pin.rnea(model, data, pair.q(q[k]), pair.v(v[k]), pair.v(a[k]))[index]
        M[k] = pin.crba(model, data, pair.q(q[k]))[np.ix_(index, index)]
    tree, offset = minimal(pair.robot)
    (both,) = evaluated(
        lambda q, v, a: newton_euler(tree, q + offset, v, a),
        *(np.vstack(x) for x in ((q, q), (v, v), (a, 0 * a))),
    )
    ours, bias = np.split(both, 2)
    assert_close(ours, tau, what="inverse dynamics")

    def forward(q, v, tau, bias):
        M = mass_matrix(tree, q + offset)
        if name in MASSLESS:
            return M
        if root == "fixed":
            return M, factorised(M).solve(tau - bias)
        return M, articulated_body(tree, q + offset, v, tau)

    ours, *accelerations = evaluated(forward, q, v, tau, bias)
    assert_close(ours.reshape(M.shape), M, what="mass matrix")
    for ours in accelerations:
        assert_accelerations(ours, a, M, tau, bias)


@pytest.mark.parametrize("name", MASSLESS)
def test_joints_that_move_no_inertia_are_named(name):
    """Pinocchio gives NaN for them."""
    pair = twin(name)
    with pytest.raises(
        NotPossible, match=r'forward_dynamics: joint "\w+" of robot "\w+" moves no inertia'
    ):
        quantities.trace(pair.robot.subject, "forward_dynamics")
    nothing = np.zeros(pair.model.nv)
    found = pin.aba(
        pair.model, pair.model.createData(), pair.q(pair.robot.neutral()), nothing, nothing
    )
    assert not np.isfinite(found).all()


@pytest.mark.parametrize("name", MIMIC)
def test_mimicking_joints_are_the_independent_robot_through_G(name):
    follower, pair = robot(name), twin(name)
    model, data, index = pair.model, pair.model.createData(), pair.index
    Gq, b, G = follower.subject.tree.mimic_map
    q, v, a = states(follower)
    tau, M = np.empty_like(a), np.empty((len(a), a.shape[1], a.shape[1]))
    for k in range(len(q)):
        x, y, z = pair.q(Gq @ q[k] + b), pair.v(G @ v[k]), pair.v(G @ a[k])
        tau[k] = G.T @ pin.rnea(model, data, x, y, z)[index]
        M[k] = G.T @ pin.crba(model, data, x)[np.ix_(index, index)] @ G
    assert_close(traced(follower, "inverse_dynamics", q, v, a)[0], tau, what="inverse dynamics")
    assert_close(traced(follower, "mass_matrix", q)[0], M, what="mass matrix")
    if name in MASSLESS:
        return
    (bias,) = traced(follower, "inverse_dynamics", q, v, 0 * a)
    assert_accelerations(traced(follower, "forward_dynamics", q, v, tau)[0], a, M, tau, bias)


@pytest.mark.parametrize("name", COMPILED)
def test_machine_code(name):
    """Batches with a remainder behind the last whole tile."""
    pair = twin(name)
    model, data, index = pair.model, pair.model.createData(), pair.index
    q, v, a = states(pair.robot, 11)
    tau, M = np.empty_like(a), np.empty((len(a), a.shape[1], a.shape[1]))
    for k in range(len(q)):
        tau[k] = pin.rnea(model, data, pair.q(q[k]), pair.v(v[k]), pair.v(a[k]))[index]
        M[k] = pin.crba(model, data, pair.q(q[k]))[np.ix_(index, index)]
    out = np.empty_like(a)
    assert_close(pair.robot.inverse_dynamics(q, v, a, out=out), tau, what="inverse dynamics")
    assert_close(pair.robot.mass_matrix(q, out=np.empty_like(M)), M, what="mass matrix")
    bias = pair.robot.inverse_dynamics(q, v, 0 * a, out=np.empty_like(a))
    assert_accelerations(pair.robot.forward_dynamics(q, v, tau, out=out), a, M, tau, bias)
