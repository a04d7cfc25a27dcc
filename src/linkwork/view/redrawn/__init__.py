"""Figures of the papers, drawn again from our own numbers.

Each file `paper_NN.py` of this room has a function `figures() -> tuple[Redrawn, ...]`; `redrawn(number)` finds them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path

from linkwork.arguments import choice
from linkwork.errors import UnknownName, did_you_mean, listed
from linkwork.formats.files import made_folder, write_atomically
from linkwork.view.pictures import pictures
from linkwork.view.redrawn.figure import Redrawn

__all__ = ["FORMATS", "Redrawn", "papers_with_figures", "redrawn", "write_redrawn"]

FORMATS = ("png", "svg")


def papers_with_figures() -> list[str]:
    """ "01", ...: papers of which figures are drawn."""
    return sorted(m.name.removeprefix("paper_") for m in pkgutil.iter_modules(__path__) if m.name.startswith("paper_"))


def redrawn(number: str) -> tuple[Redrawn, ...]:
    """The figures of one paper."""
    known = papers_with_figures()
    if number.zfill(2) not in known:
        raise UnknownName(f'no figures of paper "{number}"{did_you_mean(number, known)}; there are {listed(known, 20)}')
    return importlib.import_module(f"{__name__}.paper_{number.zfill(2)}").figures()


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
