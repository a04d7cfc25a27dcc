"""One option with three levels, the same for every format: what is drawn warns,
what moves is refused.

Every entry names a file as it is published (Unitree, ABB, Drake, Bullet, PAL, Valkyrie ...), with
one line of it.
"""

from __future__ import annotations

import logging
import math
import re
import sys

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput, NotPossible


def urdf(visual: str = "", joint: str = "", collision: str = "", robot: str = "") -> str:
    """A pendulum with something inside one of its places; the visual stands on line 3,
    the joint on line 6."""
    return f"""<robot name="pendulum">{robot}
  <link name="base"/>
  <link name="arm">{visual}
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{collision}
  </link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>{joint}</joint>
</robot>"""


BOX = '<geometry><box size="1 2 3"/></geometry>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'

# name -> (text, what the one warning says, number of visuals that stay)
DRAWN = {
    "second material": (
        urdf(f'<visual>{BOX}<material name="a"/><material name="b"/></visual>', LIMIT),
        r'line 3: material "b" is the second <material> \(the first is on line 3\)',
        1,
    ),
    "no geometry": (
        urdf("<visual/>", LIMIT),
        r'line 3: <visual> of link "arm" has no <geometry>',
        0,
    ),
    "scale of one": (
        urdf('<visual><geometry><mesh filename="a.stl" scale="2"/></geometry></visual>', LIMIT),
        'has scale="2", expected 3 numbers: one for all three axes',
        1,
    ),
    "scale of four": (
        urdf(
            '<visual><geometry><mesh filename="a.stl" scale="1 1 1 1"/></geometry></visual>', LIMIT
        ),
        'has scale="1 1 1 1", expected 3 numbers: the first three count',
        1,
    ),
    "scale of a collision": (
        urdf(
            joint=LIMIT,
            collision='<collision><geometry><mesh filename="a.stl" '
            'scale="2"/></geometry></collision>',
        ),
        'line 4: .* has scale="2", expected 3 numbers: one for all three axes',
        0,
    ),
    "colour of three": (
        urdf(f'<visual>{BOX}<material name="a"><color rgba="1 0 0"/></material></visual>', LIMIT),
        'has rgba="1 0 0", expected 4 numbers: opaque',
        1,
    ),
    "no colour": (
        urdf(f'<visual>{BOX}<material name="a"><color rgba=""/></material></visual>', LIMIT),
        'has an empty attribute "rgba": it is not drawn',
        1,
    ),
    "misspelt": (
        urdf(f'<visual><orgin xyz="1 0 0"/>{BOX}</visual>', LIMIT),
        "expected <origin>",
        1,
    ),
    "no file": (
        urdf("<visual><geometry><mesh/></geometry></visual>", LIMIT),
        'no attribute "filename"',
        0,
    ),
    "negative size": (
        urdf(
            f'<visual>{BOX}</visual><visual><geometry><sphere radius="-1"/></geometry></visual>',
            LIMIT,
        ),
        "line 3: <sphere> .* has a negative size",
        1,
    ),
    "xacro colour": (
        urdf(f"<visual>{BOX}<xacro:grey/></visual>", LIMIT),
        "line 3: <xacro:grey> .* is xacro",
        1,
    ),
    "xacro path": (
        urdf('<visual><geometry><mesh filename="$(find arm)/a.stl"/></geometry></visual>', LIMIT),
        "line 3: <mesh> .* is xacro",
        1,
    ),
    "negative limits": (
        urdf(joint='<limit lower="-1" upper="1" velocity="-2" effort="-1"/>'),
        "line 6: <limit> .* has velocity -2, which is negative: there is no limit, line 6: .* "
        "effort -1",
        0,
    ),
    "the same twice": (urdf(joint=LIMIT + LIMIT), "is the second <limit>", 0),
    "mjcf without colour": (
        '<mujoco>\n<worldbody><body name="arm"><joint range="-1 1"/>\n'
        '<geom size="1" rgba=""/></body></worldbody></mujoco>',
        'line 3: <geom> of body "arm" has an empty attribute "rgba": it has no colour',
        1,
    ),
    "yaml": (
        "linkwork: 1\nname: pendulum\nbodies:\n  arm:\n    mass: 2\n    visuals:\n      - {kind: "
        "bax, size: 1}\n"
        "      - {kind: sphere, size: -1}\n      - {kind: sphere, size: 1}\n"
        "joints:\n  turn: {type: revolute, child: arm, limits: [-1, 1]}\n",
        r"line 7:\d+: .*it is not drawn, line 8:\d+: .*negative.*it is not drawn",
        1,
    ),
}


@pytest.mark.parametrize(("text", "warning", "count"), DRAWN.values(), ids=DRAWN)
def test_a_detail_that_is_only_drawn_warns_once(text, warning, count, caplog):
    with caplog.at_level(logging.WARNING, "linkwork"):
        robot = lw.load(text=text, check="any")
    assert len(caplog.records) == 1
    assert re.search(warning, caplog.records[0].message), caplog.records[0].message
    assert len(robot.model.body("arm").visuals) == count
    assert robot.nv == 1


@pytest.mark.parametrize("text", [text for text, _, _ in DRAWN.values()], ids=DRAWN)
def test_strict_refuses_a_detail_too(text):
    with pytest.raises(InvalidFile):
        lw.load(text=text, check="any", strict=True)


@pytest.mark.parametrize(
    "name", [name for name in DRAWN if not re.search("limits|twice|collision", name)]
)
def test_without_visuals_nothing_drawn_is_looked_at(name, caplog):
    with caplog.at_level(logging.WARNING, "linkwork"):
        robot = lw.load(text=DRAWN[name][0], check="any", strict=True, visuals=False)
    assert not caplog.records
    assert robot.model.body("arm").visuals == ()


def test_what_can_be_drawn_keeps_its_size_and_colour():
    one, four = (
        lw.load(text=DRAWN[f"scale of {n}"][0]).model.body("arm").visuals[0]
        for n in ("one", "four")
    )
    assert (one.size, four.size) == ((2.0, 2.0, 2.0), (1.0, 1.0, 1.0))
    assert lw.load(text=DRAWN["colour of three"][0]).model.body("arm").visuals[0].color == (
        1.0,
        0.0,
        0.0,
        1.0,
    )


# name -> (text, refusal, what strict=False says)
MECHANICS = {
    "xacro": (
        urdf(joint=LIMIT, robot="<xacro:sensors/>"),
        r":1: <xacro:sensors> is xacro, not URDF; .*strict=False: it is left out",
        "line 1: <xacro:sensors> is xacro",
    ),
    "reversed": (
        urdf(joint='<limit lower="1" upper="-1" velocity="2" effort="3"/>'),
        r":6: <limit> of joint \"turn\" has lower 1 above upper -1 \(strict=False: the joint has "
        r"no limit\)",
        "line 6: .*lower 1 above upper -1: the joint has no limit",
    ),
    "second inertia": (
        urdf(joint=LIMIT).replace(
            "</link>\n  <joint", '<inertial><mass value="1"/></inertial></link>\n  <joint'
        ),
        r"is the second <inertial> \(the first is on line 4\)",
        "the first one counts",
    ),
    "collision without geometry": (
        urdf(joint=LIMIT, collision="<collision/>"),
        "has no <geometry>",
        "it is left out",
    ),
    "mjcf reversed": (
        '<mujoco><worldbody><body name="arm"><joint range="1 -1"/><geom '
        'size="1"/></body></worldbody></mujoco>',
        r"has range 0.0174533 -0.0174533, expected a lower number first \(strict=False",
        "the joint has no limit",
    ),
    "yaml reversed": (
        "linkwork: 1\nname: p\nbodies:\n  arm: {mass: 2}\njoints:\n"
        "  turn: {type: revolute, child: arm, limits: [1, -1]}\n",
        r":6:\d+: lower limit 1 is above upper limit -1 at joints.turn.limits \(strict=False",
        "the joint has no limit",
    ),
}


@pytest.mark.parametrize(("text", "refusal", "warning"), MECHANICS.values(), ids=MECHANICS)
def test_mechanics_are_refused_and_pass_by_choice(text, refusal, warning, caplog):
    for strict in (None, True):
        with pytest.raises(InvalidFile, match=refusal):
            lw.load(text=text, check="any", strict=strict)
    with caplog.at_level(logging.WARNING, "linkwork"):
        robot = lw.load(text=text, check="any", strict=False)
    (record,) = caplog.records
    assert re.search(warning, record.message), record.message
    assert robot.nv == 1


def test_reversed_limits_mean_none():
    limits = lw.load(text=MECHANICS["reversed"][0], strict=False).limits
    assert (limits.lower[0], limits.upper[0], limits.velocity[0]) == (-math.inf, math.inf, 2.0)


def test_what_is_not_plain_is_refused_at_every_level():
    text = urdf(joint=LIMIT + '<origin xyz="1 2 three"/>')
    for strict in (None, False, True):
        with pytest.raises(InvalidFile, match="three"):
            lw.load(text=text, strict=strict)


def test_unknown_words_pass_unless_strict(caplog):
    text = urdf(joint=LIMIT, robot="<speaker/>")
    assert lw.load(text=text).nv == 1
    assert "left out <speaker> on line 1" in caplog.text
    with pytest.raises(InvalidFile, match=r"left out <speaker> on line 1 \(strict=True\)"):
        lw.load(text=text, strict=True)


# the door


def test_text_of_every_format(tmp_path):
    q = [0.3]
    texts = [
        urdf(joint='<origin xyz="0 0 1"/>' + LIMIT),
        "<!-- <mujoco/> -->\n" + urdf(joint='<origin xyz="0 0 1"/>' + LIMIT),
        '\n\n<?xml version="1.0"?>\n' + urdf(joint='<origin xyz="0 0 1"/>' + LIMIT),
        '<mujoco><worldbody><body name="arm" pos="0 0 1"><joint axis="1 0 0"/>'
        '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>',
        "linkwork: 1\nname: p\nbodies:\n  arm: {mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "joints:\n  turn: {type: revolute, child: arm, axis: [1, 0, 0], placement: {xyz: [0, "
        "0, 1]}}\n",
    ]
    for text in texts:
        robot = lw.load(text=text.encode() if text is texts[1] else text)
        np.testing.assert_allclose(robot.pose(q, "arm")[:3, 3], [0, 0, 1], atol=1e-15)
        np.testing.assert_allclose(robot.mass_matrix(q), [[1.0]], rtol=1e-15)


def test_text_that_is_nothing_is_refused():
    with pytest.raises(InvalidFile, match=r"begins with <html>, expected <robot>, <mujoco>"):
        lw.load(text="<html/>")
    with pytest.raises(InvalidInput, match="text is a int"):
        lw.load(text=3)
    with pytest.raises(InvalidInput, match="neither name nor text"):
        lw.load()
    with pytest.raises(InvalidInput, match="strict is 1, expected None"):
        lw.load(text=urdf(joint=LIMIT), strict=1)
    with pytest.raises(InvalidInput, match="visuals is 'no'"):
        lw.load(text=urdf(joint=LIMIT), visuals="no")
    with pytest.raises(NotPossible, match="no variables that could be live"):
        lw.load(text=urdf(joint=LIMIT), live="mass")


def test_capitals_in_the_ending(tmp_path):
    file = tmp_path / "ARM.URDF"
    file.write_text(urdf(joint=LIMIT))
    assert lw.load(file).nv == 1


def test_an_empty_line_before_the_declaration(tmp_path):
    """Bullet's wheel.urdf begins so; lines keep their numbers."""
    file = tmp_path / "wheel.urdf"
    file.write_text('\n<?xml version="1.0" ?>\n' + urdf(joint=LIMIT))
    assert lw.load(file).nv == 1
    file.write_text('\n<?xml version="1.0" ?>\n' + urdf(joint='<axis xyz="0 0"/>' + LIMIT))
    with pytest.raises(InvalidFile, match=r"wheel.urdf:8: <axis>"):
        lw.load(file)


XACRO = """<robot name="p" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="2"/>
<link name="base"/><link name="arm"><visual><geometry><mesh filename="a.stl"/></geometry></visual>
<inertial><mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="${0.5 * 2}"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


def test_macros_are_expanded(tmp_path):
    pytest.importorskip("xacro")
    file = tmp_path / "p.urdf.xacro"
    file.write_text(XACRO)
    (tmp_path / "a.stl").write_text("")
    robot = lw.load(file)
    assert robot.model.body("arm").mass_properties.mass == 2.0
    assert robot.model.body("arm").visuals[0].mesh == str(tmp_path / "a.stl")
    assert lw.load(file, mappings={"mass": 5}).model.body("arm").mass_properties.mass == 5.0
    with pytest.raises(InvalidInput, match="mappings is 3, expected a dictionary"):
        lw.load(file, mappings=3)
    file.write_text(XACRO.replace("0.5 * 2", "1 / nothing"))
    with pytest.raises(InvalidFile, match=r"p.urdf.xacro: xacro cannot expand it: \w+"):
        lw.load(file)
    with pytest.raises(InvalidFile, match="no such file"):
        lw.load(tmp_path / "other.urdf.xacro")


def test_without_the_package_the_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    file = tmp_path / "p.urdf.xacro"
    file.write_text(XACRO)
    with pytest.raises(
        NotPossible, match="is a macro file, which the package xacro expands: pip install xacro"
    ):
        lw.load(file)
