"""Spherical four-bars and bodies on five legs, against pypolsys, linkages that are known,
and their robots."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import bilinear, five_legs, legs, spherical_dyads, spherical_four_bars


def orientations(*batch, seed=1):
    count = int(np.prod(batch)) * 5
    return Rotation.random(count, random_state=seed).as_matrix().reshape(*batch, 5, 3, 3)


def poses(*batch, seed=1):
    count = int(np.prod(batch)) * 7
    T = np.tile(np.eye(4), (*batch, 7, 1, 1))
    T[..., :3, :3] = Rotation.random(count, random_state=seed).as_matrix().reshape(*batch, 7, 3, 3)
    T[..., :3, 3] = np.random.default_rng(seed).normal(size=(*batch, 7, 3))
    return T


@functools.cache
def many_dyads():
    return spherical_dyads(orientations(60))


@functools.cache
def many_legs():
    return legs(poses(30))


@pytest.mark.parametrize("k", [2, 3])
def test_monodromy_from_a_fresh_seed_finds_the_same_number(k):
    found = bilinear.system(k).monodromy(*bilinear.generic(k, 23), 23)
    assert len(found) == len(bilinear.starts(k)) == bilinear.count(k) == {2: 6, 3: 20}[k]
    assert found.idle == 5


def test_six_and_twenty_roots_of_which_an_even_number_is_real():
    for found, most in ((many_dyads(), 6), (many_legs(), 20)):
        assert (found.roots == most).all()
        assert set(found.valid.sum(axis=-1) % 2) == {0}


def test_angles_and_lengths_stay():
    """By plain products, in the order of the definition."""
    R, found = orientations(60), many_dyads()
    carried = np.einsum("tjrc,tkc->tjkr", R @ R[:, :1].transpose(0, 1, 3, 2), found.moving)
    cosines = (carried * found.ground[:, None]).sum(axis=-1)
    assert np.abs(cosines - cosines[:, :1])[:, :, :].transpose(0, 2, 1)[found.valid].max() < 1e-12
    T, found = poses(30), many_legs()
    local = np.linalg.inv(T[:, 0]) @ np.concatenate(
        [found.moving, np.ones((30, 20, 1))], axis=-1
    ).transpose(0, 2, 1)
    ends = (T @ local[:, None])[:, :, :3].transpose(0, 1, 3, 2)
    lengths = np.linalg.norm(ends - found.ground[:, None], axis=-1)
    assert (np.abs(lengths - found.length[:, None]).max(axis=1) / (1 + found.length))[
        found.valid
    ].max() < 1e-9


def test_the_real_roots_agree_with_pypolsys():
    """Two-homogeneous paths of somebody else's solver: six for directions (x, y, 1),
    twenty for legs."""
    pypolsys = pytest.importorskip("pypolsys")
    from sympy import Matrix, symbols

    def real_roots(M):
        k = M.shape[-1] - 1
        names = symbols(f"x:{2 * k}")
        first, second = Matrix([*names[:k], 1]), Matrix([*names[k:], 1])
        rows = [(first.T * Matrix(m) * second)[0].expand().as_poly(*names) for m in M]
        pypolsys.polsys.init_poly(*pypolsys.utils.fromSympy(rows))
        parts = [list(range(1, k + 1)), list(range(k + 1, 2 * k + 1))]
        pypolsys.polsys.init_partition(*pypolsys.utils.make_mh_part(2 * k, parts))
        pypolsys.polsys.solve(1e-10, 1e-14, 0.0)
        ends = np.array([r[: 2 * k] for r in pypolsys.polsys.myroots.T])
        return ends[np.abs(ends.imag).max(axis=-1) < 1e-7 * (1 + np.abs(ends).max(axis=-1))].real

    R = orientations(60)[int(many_dyads().valid.sum(axis=-1).argmax())]
    theirs = real_roots((R @ R[0].T)[1:] - np.eye(3))
    ours = spherical_dyads(R)
    assert len(theirs) == len(ours) == 6
    for g, w in zip(ours.ground, ours.moving):
        row = np.concatenate([g[:2] / g[2], w[:2] / w[2]])
        assert np.abs(theirs - row).max(axis=-1).min() < 1e-7 * (1 + np.abs(row).max())

    T = poses(30)[3]
    relative = T @ np.linalg.inv(T[0])
    U, d = relative[1:, :3, :3], relative[1:, :3, 3]
    M = np.zeros((6, 4, 4))
    M[:, :3, :3], M[:, :3, 3] = np.eye(3) - U, -d
    M[:, 3, :3], M[:, 3, 3] = np.einsum("jr,jrc->jc", d, U), 0.5 * (d * d).sum(axis=-1)
    theirs, ours = real_roots(M), legs(T)
    assert len(theirs) == len(ours) > 0
    for b, p in zip(ours.ground, ours.moving):
        row = np.concatenate([b, p])
        assert np.abs(theirs - row).max(axis=-1).min() < 1e-6 * (1 + np.abs(row).max())


def test_orientations_of_a_spherical_four_bar_give_it_back():
    """Five postures of a known one, by rotations about its axes."""
    rng = np.random.default_rng(5)
    A, B, D, C = (x / np.linalg.norm(x) for x in rng.normal(size=(4, 3)))
    turn = lambda axis, angle: Rotation.from_rotvec(angle * axis).as_matrix()
    found = []
    for crank in (0.0, 0.12, 0.25, 0.33, 0.41):
        first = turn(A, crank)
        # the coupler turns about the moved B until C is at its angle from D:
        # bisection from the last posture on
        gap = lambda x, first=first: D @ first @ turn(B, x) @ C - D @ C
        low = 0.0
        slope = (gap(1e-6) - gap(-1e-6)) / 2e-6
        for _ in range(60):
            low -= gap(low) / slope
        found.append(first @ turn(B, low))
    R = np.array(found)
    ours = spherical_dyads(R)
    for fixed, carried in ((A, B), (D, C)):
        near = np.abs(np.abs(ours.ground @ fixed) - 1) + np.abs(np.abs(ours.moving @ carried) - 1)
        assert near.min() < 1e-9


@pytest.mark.parametrize("which", ["spherical", "legs"])
def test_the_robot_meets_every_position(which, tmp_path):
    if which == "spherical":
        R = orientations(60)[int(many_dyads().valid.sum(axis=-1).argmax())]
        linkage = spherical_four_bars(R)[3]
        task = np.tile(np.eye(4), (5, 1, 1))
        task[:, :3, :3] = R
    else:
        task = poses(30)[int(many_legs().valid.sum(axis=-1).argmax())]
        linkage = five_legs(task)[0]
    robot = lw.Robot.from_linkage(linkage, density=1.2)
    again = lw.load(lw.save(robot, tmp_path / "spatial.robot.yaml"))
    assert robot.mobility().degrees == 1 and robot.mobility().redundant == 0
    for j, pose in enumerate(task):
        values = dict(robot.model.configurations)[f"position_{j + 1}"]
        q = robot.q(**{joint: x if len(x) > 1 else x[0] for joint, x in values})
        closed = robot.assemble(q)
        assert closed.success and np.abs(closed.q - q).max() < 1e-9
        assert np.abs(robot.pose(closed.q, "tracer") - pose).max() < 1e-9
        assert np.array_equal(again.gravity_torque(q), robot.gravity_torque(q))
    v = np.zeros(robot.nv)
    run = lw.simulate(robot, closed.q, v, duration=0.05)
    kinetic, potential = robot.energy(run.q, run.v)
    assert (
        np.abs(kinetic + potential - (kinetic + potential)[0]).max() < 1e-6 * kinetic.max() + 1e-9
    )
    assert kinetic[-1] > 0


def test_one_task_is_its_row_of_a_batch():
    one = spherical_dyads(orientations(60)[7])
    many = many_dyads()
    assert np.array_equal(one.ground, many.ground[7][many.valid[7]])
    one, many = legs(poses(30)[4]), many_legs()
    assert np.array_equal(one.moving, many.moving[4][many.valid[4]])


def test_moving_turning_scaling():
    T = poses(30)[2]
    Q = np.eye(4)
    Q[:3, :3], Q[:3, 3] = Rotation.random(random_state=3).as_matrix(), (0.3, -2.0, 1.1)
    moved = Q @ T
    moved[:, :3, 3] *= 2.5
    ours, other = legs(T), legs(moved)
    wanted = 2.5 * (ours.ground @ Q[:3, :3].T + Q[:3, 3])
    assert len(ours) == len(other)
    assert np.abs(np.sort(wanted, axis=0) - np.sort(other.ground, axis=0)).max() < 1e-6


BAD = [
    (lambda: spherical_dyads(np.eye(3)), InvalidInput, "expected (..., 5, 3, 3)"),
    (lambda: spherical_dyads(np.full((5, 3, 3), np.nan)), InvalidInput, "not finite"),
    (lambda: spherical_dyads(2 * orientations(1)[0]), InvalidInput, "a rotation is none"),
    (
        lambda: spherical_dyads(orientations(1)[0][[0, 1, 2, 1, 4]]),
        NotPossible,
        "positions 2 and 4 are equal",
    ),
    (lambda: legs(np.eye(4)), InvalidInput, "expected (..., 7, 4, 4)"),
    (lambda: legs(poses(1)[0][[0, 1, 2, 3, 4, 5, 0]]), NotPossible, "positions 1 and 7 are equal"),
    (lambda: five_legs(poses(2)), NotPossible, "batch"),
]


@pytest.mark.parametrize("k", range(len(BAD)))
def test_bad_input_is_one_sentence(k):
    call, error, words = BAD[k]
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_degenerate_tasks_end_and_say_so():
    """Pure translations of a batch's task, turns about one axis:
    no answer that could be trusted is given."""
    flat = poses(30)[:2].copy()
    flat[0, :, :3, :3] = np.eye(3)
    found = legs(flat)
    assert not found.valid[0].any() and found.reason[0]
    same = orientations(2).copy()
    same[0, 3] = same[0, 1]
    assert spherical_dyads(same).reason[0] == "positions 2 and 4 are equal"
