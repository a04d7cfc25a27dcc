"""Loop tables, six- and eight-bars, and which topologies there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.synthesis import (
    PlanarTask,
    check,
    dyads,
    eight_bars,
    from_loops,
    six_bars,
    topologies,
)
from linkwork.synthesis.kinematics import pairs_of_points, posture_kernel
from linkwork.synthesis.motions import bodies_at, motion_of
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4

DRONE = {
    "Z0": -3.377, "Z1": 0.405 - 3.178j, "Z2": 3.178j, "Z3": -1.522 - 2.037j, "Z4": -0.436 + 1.620j,
    "Z5": 2.364 + 0.416j, "Z6": -1.560 - 2.773j, "Z7": 2.978 + 2.357j, "Z8": 1.927 - 1.141j, "Z9": -3.170 - 0.684j,
}  # fmt: skip
"""[Mather2023] Table 2."""
DRONE_LOOPS = [
    [("Z0", "ground"), ("Z6", "binary"), ("Z7", "coupler"), ("-Z4", "coupler"), ("-Z3", "ternary")],
    [("Z1", "ternary"), ("Z2", "upper"), ("-Z5", "top"), ("-Z4", "coupler"), ("-Z3", "ternary")],
]
CHAIN = [-2 + 0j, -1.5 + 3j, 1.5 + 1.2j]


def test_the_drones_vectors_close():
    assert abs(DRONE["Z1"] - DRONE["Z3"] - DRONE["Z8"]) < 1e-12
    assert abs(DRONE["Z1"] + DRONE["Z2"] - DRONE["Z3"] - DRONE["Z4"] - DRONE["Z5"]) < 1.5e-3
    assert abs(DRONE["Z0"] + DRONE["Z6"] + DRONE["Z7"] - DRONE["Z3"] - DRONE["Z4"]) < 1.5e-3


def test_the_drone_linkage_is_a_robot():
    linkage = from_loops(
        DRONE, DRONE_LOOPS, tolerance=1e-3, tracer=("Z9", "top"), name="watt-drone"
    )
    robot = lw.Robot.from_linkage(linkage, density=1.0)
    assert robot.mobility().degrees == 1 and robot.mobility().redundant == 0
    assert robot.assemble().success
    assert len(linkage.topology.bodies) == 6 and linkage.topology.mobility == 1


def stephenson():
    """Three dyads of the first four positions of Table 4 (digest 5.5)."""
    task = TABLE_4[:4]
    rad = np.deg2rad
    Z3, beta = -6 - 10j, rad([-8, -15, -30])
    prime = task.displacements + Z3 * (np.exp(1j * task.rotations) - 1)
    first = dyads(task, {2: rad(-10)})
    inner = PlanarTask(np.concatenate([[0], prime]), np.concatenate([[0], beta]))
    psi, theta = dyads(inner, {2: rad(30)}), dyads(inner, {2: rad(60)})
    return task, Z3, beta, prime, first, psi, theta


def test_stephenson_iii_by_three_dyads():
    _, _, _, prime, first, psi, theta = stephenson()
    assert (
        np.abs(
            prime - [13.535936 - 11.453640j, 21.683696 - 11.929823j, 37.990190 - 11.527644j]
        ).max()
        < 1e-6
    )
    assert np.abs(first.W - (51.712926 - 3.463769j)).min() < 1e-6
    assert np.abs(psi.W - (-32.811065 - 9.157315j)).min() < 1e-6
    assert np.abs(psi.Z - (-28.916024 + 30.753213j)).min() < 1e-6
    assert np.abs(theta.W - (-15.720839 - 1.260986j)).min() < 1e-6
    assert np.abs(theta.Z - (-13.235411 + 32.008083j)).min() < 1e-6


def test_stephenson_iii_as_a_linkage_meets_its_positions():
    task, Z3, _, _, first, psi, theta = stephenson()
    k, m, n = (int(np.abs(found.W - w).argmin()) for found, w in (
        (first, 51.712926 - 3.463769j), (psi, -32.811065 - 9.157315j), (theta, -15.720839 - 1.260986j)))  # fmt: skip
    P = task.positions[0]
    vectors = {
        "Z1": first.W[k],
        "Z2": first.Z[k],
        "Z3": Z3,
        "Z5": psi.W[m],
        "Z4": psi.Z[m],
        "Z6": theta.W[n],
    }
    vectors |= {"Z7": theta.Z[n]}
    A = P - first.W[k] - first.Z[k]
    meet = P + Z3  # where the other two chains end, on the coupler
    vectors |= {"G1": meet - psi.W[m] - psi.Z[m] - A, "G2": meet - theta.W[n] - theta.Z[n] - A}
    one = [
        ("Z1", "crank"),
        ("Z2", "coupler"),
        ("Z3", "coupler"),
        ("-Z4", "plate"),
        ("-Z5", "lever"),
        ("-G1", "ground"),
    ]
    two = [
        ("Z1", "crank"),
        ("Z2", "coupler"),
        ("Z3", "coupler"),
        ("-Z7", "plate"),
        ("-Z6", "rocker"),
        ("-G2", "ground"),
    ]
    linkage = from_loops(vectors, [one, two], origin=A, name="stephenson-iii")
    assert linkage.topology.mobility == 1
    robot = lw.Robot.from_linkage(linkage)
    assert robot.mobility().degrees == 1


@pytest.fixture(scope="module")
def every():
    """All six-bars of the task and the first eight-bars."""
    wrist = [*CHAIN, 2 + 2j]
    return [*six_bars(CRANK_ROCKER, CHAIN), *eight_bars(CRANK_ROCKER, wrist, most=3)]


def off_its_positions(linkage, task):
    """By its own kinematics [task sizes, rad]: how far pins of two bodies are apart,
    and the tracer from its poses."""
    residual, _, pose, _ = posture_kernel(linkage.topology)(
        linkage.rotations, pairs_of_points(linkage.points)
    )
    place = np.abs(pose[:, 0] + 1j * pose[:, 1] - task.positions).max()
    turn = np.abs(np.exp(1j * pose[:, 2]) - np.exp(1j * (task.angles - task.angles[0]))).max()
    return max(max(np.abs(residual).max(), place) / float(task.size), turn)


def test_all_of_them_meet_their_positions(every):
    for linkage in every:
        assert linkage.topology.mobility == 1
        assert off_its_positions(linkage, CRANK_ROCKER) < 1e-9


@pytest.mark.parametrize("poses", [2, 3, 4])
def test_fewer_poses_leave_families(poses):
    task = CRANK_ROCKER[:poses]
    members = six_bars(task, CHAIN, most=12)
    assert len(members) == 12 and len({linkage.topology.name for linkage in members}) > 1
    assert all(linkage.rotations.shape == (poses, 5) for linkage in members)
    assert max(off_its_positions(linkage, task) for linkage in members) < 1e-9
    again, other = six_bars(task, CHAIN, most=12), six_bars(task, CHAIN, most=12, seed=1)
    pins = lambda linkages: [linkage.points.tolist() for linkage in linkages]
    assert pins(again) == pins(members) != pins(other)


def test_a_body_that_only_shifts_has_six_bars():
    task = PlanarTask(CRANK_ROCKER.positions, np.zeros(5))
    members = six_bars(task, CHAIN, most=3)
    assert members and max(off_its_positions(linkage, task) for linkage in members) < 1e-9


NAMES = ["Watt I", "Stephenson I", "Stephenson II", "Stephenson III", "eight-bar"]


@pytest.mark.parametrize("name", NAMES)
def test_the_robot_of_every_topology_meets_every_position(every, name):
    """By plain distances between the pins of the assembled robot's bodies,
    and by the tracer's pose."""
    linkage = next(linkage for linkage in every if linkage.topology.name == name)
    robot, size = lw.Robot.from_linkage(linkage, CRANK_ROCKER), float(CRANK_ROCKER.size)
    assert robot.mobility().degrees == 1 and robot.mobility().redundant == 0
    known = dict(robot.model.configurations)
    rows = [robot.q(**{joint: x[0] for joint, x in known[f"position_{j + 1}"]}) for j in range(5)]
    # from a posture that is a little off the loops close again, nearby
    nudged = np.array(rows) + 1e-3 * np.random.default_rng(0).normal(size=(5, robot.nq))
    assert robot.assemble(nudged).success.all()
    posture = robot.assemble(np.array(rows))
    assert posture.success.all() and np.abs(posture.q - rows).max() < 1e-9
    points = robot.points(posture.q)
    for pin, first, second in linkage.topology.pins:
        assert np.abs(points[first][pin] - points[second][pin]).max() < 1e-9 * size
    for body, pins in linkage.topology.bodies.items():
        for p, q in combinations(pins, 2):
            apart = np.linalg.norm(points[body][p] - points[body][q], axis=-1)
            assert np.abs(apart - linkage.length(p, q)).max() < 1e-9 * size
    T = robot.pose(posture.q, "tracer")
    assert np.abs(T[:, 0, 3] + 1j * T[:, 2, 3] - CRANK_ROCKER.positions).max() < 1e-9 * size
    turned = np.arctan2(T[:, 2, 0], T[:, 0, 0]) - CRANK_ROCKER.angles + CRANK_ROCKER.angles[0]
    assert np.abs(np.angle(np.exp(1j * turned))).max() < 1e-9


@pytest.mark.parametrize("name", NAMES[:4])
def test_a_six_bar_is_found_again_from_other_poses_of_its_motion(every, name):
    """Five postures along its circuit are the task, its chain as it stands in the first of them;
    the pins come back."""
    linkage = next(linkage for linkage in every if linkage.topology.name == name)
    topology, motion = linkage.topology, motion_of(linkage)
    rows = np.linspace(0, 0.12 * len(motion.x), 5).astype(int)
    coupler = topology.moving.index("coupler")
    task = PlanarTask(motion.path[rows], motion.x[rows, coupler])
    now = bodies_at(linkage, motion.x[rows[0]])
    now["ground"] = np.array([linkage.at(point) for point in topology.bodies["ground"]])
    place = {p: now[first][topology.bodies[first].index(p)] for p, first, _ in topology.pins}
    chain = [next(p for p, *pair in topology.pins if set(pair) == ends) for ends in
             ({"ground", "link_1"}, {"link_1", "link_2"}, {"link_2", "coupler"})]  # fmt: skip
    again = [x for x in six_bars(task, [place[p] for p in chain]) if x.topology.name == name]
    wanted = np.sort_complex(np.array(list(place.values())))
    found = [np.sort_complex(np.array([x.at(p) for p, *_ in x.topology.pins])) for x in again]
    off = min(np.abs(pins - wanted).max() for pins in found) / float(linkage.size)
    assert off < 1e-5  # five poses of a short way, read from a circuit that is followed to 1e-10


def test_four_topologies_arise_and_all_are_judged(every):
    assert {linkage.topology.name for linkage in every} == set(NAMES)
    for name in NAMES[:4]:
        verdict = check(
            next(linkage for linkage in every if linkage.topology.name == name), CRANK_ROCKER
        )
        assert bool(verdict.good) == (verdict.reasons == "")


@pytest.mark.parametrize(("bodies", "chains", "inversions"), [(4, 1, 1), (6, 2, 5), (8, 16, 71)])
def test_chains_and_inversions(bodies, chains, inversions):
    found = topologies(bodies)
    assert len(found) == chains
    assert sum(len(fixed) for _, fixed in found) == inversions


FOUR = {"G": 4.0, "C": 1j, "B": 4 + 1j, "R": 2j}
LOOP = [("-G", "ground"), ("C", "crank"), ("B", "coupler"), ("-R", "rocker")]
BAD = [
    (lambda: from_loops(DRONE, DRONE_LOOPS), InvalidInput, "does not close"),
    (lambda: from_loops({"Z": 1j}, [[("Y", "ground")]]), UnknownName, "no vector"),
    (lambda: from_loops({}, []), InvalidInput, "at least one row"),
    (lambda: from_loops({"Z": 1j}, [[("Z", "a"), ("-Z", "b")]]), InvalidInput, "ground"),
    (lambda: from_loops({"Z": 1j}, [["Z"]]), InvalidInput, "expected"),
    (lambda: from_loops({**FOUR, "V": 1j}, [LOOP, [("C", "crank"), ("V", "flag"), ("-V", "flag"), ("-C", "crank")]]),
     InvalidInput, 'body "flag" is loose'),
    (lambda: from_loops({**FOUR, "B": 1, "H": 1j}, [[LOOP[0], LOOP[1], ("B", "coupler"), ("H", "end"), LOOP[3]]]),
     InvalidInput, "does not close"),
    (lambda: six_bars(CRANK_ROCKER, [0j, 0.1, 0.2]), NotPossible, "does not reach position"),
    (lambda: six_bars(CRANK_ROCKER, [0j, 1]), InvalidInput, "3 pivots"),
    (lambda: six_bars(CRANK_ROCKER[:1], CHAIN), NotPossible, "at least 2"),
    (lambda: six_bars(CRANK_ROCKER[[0, 1, 2, 1]], CHAIN), NotPossible, "positions 2 and 4 "
                                                                       "are equal"),
    (lambda: six_bars(CRANK_ROCKER, CHAIN, most=0), InvalidInput, "at least 1"),
    (lambda: topologies(5), NotPossible, "4, 6 or 8"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_gets_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
