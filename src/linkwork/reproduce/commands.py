"""linkwork reproduce: published numbers beside ours, and the figures drawn again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.answer import Answer, Table
from linkwork.cli.progress import working
from linkwork.reproduce import Paper, papers
from linkwork.reproduce import reproduce as computed


def _known(incomplete: str) -> list[str]:
    return [number for number in papers() if number.startswith(incomplete)]


def reproduce(
    paper: Annotated[
        list[str] | None,
        typer.Argument(help='Numbers of papers, such as "04"; none: all.', autocompletion=_known),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for the papers' figures, drawn again.")
    ] = None,
    forms: Annotated[
        str, typer.Option("--format", help="Of the figures, with commas.")
    ] = "png,svg",
    failed: Annotated[bool, typer.Option("--failed", help="Show only what is missed.")] = False,
) -> Answer:
    """Compute the published numbers of the papers and draw their figures;
    exit code 1 if a number is missed.

    Example:  linkwork reproduce 04 --figures figures
    """
    chosen = [name.zfill(2) for name in paper or papers()]
    reproduced: list[Paper] = []
    with working("papers") as tick:
        for k, name in enumerate(chosen):
            reproduced += computed(name)
            tick(k + 1, len(chosen))
    written = [] if figures is None else _draw(chosen, figures, forms)
    missed = [case for p in reproduced for case in p.cases if not case.passed]
    numbers = [{**asdict(p), "passed": all(c.passed for c in p.cases)} for p in reproduced]
    facts = {"papers": numbers, "missed": len(missed)}
    return Answer(facts, _shown(reproduced, failed), written, code=1 if missed else 0)


def _draw(numbers: list[str], folder: Path, forms: str) -> list[Path]:
    from linkwork.reproduce.draw import papers_with_figures, write_redrawn

    with working("figures") as tick:
        drawn = [number for number in numbers if number in papers_with_figures()]
        return write_redrawn(drawn, folder, forms.replace(",", " ").split(), tick)


def _shown(reproduced: list[Paper], failed: bool) -> list[Table | str]:
    """One table for all papers, then what was corrected."""
    rows = [
        (
            p.number,
            c.what,
            f"{c.published:.10g}",
            f"{c.ours:.10g}",
            f"{c.tolerance:.1e}",
            c.unit,
            _verdict(c.passed),
        )
        for p in reproduced
        for c in p.cases
        if not (failed and c.passed)
    ]
    shown: list[Table | str] = []
    if rows:
        header = ("paper", "what", "published", "ours", "tolerance", "unit", "")
        shown.append(Table("published numbers beside ours", header, rows))
    for p in reproduced:
        reached = sum(c.passed for c in p.cases)
        shown.append(f"paper {p.number:02d}, {p.title}: {reached} of {len(p.cases)}")
        shown += [f"  corrected: {note}" for note in p.corrections]
        shown += [f"  note: {note}" for note in dict.fromkeys(c.note for c in p.cases if c.note)]
    total = sum(len(p.cases) for p in reproduced)
    reached = sum(c.passed for p in reproduced for c in p.cases)
    return [*shown, f"{reached} of {total} published numbers reproduced"]


def _verdict(passed: bool) -> str:
    return "ok" if passed else "MISSED"
