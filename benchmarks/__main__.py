"""make bench: every question, one table, one JSON file.

python -m benchmarks NAME ...           asks only some
python -m benchmarks --keep NAME ...    asks these again and keeps what the file has of the others

The file is written after each question, so that a run that is stopped loses one question and not
all.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
from dataclasses import asdict  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.measure import Row  # noqa: E402
from linkwork.engine import machine  # noqa: E402

SKIPPED = {"__main__", "__init__", "measure", "peers"}


def questions() -> list[str]:
    """Every file of this folder that answers with rows(); those that bring JAX, whose threads stay,
    come last."""
    texts = {
        p.stem: p.read_text() for p in Path(__file__).parent.glob("*.py") if p.stem not in SKIPPED
    }
    found = [name for name, text in texts.items() if "def rows(" in text]
    return sorted(
        found,
        key=lambda name: (
            "import jax" in texts[name],
            name not in ("engine", "inverse_dynamics"),
            name,
        ),
    )


def about() -> dict[str, str]:
    """The machine and the versions that a number travels with."""
    names = ("linkwork", "numpy", "casadi", "llvmlite", "pin")
    return {
        "cpu": machine.cpu()[0],
        "vector width": str(machine.widths()[0]),
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
    }


def shown(row: Row, value: float | None) -> str:
    if value is None:
        return ""
    if row.unit != "s":
        return f"{value:.1f} {row.unit}"
    for scale, unit in ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms")):
        if value < 1000 * scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} s"


def main() -> None:
    parser = argparse.ArgumentParser(description="Benchmarks of linkwork beside its peers.")
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(questions())}")
    parser.add_argument("--json", type=Path, default=Path("out/benchmarks.json"))
    parser.add_argument(
        "--keep", action="store_true", help="keep the rows of questions that are not asked"
    )
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(questions())
    if unknown:
        names = ", ".join(sorted(unknown))
        parser.error(f"unknown: {names}; expected some of {', '.join(questions())}")
    console = Console(width=150)
    asked = chosen.names or questions()
    measured = kept_rows(chosen.json) if chosen.keep else {}
    failed = []
    for name in asked:
        try:
            with console.status(name):
                rows = importlib.import_module(f"benchmarks.{name}").rows()
        except Exception:
            console.print_exception()
            failed.append(name)
            continue
        measured[name] = [as_line(name, row) for row in rows]
        write(chosen.json, measured)
        console.print(rows_table(rows, title=name))
    console.print(str(about()))
    if failed:
        console.print(f"not measured: {', '.join(failed)}")
        sys.exit(1)


def kept_rows(path: Path) -> dict[str, list[dict]]:
    """The rows of an earlier run, by the question's file."""
    rows: dict[str, list[dict]] = {}
    if path.exists():
        for line in json.loads(path.read_text("utf-8"))["rows"]:
            rows.setdefault(line["file"], []).append(line)
    return rows


def as_line(name: str, row: Row) -> dict:
    return {"file": name, **asdict(row), "ratio": row.ratio, "verdict": row.verdict}


def write(path: Path, measured: dict[str, list[dict]]) -> None:
    """Everything measured so far, in the order of the questions, whatever order they were asked
    in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [line for name in questions() for line in measured.get(name, [])]
    path.write_text(json.dumps({"about": about(), "rows": lines}, indent=1) + "\n", "utf-8")


def rows_table(rows: list[Row], title: str) -> Table:
    table = Table("question", "case", "linkwork", "peer", "ratio", "target", "", title=title)
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}x"
        limit = "<= " if row.smaller_is_better else ""
        target = "" if row.target is None else f"{limit}{row.target:g}{'' if limit else 'x'}"
        peer = f"{shown(row, row.peer)} {row.peer_name}".strip()
        table.add_row(
            row.question, row.case, shown(row, row.ours), peer, ratio, target, row.verdict
        )
    return table


if __name__ == "__main__":
    main()
