"""Doors of the loops: whatever comes in, an answer or an error of ours goes out."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.studies.actuators import select
from linkwork.studies.balancing import balance
from linkwork.studies.sweep import sweep
from tests.doors import knocked
from tests.loops.machines import SCISSOR


@pytest.fixture(scope="module")
def robots() -> dict[str, lw.Robot]:
    return {
        "struts": lw.load("charmie", live=["upper_arm", "balance_spring"]),
        "closures": lw.load(SCISSOR, live=["half", "stiffness"]),
        "tree": lw.load("arm-2"),
    }


def odd(rng: random.Random, n: int):
    """Something of the right shape, of a wrong one, or nothing to do with arrays."""
    return rng.choice(
        [
            *(
                None,
                0,
                1.0,
                math.nan,
                "x",
                b"x",
                [],
                [[]],
                {},
                True,
                object(),
                1e308,
                [1, "a"],
                [None] * n,
            ),
            *(
                np.zeros(n),
                np.full(n, 0.4),
                np.full(n, np.nan),
                np.full(n, 1e308),
                np.zeros(n + 1),
                np.zeros((n, 1)),
            ),
            *(
                np.zeros((3, n)),
                np.full((3, n), 0.4),
                np.zeros((2, 3, n)),
                np.zeros((0, n)),
                np.zeros(n, dtype=complex),
            ),
            *(
                "validation",
                ["upper_arm"],
                ("act4",),
                {"upper_arm": 0.1},
                {"upper_arm": [0.1, 0.2]},
                {"half": 1.0},
            ),
            *(
                {"upper_arm": "x"},
                {"stiffness": np.zeros((2, 2))},
                {"actuator.act4": "peak"},
                {"c": np.ones((3, n))},
            ),
            *({"q": np.zeros((3, n)), "time": [0, 1, 2]}, lambda *a: 0),
        ]
    )


def calls(rng: random.Random, robot: lw.Robot, g) -> list:
    maybe = rng.random() < 0.4
    return [
        lambda: robot.from_actuators(g(), *([g()] if maybe else [])),
        lambda: robot.from_actuators(g(), variables=g()),
        lambda: robot.to_actuators(g(), *([g()] if maybe else [])),
        lambda: robot.loads(
            g(),
            g(),
            g(),
            **({rng.choice(["forces", "payload", "variables"]): g()} if maybe else {}),
        ),
        lambda: robot.members(g(), variables=g() if maybe else None),
        lambda: robot.assemble(g(), **({rng.choice(["hold", "variables"]): g()} if maybe else {})),
        lambda: robot.analyse(
            g(), **({rng.choice(["steps", "times", "variables"]): g()} if maybe else {})
        ),
        lambda: robot.consistent(g(), g()),
        lambda: robot.loop_dynamics(g(), g(), g()),
        lambda: robot.mobility(g()),
        lambda: robot.motions[g()],
        lambda: robot.gradient(g(), g(), "norm"),
        lambda: robot.with_variables(upper_arm=g()),
        lambda: sweep(robot, g(), g(), g(), 5),
        lambda: balance(
            robot, g(), **{rng.choice(["actuators", "variables", "bounds", "weights"]): g()}
        ),
        lambda: select(
            robot, g(), **({rng.choice(["lines", "steps", "margin"]): g()} if maybe else {})
        ),
        lambda: lw.save(g(), g()),
        lambda: robot.to_dh(g()),
    ]


def test_whatever_comes_in_an_answer_or_an_error_of_ours_goes_out(robots):
    def call(rng: random.Random) -> None:
        robot = robots[rng.choice(sorted(robots))]
        n = rng.choice([robot.nq, robot.nv, len(robot.actuators)])
        rng.choice(calls(rng, robot, lambda: odd(rng, n)))()

    answered, refused = knocked(1200, call)
    assert answered > 25 and refused > 700


def test_sentences_name_the_argument_and_what_came(robots):
    robot = robots["struts"]
    with pytest.raises(
        InvalidInput, match=r"variables is \['upper_arm'\], expected a mapping by name"
    ):
        robot.pose(robot.neutral(), "12a", variables=["upper_arm"])
    with pytest.raises(
        InvalidInput,
        match=r"balance: bounds\['upper_arm'\] is \[2.0, 1.0\], expected \(lowest, highest\)",
    ):
        balance(robot, np.zeros((1, 21)), variables=["upper_arm"], bounds={"upper_arm": (2, 1)})
    with pytest.raises(InvalidInput, match='sweep: motion has no "c"'):
        sweep(robot, {"q": np.zeros((2, 3))}, {"upper_arm": [0.1]}, {"actuator.act4": "peak"})
    with pytest.raises(InvalidInput, match="with_variables: upper_arm has dtype"):
        robot.with_variables(upper_arm="long")
    with pytest.raises(InvalidInput, match="loads: payload is int, expected a Payload or several"):
        robot.loads(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv), payload=3)
    with pytest.raises(
        InvalidInput, match=r"consistent: batch shapes do not broadcast: q \(2,\), v \(3,\)"
    ):
        robots["closures"].consistent(np.zeros((2, 3)), np.zeros((3, 3)))
    with pytest.raises(InvalidInput, match="save: robot is a str, expected a Robot"):
        lw.save("charmie", "x.urdf")
