"""How fast is a robot with closed loops: a batch, one instant, arms of the paper's Table 5,
ten thousand designs?"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, seconds, side_by_side
from benchmarks.peers import check
from benchmarks.plain_recursion import PlainRecursion
from linkwork.studies.sweep import sweep
from tests.pinocchio_models import twin_of, with_followers

INSTANTS = 1000
HISTORY = 7.856e-3
"""Seconds an instant in the paper (numpy, Ryzen 5 5600X, start-up included)."""


def rows() -> list[Row]:
    lw.threads(1)
    robot = lw.load("charmie")
    c, cd, cdd = robot.motions["validation"].commands(np.linspace(0.0, 5.0, INSTANTS))
    found = [*_batch(robot, c, cd, cdd), *_tree(robot, c, cd, cdd), *_arms(), *_designs()]
    return found


def _batch(robot: lw.Robot, c: np.ndarray, cd: np.ndarray, cdd: np.ndarray) -> list[Row]:
    """Indirect joints, poses of all bodies, Newton-Euler and shared loads of a whole motion."""
    plain = PlainRecursion(robot)

    def ours() -> tuple:
        q, v, a = robot.from_actuators(c, cd, cdd)
        return robot.forward_kinematics(q), robot.loads(q, v, a)

    poses, loads = ours()
    for k in (0, 400, 999):
        one = plain(c[k], cd[k], cdd[k])
        mine = np.array(
            [loads.actuator("act4")[k], loads.actuator("act5")[k], *loads.joint_wrench("3")[k]]
        )
        check(mine[None], np.array([one["act4"], one["act5"], *one["wrench"]])[None], 1e-9)
        check(poses["12a"][k, :3, 3][None], np.array(one["position"]["12a"])[None])
    peer = seconds(lambda: plain(c[7], cd[7], cdd[7]), 50)
    taken = np.median([seconds(ours) for _ in range(20)]) / INSTANTS
    question = "kinematics and dynamics with loops"
    return [
        Row(
            question,
            f"CHARMIE, batch {INSTANTS}",
            float(taken),
            peer,
            "plain numpy recursion",
            1000,
        ),
        Row(
            question,
            f"CHARMIE, batch {INSTANTS}",
            float(taken),
            HISTORY,
            "the paper's own, for history",
        ),
    ]


def _tree(robot: lw.Robot, c: np.ndarray, cd: np.ndarray, cdd: np.ndarray) -> list[Row]:
    """The open tree beside Pinocchio on the same tree (fingers independent on both sides)."""
    joints = tuple(replace(joint, mimic=None) for joint in robot.model.joints)
    twin = twin_of(replace(robot.model, joints=joints, elements=(), motions=()))
    q, v, a = robot.from_actuators(c, cd, cdd)
    full = [with_followers(robot, twin.robot, x) for x in (q, v, a)]
    columns = [np.zeros((twin.model.nv, len(q)), order="F") for _ in range(3)]
    for target, source in zip(columns, full, strict=True):
        target[twin.index] = source.T
    pool = pin.ModelPool(twin.model, 1)
    result = np.zeros((twin.model.nv, len(q)), order="F")
    pin.rneaInParallel(1, pool, *columns, result)
    check(twin.robot.inverse_dynamics(*full), result[twin.index].T.copy())
    ours, peer = side_by_side(
        lambda: twin.robot.inverse_dynamics(*full),
        lambda: pin.rneaInParallel(1, pool, *columns, result),
    )
    found = [
        Row(
            "tree of the same robot",
            f"batch {INSTANTS}",
            ours / len(q),
            peer / len(q),
            "rneaInParallel",
            28,
        )
    ]
    data, one = twin.model.createData(), [x[:, 7].copy() for x in columns]
    q1, v1, a1 = (x[7].copy() for x in (q, v, a))
    ours, peer = side_by_side(
        lambda: robot.loads(q1, v1, a1), lambda: pin.rnea(twin.model, data, *one)
    )
    found.append(
        Row(
            "one instant, all loads with loops",
            "public call",
            ours,
            peer,
            "pin.rnea, tree alone",
            0.2,
        )
    )
    return found


def _arms() -> list[Row]:
    """Arms of 2 and 6 joints, 1000 instants: poses and loads alone,
    and the whole analysis with its fixed cost."""
    kernels, analysis = {}, {}
    for n in (2, 6):
        arm = lw.load(f"arm-{n}")
        q = arm.random(INSTANTS, seed=0)
        v = np.random.default_rng(1).normal(size=(INSTANTS, arm.nv))
        motion = {"time": np.linspace(0.0, 5.0, INSTANTS), "q": q, "v": v, "a": v}
        kernels[n] = lambda arm=arm, q=q, v=v: (arm.forward_kinematics(q), arm.loads(q, v, v))
        analysis[n] = lambda arm=arm, motion=motion: arm.analyse(motion)

    def growth(work: dict[int, Callable[[], object]]) -> float:
        six, two = side_by_side(work[6], work[2])
        return six / two

    alone, whole = growth(kernels), growth(analysis)
    question = "arms of Table 5, cost(6) / cost(2)"
    return [
        Row(question, "poses and loads alone", alone, target=3.3, unit="x", smaller_is_better=True),
        Row(question, "analyse, 1000 instants", whole, unit="x", smaller_is_better=True),
    ]


def _designs() -> list[Row]:
    lw.threads(2)
    robot = lw.load("charmie", live=["upper_arm", "forearm", "balance_spring", "torso_spring"])
    rng = np.random.default_rng(0)
    n = 10_000
    designs = {"upper_arm": rng.uniform(0.1, 0.2, n), "forearm": rng.uniform(0.1, 0.2, n)}
    designs |= {
        "balance_spring": rng.uniform(0.0, 2000.0, n),
        "torso_spring": rng.uniform(0.0, 500.0, n),
    }
    wanted = {
        "actuator.act4": ("peak", "rms"),
        "actuator.act5": ("peak", "rms"),
        "actuator.th8a": "peak",
    }
    wanted |= {"force.3.z": ("max", "min"), "power.act5": "peak"}
    sweep(robot, "validation", {name: x[:8] for name, x in designs.items()}, wanted)
    start = time.perf_counter()
    found = sweep(robot, "validation", designs, wanted, steps=1000)
    taken = time.perf_counter() - start
    assert found.valid.all()
    k = 1234
    alone = robot.loads(
        *robot.motions["validation"].sample(np.linspace(0.0, 5.0, 1000)),
        variables={name: x[k] for name, x in designs.items()},
    )
    check(found["actuator.act5.peak"][k : k + 1], np.abs(alone.actuator("act5")).max(keepdims=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lw.threads(1)
    question = "10 000 designs x 1000 steps, two threads"
    return [
        Row(question, "time", taken, target=10.0, smaller_is_better=True),
        Row(
            question,
            "peak memory of the process",
            peak,
            target=1024.0,
            unit="MB",
            smaller_is_better=True,
        ),
    ]
