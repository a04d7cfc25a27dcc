"""Damaged .robot.yaml files: only linkwork's own errors escape, in bounded time,
and no model holds a NaN."""

from __future__ import annotations

import math
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.errors import LinkworkError
from linkwork.formats.robot_yaml import Description
from linkwork.library import FOLDER
from linkwork.model import Model
from tests.fuzz_budget import drawn

FILES = {
    path.name.removesuffix(".robot.yaml"): path.read_text()
    for path in sorted(FOLDER.glob("*.robot.yaml"))
}
SMALL = {name: text for name, text in FILES.items() if len(text) < 2500}
WORDS = [
    *(
        "revolute",
        "floating",
        "planar",
        "ball",
        "mesh",
        "world",
        "base",
        "x",
        "-z",
        "com",
        "joint",
        "mm",
        "deg",
        "kg",
        "*a",
        "&a",
    ),
    *(
        "{}",
        "[]",
        "[1, 2, 3]",
        "{a: b}",
        "null",
        "~",
        "true",
        ".nan",
        ".inf",
        "-0",
        "1e308",
        "1e-320",
        "9" * 400,
        "0x10",
        "NaN",
    ),
    *(
        '"${pi}"',
        '"${1/0}"',
        '"${upper_arm}"',
        '"${9**9**9}"',
        "${",
        "!!python/none",
        "---",
        "...",
        "\t",
        "\x00",
        "\ufeff",
        "é",
        "? :",
    ),
    *(
        "bodies:",
        "joints:",
        "parent: 5",
        "mimic: {joint: th3}",
        "count: 1000",
        "<<: *a",
        "- - -",
        "'",
        '"',
        "|\n  x",
        "#",
    ),
]


def opened(text: str | bytes) -> Model | None:
    try:
        return Description(text, "x").build({})
    except LinkworkError:
        return None


def is_sound(model: Model) -> None:
    for joint in model.joints:
        T = joint.placement
        numbers = [*T.position, *(x for row in T.rotation for x in row), *joint.axis, joint.pitch]
        assert all(map(math.isfinite, numbers))
    for body in model.bodies:
        m = body.mass_properties
        assert all(map(math.isfinite, [m.mass, *m.com, *(x for row in m.inertia for x in row)]))
        assert all(math.isfinite(x) for _, p in body.points for x in p)


def damaged(text: str, rng: random.Random) -> str:
    """A file after one to three accidents: lines moved, words changed, pieces lost or doubled,
    noise, other digits."""
    for _ in range(rng.randint(1, 3)):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        at = rng.randrange(len(text) + 1)
        match rng.randrange(12):
            case 0:
                lines[k] = lines[rng.randrange(len(lines))]
                text = "\n".join(lines)
            case 1:
                del lines[k]
                text = "\n".join(lines)
            case 2:
                lines[k] = "  " * rng.randint(0, 3) + lines[k].lstrip()
                text = "\n".join(lines)
            case 3:
                words = lines[k].split(" ")
                words[rng.randrange(len(words))] = rng.choice(WORDS)
                lines[k] = " ".join(words)
                text = "\n".join(lines)
            case 4:
                text = text[:at] + rng.choice(WORDS) + text[at:]
            case 5:
                text = text[:at] + text[at + rng.randint(1, 30) :]
            case 6:
                end = at + rng.randint(1, 200)
                text = text[:end] + text[at:end] + text[end:]
            case 7:
                odd = rng.choice([0, 9, 10, 34, 39, 42, 58, 91, 123, 0x7F, 0x85, 0xD7FF, 0x1F600])
                text = text[:at] + chr(odd) + text[at:]
            case _:
                digits = [i for i, c in enumerate(text) if c.isdigit()]
                at = rng.choice(digits)
                text = (
                    text[:at]
                    + rng.choice(["0", "7", "-1", "1e9", ".5", "12 kg", "3 mm"])
                    + text[at + 1 :]
                )
    return text


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_raise_only_our_errors(name):
    rng = random.Random(name)
    rounds = drawn(40 if name in SMALL else 5)
    for _ in range(rounds):
        start = time.thread_time()
        model = opened(damaged(FILES[name], rng))
        assert time.thread_time() - start < 5.0  # bounded: one is read in milliseconds
        if model is not None:
            is_sound(model)


@settings(max_examples=drawn(50), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200))
def test_bytes_raise_only_our_errors(content):
    opened(content)


_scalars = st.one_of(
    st.sampled_from(WORDS),
    st.integers(-5, 5).map(str),
    st.floats(-2, 2).map(str),
    st.text(max_size=5),
)
_trees = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "child",
                    "parent",
                    "axis",
                    "placement",
                    "xyz",
                    "rpy",
                    "mass",
                    "com",
                    "inertia",
                    "a",
                    "at",
                ]
            ),
            inner,
            max_size=4,
        ).map(
            lambda entry: "{" + ", ".join(f"{key}: {value}" for key, value in entry.items()) + "}"
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=drawn(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "bodies",
                "joints",
                "frames",
                "elements",
                "motions",
                "chains",
                "placed",
                "variables",
                "dh",
                "units",
                "sharing",
            ]
        ),
        _trees,
        max_size=4,
    )
)
def test_generated_sections_raise_only_our_errors(sections):
    text = "linkwork: 1\nname: x\n" + "\n".join(
        f"{key}: {value}" for key, value in sections.items()
    )
    model = opened(text)
    if model is not None:
        is_sound(model)


def test_the_fuzzer_also_makes_files_that_can_be_read():
    rng = random.Random(1)
    read = sum(opened(damaged(FILES["kuka-kr500"], rng)) is not None for _ in range(100))
    assert 5 < read < 95
