"""Files: bounded reading and atomic writing, with the operating system's refusals as linkwork
errors."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from linkwork.errors import InvalidFile, InvalidInput, NotPossible, did_you_mean

P = ParamSpec("P")
T = TypeVar("T")

LARGEST = 16 * 2**20
"""Largest description that is read [bytes]. Published ones stay below 1 MB;
a parser may need 20 times the file."""


def read_bounded(path: str | os.PathLike[str], largest: int = LARGEST) -> bytes:
    """The content of a regular file, refused before reading when it is larger than `largest`
    bytes."""
    shown = file_name(path)
    try:
        with open(shown, "rb", opener=_opened_without_waiting) as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InvalidFile(f"{shown}: is not a regular file, expected a robot description")
            if facts.st_size > largest:
                raise InvalidFile(_too_large(shown, facts.st_size, largest))
            content = file.read(largest + 1)
    except InvalidFile:
        raise
    except FileNotFoundError:
        raise InvalidFile(f"{shown}: no such file{_nearest_file(shown)}") from None
    except IsADirectoryError:
        raise InvalidFile(f"{shown}: is a folder, expected a robot description") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise InvalidFile(
            f"{shown!r}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    if len(content) > largest:
        raise InvalidFile(_too_large(shown, len(content), largest))
    return content


def collected_later(read: Callable[P, T]) -> Callable[P, T]:
    """`read` with Python's cycle collector at rest: going through a growing tree again and again
    takes a third of the time of a large file. What a file can make is bounded by the readers.
    """

    @functools.wraps(read)
    def reading(*args: P.args, **options: P.kwargs) -> T:
        # the caller's wish, or another thread that reads and will switch it on again
        if not gc.isenabled():
            return read(*args, **options)
        gc.disable()
        try:
            return read(*args, **options)
        finally:
            gc.enable()

    return reading


def file_name(path: str | bytes | os.PathLike[str]) -> str:
    """The name of a file as text, or InvalidInput for what names no file."""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise InvalidInput(f"a file name is {path!r}, expected a string or a path") from None


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file or nothing: a temporary file beside it, then a rename.

    A reader never sees half a file, and an old file survives a full disk. A symbolic link is
    followed, the permissions of an old file are kept.
    """
    shown = file_name(path)
    if "\0" in shown:
        raise NotPossible(f"{shown!r}: cannot be written: the name has a null character")
    target = Path(os.path.realpath(shown))
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary: str | None = None
    try:
        if target.is_dir():
            raise NotPossible(f"{shown}: is a folder, expected the name of a file to write")
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
        temporary = None
    except FileNotFoundError as error:
        why = error.strerror if target.parent.is_dir() else f"folder {target.parent} does not exist"
        raise NotPossible(f"{shown}: cannot be written: {why}") from None
    except OSError as error:
        raise NotPossible(f"{shown}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def made_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of that name, made with those above it if they are missing."""
    place = Path(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotPossible(f"{place}: cannot be made: {error.strerror or error}") from None
    return place


def _opened_without_waiting(path: str, flags: int) -> int:
    """Open without blocking, so that a named pipe without a writer is refused and not waited
    for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _too_large(shown: str, size: int, largest: int) -> str:
    return (
        f"{shown}: is {size / 2**20:.0f} MB, linkwork reads descriptions up to "
        f"{largest / 2**20:.0f} MB"
    )


def _nearest_file(shown: str) -> str:
    """` did you mean ...?` with a file of the same folder."""
    folder, name = os.path.split(shown)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry, _ in zip(entries, range(1000))]
    except OSError:
        return f"; folder {folder} does not exist"
    return did_you_mean(name, names)


def _umask() -> int:
    """The permissions a new file does not get; Linux tells it without changing it."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            line = next(line for line in status if line.startswith("Umask:"))
        return int(line.split()[1], 8)
    except (OSError, StopIteration, ValueError):
        return 0o022
