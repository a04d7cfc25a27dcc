"""The sign flipper finds every sign of a file, and tells tests that notice from tests that do
not."""

from __future__ import annotations

import pytest

from tools.flip_signs import CannotTell, Source, flips, main, matching_tests, spread

MODULE = """
def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]

def swept(p, q):
    area = -cross(p, q)
    return area
"""
NOTICES = """
from linkwork.recursions.area import cross, swept

def test_cross():
    assert cross((1, 0), (0, 1)) == 1
    assert cross((1, 2), (3, 4)) == -2

def test_swept():
    assert swept((1, 0), (0, 1)) == -1
"""
SLEEPS = """
from linkwork.recursions.area import cross, swept

def test_cross():
    assert cross((1, 0), (0, 1)) == 1

def test_swept():
    assert abs(swept((1, 2), (3, 4))) in (2, 10)
"""
RED = "def test_red():\n    assert False\n"


def whats(text):
    return [(flip.line, flip.what) for flip in flips(Source(text))]


@pytest.fixture
def project(tmp_path):
    """A project of one recursion; its test is planted by each test here."""
    (tmp_path / "src/linkwork/recursions").mkdir(parents=True)
    (tmp_path / "src/linkwork/__init__.py").touch()
    (tmp_path / "src/linkwork/recursions/area.py").write_text(MODULE)
    (tmp_path / "tests/recursions").mkdir(parents=True)
    return tmp_path


def judge(project, tests):
    (project / "tests/recursions/test_area.py").write_text(tests)
    return main(["--root", str(project), "--all"])


def test_tests_that_notice_leave_no_survivor(project, capsys):
    assert judge(project, NOTICES) == 0
    printed = capsys.readouterr().out
    assert printed.count("caught  src/linkwork/recursions/area.py") == 3
    assert "3 flips in 1 files, 0 survived" in printed


def test_tests_that_sleep_are_named_by_their_survivors(project, capsys):
    before = (project / "src/linkwork/recursions/area.py").read_text()
    assert judge(project, SLEEPS) == 1
    printed = capsys.readouterr().out
    assert "SURVIVED  src/linkwork/recursions/area.py:3:24  - became +:" in printed
    assert "SURVIVED  src/linkwork/recursions/area.py:6:12  - dropped:" in printed
    assert (project / "src/linkwork/recursions/area.py").read_text() == before


def test_tests_that_are_red_already_prove_nothing(project, capsys):
    assert judge(project, RED) == 2
    assert "red before any flip" in capsys.readouterr().err


def test_a_file_without_tests_is_an_error(project, capsys):
    assert main(["--root", str(project), "--all"]) == 2
    assert (
        "recursions/area.py: neither tests/recursions/test_area.py nor" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a + b - c", [(1, "+ became -"), (1, "- became +")]),
        ("x = (a\n     + (-b))", [(2, "+ became -"), (2, "- dropped")]),
        ("F[p] += X.T @ F", [(1, "+= became -=")]),
        ("A = cross_motion(V, S @ v)", [(1, "arguments swapped")]),
        ("A = np.cross(w, w.cross(p))", [(1, "arguments swapped")]),
        ("y = 'Größe'; x = a + b  # a + b", [(1, "+ became -")]),
    ],
)
def test_every_sign_of_the_arithmetic_is_found(text, expected):
    assert whats(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x: T[a + b] = y[i - 1]",
        "names = ['a'] + list(b)",
        "raise ValueError('a' + b)",
        "text = f'{a + b}'",
        "assert a - b",
        "x = a * b",
        "x = (-a) ** 2  # flip: equivalent, because the square forgets the sign",
        "# flip: equivalent, because the square forgets the sign\nx = (-a) ** 2",
    ],
)
def test_what_is_no_arithmetic_or_excused_is_left_alone(text):
    assert whats(text) == []


def test_an_excuse_needs_its_reason():
    with pytest.raises(CannotTell, match="needs its reason"):
        whats("x = (-a) ** 2  # flip: equivalent")


def test_a_flip_changes_only_its_sign():
    text = "é = a - b\nA = cross(V, S @ v)  # - stays\nB = -A\n"
    changed = [flip.applied(text) for flip in flips(Source(text))]
    assert changed == [
        text.replace("a - b", "a + b"),
        text.replace("cross(V, S @ v)", "cross(S @ v, V)"),
        text.replace("B = -A", "B =  A"),
    ]


def test_chosen_flips_spread_over_the_file():
    found = flips(Source("\n".join(f"x{k} = a + b" for k in range(100))))
    assert [flip.line for flip in spread(found, 4)] == [13, 38, 63, 88]
    assert spread(found[:3], 4) == found[:3]


def test_truth_and_laws_of_the_same_name_are_run_too(project):
    for place in ("tests/recursions", "tests/truth", "tests/laws"):
        (project / place).mkdir(exist_ok=True)
        (project / place / "test_area.py").touch()
    expected = [f"tests/{room}/test_area.py" for room in ("recursions", "truth", "laws")]
    assert matching_tests(project / "src/linkwork/recursions/area.py", project) == expected
