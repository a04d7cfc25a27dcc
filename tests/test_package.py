"""The package: sdist and wheel are built, installed into an empty environment,
and do their work there.

The environment holds linkwork and what linkwork declares to need, nothing else: no extra, no test
tool, no source tree. What is declared is linked from the environment of the tests, so that nothing
is fetched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

pytest.importorskip("build", reason="python-build makes the package; it is in the extra test")
pytest.importorskip("hatchling", reason="hatchling makes the package; it is in the extra test")
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
BUILT = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src", ".gitignore")
SMOKE = """
import json, sys
import numpy as np
import linkwork as lw
from linkwork.formats.robot_yaml import json_schema

robot = lw.load("ur5e")
q = robot.random(3, seed=0)
every = lw.load("slider-crank").analyse("turn", steps=3)
print(json.dumps({
    "from": lw.__file__,
    "extras": [name for name in ("viser", "matplotlib", "pandas", "pinocchio", "pytest") if name in sys.modules],
    "gravity": robot.gravity_torque(q).shape,
    "again": float(np.abs(robot.inverse_dynamics(q, 0 * q, 0 * q) - robot.gravity_torque(q)).max()),
    "ground": every.loads.base.shape,
    "robots": len(lw.robots()),
    "schema": json_schema()["title"],
    "catalogue": len(lw.studies.catalogue()),
    "motor": type(lw.control.motor("pmsm-2.2kw")).__name__,
}))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with the sdist of a copy of the tree, and the wheel that is built from that
    sdist."""
    source, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for name in BUILT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source])
    return out


def run(command: list, **more) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=1800, **more
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def data_files() -> set[str]:
    """What the package must carry beside code: robots, starts of synthesis, catalogues,
    files of the viewer."""
    every = (ROOT / "src").rglob("*")
    files = (
        path.relative_to(ROOT / "src")
        for path in every
        if path.is_file() and path.suffix not in (".py", ".pyc")
    )
    return {path.as_posix() for path in files}


def test_sdist_and_wheel_carry_every_file_of_the_package(built):
    expected = data_files() | {
        p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.py")
    }
    assert len([name for name in expected if name.endswith(".robot.yaml")]) > 40
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        assert expected <= set(archive.namelist())
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in expected} <= inside
    assert {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= inside


def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    home = tmp_path / "empty"
    venv.create(home, symlinks=True, with_pip=False)
    python = home / "bin" / "python"
    site = Path(
        run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    )
    linked(site)
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", python]
    run([*pip, "install", "-q", "--no-index", "--no-deps", "--no-compile", wheel])
    clean = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    clean |= {"LINKWORK_CACHE": str(tmp_path / "cache"), "PYTHONNOUSERSITE": "1"}
    said = json.loads(run([python, "-I", "-c", SMOKE], cwd=tmp_path, env=clean))
    assert said.pop("from").startswith(str(home)) and said.pop("again") < 1e-12
    assert said["extras"] == [] and said["gravity"] == [3, 6] and said["ground"] == [3, 6]
    assert said["robots"] > 40 and said["catalogue"] > 10 and said["schema"] and said["motor"]
    pose = json.loads(
        run([home / "bin" / "linkwork", "fk", "ur5e", "--json"], cwd=tmp_path, env=clean)
    )
    assert len(pose["q"]) == 6 and "shoulder_link" in pose["poses"]


def linked(site: Path) -> None:
    """Link what linkwork declares, and what that needs,
    from the environment of the tests into another one."""
    names = {requirement.name for requirement in declared(ROOT / "pyproject.toml")}
    done: set[str] = set()
    while names - done:
        name = (names - done).pop()
        done.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:  # a dependency of a dependency for another machine
            continue
        for text in found.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                names.add(requirement.name)
        for top in {
            file.parts[0]
            for file in found.files or ()
            if file.parts[0] not in ("..", "__pycache__")
        }:
            if not (site / top).exists():
                (site / top).symlink_to(found.locate_file(top))


def declared(path: Path) -> list[Requirement]:
    import tomllib

    return [
        Requirement(text)
        for text in tomllib.loads(path.read_text("utf-8"))["project"]["dependencies"]
    ]
