"""A room plugs in by its files: a toy room in a folder of its own reaches every place,
and nothing lists it."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import quantities, reproduce, rooms
from linkwork.errors import InvalidInput, UnknownName

SOURCE = Path(lw.__file__).parent

TOY = {
    "toy/__init__.py": '''"""Toys: the square of a weight, to show what a room is made of."""

from linkwork.toy.play import Toy, play

__all__ = ["Toy", "play"]
''',
    "toy/play.py": """
from linkwork import quantities


class Toy:
    pass


def play(robot, q):
    return quantities.evaluate(robot.subject, "toy_weight", {"q": q, "push": [2.0, 3.0]})
""",
    "toy/quantities.py": """
from linkwork.quantities import Quantity
from linkwork.recursions.newton_euler import newton_euler


def _weight(tree, x):
    still = newton_euler(tree, x.q, 0 * x.v, 0 * x.v)
    return still * still, x.own["push"][0] * x.own["push"][1]


QUANTITIES = {
    "toy_weight": Quantity(
        _weight,
        "q push",
        (("squares", "v"), ("product", "")),
        dynamic=True,
        axes={"push": "pushes"},
        sizes={"pushes": lambda subject: 2},
    )
}
""",
    "toy/commands.py": '''
"""linkwork toy-play: what the toy weighs."""

import linkwork as lw
from linkwork.cli.answer import Answer


def toy_play(robot: str) -> Answer:
    """Weigh it.

    Example:  linkwork toy-play ur5e
    """
    loaded = lw.load(robot)
    return Answer({"product": lw.toy.play(loaded, loaded.neutral())[1]})


def _not_a_command() -> None: ...
''',
    "toy/panel.py": """
class _Panel:
    def __init__(self, stand):
        self.text, self.seen, self.removed = stand.server.gui.add_text("toy", "new"), [], False

    def show(self, q):
        self.seen.append(q)

    def remove(self):
        self.removed = True


def panel(stand):
    return _Panel(stand)
""",
    "reproduce/paper_99.py": """
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn


def paper():
    return Paper(99, "Toy1999", "On toys", (Case("one", 1.0, 1.0, 0.0),), (), "`lw.toy`")


def figures():
    return (Redrawn("figure-1", "a toy", lambda figure: figure.subplots().plot([0, 1], [0, 1])),)
""",
    "toy/section.py": """
def section(robot, analysis, obstacles):
    return f"<h2>Toys of {robot.name}</h2>"
""",
}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy room on the package's path, as a second distribution would put it there."""
    for name, text in TOY.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(lw, "__path__", [*lw.__path__, str(tmp_path)])
    monkeypatch.setattr(reproduce, "__path__", [*reproduce.__path__, str(tmp_path / "reproduce")])
    yield tmp_path
    for name in [
        name
        for name in sys.modules
        if name.startswith(("linkwork.toy", "linkwork.reproduce.paper_99"))
    ]:
        sys.modules.pop(name)
    vars(lw).pop("toy", None)
    from linkwork.quantities import table

    table._of_rooms.pop("toy_weight", None)


def test_the_toy_has_a_namespace(toy):
    assert "toy" in dir(lw)
    assert lw.toy.__all__ == ["Toy", "play"]


def test_the_toy_has_a_quantity_with_an_input_and_an_axis_of_its_own(toy):
    robot = lw.load("ur5e")
    q = robot.random(4, seed=1)
    squares, product = quantities.evaluate(
        robot.subject, "toy_weight", {"q": q, "push": np.ones((4, 2)) * 1.5}
    )
    np.testing.assert_allclose(squares, robot.gravity_torque(q) ** 2, rtol=1e-13, atol=1e-12)
    assert product.tolist() == [2.25] * 4
    assert robot.function("toy_weight").name() == "toy_weight"
    assert "toy_weight" in quantities.every_quantity()
    with pytest.raises(InvalidInput, match=r"push has shape \(3,\), expected \(..., 2\)"):
        quantities.evaluate(
            robot.subject, "toy_weight", {"q": robot.neutral(), "push": np.zeros(3)}
        )


def test_the_toy_has_a_command(toy):
    done = subprocess.run(
        [sys.executable, "-c", STARTED.format(toy=str(toy)), "toy-play", "ur5e", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"product": 6.0' in done.stdout


STARTED = """
import sys
import linkwork
linkwork.__path__.append({toy!r})
from linkwork.cli import main
main()
"""


def test_the_toy_has_a_section_of_reports(toy):
    from linkwork.view import report_html

    assert "<h2>Toys of ur5e</h2>" in report_html(lw.load("ur5e"))


def test_the_toy_has_a_panel_in_the_viewer(toy):
    pytest.importorskip("viser")
    robot = lw.load("ur5e")
    with lw.view.Viewer(robot, port=0) as viewer:
        (stand,) = viewer.stands
        panel = stand.panels["toy"]
        stand.show(robot.random(seed=2))
        np.testing.assert_array_equal(panel.seen[-1], robot.random(seed=2))
        viewer.remove(stand)
        assert panel.removed


def test_the_toy_has_a_paper_with_a_figure(toy):
    from linkwork.reproduce.draw import write_redrawn

    (paper,) = reproduce.reproduce("99")
    assert paper.where == "`lw.toy`" and paper.cases[0].passed
    assert [path.name for path in write_redrawn(["99"], toy / "drawn", ["svg"])] == [
        "paper-99-figure-1.svg"
    ]


def test_two_rooms_cannot_take_one_name(toy):
    (toy / "toy" / "quantities.py").write_text(
        TOY["toy/quantities.py"].replace("toy_weight", "mass_matrix")
    )
    with pytest.raises(InvalidInput, match='room "toy": there is another quantity "mass_matrix"'):
        quantities.every_quantity()


def test_an_unknown_name_is_said_with_the_nearest_of_all_rooms():
    with pytest.raises(UnknownName, match='"membrs"; did you mean "members"'):
        quantities.quantity("membrs")
    with pytest.raises(AttributeError, match="no attribute 'simulatoin'"):
        lw.simulatoin  # noqa: B018


def told_to_type_checkers(source: str = "") -> dict[str, set[str]]:
    """Module -> the names that linkwork/__init__.py imports from it for type checkers."""
    source = source or (SOURCE / "__init__.py").read_text("utf-8")
    block = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    return {line.module: {name.name for name in line.names} for line in block.body}


def test_type_checkers_are_told_every_room():
    assert told_to_type_checkers()["linkwork"] == set(rooms.rooms())


def test_one_command_tells_readers_and_type_checkers_of_a_room(toy):
    """What a room within linkwork touches by hand: the graph of test_layers.py and the
    changelog."""
    from tools import readme_table

    told = readme_table.told_to_type_checkers((SOURCE / "__init__.py").read_text("utf-8"))
    assert told_to_type_checkers(told)["linkwork"] == {*rooms.rooms()} and "toy" in rooms.rooms()
    ast.parse(told)
    assert "| `toy/` | Toys: the square of a weight" in readme_table.rooms_in_a_line()
    assert (
        "| `lw.toy` | Toys: the square of a weight, to show what a room is made of. | `Toy`, "
        "`play` |" in (readme_table.rooms_table())
    )


def test_names_of_rooms_at_the_top_are_what_type_checkers_are_told():
    told = {
        module.partition(".")[2]: names
        for module, names in told_to_type_checkers().items()
        if "." in module
    }
    assert told == {room: set(names) for room, names in lw._LIFTED.items()}


@pytest.mark.parametrize("room", sorted(rooms.rooms()))
def test_a_room_says_what_it_is_and_what_is_public(room):
    module = getattr(lw, room)
    assert (module.__doc__ or "").partition("\n")[0].endswith(".")
    assert list(module.__all__) == sorted(set(module.__all__), key=_ruff_order)
    assert all(hasattr(module, name) for name in module.__all__)


def _ruff_order(name: str) -> tuple[int, str]:
    return 0 if name.isupper() else 1 if name[:1].isupper() else 2, name


def test_importing_linkwork_brings_no_application():
    code = (
        "import sys, linkwork; print(*(m for m in sys.modules if m.startswith('linkwork.') and "
        "m.count('.') == 1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    brought = {name.partition(".")[2] for name in done.stdout.split()}
    assert not brought & {
        "inverse",
        "loads",
        "loops",
        "simulation",
        "studies",
        "trajectory",
        "view",
        "cli",
        "lagrange",
    }


def test_a_command_brings_only_its_own_file():
    code = STARTED.format(toy="/nowhere").replace(
        "main()\n", "import atexit; atexit.register(lambda: print(*sys.modules)); main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fk", "--help"], capture_output=True, text=True, check=True
    )
    assert "linkwork.cli.commands.fk" in done.stdout.split()
    assert not {"linkwork.inverse", "linkwork.view", "linkwork.cli.commands.info"} & set(
        done.stdout.split()
    )


def test_a_report_starts_light():
    """What costs a command its start: the viewer's room,
    and a second checker of types (CHANGELOG has the figures)."""
    code = "import linkwork, sys; known = set(sys.modules)\n" + STARTED.format(
        toy="/nowhere"
    ).replace(
        "main()\n",
        "import atexit; atexit.register(lambda: print(*sorted(set(sys.modules) - known))); "
        "main()\n",
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "report", "--help"], capture_output=True, text=True, check=True
    )
    brought = set(done.stdout.splitlines()[-1].split())
    assert "linkwork.cli.commands.report" in brought
    assert (
        not {"linkwork.view", "linkwork.loads", "pydantic", "scipy.optimize", "matplotlib"}
        & brought
    )


def test_parts_are_found_without_an_import(toy):
    assert rooms.files("section").keys() >= {"studies", "toy"}
    assert "linkwork.toy" not in sys.modules
    assert importlib.import_module("linkwork.toy.section") is rooms.part("toy", "section")
