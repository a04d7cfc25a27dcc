"""Objects that knocking needs: one of each public class, and arguments that are right, by room."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi
import numpy as np

import linkwork as lw
from linkwork import avoidance, collision, control, planning, simulation, studies, synthesis

POSITIONS = np.array([0j, 1 + 1j, 2 + 1j, 3 + 2j, 3 + 1j])
ANGLES = np.array([0.0, 0.3, 0.5, 0.9, 1.2])
BALL = collision.Sphere((0.0, 0.0, 0.0), 0.1)
AXES = ("x", "y", "z")
LEVER = Path(__file__).parent / "cli" / "lever.robot.yaml"


@functools.cache
def arm() -> lw.Robot:
    return lw.load("ur5e")


@functools.cache
def lever() -> lw.Robot:
    """One hinge with a spring, a motor and a motion."""
    return lw.load(str(LEVER))


@functools.cache
def seven() -> lw.Robot:
    return lw.load("redundant-7")


@functools.cache
def planar() -> lw.Robot:
    """A planar arm of two joints: small enough to be simulated, tuned and identified at a knock."""
    return lw.load("rehabilitation-arm")


@functools.cache
def model() -> collision.CollisionModel:
    """An arm that hardly ever meets itself; its room is a ball beside it."""
    return collision.CollisionModel(
        arm(), {body: [collision.Sphere((0.0, 0.0, 0.0), 0.03)] for body in arm().bodies[2:5]}
    )


@functools.cache
def obstacles() -> collision.Obstacles:
    return collision.Obstacles([collision.Sphere((0.9, 0.9, 0.9), 0.05)])


@functools.cache
def task() -> synthesis.PlanarTask:
    return synthesis.PlanarTask(POSITIONS, ANGLES)


@functools.cache
def linkages() -> Any:
    return synthesis.four_bars(task()).linkages


@functools.cache
def box() -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of a tetrahedron."""
    corners = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
    return corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def pendulum() -> lw.System:
    bob = lambda q: (casadi.sin(q.swing), -casadi.cos(q.swing))
    return lw.System("swing", gravity=(0.0, -9.81)).with_body("bob", 1.0, bob)


@functools.cache
def examples(robot: lw.Robot) -> dict[type, Any]:
    """An object of each public class whose methods are knocked at;
    a class that is missing here is tested unmade."""
    makers = (
        _of_the_library,
        _of_a_lever,
        _of_trajectories,
        _of_collision,
        _of_planning,
        _of_avoidance,
        _laws,
        _filters,
        _drives,
        _of_simulation,
        _of_studies,
        _of_synthesis,
    )
    made = [thing for maker in makers for thing in maker()]
    return {type(each): each for each in [*made, robot.motions]}


def _of_the_library() -> list[Any]:
    q = arm().neutral()
    path = lw.trajectory.Path.line(np.zeros(6), np.full(6, 0.3))
    pose = arm().pose(arm().random(seed=1), arm().frames[-1])
    return [
        lw.Payload(arm().bodies[-1], 1.0),
        pendulum(),
        arm().loads(q, np.zeros(6), np.zeros(6)),
        arm().model,
        arm().model.bodies[1].mass_properties,
        arm().model.joints[0].placement,
        path,
        lw.trajectory.minimum_time(arm(), path, points=21),
        lw.trajectory.trapezoid([0.0], [1.0], 1.0, 1.0),
        lw.inverse.CollisionBarrier(model(), obstacles()),
        arm().inverse_kinematics_all(pose, arm().frames[-1]),
        lw.polynomials.Complex(1.0, 2.0),
        lw.polynomials.System(lambda x, p: [x[0] * x[0] - p[0]], 1, 1, "square root"),
        lw.polynomials.Starts([1.0], [[1.0]], 0, 1, 1),
        *(lw.lagrange.PlanarJoint(), lw.lagrange.SpatialJoint()),
        arm().singularity(q, arm().frames[-1]),
        arm().inverse_kinematics(pose, arm().frames[-1]),
        lw.model.build_tree(arm().model),
        lw.model.Shape("sphere", (0.1,)),
    ]


def _of_a_lever() -> list[Any]:
    """Motions, loads and members need a description that has them."""
    at = lever().neutral()
    assembly = lw.load("four-bar").assemble(lw.load("four-bar").home)
    return [
        lever().motions["lift"],
        lever().analyse("lift", steps=5),
        lever().members(at),
        lw.view.Playback(lever(), "lift"),
        *(assembly, lw.load("four-bar").mobility()),
        studies.sweep(
            lw.load(str(LEVER), live=["pull"]),
            "lift",
            {"pull": [90.0, 100.0]},
            {"actuator.hinge": "peak"},
            5,
        ),
    ]


def _of_trajectories() -> list[Any]:
    start = np.array([0.0, -1.2, 1.5, -1.0, -1.4, 0.2])
    frame = arm().frames[-1]
    poses = arm().pose(np.stack([start, start + 0.02]), frame)
    law = lw.trajectory.trapezoid([0.0], [1.0], 1.0, 1.0)
    return [
        lw.trajectory.line(arm(), frame, poses, 0.2, q0=start, step=0.02),
        lw.trajectory.jerk_limited([0.0], [1.0], 1.0, 2.0, 10.0),
        lw.trajectory.Follower(arm(), start, 10.0, velocity=1.0, acceleration=2.0),
        lw.trajectory.path_coefficients(
            arm(), lw.trajectory.Path.line(start, start + 0.1), [0.0, 0.5]
        ),
        law.then(lw.trajectory.trapezoid([1.0], [0.0], 1.0, 1.0), pause=0.1),
    ]


def _of_collision() -> list[Any]:
    corners, triangles = box()
    return [
        *(
            BALL,
            collision.Capsule((0, 0, 0), (0, 0, 1), 0.1),
            collision.Box((1, 1, 1)),
            collision.Cylinder(0.1, 1.0),
        ),
        *(
            collision.HalfSpace((0, 0, 1), 0.0),
            collision.Cloud(np.zeros((3, 3)), 0.1),
            collision.Obstacles([BALL]),
        ),
        *(collision.TaperedCapsule((0, 0, 0), (0, 0, 1), 0.1, 0.05), collision.Convex(corners)),
        *(collision.Mesh(corners, triangles), collision.HeightField(np.zeros((3, 3)))),
        *(model(), collision.pairs(model(), samples=200)),
    ]


def _of_planning() -> list[Any]:
    place = arm().pose(arm().neutral(), arm().bodies[-1])[:3, 3]
    plan = planning.plan(model(), np.zeros(6), np.full(6, 0.3), obstacles())
    goal = planning.PoseGoal(arm().bodies[-1], place, starts=4)
    frame_task = lw.tasks.FrameTask(arm().bodies[-1], arm().pose(arm().neutral(), arm().bodies[-1]))
    return [
        plan,
        planning.plan_many(model(), np.zeros((2, 6)), np.full((2, 6), 0.3), obstacles()),
        goal,
        planning.Constraint(frame_task),
        planning.Replanner(model(), np.full(6, 0.3), obstacles()),
        planning.Roadmap.build(model(), obstacles(), nodes=20),
        planning.KinematicGraph.build(
            planar(), planar().bodies[-1], 0.5, 0.3, ranges=[(-1.0, 1.0)]
        ),
        planning.Moving([BALL], (0.1, 0.0, 0.0)),
        planning.plan_in_time(
            model(), np.zeros(6), np.full(6, 0.1), obstacles(), nodes=20, time_limit=1.0
        ),
    ]


def _of_avoidance() -> list[Any]:
    elbow, slow = (
        avoidance.Elbow(seven(), "tool", (0.0, 1.0, 0.0)),
        avoidance.CriticallyDampedFilter(1.0, 1e-3),
    )
    posture = lw.tasks.PostureTask(np.zeros(6))
    solids = avoidance.SolidVolume(seven(), [avoidance.Solid("Pe", 0.1)])
    around = avoidance.ElbowAvoidance(elbow, avoidance.SafetyVolume(0.05, 0.1), slow)
    step = around.step(seven().pose(np.full(7, 0.4), "tool"), np.full((1, 3), 2.0))
    return [
        *(slow, elbow, solids, around, avoidance.Steps.of([step])),
        avoidance.NullSpaceAvoidance(model(), [posture], obstacles(), q0=np.zeros(6)),
    ]


def _laws() -> list[Any]:
    tool, target, six, three = arm().bodies[-1], arm().neutral(), np.ones(6), np.ones(3)
    place = arm().pose(target, tool)
    reaching = control.ConstantRate(1.0)
    return [
        *(
            reaching,
            control.PowerRate(1.0, 0.5),
            control.SuperTwisting(1.0, 1.0),
            control.Twisting(2.0, 1.0),
        ),
        *(
            control.AdaptiveRate(1.0, 0.1),
            control.BoundaryLayer(reaching, 0.1),
            control.Decaying(reaching),
        ),
        *(
            control.ExponentialReaching(1.0, 0.5, 1.0, 1.0),
            control.PowerExponential(1.0, 0.5, 1.0, 1.0, 0.5),
        ),
        *(
            control.Surface(1.0),
            control.TerminalSurface(1.0, 0.6),
            control.NonsingularTerminalSurface(1.0, 1.5),
        ),
        *(
            control.SlidingMode(control.Surface(1.0), reaching, target),
            control.PDPlus(six, six, target),
        ),
        *(
            control.FeedForward(target),
            control.Passivity(six, six, target),
            control.Adaptive(six, six, 0.1, target),
        ),
        *(control.JointImpedance(six, six, target), control.LQR(arm(), target)),
        control.CartesianImpedance(tool, three, three, target=place, axes=AXES),
        control.FractionalImpedance(tool, three, three, three, place, axes=AXES),
        control.TaskSpring(tool, three, place, axes=AXES),
        control.DisturbanceObserver(control.PDPlus(six, six, target), 1.0),
        control.Admittance(
            tool, three, three, three, np.zeros(3), place, target, 100.0, 10.0, axes=AXES
        ),
        control.OperationalSpace(control.Level([lw.tasks.FrameTask(tool, place)])),
        *_observers(simulation.PD(1.0, 1.0, target)),
    ]


def _observers(law: Any) -> list[Any]:
    """Laws that keep samples of the past, and a law sample by sample."""
    return [
        control.ContactReaction(law, simulation.GravityCompensation(), 10.0, 5.0),
        control.ExtendedState(law, 10.0, 1.0),
        control.LevantVelocity(law, 10.0),
        control.Stepper(simulation.Sampled(law, 1e-3), arm()),
    ]


def _filters() -> list[Any]:
    period = 1e-3
    plant = control.linearise(arm(), arm().neutral())
    loop = control.closed_loop(arm(), simulation.PD(1.0, 1.0, arm().neutral()), arm().neutral())
    return [
        *(control.FractionalFilter(0.5, period), control.ExponentialFilter(0.5, period)),
        *(
            control.OustaloupFilter(0.5, period, 1.0, 100.0),
            control.LevantDifferentiator(1.0, period),
        ),
        *(
            control.ExtendedStateObserver(10.0, period),
            control.MomentumObserver(arm(), 10.0, period),
        ),
        *(control.GripForce([0.0, 1.0], [0.0, 2.0]), plant, loop),
    ]


def _drives() -> list[Any]:
    motor = control.DCMotor(0.1, 1.0, 1e-3, 1e-4)
    gripper = control.RotaryGripper.from_robot()
    cascade = control.Cascade(position=control.PositionLoop())
    rest = np.zeros(planar().nq)
    figures, short = simulation.Metrics(rest), {"duration": 0.01, "step": 1e-3, "samples": 4}
    return [
        *(
            motor,
            control.planetary(20, 40).ground("ring"),
            control.PMSM(0.1, 4, 1.0, 1e-3, 1e-3, 1e-4),
            control.Inverter(48.0),
        ),
        *(control.JointDrives(motor), control.Thermal(1.0, 100.0), control.GripperDrives()),
        *(gripper, control.GripSequence(gripper, 0.2)),
        control.JointCascade(cascade, motor, np.zeros(6)),
        control.tune(
            planar(),
            lambda kp: simulation.PD(kp, 1.0, rest),
            {"kp": (0.5, 2.0)},
            rest,
            figures,
            **short,
        ),
        control.spin(control.PMSM(0.1, 4, 1.0, 1e-3, 1e-3, 1e-4), duration=1e-3),
    ]


def _of_simulation() -> list[Any]:
    q = arm().neutral()
    hold = simulation.PD(1.0, 1.0, q)
    return [
        *(hold, simulation.ComputedTorque(1.0, 1.0, q), simulation.GravityCompensation()),
        *(
            simulation.PID(1.0, 1.0, 1.0, q),
            simulation.DeadTime(hold),
            simulation.RateLimited(hold, 1.0),
        ),
        *(
            simulation.Sampled(hold, 1e-3),
            simulation.Saturated(hold, 1.0),
            simulation.EndStop("x", 0.0, 1.0, 1.0),
        ),
        *(simulation.Viscous(1.0), simulation.Coulomb(1.0), simulation.Metrics(q)),
        *(simulation.Stribeck(1.0, 1.5, 0.1), simulation.LuGre(1.0, 1.5, 0.1, 1e3)),
        simulation.Environment(planar(), 2, lambda s: -(s.q[0] ** 2), substeps=1),
        lw.simulate(arm(), duration=0.01, step=1e-3),
    ]


def _of_studies() -> list[Any]:
    generator = np.random.default_rng(0)
    q, v, a = (generator.uniform(-1.0, 1.0, (60, planar().nv)) for _ in range(3))
    tau = planar().inverse_dynamics(q, v, a)
    motion = {"time": [0.0, 0.5, 1.0], "q": np.zeros((3, planar().nq))}
    return [
        studies.base_parameters(planar()),
        studies.identify(planar(), q, v, a, tau, physical=False),
        studies.excitation(planar(), 2.0, 2, 20.0, velocity=1.0, acceleration=5.0),
        studies.catalogue()[0],
        next(iter(studies.select(planar(), motion, steps=11).values())),
    ]


def _of_synthesis() -> list[Any]:
    four = linkages()
    fewer = synthesis.PlanarTask(POSITIONS[:4], ANGLES[:4])
    return [
        *(task(), four, four[0], synthesis.plates(four[0], 0.2, 0.05), synthesis.poles(task())),
        *(
            synthesis.compatibility(fewer),
            synthesis.burmester(fewer, 20),
            synthesis.solution_map(fewer, 8),
        ),
        *(
            synthesis.dyads(task()),
            synthesis.four_bars(task()),
            synthesis.sensitivity(four[0], task()),
        ),
        synthesis.FunctionTask([0.0, 0.3, 0.6], [0.0, 0.2, 0.5]),
        synthesis.fit(task(), starts=8),
    ]


def usual(robot: lw.Robot) -> dict[str, Any]:
    """Arguments that are right where a parameter has this name."""
    q, v = robot.random(seed=0), np.full(robot.nv, 0.1)
    path = lw.trajectory.Path.line(np.zeros(robot.nq), np.full(robot.nq, 0.3))
    names = {
        "robot": robot,
        "mechanism": robot,
        "q": q,
        "q0": q,
        "q1": q,
        "v": v,
        "dv": v,
        "a": v,
        "tau": v,
        "frame": robot.frames[-1],
        "body": robot.bodies[-1],
        "path": path,
        "duration": 0.01,
        "step": 1e-3,
        "start": np.zeros(robot.nq),
        "end": np.full(robot.nq, 0.3),
        "target": robot.pose(q, robot.frames[-1]),
        "motion": {"time": [0.0, 0.5, 1.0], "q": np.zeros((3, robot.nq))},
        "points": 11,
        "name": "tool_x",
    }
    return {**names, "motions": names["motion"]}


def by_room(robot: lw.Robot) -> Callable[[str], dict[str, Any]]:
    """Right arguments for a door of that name: those of its room go before those of the robot."""
    everywhere = usual(robot)
    rooms = {
        "planning": {**usual(arm()), **_planned()},
        "collision": {**usual(arm()), **_planned()},
        "avoidance": {**usual(arm()), **_planned()},
        "control": {**usual(planar()), **_controlled()},
        "simulation": {**usual(planar()), **_controlled()},
        "studies": {**usual(planar()), **_studied()},
        "synthesis": _linked(),
        "trajectory": usual(arm()),
    }
    return lambda name: rooms.get(name.split(".")[1], everywhere)


def _planned() -> dict[str, Any]:
    """A second of planning is too long for a knock, so searches are asked for little."""
    first, last = np.zeros(6), np.full(6, 0.3)
    tool = arm().bodies[-1]
    frame_task = lw.tasks.FrameTask(tool, arm().pose(first, tool))
    return {
        "model": model(),
        "obstacles": obstacles(),
        "start": first,
        "goal": last,
        "starts": np.stack([first, last]),
        "goals": np.stack([last, first]),
        "path": np.stack([first, last]),
        "paths": np.stack([first, last]),
        "q_start": first,
        "q_end": last,
        "poses": arm().pose(np.stack([first, 0.1 * last]), tool),
        "constraints": [planning.Constraint(frame_task)],
        "time_limit": 0.2,
        "mesh": collision.Convex(box()[0]),
        "shapes": {arm().bodies[2]: [BALL]},
        "samples": 100,
        "step": 1 / 32,
        "seed": 0,
    }


def _controlled() -> dict[str, Any]:
    rest = np.zeros(planar().nq)
    return {
        "robot": planar(),
        "mechanism": planar(),
        "q": rest,
        "v": rest,
        "target": rest,
        "control": simulation.PD(1.0, 1.0, rest),
        "controller": lambda kp=1.0, kd=1.0: simulation.PD(kp, kd, rest),
        "gains": {"kp": (0.5, 2.0), "kd": (0.5, 2.0)},
        "metrics": simulation.Metrics(rest),
        "samples": 4,
        "law": control.ConstantRate(1.0),
        "other": control.PowerRate(1.0, 0.5),
        "laws": {"pd": simulation.PD(1.0, 1.0, rest)},
        "motor": control.PMSM(0.1, 4, 1.0, 1e-3, 1e-3, 1e-4),
        "period": 1e-3,
        "values": [0.5, 1.0],
        "run": lw.simulate(planar(), duration=0.01, step=1e-3),
        "inputs": {"sun": 1.0},
        "inertias": {"arm": 1.0},
        "outputs": {"arm": 1.0},
    }


def _studied() -> dict[str, Any]:
    generator = np.random.default_rng(0)
    q, v, a = (generator.uniform(-1.0, 1.0, (60, planar().nv)) for _ in range(3))
    lines = studies.catalogue()
    return {
        "q": q,
        "v": v,
        "a": a,
        "tau": planar().inverse_dynamics(q, v, a),
        "model": model(),
        "subject": planar(),
        "lines": lines[:3],
        "line": lines[0],
        "motion": {"time": [0.0, 0.5, 1.0], "q": np.zeros((3, planar().nq))},
        "steps": 11,
        "samples": 100,
        "duration": 2.0,
        "harmonics": 2,
        "rate": 20.0,
    }


def _linked() -> dict[str, Any]:
    first = linkages()[0]
    turns = np.stack([np.eye(3)] * 3)
    return {
        "task": task(),
        "linkage": first,
        "linkages": linkages(),
        "samples": 20,
        "starts": 8,
        "most": 3,
        "rotations": turns,
        "width": 0.2,
        "hole": 0.05,
        "tolerance": 1e-3,
        "time_limit": 0.3,
        "chain": first,
        "inputs": [0.0, 0.3, 0.6],
        "outputs": [0.0, 0.2, 0.5],
        "alpha": ANGLES[1:],
        "sensitivity": synthesis.sensitivity(first, task()),
        "criteria": {"size": 1.0, "ratio": 2.0},
        "bodies": 6,
    }
