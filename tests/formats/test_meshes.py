"""Mesh files: where names of every form are found."""

from __future__ import annotations

import pytest

from linkwork.formats.meshes import MeshFinder


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """A workspace with the package `arm`, its description in arm/urdf, and one mesh in it."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    (tmp_path / "arm" / "urdf").mkdir(parents=True)
    (tmp_path / "arm" / "meshes").mkdir()
    (tmp_path / "arm" / "meshes" / "a b.stl").touch()
    (tmp_path / "other").mkdir()
    return tmp_path


def test_every_form_of_a_name_leads_to_the_file(disk):
    mesh = disk / "arm" / "meshes" / "a b.stl"
    finder = MeshFinder(disk / "arm" / "urdf")
    for name in (
        "package://arm/meshes/a b.stl",
        "package://arm/meshes/a%20b.stl",
        "model://arm/meshes/a b.stl",
        "../meshes/a b.stl",
        str(mesh),
        f"file://{mesh}",
        f"file://{str(mesh).replace(' ', '%20')}",
    ):
        assert finder.find(name) == str(mesh), name


def test_packages_are_found_where_they_are_said_to_be(disk, monkeypatch):
    name, mesh = "package://arm/meshes/a b.stl", str(disk / "arm" / "meshes" / "a b.stl")
    elsewhere = disk / "other"
    assert MeshFinder(None).find(name) == name
    assert MeshFinder(None, [disk]).find(name) == mesh
    assert MeshFinder(None, [str(disk / "arm")]).find(name) == mesh
    assert MeshFinder(None, str(disk)).find(name) == mesh, "one folder needs no list"
    assert MeshFinder(elsewhere).find(name) == mesh, (
        "a package beside a folder above the description"
    )
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{disk}")
    assert MeshFinder(None).find(name) == mesh
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    (disk / "install" / "share").mkdir(parents=True)
    (disk / "install" / "share" / "arm").symlink_to(disk / "arm")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(disk / "install"))
    assert MeshFinder(None).find(name).endswith("install/share/arm/meshes/a b.stl")


@pytest.mark.parametrize(
    "name",
    [
        "package://arm/meshes/missing.stl",
        "package://nowhere/a.stl",
        "package://",
        "https://example.org/a.stl",
        "missing.stl",
        "",
        ".",
        "a\x00b",
        "x" * 5000,
        "file://[broken",
    ],
)
def test_what_is_not_there_keeps_its_name(disk, name):
    assert MeshFinder(disk / "arm" / "urdf").find(name) == name


def test_text_without_a_folder_finds_nothing_relative(disk, monkeypatch):
    monkeypatch.chdir(disk / "arm" / "urdf")
    assert MeshFinder(None).find("../meshes/a b.stl") == "../meshes/a b.stl"
