"""Batch call: plain arrays of one batch straight to the machine code, without what unusual arguments need."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwork.engine import buffers, python_call

_DOUBLE = np.dtype(np.float64)
Shapes = Sequence[tuple[int, ...]]


class BatchCall:
    """A compiled batch function for arguments that are float64 arrays as they should be. The closer look costs more
    than a hundred samples of a small robot, so it is only taken where it is needed."""

    def __init__(self, run: Callable[..., int], scratch: int, inputs: Shapes, outputs: Shapes) -> None:
        self.run, self.scratch, self.inputs, self.outputs = run, scratch, tuple(inputs), tuple(outputs)
        self._strides = (ctypes.c_int64 * len(inputs))(*[math.prod(shape) for shape in inputs])
        self._from, self._to = ctypes.c_void_p * len(inputs), ctypes.c_void_p * len(outputs)
        self._address = _address if python_call.available() else _address_by_name

    def __call__(self, args: Sequence[Any], out: Any, most: int) -> list[np.ndarray] | None:
        """The results, or None: arguments to convert or explain, or more than `most` samples, worth several threads."""
        if len(args) != len(self.inputs) or not args:
            return None
        first, dimensions = args[0], len(self.inputs[0])
        lead = first.shape[: first.ndim - dimensions] if type(first) is np.ndarray else ()
        for array, shape in zip(args, self.inputs):
            if type(array) is not np.ndarray or array.dtype is not _DOUBLE or not array.flags.c_contiguous:
                return None
            if array.shape != lead + shape:
                return None
        samples = math.prod(lead) if lead else 0
        if not 0 < samples <= most:
            return None
        outs = [buffers.empty(lead + shape) for shape in self.outputs] if out is None else self._given(args, out, lead)
        if outs is None:
            return None
        address, scratch = self._address, np.empty(self.scratch)
        sources, targets = self._from(*[address(a) for a in args]), self._to(*[address(o) for o in outs])
        return outs if self.run(sources, self._strides, targets, address(scratch), 0, samples) < 0 else None

    def _given(self, args: Sequence[np.ndarray], out: Any, lead: tuple[int, ...]) -> list[np.ndarray] | None:
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != len(self.outputs):
            return None
        for array, shape in zip(outs, self.outputs):
            if type(array) is not np.ndarray or array.dtype is not _DOUBLE or array.shape != lead + shape:
                return None
            if not array.flags.c_contiguous or not array.flags.writeable:
                return None
            begin, size = self._address(array), array.nbytes
            for other in args:
                start = self._address(other)
                if start < begin + size and begin < start + other.nbytes:
                    return None
        return outs


def _address(array: np.ndarray) -> int:
    """Where the numbers of an array stand, read from the array's own structure (whose layout has been verified)."""
    return ctypes.c_size_t.from_address(id(array) + python_call.DATA).value


def _address_by_name(array: np.ndarray) -> int:
    return array.ctypes.data
