"""How short and how smooth are paths, and how fast do they come, beside OMPL's AORRTC,
Drake's optimiser and roboplan?

Problems of MotionBenchMaker for the Panda (../shared/planning). OMPL asks our checker through its
Python callback, for five seconds. Drake optimises the same seed with SNOPT against spheres of the
same robot (33 distance samples, 50 major iterations). roboplan keeps the hand upright by a
PoseConstraint; both start and end in the same configurations.
"""

from __future__ import annotations

import logging
import re
import statistics
import time
from typing import Any

import numpy as np

import linkwork as lw
from benchmarks.measure import Row
from benchmarks.planning import Peer, problems
from linkwork.collision import CollisionModel, Obstacles
from linkwork.planning import Constraint, optimise, plan, project
from linkwork.planning.optimising import squared_acceleration
from linkwork.planning.questions import length_of
from tests.collision.test_checker import SHARED, spherized

ANYTIME = 20  # problems
SMOOTHED = 35
UPRIGHT = 100


def rows() -> list[Row]:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    if not SHARED.is_dir():
        return []
    before = lw.threads()
    lw.threads(1)
    try:
        return [*_anytime(), *_optimised(), *_upright()]
    finally:
        lw.threads(before)


def _some(
    model: CollisionModel, count: int
) -> list[tuple[dict[str, Any], np.ndarray, np.ndarray, Obstacles]]:
    """Valid problems, evenly from all scenes."""
    every = 700 // count
    found = [
        p
        for p in problems("panda", every)
        if not model.collides(np.array([p[1], p[2]]), p[3]).any()
    ]
    return found[:count]


def _anytime(seconds: float = 5.0) -> list[Row]:
    model = spherized("panda")
    asked = _some(model, ANYTIME)
    ours = [
        plan(model, start, goal, obstacles, method="aorrtc", time_limit=0.05).length
        for _, start, goal, obstacles in asked
    ]
    case = f"Panda, {len(asked)} problems"
    try:
        theirs = [
            _aorrtc(model, start, goal, obstacles, seconds) for _, start, goal, obstacles in asked
        ]
    except ImportError:
        return []
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if b is not None]
    share = statistics.mean(a for a, _ in both) / statistics.mean(b for _, b in both)
    name = f"aorrtc after 50 ms: mean length over that of OMPL's AORRTC after {seconds:g} s"
    case = f"{case}, {len(both)} solved by OMPL"
    return [Row(name, case, share, unit="", target=1.03, smaller_is_better=True)]


def _aorrtc(
    model: CollisionModel, start: np.ndarray, goal: np.ndarray, obstacles: Obstacles, seconds: float
) -> float | None:
    from ompl import base, geometric, util

    util.setLogLevel(util.LogLevel.LOG_NONE)
    size = len(start)
    space = base.RealVectorStateSpace(size)
    bounds, limits = base.RealVectorBounds(size), model.robot.limits
    for k in range(size):
        bounds.setLow(k, float(limits.lower[k]))
        bounds.setHigh(k, float(limits.upper[k]))
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    q = np.empty(size)

    def valid(state: Any) -> bool:
        for k in range(size):
            q[k] = state[k]
        return not model.collides(q, obstacles)

    setup.setStateValidityChecker(valid)
    setup.getSpaceInformation().setStateValidityCheckingResolution(
        1.0 / 32.0 / space.getMaximumExtent()
    )
    ends = space.allocState(), space.allocState()
    for state, values in zip(ends, (start, goal), strict=True):
        for k in range(size):
            state[k] = float(values[k])
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(geometric.AORRTC(setup.getSpaceInformation()))
    setup.solve(seconds)
    if not setup.haveExactSolutionPath():
        return None
    rows = np.array([[s[k] for k in range(size)] for s in setup.getSolutionPath().getStates()])
    # where the straight motion is free its path may have no length and join nothing: no answer
    joins = np.allclose(rows[0], start, atol=1e-9) and np.allclose(rows[-1], goal, atol=1e-9)
    return length_of(rows) if joins else None


def evenly(path: np.ndarray, points: int) -> np.ndarray:
    """Points of a path, even in its length."""
    along = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
    t = np.linspace(0.0, along[-1], points)
    return np.stack([np.interp(t, along, column) for column in path.T], axis=1)


def _optimised() -> list[Row]:
    model = spherized("panda")
    asked = _some(model, SMOOTHED)
    lengths, calmer, taken = [], [], []
    for _, start, goal, obstacles in asked:
        seed = plan(model, start, goal, obstacles, time_limit=None)
        if len(seed.path) < 3:
            continue
        clock = time.perf_counter()
        answer = optimise(model, seed)
        taken.append(time.perf_counter() - clock)
        lengths.append(answer.length)
        # as motions of one second: the seed at constant speed, the answer with its points even in
        # time; and both by their shape alone, at constant speed
        points = len(answer.path)
        before, shape = squared_acceleration(evenly(seed.path, points)), evenly(answer.path, points)
        calmer.append(
            [before / max(squared_acceleration(path), 1e-300) for path in (answer.path, shape)]
        )
    case = f"Panda, {len(taken)} problems"
    in_time, by_shape = 100.0 * np.mean(np.array(calmer) < 10.0, axis=0)
    calm = {"unit": "% without", "target": 5.0, "smaller_is_better": True}
    paths = [
        Row(
            "optimise, mean length",
            case,
            statistics.mean(lengths),
            unit="rad",
            target=5.0,
            smaller_is_better=True,
        ),
        Row("optimise, ten times less squared acceleration", case, float(in_time), **calm),
        Row("optimise, ten times less at constant speed", case, float(by_shape), **calm),
    ]
    peer = _drake(asked[:6])
    ours = statistics.median(taken)
    return [
        *paths,
        Row("optimise, one path", case, ours, peer, "Drake, SNOPT", 10 if peer else None),
    ]


def _drake(asked: list[Any]) -> float | None:
    """Median seconds of KinematicTrajectoryOptimization from the same seeds."""
    try:
        from pydrake.all import (
            AddMultibodyPlantSceneGraph,
            Box,
            Capsule,
            CoulombFriction,
            DiagramBuilder,
            KinematicTrajectoryOptimization,
            MinimumDistanceLowerBoundConstraint,
            Parser,
            RigidTransform,
            SnoptSolver,
            SolverOptions,
            Sphere,
        )
    except ImportError:
        return None
    model, taken = spherized("panda"), []
    text = re.sub(
        r"<visual.*?</visual>", "", (SHARED / "panda_spherized.urdf").read_text(), flags=re.S
    )
    for problem, start, goal, obstacles in asked:
        seed = plan(model, start, goal, obstacles, time_limit=None)
        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
        (robot,) = Parser(plant).AddModelsFromString(text, "urdf")
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(model.robot.bodies[0], robot))
        for k, each in enumerate(problem["objects"]):
            T = np.eye(4)
            T[:3] = each["pose"]
            u, _, v = np.linalg.svd(T[:3, :3])
            T[:3, :3] = u @ v
            size = each["size"]
            shapes = {
                "box": lambda size=size: Box(*size),
                "sphere": lambda size=size: Sphere(size[0]),
                "cylinder": lambda size=size: Capsule(size[1], size[0]),
            }
            rub = CoulombFriction(1.0, 1.0)
            plant.RegisterCollisionGeometry(
                plant.world_body(), RigidTransform(T), shapes[each["kind"]](), f"o{k}", rub
            )
        plant.Finalize()
        diagram = builder.Build()
        root = diagram.CreateDefaultContext()
        context = plant.GetMyMutableContextFromRoot(root)
        nq = plant.num_positions()
        rest = np.zeros(nq - len(start))
        program = KinematicTrajectoryOptimization(nq, 10)
        prog = program.get_mutable_prog()
        program.AddDurationConstraint(1.0, 1.0)
        program.AddPathLengthCost(1.0)
        program.AddPositionBounds(plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits())
        program.AddPathPositionConstraint(np.r_[start, rest], np.r_[start, rest], 0.0)
        program.AddPathPositionConstraint(np.r_[goal, rest], np.r_[goal, rest], 1.0)
        along = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(seed.path, axis=0), axis=1))]
        t = np.linspace(0.0, along[-1], 10)
        guess = np.stack([np.interp(t, along, column) for column in seed.path.T])
        prog.SetInitialGuess(
            program.control_points(), np.vstack([guess, np.zeros((nq - len(start), 10))])
        )
        apart = MinimumDistanceLowerBoundConstraint(plant, 0.005, context, None, 0.02)
        for s in np.linspace(0.0, 1.0, 33):
            program.AddPathPositionConstraint(apart, s)
        solver = SnoptSolver()
        options = SolverOptions()
        options.SetOption(solver.solver_id(), "Major iterations limit", 50)
        clock = time.perf_counter()
        solver.Solve(prog, prog.initial_guess(), options)
        taken.append(time.perf_counter() - clock)
    return statistics.median(taken)


def _upright() -> list[Row]:
    """The hand downward, free to turn about the vertical; problems whose ends both find valid,
    first paths."""
    try:
        from roboplan.core import JointConfiguration
        from roboplan.rrt import PoseConstraint
    except ImportError:
        return []
    model = spherized("panda")
    hand = "panda_hand"
    pairs, ours_solved, theirs_solved = [], 0, 0
    generator = np.random.default_rng(0)
    names = [f"panda_joint{k}" for k in range(1, 8)]
    scenes = [(p[0], p[3]) for p in problems("panda", 10)]
    k = 0
    while len(pairs) < UPRIGHT and k < 40 * UPRIGHT:
        k += 1
        problem, obstacles = scenes[k % len(scenes)]
        draft = model.free_samples(2, obstacles, seed=int(generator.integers(1 << 30)))
        T = model.robot.pose(draft[0], hand)
        task = lw.tasks.FrameTask(
            hand, _upright_pose(T), position_cost=0.0, rotation_cost=(1.0, 1.0, 0.0)
        )
        kept = Constraint(task, tolerance=0.005)
        try:
            ends = project(model, draft, [kept])
        except lw.errors.NotPossible:
            continue
        if model.collides(ends, obstacles).any():
            continue
        peer = Peer(problem["objects"])
        wide = np.array([np.inf, np.inf, np.inf, 0.005, 0.005, np.inf])
        level = PoseConstraint(
            peer.scene, "panda_arm", hand, -wide, wide, np.asfortranarray(_upright_pose(T))
        )
        if any(
            peer.scene.hasCollisions(np.r_[q, 0.04]) or not level.satisfies(np.r_[q, 0.04])
            for q in ends
        ):
            continue
        mine = min(_taken(model, ends, obstacles, kept) for _ in range(2))
        answer = plan(model, *ends, obstacles, constraints=[kept], time_limit=5.0)
        configurations = [JointConfiguration(names, q) for q in ends]
        peer.planner.setRngSeed(0)
        clock = time.perf_counter()
        try:
            path = peer.planner.plan(*configurations, [level])
            solved = path is not None and len(path.positions) > 1
        except RuntimeError:
            solved = False
        theirs = time.perf_counter() - clock
        ours_solved += answer.success
        theirs_solved += solved
        pairs.append((mine, theirs, answer.success and solved))
    both = np.array([p[:2] for p in pairs if p[2]])
    case = f"Panda, {len(pairs)} problems, solved {ours_solved} and {theirs_solved}"
    return [
        Row(
            "tool upright, sum",
            case,
            both[:, 0].sum(),
            both[:, 1].sum(),
            "roboplan, PoseConstraint",
            5,
        )
    ]


def _taken(
    model: CollisionModel, ends: np.ndarray, obstacles: Obstacles, kept: Constraint
) -> float:
    clock = time.perf_counter()
    plan(model, *ends, obstacles, constraints=[kept], time_limit=5.0, shorten=False, certify=False)
    return time.perf_counter() - clock


def _upright_pose(T: np.ndarray) -> np.ndarray:
    """The hand downward where it is."""
    level = np.diag([1.0, -1.0, -1.0, 1.0])
    level[:3, 3] = T[:3, 3]
    return level
