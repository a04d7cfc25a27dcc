"""Anytime methods come to within 2 % of optima that are known otherwise,
and their lengths only fall.

A point that slides among boxes: visibility graph. Two links beside a disc: the grid of their nodes,
whose ways along its eight directions are a little longer than the shortest.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, Obstacles, Sphere
from linkwork.planning import plan
from linkwork.planning.anytime import patience
from linkwork.reproduce.paper_06 import LENGTHS, colliding
from tests.planning.test_roadmap import point

THIN = 1e-4  # [m] radius of the links; the grid's are segments
NEAR = 1.02


@dataclass(frozen=True)
class Problem:
    model: CollisionModel
    start: np.ndarray
    goal: np.ndarray
    obstacles: Obstacles
    optimum: float


def among_boxes(
    start: tuple[float, float], goal: tuple[float, float], boxes: list[tuple[float, ...]]
) -> Problem:
    """Boxes (x, y, width, height) around which a point goes: corner to corner,
    the shortest way of all."""
    size = 0.001  # radius of the point
    grown = [
        (x - w / 2 - size, x + w / 2 + size, y - h / 2 - size, y + h / 2 + size)
        for x, y, w, h in boxes
    ]
    places = [start, goal, *itertools.chain(*(itertools.product(b[:2], b[2:]) for b in grown))]
    rows = np.array(places)
    inside = np.linspace(0.0, 1.0, 2001)[1:-1, None]

    def sees(a: np.ndarray, b: np.ndarray) -> bool:
        x, y = (a + (b - a) * inside).T
        eps = 1e-9
        return not any(
            ((x > low + eps) & (x < high - eps) & (y > below + eps) & (y < above - eps)).any()
            for low, high, below, above in grown
        )

    pairs = [
        (i, j) for i, j in itertools.combinations(range(len(rows)), 2) if sees(rows[i], rows[j])
    ]
    first, second = np.array(pairs).T
    lengths = np.linalg.norm(rows[first] - rows[second], axis=1)
    graph = coo_array((lengths, (first, second)), shape=(len(rows),) * 2)
    optimum = float(dijkstra(graph.tocsr(), directed=False, indices=0)[1])
    walls = Obstacles([Box((w, h, 1.0), (x, y, 0.0)) for x, y, w, h in boxes])
    return Problem(point(), np.array(start), np.array(goal), walls, optimum)


DISC = (0.1, 0.7, 0.1)
VALUES = np.radians(np.linspace(-180.0, 180.0, 361))


@cache
def node_distances() -> np.ndarray:
    """(361, 361): the shortest ways of two links from (30, 60) deg,
    by steps to the eight neighbours of a node."""
    n, step = len(VALUES), math.radians(1.0)
    q = np.stack(np.meshgrid(VALUES, VALUES, indexing="ij"), axis=-1).reshape(-1, 2)
    free, numbers = ~colliding(q, DISC).reshape(n, n), np.arange(n * n).reshape(n, n)
    rows, columns, lengths = [], [], []
    for a, b in ((0, 1), (1, 0), (1, 1), (1, -1)):
        one = (slice(0, n - a), slice(max(0, -b), n - max(0, b)))
        other = (slice(a, n), slice(max(0, b), n - max(0, -b)))
        both = free[one] & free[other]
        rows.append(numbers[one][both])
        columns.append(numbers[other][both])
        lengths.append(np.full(int(both.sum()), step * math.hypot(a, b)))
    ways = (np.concatenate(rows), np.concatenate(columns))
    graph = coo_array((np.concatenate(lengths), ways), shape=(n * n, n * n)).tocsr()
    return dijkstra(graph, directed=False, indices=int(numbers[30 + 180, 60 + 180])).reshape(n, n)


def beside_disc() -> Problem:
    """The paper's two links, from node to node."""
    start, goal, optimum = (
        np.radians([30.0, 60.0]),
        np.radians([107.0, 100.0]),
        node_distances()[287, 280],
    )
    limited = [
        {
            "a": a,
            "d": 0.0,
            "alpha": 0.0,
            "theta": 0.0,
            "joint": "revolute",
            "limits": (-math.pi, math.pi),
        }
        for a in LENGTHS
    ]
    robot = lw.Robot.from_dh(limited, check="any", name="planar-2r")
    shapes = {
        body: [Capsule((-length, 0, 0), (0, 0, 0), THIN)]
        for body, length in zip(("link1", "link2"), LENGTHS, strict=True)
    }
    ball = Obstacles([Sphere((*DISC[:2], 0.0), DISC[2])])
    return Problem(CollisionModel(robot, shapes, pairs=[]), start, goal, ball, float(optimum))


@cache
def problem(name: str) -> Problem:
    if name == "two links":
        return beside_disc()
    one, several = (
        [(0.0, 0.0, 1.0, 1.0)],
        [(-0.8, 0.3, 0.3, 1.6), (0.0, -0.4, 0.3, 1.8), (0.8, 0.5, 0.3, 1.5)],
    )
    boxes = {"one box": one, "three boxes": several}[name]
    ends = {"one box": ((-1.0, 0.0), (1.0, 0.0)), "three boxes": ((-1.6, 0.2), (1.6, 0.3))}[name]
    return among_boxes(*ends, boxes)


@pytest.mark.parametrize("method", ["aorrtc", "prm_star"])
@pytest.mark.parametrize("name", ["one box", "three boxes", "two links"])
def test_lengths_fall_to_the_known_optimum(name: str, method: str) -> None:
    asked = problem(name)
    aim = NEAR * asked.optimum
    parts = (asked.model, asked.start, asked.goal, asked.obstacles)
    answer = plan(*parts, method=method, time_limit=3600.0, good_enough=aim)
    assert answer.certified and answer.length <= aim
    shortest = np.linalg.norm(asked.goal - asked.start) if name == "two links" else asked.optimum
    assert answer.length >= shortest * (1.0 - 1e-9)
    times, lengths = np.array(answer.history).T
    assert (
        (np.diff(times) > 0).all() and (np.diff(lengths) < 0).all() and lengths[-1] == answer.length
    )


def test_searches_begin_again_after_the_published_sequence() -> None:
    """[Luby1993] prints its first fifteen terms."""
    terms = [patience(turn) for turn in range(1, 16)]
    assert terms == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def test_optima_are_those_of_closed_forms_and_of_the_paper_s_digest() -> None:
    assert problem("one box").optimum == pytest.approx(
        2 * math.hypot(0.499, 0.501) + 1.002, rel=1e-9
    )
    # there to the nearest node whose point lies in the voxel of (-0.5, 0.3) m
    one, other = np.meshgrid(VALUES, VALUES, indexing="ij")
    x = LENGTHS[0] * np.cos(one) + LENGTHS[1] * np.cos(one + other)
    y = LENGTHS[0] * np.sin(one) + LENGTHS[1] * np.sin(one + other)
    there = (np.abs(x + 0.5) < 0.025) & (np.abs(y - 0.3) < 0.025)
    assert node_distances()[there].min() == pytest.approx(1.8465407186, rel=1e-9)
