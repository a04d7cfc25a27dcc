"""One file a paper: published number, ours, tolerance, and its figures drawn again.

A file `paper_NN.py` of this room is found by its name. It has `paper() -> Paper`
(number, key, title, where it lives in linkwork, cases, corrections) and may have
`figures() -> tuple[Redrawn, ...]`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType

from linkwork.errors import UnknownName, did_you_mean, listed
from linkwork.reproduce.case import Case, Paper

__all__ = ["Case", "Paper", "papers", "reproduce"]


def papers() -> dict[str, Callable[[], Paper]]:
    """ "01" -> the function that computes its cases."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("paper_"))
    return {name.removeprefix("paper_"): _runner(name.removeprefix("paper_")) for name in names}


def module_of(number: str) -> ModuleType:
    """The file of a paper: "04"."""
    return importlib.import_module(f"{__name__}.paper_{number}")


def _runner(number: str) -> Callable[[], Paper]:
    return lambda: module_of(number).paper()


def reproduce(*wanted: str) -> list[Paper]:
    """The cases of some papers ("04"), or of all."""
    known = papers()
    chosen = [w.zfill(2) for w in wanted] or list(known)
    for name in chosen:
        if name not in known:
            raise UnknownName(
                f'no cases for paper "{name}"{did_you_mean(name, known)}; there are '
                f"{listed(known, 20)}"
            )
    return [known[name]() for name in chosen]
