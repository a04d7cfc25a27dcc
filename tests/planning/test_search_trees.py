"""Search trees: many nodes are searched by trees of boxes,
and every node is the one that a scan gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.collision import Box, Obstacles
from linkwork.planning import jobs, rrt_connect
from linkwork.planning.questions import settings_of, space_of
from tests.planning.test_plan import planar

POSTS = Obstacles([Box((0.1, 0.1, 0.3), (0.0, y, 0.0)) for y in (-0.5, 0.5)])
START, GOAL = np.array([0.0, 0.5]), np.array([np.pi, 0.5])  # the upper link passes neither post
PARTS = {"rows": 2, "parents": 1, "radii": 1, "costs": 1}


def grown(
    few: int, monkeypatch: pytest.MonkeyPatch, bound: float, iterations: int
) -> dict[str, bytes]:
    """Every part of two trees that never meet, with nodes in boxes from some number on."""
    tables = rrt_connect.table_of

    def small(*arguments: object) -> object:
        return replace(tables(*arguments), few=few, group=64, leaf=16, most=512)

    with monkeypatch.context() as patched:
        patched.setattr(jobs, "table_of", small)
        patched.setattr(rrt_connect, "table_of", small)
        space = space_of(planar(), None, None, "test")
        search = jobs.Search(planar(), space.turns, space.weights)
        settings = replace(settings_of(1 / 32, 0.5), bound=bound)
        job = search.job(START, GOAL[None], POSTS, space.box(START), settings, np.full(2, 0.3))
        arena = search.arena(job)
        while search.go_on(job, iterations, arena) == jobs.FULL:
            arena = search.grown(job, arena)
    assert job["iterations"] == iterations and min(job["first_count"], job["second_count"]) > 700
    parts = {}
    for tree in ("first", "second"):
        for name, columns in PARTS.items():
            at = job[f"{tree}_{name}"]
            parts[f"{tree} {name}"] = arena[at : at + columns * job[f"{tree}_count"]].tobytes()
    return parts


@pytest.mark.parametrize(
    ("bound", "iterations"), [(jobs.FAR, 60_000), (30.0, 4000)], ids=["first path", "shorter paths"]
)
def test_a_tree_of_many_nodes_is_that_of_a_scan(
    bound: float, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bound the length from the root is a coordinate; the first joint turns without end."""
    in_boxes, scanned = (grown(few, monkeypatch, bound, iterations) for few in (64, 1024))
    assert in_boxes == scanned
