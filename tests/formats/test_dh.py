"""DH tables: their transforms by definition, dynamics against Pinocchio,
and to_dh after from_dh as the identity."""

from __future__ import annotations

import contextlib
import math
import random

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, InvalidModel, LinkworkError, NotPossible
from linkwork.formats.dh import KEYS

CONVENTIONS = ("standard", "modified")


def turn(axis: str, angle: float) -> np.ndarray:
    T, (i, j) = np.eye(4), {"x": (1, 2), "z": (0, 1)}[axis]
    c, s = math.cos(angle), math.sin(angle)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def move(axis: str, d: float) -> np.ndarray:
    T = np.eye(4)
    T["xyz".index(axis), 3] = d
    return T


def row_matrix(row: dict, q: float, convention: str) -> np.ndarray:
    """The definition, with matrices."""
    turns = row.get("joint", "revolute") == "revolute"
    theta = row["theta"] + (row.get("offset", 0.0) + q if turns else 0.0)
    d = row["d"] + (0.0 if turns else row.get("offset", 0.0) + q)
    along, across = turn("z", theta) @ move("z", d), move("x", row["a"]) @ turn("x", row["alpha"])
    return along @ across if convention == "standard" else across @ along


def random_row(rng: np.random.Generator, zeros: float = 0.3) -> dict:
    """Any numbers; some zero, as in real tables."""
    row = {key: float(rng.uniform(-1, 1)) * (rng.random() > zeros) for key in ("a", "d")}
    row |= {
        key: float(rng.uniform(-3.1, 3.1)) * (rng.random() > zeros) for key in ("alpha", "theta")
    }
    row["offset"] = float(rng.uniform(-3.1, 3.1)) * (rng.random() > 0.5)
    return row | {"joint": str(rng.choice(["revolute", "prismatic"]))}


def with_matter(row: dict, rng: np.random.Generator) -> dict:
    points, m = rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)
    com = m @ points / m.sum()
    inertia = sum(k * (r @ r * np.eye(3) - np.outer(r, r)) for k, r in zip(m, points - com))
    return {
        **row,
        "mass": float(m.sum()),
        "com": tuple(com.tolist()),
        "inertia": tuple(map(tuple, inertia.tolist())),
    }


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_frames_of_a_table_follow_the_definition(seed, convention):
    rng = np.random.default_rng(seed)
    rows = [random_row(rng) for _ in range(6)]
    robot = lw.Robot.from_dh(rows, convention)
    q = rng.uniform(-2, 2, 6)
    T = np.eye(4)
    poses = robot.forward_kinematics(q)
    for i, row in enumerate(rows):
        T = T @ row_matrix(row, q[i], convention)
        np.testing.assert_allclose(poses[f"link{i + 1}"], T, atol=1e-14)
    assert robot.bodies[-1] == "link6"
    assert robot.joints == tuple(f"joint{i + 1}" for i in range(6))


def pin_model(rows: list[dict], convention: str) -> pin.Model:
    """The table in Pinocchio: joints about z of their frame, link frames behind them."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    ids, afters = [], []
    for i, row in enumerate(rows):
        parent = row.get("parent", i - 1)
        turns = row["joint"] == "revolute"
        zero = turn("z", row["offset"]) if turns else move("z", row["offset"])
        along, across = (
            turn("z", row["theta"]) @ move("z", row["d"]),
            move("x", row["a"]) @ turn("x", row["alpha"]),
        )
        before, after = (
            (zero, along @ across) if convention == "standard" else (across @ zero, along)
        )
        base = np.eye(4) if parent in (None, -1) else afters[parent]
        joint = pin.JointModelRZ() if turns else pin.JointModelPZ()
        M = base @ before
        ids.append(
            model.addJoint(
                0 if parent in (None, -1) else ids[parent],
                joint,
                pin.SE3(M[:3, :3], M[:3, 3]),
                f"joint{i + 1}",
            )
        )
        afters.append(after)
        Y = pin.Inertia(row["mass"], np.array(row["com"]), np.array(row["inertia"]))
        model.appendBodyToJoint(ids[-1], Y, pin.SE3(after[:3, :3], after[:3, 3]))
    return model


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("branched", [False, True], ids=["chain", "tree"])
def test_dynamics_of_a_table_equal_pinocchio(branched, convention):
    rng = np.random.default_rng(3)
    rows = [with_matter(random_row(rng), rng) for _ in range(6)]
    if branched:
        rows[3]["parent"], rows[5]["parent"] = 0, None
    robot, model = lw.Robot.from_dh(rows, convention), pin_model(rows, convention)
    assert not robot.model.kinematic_only
    order = [model.joints[model.getJointId(name)].idx_v for name in robot.joints]
    q, v, a = rng.uniform(-2, 2, (3, 6))
    given = [np.empty(6) for _ in range(3)]
    for x, y in zip(given, (q, v, a)):
        x[order] = y
    expected = pin.rnea(model, model.createData(), *given)[order]
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_to_dh_undoes_from_dh_on_a_thousand_arms(convention):
    rng = np.random.default_rng(11)
    for _ in range(1000):
        rows = [random_row(rng) for _ in range(rng.integers(1, 7))]
        if rng.random() < 0.3:
            rows = [with_matter(row, rng) for row in rows]
        found = lw.Robot.from_dh(rows, convention).to_dh(convention)
        assert len(found) == len(rows)
        for row, back in zip(rows, found):
            assert back["joint"] == row["joint"]
            numbers = [
                np.concatenate([np.ravel(each[key]) for key in row if key != "joint"])
                for each in (back, row)
            ]
            assert np.abs(numbers[0] - numbers[1]).max() < 1e-12


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_branched_table_with_limits_comes_back(convention):
    rng = np.random.default_rng(5)
    rows = [random_row(rng) for _ in range(5)]
    rows[2]["parent"], rows[4]["parent"] = 0, None
    rows[1]["limits"], rows[3]["limits"] = (
        (-1.0, 2.0),
        {"lower": -1.0, "upper": 1.0, "velocity": 3.0, "effort": 5.0},
    )
    robot = lw.Robot.from_dh(rows, convention)
    found = dict(zip(robot.joints, robot.to_dh(convention)))
    for i, row in enumerate(rows):
        for key in ("a", "alpha", "d", "theta", "offset"):
            assert found[f"joint{i + 1}"][key] == pytest.approx(row[key], abs=1e-12)
    assert found["joint2"]["limits"] == (-1.0, 2.0)
    assert found["joint4"]["limits"] == rows[3]["limits"]


CHAINS = ("ur5e", "kuka-kr500", "redundant-7", "christoffel-5", "tx2-90", "arm-6", "planar-4r")


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", CHAINS)
def test_rows_made_with_common_normals_move_like_the_robot(name, convention):
    robot = lw.load(name)
    table = robot.to_dh(convention)
    again = lw.Robot.from_dh(table, convention, check="any")
    q, v, a = robot.random(3, seed=2)
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = table.tool.rotation, table.tool.position
    last = robot.model.joint(robot.joints[-1]).child
    tip = next(
        (j.child for j in robot.model.joints if j.parent == last and j.type == "fixed"), last
    )
    pose, expected = again.function("pose", again.bodies[-1])(q), robot.function("pose", tip)(q)
    np.testing.assert_allclose(np.array(pose) @ tool, np.array(expected), atol=1e-13)
    if not robot.model.kinematic_only:
        tau, expected = (
            np.array(each.function("inverse_dynamics")(q, v, a)) for each in (again, robot)
        )
        np.testing.assert_allclose(tau, expected, rtol=1e-10, atol=1e-11)


def test_what_rows_cannot_hold_is_refused_by_name():
    with pytest.raises(NotPossible, match='joint "th13a2" mimics "th13a", which no DH row can say'):
        lw.load("charmie-2022").to_dh()
    with pytest.raises(NotPossible, match='joint "th3_4" mimics "th3"'):
        lw.load("scara-arm").to_dh()
    with pytest.raises(
        NotPossible, match=r'joint "hip_x_\w+" of robot "quadruped" branches off the base'
    ):
        lw.load("quadruped").to_dh()
    with pytest.raises(NotPossible, match='"root_joint" of robot "ur5e" is floating'):
        lw.load("ur5e", root="floating").to_dh()
    with pytest.raises(InvalidInput, match="to_dh: convention is 'craig'"):
        lw.load("ur5e").to_dh("craig")


BAD = {
    "no rows": ([], "rows is empty"),
    "a string": ("abc", "rows is a str"),
    "a list as a row": ([[0, 0, 0, 0]], "row 0 is a list"),
    "a misspelt key": ([{"a": 1, "alfa": 0}], 'row 0 has the key "alfa"; did you mean "alpha"'),
    "a word": ([{"a": "long"}], "row 0: a has dtype"),
    "not a number": ([{"a": math.nan}], "row 0: a is nan"),
    "a ball joint": ([{"joint": "ball"}], "row 0: joint is 'ball'"),
    "a parent that comes later": ([{"parent": 1}, {}], "row 0: parent is 1"),
    "one limit": ([{"limits": (1,)}], "row 0: limits is"),
    "an unsymmetric inertia": (
        [{"mass": 1, "inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}],
        "inertia is not symmetric",
    ),
    "an impossible inertia": ([{"mass": 1, "inertia": np.diag([1, 1, 3])}], "violate A + B >= C"),
}


@pytest.mark.parametrize(("rows", "sentence"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named(rows, sentence):
    with pytest.raises((InvalidInput, InvalidModel)) as caught:
        lw.Robot.from_dh(rows)
    assert sentence in str(caught.value)


def test_an_unknown_convention_is_refused():
    with pytest.raises(InvalidInput, match="from_dh: convention is 'classic'"):
        lw.Robot.from_dh([{}], "classic")


ODD = (
    *(
        0,
        1,
        -1,
        1e308,
        1e200,
        1e-320,
        math.nan,
        math.inf,
        None,
        "x",
        "0.3",
        [],
        [1, 2, 3],
        np.eye(3),
        True,
        {},
    ),
    *(10**400, "prismatic", {"lower": 0}, [1, -1], b"x", object(), 1j, np.array([1.0, 2.0, 3.0])),
)


def test_rows_from_nowhere_raise_only_our_errors():
    """Three thousand tables with odd values in odd places: a robot without NaN,
    or an error of ours."""
    robots = 0
    for seed in range(3000):
        rng = random.Random(seed)
        rows = []
        for _ in range(rng.randint(1, 3)):
            row = {key: rng.uniform(-1, 1) for key in ("a", "alpha", "d", "theta")}
            row |= {
                rng.choice([*KEYS, "dd"]): rng.choice(ODD) for _ in range(rng.choice([0, 0, 1, 2]))
            }
            rows.append(row if rng.random() > 0.02 else rng.choice(ODD))
        convention = rng.choice(("standard", "modified"))
        try:
            robot = lw.Robot.from_dh(rows, convention, check=rng.choice(("any", "physical")))
        except LinkworkError:
            continue
        robots += 1
        assert all(
            math.isfinite(x) for joint in robot.model.joints for x in joint.placement.position
        )
        with contextlib.suppress(NotPossible):
            robot.to_dh(convention)
    assert 500 < robots < 2500
