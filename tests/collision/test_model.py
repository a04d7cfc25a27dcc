"""Collision models: shapes on bodies, what is refused, grasped objects,
and pairs with their reasons."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import configurations
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    HalfSpace,
    Pair,
    Pairs,
    Sphere,
    exact,
    model,
    pairs,
    sampled_pairs,
)
from linkwork.collision.part_distances import Poses, distances
from linkwork.errors import InvalidInput, LinkworkError, NotPossible, UnknownName

SHARED = Path(__file__).parents[3] / "shared" / "planning"

ARM = """<robot name="arm">
  <link name="base"><collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision></link>
  <link name="camera"><collision><origin xyz="0 0 1"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.05" length="0.5"/></geometry>
    </collision></link>
  <link name="flange"/>
  <link name="lower"><collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="sleeve"><collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.2"/></geometry></collision></link>
  <joint name="mount" type="fixed"><parent link="base"/><child link="camera"/></joint>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="flange"/><origin xyz="0 0 0.55"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="plate" type="fixed"><parent link="flange"/><child link="lower"/></joint>
  <joint name="roll" type="continuous"><parent link="lower"/><child link="sleeve"/><axis xyz="0 0 1"/></joint>
</robot>"""

ROUND_ARM = ARM.replace("cylinder", "capsule").replace(
    '<box size="0.4 0.4 0.1"/>', '<sphere radius="0.1"/>'
)
BALL_ARM = ROUND_ARM.replace('<capsule radius="0.05" length="0.5"/>', '<sphere radius="0.1"/>')
"""Of balls alone: little machine code, where shapes are not the question."""


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(ARM)
    return lw.load(path)


def spheres(arm, **radii):
    return {body: [Sphere((0, 0, 0.3), radius)] for body, radius in radii.items()}


def test_described_shapes_are_taken_as_they_are(arm):
    made = model(arm, pairs=[])
    assert list(made.shapes) == ["base", "camera", "upper", "lower", "sleeve"]
    assert made.shapes["upper"][0].kind == "cylinder" and made.shapes["upper"][0].length == 0.5
    assert "1 cylinder  as described" in str(made.report)
    assert "0 of 10 pairs checked" in repr(made)


def test_pairs_have_their_reasons(arm):
    """The lower arm's neighbour is the upper arm, though a body without shapes lies between."""
    own = spheres(arm, camera=0.02, upper=0.05, lower=0.05, sleeve=0.2) | {
        "base": [Box((0.1, 0.1, 0.1))]
    }
    found = CollisionModel(arm, own).pairs
    assert found["base", "camera"].reason == "rigid"
    assert found["base", "upper"].reason == found["lower", "upper"].reason == "adjacent"
    assert found["lower", "sleeve"].reason == "adjacent"
    assert found["base", "sleeve"].reason == "checked"
    assert found["camera", "upper"].reason == "never"
    # straight up: 0.1 between centres
    np.testing.assert_allclose(found["camera", "upper"].distance, 0.03, atol=1e-3)


def test_a_pair_that_always_touches_is_not_checked(arm):
    own = spheres(arm, base=0.05, lower=0.1, sleeve=0.1)
    own["upper"] = [Sphere((0, 0, 0.55), 0.3)]  # around the elbow: the sleeve is always in it
    assert CollisionModel(arm, own).pairs["upper", "sleeve"].reason == "always"


def test_a_pair_that_touches_at_first_is_still_checked(arm, monkeypatch):
    """Every round of samples counts."""
    made = CollisionModel(arm, spheres(arm, base=0.3, camera=0.3, lower=0.3, sleeve=0.3), [])
    monkeypatch.setattr(sampled_pairs, "_FEW", 1)
    monkeypatch.setattr(sampled_pairs, "_ROUND", 1)
    touching = distances_of(made, "base", "sleeve", 12, seed=0) <= 0.0
    assert touching[0] and not touching.all()
    assert pairs(made, samples=12, seed=0)["base", "sleeve"].reason == "checked"


def distances_of(made, first, second, samples, seed):
    """Of two parts at the samples that `pairs` draws."""
    poses = Poses(made.subject, configurations.random(made.subject, samples, seed))
    ends = ((made.shapes[name], poses.of(name)) for name in (first, second))
    (a, at), (b, other_at) = ends
    return distances(a, at, b, other_at)


def test_long_parts_are_as_near_as_any_sample_brings_them(arm):
    """Rods, whose balls say little about where they are:
    none of the samples is nearer than the pair is said to be."""
    rods = {
        "base": [Capsule((-1.2, 0.9, 0.4), (1.2, 0.9, 0.4), 0.01)],
        "lower": [Sphere((0, 0, 0), 0.01)],
    }
    rods["sleeve"] = [Capsule((0, 0, 0.2), (0.1, 0.7, 0.5), 0.01)]
    made = CollisionModel(arm, rods, [])
    least = distances_of(made, "base", "sleeve", 3000, seed=2).min()
    search = sampled_pairs._Search(made, 3000, 2)
    assert search.smallest(Pair("base", "sleeve"))[0] == pytest.approx(least, abs=1e-12)
    row = pairs(made, samples=3000, seed=2)["base", "sleeve"]
    assert 0.0 < row.distance <= least and row.distance > 0.5 * least


def test_the_same_seed_gives_the_same_pairs(arm, tmp_path):
    made = CollisionModel(arm, spheres(arm, base=0.2, camera=0.1, lower=0.1, sleeve=0.1))
    texts = []
    for k in range(2):
        pairs(made, samples=500, seed=3).to_srdf(tmp_path / f"{k}.srdf")
        texts.append((tmp_path / f"{k}.srdf").read_bytes())
    assert texts[0] == texts[1]
    assert pairs(made, samples=500, seed=3) == pairs(made, samples=500, seed=3)


def test_an_srdf_written_is_read_back(arm, tmp_path):
    made = CollisionModel(
        arm, spheres(arm, base=0.2, camera=0.1, upper=0.05, lower=0.1, sleeve=0.1)
    )
    made.pairs.to_srdf(tmp_path / "arm.srdf")
    again = CollisionModel(arm, made.shapes, tmp_path / "arm.srdf")
    assert again.pairs.checked == made.pairs.checked


def test_an_srdf_with_strange_names_is_used_with_a_warning(arm, tmp_path, caplog):
    path = tmp_path / "arm.srdf"
    path.write_text(
        '<robot name="x"><disable_collisions link1="base" link2="gripper" reason="Never"/></robot>'
    )
    with caplog.at_level(logging.WARNING, "linkwork"):
        CollisionModel(arm, spheres(arm, base=0.2, sleeve=0.1), path)
    assert "does not have: gripper" in caplog.text


def test_damaged_srdf_files_give_pairs_or_an_error_of_ours(arm, tmp_path):
    made = CollisionModel(arm, spheres(arm, base=0.2, camera=0.02, upper=0.05, sleeve=0.1))
    path = tmp_path / "arm.srdf"
    made.pairs.to_srdf(path)
    text, rng = path.read_text(), random.Random(2)
    words = [
        "",
        "<",
        ">",
        "&x;",
        '"',
        "base",
        "<!DOCTYPE r [<!ENTITY x 'y'>]>",
        "</robot>",
        "\x00",
        "é",
        "link1",
        "<robot>",
    ]
    read = 0
    for _ in range(150):
        at, to = sorted(rng.randrange(len(text)) for _ in range(2))
        path.write_text(text[:at] + rng.choice(words) + text[to if rng.random() < 0.3 else at :])
        try:
            read += len(CollisionModel(arm, made.shapes, path).pairs) == len(made.pairs)
        except LinkworkError:
            continue
    assert 0 < read < 150


def check_left_out(made, samples, seed):
    """No pair that is said never to touch does, in samples besides the ones that decided."""
    never = [row for row in made.pairs if row.reason == "never"]
    assert never
    poses = Poses(made.subject, made.robot.random(samples, seed=seed))
    for row in never:
        sides = ((made.shapes[name], poses.of(name)) for name in (row.first, row.second))
        (a, at), (b, other_at) = sides
        assert distances(a, at, b, other_at).min() > 0.0, row


def test_no_pair_that_touches_is_left_out(arm):
    own = spheres(arm, base=0.2, camera=0.02, upper=0.05, lower=0.1, sleeve=0.1)
    check_left_out(CollisionModel(arm, own), 100_000, seed=11)


def test_a_grasped_object_is_checked_with_what_does_not_hold_it(arm):
    made = CollisionModel(arm, spheres(arm, base=0.1, lower=0.1, sleeve=0.1), [])
    held = made.attached("sleeve", Sphere((0, 0, 0.1), 0.05), touching=("lower",), name="cup")
    assert (
        held.pairs["cup", "sleeve"].reason == "rigid"
        and held.pairs["cup", "lower"].reason == "touching"
    )
    assert held.pairs.checked == (("base", "cup"),) and held.carriers["cup"] == "sleeve"
    assert held.without("cup").pairs.checked == ()
    assert "cup" not in made.shapes
    with pytest.raises(UnknownName, match='touching: no body with shapes is named "finger"'):
        made.attached("sleeve", Sphere((0, 0, 0), 0.1), touching=("finger",))
    with pytest.raises(NotPossible, match="an object that never moves is an obstacle"):
        made.attached("camera", Sphere((0, 0, 0), 0.1))
    with pytest.raises(UnknownName, match='no frame "tool"'):
        made.attached("tool", Sphere((0, 0, 0), 0.1))


def test_an_object_in_a_frame_is_placed_on_its_body(arm):
    robot = arm.with_frame("tip", "sleeve", (0, 0, 0.5))
    made = CollisionModel(robot, spheres(robot, base=0.1), []).attached(
        "tip", [Sphere((0, 0, 0.1), 0.05)]
    )
    assert made.shapes["attached"][0].center == (0, 0, 0.6)


def test_padding_and_leaving_out(arm):
    made = CollisionModel(arm, spheres(arm, base=0.1, lower=0.1, sleeve=0.1), [("base", "sleeve")])
    assert [s[0].radius for s in made.padded(0.05).shapes.values()] == pytest.approx(
        [0.15, 0.15, 0.15]
    )
    assert made.padded({"base": 0.02}).shapes["base"][0].radius == pytest.approx(0.12)
    assert list(made.without("base").shapes) == ["lower", "sleeve"]
    assert made.without("base").pairs.checked == () and made.pairs.checked == (("base", "sleeve"),)


def test_what_fits_no_robot_is_refused_in_words(arm):
    with pytest.raises(UnknownName, match='robot "arm" has no body "bsae"; did you mean "base"'):
        CollisionModel(arm, {"bsae": [Sphere((0, 0, 0), 1)]})
    with pytest.raises(InvalidInput, match='"base" with itself is no pair'):
        CollisionModel(arm, spheres(arm, base=0.1, lower=0.1), [("base", "base")])
    with pytest.raises(InvalidInput, match='"base" with itself is no pair'):
        CollisionModel(arm, spheres(arm, base=0.1, lower=0.1), Pairs((Pair("base", "base"),)))
    with pytest.raises(UnknownName, match='no body with shapes is named "camera"'):
        CollisionModel(arm, spheres(arm, base=0.1, lower=0.1), [("base", "camera")])
    with pytest.raises(UnknownName, match='no body with shapes is named "camera"'):
        CollisionModel(arm, spheres(arm, base=0.1), [("base", "camera")])
    with pytest.raises(InvalidInput, match="is no pair, expected two names"):
        CollisionModel(arm, spheres(arm, base=0.1, lower=0.1), ["base"])
    with pytest.raises(InvalidInput, match="put it among the obstacles"):
        CollisionModel(arm, {"base": [HalfSpace((0, 0, 1), 0)]})
    with pytest.raises(InvalidInput, match="is no shape of a body"):
        CollisionModel(arm, {"base": ["box"]})
    with pytest.raises(InvalidInput, match="expected a robot"):
        CollisionModel("arm", {})
    with pytest.raises(InvalidInput, match="samples is 0"):
        pairs(CollisionModel(arm, spheres(arm, base=0.1), []), samples=0)
    with pytest.raises(InvalidInput, match="model: shapes is 'balls'"):
        model(arm, shapes="balls")
    with pytest.raises(InvalidInput, match="model: tolerance is -1 m, expected a positive length"):
        model(lw.load("ur5e"), shapes="spheres", tolerance=-1.0)
    with pytest.raises(NotPossible, match="describes no collision shapes"):
        model(lw.load("four-bar"))


def test_the_shared_ur5_names_the_pair_that_always_touches(caplog):
    if not (SHARED / "ur5.srdf").is_file():
        pytest.skip("the planning data are not beside this project")
    with caplog.at_level(logging.WARNING, "linkwork"):
        made = model(lw.load(SHARED / "ur5_spherized.urdf"), pairs=SHARED / "ur5.srdf")
    assert "always touch are not checked: wrist_2_link with fts_robotside" in caplog.text
    assert made.pairs["wrist_2_link", "fts_robotside"].reason == "always"


MESHES = """<robot name="meshes">
  <link name="base"><collision><geometry><mesh filename="base.stl"/></geometry></collision></link>
  <link name="arm"><collision><geometry><mesh filename="hand.stl"/></geometry></collision></link>
  <link name="hand"><collision><geometry><mesh filename="hand.stl"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.1" velocity="1" effort="1"/></joint>
</robot>"""


def test_meshes_are_told_apart_by_their_hulls_first(tmp_path, monkeypatch):
    """The closest distance is that of the meshes themselves, of which few are asked."""
    trimesh = pytest.importorskip("trimesh")
    for name, size in (("base", (0.3, 0.3, 0.1)), ("hand", (0.05, 0.05, 0.2))):
        trimesh.creation.box(size).export(tmp_path / f"{name}.stl")
    (tmp_path / "arm.urdf").write_text(MESHES)
    made = model(lw.load(tmp_path / "arm.urdf"), pairs=[])
    asked, nearest = [], exact.nearest
    monkeypatch.setattr(
        exact, "nearest", lambda *given: (asked.append(given[0].kind), nearest(*given))[1]
    )
    row = pairs(made, samples=1000)["base", "hand"]
    assert row.reason == "never" and row.distance == pytest.approx(0.4 - 0.1 - 0.1 - 0.05, abs=1e-3)
    assert len(asked) > 500 and asked.count("mesh") < 0.2 * len(asked)
