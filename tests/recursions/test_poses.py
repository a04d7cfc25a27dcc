"""Poses of random trees against products of 4 x 4 matrices in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.model import build_tree
from linkwork.recursions.poses import attached, frame_pose, poses
from tests.numeric import matrix, world_poses
from tests.random_models import random_model, random_q
from tests.traced import evaluated


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_poses_of_all_bodies_and_of_a_frame(seed, merge):
    model = random_model(seed, mimic=False)
    tree = build_tree(model, merge)
    by_name = random_q(model, seed)
    q = np.concatenate([by_name[joint] for joint in tree.coordinates])[None]

    def all_of_them(q):
        T = poses(tree, q)
        placed = [attached(T[i], at) for i, at in tree.bodies.values()]
        tool = frame_pose(tree, q, tree.frames["tool"])
        return [x for P in (*placed, tool) for x in (P.R, P.p)]

    found = evaluated(all_of_them, q)
    wanted = world_poses(model, by_name)
    tool = wanted[model.frames[0].body] @ matrix(model.frames[0].placement)
    for k, T in enumerate([*wanted.values(), tool]):
        assert np.abs(found[2 * k][0] - T[:3, :3]).max() < 1e-14
        assert np.abs(found[2 * k + 1][0] - T[:3, 3]).max() < 2e-14  # metres, over a dozen bodies


def test_only_the_asked_path_is_computed():
    tree = build_tree(random_model(2, mimic=False))
    last = len(tree.nodes) - 1
    T = poses(tree, np.zeros(tree.nq), (last,))
    assert [i for i in tree.outward if T[i] is not None] == list(tree.paths[last])
