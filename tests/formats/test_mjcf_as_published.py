"""MJCF as it is published: what MuJoCo takes and linkwork refused (PAL, MS-Human-700, TidyBot ...).

Truth: mujoco compiles the same text; poses, mass matrix and inverse dynamics agree.
"""

from __future__ import annotations

import logging

import mujoco
import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile
from linkwork.formats.mjcf import read_mjcf, read_mjcf_text
from linkwork.formats.mjcf.polygon import triangles_of
from tests.formats.mjcf.truth import Sides, compiled

CLOSE = 1e-12


@pytest.fixture(autouse=True)
def _logs_elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file in the present folder."""
    monkeypatch.chdir(tmp_path)


def agrees(path, **options) -> None:
    ours = read_mjcf(path, mimic="independent", **options)
    worst = Sides(compiled(path), ours).at_random_states(2)[0].worst()
    assert max(worst.values()) < CLOSE, worst


def test_a_zero_quaternion_of_a_keyframe_is_no_rotation():
    text = """<mujoco><worldbody><body name="b"><freejoint name="f"/><geom size="1"/></body></worldbody>
    <keyframe><key name="home" qpos="1 2 3 0 0 0 0"/></keyframe></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(data.xmat[1].reshape(3, 3), np.eye(3))
    home = dict(read_mjcf_text(text).configurations)["home"]
    assert home == (("f", (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)),)


CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))


def tetrahedron(path, size: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"v {a * size} {b * size} {c * size}" for a, b, c in CORNERS]
    path.write_text("\n".join([*rows, "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4", ""]))


@pytest.mark.parametrize("directory", ["", "meshes"])
def test_meshes_of_an_included_file(tmp_path, directory):
    """Looked for below meshdir of the main file first, then beside the included file."""
    compiler = f'<compiler meshdir="{directory}"/>' if directory else ""
    body = '<worldbody><body name="b"><joint/><geom type="mesh" mesh="a"/></body></worldbody>'
    main = tmp_path / "main.xml"
    main.write_text(f'<mujoco>{compiler}<include file="parts/part.xml"/>{body}</mujoco>')
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part.xml").write_text(
        '<mujoco><asset><mesh name="a" file="a.obj"/></asset></mujoco>'
    )
    with pytest.raises(InvalidFile, match=r"no such file below .* \(looked in .*parts"):
        read_mjcf(main)
    tetrahedron(tmp_path / "parts" / "a.obj", 2.0)
    agrees(main)
    tetrahedron(tmp_path / directory / "a.obj", 1.0)
    agrees(main)
    assert read_mjcf(main).body("b").mass_properties.mass == pytest.approx(1000 / 6)


def test_the_prefix_of_replicate_does_nothing(tmp_path):
    file = tmp_path / "r.xml"
    file.write_text(
        '<mujoco><worldbody><replicate count="3" offset="0.1 0 0" prefix="p_" sep="-"><body '
        'name="b"><joint name="j"/>'
        '<geom size="0.1"/></body></replicate></worldbody><actuator><motor name="m" '
        'joint="j"/></actuator></mujoco>'
    )
    agrees(file)
    assert [joint.name for joint in read_mjcf(file).joints] == ["j-0", "j-1", "j-2"]


def test_equalities_without_a_name_get_a_free_one(tmp_path):
    """Stanford TidyBot has joints "joint_1" .. "joint_7" and equalities without names."""
    file = tmp_path / "t.xml"
    bodies = "".join(
        f'<body name="b{k}"><joint name="joint_{k}"/><geom size="0.1"/></body>' for k in (1, 2, 3)
    )
    rules = '<joint joint1="joint_1" joint2="joint_2"/><joint joint1="joint_1" joint2="joint_3"/>'
    file.write_text(f"<mujoco><worldbody>{bodies}</worldbody><equality>{rules}</equality></mujoco>")
    model = read_mjcf(file, mimic="independent")
    assert [element.name for element in model.elements] == ["joint_1_2", "joint_2_2"]
    agrees(file)


def test_armature_of_a_tendon_is_carried(caplog):
    text = """<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody>
    <tendon><fixed name="t" armature="0.5"><joint joint="j" coef="1"/></fixed></tendon></mujoco>"""
    with caplog.at_level(logging.WARNING, "linkwork"):
        robot = lw.load(text=text)
    (tendon,) = robot.model.carried
    assert dict(tendon.attributes)["armature"] == "0.5"
    assert 'line 2: armature of tendon "t" is carried, and adds no inertia' in caplog.text
    with pytest.raises(InvalidFile, match="armature of tendon"):
        lw.load(text=text, strict=True)


def test_armature_of_a_free_joint_warns(caplog):
    text = """<mujoco><worldbody><body name="b"><joint name="f" type="free" armature="0.1"/><geom size="1"/></body>
    </worldbody></mujoco>"""
    with caplog.at_level(logging.WARNING, "linkwork"):
        lw.load(text=text)
    assert 'armature of free joint "f" acts on body axes' in caplog.text


@pytest.mark.parametrize("corners", [5, 6, 9])
def test_polygons_are_cut_as_mujoco_cuts_them(tmp_path, corners):
    """Corners that lie in no plane: which triangles are cut decides its mass. Truth:
    mesh_face of mujoco."""
    rng = np.random.default_rng(corners)
    angles = 2.0 * np.pi * np.arange(corners) / corners + 0.3
    radius = rng.uniform(0.5, 1.0, (40, corners, 1))
    rings = radius * np.column_stack(
        [np.cos(angles), np.sin(angles), 0.2 * rng.standard_normal(corners)]
    )
    vertices = (rings + 3.0 * rng.standard_normal((40, 1, 3))).reshape(-1, 3).round(6)
    faces = [list(range(corners * k, corners * (k + 1))) for k in range(40)]
    rows = ["v {} {} {}".format(*vertex) for vertex in vertices]
    rows += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    (tmp_path / "rings.obj").write_text("\n".join(rows) + "\n")
    file = tmp_path / "rings.xml"
    file.write_text(
        '<mujoco><asset><mesh name="a" file="rings.obj" inertia="shell"/></asset><worldbody>'
        '<geom type="mesh" mesh="a"/></worldbody></mujoco>'
    )
    theirs = mujoco.MjModel.from_xml_path(str(file))
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, theirs.mesh_quat[0])
    placed = theirs.mesh_vert @ turn.reshape(3, 3).T + theirs.mesh_pos[0]
    number = [int(np.argmin(np.abs(vertices - vertex).sum(axis=1))) for vertex in placed]
    cut = {frozenset(number[k] for k in face) for face in theirs.mesh_face}
    single = vertices.astype(np.float32)
    assert cut == {frozenset(each) for face in faces for each in triangles_of(face, single)}


@pytest.mark.parametrize("corners", [99, 100, 101, 215])
def test_a_polygon_of_more_than_a_hundred_corners_is_left_out_as_by_mujoco(tmp_path, corners):
    """Hello Robot's gripper has one of 215 corners;
    with it the gripper's centre of mass was 0.12 mm off MuJoCo's."""
    angles = 2.0 * np.pi * np.arange(corners) / corners
    rows = [f"v {np.cos(x):.9f} {np.sin(x):.9f} {0.2 * np.sin(3.0 * x):.9f}" for x in angles]
    rows += [
        "v 9 9 9",
        "v 10 9 9",
        "v 9 10 9",
        "v 9 9 10",
        "f " + " ".join(str(k + 1) for k in range(corners)),
    ]
    rows += [
        f"f {corners + a} {corners + b} {corners + c}"
        for a, b, c in ((1, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4))
    ]
    file = tmp_path / "disc.xml"
    (tmp_path / "disc.obj").write_text("\n".join(rows) + "\n")
    file.write_text(
        '<mujoco><asset><mesh name="a" file="disc.obj" inertia="shell"/></asset><worldbody><body '
        'name="b">'
        '<joint/><geom type="mesh" mesh="a"/></body></worldbody></mujoco>'
    )
    theirs = mujoco.MjModel.from_xml_path(str(file))
    assert theirs.mesh_facenum[0] == (4 if corners > 100 else corners + 2)
    assert lw.load(file).model.body("b").mass_properties.mass == pytest.approx(
        theirs.body("b").mass[0], rel=1e-12
    )
