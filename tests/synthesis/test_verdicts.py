"""Verdicts: closed forms against circuits, and both against the published linkage and dense
motion."""

from __future__ import annotations

import os

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.loops import circuit
from linkwork.synthesis import (
    Linkage,
    PlanarTask,
    Topology,
    better_driven,
    check,
    dyads,
    four_bar,
    four_bars,
    from_dyads,
    traced_path,
)
from linkwork.synthesis.chains import CHAINS, STEPHENSON, postures
from linkwork.synthesis.circuit_verdicts import judge
from linkwork.synthesis.kinematics import rotations_at
from linkwork.synthesis.linkage import Linkages
from linkwork.synthesis.motions import driver_reach, motion_of
from linkwork.synthesis.task_files import EXAMPLE, task_of
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4
from tests.synthesis.test_linkages import crank_rocker, slider_crank

FOUR_BARS, SIX_BARS = (500, 100) if os.environ.get("LINKWORK_TRUTH") else (60, 20)
"""How many are judged against dense motion; the larger numbers by make truth."""


def test_the_papers_linkage_has_its_branch_defect():
    found = dyads(TABLE_4)
    linkage = from_dyads(TABLE_4, found[0], found[1])
    verdict = check(linkage, TABLE_4)
    assert verdict.branch and not verdict.circuit and not verdict.order
    assert np.degrees(verdict.transmission) == pytest.approx(
        [1.69, 0.51, 1.04, 4.09, 7.98], abs=5e-3
    )
    assert verdict.kind == "triple-rocker" and not verdict.rotates
    assert "between position 1 and position 3" in verdict.reasons
    other = check(linkage, TABLE_4, driver="rocker")
    assert other.branch and "between position 1 and position 2" in other.reasons


def test_the_crank_rocker_has_no_defect():
    verdict = check(crank_rocker(), CRANK_ROCKER)
    assert verdict.good and verdict.rotates and verdict.kind == "crank-rocker"
    assert verdict.reasons == ""


def random_four_bars(count, seed):
    """Pivots at random, assembled; tasks of three of their own postures,
    some from the other assembly."""
    random = np.random.default_rng(seed)
    z = lambda *shape: random.normal(size=shape) + 1j * random.normal(size=shape)
    A, D, B, C, P = z(count), z(count), z(count), z(count), z(count)
    linkage = four_bar(np.stack([A, D], -1), np.stack([B, C], -1), P)
    return linkage, random


def dense(linkage, samples=40_000):
    """All postures of one four-bar by its driver's angle:
    (theta, side, coupler's rotation, tracer)."""
    A, D, B, C, P = (complex(linkage.at(n)) for n in "ADBCP")
    theta = np.linspace(-np.pi, np.pi, samples, endpoint=False)
    pin = A + (B - A) * np.exp(1j * theta)
    reach = D - pin
    b, c = abs(C - B), abs(C - D)
    cosine = (np.abs(reach) ** 2 + b**2 - c**2) / (2 * np.abs(reach) * b)
    ok = np.abs(cosine) <= 1
    postures = []
    for side in (1, -1):
        turn = (
            reach
            / np.abs(reach)
            * np.exp(side * 1j * np.arccos(np.clip(cosine, -1, 1)))
            / ((C - B) / b)
        )
        postures.append((ok, turn, pin + (P - B) * turn))
    return theta, postures


def joined_by_steps(first, neighbours):
    """Every node that steps from one node to its neighbours lead to."""
    seen, todo = set(), [first]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += neighbours(*node)
    return seen


def same_circuit(linkage, first, second):
    """Whether two postures (theta index, side) can be joined by small steps:
    flood over the dense postures."""
    theta, postures = dense(linkage, 720)
    ok = np.stack([p[0] for p in postures])

    def neighbours(k, side):  # at a dead point the other side begins
        around = ((k + step) % len(theta) for step in (-1, 1))
        return [(j, side) if ok[side, j] else (k, 1 - side) for j in around]

    return second in joined_by_steps(first, neighbours)


def test_circuits_and_branches_against_dense_motion():
    linkages, random = random_four_bars(FOUR_BARS, 7)
    judged = 0
    for k in range(FOUR_BARS):
        linkage = linkages[k]
        _, postures = dense(linkage, 720)
        # theta = 0: position 1
        one = (
            360,
            int(np.abs(postures[1][1][360] - 1) < np.abs(postures[0][1][360] - 1)),
        )
        pool = [(j, side) for side in (0, 1) for j in np.flatnonzero(postures[side][0])]
        inner = [(j, s) for j, s in pool if postures[s][0][(j + 3) % 720] and postures[s][0][j - 3]]
        if len(inner) < 10:
            continue
        other = inner[random.integers(len(inner))]
        j, side = other
        task = PlanarTask(
            [complex(linkage.at("P")), postures[side][2][j]], [0.0, np.angle(postures[side][1][j])]
        )
        verdict = check(linkage, task)
        joined = same_circuit(linkage, one, (int(j), int(side)))
        assert bool(verdict.circuit) == (not joined), k
        if joined:
            assert bool(verdict.branch) == (side != one[1]), k
        judged += 1
    assert judged > 0.7 * FOUR_BARS


TURN = 720
SIX_BAR = np.array([0, 0, 4, 0, 1, 3.5, 3, 1.75, 1.0, 1.0, 4.0, 3.0, 2.6, 1.0, 0.5])


def dense_six_bar(p):
    """Points (TURN, k) and whether they close, of every assembly of a Stephenson III at every angle
    of its crank."""
    theta = np.linspace(0, 2 * np.pi, TURN, endpoint=False)
    assemblies = [(a, b) for a in (1, -1) for b in (1, -1)]
    return {
        sides: postures(STEPHENSON, p[None], np.array([sides], dtype=float), theta)
        for sides in assemblies
    }


def outer_triangle_fails(p, k, points):
    """Whether it is the second triangle that cannot close at step k:
    the four-bar inside still does."""
    labels = list(CHAINS[STEPHENSON].topology.points)
    B, D = (points[k][labels.index(name)] for name in "BD")
    return abs(p[5] - p[6]) <= abs(D - B) <= p[5] + p[6]


def flooded(p, dense_postures):
    """Every (angle, sides) that small steps join to the first one;
    at a dead point the assembly changes."""

    def neighbours(k, sides):
        points, closes = dense_postures[sides]
        for j in ((k - 1) % TURN, (k + 1) % TURN):
            if closes[j]:
                yield j, sides
            else:
                outer = outer_triangle_fails(p, j, points)
                yield k, (sides[0], -sides[1]) if outer else (-sides[0], sides[1])

    return joined_by_steps((0, (1, 1)), neighbours)


def test_circuits_of_six_bars_against_dense_motion():
    topology = CHAINS[STEPHENSON].topology
    arms = {"crank": "AB", "coupler": "BC", "rocker": "DC", "link": "EH", "lever": "FH"}
    random = np.random.default_rng(0)
    judged = apart = 0
    while judged < SIX_BARS:
        p = SIX_BAR * (1 + 0.25 * random.normal(size=15))
        p[[4, 5, 6, 11, 12]] = np.abs(p[[4, 5, 6, 11, 12]])
        found = dense_six_bar(p)
        inner = [
            (k, s)
            for s, (_, ok) in found.items()
            for k in range(TURN)
            if ok[k - 4 : k + 5].all() and 4 <= k
        ]
        if not found[1, 1][1][0] or len(inner) < 10:
            continue
        k, sides = inner[random.integers(len(inner))]
        one, two = (
            dict(zip(topology.points, found[s][0][j])) for j, s in ((0, (1, 1)), (k, sides))
        )
        turn = {b: np.angle((two[y] - two[x]) / (one[y] - one[x])) for b, (x, y) in arms.items()}
        turns = np.array([[0.0] * 5, [turn[body] for body in topology.moving]])
        linkage = Linkages(topology, found[1, 1][0][:1], turns[None])
        verdict = check(linkage, PlanarTask([one["P"], two["P"]], [0.0, turn["link"]]))
        joined = (k, sides) in flooded(p, found)
        assert bool(verdict.circuit[0]) == (not joined), (judged, str(verdict.reasons[0]))
        judged, apart = judged + 1, apart + (not joined)
    assert 0 < apart < judged  # both verdicts came up


def test_closed_forms_agree_with_circuits():
    linkages, random = random_four_bars(200, 5)
    # a second posture of each, from its own dense motion
    positions, angles, keep = [], [], []
    for k in range(200):
        _, postures = dense(linkages[k], 720)
        side = int(random.integers(2))
        inside = np.flatnonzero(
            postures[side][0] & np.roll(postures[side][0], 9) & np.roll(postures[side][0], -9)
        )
        if not len(inside):
            continue
        j = inside[random.integers(len(inside))]
        positions.append([complex(linkages[k].at("P")), postures[side][2][j]])
        angles.append([0.0, np.angle(postures[side][1][j])])
        keep.append(k)
    some = Linkages(linkages.topology, linkages.points[keep])
    task = PlanarTask(np.array(positions), np.array(angles))
    closed, around = check(some, task), judge(some, task)
    for verdict in ("circuit", "branch", "rotates"):
        other = np.flatnonzero(getattr(closed, verdict) != around[verdict])
        assert not len(other), (verdict, other)
    apart = np.abs(closed.transmission_cycle - around["transmission_cycle"])
    assert apart.max() < 2e-3  # rad, between the records


def test_a_slider_crank_that_rocks_ends_at_its_dead_points():
    linkage, task = slider_crank()
    verdict = check(linkage, task)
    assert not (verdict.circuit or verdict.branch or verdict.order)
    assert verdict.reasons == ""
    assert not verdict.rotates and verdict.kind == "driver rocks"
    # a driver turns back where its transmission angle vanishes, and nowhere else;
    # the positions lie between
    assert verdict.transmission_cycle == pytest.approx(0.0, abs=1e-6)
    assert 0.0 < verdict.transmission_min <= verdict.transmission.min() + 1e-9
    with pytest.raises(LookupError, match="expected a body with a pin"):
        check(linkage, task, driver="slider")


def test_change_points_and_parallelograms_are_named():
    parallelogram = four_bar([0, 2], [1j, 2 + 1j], 1 + 2j)
    assert check(parallelogram).kind == "change point (parallelogram)"
    kite = four_bar([0, 3], [1, 1 + 1e-3j + 0], 2j)
    assert "rocker" in str(check(kite).kind) or "change" in str(check(kite).kind)
    flat = four_bar([0, 3.0], [2j, 3 + 1j], 1j)  # 3, 2, |3 - 1j|, 1: no change point
    assert "change" not in str(check(flat).kind)


def test_a_position_that_no_posture_meets():
    verdict = check(crank_rocker(), PlanarTask([CRANK_ROCKER.positions[0], 50j], [0.0, 1.0]))
    assert verdict.circuit and "position 2 is not met" in verdict.reasons


def test_order_in_both_senses():
    linkage = crank_rocker()
    assert check(linkage, CRANK_ROCKER[[0, 4, 3, 2, 1]]).good  # the other sense of the driver
    wrong = check(linkage, CRANK_ROCKER[[0, 2, 1, 3, 4]])
    assert wrong.order and "another order" in wrong.reasons


RIGID = {
    "as long as the other three": ([0j, 10], [1, 5]),
    "the driver has no length": ([0j, 10], [0, 8j]),
    "the coupler has no length": ([0j, 10], [8j, 8j]),
}


@pytest.mark.parametrize("words", RIGID)
def test_a_driver_that_cannot_move(words):
    ground, moving = RIGID[words]
    stuck = four_bar(ground, moving, 2 + 1j)
    for use in (check, traced_path, lw.Robot.from_linkage):
        with pytest.raises(NotPossible, match=f"the driver cannot move.*{words}"):
            use(stuck)
    both = check(
        four_bar(
            np.array([ground, [0j, 4]]),
            np.array([moving, [1j, 4 + 2j]]),
            np.array([2 + 1j, 1 + 3j]),
        )
    )
    assert words in both.reasons[0] and both.reasons[1] == ""
    assert both.good.tolist() == [False, True] and both.rotates.tolist() == [False, True]


def test_a_driver_that_its_neighbours_hold():
    """Ground, crank and a bar are a triangle; five bars hang on it and move,
    with one freedom of the whole."""
    bodies = {
        "ground": ("A", "B", "E"), "crank": ("A", "C"), "bar": ("B", "C"),
        "first": ("C", "F"), "second": ("F", "P"), "third": ("E", "P"),
    }  # fmt: skip
    pins = (("A", "ground", "crank"), ("B", "ground", "bar"), ("C", "crank", "bar"), ("C", "crank", "first"),
            ("F", "first", "second"), ("P", "second", "third"), ("E", "ground", "third"))  # fmt: skip
    points = np.array([0, 4, 7, 1 + 2j, 3 + 4j, 6 + 3j])
    topology = Topology("held", bodies, pins, driver="crank", tracer=("second", "P"))
    assert topology.mobility == 1
    linkage = Linkage(
        topology, points[[("A", "B", "E", "C", "F", "P").index(name) for name in topology.points]]
    )
    with pytest.raises(NotPossible, match="the driver cannot move: the other bodies hold it"):
        check(linkage)
    with pytest.raises(NotPossible, match="the driver cannot move"):
        lw.Robot.from_linkage(linkage)
    assert check(linkage, driver="third").reasons == ""


@pytest.mark.parametrize("driver", ["crank", "rocker"])
def test_the_reach_of_a_driver_is_that_of_its_circuit(driver):
    """Closed forms of random four-bars against the circuit through the loops of the linkage."""
    random = np.random.default_rng(7)
    rocking = 0
    for _ in range(12):
        z = random.normal(size=5) + 1j * random.normal(size=5)
        linkage = four_bar(z[:2], z[2:4], z[4], driver=driver)
        reach, motion = driver_reach(linkage), motion_of(linkage)
        if reach is None:
            assert np.ptp(motion.driver) > 6.2
        else:
            assert [motion.driver.min(), motion.driver.max()] == pytest.approx(
                list(reach), abs=2e-3
            )
            rocking += 1
    assert rocking > 4


def test_the_cycle_of_a_rocking_driver_stays_assembled():
    linkages = [
        four_bar([0j, 4], [3j, 4 + 2j], 1 + 3j),
        four_bar([0j, 4], [1j, 4 + 2.5j], 1 + 3j, driver="rocker"),
    ]
    for linkage in [*linkages, slider_crank()[0]]:
        robot = lw.Robot.from_linkage(linkage, density=1.0)
        q, _, _ = robot.motions["cycle"].sample(np.linspace(0, 2, 41))
        assert robot.assemble(q).success.all() and np.ptp(q[:, 0]) > 0.5
        assert np.isfinite(
            robot.analyse("cycle", steps=41).loads.actuator(linkage.topology.driver)
        ).all()


def test_the_better_of_two_drivers_is_the_crank():
    """Three of six pairs of the example are good,
    all of them only when the link found second drives."""
    task = task_of(EXAMPLE.format(name="lid")).task
    plain = four_bars(task)
    assert not check(plain.linkages, task).good.any()
    links, verdict = better_driven(plain.linkages, task)
    assert verdict.good.sum() == 3 and np.degrees(verdict.transmission_min[verdict.good]).min() > 25
    again = check(links, task)
    assert (
        np.array_equal(again.transmission_min, verdict.transmission_min)
        and (again.reasons == verdict.reasons).all()
    )
    # pivots and rotations were exchanged together
    bare = Linkages(links.topology, links.points)
    off = np.exp(1j * links.rotations) - np.exp(1j * rotations_at(bare, task))
    assert np.abs(off).max() < 1e-9
    rocker = four_bars(task, driver="rocker").linkages
    same, judged = better_driven(rocker, task)
    assert (judged.reasons == verdict.reasons).all()
    assert np.abs(same.rotations - links.rotations).max() < 1e-12
    with pytest.raises(NotPossible, match="expected four-bars"):
        better_driven(slider_crank()[0])


def test_the_circuit_of_a_robot():
    robot = lw.Robot.from_linkage(crank_rocker())
    found = circuit(robot, np.zeros(3), "crank")
    assert found.closed and found.dead == 0
    q = found.x[np.isfinite(found.x).all(axis=-1)]
    closed = robot.assemble(q)
    assert closed.success.all() and np.abs(closed.q - q).max() < 1e-8
    assert abs(q[-1, 0] - 2 * np.pi) < 0.3  # the crank went all round
    with pytest.raises(NotPossible, match="no joint"):
        circuit(robot, np.zeros(3), "motor")


def test_bad_input():
    with pytest.raises(InvalidInput, match="expected a Linkage"):
        check(3)
    with pytest.raises(InvalidInput, match="batch"):
        check(
            crank_rocker(), PlanarTask(np.zeros((2, 3)) + [0, 1, 2j], np.zeros((2, 3)) + [0, 1, 2])
        )
    with pytest.raises(UnknownName, match="crank"):
        check(crank_rocker(), driver="motor")
