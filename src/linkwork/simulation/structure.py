"""Structure: what of a loop decides its machine code, without the numbers that each run brings.

A loop is traced from its bare copy, in which numbers of a run are only shapes and functions of a
user only their traces. The key is made of that same copy, of every attribute of it: what tracing
can see is in the key. A controller whose class is not linkwork's own may do anything, so that it
has no such key; its loop is traced whenever it is asked for, and kept by its program.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from linkwork.engine import keys
from linkwork.simulation.step_loop import StepLoop


@dataclass(frozen=True)
class Numbers:
    """Stands for numbers of a run: how many there are a sample, and a step."""

    shape: tuple[int, ...]


def bare(loop: StepLoop) -> tuple[StepLoop, str | None]:
    """(the loop without numbers, the key of all it consists of except the plant's own
    equations)."""
    # all of them: a new one is part of the key
    names = [field.name for field in fields(loop) if field.name != "plant"]
    parts = {name: _without_numbers(getattr(loop, name)) for name in names}
    template = replace(loop, **parts)
    shapes = {name: x.shape[-1:] for name, x in loop.plant.parameters.items()}
    try:
        return template, keys.key("loop", parts, shapes)
    except keys.NoKey:
        return loop, None


def _without_numbers(x: Any) -> Any:
    """A copy in which the attributes that a class lists in `of_a_run` have shapes instead of
    contents."""
    if isinstance(x, (list, tuple)):
        return type(x)(_without_numbers(item) for item in x)
    if isinstance(x, Mapping):
        return {name: _without_numbers(item) for name, item in x.items()}
    plain = not hasattr(x, "__dict__") or isinstance(x, type) or not keys.is_own(type(x))
    if plain or hasattr(type(x), "decided_by"):
        return x
    bare = copy.copy(x)
    hidden = getattr(type(x), "of_a_run", ())
    for name, value in vars(x).items():
        object.__setattr__(
            bare, name, _shapes(value) if name in hidden else _without_numbers(value)
        )
    return bare


def _shapes(x: Any) -> Any:
    if isinstance(x, Mapping):
        return {name: _shapes(item) for name, item in x.items()}
    return Numbers(x.shape[-1:]) if isinstance(x, np.ndarray) else None
