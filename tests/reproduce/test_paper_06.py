"""Paper 06: figures that are known to one or two digits alone, and what its wrist condition
says."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import NotPossible
from linkwork.planning import split_regional
from linkwork.reproduce.paper_06 import build, mean_steps, planar_arm


def test_means_are_not_where_their_positions_are() -> None:
    arm = planar_arm()
    graph = build(arm, 1.0, 0.05)
    vertices = graph.vertices
    at = arm.pose(vertices.q, arm.bodies[-1])[:, :3, 3]
    off = np.linalg.norm(at - vertices.position, axis=1)
    assert np.median(off) == pytest.approx(0.4e-3, abs=0.05e-3) and off.max() == pytest.approx(
        22e-3, abs=0.5e-3
    )
    centers = graph.voxels[vertices.voxel] * graph.voxel_size
    assert (np.abs(at - centers).max(axis=1) > graph.voxel_size / 2 + 1e-9).sum() == 8
    steps = mean_steps(graph)
    assert steps.max() == pytest.approx(47.0, abs=0.5) and np.percentile(
        steps, 95
    ) == pytest.approx(32.0, abs=0.5)
    largest = graph.nodes[graph.vertex_of_node == int(np.argmax(vertices.count))]
    assert np.degrees(np.ptp(largest, axis=0)).max() <= 80.0 + 1e-9
    assert build(arm, 0.5, 0.05).grid_edges == 2_075_040 and 7031 / 2_075_040 == pytest.approx(
        0.0034, abs=5e-5
    )
    assert 3**6 - 1 == 728


@pytest.mark.parametrize(("d4", "d5", "meets"), [(0.43, 0.0, True), (0.0, 0.12, False)])
def test_a_wrist_is_decoupled_by_d5_and_not_by_d4(d4: float, d5: float, meets: bool) -> None:
    """The paper says d4 = 0, which is the forearm."""
    quarter = math.pi / 2
    table = [(0.0, 0.4, quarter), (0.5, 0.0, 0.0), (0.1, 0.0, quarter)]
    table += [(0.0, d4, -quarter), (0.0, d5, quarter), (0.0, 0.1, 0.0)]
    rows = [
        {"a": a, "d": d, "alpha": alpha, "theta": 0.0, "joint": "revolute"} for a, d, alpha in table
    ]
    arm = lw.Robot.from_dh(rows, check="any", name="wrist")
    if meets:
        assert len(split_regional(arm).joints) == 3
    else:
        with pytest.raises(NotPossible, match=r"axes 4, 5, 6 miss each other by .* d5 = 0\.12 m"):
            split_regional(arm)
