"""Kernels of a robot by name, with operation counts beside those of papers."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import UnknownName


def test_names_counts_and_the_published_ones():
    robot = lw.load("christoffel-5")
    assert repr(robot.kernels) == "no kernels yet" and len(robot.kernels) == 0
    q = np.zeros(5)
    robot.christoffel(q)
    robot.pose(q, robot.bodies[-1])
    robot.pose(q, robot.bodies[2])
    kernels = robot.kernels
    assert list(kernels) == ["christoffel", "pose", "pose 2"]
    # the tip's takes more than the second body's
    assert kernels["pose"].operations > kernels["pose 2"].operations > 0
    # [Safeea2019] table 2 at n = 5: 21/2 n^3 + 45/2 n^2 + 49 n,
    # and 12 n^3 + 19 n^2 + 41 n - 3 (corrected)
    assert kernels.published["christoffel"][:2] == (2120, 2177)
    assert (
        0 < kernels["christoffel"].operations < kernels.published["christoffel"].operations == 4297
    )
    assert (
        f"christoffel: {kernels['christoffel'].operations} operations (4297 by [Safeea2019]"
        in repr(kernels)
    )
    with pytest.raises(UnknownName, match='no kernel "posse" yet; did you mean "pose"'):
        kernels["posse"]
    assert "posse" not in kernels and kernels.get("posse") is None and "pose" in kernels
