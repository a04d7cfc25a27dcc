"""Outputs: answers written into arrays of the caller's, which are checked first."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from linkwork.arguments import shown
from linkwork.errors import InvalidInput

Result = TypeVar("Result")


def verdicts_into(out: Any, verdicts: Any, who: str) -> Any:
    """Verdicts (...), in `out` where that is an array."""
    if out is None:
        return verdicts
    shape = np.shape(verdicts)
    if not isinstance(out, np.ndarray):
        came = shown(out)
    elif out.shape != shape or out.dtype != bool:
        came = f"{out.dtype} of shape {out.shape}"
    elif not out.flags.writeable:
        came = "read-only"
    else:
        out[...] = verdicts
        return out
    raise InvalidInput(f"{who}: out is {came}, expected an array of bool of shape {shape}")


def result_into(out: Result | None, result: Result, who: str) -> Result:
    """A result of a batch, its arrays being those of `out`:
    one of an earlier call with as many samples and pairs."""
    if out is None:
        return result
    kind = type(result).__name__
    if type(out) is not type(result):
        raise InvalidInput(f"{who}: out is {shown(out)}, expected a {kind} of an earlier call")
    names = [field.name for field in fields(result)]  # type: ignore[arg-type]
    if np.ndim(getattr(result, names[0])) == 0:  # numbers, which nothing can be written into
        raise InvalidInput(f"{who}: out came with one sample, expected it with a batch, or none")
    arrays = {
        name: getattr(result, name)
        for name in names
        if isinstance(getattr(result, name), np.ndarray)
    }
    for name, new in arrays.items():
        old = getattr(out, name)
        if not isinstance(old, np.ndarray) or old.shape != new.shape:
            came, expected = f"has shape {np.shape(old)}", str(new.shape)
        elif old.dtype != new.dtype:
            came, expected = f"is of {old.dtype}", str(new.dtype)
        else:
            came = expected = ""
        if came:
            raise InvalidInput(
                f"{who}: {name} of out {came}, expected {expected}: "
                f"a {kind} of an earlier call with as many samples and pairs"
            )
        if not old.flags.writeable:
            raise InvalidInput(f"{who}: {name} of out is read-only, expected arrays to write to")
    for name, new in arrays.items():
        getattr(out, name)[...] = new
    return replace(result, **{name: getattr(out, name) for name in arrays})  # type: ignore[type-var]
