"""The on-disk cache: hits, damage, strangers, two processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import casadi
import numpy as np
import pytest

from linkwork.engine import cache, kernel, keys
from linkwork.engine.kernel import Kernel, Signature


@pytest.fixture
def folder(tmp_path, monkeypatch):
    fresh(None)(np.zeros((2, 3)))  # what all kernels share is compiled and kept elsewhere
    place = tmp_path / "cache"
    monkeypatch.setenv("LINKWORK_CACHE", str(place))
    return place


def fresh(key="some mathematics"):
    x = casadi.SX.sym("x", 3)
    trace_calls = []

    def trace():
        trace_calls.append(1)
        return casadi.Function("f", [x], [casadi.sin(x) * 2])

    made = Kernel(Signature("f", (("x", (3,)),), (("y", (3,)),)), trace, key)
    made.trace_calls = trace_calls
    return made


X = np.linspace(-1, 1, 30).reshape(10, 3)


def test_a_second_kernel_is_loaded_without_tracing(folder):
    expected = fresh()(X)
    before = dict(kernel.counts)
    second = fresh()
    assert np.array_equal(second(X), expected) and np.array_equal(second(X[0]), expected[0]) is True
    assert kernel.counts["loaded"] - before["loaded"] >= 1
    assert len(list(folder.glob("*.kernel"))) == 2 and cache.size() > 0
    third = fresh()
    third(X)
    assert not third.trace_calls and third.operations > 0


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign", "long"])
def test_a_damaged_file_is_compiled_again(folder, damage):
    expected = fresh()(X)
    (path,) = folder.glob("*.kernel")
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "truncate": data[:-100],
            "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "foreign": b"\x7fELF" + data,
            "long": data + b"more",
        }[damage]
    )
    again = fresh()
    assert np.array_equal(again(X), expected) and again.trace_calls
    assert path.read_bytes() == data


def test_a_folder_that_others_can_write_is_not_used(folder, caplog):
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    fresh()(X)
    assert not list(folder.glob("*.kernel")) and "can be written by others" in caplog.text


def test_the_folder_is_private(folder):
    fresh()(X)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_off_means_off(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fresh()(X)
    assert cache.folder() is None and not list(tmp_path.rglob("*.kernel")) and cache.size() == 0


def test_a_folder_that_cannot_be_made_costs_only_time(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "file" / "cache"))
    assert fresh()(X).shape == (10, 3)


def test_clear_and_prune(folder, monkeypatch):
    for k in range(4):
        fresh(f"key {k}")(X)
    assert len(list(folder.glob("*.kernel"))) == 4
    oldest = sorted(folder.glob("*.kernel"), key=lambda p: p.stat().st_mtime)[0]
    os.utime(oldest, (1, 1))
    monkeypatch.setattr(cache, "LARGEST", cache.size() - 1)
    fresh("key 5")(X)
    assert not oldest.exists() and cache.size() <= cache.LARGEST
    assert cache.clear() >= 3 and cache.size() == 0


def test_two_processes_share_one_cache(folder):
    code = (
        "import casadi, numpy as np, sys\n"
        "from linkwork.engine import kernel\n"
        "x = casadi.SX.sym('x', 3)\n"
        "k = kernel.Kernel(kernel.Signature('f', (('x', (3,)),), (('y', (3,)),)),\n"
        "                  lambda: casadi.Function('f', [x], [casadi.sin(x) * 2]), 'shared')\n"
        "print(float(k(np.ones((9, 3))).sum()))\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    sums = {p.communicate(timeout=600)[0].strip() for p in processes}
    assert len(sums) == 1 and float(sums.pop()) == pytest.approx(
        float((np.sin(np.ones((9, 3))) * 2).sum()), rel=1e-14
    )
    assert all(p.returncode == 0 for p in processes)
    assert not list(folder.glob(".writing-*"))


def test_sources_are_read_again_only_where_one_was_touched(folder, tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    source = package / "recursion.py"
    source.write_text("one = 1\n")
    monkeypatch.setattr(keys, "PACKAGE", package)
    monkeypatch.setattr(cache, "SETTLED", -1.0)
    folder.mkdir(mode=0o700, exist_ok=True)
    asked = cache._sources.__wrapped__  # as in another process

    first = asked()
    assert first == keys.sources_hash()
    monkeypatch.setattr(keys, "sources_hash", lambda: "f" * 64)
    assert asked() == first
    times = source.stat()
    source.write_text("one = 2\n")  # as long as before, and with its old time
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert asked() == "f" * 64
    (note,) = [file for file in folder.glob("*.sources") if file.read_text() == first]
    note.write_text("broken")
    cache.clear()
    assert not list(folder.glob("*.sources"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one source, asked as by a process that has just begun."""
    place = tmp_path / "package"
    place.mkdir()
    (place / "recursion.py").write_text("one = 1\n")
    monkeypatch.setattr(keys, "PACKAGE", place)
    monkeypatch.setattr(cache, "SETTLED", -1.0)
    cache._sources.cache_clear()
    yield place
    cache._sources.cache_clear()


def test_sources_that_change_in_a_long_process_are_noted_nowhere(
    folder, package, tmp_path, monkeypatch
):
    """A process keeps objects for the sources it began with;
    other processes find those of the new ones."""
    first = cache.file_of("key")
    (package / "recursion.py").write_text("one = 2\n")
    other = tmp_path / "other"
    monkeypatch.setenv("LINKWORK_CACHE", str(other))
    assert cache.file_of("key").name == first.name
    (note,) = folder.glob("*.sources")
    assert note.read_text() != keys.sources_hash()
    cache._sources.cache_clear()  # another process
    assert cache.file_of("key").name != first.name
    (note,) = other.glob("*.sources")
    assert note.read_text() == keys.sources_hash()


def test_sources_that_change_while_they_are_read_are_not_noted(folder, package, monkeypatch):
    source, read = package / "recursion.py", keys.sources_hash

    def reading():
        content = read()
        source.write_text("one = 23\n")
        return content

    monkeypatch.setattr(keys, "sources_hash", reading)
    assert cache.file_of("key") is not None
    assert not list(folder.glob("*.sources"))


def test_sources_that_cannot_be_looked_at_end_no_call(folder, package, monkeypatch, caplog):
    stamped = cache.file_of("key")
    cache._sources.cache_clear()

    def vanished():
        raise FileNotFoundError("recursion.py")

    monkeypatch.setattr(keys, "sources_stamp", vanished)
    assert cache.file_of("key") == stamped
    cache._sources.cache_clear()
    monkeypatch.setattr(keys, "PACKAGE", package / "archive.zip")
    assert cache.file_of("key") is None and cache.file_of("key") is None
    assert caplog.text.count("the sources cannot be read, so compiled objects are not kept") == 1


def test_old_notes_go(folder, package):
    cache.file_of("key")
    (new,) = folder.glob("*.sources")
    old = folder / ("0" * 64 + ".sources")
    old.write_text("0" * 64)
    os.utime(old, (1, 1))
    cache._prune(folder)
    assert new.exists() and not old.exists()


def test_what_was_just_written_is_not_noted(folder, tmp_path, monkeypatch):
    (tmp_path / "recursion.py").write_text("one = 1\n")
    monkeypatch.setattr(keys, "PACKAGE", tmp_path)
    folder.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setattr(keys, "sources_hash", lambda: "f" * 64)
    monkeypatch.setattr(cache, "SETTLED", 3600.0)
    assert cache._sources.__wrapped__() == "f" * 64
    assert not list(folder.glob("*.sources"))
