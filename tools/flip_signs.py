"""Flips signs in the mathematics, one at a time, and expects the tests to turn red.

    python tools/flip_signs.py                         a few flips in every file of recursions/ and spatial/
    python tools/flip_signs.py --all src/.../poses.py  every flip of one file
    python tools/flip_signs.py --list                  only show what can be flipped

A flip exchanges + and -, drops a unary minus, or swaps the two arguments of a cross product. Each
is tried on a copy of src in a temporary folder against the tests of the same name
(tests/<room>/test_<module>.py, tests/truth, tests/laws; the whole room when there are none, first
what mentions the module). A flip that no test notices survives, and the exit code is 1. A flip that
cannot change a result is excused on its line, or on the line above, with the reason:

    energy = (-v) ** 2    # flip: equivalent, because the square forgets the sign
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOMS = ("src/linkwork/recursions", "src/linkwork/spatial")
EXCUSE = re.compile(r"# flip: equivalent(?P<reason>, because \S.*)?")
T = TypeVar("T")
NOT_ARITHMETIC = (ast.Raise, ast.Assert, ast.JoinedStr)
NOT_ARITHMETIC_FIELDS = ("annotation", "returns", "slice", "decorator_list")


class CannotTell(Exception):
    """The tool can say nothing: no tests, tests that are red already, an excuse without a
    reason."""


@dataclass(frozen=True)
class Flip:
    """One change of a source text: the characters from start to end become `text`."""

    start: int
    end: int
    text: str
    line: int
    column: int
    what: str

    def applied(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


@dataclass(frozen=True)
class Target:
    """A file as it was when the run began, what will be flipped in it,
    and the tests that should notice."""

    file: Path
    text: str
    flips: list[Flip]
    tests: list[str]


@dataclass(frozen=True)
class Verdict:
    """What the tests said about one flip: the exit code of pytest, None when they took too long."""

    target: Target
    flip: Flip
    code: int | None

    @property
    def survived(self) -> bool:
        return self.code == 0


class Source:
    """A source text with its syntax tree, and character offsets of the positions in it."""

    def __init__(self, text: str):
        self.text = text
        self.tree = ast.parse(text)
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.signs = {
            self.starts[token.start[0] - 1] + token.start[1]: token.string
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.OP and token.string in ("+", "-", "+=", "-=")
        }

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Offsets of a node's first character and of the one after its last."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(
            node.end_lineno, node.end_col_offset
        )

    def _offset(self, line: int, column: int) -> int:
        """Offset of a position of the ast, whose columns count bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def flip(self, start: int, end: int, text: str, what: str) -> Flip:
        line = self.text.count("\n", 0, start) + 1
        return Flip(start, end, text, line, start - self.starts[line - 1] + 1, what)


def flips(source: Source) -> list[Flip]:
    """Everything in a file that can be flipped and is not excused, from top to bottom."""
    found = [flip for node in arithmetic(source.tree) if (flip := flip_of(source, node))]
    return sorted(
        (flip for flip in found if not excused(source, flip)), key=lambda flip: flip.start
    )


def arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that compute: not annotations, not indices, not messages."""
    yield node
    for field, value in ast.iter_fields(node):
        if field not in NOT_ARITHMETIC_FIELDS:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, NOT_ARITHMETIC):
                    yield from arithmetic(child)


def flip_of(source: Source, node: ast.AST) -> Flip | None:
    """The flip of one node of the tree, if it has a sign or is a cross product."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if not joins_sequences(
            left, right
        ):
            return exchange(source, left, right)
        case ast.AugAssign(target=left, op=ast.Add() | ast.Sub(), value=right) if (
            not joins_sequences(left, right)
        ):
            return exchange(source, left, right)
        case ast.UnaryOp(op=ast.USub()):
            place = source.span(node)[0]
            return source.flip(place, place + 1, " ", "- dropped")
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, second, *_]
        ) if "cross" in name:
            return swap(source, first, second)
    return None


def joins_sequences(*operands: ast.expr) -> bool:
    """Whether a + joins lists or texts, which is no arithmetic."""
    return any(
        isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        for node in operands
    )


def exchange(source: Source, left: ast.expr, right: ast.expr) -> Flip:
    """+ becomes - between two operands, and the reverse."""
    (place,) = [
        place for place in source.signs if source.span(left)[1] <= place < source.span(right)[0]
    ]
    old = source.signs[place]
    new = old.translate(str.maketrans("+-", "-+"))
    return source.flip(place, place + len(old), new, f"{old} became {new}")


def swap(source: Source, first: ast.expr, second: ast.expr) -> Flip:
    (start, first_end), (second_start, end) = source.span(first), source.span(second)
    text = source.text
    swapped = text[second_start:end] + text[first_end:second_start] + text[start:first_end]
    return source.flip(start, end, swapped, "arguments swapped")


def excused(source: Source, flip: Flip) -> bool:
    """Whether the flip's line, or a comment on the line above, says that it changes nothing."""
    line, above = source.lines[flip.line - 1], source.lines[flip.line - 2] if flip.line > 1 else ""
    found = EXCUSE.search(line) or EXCUSE.match(above.strip())
    if found and not found["reason"]:
        raise CannotTell(
            f"line {flip.line}: write `# flip: equivalent, because ...`; an excuse needs its reason"
        )
    return found is not None


def spread(items: list[Flip], count: int) -> list[Flip]:
    """`count` items at even distances, the same every time."""
    if len(items) <= count:
        return items
    return [items[int((k + 0.5) * len(items) / count)] for k in range(count)]


def matching_tests(file: Path, root: Path) -> list[str]:
    """Tests of the same name as the module, else those of its room, first those that mention it."""
    room = Path("tests", *file.relative_to(root / "src").parent.parts[1:])
    named = [
        path
        for place in (room, "tests/truth", "tests/laws")
        for path in root.glob(f"{place}/test_{file.stem}.py")
    ]
    mention = re.compile(rf"\b{file.stem}\b")
    others = sorted(
        (root / room).glob("**/test_*.py"),
        key=lambda path: (not mention.search(path.read_text()), path),
    )
    if not named and not others:
        raise CannotTell(
            f"{file.relative_to(root)}: neither {room}/test_{file.stem}.py nor other tests "
            f"in {room}"
        )
    return [str(path.relative_to(root)) for path in named or others]


class Copy:
    """A copy of src in a temporary folder, in which one file at a time is changed and tested."""

    def __init__(self, root: Path, folder: Path):
        self.root, self.folder = root, folder
        shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        # No byte code: + and - leave size and second of a file as they were,
        # and Python would not see the change.
        self.environment = os.environ | {
            "PYTHONPATH": str(folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def time_green(self, tests: list[str]) -> float:
        """Seconds the tests take with nothing changed; red ones could prove nothing."""
        start = time.monotonic()
        code, printed = self._run(tests, None)
        if code != 0:
            raise CannotTell(f"{' '.join(tests)}: red before any flip\n{printed}")
        return time.monotonic() - start

    def try_out(self, target: Target, flip: Flip, timeout: float) -> Verdict:
        """Verdict of the tests on one flip; the copy is put back after."""
        place = self.folder / target.file.relative_to(self.root)
        place.write_text(flip.applied(target.text), encoding="utf-8")
        try:
            return Verdict(target, flip, self._run(target.tests, timeout)[0])
        finally:
            place.write_text(target.text, encoding="utf-8")

    def _run(self, tests: list[str], timeout: float | None) -> tuple[int | None, str]:
        """Exit code of pytest (None: too slow) and what it printed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["-m", "not slow and not browser", *tests]
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        if done.returncode not in (0, 1, 2):  # 2: the flip broke an import
            raise CannotTell(
                f"pytest {' '.join(tests)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.returncode, done.stdout


def judge(targets: list[Target], root: Path, jobs: int) -> Iterator[Verdict]:
    """Verdicts of all flips in order, `jobs` at a time, each on a copy of its own."""
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()

    def on_a_copy(work: Callable[[Copy], T]) -> T:
        copy = free.get()
        try:
            return work(copy)
        finally:
            free.put(copy)

    with (
        tempfile.TemporaryDirectory(prefix="flip-signs-") as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        for k in range(jobs):
            free.put(Copy(root, Path(folder, str(k))))
        # the same in another order: once
        distinct = {frozenset(target.tests): target.tests for target in targets}
        seconds = pool.map(
            lambda tests: on_a_copy(lambda copy: copy.time_green(tests)), distinct.values()
        )
        took = dict(zip(distinct, seconds))
        work = [(t, flip, 60 + 10 * took[frozenset(t.tests)]) for t in targets for flip in t.flips]
        yield from pool.map(lambda each: on_a_copy(lambda copy: copy.try_out(*each)), work)


def described(verdict: Verdict, root: Path) -> str:
    file, flip = verdict.target.file.relative_to(root), verdict.flip
    outcome = {0: "SURVIVED", None: "too slow"}.get(verdict.code, "caught")
    line = verdict.target.text.splitlines()[flip.line - 1].strip()
    return f"{outcome:>8}  {file}:{flip.line}:{flip.column}  {flip.what}:  {line}"


def chosen_targets(files: list[Path], root: Path, options: argparse.Namespace) -> list[Target]:
    """What to flip in each file that has anything to flip."""
    targets = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        try:
            found = flips(Source(text))
        except CannotTell as reason:
            raise CannotTell(f"{file.relative_to(root)}: {reason}") from None
        if found:
            tests = options.tests or ([] if options.list else matching_tests(file, root))
            targets.append(
                Target(file, text, found if options.all else spread(found, options.count), tests)
            )
    return targets


def run(options: argparse.Namespace) -> int:
    root = options.root.resolve()
    files = [file.resolve() for file in options.files]
    files = files or sorted(file for room in ROOMS for file in (root / room).rglob("*.py"))
    targets = chosen_targets(files, root, options)
    if options.list:
        for target in targets:
            for flip in target.flips:
                print(f"{target.file.relative_to(root)}:{flip.line}:{flip.column}  {flip.what}")
        return 0
    tried = survived = 0
    for verdict in judge(targets, root, options.jobs):
        print(described(verdict, root), flush=True)
        tried, survived = tried + 1, survived + verdict.survived
    print(f"{tried} flips in {len(targets)} files, {survived} survived")
    return 1 if survived else 0


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", type=Path, help="files to flip (default: recursions and spatial)"
    )
    parser.add_argument("--all", action="store_true", help="every flip instead of a few a file")
    parser.add_argument("--count", type=int, default=4, help="flips a file (default 4)")
    parser.add_argument("--tests", nargs="+", help="run these tests instead of the matching ones")
    parser.add_argument("--jobs", type=int, default=2, help="test runs at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="show the flips and run nothing")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).parent.parent, help="the project's folder"
    )
    try:
        return run(parser.parse_args(words))
    except CannotTell as reason:
        print(f"flip_signs: {reason}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
