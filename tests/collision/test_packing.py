"""Packed obstacles: what was moved a hundred times is byte for byte what is packed anew."""

from __future__ import annotations

import numpy as np

from linkwork.collision import Box, Capsule, Cloud, Cylinder, HalfSpace, Obstacles, Sphere
from linkwork.collision.packing import Packer
from linkwork.engine.staged import Packed
from tests.collision.scenes import tip_of_gantry


def shapes() -> list:
    rng = np.random.default_rng(0)
    found: list = [HalfSpace((0, 0, 1), -1.0), Cloud(rng.uniform(-1, 1, (50, 3)), 0.01)]
    for _ in range(4):
        p, r = rng.uniform(-1, 1, 3), rng.uniform(0.05, 0.2)
        more = [Sphere(p, r), Capsule(p, -p, r), Box((r, 2 * r, r), p), Cylinder(r, 0.3, p)]
        found += more
    return found


def rows_of(packer: Packer, obstacles: Obstacles) -> tuple[bytes, list]:
    scene = packer.scene(obstacles)
    starts = [tuple(np.subtract(scene.words[k : k + 3], scene.words[0])) for k in (0, 4, 12)]
    assert starts[0] == (0, scene.places["margins"][1], 0)
    return scene.data, [scene.keys, scene.extent, scene.places]


def test_what_is_moved_is_packed_as_if_it_were_new() -> None:
    rng = np.random.default_rng(1)
    nothing = Packed.of((), ())
    packer = Packer(nothing, [0.1, 0.2, 0.3], 3.0)
    obstacles = Obstacles(shapes())
    packer.scene(obstacles)
    movable = [name for name in obstacles.names if not name.startswith("cloud")]
    for k in range(150):
        # one, two or three at once; sometimes far away,
        # where an obstacle no longer decides the margin of floats
        for name in rng.choice(movable, size=1 + k % 3):
            place = rng.uniform(-1, 1, 3) * (50.0 if k % 10 == 0 else 1.0)
            obstacles = obstacles.moved(name, place)
        before = packer._last
        data, told = rows_of(packer, obstacles)
        fresh, expected = rows_of(
            Packer(nothing, [0.1, 0.2, 0.3], 3.0), Obstacles(obstacles.shapes)
        )
        assert (data, told) == (fresh, expected)
        assert before is not None and packer._last is not before
        # the cloud was not clustered again
        assert packer._last.fields is before.fields


def test_obstacles_that_live_on_keep_their_rows() -> None:
    """Moving makes other obstacles: those before answer as before."""
    model = tip_of_gantry(Sphere((0, 0, 0), 0.05))
    q = model.robot.neutral()
    here = model.robot.pose(q, "tip")[:3, 3]
    far = Obstacles({"ball": Sphere((5, 5, 5), 0.05), "post": Capsule((4, 4, 0), (4, 4, 1), 0.1)})
    assert not model.collides(q, far)
    near = far.moved("ball", here)
    assert model.collides(q, near) and not model.collides(q, far)
    again = near.moved("ball", here + [0.2, 0, 0])
    assert not model.collides(q, again) and model.collides(q, near) and not model.collides(q, far)
    batch = np.repeat(q[None], 40, axis=0)
    assert model.collides(batch, near).all() and not model.collides(batch, again).any()
