"""Sweeps against the robot of each linkage, turned by its own driver, and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import Linkages, check, four_bar, six_bars, sweep
from linkwork.synthesis.chains import CHAINS, postures
from tests.synthesis.examples import CRANK_ROCKER

RANDOM = np.random.default_rng(5)
PARAMETERS = {
    "four-bar": [0, 0, 4, 0, 1, 3.5, 3, 1.75, 1.0],
    "Stephenson III": [0, 0, 4, 0, 1, 3.5, 3, 1.75, 1.0, 1.0, 4.0, 3.0, 2.6, 1.0, 0.5],
    "Watt I": [0, 0, 4, 0, 1, 3.5, 3, 1.75, 1.0, 1.0, 1.5, 2.0, 2.4, 1.0, 0.5],
}


def some(name, count=6):
    chain = CHAINS[name]
    p = np.array(PARAMETERS[name]) * (1 + 0.02 * RANDOM.normal(size=(count, chain.parameters)))
    points, closed = postures(name, p, np.ones((count, chain.sides)), np.zeros(count))
    assert closed.all()
    return Linkages(chain.topology, points)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_turn_of_the_robot_has_the_same_extent(name):
    many = some(name, 2)
    swept = sweep(many, samples=36)
    for k in range(2):
        robot = lw.Robot.from_linkage(many.one(k))
        q, places = np.zeros(robot.nv), []
        crank = robot.joints.index("crank")
        for j in range(36):
            q = q.copy()
            q[crank] = 2 * np.pi * j / 36
            closed = robot.assemble(q, hold=("crank",))
            assert closed.success
            q = closed.q
            places.append(robot.pose(q, "tracer")[[0, 2], 3])
        places = np.array(places)
        own = np.concatenate([places.min(axis=0), places.max(axis=0)])
        assert swept.extent[k] == pytest.approx(own, abs=1e-9)
        assert swept.share[k] == 1.0


def test_the_transmission_is_the_closed_form_where_the_grid_meets_its_extremes():
    """Of a four-bar they are where the crank lies in the line of the ground:
    with the crank there at first, on it."""
    many = some("four-bar", 50)
    assert sweep(many).transmission == pytest.approx(check(many).transmission_cycle, abs=1e-8)


def test_a_rocker_that_drives_is_turned_itself():
    """The same linkage, named from the other end."""
    A, D, B, C, P = 0, 4, 1j, 3 + 2j, 1 + 3j
    driven = sweep(four_bar([A, D], [B, C], P, driver="rocker"), 90)
    mirrored = sweep(four_bar([D, A], [C, B], P, driver="crank"), 90)
    assert driven.extent == pytest.approx(mirrored.extent, abs=1e-12)
    assert driven.share == mirrored.share and 0 < driven.share < 1


def test_batches_keep_their_shape_and_bits():
    many = some("four-bar", 6)
    whole = sweep(many, 50)
    again = sweep(Linkages(many.topology, many.points.reshape(2, 3, -1)), 50)
    assert again.extent.shape == (2, 3, 4) and again.share.shape == (2, 3)
    assert np.array_equal(again.extent.reshape(6, 4), whole.extent)
    assert np.array_equal(sweep(many.one(4), 50).extent, whole.extent[4])


def test_bad_input_gets_one_sentence():
    with pytest.raises(InvalidInput, match="at least 1"):
        sweep(some("four-bar", 1), 0)
    chain = next(iter(six_bars(CRANK_ROCKER, [-2 + 0j, -1.5 + 3j, 1.5 + 1.2j])))
    with pytest.raises(NotPossible, match="check follows any circuit"):
        sweep(chain)
