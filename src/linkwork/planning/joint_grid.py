"""Joint grid: regular samples of some joints, and which of them are neighbours
(Moore: one step in any joints).

Neighbours are slices of one array shifted against another, so no list of pairs is ever made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Pair = tuple[tuple[slice, ...], tuple[slice, ...]]
TIE = 1e-9  # of a step: values that are no nearer than that are as near, and the lower one counts


@dataclass(frozen=True)
class JointGrid:
    """Values of each joint of the grid, ends included;
    a wrapped joint has its last value beside its first.

    values   one array (n_k,) a joint
    wraps    whether each joint goes round
    """

    values: tuple[np.ndarray, ...]
    wraps: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    @cached_property
    def size(self) -> int:
        """Number of nodes."""
        return int(np.prod([float(n) for n in self.shape]))

    def nodes(self, rows: np.ndarray | slice) -> np.ndarray:
        """(n, d) joint values of nodes by their number (row-major: the last joint runs fastest)."""
        numbers = np.arange(self.size)[rows] if isinstance(rows, slice) else rows
        places = np.unravel_index(numbers, self.shape)
        return np.stack([v[k] for v, k in zip(self.values, places, strict=True)], axis=-1)

    def nearest(self, q: np.ndarray) -> int:
        """The number of the node nearest to q (d,), ties to the lower number."""
        places = []
        for values, wrap, x in zip(self.values, self.wraps, q, strict=True):
            apart = np.abs(values - x)
            if wrap:
                turn = _turn(values)
                apart = np.abs((values - x + turn / 2) % turn - turn / 2)
            step = float(values[1] - values[0]) if len(values) > 1 else 1.0
            places.append(int(np.argmax(apart <= apart.min() + TIE * step)))
        return int(np.ravel_multi_index(tuple(places), self.shape))

    def apart(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Distance of joint values (..., d), the short way round where a joint goes round."""
        off = a - b
        for k, wrap in enumerate(self.wraps):
            if wrap:
                off[..., k] = (off[..., k] + math.pi) % (2 * math.pi) - math.pi
        return np.linalg.norm(off, axis=-1)

    def unwrapped(self, q: np.ndarray) -> np.ndarray:
        """Joint values (m, d) of a way without jumps of whole turns where a joint goes round."""
        return np.stack(
            [np.unwrap(x) if wrap else x for x, wrap in zip(q.T, self.wraps, strict=True)], axis=1
        )

    def beside(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Joint values b (m, d), whole turns away where that is nearer to a (m, d)."""
        turns = np.where(self.wraps, 2 * math.pi, 0.0)
        return b - turns * np.rint((b - a) / (2 * math.pi))

    def pairs(self) -> Iterator[Pair]:
        """Slices (here, there) that put every node beside one neighbour;
        each pair of neighbours comes up once."""
        for offset in _half_neighbourhood(len(self.shape)):
            sides = [self._sides(k, step) for k, step in enumerate(offset)]
            for combination in itertools.product(*sides):
                here, there = zip(*combination, strict=True)
                yield tuple(here), tuple(there)

    @cached_property
    def lines(self) -> np.ndarray:
        """(m, 3): `pairs` as lines along the last joint: where each begins here and there,
        and how long it is."""
        numbers = np.arange(self.size).reshape(self.shape)
        rows = [np.empty((0, 3), dtype=np.int64)]
        for here, there in self.pairs():
            one, other = numbers[here], numbers[there]
            if not one.size:
                continue
            begins = (one[..., 0].ravel(), other[..., 0].ravel())
            rows.append(np.stack([*begins, np.full(len(begins[0]), one.shape[-1])], axis=1))
        return np.ascontiguousarray(np.concatenate(rows), dtype=np.int64)

    def _sides(self, k: int, step: int) -> list[tuple[slice, slice]]:
        n = len(self.values[k])
        if step == 0:
            return [(slice(None), slice(None))]
        inner = (slice(0, n - 1), slice(1, n))
        seam = (slice(n - 1, n), slice(0, 1))  # the last value beside the first
        sides = [inner, seam] if self.wraps[k] and n > 2 else [inner]
        return sides if step > 0 else [(there, here) for here, there in sides]

    def steps(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(from, to) numbers of neighbours, from some nodes (n,) in half of all directions."""
        places = np.unravel_index(numbers, self.shape)
        strides = np.cumprod((1, *self.shape[:0:-1]))[::-1]
        for offset in _half_neighbourhood(len(self.shape)):
            exists = np.ones(len(numbers), dtype=bool)
            there = numbers.copy()
            for place, step, n, wrap, stride in zip(
                places, offset, self.shape, self.wraps, strides, strict=True
            ):
                if step and wrap and n > 2:
                    there += ((place + step) % n - place) * stride
                elif step:
                    exists &= place < n - 1 if step > 0 else place > 0
                    there += step * stride
            yield numbers[exists], there[exists]

    @property
    def edge_count(self) -> int:
        """Pairs of neighbours: (prod(3 n_k - 2) - prod n_k) / 2 without wrapping. Source:
        [Corves2022] eq. 7."""
        total = 1
        for n, wrap in zip(self.shape, self.wraps, strict=True):
            total *= 3 * n if wrap and n > 2 else 3 * n - 2
        return (total - self.size) // 2


def _half_neighbourhood(d: int) -> list[tuple[int, ...]]:
    """Offsets of one half of the 3^d - 1 neighbours, the step of the last joint alone first."""
    every = [o for o in itertools.product((0, 1, -1), repeat=d) if any(o)]
    half = [o for o in every if next(step for step in o if step) > 0]
    last = (0,) * (d - 1) + (1,)
    return [last, *(o for o in half if o != last)]


def _turn(values: np.ndarray) -> float:
    return float(values[-1] - values[0] + (values[1] - values[0]))
