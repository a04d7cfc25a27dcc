"""Keys cannot lie: what is kept by one was made from everything that the key names."""

from __future__ import annotations

import shutil
import subprocess
import sys
import types
from dataclasses import dataclass, replace
from pathlib import Path

import casadi
import numpy as np
import pytest
from casadi import SX

import linkwork as lw
from linkwork import quantities
from linkwork.engine import kernel, keys
from linkwork.engine.compile import compile as compiled
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.scan import scan
from linkwork.model.payload import Payload
from linkwork.quantities.table import QUANTITIES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("LINKWORK_CACHE", str(place))
    return place


DIFFERENT = [
    (0.1, np.nextafter(0.1, 1.0)),
    (0.0, -0.0),
    (1, 1.0),
    (1, True),
    ("1", 1),
    (["a", "b"], ["ab"]),
    ([["a"], "b"], ["a", ["b"]]),
    ((1, 2), [1, 2]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (np.zeros(2000), np.r_[np.zeros(1000), 1e-300, np.zeros(999)]),
    (np.zeros((2, 3)), np.zeros((3, 2))),
    (np.zeros(2), np.zeros(2, dtype=np.int64)),
    (None, "none"),
    (Payload("a", 1.0), Payload("a", 1.0000000000000002)),
    (Payload, Kernel),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda x: str(x)[:20])
def test_different_values_have_different_keys(one, other):
    assert keys.key(one) != keys.key(other)
    assert keys.key("a", one) != keys.key("a", other)
    assert keys.key(one) == keys.key(one)


def test_what_cannot_be_written_down_is_refused():
    class Foreign:
        pass

    @dataclass
    class Plain:
        x: float

    for hostile in (
        Foreign(),
        Foreign,
        Plain(1.0),
        lambda: 1,
        open,
        np.array([object()]),
        (1, [Foreign()]),
        sys,
    ):
        with pytest.raises(keys.NoKey):
            keys.key(hostile)


def test_only_sources_that_make_code_are_hashed():
    files = keys.code_files()
    assert {
        "engine/kernel.py",
        "subject.py",
        "recursions/newton_euler.py",
        "formats/expressions.py",
    } <= set(files)
    assert not [
        name
        for name in files
        if name.startswith(("cli/", "view/", "reproduce/")) or name == "robot.py"
    ]
    assert all((keys.PACKAGE / name).is_file() for name in files)


def test_a_word_changed_in_a_command_discards_no_kernel(tmp_path):
    """The hash of a copy of the sources, before and after a change in rooms that make code and
    rooms that make none."""
    root = tmp_path / "linkwork"
    shutil.copytree(keys.PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__", "*.yaml"))

    def hashed() -> str:
        code = "from linkwork.engine import keys; print(keys.sources_hash())"
        environment = {"PYTHONPATH": str(tmp_path), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    before = hashed()
    for name in (
        "cli/commands/doctor.py",
        "loads/commands.py",
        "studies/section.py",
        "view/__init__.py",
        "reproduce/__init__.py",
        "robot.py",
    ):
        _append(root / name)
    assert hashed() == before
    _append(root / "recursions" / "newton_euler.py")
    assert hashed() != before


def _append(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n# a word more\n", encoding="utf-8")


def scaled(factor):
    """Functions of equal text and different closures."""
    return lambda x: factor * x


def test_functions_with_equal_text_and_different_closures(folder):
    x = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    for _ in range(2):  # compiled, then through the cache on disk
        for factor in (2.0, 3.0):
            f = scaled(factor)
            assert np.array_equal(compiled(f, {"x": 3}, "f")(x), factor * x)
            loop = scan(lambda x, k, f=f: {"x": f(x)}, {"x": 3}, name="f")
            assert np.array_equal(loop(x=x, steps=2).state["x"], factor * (factor * x))


def test_a_program_is_optimised_once(monkeypatch, folder):
    times = []
    original = kernel.optimised
    monkeypatch.setattr(kernel, "optimised", lambda program: times.append(1) or original(program))
    made = compiled(lambda x: casadi.sin(x), {"x": 3})
    made(np.zeros(3)), made(np.zeros((5, 3)))
    assert len(times) == 1


ROOMS = """
from casadi import Function, SX
from linkwork.engine.kernel import Kernel, Signature
SIGNATURE = Signature("two rooms", (("q", (2,)),), (("y", (2,)),))
def made(subject):
    q = SX.sym("q", 2)
    return subject.kernel("constraints", lambda key: Kernel(SIGNATURE, lambda: Function("f", [q], [FACTOR * q]), key))
"""


def test_rooms_with_one_kernel_name(folder, monkeypatch):
    """Two modules of linkwork that ask for one name, as rooms may, and two from outside."""
    q = np.array([[0.5, -0.25]])
    rooms = []
    for k, name in enumerate(["linkwork.loops.one", "linkwork.loads.two", "theirs", "__main__"]):
        module = types.ModuleType(name)
        module.__file__ = (
            str(keys.PACKAGE / "loops" / "assembly.py")
            if name.startswith("linkwork")
            else "elsewhere.py"
        )
        monkeypatch.setitem(sys.modules, name, module)
        exec(ROOMS.replace("FACTOR", str(k + 2.0)), module.__dict__)
        rooms.append(module)
    for _ in range(2):  # of two equal robots, the second one's kernels from the cache on disk
        subject = lw.load("ur5e").subject
        for _ in range(2):
            for k, room in enumerate(rooms):
                assert np.array_equal(room.made(subject)(q), (k + 2.0) * q)
        # what comes from outside may have changed: it is asked again
        assert len(subject.kernels) == 2
    rooms[3].made.__globals__["SIGNATURE"] = Signature("changed", (("q", (2,)),), (("y", (2,)),))
    assert rooms[3].made(subject).signature.name == "changed"


def test_a_quantity_of_another_room_with_a_name_that_is_known(folder, monkeypatch):
    robot = lw.load("ur5e")
    q = np.linspace(-0.5, 0.7, 6)
    before = quantities.evaluate(robot.subject, "gravity_torque", {"q": q})
    line = QUANTITIES["gravity_torque"]
    for factor in (2.0, 3.0):
        theirs = replace(
            line, trace=lambda tree, x, factor=factor: (factor * line.trace(tree, x)[0],)
        )
        monkeypatch.setitem(QUANTITIES, "gravity_torque", theirs)
        for _ in range(2):
            found = quantities.evaluate(robot.subject, "gravity_torque", {"q": q})
            assert found == pytest.approx(factor * before, rel=1e-14)
    monkeypatch.setitem(QUANTITIES, "gravity_torque", line)
    assert np.array_equal(quantities.evaluate(robot.subject, "gravity_torque", {"q": q}), before)


LINK = (
    '<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
    'ixz="0" iyz="0"/>'
    "</inertial></link>"
)
JOINT = (
    '<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/><axis '
    'xyz="0 0 1"/>'
    '<origin xyz="1 0 0"/></joint>'
)


def two_links(order: str) -> str:
    links = "".join(LINK.format(name=name) for name in order)
    joints = JOINT.format(name="j1", parent="base", child="b") + JOINT.format(
        name="j2", parent="b", child="c"
    )
    return f'<robot name="r"><link name="base"/>{links}{joints}</robot>'


def test_the_order_of_bodies_in_the_description_is_part_of_what_is_computed(tmp_path, folder):
    robots = []
    for order in ("bc", "cb"):
        path = tmp_path / f"{order}.urdf"
        path.write_text(two_links(order))
        robots.append(lw.load(path))
    q = np.array([0.3, 0.4])
    for robot in robots:
        for body in ("b", "c"):
            assert np.array_equal(robot.forward_kinematics(q)[body], robot.pose(q, body))


def test_points_are_part_of_what_is_computed(folder):
    model = lw.load("ur5e").model
    for tip in (0.1, 0.2):
        *others, last = model.bodies
        moved = replace(model, bodies=(*others, replace(last, points=(("tip", (tip, 0.0, 0.0)),))))
        robot = lw.Robot(moved)
        q = np.linspace(-0.5, 0.7, 6)
        found = robot.points(q)[last.name]["tip"]
        assert found == pytest.approx(robot.pose(q, f"{last.name}.tip")[:3, 3], abs=1e-15)


def test_symbols_and_functions_have_keys():
    x = SX.sym("x")
    one, other = (
        casadi.Function("f", [x], [x * 2.0]),
        casadi.Function("f", [x], [x * np.nextafter(2.0, 3.0)]),
    )
    assert keys.key(one) != keys.key(other) and keys.key(one) == keys.key(
        casadi.Function("f", [x], [x * 2.0])
    )
    assert keys.key(SX(2)) != keys.key(SX(3))
