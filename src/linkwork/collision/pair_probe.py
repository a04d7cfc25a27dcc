"""Probe of pairs: the clearances of one scene and their gradients,
asked one configuration after the other.

`clearances` packs the pairs of each call and gives names and points of them; a controller asks for
distances alone, a thousand times a second, so that all of it is packed once.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from linkwork.arguments import finite
from linkwork.collision.clearance import FAR
from linkwork.collision.pair_clearances import (
    OUTPUTS,
    asked_table,
    clearances,
    kernel_of,
    pairs_asked,
)
from linkwork.collision.tables import RobotTables
from linkwork.engine.staged import Packed

_DOUBLE = np.dtype(float)
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)


class PairProbe:
    """probe(q) -> distances (m,) [m] of all pairs and their gradients (m, nv),
    in the order of `clearances`."""

    def __init__(self, tables: RobotTables, obstacles: Any) -> None:
        self.tables, self.obstacles = tables, obstacles
        asked = pairs_asked(tables, obstacles, tables.moving, tables.asked_pairs)
        self._packed = tables.pack(obstacles) + Packed(
            (asked_table(tables.layout),), {"asked": asked.rows}
        )
        kernel = kernel_of(tables)
        code, header = kernel.load()
        self._run, self._scratch = _RUN(code.addresses["run"]), header["scratch"]
        self.count, self.nq, self.nv = len(asked.computed), tables.subject.nq, tables.subject.nv
        self._shape = (self.nq,)
        # one block a call: what goes in, what comes out, and the words that point at both
        values = [float(x) for x in np.ravel(tables.subject.variable_values(None))]
        inputs = [self.nq, *[1] * len(values)]
        outputs = [self.count * size for _, size in (*OUTPUTS, ("gradient", self.nv))]
        starts = np.concatenate([[0], np.cumsum([*inputs, *outputs])])
        self._distance, self._gradient = int(starts[len(inputs)]), int(starts[-2])
        tables_of_run = self._packed.numbers
        self._words = int(starts[-1])
        self._outputs = self._words + len(inputs) + len(tables_of_run)
        self._strides = self._outputs + len(outputs)
        self._template = np.zeros(self._strides + len(inputs))
        self._template[self.nq : self.nq + len(values)] = values
        words = self._template.view(np.int64)
        words[self._words : self._words + len(inputs)] = 8 * starts[: len(inputs)]
        words[self._words + len(inputs) : self._outputs] = tables_of_run
        words[self._outputs : self._strides] = 8 * starts[len(inputs) : -1]
        inputs_at = np.arange(self._words, self._words + len(inputs))
        self._addresses = np.concatenate([inputs_at, np.arange(self._outputs, self._strides)])

    def __call__(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if q.__class__ is not np.ndarray or q.shape != self._shape or q.dtype is not _DOUBLE:
            q = finite(q, self._shape, "probe: q")
        block, scratch = self._template.copy(), np.empty(self._scratch)
        base = block.ctypes.data
        block.view(np.int64)[self._addresses] += base
        block[: self.nq] = q
        places = (base + 8 * self._words, base + 8 * self._strides, base + 8 * self._outputs)
        if self._run(*places, scratch.ctypes.data, 0, 1) >= 0:
            clearances(self.tables, q, self.obstacles)  # which says what is wrong
        distance = block[self._distance : self._distance + self.count]
        distance[distance >= FAR] = np.inf
        return distance, block[self._gradient : self._words].reshape(self.count, self.nv)
