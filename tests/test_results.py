"""Results of every room have the same doors out, one line of text,
and something for notebooks to show."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import linkwork as lw
from linkwork import rooms
from linkwork.collision.certify import Certificate
from linkwork.collision.clearance import Clearance
from linkwork.collision.pair_clearances import PairClearances
from linkwork.control.sliding import Margin
from linkwork.errors import InvalidInput, UnknownName
from linkwork.formats.tabular import Tabular
from linkwork.inverse.singularity import PathSingularity
from linkwork.loops.circuits import Circuits
from linkwork.planning.cartesian import CartesianPath
from linkwork.planning.graph_plan import GraphPlan
from linkwork.planning.plan_result import Plan
from linkwork.planning.roadmap import Roadmap
from linkwork.synthesis.sensitivities import Sensitivity
from linkwork.synthesis.spatial import FiveLegs, SphericalFourBar
from tests.test_layers import MAY_IMPORT


@functools.cache
def results() -> dict[str, Tabular]:
    arm, machine = lw.load("ur5e"), lw.load("four-bar")
    analysis = machine.analyse("turn", steps=11)
    at = machine.home
    zero = np.zeros(machine.nv)
    path = lw.trajectory.Path.line(arm.home, arm.home + 0.2)
    swept = lw.load("four-bar", live=["crank"])
    poses = [arm.pose(arm.home, "tool0"), lw.pose((0.0, 0.0, 0.05)) @ arm.pose(arm.home, "tool0")]
    return {
        "analysis": analysis,
        "simulation": lw.simulate(arm, arm.home, duration=0.05, step=0.01),
        "sweep": lw.studies.sweep(
            swept, "turn", {"crank": [0.3, 0.31]}, {"actuator.crank": "peak"}, steps=11
        ),
        "law": lw.trajectory.minimum_time(arm, path),
        "line": lw.trajectory.line(arm, "tool0", poses, 0.2, 1.0, q0=arm.home),
        "solutions": arm.inverse_kinematics_all(poses[0], "tool0"),
        "inverse": arm.inverse_kinematics(poses[0], "tool0", q0=arm.home),
        "loads": machine.loads(at, zero, zero),
        "mobility": machine.mobility(),
        "selection": lw.studies.select(machine, "turn")["crank"],
    }


@pytest.mark.parametrize(
    "name", ["analysis", "simulation", "sweep", "law", "line", "inverse", "loads"]
)
def test_numbers_leave_by_every_door_alike(name, tmp_path):
    result = results()[name]
    frame, array = result.to_pandas(), result.to_numpy()
    assert array.shape == frame.shape
    np.testing.assert_array_equal(array, frame.to_numpy(dtype=float))
    lines = result.to_csv(tmp_path / "x.csv").read_text().splitlines()
    assert lines[0].split(",") == list(frame.columns)
    assert len(lines) == len(frame) + 1
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(result.to_parquet(tmp_path / "x.parquet"))
    assert table.column_names == list(frame.columns)


@pytest.mark.parametrize("name", ["solutions", "mobility", "selection"])
def test_tables_with_words_leave_by_every_door_too(name, tmp_path):
    result = results()[name]
    frame, array = result.to_pandas(), result.to_numpy()
    assert array.dtype == object
    assert array.tolist() == frame.to_numpy().tolist()
    assert len(frame) == len(result.to_csv(tmp_path / "x.csv").read_text().splitlines()) - 1
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(result.to_parquet(tmp_path / "x.parquet"))
    assert table.column_names == list(frame.columns)
    assert table.num_rows == len(frame)


def more_results() -> Iterator[Tabular]:
    """One result, or one and a batch, of classes whose fields are their columns or that have a
    table of their own.

    What takes long to compile is made by hand.
    """
    arm, machine = lw.load("ur5e"), lw.load("four-bar")
    few = arm.random(3, seed=0)
    model = lw.collision.CollisionModel(
        arm, {arm.bodies[2]: [lw.collision.Sphere((0.0, 0.0, 0.0), 0.03)]}
    )
    three, no = np.ones((3, 3)), np.zeros(3, dtype=bool)
    yield from (lw.collision.pairs(model, samples=20), model.report)
    yield Clearance(
        np.ones(3),
        np.array([0, 1, -1]),
        np.array([1, 0, -1]),
        three,
        three,
        three,
        few,
        ("a", "b"),
        ("a", "b"),
    )
    yield Clearance(0.1, "a", "b", *(np.ones(3) for _ in range(3)), few[0], ("a", "b"), ("a", "b"))
    yield PairClearances(
        np.ones((2, 1)),
        np.array(["a"]),
        np.array(["b"]),
        *(np.ones((2, 1, 3)) for _ in range(3)),
        few[:2, None],
    )
    yield Certificate(~no, no, no, np.ones(3), np.full(3, np.nan), np.ones(3, dtype=int))
    yield from (arm.forward_kinematics(arm.home), arm.forward_kinematics(few), arm.limits)
    yield from (
        arm.with_base(floating=True).limits,
        arm.singularity(few, "tool0"),
        lw.classify(arm, "tool0"),
    )
    yield from (lw.load("charmie").points(lw.load("charmie").home), machine.members(machine.home))
    yield from (
        machine.assemble(machine.home),
        lw.load("rehabilitation-arm").christoffel_bounds("sampled", 100),
    )
    yield from lw.studies.duties(machine, "turn", steps=11)
    yield from (
        results()["selection"].cycle,
        lw.studies.base_parameters(lw.load("rehabilitation-arm")),
    )
    task = lw.synthesis.PlanarTask([0j, 1 + 1j, 2 + 1j, 3 + 2j, 3 + 1j], [0.0, 0.3, 0.5, 0.9, 1.2])
    found = lw.synthesis.four_bars(task)
    yield from (
        lw.synthesis.dyads(task),
        lw.synthesis.compatibility(task),
        found,
        found.linkages,
        found.linkages[0],
    )
    yield lw.synthesis.plates(found.linkages[0], 0.2, 0.05)
    loop = lw.control.StateSpace(-np.eye(2), np.ones((2, 1)), np.ones((1, 2)), np.zeros((1, 1)))
    yield from (
        loop,
        loop.margins(),
        lw.polynomials.Starts(np.ones(2) + 0j, np.ones((3, 2)) + 0j, 0, 1, 1),
    )


def test_results_of_every_room_leave_by_every_door(tmp_path):
    import pyarrow.parquet

    for result in more_results():
        frame = result.to_pandas()
        name = type(result).__name__
        assert len(frame.columns), name
        assert result.to_numpy().shape == frame.shape, name
        header, *lines = result.to_csv(tmp_path / "x.csv").read_text().splitlines()
        assert len(lines) == len(frame), name
        assert header.count(",") >= len(frame.columns) - 1, name
        table = pyarrow.parquet.read_table(result.to_parquet(tmp_path / "x.parquet"))
        assert table.column_names == list(frame.columns), name
        assert (
            "\n" not in repr(result) and repr(result).startswith("<") and len(repr(result)) < 900
        ), name
        assert "<table>" in result._repr_html_(), name


def test_columns_have_the_numbers_of_the_fields():
    arm = lw.load("ur5e")
    q = arm.random(6, seed=0).reshape(2, 3, 6)
    poses = arm.forward_kinematics(q)
    frame = poses.to_pandas()
    tool = frame[frame["body"] == "wrist_3_link"]
    np.testing.assert_array_equal(
        tool[[f"position[{k}]" for k in range(3)]], poses["wrist_3_link"][..., :3, 3].reshape(6, 3)
    )
    np.testing.assert_array_equal(tool["rotation[1, 2]"], poses["wrist_3_link"][..., 1, 2].ravel())
    np.testing.assert_array_equal(
        tool[["index[0]", "index[1]"]], [[i, j] for i in range(2) for j in range(3)]
    )
    report = arm.singularity(q[0], "tool0")
    table = report.to_pandas()
    np.testing.assert_array_equal(table["sigma[5]"], report.sigma_min)
    np.testing.assert_array_equal(table["factors.elbow"], report.factors["elbow"])
    solution = lw.polynomials.Starts(
        np.ones(1) + 0j, np.array([[1 + 2j], [3 - 4j]]), 0, 1, 1
    ).to_pandas()
    assert solution.to_numpy().tolist() == [[1.0, 2.0], [3.0, -4.0]]
    assert list(solution) == ["solutions[0].real", "solutions[0].imag"]


def with_equal_sizes() -> Iterator[tuple[Tabular, set[str]]]:
    """(a result whose other fields have as many entries as it has rows, the fields that are its
    columns)."""
    two, pairs, yes = np.ones(2), np.ones((2, 2)), np.ones(2, dtype=bool)
    names, which = ("a", "b"), np.array([0, 1])
    near = {"distance", "body", "other", "point", "other_point", "normal", "gradient"}
    yield (
        Clearance(two, which, which, *(np.ones((2, 3)) for _ in range(3)), pairs, names, names),
        near,
    )
    yield Clearance(0.1, "a", "b", *(np.ones(3) for _ in range(3)), two, names, names), near
    numbers = (True, "solved", pairs, 1.0, True, 0.1, two, 1, 2, 3, {"search": 0.1})
    yield Plan(*numbers, None, None, ((0.1, 1.0), (0.2, 0.9))), {"path"}
    yield GraphPlan(True, "", (3, 4), 1.0, pairs), {"path"}
    yield CartesianPath(pairs, 1.0, "complete", np.ones((2, 4, 4)), which), {"q", "index"}
    yield Roadmap(None, None, pairs, np.array([[0, 1], [1, 0]]), yes, yes), {"nodes", "free_nodes"}
    yield PathSingularity(two, two, two, two), {"sigma_min", "arc"}
    yield lw.polynomials.Starts(two + 0j, pairs + 0j, 0, 1, 1), {"solutions"}
    yield (
        Sensitivity(names, np.ones((2, 3, 2)), np.ones((2, 3)), np.float64(1), two),
        {"slope", "band", "speed"},
    )
    yield Margin(two, two, two, ("joint 1: weak", "joint 2: weak")), {"needed", "gain", "band"}
    yield (
        Circuits(pairs, two, two, *(np.float64(1) for _ in range(3)), *(two for _ in range(5))),
        {"x", "way", "sine"},
    )
    axes, turns = np.ones((2, 3)), np.ones((2, 3, 3))
    yield SphericalFourBar(axes, axes, turns), {"ground", "moving"}
    yield FiveLegs(np.ones((5, 3)), np.ones((5, 3)), np.ones((5, 4, 4))), {"ground", "moving"}


def test_what_happens_to_have_as_many_entries_as_rows_is_no_column():
    for result, columns in with_equal_sizes():
        assert {re.split(r"[\[.]", name)[0] for name in result.to_pandas()} == columns, type(result)


def test_poles_have_frequency_and_damping():
    w, z = 3.0, 0.2
    system = lw.control.StateSpace(
        np.array([[0.0, 1.0], [-(w**2), -2 * z * w]]),
        np.array([[0.0], [1.0]]),
        np.eye(2),
        np.zeros((2, 1)),
    )
    for each in (system, system.sampled(0.01)):
        frame = each.to_pandas()
        np.testing.assert_allclose(frame["frequency"], w)
        np.testing.assert_allclose(frame["damping"], z)


def test_every_result_says_itself_in_one_line_and_shows_a_table():
    for name, result in results().items():
        assert "\n" not in repr(result), name
        assert repr(result).startswith("<"), name
        assert len(repr(result)) < 200, name
        assert "<table>" in result._repr_html_(), name
        assert "object at" not in result._repr_html_(), name


def test_a_batch_is_no_table():
    arm = lw.load("ur5e")
    batch = lw.simulate(arm, np.stack([arm.home, arm.home]), duration=0.02, step=0.01)
    with pytest.raises(InvalidInput, match="this is a batch"):
        batch.to_csv("never.csv")
    assert "<Simulation" in batch._repr_html_().replace("&lt;", "<")


def test_equations_show_as_mathematics():
    equations = lw.lagrange.System.planar_chain(
        "RR", [2.0, 1.0], [3.0, 1.0], gravity=(0, -9.8)
    ).equations()
    assert equations._repr_latex_().startswith("$$")
    assert r"\tau_{2} &=" in equations._repr_latex_()
    assert repr(equations).startswith("<Equations of ")
    assert "2 coordinates" in repr(equations)


def test_results_of_thousands_show_in_a_line_or_two():
    robot = lw.load("ur5e")
    model = lw.collision.model(robot)
    for result in (
        robot.forward_kinematics(robot.random(1000, seed=0)),
        robot.singularity(robot.random(1000, seed=0), "tool0"),
        model.clearance(robot.random(1000, seed=0)),
        lw.synthesis.PlanarTask(
            np.tile(np.arange(5) + 0j, (500, 1)), np.tile(np.arange(5.0), (500, 1))
        ),
    ):
        assert len(repr(result)) < 600
        assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert "distance 0." in repr(model.clearance(robot.home))
    nearest = model.clearance(robot.random(5, seed=0))
    assert [nearest.bodies[k] for k in nearest.body] == list(nearest.to_pandas()["body"])


NO_TABLES = {
    "a robot, a mechanism or its parts, as described": (
        *(
            "Robot",
            "System",
            "Subject",
            "Model",
            "Tree",
            "Body",
            "Joint",
            "JointKind",
            "Placement",
            "Shape",
        ),
        *(
            "Gear",
            "Differential",
            "Frame",
            "Constraint",
            "Term",
            "Pose",
            "Column",
            "DHTable",
            "Semantics",
        ),
        *(
            "GearTrain",
            "DCMotor",
            "PMSM",
            "RotaryGripper",
            "GripForce",
            "GripperDrives",
            "Actuator",
            "Edge",
            "Structure",
        ),
    ),
    "what stands around, and its shapes": (
        *(
            "CollisionModel",
            "Obstacles",
            "Box",
            "Capsule",
            "Cylinder",
            "Sphere",
            "TaperedCapsule",
            "Mesh",
        ),
        *("HalfSpace", "HeightField", "Cloud", "PackedScene", "Packer", "RobotTables"),
    ),
    "a task or a wish": (
        "PlanarTask",
        "TaskFile",
        "Metrics",
        "GripSequence",
        "Signal",
        "UserFunction",
        "Loads",
    ),
    "something to ask on: a law, a map, a path, compiled code": (
        *(
            "Controller",
            "LQR",
            "Bound",
            "BoundDrives",
            "CriticallyDampedFilter",
            "Gradient",
            "KinematicGraph",
        ),
        *(
            "Space",
            "Path",
            "Motions",
            "Complex",
            "Kernels",
            "Kernel",
            "StagedKernel",
            "Scan",
            "Program",
            "Code",
        ),
        "Packed",
    ),
}
"""Classes that public calls give back and that are no results: what they are instead.
(`control`'s Loads are wishes; those of a robot, in `loads`, are a result.)"""


def all_classes() -> dict[str, list[type]]:
    """Every class of linkwork that is loaded, by its name."""
    classes: dict[str, list[type]] = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("linkwork."):
            for label, thing in vars(module).items():
                if inspect.isclass(thing) and thing.__module__ == name:
                    classes.setdefault(label, []).append(thing)
    return classes


def functions_of(thing: object) -> Iterator[object]:
    """The function itself; of a class its public methods and properties."""
    if not inspect.isclass(thing):
        yield inspect.unwrap(thing)
        return
    for name in dir(thing):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(thing, name)
        for part in ("fget", "func", "__func__"):
            member = getattr(member, part, None) or member
        if inspect.isroutine(member):
            yield inspect.unwrap(member)


@functools.cache
def given_back() -> frozenset[type]:
    """Every class of linkwork that public calls of the application rooms and of robots give back,
    by annotation."""
    waiting: list[object] = [lw.Robot]
    for room in set(MAY_IMPORT) & set(rooms.rooms()):
        waiting += [getattr(rooms.room(room), name) for name in rooms.room(room).__all__]
    waiting = [thing for thing in waiting if callable(thing)]
    named, seen = all_classes(), set()
    while waiting:
        for function in functions_of(waiting.pop()):
            words = re.findall(
                r"\w+", str(getattr(function, "__annotations__", {}).get("return", ""))
            )
            scope = getattr(function, "__globals__", {})
            for word in words:
                there = scope.get(word)
                classes = [there] if inspect.isclass(there) else named.get(word, [])
                new = {
                    c
                    for c in classes
                    if c.__module__.startswith("linkwork.") and not word.startswith("_")
                } - seen
                seen |= new
                waiting += new
    return frozenset(seen)


def test_whatever_public_calls_give_back_has_the_doors_of_results():
    others = {name for names in NO_TABLES.values() for name in names}
    lacking = {c.__name__: c.__module__ for c in given_back() if not issubclass(c, Tabular)}
    assert not {name: module for name, module in lacking.items() if name not in others}
    assert not others - set(lacking), "no longer given back, or a result by now"


def subclasses(cls: type) -> Iterator[type]:
    for below in cls.__subclasses__():
        yield below
        yield from subclasses(below)


def test_every_result_has_a_table_and_says_itself_in_words_of_its_own():
    assert len(given_back()) > 50  # which loads every room
    for cls in subclasses(Tabular):
        if not cls.__module__.startswith("linkwork."):
            continue
        if cls._table is Tabular._table:
            assert {cls._rows, *cls._aside} <= {part.name for part in fields(cls)}, cls
        written = cls.__repr__ is not object.__repr__ and not hasattr(cls.__repr__, "__wrapped__")
        assert written or not is_dataclass(cls) or cls.__name__.startswith("_"), (
            f"{cls}: its repr may be pages long"
        )


def test_asking_for_a_name_is_no_error_and_taking_it_tells_the_nearest():
    """`in` raised UnknownName: Python's own Mapping waits for a KeyError."""
    machine = lw.load("four-bar")
    spun = lw.control.spin(lw.control.PMSM(0.1, 4, 1.0, 1e-3, 1e-3, 1e-4), duration=1e-3)
    named = {
        "turm": machine.motions,
        "crannk": machine.points(machine.home),
        "bar": machine.members(machine.home),
    }
    for wrong, mapping in named.items():
        first = next(iter(mapping))
        assert first in mapping and wrong not in mapping and 7 not in mapping
        assert (
            mapping.get(wrong) is None
            and mapping.get(wrong, 3) == 3
            and mapping.get(first) is not None
        )
        with pytest.raises(UnknownName, match=wrong):
            mapping[wrong]
    with pytest.raises(UnknownName, match='no column "sped"; did you mean "speed"'):
        spun["sped"]
    ball = lw.collision.Sphere((0.0, 0.0, 0.0), 0.1)
    model = lw.collision.CollisionModel(machine, {body: [ball] for body in machine.bodies[:2]})
    with pytest.raises(UnknownName, match="expected two names"):
        lw.collision.pairs(model, samples=10)[0]
