"""Damaged MJCF: only linkwork's own errors escape, whatever happens to a file,
and no robot with NaN comes out."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import LinkworkError
from linkwork.formats.mjcf import mjcf_text, read_mjcf_text
from linkwork.formats.mjcf.mesh_files import READERS, triangles
from linkwork.formats.mjcf.mesh_inertia import WAYS, integrals
from linkwork.formats.mjcf.vocabulary import READ
from tests.fuzz_budget import drawn

HERE = Path(__file__).parent / "mjcf"
TEXTS = [path.read_text() for path in sorted(HERE.glob("*.xml"))]
WORDS = sorted({word for text in TEXTS for word in re.findall(r"[A-Za-z_]\w*", text)})
NUMBERS = [
    *(
        "0",
        "-1",
        "1e308",
        "-1e308",
        "1e-320",
        "nan",
        "inf",
        "",
        "1 2",
        "0.5",
        "3 3 3",
        "1e200 1e200 1e200",
    ),
    *("99999999999", "1e-200", "é", "1 2 3 4 5 6 7", "1e5", "1e999"),
]


def damaged(text: str, rng: random.Random) -> str:
    """One to three changes: another value, another number, another word,
    an element too many or too few, a byte."""
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        pattern = (
            r'"[^"]*"'
            if kind < 0.35
            else r"-?\d+\.?\d*"
            if kind < 0.6
            else r"\b[a-z]\w*\b"
            if kind < 0.75
            else "<[^>]*>"
        )
        places = list(re.finditer(pattern, text))
        if not places:
            return text
        at = rng.choice(places)
        if kind < 0.35:
            new = f'"{rng.choice(NUMBERS + WORDS)}"'
        elif kind < 0.6:
            new = rng.choice(NUMBERS)
        elif kind < 0.75:
            new = rng.choice(WORDS)
        elif kind < 0.87:
            new = rng.choice(places).group() + at.group()
        else:
            new = (
                ""
                if rng.random() < 0.5
                else at.group()[:-1] + chr(rng.choice([0, 38, 60, 200, 0x10FFFF]))
            )
        text = text[: at.start()] + new + text[at.end() :]
    return text


def is_finite(x) -> bool:
    if isinstance(x, float):
        return math.isfinite(x)
    return all(map(is_finite, x)) if isinstance(x, tuple) else True


def survives(text: str) -> bool:
    """Read and write; True if it was a robot. Anything but a LinkworkError goes up."""
    try:
        model = read_mjcf_text(text, folders=[HERE])
    except LinkworkError:
        return False
    for body in model.bodies:
        m = body.mass_properties
        assert is_finite((m.mass, m.com, m.inertia)), body.name
    for joint in model.joints:
        assert is_finite((joint.placement.rotation, joint.placement.position, joint.axis)), (
            joint.name
        )
    try:
        mjcf_text(model)
    except LinkworkError:
        pass
    return True


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("block", range(4))
def test_damaged_files_raise_only_our_errors(block):
    robots, files = 0, drawn(200)
    for seed in range(files):
        rng = random.Random(f"{block} {seed}")
        robots += survives(damaged(rng.choice(TEXTS), rng))
    # neither all of them broken at the first word, nor all whole
    assert 0.05 * files < robots < 0.83 * files


attributes = st.sampled_from(sorted({word for _, words in READ.values() for word in words.split()}))
tags = st.sampled_from(sorted({tag for tags, _ in READ.values() for tag in tags}))
texts = st.one_of(
    st.sampled_from([*NUMBERS, *WORDS]),
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), max_size=7).map(
        lambda x: " ".join(map(repr, x))
    ),
)


@st.composite
def generated(draw, depth: int = 0) -> str:
    """An element of known words in an order that means nothing."""
    words = draw(st.dictionaries(attributes, texts, max_size=4))
    tag = draw(tags)
    inside = "".join(draw(st.lists(generated(depth=depth + 1), max_size=3))) if depth < 2 else ""
    escaped = " ".join(f'{word}="{text}"' for word, text in words.items())
    return f"<{tag} {escaped}>{inside}</{tag}>"


@settings(max_examples=drawn(35))
@given(st.lists(generated(), max_size=4), st.lists(generated(), max_size=4))
def test_generated_files_raise_only_our_errors(sections, bodies):
    survives(f"<mujoco>{''.join(sections)}<worldbody>{''.join(bodies)}</worldbody></mujoco>")


GOOD_BODY = (
    '<body name="b"><joint name="j" {joint}/><geom name="g" {geom}/><site name="s" {site}/></body>'
)
numbers = st.lists(st.floats(-1e3, 1e3, allow_subnormal=True), min_size=1, max_size=6)
NUMERIC = (
    "pos",
    "quat",
    "euler",
    "size",
    "axis",
    "range",
    "ref",
    "damping",
    "armature",
    "mass",
    "density",
    "fromto",
    "zaxis",
)


@settings(max_examples=drawn(70))
@given(
    *(
        st.dictionaries(
            st.sampled_from([w for w in NUMERIC if w in READ[k][1].split()]), numbers, max_size=3
        )
        for k in ("joint", "geom", "site")
    ),
    st.sampled_from(("sphere", "box", "capsule", "ellipsoid", "cylinder", "plane", "mesh")),
)
def test_bodies_of_any_numbers_raise_only_our_errors(joint, geom, site, kind):
    words = {
        label: " ".join(f'{word}="{" ".join(map(repr, x))}"' for word, x in given.items())
        for label, given in (("joint", joint), ("geom", geom), ("site", site))
    }
    words["geom"] += f' type="{kind}"'
    survives(f"<mujoco><worldbody>{GOOD_BODY.format(**words)}</worldbody></mujoco>")


@settings(max_examples=drawn(50))
@given(st.data(), st.sampled_from(sorted(READERS)), st.sampled_from(WAYS))
def test_damaged_meshes_raise_only_our_errors(data, ending, way):
    (whole,) = [path.read_bytes() for path in (HERE / "assets").iterdir() if path.suffix == ending]
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, 40))
    try:
        found = integrals(
            triangles(bytes(content[: len(content) - cut * (cut > 30)]), f"m{ending}"), way, "m"
        )
    except LinkworkError:
        return
    assert np.isfinite(found.inertia).all()
