"""Obstacles: frozen and named; their files read back, refused in words, and damaged at random."""

from __future__ import annotations

import random
import tarfile
from pathlib import Path

import numpy as np
import pytest

from linkwork.collision import (
    Box,
    Capsule,
    Cloud,
    Convex,
    Cylinder,
    HalfSpace,
    HeightField,
    Mesh,
    Obstacles,
    Sphere,
    TaperedCapsule,
    load_obstacles,
    save_obstacles,
)
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, UnknownName

SHARED = Path(__file__).parents[3] / "shared" / "planning"
T = np.array([[0.0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
ALL = Obstacles(
    [
        Sphere((0.1, 0.2, 0.3), 0.25, "ball"),
        Capsule((0, 0, 0), (0, 0, 1), 0.1, "pole"),
        TaperedCapsule((0, 0, 0), (0, 0, 1), 0.1, 0.2, "cone"),
        Box((1, 2, 3), T, "table"),
        Cylinder(0.1, 1 / 3, T, "can"),
        HalfSpace((0, 0, 1), -0.1, "floor"),
        Convex(np.eye(3), T, "hull", 0.01),
        Mesh(np.eye(3), [[0, 1, 2]], T, "sheet"),
        Cloud(np.arange(12.0).reshape(4, 3), 0.01, "points"),
        HeightField(np.arange(6.0).reshape(2, 3), (0.1, 0.2), (0, 0, 1), "hills"),
    ]
)


def test_names_are_given_and_never_twice():
    assert Obstacles([Sphere((0, 0, 0), 1), Sphere((1, 0, 0), 1), Box((1, 1, 1))]).names == (
        *("sphere_1", "sphere_2"),
        "box_1",
    )
    assert Obstacles({"a": Sphere((0, 0, 0), 1)})["a"].radius == 1
    with pytest.raises(InvalidInput, match='name "a" is given twice'):
        Obstacles([Sphere((0, 0, 0), 1, "a"), Box((1, 1, 1), name="a")])
    with pytest.raises(InvalidInput, match="is no shape, expected one of Sphere"):
        Obstacles(["table"])


def test_changes_make_new_obstacles():
    fewer = ALL.without("table", "can")
    assert len(fewer) == len(ALL) - 2 and "table" in ALL.names
    more = fewer.with_shapes(Box((1, 1, 1), name="table"))
    assert more.names[-1] == "table"
    assert ALL.padded(0.1)["ball"].radius == 0.35
    with pytest.raises(
        UnknownName, match='moved: there is no obstacle "tabel"; did you mean "table"'
    ):
        ALL.moved("tabel", T)
    with pytest.raises(UnknownName, match="without"):
        ALL.without("tabel")


def test_an_obstacle_is_put_to_a_pose():
    z = T[:3, 2]
    assert ALL.moved("table", T)["table"].pose.position == (1, 2, 3)
    assert ALL.moved("ball", T)["ball"].center == (1, 2, 3)
    pole = ALL.moved("pole", T)["pole"]
    np.testing.assert_allclose(np.subtract(pole.end, pole.start), z)
    np.testing.assert_allclose(np.add(pole.end, pole.start) / 2, [1, 2, 3])
    floor = ALL.moved("floor", T)["floor"]
    assert floor.normal == (0, 0, 1) and floor.offset == 3


def test_a_position_alone_keeps_the_direction():
    cone = ALL.moved("cone", (1, 2, 3))["cone"]
    np.testing.assert_allclose(np.subtract(cone.end, cone.start), [0, 0, 1])
    table = ALL.moved("table", (4, 5, 6))["table"]
    assert table.pose.rotation == ALL["table"].pose.rotation and table.pose.position == (4, 5, 6)


def same(a, b):
    for field in a.__dataclass_fields__:
        if field != "file":
            x, y = getattr(a, field), getattr(b, field)
            assert np.array_equal(x, y) if isinstance(x, np.ndarray) else x == y, field


def test_obstacles_come_back_from_their_file_bit_for_bit(tmp_path):
    path = tmp_path / "cell.obstacles.yaml"
    save_obstacles(ALL, path)
    again = load_obstacles(path)
    assert again.names == ALL.names
    for a, b in zip(ALL, again):
        same(a, b)
    save_obstacles(Obstacles(), path)
    assert len(load_obstacles(path)) == 0


def test_units_and_notations_of_a_file(tmp_path):
    path = tmp_path / "cell.obstacles.yaml"
    path.write_text(
        "units: {length: mm, angle: deg}\nobstacles:\n"
        "  table: {type: box, size: [800, 1200, 50], placement: {xyz: [500, 0, -25], rpy: [0, "
        "0, 90]}}\n"
        '  floor: {type: half_space, normal: z, offset: "2 m"}\n'
    )
    cell = load_obstacles(path)
    assert cell["table"].size == (0.8, 1.2, 0.05) and cell["floor"].offset == 2.0
    np.testing.assert_allclose(np.array(cell["table"].pose.rotation)[:, 0], [0, 1, 0], atol=1e-15)


REFUSED = {
    "empty": ("", "is empty, expected obstacles"),
    "no obstacles": ("units: {length: mm}\n", 'scene has no "obstacles"'),
    "unknown key": (
        "obstacles:\n  a: {type: box, siez: [1, 1, 1]}\n",
        ':2:18: unknown key "siez" .*did you mean "size"',
    ),
    "unknown type": (
        "obstacles:\n  a: {type: bxo}\n",
        ':2:13: unknown obstacle type "bxo" .*"box"',
    ),
    "negative": ("obstacles:\n  a: {type: sphere, radius: -1}\n", ":2:6: Sphere: radius is -1 m"),
    "not a number": ("obstacles:\n  a: {type: sphere, radius: .nan}\n", ":2:29: "),
    "ragged": (
        "obstacles:\n  a: {type: height_field, heights: [[1, 2], [1]]}\n",
        ":2:6: heights has rows of 1 and of 2",
    ),
    "one row": ("obstacles:\n  a: {type: height_field, heights: [[1, 2]]}\n", "at least two rows"),
    "no face": (
        "obstacles:\n  a: {type: mesh, vertices: [[0, 0, 0]]}\n",
        'not both "vertices" and "faces"',
    ),
    "half a face": (
        "obstacles:\n  a: {type: mesh, vertices: [[0, 0, 0]], faces: [[0, 0, 0.5]]}\n",
        "no index",
    ),
    "no mesh file": (
        "obstacles:\n  a: {type: mesh, file: none.stl}\n",
        ":2:6: .*no such file|none.stl: no such file",
    ),
    "a mirror": (
        "obstacles:\n  a: {type: box, size: [1, 1, 1], placement: {matrix: [[1, 0, 0], [0, 1, 0], "
        "[0, 0, -1]]}}\n",
        "determinant -1",
    ),
    "twice": (
        "obstacles:\n  a: {type: sphere, radius: 1}\n  a: {type: sphere, radius: 1}\n",
        "given twice",
    ),
    "a scene without objects' ids": (
        "world:\n  collision_objects:\n    - primitives: []\n",
        'has no "id"',
    ),
    "a cone": (
        "world:\n  collision_objects:\n    - id: a\n      primitives: [{type: cone, dimensions: "
        "[1, 1]}]\n",
        ':4:27: a primitive of type "cone" is not read, only box, sphere, cylinder',
    ),
    "two poses for one": (
        "world:\n  collision_objects:\n    - id: a\n      primitives: [{type: box, dimensions: [1, "
        "1, 1]}]\n"
        "      primitive_poses: [{}, {}]\n",
        "2 poses came for 1 primitives",
    ),
    "no rotation": (
        "world:\n  collision_objects:\n    - id: a\n      primitives: [{type: box, dimensions: [1, "
        "1, 1]}]\n"
        "      primitive_poses: [{orientation: [0, 0, 0, 2]}]\n",
        "no unit quaternion",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, text, sentence):
    path = tmp_path / "cell.obstacles.yaml"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=sentence):
        load_obstacles(path)


SCENE = """
robot_model_name: panda
world:
  collision_objects:
    - id: can
      pose: {position: [1, 0, 0], orientation: [0, 0, 0, 1]}
      primitives:
        - {type: cylinder, dimensions: [0.14, 0.03]}
      primitive_poses:
        - {position: {x: 0, y: 2, z: 0}, orientation: [0, 0, 0.70710678118654757, 0.70710678118654757]}
    - id: shelf
      primitives:
        - {type: 1, dimensions: [1, 2, 3]}
        - {type: sphere, dimensions: [0.5]}
      primitive_poses:
        - {position: [0, 0, 1], orientation: [0, 0, 0, 1]}
        - {position: [0, 0, 2], orientation: [0, 0, 0, 1]}
    - id: ground
      planes: [{coef: [0, 0, 2, 1]}]
    - id: sheet
      meshes: [{vertices: [[0, 0, 0], {x: 1, y: 0, z: 0}, [0, 1, 0]], triangles: [{vertex_indices: [0, 1, 2]}]}]
      mesh_poses: [{position: [0, 0, 5]}]
"""


def test_a_planning_scene_is_read(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE)
    scene = load_obstacles(path)
    assert scene.names == ("can", "shelf_1", "shelf_2", "ground", "sheet")
    assert (scene["can"].radius, scene["can"].length, scene["can"].pose.position) == (
        0.03,
        0.14,
        (1, 2, 0),
    )
    assert scene["shelf_1"].size == (1, 2, 3) and scene["shelf_2"].center == (0, 0, 2)
    assert scene["ground"].offset == -0.5
    np.testing.assert_allclose(scene["sheet"].world()[1], [1, 0, 5])


URDF = """<robot name="cell">
  <link name="table"><collision><origin xyz="0 0 0.5"/><geometry><box size="1 2 0.1"/></geometry></collision></link>
  <link name="pole">
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <joint name="j" type="TYPE"><parent link="table"/><child link="pole"/><origin xyz="1 0 0"/>
  <axis xyz="0 0 1"/></joint>
</robot>"""


def test_a_urdf_that_stands_still_is_a_scene(tmp_path):
    path = tmp_path / "cell.urdf"
    path.write_text(URDF.replace("TYPE", "fixed"))
    scene = load_obstacles(path)
    assert scene.names == ("table", "pole_1", "pole_2")
    assert scene["table"].pose.position == (0, 0, 0.5) and scene["pole_2"].center == (1, 0, 0)
    path.write_text(URDF.replace("TYPE", "continuous"))
    with pytest.raises(InvalidFile, match='joint "j" moves; obstacles stand still'):
        load_obstacles(path)


def test_every_scene_of_the_shared_data_is_read(tmp_path):
    """The MoveIt files say the same as the data read from them."""
    archive = SHARED / "motionbenchmaker-panda.tar.bz2"
    if not archive.is_file():
        pytest.skip("the planning data are not beside this project")
    with tarfile.open(archive) as files:
        members = [m for m in files if m.isfile() and "scene00" in m.name][::60]
        for member in members:
            path = tmp_path / "scene.yaml"
            path.write_bytes(files.extractfile(member).read())
            assert len(load_obstacles(path)) >= 1
    assert len(members) >= 10


def damaged(text: str, rng: random.Random) -> str:
    """A text with a few words, lines or characters changed."""
    words = [
        "",
        "-1",
        ".nan",
        ".inf",
        "1e999",
        "[]",
        "{}",
        "[1, 2]",
        "*a",
        "&a",
        "!!x",
        "null",
        "box",
        "\x00",
        "é",
        ": :",
    ]
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        k = rng.randrange(len(lines))
        match rng.randrange(4):
            case 0:
                lines[k] = lines[k][: rng.randint(0, len(lines[k]))]
            case 1:
                lines.insert(k, lines[rng.randrange(len(lines))])
            case 2:
                parts = lines[k].split(" ")
                parts[rng.randrange(len(parts))] = rng.choice(words)
                lines[k] = " ".join(parts)
            case 3:
                at = rng.randint(0, len(lines[k]))
                lines[k] = lines[k][:at] + rng.choice(words) + lines[k][at:]
    return "\n".join(lines)


def test_damaged_files_give_obstacles_or_an_error_of_ours(tmp_path):
    path = tmp_path / "cell.obstacles.yaml"
    save_obstacles(ALL, path)
    texts = [path.read_text(), SCENE]
    rng = random.Random(1)
    read = 0
    for k in range(500):
        path.write_text(damaged(texts[k % 2], rng), errors="replace")
        try:
            found = load_obstacles(path)
        except LinkworkError:
            continue
        read += 1
        for shape in found:
            if hasattr(shape, "columns"):
                assert np.isfinite(shape.columns()).all()
    assert 20 < read < 480
