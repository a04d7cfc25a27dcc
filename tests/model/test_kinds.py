"""Kinds of joints: the rows agree with what the joints do, and every room reads the same rows."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.joint import SIZES, TYPES, Joint
from linkwork.model.joint_motion import joint_motion
from linkwork.model.kinds import KINDS
from linkwork.model.tree import simple_joints


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_row_says_what_the_joint_does(kind):
    joint = Joint(
        "j", kind.name, None, "b", axis=(0.0, 0.0, 1.0), second_axis=(1.0, 0.0, 0.0), pitch=0.1
    )
    assert (joint.nq, joint.nv) == SIZES[kind.name] == (kind.nq, kind.nv)
    assert joint_motion(joint, kind.neutral) == joint_motion(Joint("f", "fixed", None, "b"), ())
    assert sorted((*kind.slides, *kind.turns)) == list(range(kind.nv))
    assert all(KINDS[part].is_simple for part, _, _ in simple_joints(joint))


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS.values() if kind.nq == kind.nv and kind.nv],
    ids=lambda k: k.name,
)
def test_what_slides_moves_and_what_turns_turns(kind):
    joint = Joint(
        "j", kind.name, None, "b", axis=(0.0, 0.0, 1.0), second_axis=(1.0, 0.0, 0.0), pitch=0.1
    )
    for k in range(kind.nv):
        T = joint_motion(joint, [0.2 if i == k else 0.0 for i in range(kind.nq)])
        turned = not np.allclose(T.rotation, np.eye(3))
        assert turned == (k in kind.turns)
        assert kind.unit(k) == ("rad" if turned else "m")


def test_types_and_random_configurations_follow_the_rows():
    assert tuple(KINDS) == TYPES
    text = (
        "linkwork: 1\nname: r\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: "
        "planar, child: a}}\n"
    )
    q = lw.load(text=text).random(2000, seed=0)
    assert np.abs(q[:, :2]).max() <= 1.0 < np.abs(q[:, 2]).max() <= np.pi


SOURCE = Path(lw.__file__).parent
WORDS = KINDS.keys() - {"fixed", "ball", "continuous", "planar"}
"""Kinds whose names are no words of other things: ends of struts, joints that go round,
wheels on one shaft."""
MOTION = {"model/kinds.py", "model/joint_motion.py", "recursions/joints.py"}
OPTION = {"library.py"}
"""load(root="floating")"""


def named(file: Path) -> set[str]:
    """Kinds that a file names as text, docstrings aside."""
    text = file.read_text(encoding="utf-8")
    if not any(f"{quote}{word}{quote}" in text for word in WORDS for quote in "\"'"):
        return set()  # most files: nothing to parse
    tree = ast.parse(text)
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts
    }
    return constants & WORDS


@functools.cache
def named_in() -> dict[str, set[str]]:
    """File of src -> the kinds that it names; the robots of papers are data."""
    files = {str(file.relative_to(SOURCE)): file for file in SOURCE.rglob("*.py")}
    kinds_of = {
        name: named(file) for name, file in files.items() if not name.startswith("reproduce/")
    }
    return {name: kinds for name, kinds in kinds_of.items() if kinds}


def test_outside_formats_few_files_name_a_kind():
    files = {name for name in named_in() if not name.startswith("formats/")}
    others = sorted(files - MOTION - OPTION)
    assert files == MOTION | OPTION, (
        f"ask joint.kind or node.row instead of naming a kind: {others}"
    )
    assert len(named_in()) <= 15, (
        "formats name the kinds for which a file has a word, and no others"
    )


@pytest.mark.parametrize("kind", ["helical", "cylindrical", "universal"])
def test_a_kind_touches_at_most_eight_files(kind):
    files = [name for name, kinds in named_in().items() if kind in kinds]
    assert "model/kinds.py" in files and len(files) <= 8, files
