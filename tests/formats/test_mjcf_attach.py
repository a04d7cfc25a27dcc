"""Models attached to models, as MuJoCo attaches them: names, settings, classes, what comes along,
keyframes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from linkwork.errors import InvalidFile
from linkwork.formats.mjcf import read_mjcf, read_mjcf_text
from tests.formats.mjcf.truth import Sides, compiled

BALL = "v -1 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
INSIDE = (
    '<worldbody><geom name="floor" size=".3"/><body name="arm" pos="0 0 1" euler="10 20 30"><joint '
    'name="j" '
    'axis="0 1 0" range="0 1" stiffness="3" springref="20" ref="5"/><geom name="g" type="box" '
    'size=".1 .2 .3" '
    'euler="0.3 0 0"/>'
    '<site name="s" pos="1 2 3" euler="20 0 0"/><frame name="f" pos="1 2 3"><body name="fore" '
    'pos="0 0 .5" '
    'euler="0.5 0 0"><joint name="k"/><geom type="mesh" mesh="tetra"/></body></frame></body>'
    '<body name="other"><joint name="o" type="slide"/><geom size=".2"/></body></worldbody>'
    '<actuator><motor name="mj" joint="j"/><motor name="mo" joint="o"/></actuator>'
    '<equality><joint name="e1" joint1="j" joint2="k" polycoef="0 2 0 0 0"/><joint name="e2" '
    'joint1="j" joint2="o"/>'
    '<connect name="c" body1="fore" anchor="0 0 0"/></equality>'
    '<tendon><fixed name="t1"><joint joint="j" coef="1"/><joint joint="o" coef="1"/></fixed>'
    '<fixed name="t2"><joint joint="j" coef="1"/></fixed></tendon>'
    '<keyframe><key name="home" qpos=".1 .2 .3"/></keyframe>'
)
ASSET = '<asset><mesh name="tetra" file="tetra.obj" scale=".1 .1 .1"/></asset>'
ARM = '<attach model="part" body="arm" prefix="l_"/>'


def part(before: str = "", inside: str = INSIDE) -> str:
    return f'<mujoco model="pm">{before}{ASSET}{inside}</mujoco>'


def main(attach: str = ARM, before: str = "", after: str = "", file: str = "sub/part.xml") -> str:
    return (
        f'<mujoco>{before}<asset><model name="part" file="{file}"/></asset><worldbody><body '
        'name="base"><joint '
        'name="turn"/><geom size="0.2"/><frame pos="0.5 0 0" euler="0 0 '
        f'40">{attach}</frame></body></worldbody>'
        f"{after}</mujoco>"
    )


CLASSES = (
    '<default><joint damping="3" armature=".1"/><geom density="500"/><default class="c"><geom '
    'density="200"/>'
    "</default></default>"
)
IN_CLASS = INSIDE.replace(
    '<body name="arm"', '<frame childclass="c" pos="7 0 0"><body name="arm"'
).replace("</frame></body>", "</frame></body></frame>")
FILES = {
    "a body": (part(), main()),
    "by the model's own name": (part(), main(ARM.replace('"part"', '"pm"')).replace('name="part" ', "")),
    "everything": (part(), main('<attach model="part" prefix="l_"/>')),
    "its world as a body": (part(), main('<attach model="part" body="world" prefix="l_"/>')),
    "twice": (part(), main(ARM + ARM.replace("l_", "r_"))),
    "a deep body": (part(), main(ARM.replace("arm", "fore"))),
    "a frame": (part(), main('<attach model="part" frame="f" prefix="l_"/>')),
    "radians in the part": (part('<compiler angle="radian" eulerseq="zyx"/>'), main()),
    "radians around it": (part(), main(before='<compiler angle="radian" eulerseq="ZYX"/>')),
    "bounds of the part": (part('<compiler boundmass="50" boundinertia="9"/>'), main()),
    "bounds around it": (part(), main(before='<compiler boundmass="50"/>')),
    "total mass around it": (part(), main(before='<compiler settotalmass="5"/>')),
    "folder of meshes of the part": (part('<compiler meshdir="meshes"/>').replace("tetra.obj", "ball.obj"), main()),
    "folder of meshes around it": (part(), main(before='<compiler meshdir="nowhere"/>')),
    "classes": (part(CLASSES), main(before='<default><joint armature="7"/><geom '
                                           'density="9"/></default>')),
    "classes around the body": (part(CLASSES, IN_CLASS), main()),
    "class around the attachment": (
        part(),
        main(before='<default><default class="c"><geom density="3"/></default></default>').replace(
            '<body name="base"', '<body name="base" childclass="c"'
        ),
    ),
    "gravity of the part": (part('<option gravity="0 0 -1"/>'), main()),
    "gravity merged": (part('<option gravity="0 0 -1"/>'), main(before='<compiler conflict="merge"/>')),
    "copies": (part(), main(f'<replicate count="2" offset="1 0 0">{ARM}</replicate>')),
    "copies inside": (
        part(
            inside='<worldbody><body name="arm"><replicate count="2" offset="1 0 0"><body '
                   'name="x"><joint name="y"/>'
            '<geom type="mesh" mesh="tetra"/></body></replicate></body></worldbody>'
        ),
        main(),
    ),
    "named from outside": (part(), main(after='<actuator><motor name="x" '
                                              'joint="l_j"/></actuator>')),
    "keyframes of both": (part(), main(after='<keyframe><key name="mine" qpos=".9"/></keyframe>')),
    "a free body": (
        part(inside='<worldbody><body name="arm"><freejoint/><geom size="1"/></body></worldbody>'
             '<keyframe><key name="home" qpos="1 2 3 0 0 2 0"/></keyframe>'),
        '<mujoco><asset><model name="part" file="sub/part.xml"/></asset><worldbody><frame pos="0 '
        '0 5">'
        f"{ARM}</frame></worldbody></mujoco>",
    ),
    "a part of a part": (
        part(CLASSES),
        main(file="sub/middle.xml").replace('body="arm"', 'body="middle"'),
    ),
    "itself": (
        part(),
        '<mujoco><default><default class="c"><joint '
        'damping="3"/></default></default><worldbody><body name="z" '
        'childclass="c"><body name="x"><joint name="t"/><geom size="1"/></body></body><body '
        'name="b" pos="0 1 0">'
        '<attach body="x" prefix="s_"/></body></worldbody><actuator><motor name="m" '
        'joint="t"/></actuator></mujoco>',
    ),
}  # fmt: skip
MIDDLE = (
    '<mujoco><compiler angle="radian"/><asset><model name="part" '
    'file="part.xml"/></asset><worldbody>'
    '<body name="middle" euler="1 0 0"><joint name="m"/><geom size="1"/><attach model="part" '
    'body="arm" prefix="n_"/>'
    '</body></worldbody><keyframe><key name="mid" qpos=".7 .8 .9"/></keyframe></mujoco>'
)


def written(folder, inner: str, outer: str):
    (folder / "sub" / "meshes").mkdir(parents=True)
    for name in ("sub/tetra.obj", "sub/meshes/ball.obj"):
        (folder / name).write_text(BALL)
    (folder / "sub" / "part.xml").write_text(inner)
    (folder / "sub" / "middle.xml").write_text(MIDDLE)
    (folder / "main.xml").write_text(outer)
    return folder / "main.xml"


def names(model: mujoco.MjModel, kind: str, count: int) -> list[str]:
    return [
        mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), k) or ""
        for k in range(count)
    ]


@pytest.mark.parametrize("case", FILES)
def test_an_attached_model_is_the_one_mujoco_compiles(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file in the present folder
    path = written(tmp_path, *FILES[case])
    theirs, ours = compiled(path), read_mjcf(path, mimic="independent")
    # joints and bodies by name and order, sites too
    worst = Sides(theirs, ours).at_random_states(1)[0].worst()
    assert max(worst.values()) < 1e-10, worst
    assert ours.gravity == pytest.approx(theirs.opt.gravity, abs=1e-15)
    sites = {frame.name for frame in ours.frames}
    assert set(names(theirs, "SITE", theirs.nsite)) <= sites
    found = {getattr(each, "name", "") for each in (*ours.carried, *ours.elements)}
    for kind, count in (
        ("ACTUATOR", theirs.nu),
        ("TENDON", theirs.ntendon),
        ("EQUALITY", theirs.neq),
    ):
        assert set(names(theirs, kind, count)) <= found, kind
    moving = [joint for joint in ours.joints if joint.nq == 1]
    assert [j.armature for j in moving] == [
        theirs.dof_armature[theirs.joint(j.name).dofadr[0]] for j in moving
    ]
    for joint in moving:
        if theirs.jnt_limited[theirs.joint(joint.name).id]:
            assert (joint.limits[0].lower, joint.limits[0].upper) == pytest.approx(
                theirs.joint(joint.name).range
            )


@pytest.mark.parametrize("case", ["everything", "copies", "keyframes of both", "a free body"])
def test_keyframes_place_the_joints_that_came(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, *FILES[case])
    theirs, ours = mujoco.MjModel.from_xml_path(str(path)), read_mjcf(path, mimic="independent")
    configurations = dict(ours.configurations)
    labels = names(theirs, "KEY", theirs.nkey)
    assert set(labels) <= set(configurations)
    for label, row in zip(labels, theirs.key_qpos):
        for joint, q in configurations[label]:
            at = next(
                k
                for k in range(theirs.njnt)
                if names(theirs, "JOINT", theirs.njnt)[k] in (joint, "")
            )
            at = theirs.jnt_qposadr[at]
            if len(q) == 7:
                *place, w, x, y, z = row[at : at + 7]
                unit = np.array([x, y, z, w]) / np.linalg.norm([x, y, z, w])
                np.testing.assert_allclose(q, [*place, *unit], atol=1e-15)
            else:
                np.testing.assert_allclose(q, row[at : at + 1], atol=1e-15)


WRONG = {
    "no prefix": (part(), main(ARM.replace('prefix="l_"', "")), "has no prefix"),
    "no such body": (part(), main(ARM.replace("arm", "arn")), 'body "arn", which its model does '
                                                              'not have; did you'),
    "no such model": (part(), main(ARM.replace('"part"', '"prt"')), 'names the model "prt", which '
                                                                    'is no asset; did'),
    "no such file": (part(), main(file="none.xml"), 'names "none.xml", and there is no such '
                                                    'file below'),
    "a file outside": (part(), main(file="../../secret.xml"), "there is no such file below"),
    "twice with one prefix": (part(), main(ARM + ARM), "has a name that another body"),
    "itself in itself": (part(), main('<attach body="base" '
                                      'prefix="s_"/>'), "stands in the body that it attaches"),
    "later than itself": (
        part(),
        '<mujoco><worldbody><body><attach body="x" prefix="s_"/></body><body '
        'name="x"/></worldbody></mujoco>',
        "does not stand before it",
    ),
    "neither": (part(), main('<attach prefix="s_"/>'), "expected a body or a frame of this file"),
    "both": (part(), main('<attach model="part" body="arm" frame="f" '
                          'prefix="s_"/>'), "names a body and a frame"),
    "in a circle": (
        '<mujoco><asset><model name="m" file="../main.xml"/></asset><worldbody/></mujoco>',
        main(),
        "part.xml:1: model .* which attaches from this file|main.xml:1: model .* which attaches "
        "from this file",
    ),
    "unknown class in the part": (
        part(inside=INSIDE.replace('name="g"', 'class="k"')), main(), 'part.xml:1: .* has '
                                                                      'class="k", and there is no'
    ),
    "a part that is URDF": ('<robot name="r"/>', main(), "this is URDF"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_attachment_is_refused_where_it_stands(case, tmp_path):
    inner, outer, words = WRONG[case]
    path = written(tmp_path, inner, outer)
    (tmp_path.parent / "secret.xml").write_text(part())
    with pytest.raises(InvalidFile, match=words):
        read_mjcf(path)


def test_a_text_attaches_nothing_without_folders(tmp_path):
    written(tmp_path, part(), main())
    with pytest.raises(InvalidFile, match="no such file below no folder"):
        read_mjcf_text(main())
    assert [body.name for body in read_mjcf_text(main(), folders=[tmp_path]).bodies] == [
        "base",
        "l_arm",
        "l_fore",
    ]


def test_models_within_models_are_bounded(tmp_path):
    """Ten levels that each attach the next one three times would make 59 049 arms."""
    for k in range(12):
        below = "".join(f'<attach model="m" prefix="{k}{n}"/>' for n in range(3))
        (tmp_path / f"{k}.xml").write_text(
            f'<mujoco><asset><model name="m" file="{k + 1}.xml"/></asset><worldbody><body '
            f'name="b{k}"><geom size="1"/>'
            f"{below}</body></worldbody></mujoco>"
        )
    (tmp_path / "12.xml").write_text(
        '<mujoco><worldbody><body name="x"><geom size="1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(InvalidFile, match="deeper than 10 models"):
        read_mjcf(tmp_path / "0.xml")
    with pytest.raises(InvalidFile, match="makes more than 40000 elements"):
        read_mjcf(tmp_path / "3.xml")
