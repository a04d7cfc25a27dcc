"""Installed descriptions: found on disk through the package robot_descriptions, and never
fetched."""

from __future__ import annotations

import socket
import sys

import pytest

import linkwork as lw
from linkwork.errors import UnknownName
from linkwork.formats.installed import installed_file, installed_names

MODULE = """
from os import getenv as _getenv
from os import path as _path

from ._cache import clone_to_cache as _clone_to_cache

REPOSITORY_PATH: str = _clone_to_cache(
    "robots-of-somebody",
    commit=_getenv("ROBOT_DESCRIPTION_COMMIT", None),
)

PACKAGE_PATH: str = _path.join(REPOSITORY_PATH, "arm_description")

URDF_PATH: str = _path.join(PACKAGE_PATH, "urdf", "arm.urdf")
"""
REPOSITORIES = """
REPOSITORIES = {
    "robots-of-somebody": Repository(url="https://nowhere.invalid/x.git", commit="0", cache_path="robots_of_somebody"),
}
"""
URDF = '<robot name="found"><link name="base"/></robot>'


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A robot_descriptions that would fail if it were imported, with an empty cache."""
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "_repositories.py").write_text(REPOSITORIES)
    (folder / "_cache.py").write_text("raise RuntimeError('imported')")
    (folder / "arm_description.py").write_text(MODULE)
    (folder / "odd_description.py").write_text(
        "URDF_PATH = print('executed')\nMJCF_PATH: str = 3\n("
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "robot_descriptions", raising=False)
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))

    def refuse(*_, **__):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tmp_path


def test_a_description_on_disk_is_loaded(package):
    folder = package / "cache" / "robots_of_somebody" / "arm_description" / "urdf"
    folder.mkdir(parents=True)
    (folder / "arm.urdf").write_text(URDF)
    assert installed_file("arm") == folder / "arm.urdf"
    assert installed_file("arm_description") == folder / "arm.urdf"
    assert lw.load("arm").name == "found"


def test_a_description_that_is_not_on_disk_is_not_fetched(package):
    assert installed_file("arm") is None
    with pytest.raises(
        UnknownName,
        match='robot "arm" is known to robot_descriptions, but its files are not on this',
    ):
        lw.load("arm")
    with pytest.raises(UnknownName, match=r'there is no robot "armm"; did you mean "arm"'):
        lw.load("armm")


def test_nothing_is_executed(package, capsys):
    assert installed_file("odd") is None
    assert installed_file("../arm") is None
    assert installed_file("") is None
    assert capsys.readouterr().out == ""
    assert installed_names() == ["arm", "odd"]


def test_without_the_package_nothing_is_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert installed_names() == []
    assert installed_file("arm") is None
    with pytest.raises(
        UnknownName, match=r'there is no robot "zzzzzzz".*pip install "linkwork\[robots\]"'
    ):
        lw.load("zzzzzzz")
