"""Parts of the viewer without a browser: shapes, postures, loads as vectors, columns, sliders,
safety."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput, UnknownName
from linkwork.formats.mesh_file import read_mesh
from linkwork.model import Body, MassProperties
from linkwork.view import triangles
from linkwork.view.columns import column_names, unit
from linkwork.view.load_vectors import load_vectors
from linkwork.view.palette import LOAD_SCALE, load_colors
from linkwork.view.playback import Playback
from linkwork.view.postures import matrix, postures, quaternions, start
from linkwork.view.scene import inertia_box
from linkwork.view.segments import segments
from linkwork.view.sliders import coordinates
from linkwork.view.viewer import Viewer
from tests.cli.runs import shared_server
from tests.view.pages import HUNG, drawn_pose

UR5E = np.array([0.3, -1.2, 1.1, -0.6, 1.3, 0.2])


def answer_of(address):
    """The status with which a viewer answers; nothing is left open."""
    try:
        with urllib.request.urlopen(address, timeout=HUNG) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def volume(shape):
    """Of a closed surface whose faces are seen from outside: the divergence theorem."""
    a, b, c = (shape[0][shape[1][:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (triangles.box(np.array([1.0, 2.0, 3.0])), 6.0),
        (triangles.ball(1.0, 200, 100), 4 / 3 * np.pi),
        (triangles.cylinder(1.0, 2.0, 400), 2 * np.pi),
        (triangles.capsule(0.5, 2.0, 400), (0.5 + 1 / 6) * np.pi),
        (triangles.tube(np.zeros(3), np.array([1.0, 2.0, 2.0]), 0.1), (0.03 + 4e-3 / 3) * np.pi),
    ],
    ids=["box", "ball", "cylinder", "capsule", "tube"],
)
def test_shapes_are_closed_and_seen_from_outside(shape, expected):
    assert volume(shape) == pytest.approx(expected, rel=0.04)  # facets lie inside the round surface


def test_a_coil_reaches_from_end_to_end_and_is_seen_from_outside():
    shape = triangles.coil(0.05, 0.01, 0.5)
    assert volume(shape) > 0
    assert shape[0][:, 2].min() == pytest.approx(0, abs=0.03) and shape[0][
        :, 2
    ].max() == pytest.approx(1, abs=0.03)


def test_arrows_point_along_z_or_turn_about_it():
    vertices, _ = triangles.arrow()
    assert vertices[:, 2].max() == 1 and np.allclose(vertices[vertices[:, 2].argmax()], [0, 0, 1])
    assert volume(triangles.arrow()) > 0 and volume(triangles.turning_arrow()) > 0
    vertices, _ = triangles.turning_arrow()
    # furthest counter-clockwise
    tip = vertices[np.argmax(np.arctan2(-vertices[:, 1], -vertices[:, 0]))]
    assert abs(tip[2]) < 0.06 and 0.9 < np.hypot(*tip[:2]) < 1.2


def test_z_is_turned_to_any_direction():
    directions = np.vstack([np.random.default_rng(0).normal(size=(50, 3)), np.eye(3), -np.eye(3)])
    R = triangles.turn_z_to(directions)
    np.testing.assert_allclose(
        R @ R.swapaxes(1, 2), np.broadcast_to(np.eye(3), R.shape), atol=1e-15
    )
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-14)
    np.testing.assert_allclose(
        R[:, :, 2], directions / np.linalg.norm(directions, axis=1, keepdims=True), atol=1e-15
    )


def test_quaternions_are_scipys():
    from scipy.spatial.transform import Rotation

    turns = Rotation.random(500, rng=np.random.default_rng(1))
    # w = 0, where naive formulas divide by it
    halves = Rotation.from_rotvec(np.pi * np.vstack([np.eye(3), -np.eye(3)]))
    for each in (turns, halves):
        ours, theirs = quaternions(each.as_matrix()), np.roll(each.as_quat(), 1, axis=1)
        assert np.abs(np.abs((ours * theirs).sum(axis=1)) - 1).max() < 1e-14
    np.testing.assert_allclose(
        matrix(3.0 * quaternions(turns.as_matrix()[0])), turns.as_matrix()[0], atol=1e-14
    )


def test_stl_files_are_read_as_trimesh_reads_them(tmp_path):
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=3)
    made.export(tmp_path / "ball.stl")
    made.export(tmp_path / "ball.obj")
    for name in ("ball.stl", "ball.obj"):
        (part,) = read_mesh(str(tmp_path / name))
        assert len(part.faces) == len(made.faces) and len(part.vertices) == len(made.vertices)
        assert volume((part.vertices, part.faces)) == pytest.approx(made.volume, rel=1e-5)
        assert part.color is None
    two = trimesh.Scene()
    for k, color in enumerate(([250, 10, 20, 255], [10, 20, 250, 255])):
        block = trimesh.creation.box((1, 1, 1 + k))
        block.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.SimpleMaterial(diffuse=color)
        )
        two.add_geometry(block, transform=trimesh.transformations.translation_matrix([3 * k, 0, 0]))
    two.export(tmp_path / "two.glb")
    parts = read_mesh(str(tmp_path / "two.glb"))
    assert {part.color: round(volume((part.vertices, part.faces)), 5) for part in parts} == {
        (250, 10, 20): 1.0,
        (10, 20, 250): 2.0,
    }
    # placed as the file says
    assert max(part.vertices[:, 0].max() for part in parts) == pytest.approx(3.5)
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    with pytest.raises(InvalidFile, match=r"broken.stl"):
        read_mesh(str(tmp_path / "broken.stl"))


def test_sharp_edges_stay_sharp_and_round_surfaces_smooth():
    import trimesh

    block = trimesh.creation.box((1.0, 2.0, 3.0))
    vertices, faces = triangles.creased((np.array(block.vertices), np.array(block.faces)))
    assert len(vertices) == 24 and volume((vertices, faces)) == pytest.approx(6.0)  # three a corner
    round_ = trimesh.creation.icosphere(subdivisions=4)
    vertices, faces = triangles.creased((np.array(round_.vertices), np.array(round_.faces)))
    assert len(vertices) < 1.5 * len(round_.vertices) and volume(
        (vertices, faces)
    ) == pytest.approx(round_.volume)


def test_the_inertia_box_has_the_bodys_inertia():
    rng = np.random.default_rng(3)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    sides, mass = np.array([0.3, 0.2, 0.05]), 2.5
    moments = mass / 12 * ((sides**2).sum() - sides**2)
    inertia = tuple(map(tuple, R @ np.diag(moments) @ R.T))
    found, R_box, centre = inertia_box(Body("b", MassProperties(mass, (0.1, 0.2, 0.3), inertia)))
    np.testing.assert_allclose(np.sort(found), np.sort(sides), atol=1e-12)
    back = R_box @ np.diag(mass / 12 * ((found**2).sum() - found**2)) @ R_box.T
    np.testing.assert_allclose(back, inertia, atol=1e-12)
    np.testing.assert_allclose(centre, [0.1, 0.2, 0.3])
    assert inertia_box(Body("nothing")) is None


def test_colours_go_from_blue_to_red():
    colors = load_colors(np.array([-1.0, 0.0, 0.5, 1.0, 7.0]))
    np.testing.assert_array_equal(colors[[0, 1, 2, 3, 4]], LOAD_SCALE[[0, 0, 2, 4, 4]])


@pytest.mark.parametrize("name", ["charmie", "ur5e", "four-bar", "stewart-gough", "crx-10ia"])
def test_every_column_can_be_asked_for_before_it_is_computed(name):
    robot = lw.load(name)
    still = Playback(robot, {"time": [0.0, 1.0], "q": np.stack([start(robot)] * 2)})
    assert set(column_names(robot)) == set(still.columns) - {"time"}


def test_columns_have_units():
    robot = lw.load("charmie")
    units = {
        "q.d4": "m",
        "q.th5": "rad",
        "v.th5": "rad/s",
        "actuator.act5": "N",
        "actuator.th7a": "N m",
        "power.th7a": "W",
    }
    units |= {
        "position.3.x": "m",
        "moment.3.z": "N m",
        "length.act5": "m",
        "command.act5": "m",
        "force.base.z": "N",
    }
    assert {column: unit(robot, column) for column in units} == units and set(units) <= set(
        column_names(robot)
    )


def test_load_vectors_are_the_analysis_in_world_axes():
    robot = lw.load("charmie").with_variables(torso_spring=800.0)
    playback = Playback(robot, "validation")
    vectors, analysis = playback.vectors, playback.analysis
    k, heavy = 70, [b.name for b in robot.model.bodies if b.mass_properties.mass]
    column = heavy.index("3")
    wrench = robot.loads(*(x[k] for x in playback.states)).joint_wrench("3", axes="world")
    np.testing.assert_allclose(vectors.forces[k, column], wrench[:3], atol=1e-9)
    np.testing.assert_allclose(vectors.moments[k, column], wrench[3:], atol=1e-9)
    np.testing.assert_allclose(vectors.at[k, column], analysis.poses["3"][k, :3, 3], atol=1e-12)
    act5 = np.flatnonzero(
        np.abs(np.linalg.norm(vectors.pushes[k], axis=1) - abs(analysis["actuator.act5"][k])) < 1e-9
    )
    assert len(act5) == 2  # on both ends, against each other
    np.testing.assert_allclose(vectors.pushes[k, act5[0]], -vectors.pushes[k, act5[1]], atol=1e-12)
    member = analysis.members["act5"]
    head = act5[np.linalg.norm(vectors.push_at[k, act5] - member.second[k], axis=1).argmin()]
    # positive pushes its head away from its foot
    np.testing.assert_allclose(
        vectors.pushes[k, head], analysis["actuator.act5"][k] * member.direction[k], atol=1e-9
    )
    assert set(vectors.axial) >= {"act4", "act5", "5s"}
    np.testing.assert_allclose(
        vectors.turned_back(vectors.forces, k)[column], analysis.loads.joint_wrench("3")[k, :3]
    )
    turning = [n for n in analysis.loads.actuators if n.startswith("th")]
    assert len(vectors.turn_bodies) == len(turning)
    axes = {j.name: (j.child, np.array(j.axis, dtype=float)) for j in robot.model.joints}
    for i, motor in enumerate(turning):
        body, axis = axes[motor]
        assert vectors.turn_bodies[i] == body
        np.testing.assert_allclose(
            vectors.turns_on_body[k, i], analysis[f"actuator.{motor}"][k] * axis, atol=1e-12
        )


def test_a_playback_has_the_motions_postures():
    robot = lw.load("charmie")
    playback = Playback(robot, "validation")
    assert playback.duration == pytest.approx(robot.motions["validation"].duration)
    for t in (0.0, 1.23, playback.duration, 99.0):
        k = playback.row(t)
        expected, _, _ = robot.motions["validation"].sample(playback.time[k])
        np.testing.assert_allclose(playback.postures.q[k], expected, atol=1e-12)
        assert abs(playback.time[k] - min(t, playback.duration)) <= 0.011
    rows = postures(robot, playback.states[0][[40, 90]])
    np.testing.assert_allclose(rows.ends, playback.postures.ends[[40, 90]], atol=1e-12)
    with pytest.raises(InvalidInput, match=r"expected \(2, 21\)"):
        Playback(robot, {"time": [0, 1], "q": np.zeros((2, 3))})
    with pytest.raises(InvalidInput, match="either"):
        Playback(robot, {"time": [0, 1]})


def test_a_motion_is_drawn_as_it_is_computed():
    """Hinges are drawn by their rotation alone: composed along the tree,
    the nodes must stand where the bodies do."""
    with Viewer(lw.load("charmie"), port=0) as shown:
        shown.load_motion("validation")
        for t in (0.0, 1.7, 0.4, 4.9):
            shown.seek(t)
            playback = shown.stands[0].playback
            poses = shown.robot.forward_kinematics(playback.states[0][playback.row(t)])
            for body in shown.robot.bodies:
                # viser skips less
                np.testing.assert_allclose(drawn_pose(shown.scene, body), poses[body], atol=1e-8)
            found = shown.robot.members(playback.states[0][playback.row(t)])
            for name in ("act5", "5s", "4slb"):  # a strut and two springs
                (node, *_), member = shown.scene.members.nodes[name], found[name]
                np.testing.assert_allclose(node.position, member.first, atol=1e-8)
                np.testing.assert_allclose(matrix(node.wxyz)[:, 2], member.direction, atol=1e-7)
                assert node.scale[2] == pytest.approx(float(member.length), abs=1e-9)
        assert len(playback.postures.steps.turns) < len(shown.robot.bodies)
        shown.stands[0].trail("12a.D")
        path = shown.robot.pose(playback.states[0], "12a.D")[:, :3, 3]
        # single precision
        np.testing.assert_allclose(shown.stands[0]._trail.points[:, 1], path[1:], atol=1e-6)


def windows(port):
    """What a browser gets, one list of messages after the other."""
    import msgspec.msgpack
    import viser
    import zstandard
    from websockets.sync.client import connect

    unpack = zstandard.ZstdDecompressor()
    protocol = [f"viser-v{viser.__version__}"]
    with connect(
        f"ws://127.0.0.1:{port}", subprotocols=protocol, max_size=None, open_timeout=HUNG
    ) as connection:
        while True:
            data = connection.recv(timeout=HUNG)
            size = int.from_bytes(data[8:16], "little")
            yield msgspec.msgpack.decode(unpack.decompress(data[16 : 16 + size]))["messages"]


def test_a_frame_reaches_the_browser_whole():
    """Else bodies move on while their loads wait: viser cuts after 128 messages,
    and newer replace those waiting."""
    with Viewer(lw.load("charmie"), port=0) as shown:
        shown.load_motion("validation")
        assert shown.stands[0].playback.vectors is not None
        for kind in shown.scene.loads.KINDS:
            shown.stands[0].options[kind].value = True
        stream = windows(shown.port)
        while not any(message["type"] == "ReplayDoneMessage" for message in next(stream)):
            pass
        shown.seek(2.0)
        for messages in stream:
            moved = {
                m["name"]
                for m in messages
                if m["type"] in ("SetOrientationMessage", "SetPositionMessage")
            }
            if moved:
                break
        assert len(messages) > 128
        assert any(name.endswith("/12a") for name in moved) and any(
            "/loads/push" in name for name in moved
        )
        stream.close()


def test_coordinates_of_a_floating_base_are_angles_that_stay_a_unit_quaternion():
    robot = lw.load("quadruped-12dof", root="floating")
    q = robot.neutral()
    named = {c.label: c for c in coordinates(robot)}
    assert len(named) == robot.nv
    base = robot.joints[0]
    for name, value in (("roll", 0.4), ("pitch", -0.7), ("yaw", 2.0)):
        named[f"{base} {name}"].write(q, value)
    named[f"{base}[2]"].write(q, 0.35)
    for name, value in (("roll", 0.4), ("pitch", -0.7), ("yaw", 2.0)):
        assert named[f"{base} {name}"].read(q) == pytest.approx(value, abs=1e-12)
    assert np.linalg.norm(q[3:7]) == pytest.approx(1.0, abs=1e-12) and q[2] == 0.35
    robot.forward_kinematics(q)  # which refuses a quaternion off unit length


@pytest.fixture(scope="module")
def viewer():
    with Viewer(lw.load("ur5e"), port=0) as shown:
        yield shown


def test_a_target_out_of_reach_is_said(viewer):
    stand = viewer.load("ur5e")
    stand.show(UR5E)
    assert not stand.target.follow(np.array([9.0, 9.0, 9.0]), np.array([1.0, 0, 0, 0]))
    assert "not reached" in stand.target.status.content
    np.testing.assert_allclose(stand.scene.q, UR5E)


def test_joints_of_a_closed_loop_take_the_others_with_them(viewer):
    stand = viewer.load("four-bar")
    crank = stand.joints.coordinates[0]
    stand._joint(crank, 1.4)
    assert stand.scene.q[0] == pytest.approx(1.4)
    # where it stands the loop is closed already
    assert stand.robot.assemble(stand.scene.q).error < 1e-10
    assert not stand.status.content


def test_what_cannot_be_is_said_and_nothing_moves(viewer):
    stand = viewer.load("slider-crank")
    before = stand.scene.q
    stand._joint(stand.joints.coordinates[2], 50.0)
    assert stand.status.content and np.abs(stand.scene.q - before).max() == 0


def test_loads_that_hold_a_robot_still_are_its_weight(viewer):
    stand = viewer.load("ur5e")
    stand.show(UR5E)
    stand.options["joint forces"].value = True
    still = load_vectors(stand.robot.analyse({"time": np.zeros(1), "q": UR5E[None]}))
    mass = sum(float(b.mass_properties.mass) for b in stand.robot.model.bodies)
    np.testing.assert_allclose(still.forces[0, 0], [0, 0, 9.81 * mass], atol=1e-9)
    drawn = stand.scene.loads.pointers["joint forces"]
    assert drawn.visible and sum(node.visible for node in drawn.nodes) == still.forces.shape[1]
    R = drawn_pose(stand.scene, still.bodies[0])[:3, :3]  # the arrow hangs on its body
    # the ground pushes up
    np.testing.assert_allclose(R @ matrix(drawn.nodes[0].wxyz)[:, 2], [0, 0, 1], atol=1e-9)
    assert drawn.nodes[0].scale == pytest.approx(stand.scene.loads.longest)
    np.testing.assert_array_equal(drawn.nodes[0].color, LOAD_SCALE[-1])
    assert f"{9.81 * mass:.4g} N" in stand.legend.content
    stand.options["joint forces"].value = False
    assert not drawn.visible


def test_two_robots_play_by_one_clock(viewer):
    first = viewer.load("arm-2")
    second = viewer.add("arm-4")
    t = np.linspace(0.0, 2.0, 101)
    viewer.load_motion({"time": t, "q": np.outer(t, [0.1, 0.2])}, first)
    viewer.load_motion({"time": 2 * t, "q": np.outer(t, [0.1, 0.2, 0.3, 0.4])}, second)
    assert viewer.duration == 4.0 == viewer.scrub.max
    viewer.seek(3.0)
    np.testing.assert_allclose(first.scene.q, [0.2, 0.4])  # its motion is over
    np.testing.assert_allclose(second.scene.q, 1.5 * np.array([0.1, 0.2, 0.3, 0.4]))
    assert first.joints.handles[first.robot.joints[1]].value == pytest.approx(0.4)
    assert second.scene.bounds()[0, 0] > 0.0 > first.scene.bounds()[0, 0] - 1e-9
    viewer.remove(second)
    assert viewer.stands == [first] and viewer.duration == 2.0


def test_a_trail_follows_what_a_person_does(viewer):
    stand = viewer.load("arm-4")
    stand.trail(stand.tip)
    q = np.linspace(0.0, 0.6, 5)[:, None] * np.ones(4)
    for each in q:
        stand.show(each)
    path = stand.robot.pose(q, stand.tip)[:, :3, 3]
    np.testing.assert_allclose(stand._trail.points[:, 0], path[:-1], atol=1e-6)  # single precision
    np.testing.assert_allclose(stand._trail.points[:, 1], path[1:], atol=1e-6)
    stand.trail(None)
    assert stand._trail is None


def test_a_stand_that_is_gone_does_nothing(viewer):
    gone = viewer.load("arm-2")
    viewer.load("arm-4")
    before = gone.scene.q
    gone._joint(gone.joints.coordinates[0], 0.5)  # what a late event of a browser does
    np.testing.assert_array_equal(gone.scene.q, before)


def test_frames_and_points_stand_where_the_robot_has_them(viewer):
    stand = viewer.load("ur5e")
    stand.scene.show_axes(True)
    (tool,) = [node for node in stand.scene._extras["frames"] if node.name.endswith("/tool0")]
    step = np.eye(4)
    step[:3, :3], step[:3, 3] = matrix(tool.wxyz), tool.position
    drawn = drawn_pose(stand.scene, stand.robot.model.frames[-1].body) @ step
    np.testing.assert_allclose(drawn, stand.robot.pose(stand.scene.q, "tool0"), atol=1e-12)
    stand = viewer.load("arm-4")
    stand.scene.show_points(True)
    tip = stand.robot.bodies[-1]
    drawn = [n for n in stand.scene._extras["points"] if n.name.endswith(f"/{tip}/points/B")]
    place = drawn_pose(stand.scene, tip)[:3] @ np.append(drawn[0].position, 1.0)
    np.testing.assert_allclose(place, stand.robot.points(stand.scene.q)[tip]["B"], atol=1e-12)


def test_clicks_that_come_at_once_do_not_meet(viewer):
    """A browser's clicks come in threads of their own: no arrow may be made twice,
    else one of them is a dead node."""
    from concurrent.futures import ThreadPoolExecutor

    stand = viewer.load("arm-6")
    stand.show(stand.robot.random(seed=4))
    kinds = stand.scene.loads.KINDS
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda kind: setattr(stand.options[kind], "value", True), kinds))
    stand.show(stand.robot.random(seed=5))  # writes to every node, and a dead one refuses
    assert not stand.status.content and all(
        stand.scene.loads.pointers[kind].visible for kind in kinds[:2]
    )


@pytest.mark.parametrize("which", ["joint", "strut", "time"])
def test_what_a_person_drags_on_is_not_lost(viewer, which, monkeypatch):
    """Events come in threads of their own: while one moves the robot,
    the slider may be further already."""
    stand = viewer.load("stewart-gough" if which == "strut" else "arm-4")
    t = np.linspace(0.0, 4.0, 401)
    if which == "time":
        viewer.load_motion({"time": t, "q": np.outer(t, [0.1, 0.2, 0.3, 0.4])})
    slider, first, second = {
        "joint": lambda: (stand.joints.handles[stand.robot.joints[0]], 0.3, 0.4),
        "strut": lambda: (stand.actuators.handles["leg_0"], 0.70, 0.72),
        "time": lambda: (viewer.scrub, 1.0, 2.0),
    }[which]()
    event = SimpleNamespace(target=slider, client=object())
    real = stand.scene.show

    def meanwhile(*arguments):
        slider._impl.value = second  # as viser does when the next message comes
        real(*arguments)

    slider._impl.value = first
    monkeypatch.setattr(stand.scene, "show", meanwhile)
    for moved in slider._impl.update_cb:
        moved(event)
    assert slider.value == second
    monkeypatch.undo()
    for moved in slider._impl.update_cb:
        moved(event)
    assert slider.value == second
    at = {
        "joint": lambda: stand.scene.q[0],
        "strut": lambda: stand.robot.to_actuators(stand.scene.q)[0][0],
        "time": lambda: viewer.time,
    }[which]()
    assert at == pytest.approx(second, abs=1e-9)


def test_plots_record_what_a_person_does(viewer):
    stand = viewer.load("ur5e")
    plot = stand.plot("q.elbow_joint")
    for angle in (0.1, 0.2, 0.3):
        stand.show(stand.robot.q(elbow_joint=angle))
    np.testing.assert_allclose(plot.values, [0.1, 0.2, 0.3])
    with pytest.raises(UnknownName, match=r"q.elbow_joint"):
        stand.plot("q.elbow_jiont")


def test_a_client_cannot_make_it_read_files(viewer, tmp_path):
    secret = tmp_path / "mine.robot.yaml"
    secret.write_text((Path(lw.__file__).parent / "robots" / "arm-2.robot.yaml").read_text())
    assert lw.load(secret).name == "arm-2"  # a script may
    for name in (str(secret), f"../../../..{secret}", "/etc/passwd", "./arm-2", "arm-2.robot.yaml"):
        with pytest.raises(UnknownName):
            viewer.load(name)
    with pytest.raises(UnknownName, match='did you mean "ur5e"'):
        viewer.load("ur5ee")
    for path in (
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        f"/{secret}",
        "/..%5c..%5cetc/passwd",
    ):
        assert answer_of(f"{viewer.address}{path}") == 404


def test_it_listens_to_this_machine_alone(viewer):
    assert viewer.address.startswith("http://127.0.0.1:")
    listening = [
        line.split()
        for line in Path("/proc/net/tcp").read_text().splitlines()
        if f":{viewer.port:04X} " in line
    ]
    ours = [fields[1] for fields in listening if fields[3] == "0A"]
    assert ours == [f"0100007F:{viewer.port:04X}"]


def test_a_taken_port_is_passed_over_for_the_next(command):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with Viewer(lw.load("arm-2"), port=taken) as shown:
            assert shown.port > taken
            assert answer_of(shown.address) == 200
            process = command("arm-2", "--port", str(taken), "--seconds", "0.1")
            assert f"(port {taken} is not free)" in process.communicate(timeout=HUNG)[0]
    with pytest.raises(InvalidInput, match="65535"):
        Viewer(lw.load("arm-2"), port=70000)


@pytest.mark.parametrize(
    ("host", "named"), [("0.0.0.0", "127.0.0.1"), ("localhost", "localhost"), ("::1", "[::1]")]
)
def test_the_address_can_be_opened(host, named):
    known = Path("/proc/net/if_inet6")
    if host == "::1" and not (known.exists() and f"{1:032x}" in known.read_text()):
        pytest.skip("this machine has no address ::1")
    with Viewer(lw.load("arm-2"), host=host, port=0) as shown:
        assert shown.address == f"http://{named}:{shown.port}" and answer_of(shown.address) == 200


def test_nobody_elsewhere_is_let_in_by_an_empty_name():
    with pytest.raises(InvalidInput, match=r"host is empty.*0\.0\.0\.0"):
        Viewer(lw.load("arm-2"), host="", port=0)


def test_after_the_last_port_there_is_none():
    """Said at once; viser alone would wait for ever."""
    with socket.socket() as last:
        try:
            last.bind(("127.0.0.1", 65535))
        except OSError:
            pass  # somebody else has it, which serves as well
        else:
            last.listen()
        with pytest.raises(InvalidInput, match="no port from 65535 to 65535 is free"):
            Viewer(lw.load("arm-2"), port=65535)


def test_the_viewer_prints_nothing(capfd):
    Viewer(lw.load("arm-2"), port=0).close()
    assert capfd.readouterr() == ("", "")


def test_the_scene_is_for_scripts_too():
    import viser

    from linkwork.view.scene import RobotScene

    robot = lw.load("arm-4")
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        scene = RobotScene(server, robot, at=(1.0, 0.0, 0.0))
        q = robot.random(seed=1)
        scene.move(q)
        np.testing.assert_allclose(scene.q, q)
        tip = robot.bodies[-1]
        np.testing.assert_allclose(drawn_pose(scene, tip), robot.pose(q, tip), atol=1e-12)
        path = robot.pose(robot.random(20, seed=2), tip)[:, :3, 3]
        assert scene.trail("path", path).points.shape == (19, 2, 3)
        arrows = scene.arrows("pulls", path[:3], np.diag([1.0, 2.0, 3.0]), 0.1)
        np.testing.assert_allclose(
            [node.scale for node in arrows.nodes], [0.1, 0.2, 0.3], atol=1e-12
        )
        np.testing.assert_allclose(matrix(arrows.nodes[0].wxyz)[:, 2], [1, 0, 0], atol=1e-12)
        np.testing.assert_allclose(arrows.nodes[1].position, path[1], atol=1e-12)
        np.testing.assert_array_equal(arrows.nodes[2].color, LOAD_SCALE[-1])
        scene.remove()
    finally:
        server.stop()


def test_segments_follow_the_points():
    robot = lw.load("charmie")
    q, _, _ = robot.motions["validation"].sample(np.array([0.0, 1.0]))
    drawn = segments(robot, q)
    assert drawn.ends.shape[:1] == (2,) and drawn.of("actuator").shape == (2, 2, 2, 3)
    lengths = np.linalg.norm(drawn.of("actuator")[:, :, 1] - drawn.of("actuator")[:, :, 0], axis=-1)
    np.testing.assert_allclose(lengths[0], [0.4, 0.4], atol=1e-12)


@pytest.fixture
def command():
    """Starts `linkwork view`; whatever is still running when the test ends is stopped."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "linkwork", "view", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # background jobs have none
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_the_command_ends_cleanly_by_ctrl_c(command):
    process = command("arm-2", "--beside", "arm-4", "--port", "0")
    line = process.stdout.readline()
    assert "open http://127.0.0.1:" in line, process.communicate(timeout=HUNG)
    address = line.split("open ")[1].split()[0]
    assert answer_of(address) == 200
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=HUNG)
    assert (process.returncode, out.strip(), errors.strip()) == (130, "", "interrupted")


def test_the_command_ends_by_itself_and_says_what_is_wrong(tmp_path):
    (tmp_path / "broken.urdf").write_text(
        "<robot name='x'><link name='a'/><joint name='j' type='screw'/></robot>"
    )
    (tmp_path / "wave.csv").write_text("time,q.th7,q.th8\n0,0,0\n1,0.5,0.2\n")
    for arguments, code, words in (
        (
            ("arm-2", "--port", "0", "--seconds", "0.1", "--motion", str(tmp_path / "wave.csv")),
            0,
            "",
        ),
        (("arm-22",), 3, 'did you mean "arm-2"'),
        (("arm-2", "--motion", "dance"), 3, "dance"),
        (("arm-2", "--q", "0.1 much"), 5, "much"),
        ((str(tmp_path / "broken.urdf"),), 4, "broken.urdf"),
        (("arm-2", "--host", "203.0.113.7"), 5, "203.0.113.7"),  # of documentation: nobody has it
    ):
        done = shared_server().run("view", *arguments)
        assert (
            done.returncode == code and words in done.stderr and "Traceback" not in done.stderr
        ), (arguments, done)
