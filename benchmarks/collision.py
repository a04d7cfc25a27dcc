"""How fast are collision checks, clearances, motions and proofs beside Pinocchio with coal,
on the same shapes?

The Panda with VAMP's spheres and scenes of MotionBenchMaker, from ../shared/planning; no rows where
that is not there.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import coal
import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, median_seconds, seconds, side_by_side
from linkwork.collision import (
    Capsule,
    Cloud,
    CollisionModel,
    Obstacles,
    Sphere,
    checker,
    fit_spheres,
    motions,
)
from linkwork.collision.exact import geometry
from linkwork.collision.model import described_shapes
from linkwork.collision.tables import RobotTables
from linkwork.subject import Subject
from tests.collision.test_checker import SHARED, spherized, vamp_obstacles
from tests.published import URDFS

BATCH = 4096
SCENES = {"bookshelf_small": 7, "table_pick": 12, "bookshelf_thin": 21}  # with numbers of obstacles


def rows() -> list[Row]:
    if not SHARED.is_dir():
        return []
    lw.threads(1)
    model = spherized("panda")
    problems = json.loads(gzip.open(SHARED / "motionbenchmaker-panda.json.gz").read())["problems"]
    scenes = {name: vamp_obstacles(problems[name][0]["objects"], as_boxes=False) for name in SCENES}
    found = [row for name in SCENES for row in _checks(model, name, scenes[name])]
    found += _clearances(model, scenes["table_pick"])
    found += _motions(model, scenes)
    found += _cloud(model, scenes["table_pick"])
    found += _threads(model, scenes["table_pick"])
    found += _roboplan(model, scenes["table_pick"])
    found += _fitting()
    return [*found, *_compiling(model, scenes["table_pick"]), *_humanoid()]


class Peer:
    """Pinocchio's geometry model with the same shapes, pairs and obstacles."""

    def __init__(self, model: CollisionModel, obstacles: Obstacles) -> None:
        self.model = pin.buildModelFromUrdf(str(SHARED / "panda_spherized.urdf"))
        self.geometry = pin.GeometryModel()
        own: dict[str, list[int]] = {}
        for body, shapes in model.shapes.items():
            frame = self.model.getFrameId(body)
            at = self.model.frames[frame]
            own[body] = [
                self._add(f"{body}{k}", at.parentJoint, frame, at.placement, s)
                for k, s in enumerate(shapes)
            ]
        for a, b in model.pairs.checked:
            self._pair(own[a], own[b])
        for obstacle in obstacles:
            other = self._add(str(obstacle.name), 0, 0, pin.SE3.Identity(), obstacle)
            for body in own:
                if model.subject.tree.bodies[body][0] != 0:
                    self._pair(own[body], [other])
        self.data, self.geometry_data = self.model.createData(), pin.GeometryData(self.geometry)

    def _add(self, name: str, joint: int, frame: int, placement: pin.SE3, shape: object) -> int:
        made, T = geometry(shape)  # type: ignore[arg-type]
        place = placement * pin.SE3(T[:3, :3], T[:3, 3])
        return self.geometry.addGeometryObject(pin.GeometryObject(name, joint, frame, place, made))

    def _pair(self, first: list[int], second: list[int]) -> None:
        for i in first:
            for j in second:
                self.geometry.addCollisionPair(pin.CollisionPair(i, j))

    def collides(self, q: np.ndarray) -> list[bool]:
        data = (self.model, self.data, self.geometry, self.geometry_data)
        return [pin.computeCollisions(*data, x, True) for x in q]

    def distances(self, q: np.ndarray) -> list[float]:
        data = (self.model, self.data, self.geometry, self.geometry_data)
        found = []
        for x in q:
            pin.computeDistances(*data, x)
            found.append(min(result.min_distance for result in self.geometry_data.distanceResults))
        return found

    def distances_alone(self, q: np.ndarray) -> None:
        data = (self.model, self.data, self.geometry, self.geometry_data)
        for x in q:
            pin.computeDistances(*data, x)

    def broad(self) -> Callable[[np.ndarray], list[bool]]:
        manager = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(
            self.model, self.geometry, self.geometry_data
        )
        return lambda q: [pin.computeCollisions(self.model, self.data, manager, x, True) for x in q]


def _checks(model: CollisionModel, name: str, scene: Obstacles) -> list[Row]:
    q = model.robot.random(BATCH, seed=1)
    peer = Peer(model, scene)
    few = q[:100]
    assert (model.collides(few, scene) == peer.collides(few)).all()
    case = f"Panda, 59 spheres, {len(scene)} obstacles ({name})"
    found = []
    for label, theirs, target in (
        ("computeCollisions", peer.collides, 150),
        ("with broad phase", peer.broad(), 100),
    ):
        assert (model.collides(few, scene) == theirs(few)).all()
        ours, other = side_by_side(
            lambda: model.collides(q, scene), lambda t=theirs: t(few), rounds=3
        )
        found.append(
            Row("collides, batch", case, ours / BATCH, other / len(few), f"pin {label}", target)
        )
    one = [x.copy() for x in few]
    ours, other = side_by_side(
        lambda: [model.collides(x, scene) for x in one], lambda: peer.collides(few), rounds=3
    )
    found.append(
        Row(
            "collides, one configuration",
            case,
            ours / 100,
            other / 100,
            "pin computeCollisions",
            15,
        )
    )
    return found


def _capsules(model: CollisionModel) -> CollisionModel:
    """A capsule a link, around its spheres."""
    found = {}
    for body, spheres in model.shapes.items():
        centers = np.array([s.center for s in spheres])
        away = np.linalg.norm(centers[:, None] - centers, axis=-1)
        i, j = np.unravel_index(np.argmax(away), away.shape)
        found[body] = [Capsule(centers[i], centers[j], max(s.radius for s in spheres))]
    return CollisionModel(model.robot, found, pairs=model.pairs.checked)


def _clearances(model: CollisionModel, scene: Obstacles) -> list[Row]:
    q, found = model.robot.random(2048, seed=2), []
    few = q[:50]
    for label, own, target in (("59 spheres", model, 30), ("11 capsules", _capsules(model), 8)):
        peer = Peer(own, scene)
        np.testing.assert_allclose(
            own.clearance(few, scene).distance, peer.distances(few), rtol=0, atol=1e-6
        )
        ours, other = side_by_side(
            lambda o=own: o.clearance(q, scene), lambda p=peer: p.distances_alone(few), rounds=3
        )
        case = f"Panda, {label}, {len(scene)} obstacles, with gradient"
        found.append(
            Row(
                "clearance, batch 2048",
                case,
                ours / 2048,
                other / 50,
                "pin computeDistances",
                target,
            )
        )
    return found


def _motions(model: CollisionModel, scenes: dict[str, Obstacles]) -> list[Row]:
    rng, found = np.random.default_rng(3), []
    for name, scene in scenes.items():
        q0 = model.free_samples(1500, scene, seed=4)
        way = rng.normal(size=q0.shape)
        q1 = q0 + 0.8 * way / np.linalg.norm(way, axis=1)[:, None]
        certificate = model.certify_motion(q0, q1, scene)
        sampled = model.motion_is_free(q0, q1, scene)
        assert not (certificate.free & ~sampled).any()
        a, b = q0[certificate.free], q1[certificate.free]
        proof, samples = side_by_side(
            lambda a=a, b=b, s=scene: model.certify_motion(a, b, s),
            lambda a=a, b=b, s=scene: model.motion_is_free(a, b, s),
            rounds=3,
        )
        case = f"Panda, 0.8 rad, free, {name}"
        found.append(Row("motion_is_free at 1/32 rad", case, samples / len(a)))
        times = proof / samples
        found.append(
            Row(
                "certify_motion by motion_is_free",
                case,
                times,
                target=2.0,
                unit="x",
                smaller_is_better=True,
            )
        )
    return found


def _cloud(model: CollisionModel, scene: Obstacles) -> list[Row]:
    """10 000 points of the surfaces of boxes against an octree of coal."""
    rng, points = np.random.default_rng(5), []
    for box in (shape for shape in scene if shape.kind == "box"):
        inside = rng.uniform(-0.5, 0.5, size=(4000, 3))
        side = rng.integers(0, 3, 4000)
        inside[np.arange(4000), side] = np.sign(inside[np.arange(4000), side]) * 0.5
        points.append((inside * box.size) @ np.array(box.pose.rotation).T + box.pose.position)
    cloud = np.concatenate(points)
    cloud = cloud[rng.permutation(len(cloud))[:10_000]]
    q = model.robot.random(BATCH, seed=6)
    obstacles = Obstacles([Cloud(cloud, 0.005)])
    tree = coal.makeOctree(np.ascontiguousarray(cloud), 0.01)
    peer = Peer(model, Obstacles())
    other = peer.geometry.addGeometryObject(
        pin.GeometryObject("cloud", 0, 0, pin.SE3.Identity(), tree)
    )
    for k, each in enumerate(peer.geometry.geometryObjects[:-1]):
        if each.parentJoint:
            peer.geometry.addCollisionPair(pin.CollisionPair(k, other))
    peer.geometry_data = pin.GeometryData(peer.geometry)
    few = q[:100]
    ours, theirs = side_by_side(
        lambda: model.collides(q, obstacles), lambda: peer.collides(few), rounds=3
    )
    case = "Panda, 59 spheres, cloud of 10 000 points"
    return [
        Row("collides, batch", case, ours / BATCH, theirs / 100, "pin + coal octree of 1 cm", 30)
    ]


def _threads(model: CollisionModel, scene: Obstacles) -> list[Row]:
    q = model.robot.random(65_536, seed=7)

    def with_threads(n: int) -> Callable[[], object]:
        def work() -> object:
            lw.threads(n)
            return model.collides(q, scene)

        return work

    two, one = side_by_side(with_threads(2), with_threads(1), rounds=3)
    lw.threads(1)
    return [
        Row("two threads", "collides, batch 65 536", two / len(q), one / len(q), "one thread", 1.6)
    ]


def _roboplan(model: CollisionModel, scene: Obstacles) -> list[Row]:
    """Each side with its own model of the Panda: spheres here,
    its collision meshes as roboplan reads them there."""
    if find_spec("roboplan") is None:
        return []
    from roboplan.core import Box as TheirBox
    from roboplan.core import Cylinder as TheirCylinder
    from roboplan.core import Scene, hasCollisionsAlongPath, loadUrdfSceneDescription

    description = loadUrdfSceneDescription(URDFS["panda/panda"], [URDFS["panda/panda"].parents[4]])
    theirs = Scene("panda", description)
    theirs.importSrdf((SHARED / "panda.srdf").read_text())
    gray = np.array([0.5, 0.5, 0.5, 1.0])
    for shape in scene:
        solid, T = geometry(shape)
        place = np.asfortranarray(T)
        if shape.kind == "box":
            theirs.addBoxGeometry(str(shape.name), "universe", TheirBox(*shape.size), place, gray)
        else:
            length = 2.0 * (solid.halfLength + solid.radius)
            theirs.addCylinderGeometry(
                str(shape.name), "universe", TheirCylinder(solid.radius, length), place, gray
            )
    still = [*scene.names, "panda_link0"]  # what does not move is not asked about
    theirs.setCollisions([(a, b) for i, a in enumerate(still) for b in still[i + 1 :]], False)
    q = model.robot.random(BATCH, seed=8)
    names = theirs.getJointNames()
    place = [names.index(joint) for joint in model.robot.joints]

    def configuration(x: np.ndarray) -> np.ndarray:
        full = np.array(theirs.getCurrentJointPositions())
        full[place] = x
        return full

    few = [configuration(x) for x in q[:100]]
    same = np.mean([theirs.hasCollisions(x) for x in few] == model.collides(q[:100], scene))
    # other shapes: hulls of meshes that the spheres do not cover everywhere
    assert same > 0.8, same
    ours, other = side_by_side(
        lambda: model.collides(q, scene), lambda: [theirs.hasCollisions(x) for x in few], rounds=3
    )
    case = f"Panda, own best models, {len(scene)} obstacles"
    found = [Row("collides, batch", case, ours / BATCH, other / 100, "roboplan hasCollisions", 45)]
    q0 = model.free_samples(400, scene, seed=9)
    way = np.random.default_rng(10).normal(size=q0.shape)
    q1 = q0 + 0.8 * way / np.linalg.norm(way, axis=1)[:, None]
    ends = [(configuration(a), configuration(b)) for a, b in zip(q0[:40], q1[:40], strict=True)]
    ours, other = side_by_side(
        lambda: model.motion_is_free(q0, q1, scene),
        lambda: [hasCollisionsAlongPath(theirs, a, b, 1 / 32) for a, b in ends],
        rounds=3,
    )
    found.append(
        Row(
            "motion_is_free at 1/32 rad",
            case,
            ours / 400,
            other / 40,
            "roboplan hasCollisionsAlongPath",
            80,
        )
    )
    return found


def _fitting() -> list[Row]:
    """Spheres around the nine collision meshes of the Panda, the cover proved."""
    shapes = described_shapes(lw.load(URDFS["panda/panda"]).subject)
    meshes = [s for own in shapes.values() for s in own if s.kind == "mesh"]
    meshes = list({mesh.file: mesh for mesh in meshes}.values())
    found = []
    for tolerance, most in ((0.03, 60), (0.02, 140), (0.01, 420)):
        counts: list[int] = []
        time = seconds(
            lambda t=tolerance, c=counts: c.extend(len(fit_spheres(mesh, t)) for mesh in meshes)
        )
        case = f"Panda, {len(meshes)} meshes, {1e3 * tolerance:.0f} mm"
        few = dict(smaller_is_better=True)
        found.append(
            Row(
                "fit_spheres, spheres",
                case,
                float(sum(counts)),
                target=float(most),
                unit="spheres",
                **few,
            )
        )
        found.append(Row("fit_spheres, time", case, time, target=20.0, **few))
    return found


@contextlib.contextmanager
def empty_cache() -> Iterator[None]:
    """Compiled code is kept in a folder of its own, empty at first."""
    before = os.environ.get("LINKWORK_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINKWORK_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["LINKWORK_CACHE"]
            else:
                os.environ["LINKWORK_CACHE"] = before


def _humanoid() -> list[Row]:
    """Trace and compile of collides and motions of a humanoid with two hundred spheres."""
    robot = lw.load(URDFS["g1/g1_29dof_rev_1_0"])
    rng = np.random.default_rng(11)
    bodies = list(robot.bodies)
    shapes: dict[str, list] = {}
    for k in range(200):
        own = shapes.setdefault(bodies[k % len(bodies)], [])
        own.append(Sphere(rng.normal(scale=0.03, size=3), 0.03))
    names = list(shapes)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 3 :]]
    model = CollisionModel(robot, shapes, pairs=pairs)
    tables = model.tables
    with empty_cache():
        cold = seconds(lambda: (checker.kernel_of(tables).load(), motions.kernel_of(tables).load()))
    case = f"G1, 200 spheres, {len(tables.pairs)} pairs"
    return [Row("trace + compile", case, cold, target=4.0, smaller_is_better=True)]


def _compiling(model: CollisionModel, scene: Obstacles) -> list[Row]:
    """Trace and compile of collides and motions, then from the cache; and an obstacle that
    moves."""

    def load() -> None:
        known = model.subject
        # one that has kept no kernel yet
        subject = Subject(known.model, known.parametric, known.live)
        tables = RobotTables(subject, model.shapes, model.pairs.checked)
        checker.kernel_of(tables).load()
        motions.kernel_of(tables).load()

    with empty_cache():
        cold, warm = seconds(load), median_seconds(load, 3)
    q, name = model.robot.neutral(), scene.names[0]
    model.collides(q, scene)
    step = iter(range(10**9))

    def moved() -> None:
        model.collides(q, scene.moved(name, (0.5, 0.001 * (next(step) % 100), 0.5)))

    slow = dict(smaller_is_better=True)
    return [
        Row("trace + compile", "Panda, collides and motions", cold, target=2.0, **slow),
        Row("from the cache", "Panda, collides and motions", warm, target=0.06, **slow),
        Row(
            "an obstacle moves",
            "moved + collides",
            min(seconds(moved, 200) for _ in range(5)),
            target=3e-5,
            **slow,
        ),
    ]
