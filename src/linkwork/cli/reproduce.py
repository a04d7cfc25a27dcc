"""linkwork reproduce: published numbers beside ours."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from linkwork.cli.arguments import Json
from linkwork.cli.output import console, print_json, print_table
from linkwork.reproduce import papers
from linkwork.reproduce import reproduce as computed


def register(app: typer.Typer) -> None:
    @app.command()
    def reproduce(
        paper: Annotated[list[str] | None, typer.Argument(help='Numbers of papers, such as "04"; none: all.')] = None,
        as_json: Json = False,
    ) -> None:
        """Compute the published numbers of the papers; exit code 1 if one is missed.

        Example:  linkwork reproduce 04
        """
        found = []
        for name in paper or list(papers()):
            with console().status(f"paper {name}"):
                found += computed(name)
        missed = [case for p in found for case in p.cases if not case.passed]
        if as_json:
            print_json([{**asdict(p), "passed": all(c.passed for c in p.cases)} for p in found])
        else:
            for p in found:
                rows = [
                    (c.what, f"{c.published:.10g}", f"{c.ours:.10g}", f"{c.tolerance:.1e}", c.unit, _verdict(c.passed))
                    for c in p.cases
                ]
                title = f"paper {p.number:02d}, {p.title}"
                print_table(title, ("what", "published", "ours", "tolerance", "unit", ""), rows)
                for note in p.corrections:
                    console().print(f"  corrected: {note}", markup=False)
            total = sum(len(p.cases) for p in found)
            console().print(f"{total - len(missed)} of {total} published numbers reproduced")
        if missed:
            raise typer.Exit(1)


def _verdict(passed: bool) -> str:
    return "ok" if passed else "MISSED"
