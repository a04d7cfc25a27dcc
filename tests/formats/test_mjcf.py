"""Reading MJCF: what every element becomes, which files are opened,
and the sentence for everything that is wrong."""

from __future__ import annotations

import math
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats.mjcf import read_mjcf, read_mjcf_text
from linkwork.formats.mjcf.quaternion import to_quaternion
from linkwork.formats.mjcf.solids import hull, solid
from linkwork.formats.mjcf.vocabulary import READ, REFUSED, WITHOUT_INFLUENCE
from linkwork.model import Limits
from linkwork.model.elements import TorsionSpring
from linkwork.model.rotation import from_quaternion

HERE = Path(__file__).parent / "mjcf"


def robot(inside: str, before: str = "", after: str = "") -> str:
    return f'<mujoco model="r">\n{before}\n<worldbody>\n{inside}\n</worldbody>\n{after}\n</mujoco>'


BALL = '<body name="b"><joint name="j"/><geom name="g" size="0.1"/></body>'


# what it becomes


def test_several_joints_of_a_body_become_a_chain():
    model = read_mjcf(HERE / "joints.xml")
    chain = [
        joint for joint in model.joints if joint.child in ("upper", "upper/yaw", "upper/pitch")
    ]
    assert [(j.name, j.type, j.parent, j.child) for j in chain] == [
        ("yaw", "revolute", "cart", "upper/yaw"),
        ("pitch", "continuous", "upper/yaw", "upper/pitch"),
        ("lift", "prismatic", "upper/pitch", "upper"),
    ]
    assert not model.body("upper/yaw").has_inertia
    assert model.body("upper").has_inertia


def test_a_joint_beside_the_origin_carries_a_massless_body():
    model = read_mjcf(HERE / "joints.xml")
    assert (model.joint("hinge").child, model.joint("flap_fixed").parent) == (
        "flap/hinge",
        "flap/hinge",
    )
    assert model.joint("along").child == "on_axis"  # its anchor lies on its axis through the origin


def test_units_of_limits_and_references_follow_angle():
    joint = '<body><joint name="j" range="-90 90" ref="45"/><geom size="1" pos="1 0 0"/></body>'
    degrees = read_mjcf_text(robot(joint)).joint("j")
    assert degrees.limits == (Limits(-math.pi / 2, math.pi / 2),)
    radians = read_mjcf_text(robot(joint.replace("90", "1"), '<compiler angle="radian"/>')).joint(
        "j"
    )
    assert radians.limits == (Limits(-1.0, 1.0),)
    slide = read_mjcf_text(robot(joint.replace("<joint", '<joint type="slide"'))).joint("j")
    assert slide.limits == (Limits(-90.0, 90.0),)


def test_what_has_no_name_gets_one_that_is_free():
    inside = """<body><joint/><joint type="slide"/><geom size="1"/>
                  <body name="body_3"><joint name="body_1_joint_1"/><geom size="1"/></body>
                  <body><joint/><geom size="1"/></body></body>"""
    model = read_mjcf_text(robot(inside))
    names = [body.name for body in model.bodies if body.has_inertia]
    assert names == ["body_1", "body_3", "body_3_2"]
    assert [joint.name for joint in model.joints if joint.nv] == [
        *("body_1_joint_1_2", "body_1_joint_2"),
        *("body_1_joint_1", "body_3_2_joint"),
    ]


def test_world_holds_what_stands_in_it():
    model = read_mjcf(HERE / "scene.xml")
    world = model.bodies[0]
    assert (world.name, world.has_inertia, [shape.name for shape in world.visuals]) == (
        "world",
        False,
        ["table"],
    )
    assert world.visuals[0].color == (0.5, 0.5, 0.6, 1.0)
    assert {frame.name: frame.body for frame in model.frames} == {
        "target": "world",
        "hand": "body_4",
    }
    assert all(joint.parent != "world" for joint in model.joints)
    assert "world" not in [body.name for body in read_mjcf(HERE / "joints.xml").bodies]


def test_shapes_are_drawn_by_group_and_collide_by_type():
    shapes = """<geom name="both" size="1"/>
                <geom name="seen" type="box" size="1 2 3" group="2" contype="0" conaffinity="0"/>
                <geom name="felt" type="capsule" size="1 2" group="3" pos="0 0 1"/>
                <geom type="ellipsoid" size="1 1 1"/>"""
    body = read_mjcf_text(robot(f"<body><freejoint/>{shapes}</body>")).bodies[0]
    assert [shape.name for shape in body.visuals] == ["both", "seen"]
    assert [shape.name for shape in body.collisions] == ["both", "felt"]
    assert (body.visuals[1].size, body.collisions[1].size) == ((2.0, 4.0, 6.0), (1.0, 4.0))


def test_meshes_are_found_and_drawn_where_mujoco_draws_them():
    model = read_mjcf(HERE / "meshes.xml")
    legacy, moved = model.body("legacy").visuals[0], model.body("moved")
    assert legacy.mesh == str(HERE / "assets" / "bracket.stl")
    assert moved.visuals == ()  # turned before it is scaled unevenly: no shape of linkwork can
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    text = robot(
        f'<body name="b"><freejoint/>{inertial}<geom type="mesh" mesh="m"/></body>',
        '<asset><mesh name="m" file="absent.stl" refpos="1 2 3" refquat="1 1 0 0" scale="2 2 '
        '2"/></asset>',
    )
    (shape,) = read_mjcf_text(text).body("b").visuals
    assert (shape.mesh, shape.size) == ("absent.stl", (2.0, 2.0, 2.0))
    np.testing.assert_allclose(
        shape.placement.at((1.0 * 2, 2.0 * 2, 3.0 * 2)), (0.0, 0.0, 0.0), atol=1e-15
    )


def test_springs_of_joints_are_elements():
    springs = [
        each for each in read_mjcf(HERE / "drives.xml").elements if isinstance(each, TorsionSpring)
    ]
    assert [(s.name, s.joint, s.stiffness, s.free) for s in springs] == [
        ("a_spring", "a", 3.0, pytest.approx(math.radians(20))),
        ("c_spring", "c", 7.0, 0.03),
    ]


def test_a_spring_on_a_follower_acts_on_its_leader():
    inside = """<body><joint name="x" type="slide"/><geom size="1"/></body>
                <body><joint name="y" type="slide" stiffness="5" springref="0.3"/><geom size="1"/></body>"""
    equality = '<equality><joint joint1="y" joint2="x" polycoef="0.1 2"/></equality>'
    (spring,) = read_mjcf_text(robot(inside, "", equality)).elements
    assert (spring.joint, spring.stiffness, spring.free) == ("x", 20.0, pytest.approx(0.1))


def test_actuators_and_tendons_are_carried_with_what_they_inherit():
    model = read_mjcf(HERE / "drives.xml")
    carried = {each.name: each for each in model.carried}
    assert carried["m"].kind == "mjcf actuator motor"
    assert (carried["m"].get("gear"), carried["m"].get("ctrlrange"), carried["m"].get("kp")) == (
        "50",
        "-1 1",
        None,
    )
    assert (carried["p"].get("gear"), carried["p"].get("kp")) == ("3", "20")
    assert [part.kind for part in carried["cable"].parts] == [
        "site",
        "geom",
        "site",
        "pulley",
        "site",
        "site",
    ]
    assert model.joint("a").armature == 0.5 + 50**2 * 0.001 + 2**2 * 0.03
    assert model.joint("b").limits == (Limits(effort=30.0),)


def test_mimic_follows_or_becomes_a_coupling_by_choice():
    follow = read_mjcf(HERE / "equalities.xml")
    free = read_mjcf(HERE / "equalities.xml", mimic="independent")
    assert {j.name for j in follow.joints if j.mimic} == {"slide", "rocker"}
    assert not any(j.mimic for j in free.joints)
    assert {"geared", "chained", "circle"} <= {each.name for each in free.elements}


def test_carried_equalities_are_named_in_one_warning(caplog):
    model = read_mjcf(HERE / "equalities.xml")
    assert [each.name for each in model.carried if "equality" in each.kind] == [
        "stopped",
        "bent",
        "off",
    ]
    assert len(caplog.records) == 1
    assert 'equality joint "bent" is a polynomial of higher degree' in caplog.text


def test_forces_linkwork_does_not_know_are_named(caplog):
    read_mjcf_text(
        robot(
            '<body name="b" gravcomp="1"><joint springdamper="1 1"/><geom size="1" pos="1 0 '
            '0"/></body>'
        )
    )
    assert 'springdamper of joint "b_joint"' in caplog.text
    assert "gravity compensation of b is left out" in caplog.text
    free = '<body><joint name="f" type="free" armature="1"/><geom size="1"/></body>'
    read_mjcf_text(robot(free, '<option density="1.2"/>'))
    assert 'armature of free joint "f" acts on body axes' in caplog.text
    assert "forces of the fluid around are left out" in caplog.text


def test_bodies_without_any_mass_make_a_kinematic_robot():
    assert read_mjcf_text(robot('<body><joint/><geom size="1" mass="0"/></body>')).kinematic_only
    assert not read_mjcf_text(robot(BALL)).kinematic_only


def test_name_is_the_models_or_the_files(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(robot(BALL).replace(' model="r"', ""))
    assert read_mjcf(path).name == "arm"
    assert read_mjcf_text(robot(BALL)).name == "r"


def test_a_chain_of_a_thousand_bodies_is_read():
    link = '<body pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" size=".1 .5"/>'
    assert len(read_mjcf_text(robot(link * 1000 + "</body>" * 1000)).bodies) == 1000


# the words


def schema() -> list[tuple[tuple[str, ...], list[str]]]:
    """(path of tags, attributes) of MuJoCo's own schema."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        match = re.match(r"^( *)(\(world\)body|[A-Za-z_]\w*) \((.)\) *(.*)$", line)
        if match:
            path = [*path[: len(match[1]) // 3], match[2].replace("(world)", "")]
            found.append((tuple(path), match[4].split()))
        elif line.strip():
            found[-1][1].extend(line.split())
    return found


def test_every_word_of_mujocos_schema_is_known():
    assert len(schema()) > 150
    for path, attributes in schema():
        place: str | None = "mujoco"
        for tag in path[1:]:
            tags = READ[place][0] | {"body": "body"} if place == "mujoco" else READ[place][0]
            quiet = tag in WITHOUT_INFLUENCE.get(place, "").split() or tag in REFUSED
            assert tag in tags or quiet, path
            place = None if quiet else tags[tag]
            if place is None:
                break
        if place is not None:
            assert set(attributes) <= set(READ[place][1].split()), path


WRONG = {
    "an unknown tag": (
        robot('<body><freejiont/><geom size="1"/></body>'),
        r"mjcf text:4: <freejiont> of <body> of <worldbody> is not a tag .* inside <body>; did you "
        r'mean "freejoint"\?',
    ),
    "an unknown attribute": (
        robot(BALL.replace("size", "sise")),
        r'4: geom "g" has an attribute "sise".*did you mean "size"',
    ),
    "another format": (
        '<robot name="x"/>',
        r"root element is <robot> \(this is URDF\), expected <mujoco>",
    ),
    "no bodies": (robot(""), r"1: <mujoco> has no <body>"),
    "composite": (
        robot('<body><composite type="cable"/></body>'),
        r"composite> .*makes bodies that only MuJoCo can make",
    ),
    "global coordinates": (
        robot(BALL, '<compiler coordinate="global"/>'),
        r'2: <compiler> has coordinate="global"',
    ),
    "a Euler sequence": (
        robot(BALL, '<compiler eulerseq="abc"/>'),
        r"expected three of x, y, z, X, Y, Z",
    ),
    "a word of a choice": (
        robot(BALL, '<compiler angle="radians"/>'),
        r'expected one of degree, radian; did you mean "radian"',
    ),
    "two orientations": (
        robot('<body euler="1 2 3" quat="1 0 0 0"/>'),
        r"has quat and euler, expected one orientation",
    ),
    "a zero quaternion": (robot('<body quat="0 0 0 0"/>'), r"expected a quaternion"),
    "a zero axis": (
        robot('<body><joint axis="0 0 0"/></body>'),
        r'has axis="0 0 0", expected a direction',
    ),
    "too few numbers": (robot('<body pos="1 2"/>'), r'has pos="1 2", expected 3 finite numbers'),
    "a range turned round": (
        robot(BALL.replace('"j"', '"j" range="2 1"')),
        r"has range .*expected a lower number first",
    ),
    "limits not said": (
        robot(BALL.replace('"j"', '"j" range="1 2"'), '<compiler autolimits="false"/>'),
        r'has range but not limited, and autolimits is "false"',
    ),
    "a joint of the world": (
        robot('<joint name="w"/>' + BALL),
        r'4: joint "w" stands in the world',
    ),
    "a free joint inside": (
        robot('<body><geom size="1"/><body><freejoint/><geom size="1"/></body></body>'),
        r'is free and stands in a child of body "body_1"',
    ),
    "a free joint with others": (
        robot('<body><freejoint/><joint/><geom size="1"/></body>'),
        r"is free and stands with other",
    ),
    "two inertials": (
        robot('<body><inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/></body>'),
        r"is the second <inertial>",
    ),
    "full and diagonal inertia": (
        robot(
            '<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" diaginertia="1 1 '
            '1"/></body>'
        ),
        r"has fullinertia and diaginertia, expected one of them",
    ),
    "a negative mass": (
        robot('<body><inertial pos="0 0 0" mass="-1"/></body>'),
        r"has mass -1, expected",
    ),
    "a size": (
        robot('<body><joint/><geom type="box" size="1 2"/></body>'),
        r'is a box of size "1 2 0", expected 3 positive',
    ),
    "pos and fromto": (
        robot(
            '<body><joint/><geom type="capsule" size="1" pos="1 0 0" fromto="0 0 0 1 1 1"/></body>'
        ),
        r"has both pos and fromto",
    ),
    "an unknown class": (
        robot(BALL.replace('"g"', '"g" class="x"')),
        r'has class="x", and there is no such default class',
    ),
    "a class twice": (
        robot(BALL, '<default><default class="a"/><default class="a"/></default>'),
        r'2: .*names the class "a" a second time',
    ),
    "a class at the top": (
        robot(BALL, '<default class="x"/>'),
        r'has class "x", expected none or "main"',
    ),
    "a number in a class": (
        robot(BALL, '<default>\n<joint damping="much"/></default>'),
        r'3: <joint> of <default> has damping="much"',
    ),
    "a body twice": (
        robot(BALL + BALL.replace('"j"', '"k"')),
        r'body "b" has a name that another body \(line 4\) has',
    ),
    "a joint twice": (
        robot(BALL + BALL.replace('"b"', '"c"')),
        r'joint "j" has a name that another joint \(line 4\) has',
    ),
    "a body named world": (
        robot('<body name="world"/>'),
        r'body "world" has a name that another body has already',
    ),
    "an unknown mesh": (
        robot(
            '<body><geom type="mesh" mesh="brackett"/></body>',
            '<asset><mesh name="bracket" file="b.stl"/></asset>',
        ),
        r'names the mesh "brackett", which is no asset; did you mean "bracket"\?',
    ),
    "a mesh that is not there": (
        robot(
            '<body><joint/><geom type="mesh" mesh="m"/></body>',
            '<asset><mesh name="m" file="m.stl"/></asset>',
        ),
        r'2: mesh "m" names the file "m.stl", whose mass MuJoCo would infer, but there is no '
        r"such file",
    ),
    "a built-in mesh": (
        robot(
            '<body><joint/><geom type="mesh" mesh="m"/></body>',
            '<asset><mesh name="m" builtin="sphere" params="1"/></asset>',
        ),
        r"is built in",
    ),
    "a flat mesh": (
        robot(
            '<body><joint/><geom type="mesh" mesh="m"/></body>',
            '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 0"/></asset>',
        ),
        r"its convex hull has no volume",
    ),
    "a mesh inside out": (
        robot(
            '<body><joint/><geom type="mesh" mesh="m"/></body>',
            '<asset><mesh name="m" inertia="exact" vertex="0 0 0 1 0 0 0 1 0 0 0 1" '
            'face="0 1 2 0 3 1 0 2 3 1 3 2"/></asset>',
        ),
        r"its volume -0.166667 m\^3 is negative",
    ),
    "an unknown joint": (
        robot(BALL, "", '<actuator><motor joint="i"/></actuator>'),
        r'names the joint "i", which does not exist',
    ),
    "an unknown body": (
        robot(BALL, "", '<equality><connect body1="c" anchor="0 0 0"/></equality>'),
        r'names the body "c", which does not exist',
    ),
    "too many numbers of a keyframe": (
        robot(BALL, "", '<keyframe><key qpos="1 2"/></keyframe>'),
        r'has qpos="1 2", expected 0 to 1 finite numbers',
    ),
    "copies without end": (
        robot('<replicate count="99999999"><body><geom size="1"/></body></replicate>'),
        r'has count="99999999", expected how many copies',
    ),
    "copies of copies without end": (
        robot('<replicate count="999"><replicate count="999"><body/></replicate></replicate>'),
        r"makes more than 50000 copies",
    ),
    "mass that is not physical, asked for": (
        robot('<body name="u"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'),
        r'4: robot "r", body "u": principal moments 1, 1, 3 kg m\^2 violate',
    ),
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_line(text, sentence):
    with pytest.raises(InvalidFile, match=sentence):
        read_mjcf_text(text, check="physical")


def test_wrong_options_are_refused():
    with pytest.raises(
        InvalidInput, match="mimic is 'none', expected one of 'follow', 'independent'"
    ):
        read_mjcf_text(robot(BALL), mimic="none")
    with pytest.raises(InvalidInput, match="text is a int"):
        read_mjcf_text(3)
    with pytest.raises(InvalidInput, match="folders is 3"):
        read_mjcf_text(robot(BALL), folders=3)


# files


@pytest.fixture
def house(tmp_path):
    """A folder with a robot in it, and things outside it that must not be touched."""
    inside = tmp_path / "inside"
    (inside / "parts").mkdir(parents=True)
    (tmp_path / "outside.xml").write_text("<x><geom size='1'/></x>")
    (tmp_path / "outside.stl").write_bytes((HERE / "assets" / "bracket.stl").read_bytes())
    return inside


def opened_files(monkeypatch) -> list[str]:
    import linkwork.formats.files as files

    seen: list[str] = []
    original = files._opened_without_waiting
    monkeypatch.setattr(
        files,
        "_opened_without_waiting",
        lambda path, flags: (seen.append(path), original(path, flags))[1],
    )
    return seen


@pytest.mark.parametrize(
    "name", ["../outside.xml", "parts/../../outside.xml", "link.xml", "ABSOLUTE"]
)
def test_nothing_outside_the_folder_is_included(house, name, monkeypatch):
    (house / "link.xml").symlink_to(house.parent / "outside.xml")
    name = str(house.parent / "outside.xml") if name == "ABSOLUTE" else name
    path = house / "robot.xml"
    path.write_text(robot(f'<body><joint/><include file="{name}"/></body>'))
    seen = opened_files(monkeypatch)
    with pytest.raises(InvalidFile, match=r"robot.xml:4: <include> .*no such file below"):
        read_mjcf(path)
    assert seen == [str(path)]
    assert read_mjcf(path, folders=[house.parent]).bodies[0].mass_properties.mass > 0


@pytest.mark.parametrize("folder", ["..", "assets", "/", "\0"])
def test_no_mesh_outside_the_folder_is_opened(house, folder, monkeypatch):
    (house / "assets").symlink_to(house.parent)
    path = house / "robot.xml"
    path.write_text(
        robot(
            '<body><joint/><geom type="mesh" mesh="outside"/></body>',
            f'<compiler meshdir="{folder}"/><asset><mesh file="outside.stl"/></asset>'.replace(
                "\0", "x" * 5000
            ),
        )
    )
    seen = opened_files(monkeypatch)
    with pytest.raises(InvalidFile, match="no such file below"):
        read_mjcf(path)
    assert seen == [str(path)]


def test_includes_are_looked_for_beside_the_main_file_then_beside_the_including_one(house):
    path = house / "robot.xml"
    path.write_text(robot('<include file="parts/one.xml"/>'))
    (house / "parts" / "one.xml").write_text('<x><include file="two.xml"/></x>')
    (house / "parts" / "two.xml").write_text(
        '<x><body name="beside_one"><geom size="1"/></body></x>'
    )
    assert read_mjcf(path).bodies[0].name == "beside_one"
    (house / "two.xml").write_text('<x><body name="beside_main"><geom size="1"/></body></x>')
    assert read_mjcf(path).bodies[0].name == "beside_main"


def test_errors_of_included_files_name_them(house):
    path = house / "robot.xml"
    path.write_text(robot('<include file="parts/one.xml"/>'))
    (house / "parts" / "one.xml").write_text('<x>\n<body><geom size="1" mas="2"/></body></x>')
    with pytest.raises(InvalidFile, match=r"parts/one.xml:2: <geom> .*did you mean \"mass\""):
        read_mjcf(path)


def test_a_file_is_included_once(house):
    path = house / "robot.xml"
    path.write_text(robot('<include file="robot.xml"/>'))
    with pytest.raises(InvalidFile, match="a second time"):
        read_mjcf(path)


def test_text_includes_only_from_given_folders():
    text = (HERE / "include.xml").read_text()
    with pytest.raises(InvalidFile, match="no such file below no folder"):
        read_mjcf_text(text)
    assert len(read_mjcf_text(text, folders=[HERE]).bodies) == 3


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("m.stl", b"solid x\nfacet normal 0 0 1", "is an ASCII STL"),
        ("m.stl", b"\0" * 84 + b"x", "not a whole binary STL"),
        ("m.obj", b"v 1 2\n", r'm.obj:1: "v 1 2" is not a vertex or a face'),
        ("m.obj", b"v 0 0 0\nf 1 2 9\n", "a face names a vertex"),
        ("m.obj", b"v 0 0 0\nf 1 a 2\n", "m.obj:2:"),
        ("m.msh", b"\1\0\0\0", "not a whole MSH"),
        ("m.ply", b"ply", "MuJoCo reads meshes from .stl, .obj, .msh"),
        ("m.obj", b"", "has 0 vertices, expected at least 4"),
    ],
)
def test_broken_meshes_are_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    text = robot(
        '<body><joint/><geom type="mesh" mesh="m"/></body>', f'<asset><mesh file="{name}"/></asset>'
    )
    with pytest.raises(InvalidFile, match=sentence):
        read_mjcf_text(text, folders=[tmp_path])


# mathematics


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "ellipsoid", "box"])
def test_volumes_and_moments_agree_with_integration(kind):
    """400 000 points of a box around the shape: their share gives the volume,
    their spread the moments, to 5e-3."""
    rng = np.random.default_rng(0)
    size = (0.5, 0.7, 0.9)
    reach = np.array(
        {"sphere": (0.5, 0.5, 0.5), "capsule": (0.5, 0.5, 1.2), "cylinder": (0.5, 0.5, 0.7)}.get(
            kind, size
        )
    )
    points = rng.uniform(-reach, reach, size=(400_000, 3))
    x, y, z = points.T
    inside = {
        "sphere": x * x + y * y + z * z < 0.25,
        "capsule": x * x + y * y + np.maximum(np.abs(z) - 0.7, 0.0) ** 2 < 0.25,
        "cylinder": x * x + y * y < 0.25,
        "ellipsoid": (x / 0.5) ** 2 + (y / 0.7) ** 2 + (z / 0.9) ** 2 < 1.0,
        "box": np.ones(len(points), bool),
    }[kind]
    found = solid(kind, size)
    second = (points[inside] ** 2).mean(axis=0)
    assert found.content == pytest.approx(8.0 * reach.prod() * inside.mean(), rel=5e-3)
    np.testing.assert_allclose(found.moments, second.sum() - second, rtol=5e-3)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box"])
def test_a_shell_is_the_difference_of_two_solids(kind):
    """d(mass * moments) / d(thickness): a shell of small thickness grown on every side."""
    size, e = np.array((0.5, 0.7, 0.9)), 1e-6
    grown = (
        tuple(size + e)
        if kind == "box"
        else (0.5 + e, 0.7 + (e if kind == "cylinder" else 0.0), 0.9)
    )
    inner, outer, shell = solid(kind, tuple(size)), solid(kind, grown), hull(kind, tuple(size))
    assert (outer.content - inner.content) / e == pytest.approx(shell.content, rel=1e-5)
    spread = outer.content * np.array(outer.moments) - inner.content * np.array(inner.moments)
    np.testing.assert_allclose(spread / e, shell.content * np.array(shell.moments), rtol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_quaternions_of_rotations_are_exact(seed):
    rng = np.random.default_rng(seed)
    # also nearly half turns about each axis
    q = rng.normal(size=4) * 10.0 ** rng.uniform(-12, 0, size=4)
    R = from_quaternion(tuple(q / np.linalg.norm(q)))
    found = to_quaternion(R)
    assert abs(math.hypot(*found) - 1.0) < 4e-16
    np.testing.assert_allclose(from_quaternion(found), R, atol=8e-16)


# cost


def test_files_made_to_cost_time_are_refused_or_read_at_once():
    """Many shapes of a class deep in classes, many shapes, many bodies:
    each would take minutes read naively."""
    depth = 1500
    classes = "".join(f'<default class="c{i}"><geom size="1"/>' for i in range(depth))
    nested = f"<default>{classes}{'</default>' * depth}</default>"
    shapes = f"<body><freejoint/>{f'<geom class={chr(34)}c{depth - 1}{chr(34)}/>' * 3000}</body>"
    assert len(read_mjcf_text(robot(shapes, nested)).bodies[0].visuals) == 3000
    with pytest.raises(InvalidFile, match="more than 40000 elements"):
        read_mjcf_text(robot('<geom size="1"/>' * 50_000))
    with pytest.raises(InvalidFile, match="more than 10000 bodies"):
        read_mjcf_text(robot("<body/>" * 20_000))
