"""Figures of the papers, drawn again from our own numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from linkwork.arguments import choice
from linkwork.errors import UnknownName, did_you_mean, listed
from linkwork.formats.files import made_folder, write_atomically
from linkwork.reproduce import module_of, papers
from linkwork.reproduce.figure import Redrawn
from linkwork.view.pictures import pictures

FORMATS = ("png", "svg")


def papers_with_figures() -> list[str]:
    """ "01", ...: papers of which figures are drawn."""
    return [number for number in papers() if hasattr(module_of(number), "figures")]


def redrawn(number: str) -> tuple[Redrawn, ...]:
    """The figures of one paper."""
    known = papers_with_figures()
    if number.zfill(2) not in known:
        raise UnknownName(
            f'no figures of paper "{number}"{did_you_mean(number, known)}; there are '
            f"{listed(known, 20)}"
        )
    figures: tuple[Redrawn, ...] = module_of(number.zfill(2)).figures()
    return figures


def write_redrawn(
    numbers: Sequence[str],
    folder: str | Path,
    formats: Sequence[str] = FORMATS,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Draw the figures of some papers into a folder, each as paper-NN-figure-M.FORMAT."""
    for form in formats:
        choice(form, FORMATS, "write_redrawn: formats")
    place = made_folder(folder)
    chosen = [(number, figure) for number in numbers for figure in redrawn(number)]
    written: list[Path] = []
    for k, (number, figure) in enumerate(chosen):
        for form, content in pictures(figure.draw_captioned, formats, figure.size).items():
            written.append(place / f"paper-{number.zfill(2)}-{figure.name}.{form}")
            write_atomically(written[-1], content)
        if progress is not None:
            progress(k + 1, len(chosen))
    return written
