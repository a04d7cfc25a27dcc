"""Render the tables of README.md, docs/benchmarks.md and docs/api.md: measured rows, papers, public names of rooms.

`make bench` writes what it measured to docs/benchmarks.json, then calls this; a test compares both files with it.

python tools/readme_table.py            rewrites what stands between the markers of those files
python tools/readme_table.py rooms      one table only: rooms, papers, benchmarks
python tools/readme_table.py --check    changes nothing; exit code 1 if a table is not what the sources give
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "docs" / "benchmarks.json"

# Papers without a file in the reproduce room: number -> (short title, key in docs/references.bib, what there is of it)
NOT_YET = {
    8: ("Review of grippers", "Hernandez2023", ""),
    11: ("NMPC on decomposed kinematics", "Reinhold2023", "the robot as data"),
    16: ("Biped FORREST", "Zhu2023", "the robot as data"),
    17: ("12-axis quadruped", "Rahman2023", "the robot as data"),
}


# The README's ten rows, wins and losses: (question, peer) as `make bench` names them; docs/benchmarks.md has all.
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
    parser.add_argument("only", nargs="?", choices=("rooms", "papers", "benchmarks"))
    given = parser.parse_args()
    check, tables, stale = given.check, {}, []
    if given.only in (None, "rooms"):
        tables |= {"rooms": rooms_table(), "rooms in a line": rooms_in_a_line()}
    if given.only in (None, "papers"):
        tables["papers"] = papers_table()
    if given.only in (None, "benchmarks"):
        tables |= benchmark_tables(json.loads(MEASURED.read_text("utf-8")))
    for path in (ROOT / "README.md", ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "api.md"):
        old = path.read_text("utf-8")
        new = filled(old, tables)
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
        text = re.sub(pattern, lambda found, table=table: found[1] + "\n" + table + "\n" + found[2], text, flags=re.S)
    return text


def rooms_table() -> str:
    """One row a room with public names: what it is, as the first line of its `__init__` says, and every name."""
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
    lines += [f"| `{name}/` | {(rooms.room(name).__doc__ or '').splitlines()[0]} |" for name in rooms.rooms()]
    return "\n".join(lines) + "\n"


def papers_table() -> str:
    """One row a paper; the last column counts what `linkwork reproduce` computes and reaches."""
    from linkwork.reproduce import reproduce

    rows = {number: (title, key, what or "not yet", "") for number, (title, key, what) in NOT_YET.items()}
    for p in reproduce():
        reached = sum(case.passed for case in p.cases)
        rows[p.number] = (p.title, p.key, p.where, f"{reached} of {len(p.cases)}")
    lines = ["| | paper | in linkwork | published numbers |", "|---|---|---|---|"]
    for number, (title, key, what, numbers) in sorted(rows.items()):
        lines.append(f"| {number:02d} | {title} [{key}] | {what} | {numbers} |")
    return "\n".join(lines) + "\n"


def benchmark_tables(measured: dict) -> dict[str, str]:
    """Every row and one line a question for the page, ten of those lines for the README."""
    return {
        "benchmarks": benchmark_table(measured),
        "benchmarks beside peers": summary_table(measured),
        "ten benchmarks": summary_table(measured, TEN),
    }


def summary_table(measured: dict, only: tuple[tuple[str, str], ...] | None = None) -> str:
    """One line a question and peer: the smallest and the largest ratio of all its cases, none left out.

    only: the lines (question, peer) that are wanted, in this order; one that was not measured is an error
    """
    found: dict[tuple[str, str], list[dict]] = {}
    for row in measured["rows"]:
        if row["peer"] is not None and row["unit"] == "s":
            peer = re.sub(r"^\d+ x ", "n x ", row["peer_name"])  # as many calls as joints
            found.setdefault((row["question"], peer), []).append(row)
    lines = ["| question | beside | cases | smallest ratio | largest ratio |", "|---|---|---|---|---|"]
    for question, peer in found if only is None else only:
        rows = found[question, peer]
        low, high = (choose(rows, key=lambda row: row["ratio"]) for choose in (min, max))
        ends = [f"{row['ratio']:.3g}x ({row['case']})" for row in (low, high)]
        lines.append(f"| {question} | {peer} | {len(rows)} | {ends[0]} | {ends[1] if len(rows) > 1 else ''} |")
    return "\n".join(lines) + f"\n\n{_about(measured)}\n"


def _about(measured: dict) -> str:
    return (
        "Measured by `make bench`: " + ", ".join(f"{name} {value}" for name, value in measured["about"].items()) + "."
    )


def benchmark_table(measured: dict) -> str:
    """The measured rows, with the machine and the versions it was measured with."""
    lines = ["| question | case | linkwork | peer | ratio |", "|---|---|---|---|---|"]
    for row in measured["rows"]:
        ratio = f"{row['ratio']:.3g}x" if row["ratio"] is not None else ""
        peer = f"{shown(row['peer'], row['unit'])} {row['peer_name']}".strip()
        lines.append(f"| {row['question']} | {row['case']} | {shown(row['ours'], row['unit'])} | {peer} | {ratio} |")
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
