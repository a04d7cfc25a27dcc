"""Render the tables of README.md and docs/: measured rows, papers, public names of rooms,
keys of elements.

A new room needs nothing else to be told to readers and to type checkers (the list of rooms in
linkwork/__init__.py). `make bench` writes what it measured to docs/benchmarks.json, then calls
this; a test compares both files with it.

python tools/readme_table.py            rewrites what stands between the markers of those files
python tools/readme_table.py rooms      one table only: rooms, papers, elements, benchmarks
python tools/readme_table.py --check    changes nothing; exit code 1 if a table is not what the
                                        sources give
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.model.element_fields import ElementField, Role
    from linkwork.reproduce.case import Paper

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "docs" / "benchmarks.json"
TOLD = "src/linkwork/__init__.py"

# Papers without a file in the reproduce room: number -> (short title, key in docs/references.bib,
# what there is of it)
NOT_YET = {
    8: ("Review of grippers", "Hernandez2023", ""),
    11: ("NMPC on decomposed kinematics", "Reinhold2023", "the robot as data"),
    16: ("Biped FORREST", "Zhu2023", "the robot as data"),
    17: ("12-axis quadruped", "Rahman2023", "the robot as data"),
}


# The README's ten rows, wins and losses: (question, peer) as `make bench` names them;
# docs/benchmarks.md has all.
TEN = (
    ("inverse dynamics, 1 thread", "rneaInParallel"),
    ("inverse dynamics, one sample", "pin.rnea"),
    ("forward dynamics, 1 thread", "abaInParallel"),
    ("forward dynamics derivatives, 1 thread", "computeABADerivatives"),
    ("Christoffel tensor, one sample", "one computeCoriolisMatrix"),
    ("one instant, all loads with loops", "pin.rnea, tree alone"),
    ("all postures of a pose", "EAIK batched"),
    ("inverse kinematics, one target", "ik_LM"),
    ("computed torque, a trajectory", "Python loop over pin.aba"),
    ("minimum time, 1600 points", "toppra, seidel"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("only", nargs="?", choices=("rooms", "papers", "elements", "benchmarks"))
    given = parser.parse_args()
    check, tables, stale = given.check, {}, []
    if given.only in (None, "rooms"):
        tables |= {"rooms": rooms_table(), "rooms in a line": rooms_in_a_line()}
    if given.only in (None, "papers"):
        tables["papers"] = papers_table()
    if given.only in (None, "elements"):
        tables["elements"] = elements_sections()
    if given.only in (None, "benchmarks"):
        tables |= benchmark_tables(json.loads(MEASURED.read_text("utf-8")))
    for name in ("README.md", "docs/benchmarks.md", "docs/api.md", "docs/elements.md", TOLD):
        path = ROOT / name
        old = path.read_text("utf-8")
        if name != TOLD:
            new = filled(old, tables)
        else:
            new = told_to_type_checkers(old) if given.only in (None, "rooms") else old
        if new != old:
            stale.append(path.name)
            if not check:
                path.write_text(new, "utf-8")
    if stale:
        print(f"{'stale' if check else 'rewrote'}: {', '.join(stale)}")
    sys.exit(1 if check and stale else 0)


def filled(text: str, tables: dict[str, str]) -> str:
    """The text with every marked table replaced: `<!-- begin NAME -->` ... `<!-- end NAME -->`."""
    for name, table in tables.items():
        pattern = rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
        text = re.sub(
            pattern,
            lambda found, table=table: found[1] + "\n" + table + "\n" + found[2],
            text,
            flags=re.S,
        )
    return text


def told_to_type_checkers(source: str) -> str:
    """The package's `__init__` with every room imported where type checkers look;
    when it runs they are found."""
    from linkwork import rooms

    names = "".join(f"        {name},\n" for name in rooms.rooms())
    pattern = r"(    from linkwork import \(  # noqa: F401\n).*?(    \)\n)"
    return re.sub(pattern, lambda block: block[1] + names + block[2], source, count=1, flags=re.S)


def rooms_table() -> str:
    """One row a room with public names: what it is, as the first line of its `__init__` says,
    and every name."""
    from linkwork import rooms

    lines = ["| room | what it is | public names |", "|---|---|---|"]
    for name in rooms.rooms():
        room = rooms.room(name)
        if room.__all__:
            names = ", ".join(f"`{public}`" for public in room.__all__)
            lines.append(f"| `lw.{name}` | {(room.__doc__ or '').splitlines()[0]} | {names} |")
    return "\n".join(lines) + "\n"


def rooms_in_a_line() -> str:
    """One row a room: the first line of its `__init__`."""
    from linkwork import rooms

    lines = ["| room | what lives there |", "|---|---|"]
    lines += [
        f"| `{name}/` | {(rooms.room(name).__doc__ or '').splitlines()[0]} |"
        for name in rooms.rooms()
    ]
    return "\n".join(lines) + "\n"


def papers_table() -> str:
    """One row a paper; the last column counts what `linkwork reproduce` computes and reaches."""
    from linkwork.reproduce import reproduce

    rows = {
        number: (title, key, what or "not yet", "")
        for number, (title, key, what) in NOT_YET.items()
    }
    rows |= {paper.number: told_of(paper) for paper in reproduce()}
    lines = ["| | paper | in linkwork | published numbers |", "|---|---|---|---|"]
    lines += [paper_row(number, *told) for number, told in sorted(rows.items())]
    return "\n".join(lines) + "\n"


def told_of(paper: Paper) -> tuple[str, str, str, str]:
    """Title, key, where it lives, and how many of its numbers are reached."""
    reached = sum(case.passed for case in paper.cases)
    return paper.title, paper.key, paper.where, f"{reached} of {len(paper.cases)}"


def paper_row(number: int, title: str, key: str, where: str, numbers: str) -> str:
    """One row of the table of papers."""
    return f"| {number:02d} | {title} [{key}] | {where} | {numbers} |"


def elements_sections() -> str:
    """A section for every element of a .robot.yaml: what it is, its picture where there is one,
    and its keys."""
    from linkwork.formats.robot_yaml.vocabulary import ELEMENTS
    from linkwork.model.element_fields import fields_of
    from linkwork.model.elements import KINDS, FourBarLoop

    sections = []
    for word, kind in KINDS.items():
        lines = [f"## {word}", "", ELEMENTS[word].about, ""]
        if (ROOT / "docs" / "images" / "elements" / f"{word}.png").exists():
            lines += [f"![{word}](images/elements/{word}.png)", ""]
        lines += keys_table(fields_of(kind))
        if word == "four_bar":
            lines += ["", "Each of its `loops`:", "", *keys_table(fields_of(FourBarLoop))]
        details = inspect.cleandoc(kind.__doc__ or "").split("\n\n", 1)[1:]
        lines += ["", *(f"```text\n{text}\n```" for text in details)]
        sections.append("\n".join(lines).rstrip())
    return "\n\n".join(sections) + "\n"


def keys_table(fields: Mapping[str, ElementField]) -> list[str]:
    """One row a key: what is written there, what it is when it is left out, what it means."""
    lines = ["| key | holds | left out | meaning |", "|---|---|---|---|"]
    for key, field in fields.items():
        default = "needed" if field.is_needed else _default(field.default)
        lines.append(f"| `{key}` | {holds(field.role)} | {default} | {field.description} |")
    return lines


def holds(role: Role) -> str:
    """What is written for a field of that role, with the unit of its numbers where the file says
    none."""
    si = {"force": " [N]", "stiffness": " [N/m]", "damping": " [N s/m]"}
    match role.kind:
        case "number":
            article = "an" if role.dimension == "angle" else "a"
            named = f"{article} {role.dimension}{si.get(role.dimension, '')}"
            return named if role.sign == "any" else f"{named}, {role.sign}"
        case "coordinate" | "coordinates":
            each = "" if role.kind == "coordinate" else ", one a joint"
            return f"the {role.dimension} of a joint{each}"
        case "word" | "words":
            return ("" if role.kind == "word" else "a list of ") + ", ".join(
                f"`{word}`" for word in role.choices
            )
    return {
        "point": "a point: `body.point`, or `{body: ..., at: [x, y, z]}`",
        "axis": "`x`, `-z`, ... or three numbers",
        "direction": "`x`, `-z`, ... or three numbers",
        "branch": "`1` or `-1`",
        "flag": "`true` or `false`",
        "joint": "the name of a joint",
        "joints": "a list of names of joints",
        "bar": "the name of a bar",
        "names": "a list of new names",
        "rotation": "a rotation: `rpy`, `quaternion`, `matrix`, ...",
        "matrix": "a list of rows of numbers",
        "loops": "a list of mappings, see below",
        "terms": "a mapping from joint to number",
    }[role.kind]


def _default(value: object) -> str:
    if value is None or value == ():
        return "none"
    if value == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        return "no turn"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(f"{x:g}" if isinstance(x, float) else str(x) for x in value)
    return (
        "no limit"
        if value == float("inf")
        else f"`{value:g}`"
        if isinstance(value, float)
        else f"`{value}`"
    )


def benchmark_tables(measured: dict) -> dict[str, str]:
    """Every row and one line a question for the page, ten of those lines for the README."""
    return {
        "benchmarks": benchmark_table(measured),
        "benchmarks beside peers": summary_table(measured),
        "ten benchmarks": summary_table(measured, TEN),
    }


def summary_table(measured: dict, only: tuple[tuple[str, str], ...] | None = None) -> str:
    """One line a question and peer: the smallest and the largest ratio of all its cases,
    none left out.

    only: the lines (question, peer) that are wanted, in this order; one that was not measured is an
    error
    """
    found: dict[tuple[str, str], list[dict]] = {}
    for row in measured["rows"]:
        if row["peer"] is not None and row["unit"] == "s":
            peer = re.sub(r"^\d+ x ", "n x ", row["peer_name"])  # as many calls as joints
            found.setdefault((row["question"], peer), []).append(row)
    lines = [
        "| question | beside | cases | smallest ratio | largest ratio |",
        "|---|---|---|---|---|",
    ]
    for question, peer in found if only is None else only:
        rows = found[question, peer]
        low, high = (choose(rows, key=lambda row: row["ratio"]) for choose in (min, max))
        ends = [f"{row['ratio']:.3g}x ({row['case']})" for row in (low, high)]
        lines.append(
            f"| {question} | {peer} | {len(rows)} | {ends[0]} | "
            f"{ends[1] if len(rows) > 1 else ''} |"
        )
    return "\n".join(lines) + f"\n\n{_about(measured)}\n"


def _about(measured: dict) -> str:
    return (
        "Measured by `make bench`: "
        + ", ".join(f"{name} {value}" for name, value in measured["about"].items())
        + "."
    )


def benchmark_table(measured: dict) -> str:
    """The measured rows, with the machine and the versions it was measured with."""
    lines = ["| question | case | linkwork | peer | ratio |", "|---|---|---|---|---|"]
    for row in measured["rows"]:
        ratio = f"{row['ratio']:.3g}x" if row["ratio"] is not None else ""
        peer = f"{shown(row['peer'], row['unit'])} {row['peer_name']}".strip()
        lines.append(
            f"| {row['question']} | {row['case']} | {shown(row['ours'], row['unit'])} | {peer} | "
            f"{ratio} |"
        )
    return "\n".join(lines) + f"\n\n{_about(measured)}\n"


def shown(value: float | None, unit: str) -> str:
    """A number with a unit a person reads at once."""
    if value is None:
        return ""
    if unit != "s":
        return f"{value:.3g} {unit}".strip()
    for scale, name in ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms")):
        if value < 1000 * scale:
            return f"{value / scale:.3g} {name}"
    return f"{value:.3g} s"


if __name__ == "__main__":
    main()
