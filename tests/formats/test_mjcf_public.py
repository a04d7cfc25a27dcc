"""Public collections of MJCF as their packages bring them:
every model that MuJoCo compiles agrees with it.

Gymnasium is installed with the tests. Others (dm_control, gymnasium_robotics, metaworld, myosuite,
robosuite ...) are looked at where they are installed too; with all of them it is 235 models.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import pytest

from linkwork.formats.mjcf import read_mjcf
from tests.formats.mjcf.truth import Sides, compiled

PACKAGES = (
    *(
        "gymnasium",
        "gymnasium_robotics",
        "dm_control",
        "metaworld",
        "mujoco_playground",
        "myosuite",
        "robohive",
    ),
    "robosuite",
)
LARGEST = 250
"""Most degrees of freedom: traces of cloth and rope take minutes."""


def _folder(package: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


FOLDERS = {package: folder for package in PACKAGES if (folder := _folder(package))}
FILES = [
    pytest.param(package, path, id=f"{package}/{path.relative_to(folder)}")
    for package, folder in FOLDERS.items()
    for path in sorted(folder.rglob("*.xml"))
    if "<mujoco" in (text := path.read_text(errors="ignore")) and "<mujocoinclude" not in text
]


def test_gymnasium_brings_its_models():
    assert sum(each.values[0] == "gymnasium" for each in FILES) >= 12


@pytest.mark.parametrize(("package", "path"), FILES)
def test_a_public_model_agrees_with_mujoco(package, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file in the present folder
    try:
        theirs = compiled(path)
    except ValueError as error:
        pytest.skip(f"MuJoCo does not compile it: {error}")
    if theirs.nv > LARGEST or theirs.nbody < 2:
        pytest.skip("no robot, or one too large to trace here")
    ours = read_mjcf(path, mimic="independent", folders=[FOLDERS[package]])
    worst = Sides(theirs, ours).at_random_states(1)[0].worst()
    assert max(worst.values()) < 1e-10, worst


def test_mujoco_saves_what_only_it_can_make(tmp_path, monkeypatch):
    """An attached model, and the file that MuJoCo saves of it,
    which is the way round for what linkwork refuses."""
    monkeypatch.chdir(tmp_path)
    arm = '<body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>'
    part = f"<mujoco><worldbody>{arm}</worldbody></mujoco>"
    (tmp_path / "part.xml").write_text(part)
    whole = tmp_path / "whole.xml"
    whole.write_text(
        '<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody><body '
        'name="base"><joint name="turn"/>'
        '<geom size="0.2"/><frame pos="0.5 0 0"><attach model="part" body="arm" '
        'prefix="left_"/></frame></body>'
        "</worldbody></mujoco>"
    )
    saved = tmp_path / "saved.xml"
    mujoco.mj_saveLastXML(str(saved), mujoco.MjModel.from_xml_path(str(whole)))
    ours = read_mjcf(saved)
    assert [body.name for body in ours.bodies] == ["base", "left_arm"]
    assert [body.name for body in read_mjcf(whole).bodies] == ["base", "left_arm"]
    worst = Sides(compiled(whole), ours).at_random_states(1)[0].worst()
    assert max(worst.values()) < 1e-10, worst
