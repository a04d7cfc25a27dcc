"""MJCF as MuJoCo compiles it: poses, sites, mass matrix and inverse dynamics of the same file
agree.

Truth: mujoco 4.0, mj_kinematics, mj_fullM and mj_inverse. Both sides compute in double precision
along chains of up to 20 bodies; 1e-12 of the largest number leaves them room, and the worst seen is
6e-14.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from linkwork.formats.mjcf import read_mjcf, read_mjcf_text
from linkwork.formats.mjcf.mesh_inertia import WAYS
from linkwork.model.elements import Coupling
from linkwork.robot import Robot
from tests.formats.mjcf.truth import Sides, compared, compiled
from tests.published import URDFS

HERE = Path(__file__).parent / "mjcf"
MODELS = {path.stem: path for path in sorted(HERE.glob("*.xml"))}
CLOSE = 1e-12


@pytest.fixture(autouse=True)
def _logs_elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file in the present folder."""
    monkeypatch.chdir(tmp_path)


def test_there_are_models_for_every_feature():
    assert len(MODELS) >= 15


@pytest.mark.parametrize("name", MODELS)
def test_our_models_agree_with_mujoco(name):
    for each in compared(MODELS[name]):
        assert max(each.worst().values()) < CLOSE, each.worst()


@pytest.mark.parametrize("name", MODELS)
def test_what_mujoco_saves_of_our_models_agrees_too(name, tmp_path):
    """MuJoCo's own writing: principal axes, resolved classes, attributes we do not write."""
    saved = tmp_path / "saved.xml"
    mujoco.mj_saveLastXML(str(saved), mujoco.MjModel.from_xml_path(str(MODELS[name])))
    text = (
        saved.read_text().replace('"assets', f'"{HERE / "assets"}').replace('meshdir="assets"', "")
    )
    saved.write_text(text)
    model = read_mjcf(saved, mimic="independent", folders=[HERE])
    each = Sides(compiled(saved), model).at_random_states(1)[0]
    assert max(each.worst().values()) < CLOSE, each.worst()


# what MuJoCo does not compile as URDF, or not again after it has saved it with six digits
NOT_COMPILED = {
    "allegro_hand/allegro_left_hand": "saved, its inertia breaks A + B >= C in the sixth digit",
    "allegro_hand/allegro_right_hand": "saved, its inertia breaks A + B >= C in the sixth digit",
    "romeo/romeo_laas_small": "negative moments of inertia",
    "tiago/tiago": "negative moments of inertia",
    "tiago/tiago_dual": "negative moments of inertia",
    "tiago/tiago_no_hand": "negative moments of inertia",
}
MENDED = 'balanceinertia="true" boundmass="0.001" boundinertia="0.00001"'


def saved_by_mujoco(urdf: Path, path: Path) -> str:
    """Compile a URDF without its shapes and save it as MJCF;
    inertia mended only where MuJoCo asks for it."""
    error = ""
    for flags in ("", MENDED):
        root = ElementTree.fromstring(urdf.read_bytes())
        for link in root.iter("link"):
            for shape in [*link.findall("visual"), *link.findall("collision")]:
                link.remove(shape)
        for extension in root.findall("mujoco"):
            root.remove(extension)
        extension = ElementTree.SubElement(root, "mujoco")
        extension.append(ElementTree.fromstring(f'<compiler fusestatic="false" {flags}/>'))
        try:
            model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
            mujoco.mj_saveLastXML(str(path), model)
            mujoco.MjModel.from_xml_path(str(path))
            return ""
        except ValueError as problem:
            error = str(problem)
    return error


@pytest.mark.parametrize("name", URDFS)
def test_published_robots_saved_by_mujoco_agree(name, tmp_path):
    path = tmp_path / "robot.xml"
    error = saved_by_mujoco(URDFS[name], path)
    assert bool(error) == (name in NOT_COMPILED), error
    if not error:
        (each,) = compared(path, seeds=1)
        assert max(each.worst().values()) < CLOSE, each.worst()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(8))
def test_mass_of_random_meshes_agrees_with_mujoco(way, seed):
    """Convex bodies of 3 mm to 3 m: mass, centre and inertia,
    the products that MuJoCo drops included."""
    rng = np.random.default_rng(seed)
    vertices = (
        rng.normal(size=(rng.integers(5, 30), 3))
        * rng.uniform(0.2, 1.0, 3)
        * 10 ** rng.uniform(-2.5, 0.5)
    )
    hull = ConvexHull(vertices)
    faces = [
        face if np.cross(*(vertices[face[1:]] - vertices[face[0]])) @ plane[:3] > 0 else face[::-1]
        for face, plane in zip(hull.simplices, hull.equations)
    ]
    numbers = [" ".join(map(repr, np.ravel(x).tolist())) for x in (vertices, faces)]
    text = f"""<mujoco>
        <asset><mesh name="m" inertia="{way}" vertex="{numbers[0]}" face="{numbers[1]}"/></asset>
        <worldbody><body name="b"><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>
    </mujoco>"""
    theirs, ours = (
        mujoco.MjModel.from_xml_string(text),
        read_mjcf_text(text).body("b").mass_properties,
    )
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, theirs.body_iquat[1])
    inertia = R.reshape(3, 3) @ np.diag(theirs.body_inertia[1]) @ R.reshape(3, 3).T
    assert abs(ours.mass / theirs.body_mass[1] - 1.0) < 1e-13
    assert np.abs(np.array(ours.com) - theirs.body_ipos[1]).max() < 1e-13 * np.abs(vertices).max()
    assert np.abs(np.array(ours.inertia) - inertia).max() < 1e-12 * np.abs(inertia).max()


def test_torque_with_mimic_is_contracted():
    """With joints that follow, torque is that of MuJoCo's free joints contracted with v = G
    v_independent."""
    path = MODELS["equalities"]
    follow, free = (
        Robot(read_mjcf(path)),
        Sides(compiled(path), read_mjcf(path, mimic="independent")),
    )
    Gq, b, G = follow.subject.tree.mimic_map
    assert (follow.nv, free.theirs.nv) == (11, 13)
    rng = np.random.default_rng(0)
    q, v, a = (
        follow.random(seed=1, assembled=False),
        rng.normal(size=follow.nv),
        rng.normal(size=follow.nv),
    )
    tau = free._tau(Gq @ q + b, G @ v, G @ a)
    np.testing.assert_allclose(follow.inverse_dynamics(q, v, a), G.T @ tau, rtol=1e-12, atol=1e-13)


def test_mimic_and_couplings_are_the_equalities_of_mujoco():
    """MuJoCo's own violation of each equality at a random state is what our rule says."""
    model = mujoco.MjModel.from_xml_path(str(MODELS["equalities"]))
    data, ours = mujoco.MjData(model), read_mjcf(MODELS["equalities"])
    data.qpos[:] = np.random.default_rng(0).uniform(-1.0, 1.0, model.nq)
    mujoco.mj_forward(model, data)
    q = {model.joint(i).name: float(data.joint(i).qpos[0]) for i in range(model.njnt)}
    kind = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    theirs = {
        model.eq(int(k)).name: data.efc_pos[i]
        for i, k in enumerate(data.efc_id)
        if data.efc_type[i] == kind
    }
    found = {}
    for name, joint in (("geared", ours.joint("slide")), ("chained", ours.joint("rocker"))):
        rule = joint.mimic
        found[name] = q[joint.name] - (rule.multiplier * q[rule.joint] + rule.offset)
    for each in ours.elements:
        if isinstance(each, Coupling):
            found[each.name] = sum(c * q[joint] for joint, c in each.terms) - each.offset
    assert set(found) == {"geared", "chained", "curled", "paired"}
    for name, value in found.items():
        assert value == pytest.approx(theirs[name], abs=1e-14), name


def test_closures_are_the_equalities_of_mujoco():
    """Both ends of a connect, and both frames of a weld, are where MuJoCo's eq_data puts them."""
    theirs, ours = compiled(MODELS["equalities"]), read_mjcf(MODELS["equalities"])
    closures = {
        each.name: each
        for each in ours.elements
        if each.name in ("closed", "to_world", "glued", "posed")
    }
    for name in ("closed", "to_world"):
        data = theirs.eq(name).data
        np.testing.assert_allclose(closures[name].first.position, data[:3], atol=1e-15)
        np.testing.assert_allclose(closures[name].second.position, data[3:6], atol=1e-15)
    for name in ("glued", "posed"):
        data = theirs.eq(name).data  # anchor in body2, relative position, relative quaternion
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, data[6:10])
        np.testing.assert_allclose(closures[name].second.position, data[:3], atol=1e-15)
        np.testing.assert_allclose(closures[name].rotation, R.reshape(3, 3), atol=1e-15)
        at = data[3:6] + R.reshape(3, 3) @ data[:3]
        np.testing.assert_allclose(closures[name].first.position, at, atol=1e-15)


def test_keyframes_and_limits_are_those_of_mujoco():
    theirs, ours = compiled(MODELS["keyframes"]), read_mjcf(MODELS["keyframes"])
    sides = Sides(theirs, ours)
    found = {name: np.concatenate([q for _, q in joints]) for name, joints in ours.configurations}
    assert list(found) == ["qpos0", "home", "short", "key_3"]
    np.testing.assert_allclose(found["qpos0"], sides.our_q(theirs.qpos0), atol=1e-16)
    for k, name in enumerate(("home", "short", "key_3")):
        np.testing.assert_allclose(found[name], sides.our_q(theirs.key_qpos[k]), atol=1e-16)
    for name in ("limits", "joints", "defaults"):
        theirs, ours = compiled(MODELS[name]), read_mjcf(MODELS[name])
        for i in range(theirs.njnt):
            joint, their = ours.joint(theirs.joint(i).name), theirs.joint(i)
            if joint.nv != 1:
                continue
            held = bool(joint.limits) and np.isfinite(joint.limits[0].upper)
            assert held == bool(theirs.jnt_limited[i])
            if held:
                np.testing.assert_allclose(
                    [joint.limits[0].lower, joint.limits[0].upper], their.range, atol=1e-16
                )
            v = theirs.jnt_dofadr[i]
            assert joint.damping == theirs.dof_damping[v]
            assert joint.friction == theirs.dof_frictionloss[v]
            assert joint.armature == theirs.dof_armature[v]


@pytest.mark.parametrize("name", ["joints", "meshes"])
def test_machine_code_agrees_with_mujoco(name):
    sides = Sides(compiled(MODELS[name]), read_mjcf(MODELS[name], mimic="independent"))
    robot = Robot(sides.ours)
    qpos, qvel, qacc = sides.random_state(3)
    both = sides.at(qpos, qvel, qacc)
    poses = robot.forward_kinematics(sides.our_q(qpos))
    ours = np.concatenate([poses.rotation, poses.position[..., None]], axis=-1)[sides.bodies]
    np.testing.assert_allclose(ours, both.poses[0], rtol=0, atol=CLOSE)
    v, a = sides.our_velocities(qpos, qvel, qacc)
    tau = robot.inverse_dynamics(sides.our_q(qpos), v, a)
    np.testing.assert_allclose(tau, both.tau[0], rtol=0, atol=CLOSE * np.abs(both.tau[0]).max())


def test_armature_of_a_free_joint_is_laid_on_body_axes():
    """A known difference: MuJoCo keeps the linear velocity of a free joint in world axes and lays
    armature on it."""
    body = '<body name="b"><joint type="free" armature="0.5"/><geom size="0.1"/></body>'
    path = Path("free.xml")
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    sides = Sides(compiled(path), read_mjcf(path))
    qpos, qvel, qacc = sides.random_state(0)
    both = sides.at(qpos, qvel, qacc)
    assert both.worst()["mass_matrix"] < CLOSE
    v, _ = sides.our_velocities(qpos, qvel, qacc)
    expected = np.r_[0.5 * np.cross(v[3:], v[:3]), np.zeros(3)]
    np.testing.assert_allclose(both.tau[0] - both.tau[1], expected, atol=1e-13)
