"""On-disk cache of compiled objects.

One file an object: a line of magic, the SHA-256 of the rest, a JSON header (shapes and counts), the
object. The hash is checked before LLVM sees a byte. The folder belongs to the user alone; a folder
that others can write is not used, because whoever writes there would choose the code that runs.
LINKWORK_CACHE=off turns it off, a path moves it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import stat
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from linkwork.engine import keys, machine

log = logging.getLogger("linkwork")
_MAGIC = b"linkwork-object-1\n"
_SUFFIX, _NOTE = ".kernel", ".sources"
SETTLED = 2.0
"""Seconds after which sources count as untouched by whoever writes them."""
LARGEST = 1 << 30  # bytes kept in all; the least recently used go first
OLD = 30 * 86400.0  # seconds for which a note is kept: sources that change often leave many


def folder() -> Path | None:
    """Where objects are kept, or None if the cache is off."""
    setting = os.environ.get("LINKWORK_CACHE", "")
    if setting.lower() in ("off", "0", "no"):
        return None
    if setting:
        return Path(setting)
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "linkwork"
    except RuntimeError:  # no home
        return None


def file_of(key: str) -> Path | None:
    """The file for a key (which names the mathematics), for these sources and this machine."""
    place = _safe_folder()
    if place is None:
        return None
    sources = _sources()
    if sources is None:
        return None
    full = hashlib.sha256("\n".join((key, sources, machine.identity())).encode()).hexdigest()
    return place / (full + _SUFFIX)


@cache
def _sources() -> str | None:
    """What is kept for these sources is kept for this hash of them,
    or None where they cannot be read.

    Found once a process, whatever folder is in use later: sources that change while it runs are not
    those it runs.
    """
    try:
        place = _safe_folder()
        known = None if place is None else _noted_hash(place)
        return keys.sources_hash() if known is None else known
    except OSError as error:
        log.warning("the sources cannot be read, so compiled objects are not kept: %s", error)
        return None


def _noted_hash(place: Path) -> str | None:
    """`keys.sources_hash`, by a note beside the objects where no source was touched since: reading
    them all takes longer than loading an object. None where the system does not tell what was
    touched."""
    stamp = _stamp()
    if stamp is None:
        return None
    note = place / (stamp[0] + _NOTE)
    try:
        known = note.read_text("ascii")
        if len(known) == 2 * hashlib.sha256().digest_size:
            return known
    except (OSError, UnicodeDecodeError):
        pass
    known = keys.sources_hash()
    # a file may change twice within one tick of the disk's clock, and while they are read
    if abs(time.time() - stamp[1]) > SETTLED and _stamp() == stamp:
        try:
            _write(note, known.encode())
        except OSError as error:
            log.warning("could not keep the hash of the sources: %s", error)
    return known


def _stamp() -> tuple[str, float] | None:
    try:
        return keys.sources_stamp()
    except OSError:
        return None


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """(header, object) for a key, or None if there is none or the file is not whole."""
    path = file_of(key)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC)
    digest, rest = data[start : start + 32], data[start + 32 :]
    if not data.startswith(_MAGIC) or hashlib.sha256(rest).digest() != digest:
        log.warning("cached object %s is damaged; compiling again", path.name)
        _remove(path)
        return None
    length = int.from_bytes(rest[:8], "little")
    header = json.loads(rest[8 : 8 + length])
    try:
        os.utime(path)
    except OSError:
        pass
    return header, rest[8 + length :]


def save(key: str, header: dict[str, Any], object_file: bytes) -> None:
    """Keep an object; failing to (no space, no permission) costs only time later."""
    path = file_of(key)
    if path is None:
        return
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + object_file
    try:
        _write(path, _MAGIC + hashlib.sha256(rest).digest() + rest)
        # looking through the folder takes longer than writing one file:
        # once in every sixteenth of what it may hold
        if random.random() * LARGEST < 16 * len(rest):
            _prune(path.parent)
    except OSError as error:
        log.warning("could not cache a compiled object: %s", error)


def _write(path: Path, content: bytes) -> None:
    """The whole file or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        _remove(Path(temporary))
        raise


def size() -> int:
    """Bytes the cache occupies."""
    return sum(f.stat().st_size for f in _files())


def clear() -> int:
    """Remove every cached object; gives how many there were."""
    files = _files()
    for path in [*files, *_files(_NOTE)]:
        _remove(path)
    return len(files)


def _files(ending: str = _SUFFIX) -> list[Path]:
    place = folder()
    return sorted(place.glob("*" + ending)) if place is not None and place.is_dir() else []


def _safe_folder() -> Path | None:
    place = folder()
    return place if place is not None and _is_safe(place) else None


@cache
def _is_safe(place: Path) -> bool:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            log.warning("cache folder %s belongs to another user; not used", place)
            return False
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            log.warning("cache folder %s can be written by others; not used", place)
            return False
    except OSError as error:
        log.warning("cache folder %s cannot be used: %s", place, error)
        return False
    return True


def _prune(place: Path) -> None:
    """Remove the least recently used objects beyond LARGEST bytes, and notes that are OLD."""
    entries = []
    old = time.time() - OLD
    with os.scandir(place) as files:
        for file in files:
            try:
                status = file.stat()
            except OSError:
                continue  # another process has removed it
            if file.name.endswith(_SUFFIX):
                entries.append((status.st_mtime, status.st_size, file.path))
            elif file.name.endswith(_NOTE) and status.st_mtime < old:
                _remove(Path(file.path))
    total = sum(e[1] for e in entries)
    for _, length, name in sorted(entries):
        if total <= LARGEST:
            break
        _remove(Path(name))
        total -= length


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        pass
