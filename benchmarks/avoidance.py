"""How fast is one control step that keeps an arm off obstacles, beside Pink's and mink's?

The iiwa 14 with the capsules that it describes, its tool on a circle, obstacles around its elbow.
Pink: seven capsules against four obstacles (28 pairs, coal), the ten nearest in one barrier, as
ours has. mink: the same arm in MuJoCo, six spheres along each of seven links, and four obstacles:
46 geoms, 168 pairs, all of which it sees, as ours sees all points; and once more with what is
within 0.2 m alone, which spares it two thirds. All three solve with daqp where they ask for a
solver.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from linkwork.avoidance import (
    CriticallyDampedFilter,
    Elbow,
    ElbowAvoidance,
    NullSpaceAvoidance,
    SafetyVolume,
)
from linkwork.collision import Obstacles, Sphere

PERIOD = 0.01
POINTS = 100
Q = np.array([0.3, 0.7, 0.1, -1.4, 0.2, 0.9, 0.3])
TOOL = "iiwa_link_ee"
AROUND = np.array([[0.35, 0.35, 0.55], [-0.35, 0.3, 0.6], [0.6, -0.3, 0.4], [0.1, -0.45, 0.7]])
RADIUS = 0.05
NEAREST = 10


def rows() -> list[Row]:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    before = lw.threads()
    lw.threads(1)
    try:
        return [
            *_beside("Pink, 28 capsule pairs", _pink, (15, 2)),
            *_beside("mink, 46 geoms", lambda: _mink(sees=1.0), (50, 8)),
            *_beside("mink, 46 geoms, within 0.2 m", lambda: _mink(sees=0.2), (None, None)),
        ]
    finally:
        lw.threads(before)


def _beside(
    name: str, peer: Callable[[], Callable[[], object]], targets: tuple[float | None, float | None]
) -> list[Row]:
    try:
        step = peer()
    except ImportError:
        return []
    found = []
    sides = {
        "ElbowAvoidance.step, 100 points": _elbow(),
        "NullSpaceAvoidance.step, 4 obstacles": _null_space(),
    }
    for (question, own), target in zip(sides.items(), targets, strict=True):
        ours, theirs = side_by_side(own, step)
        found.append(Row(question, "iiwa 14, public call", ours, theirs, name, target))
    return found


def poses() -> list[np.ndarray]:
    """The tool on a small circle around where it stands at Q."""
    T = lw.load("iiwa14").pose(Q, TOOL)
    found = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False):
        moved = T.copy()
        moved[:3, 3] += 0.03 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
        found.append(moved)
    return found


class _Turns:
    """A step that takes the next pose each time."""

    def __init__(self, step: Callable[[np.ndarray], object]) -> None:
        self.step, self.poses, self.k = step, poses(), 0

    def __call__(self) -> object:
        self.k = (self.k + 1) % len(self.poses)
        return self.step(self.poses[self.k])


def _elbow() -> Callable[[], object]:
    robot = lw.load("iiwa14")
    points = np.random.default_rng(0).uniform([-0.6, -0.6, 0.3], [0.6, 0.6, 0.9], (4 * POINTS, 3))
    elbow = Elbow(robot, TOOL)
    at = robot.forward_kinematics(Q)["iiwa_link_4"][:3, 3]
    far = np.linalg.norm(points - at, axis=1) > 0.25
    keep = ElbowAvoidance(
        elbow, SafetyVolume(0.05, 0.15), CriticallyDampedFilter(10.0, PERIOD), q0=Q
    )
    shown = np.ascontiguousarray(points[far][:POINTS])
    return _Turns(lambda pose: keep.step(pose, shown))


def _null_space() -> Callable[[], object]:
    robot = lw.load("iiwa14")
    model = lw.collision.model(robot)
    obstacles = Obstacles([Sphere(center, RADIUS) for center in AROUND])
    keep = NullSpaceAvoidance(
        model, lw.tasks.FrameTask(TOOL, poses()[0]), obstacles, q0=Q, period=PERIOD, nearest=NEAREST
    )
    return _Turns(lambda pose: keep.step(lw.tasks.FrameTask(TOOL, pose)))


def _pink() -> Callable[[], object]:
    import coal
    import pinocchio as pin
    from pink import Configuration, solve_ik
    from pink.barriers import SelfCollisionBarrier
    from pink.tasks import FrameTask, PostureTask

    from tests.pinocchio_models import twin_of

    robot = lw.load("iiwa14")
    model = twin_of(robot.model).model
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = (
        robot.limits.lower,
        robot.limits.upper,
    )
    model.velocityLimit[:] = 10.0
    geometry = pin.GeometryModel()
    for body, shapes in lw.collision.model(robot).shapes.items():
        frame = model.frames[model.getFrameId(body)]
        for shape in shapes if body != robot.bodies[0] else ():
            place, size = _segment(shape.start, shape.end)
            own = pin.GeometryObject(
                f"{body}_0",
                frame.parentJoint,
                model.getFrameId(body),
                frame.placement * pin.SE3(place[:3, :3], place[:3, 3]),
                coal.Capsule(shape.radius, size),
            )
            geometry.addGeometryObject(own)
    links = geometry.ngeoms
    for k, center in enumerate(AROUND):
        place = pin.SE3(np.eye(3), center)
        geometry.addGeometryObject(
            pin.GeometryObject(f"obstacle{k}", 0, 0, place, coal.Sphere(RADIUS))
        )
        for link in range(links):
            geometry.addCollisionPair(pin.CollisionPair(link, links + k))
    data, geometry_data = model.createData(), pin.GeometryData(geometry)
    configuration = Configuration(
        model, data, Q, collision_model=geometry, collision_data=geometry_data
    )
    tool, posture = FrameTask(TOOL, position_cost=1.0, orientation_cost=1.0), PostureTask(cost=1e-3)
    posture.set_target(Q)
    barrier = SelfCollisionBarrier(NEAREST, gain=20.0, safe_displacement_gain=1.0, d_min=0.02)

    def step(pose: np.ndarray) -> object:
        tool.set_target(pin.SE3(pose[:3, :3], pose[:3, 3]))
        v = solve_ik(
            configuration, [tool, posture], PERIOD, "daqp", barriers=[barrier], safety_break=False
        )
        configuration.integrate_inplace(v, PERIOD)
        return v

    return _Turns(step)


def _mink(sees: float) -> Callable[[], object]:
    import mink
    import mujoco

    robot = lw.load("iiwa14")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "iiwa14.xml"
        lw.save(robot, file)
        spec = mujoco.MjSpec.from_file(str(file))
    names = []
    for body, shapes in lw.collision.model(robot).shapes.items():
        for shape in shapes if body != robot.bodies[0] else ():
            for k, t in enumerate(np.linspace(0.0, 1.0, 6)):
                center = (1.0 - t) * np.array(shape.start) + t * np.array(shape.end)
                size = [shape.radius, 0.0, 0.0]
                names.append(f"{body}_{k}")
                kind = mujoco.mjtGeom.mjGEOM_SPHERE
                spec.body(body).add_geom(name=names[-1], type=kind, size=size, pos=center)
    others = [f"obstacle{k}" for k in range(len(AROUND))]
    for name, center in zip(others, AROUND, strict=True):
        spec.worldbody.add_geom(
            name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=center
        )
    model = spec.compile()
    configuration = mink.Configuration(model, Q)
    last = robot.bodies[-1]
    tool = mink.FrameTask(last, "body", position_cost=1.0, orientation_cost=1.0)
    posture = mink.PostureTask(model, cost=1e-3)
    posture.set_target(Q)
    near = {"minimum_distance_from_collisions": 0.02, "collision_detection_distance": sees}
    limits = [
        mink.ConfigurationLimit(model),
        mink.CollisionAvoidanceLimit(model, [(names, others)], **near),
    ]
    T_ee = robot.pose(Q, last) @ np.linalg.inv(robot.pose(Q, TOOL))

    def step(pose: np.ndarray) -> object:
        tool.set_target(mink.SE3.from_matrix(T_ee @ pose))
        v = mink.solve_ik(configuration, [tool, posture], PERIOD, "daqp", limits=limits)
        configuration.integrate_inplace(v, PERIOD)
        return v

    return _Turns(step)


def _segment(start: Any, end: Any) -> tuple[np.ndarray, float]:
    """Pose whose z runs along a segment, at its middle, and its length."""
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, [1.0, 0.0, 0.0] if abs(z[0]) < 0.9 else [0.0, 1.0, 0.0])
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), 0.5 * (a + b)
    return T, length
