"""Starts: every solution of one generic member of a family of systems, as data with a hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr


@short_repr
@dataclass(frozen=True)
class Starts(Tabular, rows="solutions", within=1, aside=("parameters",)):
    """Where paths begin.

    parameters   (m,) complex, generic
    solutions    (k, n) complex: all solutions there, one of each orbit where the system has a
                 symmetry
    seed         that made them
    loops, idle  loops of the parameters that were run, and how many of them in the end found
                 nothing new
    """

    parameters: np.ndarray
    solutions: np.ndarray
    seed: int
    loops: int
    idle: int

    def __post_init__(self) -> None:
        p, x = np.asarray(self.parameters, complex), np.asarray(self.solutions, complex)
        if p.ndim != 1 or x.ndim != 2 or not (np.isfinite(p).all() and np.isfinite(x).all()):
            raise InvalidInput(
                f"Starts: parameters {p.shape} and solutions {x.shape}, expected finite (m,) "
                "and (k, n)"
            )
        object.__setattr__(self, "parameters", p)
        object.__setattr__(self, "solutions", x)

    def __len__(self) -> int:
        return len(self.solutions)

    @property
    def hash(self) -> str:
        """SHA-256 of all numbers."""
        numbers = np.array([self.seed, self.loops, self.idle], dtype="<i8").tobytes()
        for block in (self.parameters, self.solutions):
            numbers += np.array(block.shape, dtype="<i8").tobytes() + block.astype("<c16").tobytes()
        return hashlib.sha256(numbers).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write numbers and their hash to an .npz file."""
        counts = np.array([self.seed, self.loops, self.idle], dtype="<i8")
        digest = np.frombuffer(bytes.fromhex(self.hash), dtype=np.uint8)
        np.savez_compressed(
            path, parameters=self.parameters, solutions=self.solutions, counts=counts, hash=digest
        )

    @staticmethod
    def load(path: str | Path) -> Starts:
        """Read a file of `save`; its hash is checked."""
        try:
            with np.load(path, allow_pickle=False) as file:
                parameters, solutions, counts, digest = (
                    file[name] for name in ("parameters", "solutions", "counts", "hash")
                )
        except (OSError, KeyError, ValueError) as error:
            raise InvalidFile(f"{path}: cannot be read as start solutions: {error}") from None
        starts = Starts(parameters, solutions, *map(int, counts))
        if starts.hash != digest.tobytes().hex():
            raise InvalidFile(
                f"{path}: the numbers do not have the hash that was written with them"
            )
        return starts
