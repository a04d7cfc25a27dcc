"""linkwork check --beside: every URDF and MJCF of a folder beside Pinocchio and MuJoCo.

With LINKWORK_BESIDE=/a/folder the collection there is read and its table printed; nothing is ever
fetched.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter

import pytest

from linkwork.cli.beside import Row, beside
from linkwork.errors import InvalidInput
from tests.cli.runs import run
from tests.published import URDFS

FOLDER = os.environ.get("LINKWORK_BESIDE", "")
MJCF = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/>
<body pos="0.2 0 0"><joint axis="0 1 0"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/><body name="c" pos="0.3 0 0"><joint type="slide" axis="1 0 0"/>
<joint name="k" axis="0 0 1" armature="0.1"/><geom size="0.07"/></body></body></body></worldbody></mujoco>"""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "robots"
    (place / "inner").mkdir(parents=True)
    shutil.copy(URDFS["ur/ur5_robot"], place / "ur5.URDF")
    # continuous joints: two coordinates there
    shutil.copy(URDFS["kinova/kinova"], place / "inner" / "kinova.urdf")
    # branches, in another order
    shutil.copy(URDFS["talos_data/talos_reduced"], place / "inner" / "talos.urdf")
    text = URDFS["ur/ur5_robot"].read_text()
    (place / "reversed.urdf").write_text(text.replace('lower="-6.28318530718"', 'lower="7"', 1))
    (place / "unknown.urdf").write_text(text.replace('type="revolute"', 'type="screw"', 1))
    (place / "broken.urdf").write_text(text[:2000])
    (place / "arm.xml").write_text(MJCF)
    (place / "part.xml").write_text("<mujocoinclude/>")
    (place / "notes.txt").write_text("not a robot")
    return place


def test_a_part_that_the_peer_leaves_out_is_told(tmp_path):
    """A line break in a number: urdfdom says so,
    drops the mass properties and goes on (Unitree's dex2_5 hands)."""
    text = URDFS["ur/ur5_robot"].read_text()
    broken = text.replace('ixx="0.22689067591"', 'ixx="0.22689067591\n"', 1)
    assert broken != text
    (tmp_path / "ur5.urdf").write_text(broken)
    (row,) = beside(tmp_path)
    assert row.verdict == "peer leaves out"
    assert "Could not parse inertial element" in row.why
    assert row.difference > 1e-3


def test_the_peer_is_not_asked_for_contacts(tmp_path, monkeypatch):
    """MuJoCo ends with an error where the shapes of a sound file meet in an unlucky way."""
    mujoco = pytest.importorskip("mujoco")

    def fails(*_):
        raise mujoco.FatalError("mju_makeFrame: xaxis of contact frame undefined")

    monkeypatch.setattr(mujoco, "mj_forward", fails)
    (tmp_path / "arm.xml").write_text(MJCF)
    (row,) = beside(tmp_path)
    assert row.verdict == "agree", row


def test_every_file_has_its_verdict(folder):
    found = {row.file: row for row in beside(folder)}
    verdicts = {name: row.verdict for name, row in found.items()}
    assert verdicts == {
        "arm.xml": "agree",
        "broken.urdf": "both refuse",
        "inner/kinova.urdf": "agree",
        "inner/talos.urdf": "agree",
        "reversed.urdf": "refused",
        "unknown.urdf": "both refuse",
        "ur5.URDF": "agree",
    }
    assert "strict=False: the joint has no limit" in found["reversed.urdf"].why
    assert found["arm.xml"].why == found["ur5.URDF"].why == "poses and mass matrix"
    assert {row.file: row.verdict for row in beside(folder, strict=False)}[
        "reversed.urdf"
    ] == "agree"


def test_a_difference_is_seen(folder, monkeypatch):
    from linkwork.cli import beside as module

    original = module._poses

    def shifted(model, values):
        return original(model, {name: x + 1e-6 for name, x in values.items()})

    monkeypatch.setattr(module, "_poses", shifted)
    rows = {row.file: row for row in beside(folder)}
    assert rows["ur5.URDF"].verdict == rows["arm.xml"].verdict == "differ"
    assert 1e-8 < rows["ur5.URDF"].difference < 1e-5


def test_the_command_prints_the_table(folder):
    told = run("check", "--beside", str(folder))
    assert told.returncode == 0, told.stderr
    assert "reversed.urdf" in told.stdout
    assert "7 files: 4 agree, 2 both refuse, 1 refused" in told.stdout
    answer = json.loads(run("check", "--beside", str(folder), "--lenient", "--json").stdout)
    assert answer["counts"] == {"agree": 5, "both refuse": 2}


def test_no_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="expected a folder"):
        list(beside(tmp_path / "nothing"))


@pytest.mark.skipif(not FOLDER, reason="LINKWORK_BESIDE names no folder")
def test_a_named_collection_agrees():
    rows: list[Row] = list(beside(FOLDER))
    print()
    for row in rows:
        if row.verdict != "agree":
            print(f"{row.verdict:14} {row.difference:8.1e} {row.peer:10} {row.file}: {row.why}")
    print(Counter(row.verdict for row in rows))
    assert not [row for row in rows if row.verdict == "differ"]
