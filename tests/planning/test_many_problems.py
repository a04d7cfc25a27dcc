"""Every problem of MotionBenchMaker: solved, proved,
and free for Pinocchio and coal at samples 1/500 rad apart.

`make truth`; some ten minutes. The plain tests take three problems of the Panda.
"""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from benchmarks.planning import problems
from linkwork.collision import Box, Capsule, CollisionModel, Obstacles, Sphere
from linkwork.planning import plan
from tests.collision.test_checker import SHARED, spherized

TRUTH = bool(os.environ.get("LINKWORK_TRUTH"))
EVERY = 1 if TRUTH else 250
FINE = 1.0 / 500.0  # [rad] between samples
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/planning is not there")


class Peer:
    """A robot of spheres among obstacles, for Pinocchio and coal."""

    def __init__(self, name: str, model: CollisionModel, obstacles: Obstacles) -> None:
        import coal
        import pinocchio as pin

        self.pin = pin
        self.model = pin.buildModelFromUrdf(str(SHARED / f"{name}_spherized.urdf"))
        self.geometry = pin.GeometryModel()
        parts: dict[str, list[int]] = {}
        for body, shapes in model.shapes.items():
            frame_id = self.model.getFrameId(body)
            frame = self.model.frames[frame_id]
            for k, shape in enumerate(shapes):
                place = frame.placement * pin.SE3(np.eye(3), np.array(shape.center))
                own = pin.GeometryObject(
                    f"{body} {k}", frame.parentJoint, frame_id, place, coal.Sphere(shape.radius)
                )
                parts.setdefault(body, []).append(self.geometry.addGeometryObject(own))
        moving = [
            body for body in parts if self.model.frames[self.model.getFrameId(body)].parentJoint
        ]
        around = [self._obstacle(coal, f"obstacle {k}", shape) for k, shape in enumerate(obstacles)]
        pairs = [
            (a, b) for one, other in model.pairs.checked for a in parts[one] for b in parts[other]
        ]
        pairs += [(a, b) for body in moving for a in parts[body] for b in around]
        for a, b in pairs:
            self.geometry.addCollisionPair(pin.CollisionPair(a, b))
        self.data, self.geometry_data = self.model.createData(), pin.GeometryData(self.geometry)
        self.order = [
            self.model.joints[self.model.getJointId(name)].idx_q for name in model.robot.joints
        ]

    def _obstacle(self, coal, name: str, shape) -> int:
        if isinstance(shape, Box):
            turn, at = np.array(shape.pose.rotation), np.array(shape.pose.position)
            body, place = coal.Box(*shape.size), self.pin.SE3(turn, at)
        elif isinstance(shape, Sphere):
            body, place = coal.Sphere(shape.radius), self.pin.SE3(np.eye(3), np.array(shape.center))
        else:
            assert isinstance(shape, Capsule), shape
            start, end = np.array(shape.start), np.array(shape.end)
            length = float(np.linalg.norm(end - start))
            turn = self.pin.Quaternion.FromTwoVectors(
                np.array([0.0, 0.0, 1.0]), (end - start) / length
            )
            body, place = (
                coal.Capsule(shape.radius, length),
                self.pin.SE3(turn.matrix(), 0.5 * (start + end)),
            )
        return self.geometry.addGeometryObject(self.pin.GeometryObject(name, 0, 0, place, body))

    def touches(self, q: np.ndarray) -> bool:
        theirs = np.zeros(self.model.nq)
        theirs[self.order] = q
        return self.pin.computeCollisions(
            self.model, self.data, self.geometry, self.geometry_data, theirs, True
        )


def fine(path: np.ndarray) -> np.ndarray:
    """Samples of a path, FINE apart, ends included."""
    rows = [path[:1]]
    for one, other in itertools.pairwise(path):
        count = max(1, int(np.ceil(np.linalg.norm(other - one) / FINE)))
        rows.append(one + (other - one) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(rows)


@pytest.mark.parametrize("robot", ["panda", "ur5"] if TRUTH else ["panda"])
def test_paths_are_proved_and_free_for_pinocchio_and_coal(robot: str) -> None:
    model, valid, checked, touching = spherized(robot), 0, 0, []
    for k, (_, start, goal, obstacles) in enumerate(problems(robot, EVERY)):
        if model.collides(np.array([start, goal]), obstacles).any():
            continue
        valid += 1
        answer = plan(model, start, goal, obstacles, time_limit=None)
        assert answer.certified, (k, answer)
        assert (answer.path[0] == start).all() and (answer.path[-1] == goal).all()
        peer, samples = Peer(robot, model, obstacles), fine(answer.path)
        checked += len(samples)
        touching += [(k, q.tolist()) for q in samples if peer.touches(q)]
    print(f"{robot}: {valid} paths, {checked} samples, {len(touching)} touch")
    assert valid == {"panda": 699, "ur5": 689}[robot] if EVERY == 1 else valid > 0
    assert not touching, touching[:3]


def test_the_peer_sees_a_touch() -> None:
    """An oracle that never says no proves nothing."""
    model = spherized("panda")
    _, start, goal, obstacles = next(iter(problems("panda")))
    straight = fine(np.array([start, goal]))
    ours = model.collides(straight, obstacles)
    peer = Peer("panda", model, obstacles)
    assert ours.any() and [peer.touches(q) for q in straight] == ours.tolist()
