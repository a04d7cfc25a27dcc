"""Render the tables of README.md and docs/benchmarks.md: the last `make bench`, and the papers of the reproduce room.

python tools/readme_table.py            rewrites what stands between the markers of both files
python tools/readme_table.py --check    changes nothing; exit code 1 if a table is not what the sources give
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "out" / "benchmarks.json"

# number -> (short title, key in docs/references.bib, what linkwork has of it; empty: not yet)
PAPERS = {
    1: ("Recursive forward kinematics with Euler angles", "Goncalves2022", "trees with free axes, indirect joints"),
    2: ("Recursive inverse kinematics of redundant arms", "Nicolato2005", 'method="recursive"'),
    3: ("Recursive Christoffel symbols", "Safeea2019", "`robot.christoffel`, bounds"),
    4: ("Multibody model of CHARMIE", "Goncalves2023", "`robot.analyse`, closed loops, balancing"),
    5: ("Synthesis of planar dyads and triads", "Mather2023", ""),
    6: ("Kinematic graph for motion planning", "Corves2022", ""),
    7: ("Partial Lagrangian", "Kusaka2022", "`lw.System`, `robot.torque_table`"),
    8: ("Review of grippers", "Hernandez2023", ""),
    9: ("Gripper with rotary unit and force control", "Romanov2022", ""),
    10: ("Rehabilitation arm, sliding-mode control", "Khan2022", "the robot as data"),
    11: ("NMPC on decomposed kinematics", "Reinhold2023", "the robot as data"),
    12: ("Half-derivative damping", "Bruzzone2022", "the robot as data"),
    13: ("Collision avoidance of 7-axis arms", "Simas2022", "closed-form inverse kinematics of the arm"),
    14: ("All postures of 6R cobots with offset wrists", "Carbonari2023", "`robot.inverse_kinematics_all`"),
    15: (
        "Inverse kinematics and singularities of UR/TM arms",
        "Villalobos2022",
        "the same, singularities",
    ),
    16: ("Biped FORREST", "Zhu2023", "the robot as data"),
    17: ("12-axis quadruped", "Rahman2023", "the robot as data"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    tables = {"papers": papers_table()}
    if MEASURED.exists():
        measured = json.loads(MEASURED.read_text("utf-8"))
        tables["benchmarks"] = benchmark_table(measured)
        beside = [row for row in measured["rows"] if row["peer"] is not None]
        tables["benchmarks beside peers"] = benchmark_table({**measured, "rows": beside})
    stale = []
    for path in (ROOT / "README.md", ROOT / "docs" / "benchmarks.md"):
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


def papers_table() -> str:
    """One row a paper; the last column counts what `linkwork reproduce` computes and reaches."""
    from linkwork.reproduce import reproduce

    reached = {p.number: (sum(c.passed for c in p.cases), len(p.cases)) for p in reproduce()}
    lines = ["| | paper | in linkwork | published numbers |", "|---|---|---|---|"]
    for number, (title, key, what) in PAPERS.items():
        passed, total = reached.get(number, (0, 0))
        numbers = f"{passed} of {total}" if total else ""
        lines.append(f"| {number:02d} | {title} [{key}] | {what or 'not yet'} | {numbers} |")
    return "\n".join(lines) + "\n"


def benchmark_table(measured: dict) -> str:
    """The measured rows, with the machine and the versions it was measured with."""
    about = ", ".join(f"{name} {value}" for name, value in measured["about"].items())
    lines = ["| question | case | linkwork | peer | ratio |", "|---|---|---|---|---|"]
    for row in measured["rows"]:
        ratio = f"{row['ratio']:.3g}x" if row["ratio"] is not None else ""
        peer = f"{shown(row['peer'], row['unit'])} {row['peer_name']}".strip()
        lines.append(f"| {row['question']} | {row['case']} | {shown(row['ours'], row['unit'])} | {peer} | {ratio} |")
    return "\n".join(lines) + f"\n\nMeasured by `make bench`: {about}.\n"


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
