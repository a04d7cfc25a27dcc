"""Files: bounded reading, atomic writing."""

from __future__ import annotations

import os
import stat

import pytest

from linkwork.errors import InvalidFile, InvalidInput, NotPossible
from linkwork.formats.files import read_bounded, write_atomically


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.txt"
    write_atomically(path, "grün\n")
    assert read_bounded(path) == "grün\n".encode()
    write_atomically(str(path), b"\x00\xff")
    assert read_bounded(str(path)) == b"\x00\xff"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    with pytest.raises(NotPossible, match="null character"):
        write_atomically(str(tmp_path / "a\0b.txt"), "new")
    with pytest.raises(NotPossible, match=r"x\.txt: cannot be written: (?!folder)"):
        write_atomically("/proc/x.txt", "new")  # a folder that is there, and takes nothing
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotPossible, match=r"a\.txt: cannot be written: No space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_permissions_are_kept_and_links_followed(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_atomically(tmp_path / "ours", "x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_where_nothing_can_be_written_is_told(tmp_path):
    with pytest.raises(NotPossible, match=r"folder .*nowhere does not exist"):
        write_atomically(tmp_path / "nowhere" / "a.txt", "x")
    with pytest.raises(NotPossible, match="is a folder"):
        write_atomically(tmp_path, "x")


def test_a_pipe_or_device_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InvalidFile, match="is not a regular file"):
            read_bounded(path)


def test_names_no_file_can_have_are_refused(tmp_path):
    for name in ("a\x00b", "x" * 5000, tmp_path / "no" / "such" / "folder"):
        with pytest.raises(InvalidFile):
            read_bounded(name)


@pytest.mark.parametrize("name", [None, 7, 1.5, ["a"]])
def test_what_names_no_file_is_refused(name):
    for act in (read_bounded, lambda path: write_atomically(path, "x")):
        with pytest.raises(InvalidInput, match="expected a string or a path"):
            act(name)


def test_the_limit_is_exact(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, largest=5) == b"12345"
    with pytest.raises(InvalidFile, match=r"^[^:]*: is 0 MB, linkwork reads descriptions up to"):
        read_bounded(path, largest=4)
