"""The free share of workspaces: counted cell by cell,
and the same for designs one by one and together."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import HalfSpace, Obstacles
from linkwork.errors import InvalidInput

ARM = """
linkwork: 1
name: stick
units: {length: m, angle: rad}
variables: {reach: 0.5}
bodies:
  base: {}
  arm: {collisions: [{kind: sphere, size: [0.05], placement: ["${reach}", 0, 0]}]}
joints:
  turn:
    {type: revolute, parent: base, child: arm, axis: z, limits: {lower: -3.141592653589793, upper: 3.141592653589793}}
frames:
  tip: {body: arm, placement: ["${reach}", 0, 0]}
"""


def test_the_free_share_of_a_stick_beside_a_wall(tmp_path):
    """A tip on a circle of radius r, a wall at 0.4 m: free where r cos(q) < 0.35."""
    (tmp_path / "stick.robot.yaml").write_text(ARM)
    robot = lw.load(tmp_path / "stick.robot.yaml", live=["reach"])
    model = lw.collision.model(robot, pairs=[])
    wall = Obstacles([HalfSpace((-1, 0, 0), -0.4)])
    lengths = np.array([[0.2, 0.4], [0.5, 1.0]])
    found = lw.studies.free_share(
        model, wall, "tip", cell=0.05, variables={"reach": lengths}, samples=20_000
    )
    blocked = np.arccos(np.minimum(0.35 / lengths, 1.0)) / np.pi
    # four deviations of 20 000
    np.testing.assert_allclose(found.configurations, 1.0 - blocked, rtol=0, atol=0.015)
    assert found.workspace.shape == (2, 2) and found.workspace[0, 0] == 1.0
    np.testing.assert_array_equal(found.workspace, found.free / found.reached)
    assert (np.diff(found.workspace.ravel()) < 0).all()
    alone = lw.studies.free_share(
        model, wall, "tip", cell=0.05, variables={"reach": 0.5}, samples=20_000
    )
    assert (
        alone.configurations == found.configurations[1, 0] and alone.reached == found.reached[1, 0]
    )
    without = lw.studies.free_share(model, wall)
    assert np.isnan(without.workspace) and without.configurations.shape == ()
    with pytest.raises(InvalidInput, match="expected a CollisionModel"):
        lw.studies.free_share(robot)
    with pytest.raises(InvalidInput, match="expected a length above 0"):
        lw.studies.free_share(model, cell=0.0)
