"""One case a paper: published number, ours, tolerance.

Each file `paper_NN.py` of this room has a function `paper() -> Paper`; `papers()` finds them all.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from linkwork.errors import UnknownName, did_you_mean, listed
from linkwork.reproduce.case import Case, Paper

__all__ = ["Case", "Paper", "papers", "reproduce"]


def papers() -> dict[str, Callable[[], Paper]]:
    """ "01" -> the function that computes its cases."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("paper_"))
    return {name.removeprefix("paper_"): _runner(name) for name in names}


def _runner(name: str) -> Callable[[], Paper]:
    return lambda: importlib.import_module(f"{__name__}.{name}").paper()


def reproduce(*wanted: str) -> list[Paper]:
    """The cases of some papers ("04"), or of all."""
    known = papers()
    chosen = [w.zfill(2) for w in wanted] or list(known)
    for name in chosen:
        if name not in known:
            raise UnknownName(f'no cases for paper "{name}"{did_you_mean(name, known)}; there are {listed(known, 20)}')
    return [known[name]() for name in chosen]
