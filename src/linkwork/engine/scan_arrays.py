"""Scan arrays: what a call of a scan brings by name, as rows that machine code reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.engine.scan_trace import Shape
from linkwork.errors import InvalidInput, did_you_mean

Sides = Mapping[str, Mapping[str, Shape]]
"""Shapes by name of "state", "parameters" and "sequences"."""


@dataclass(frozen=True)
class Given:
    """The arrays of a call, checked, and the batch in which they come together."""

    inputs: Sides
    arrays: dict[str, np.ndarray]
    batch: tuple[int, ...]

    @staticmethod
    def of(who: str, inputs: Sides, values: Mapping[str, Any], steps: int) -> Given:
        """Every value by name, refused where one is missing, unknown or of another shape."""
        expected = {**inputs["state"], **inputs["parameters"], **inputs["sequences"]}
        for label in values:
            if label not in expected:
                near = did_you_mean(label, expected)
                raise InvalidInput(f"{who}: there is no argument {label!r}{near}")
        arrays, batches = {}, {}
        for label, shape in expected.items():
            told = f"{who}: {label}"
            if label not in values:
                raise InvalidInput(f"{told} is missing, expected shape (..., {_shown(shape)})")
            rows = steps if label in inputs["sequences"] else None
            arrays[label] = array = _checked(as_doubles(values[label], told), shape, rows, told)
            inner = len(shape) + (rows is not None)
            batches[label] = array.shape[: array.ndim - inner]
        try:
            batch = np.broadcast_shapes(*batches.values())
        except ValueError:
            raise InvalidInput(f"{who}: batch shapes do not broadcast: {batches}") from None
        return Given(inputs, arrays, batch)

    def joined(
        self, side: str, first: np.ndarray | None = None, steps: int | None = None
    ) -> np.ndarray:
        """All arrays of one side as rows (samples or 1, n), of sequences (.., T, n)."""
        parts: list[tuple[np.ndarray, Shape]] = [] if first is None else [(first, ())]
        parts += [(self.arrays[label], shape) for label, shape in self.inputs[side].items()]
        time = () if steps is None else (steps,)
        shared = True
        for array, shape in parts:
            inner = len(shape) + len(time)
            shared = shared and math.prod(array.shape[: array.ndim - inner]) == 1
        count = 1 if shared else math.prod(self.batch)
        columns = []
        for array, shape in parts:
            if time:
                array = array[(..., slice(0, steps), *[slice(None)] * len(shape))]
            if not shared:
                array = np.broadcast_to(array, self.batch + time + shape)
            columns.append(array.reshape((count, *time, math.prod(shape))))
        empty = np.zeros((count, *time, 0))
        return np.ascontiguousarray(np.concatenate([empty, *columns], axis=-1))


def _checked(array: np.ndarray, shape: Shape, rows: int | None, told: str) -> np.ndarray:
    """An array (..., shape), or (..., T, shape) with at least so many rows T; finite."""
    lead = len(shape) + (rows is not None)
    if array.ndim < lead or array.shape[array.ndim - len(shape) :] != shape:
        extra = "" if rows is None else "T, "
        raise InvalidInput(
            f"{told} has shape {array.shape}, expected (..., {extra}{_shown(shape)})"
        )
    if rows is not None and array.shape[array.ndim - lead] < rows:
        came = array.shape[array.ndim - lead]
        raise InvalidInput(f"{told} has {came} rows, expected at least steps = {rows}")
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0])
        place = list(map(int, where))
        raise InvalidInput(f"{told}{place} is {array[where]}, expected finite numbers")
    return array


def _shown(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))
