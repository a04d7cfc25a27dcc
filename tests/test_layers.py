"""Imports point down only: each room of src/linkwork imports its own layer's floor or below,
never above.

  cli view reproduce > robot > applications > quantities formats > recursions engine > spatial model
  > arguments errors

Rooms of one layer do not know each other, with the exceptions of `BESIDE`; among applications the
graph of `MAY_IMPORT` holds, which has no cycle. Files by which a room plugs in above (`ABOVE`)
stand where they plug in, and nobody imports them. No two modules import each other, not even inside
a function. The package's own `__init__` lists the public names, so it may import everything, and
nobody below the command line may import it back.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "linkwork"
LONGEST_FILE = 450  # lines; a longer one holds a second idea

MAY_IMPORT = {
    "gradient": (),
    "loops": (),
    "lagrange": (),
    "polynomials": (),
    "collision": (),
    "convex": (),
    "actuation": ("loops",),
    "loads": ("actuation", "loops"),
    "trajectory": ("actuation", "inverse", "lagrange", "loops"),
    "inverse": ("actuation", "loops", "collision"),
    "simulation": ("actuation", "loops", "lagrange", "collision"),
    "planning": ("collision", "inverse", "trajectory", "loops"),
    "avoidance": ("collision", "inverse", "trajectory"),
    "control": ("simulation", "actuation", "loops", "lagrange", "trajectory", "inverse"),
    "optimal": ("inverse", "trajectory", "simulation", "collision"),
    "legged": ("inverse", "control", "trajectory", "convex"),
    "synthesis": ("actuation", "loops", "polynomials"),
    "grippers": ("actuation", "loops", "loads", "convex"),
}
"""Each application: which others it may import. Loops close without motors,
so actuation stands on loops."""
MAY_IMPORT["studies"] = tuple(MAY_IMPORT)

LAYERS = (
    {
        "arguments",
        "blame",
        "deadlines",
        "doors",
        "errors",
        "foreign_poses",
        "interrupts",
        "once",
        "peers",
        "poses",
        "progress",
        "rooms",
    },
    {"spatial", "model"},
    {"recursions", "engine"},
    {"subject", "configurations", "quantities", "kernel_counts", "formats", "looks", "results"},
    set(MAY_IMPORT),
    {"robot", "inverse_methods", "mechanism_methods", "library"},
    {"cli", "view", "reproduce", "__main__"},
)
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
ABOVE = {"commands": "cli", "panel": "view", "section": "view"}
"""Files of a room that are found from above: file -> where it belongs."""
DATA = {"robots"}
"""Folders of data: no Python to check except an empty `__init__`."""

BESIDE = {
    ("arguments", "errors"),
    ("arguments", "foreign_poses"),
    ("foreign_poses", "errors"),
    ("poses", "foreign_poses"),
    ("peers", "errors"),
    ("deadlines", "arguments"),
    ("deadlines", "errors"),
    ("blame", "arguments"),
    ("blame", "errors"),
    ("doors", "arguments"),
    ("doors", "blame"),
    ("doors", "errors"),
    ("doors", "interrupts"),
    ("poses", "errors"),
    ("poses", "arguments"),
    ("quantities", "subject"),
    ("configurations", "subject"),
    ("kernel_counts", "results"),
    ("kernel_counts", "subject"),
    ("results", "formats"),
    ("quantities", "results"),
    ("configurations", "results"),
    ("library", "robot"),
    ("robot", "inverse_methods"),
    ("robot", "mechanism_methods"),
    ("__main__", "cli"),
    *(("cli", "view"), ("cli", "reproduce"), ("reproduce", "view")),
    *((room, other) for room, others in MAY_IMPORT.items() for other in others),
}
"""(importer, imported) allowed within one layer. Never recursions and engine:
no kernel knows what it computes."""


@dataclass(frozen=True)
class Import:
    """One import of linkwork's own code: which file, which line, which dotted name."""

    file: Path
    line: int
    name: str


@functools.cache
def statements(text: str) -> list[ast.stmt]:
    """Every statement of a source, also inside others; imports are statements,
    so no expression is looked at."""
    waiting: list[Any] = [ast.parse(text)]
    seen: list[ast.stmt] = []
    while waiting:
        node = waiting.pop()
        below = [
            getattr(node, part, ()) for part in ("body", "orelse", "finalbody", "handlers", "cases")
        ]
        inner = [each for part in below for each in part]
        seen += [each for each in inner if isinstance(each, ast.stmt)]
        waiting += inner
    return seen


def own_imports(file: Path, root: Path) -> list[Import]:
    """Every import of linkwork in a file, also inside functions and TYPE_CHECKING,
    relative ones made absolute."""
    parts = ("linkwork", *file.relative_to(root).with_suffix("").parts)
    package = parts[:-1]
    found = []
    for node in statements(file.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            stem = ".".join(part for part in (base, node.module) if part)
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        found += [
            Import(file, node.lineno, name) for name in names if name.split(".")[0] == "linkwork"
        ]
    return found


def room_of(name: str, root: Path) -> str | None:
    """The room a dotted name lives in: `linkwork.model.tree` -> `model`;
    None for the package's own public names."""
    parts = name.split(".")
    if len(parts) < 2 or not ((root / parts[1]).is_dir() or (root / f"{parts[1]}.py").is_file()):
        return None
    return parts[1]


def complaint(here: str, imported: Import, root: Path) -> str | None:
    """Why this import points up or sideways, or None when it may stand."""
    there = room_of(imported.name, root)
    where = (
        f"{imported.file.relative_to(root.parent)}:{imported.line}: {here} imports {imported.name}"
    )
    parts = imported.name.split(".")
    if len(parts) > 2 and parts[2] in ABOVE and (root / parts[1] / f"{parts[2]}.py").is_file():
        return f"{where}: {parts[2]}.py is found by its name; nobody imports it"
    if there is None:
        public = (
            imported.name in ("linkwork", "linkwork.__version__") or LEVEL[here] == len(LAYERS) - 1
        )
        return (
            None
            if public
            else f"{where}: only {sorted(LAYERS[-1])} may use the public surface; name the "
            "module itself"
        )
    if there in DATA or here == there or LEVEL[there] < LEVEL[here] or (here, there) in BESIDE:
        return None
    direction = "above" if LEVEL[there] > LEVEL[here] else "beside"
    return (
        f"{where}: {there} lies {direction} {here}; the order is given at the top of "
        "tests/test_layers.py"
    )


def complaints(root: Path) -> list[str]:
    """Everything in a source tree that breaks the order of the layers, one sentence each."""
    found = []
    for file in sorted(root.rglob("*.py")):
        here = file.relative_to(root).parts[0].removesuffix(".py")
        if here in ("__init__", "__main__") or here in DATA:
            continue
        if here not in LEVEL:
            sentence = (
                f"{file.relative_to(root.parent)}: room {here!r} stands in no layer; give "
                "it a place in LAYERS"
            )
            found.append(
                f"{sentence} of tests/test_layers.py (an application gets a line in MAY_IMPORT)"
            )
            continue
        inside = file.relative_to(root).parts[1:]
        here = ABOVE.get(inside[0].removesuffix(".py"), here) if len(inside) == 1 else here
        for imported in own_imports(file, root):
            there = room_of(imported.name, root)
            if there is None or there in LEVEL or there in DATA:
                sentence = complaint(here, imported, root)
                found += [sentence] if sentence else []
    return found


def test_imports_point_down():
    assert not (found := complaints(SOURCE)), "\n".join(found)


def test_the_order_of_applications_has_no_cycle():
    assert list(TopologicalSorter(MAY_IMPORT).static_order())


def modules(root: Path) -> dict[str, Path]:
    """Every module below a root by its dotted name."""
    found = {}
    for file in sorted(root.rglob("*.py")):
        parts = ("linkwork", *file.relative_to(root).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def module_graph(root: Path) -> dict[str, set[str]]:
    """Which module runs an import of which, in functions too;
    what is imported only for types is left out."""
    known = modules(root)
    graph: dict[str, set[str]] = {}
    for name, file in known.items():
        typing_only = set()
        for node in statements(file.read_text(encoding="utf-8")):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                typing_only |= {child.lineno for child in node.body}
        graph[name] = set()
        for imported in own_imports(file, root):
            if imported.line not in typing_only:
                there = (
                    imported.name if imported.name in known else imported.name.rpartition(".")[0]
                )
                graph[name] |= {there} & set(known) - {name, "linkwork"}
    return graph


def test_no_two_modules_import_each_other_even_inside_functions():
    assert list(TopologicalSorter(module_graph(SOURCE)).static_order())


def test_a_planted_cycle_is_found(house):
    plant(house, "loops/a.py", "def f():\n    from linkwork.loops.b import g")
    plant(house, "loops/b.py", "from linkwork.loops import a")
    with pytest.raises(CycleError):
        list(TopologicalSorter(module_graph(house)).static_order())


def test_a_file_is_one_idea_of_at_most_450_lines():
    lengths = {
        str(file.relative_to(SOURCE)): len(file.read_text("utf-8").splitlines())
        for file in SOURCE.rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_the_source_is_read():
    assert "linkwork.__version__" in [
        each.name for each in own_imports(SOURCE / "cli" / "application.py", SOURCE)
    ]


PLANTED = {
    "upwards": ("model/tree.py", "from linkwork.engine import kernel", "engine lies above model"),
    "upwards, the facade": (
        "inverse/solve.py",
        "from linkwork.robot import Robot",
        "robot lies above inverse",
    ),
    "upwards, relative": (
        "spatial/motion.py",
        "from ..recursions import poses",
        "recursions lies above spatial",
    ),
    "upwards, relative module": (
        "spatial/motion.py",
        "from .. import quantities",
        "quantities lies above spatial",
    ),
    "upwards, in a function": (
        "model/tree.py",
        "def f():\n    import linkwork.robot",
        "robot lies above model",
    ),
    "upwards, for types": (
        "model/tree.py",
        "if TYPE_CHECKING:\n    import linkwork.view",
        "view lies above model",
    ),
    "sideways": (
        "recursions/poses.py",
        "from linkwork.engine.trace import trace",
        "engine lies beside recursions",
    ),
    "the public surface": (
        "inverse/solve.py",
        "from linkwork import load",
        "may use the public surface",
    ),
    "sideways, between applications": (
        "loops/close.py",
        "from linkwork.simulation import run",
        "simulation lies beside loops",
    ),
    "upwards, into a command": (
        "loops/close.py",
        "from linkwork.cli import output",
        "cli lies above loops",
    ),
    "a command": (
        "loops/close.py",
        "from linkwork.loops.commands import close",
        "nobody imports it",
    ),
    "an unknown room": ("helpers/text.py", "", "'helpers' stands in no layer"),
}


@pytest.fixture
def house(tmp_path):
    """An empty house with every room of the design."""
    root = tmp_path / "linkwork"
    for room in [*LEVEL, *DATA]:
        (root / room).mkdir(parents=True)
        (root / room / "__init__.py").write_text("")
    (root / "loops" / "commands.py").write_text("")
    return root


def plant(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize(("path", "text", "expected"), PLANTED.values(), ids=PLANTED)
def test_a_planted_violation_is_found(house, path, text, expected):
    plant(house, path, text)
    (sentence,) = complaints(house)
    assert expected in sentence
    assert path in sentence


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "inverse/solve.py",
            "from linkwork.quantities import evaluate\nfrom linkwork.loops import close",
        ),
        ("inverse/solve.py", "from . import sweep\nfrom .sweep import sweep"),
        ("robot/__init__.py", "from linkwork.inverse import solve\nimport numpy"),
        ("cli/fk.py", "import linkwork\nfrom linkwork import load"),
        (
            "inverse/commands.py",
            "import linkwork\nfrom linkwork.cli import output\nfrom linkwork.inverse import ik",
        ),
        ("inverse/panel.py", "from linkwork.view import stand\nfrom linkwork.robot import Robot"),
        ("formats/names.py", "from linkwork.robots import FOLDER"),
    ],
)
def test_what_points_down_is_allowed(house, path, text):
    plant(house, path, text)
    assert complaints(house) == []
