"""Solutions: every configuration that brings a frame to a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.inverse.analytic.candidates import KINDS

_TURN = 2 * np.pi
_ROUNDING = 1e-12  # rad: an angle this little past a limit is on it


@dataclass(frozen=True, repr=False)
class Solutions(Tabular):
    """All solutions of one target, or of a batch (...) of them with M slots each.

                    one target    batch
    q               (m, nq)       (..., M, nq), NaN in empty slots; where the family has branches, a slot is a branch
    residual        (m,)          (..., M): of true forward kinematics [of the arm's length, rad], NaN in empty slots
    kind            (m,)          (..., M): "isolated", "tangent" (a double root), "continuum" (one of infinitely many),
                                  "none" in empty slots
    multiplicity    (m,)          (..., M): how many roots fall together here, 0 in empty slots
    branch          (m, k)        (..., M, k): signs named by `branch_names`, or None where postures have no labels
    free            (m,)          (..., M): the free parameter (meaning: `free_name`), or None
    valid           (m,) True     (..., M)
    count           m             (...,)
    reason          "" or why     (...,) of str: why there is no solution
    scanned         how many values of the free parameter were tried because none was given, or 0
    """

    q: np.ndarray
    residual: np.ndarray
    valid: np.ndarray
    state: np.ndarray = field(repr=False)
    family: str
    exact: bool
    length: float
    branch: np.ndarray | None = None
    branch_names: tuple[str, ...] = ()
    free: np.ndarray | None = None
    free_name: str = ""
    explain: Callable[[tuple[int, ...]], str] = field(repr=False, default=lambda index: "")
    scanned: int = 0

    @property
    def count(self) -> Any:
        """Number of solutions: an int, or an array (...,)."""
        count = np.count_nonzero(self.valid, axis=-1)
        return int(count) if self.valid.ndim == 1 else count

    @cached_property
    def kind(self) -> np.ndarray:
        return KINDS[(self.state % 4).astype(np.int64)]

    @cached_property
    def multiplicity(self) -> np.ndarray:
        return (self.state // 4).astype(np.int64)

    @cached_property
    def reason(self) -> Any:
        if self.valid.ndim == 1:
            return "" if self.valid.any() else self._why(())
        reasons = np.full(self.valid.shape[:-1], "", dtype=object)
        for index in np.argwhere(~self.valid.any(axis=-1)):
            reasons[tuple(index)] = self._why(tuple(int(i) for i in index))
        return reasons

    def _why(self, index: tuple[int, ...]) -> str:
        if not self.scanned:
            return self.explain(index)
        tried = f"{self.scanned} values of the {self.free_name} over a whole turn"
        return f"none at any of {tried}; nearest: {self.explain(index)}"

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        tried = f", {self.scanned} values of the {self.free_name} tried" if self.scanned else ""
        if self.valid.ndim == 1:
            return (
                f"<Solutions: {self.count} by "
                f"{self.family}{tried}{'' if self.count else ': ' + self.reason}>"
            )
        return (
            f"<Solutions of {self.valid.shape[:-1]} targets: {int(self.count.sum())} by "
            f"{self.family}{tried}>"
        )

    def _table(self) -> dict[str, Any]:
        if self.valid.ndim != 1:
            return {"valid": self.valid}
        columns: dict[str, Any] = {f"q[{k}]": self.q[:, k] for k in range(self.q.shape[1])}
        for k, name in enumerate(self.branch_names if self.branch is not None else ()):
            columns[name] = self.branch[:, k]  # type: ignore[index]
        if self.free is not None:
            columns["free"] = self.free
        return columns | {"kind": self.kind, "residual": self.residual}

    def __getitem__(self, index: Any) -> Solutions:
        """The solutions of one target of a batch, without empty slots."""
        index = index if isinstance(index, tuple) else (index,)
        if self.valid.ndim < 2 or len(index) != self.valid.ndim - 1 or self.valid[index].ndim != 1:
            wanted = self.valid.ndim - 1
            raise InvalidInput(
                f"solutions[{index}]: expected {wanted} whole numbers, the place of one target"
            )
        one = self._taken(lambda x: x[index])
        return one.kept(one.valid, lambda _: self.explain(index))

    def kept(
        self, keep: np.ndarray, explain: Callable[[tuple[int, ...]], str] | None = None
    ) -> Solutions:
        """These solutions with only those rows left where `keep` (shape of valid) is True."""
        keep = np.asarray(keep)
        if keep.dtype != bool or keep.shape != self.valid.shape:
            came = f"an array {keep.shape} of {keep.dtype}"
            raise InvalidInput(
                f"kept: keep is {came}, expected {self.valid.shape} of True or False"
            )
        if self.valid.ndim == 1:
            return replace(self._taken(lambda x: x[keep]), explain=explain or self.explain)
        return replace(
            self,
            q=np.where(keep[..., None], self.q, np.nan),
            residual=np.where(keep, self.residual, np.nan),
            valid=keep,
            state=np.where(keep, self.state, 0.0),
        )

    def within(self, lower: ArrayLike, upper: ArrayLike) -> Solutions:
        """The solutions inside joint limits (nq,), each angle turned by whole turns into them where
        that can be."""
        low, high = self.limits(lower, upper)
        short = np.ceil((low - self.q - _ROUNDING) / _TURN)
        over = np.floor((high - self.q + _ROUNDING) / _TURN)
        turns = np.clip(0.0, short, over)
        inside = self.valid & (short <= over).all(axis=-1)
        return replace(self, q=self.q + _TURN * turns).kept(inside)

    def turns(self, lower: ArrayLike, upper: ArrayLike) -> Solutions:
        """Every copy of the solutions of one target that differs by whole turns and lies inside
        finite limits (nq,)."""
        if self.valid.ndim != 1:
            raise InvalidInput("turns: takes the solutions of one target; index the batch first")
        low, high = self.limits(lower, upper)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise InvalidInput(
                "turns: limits must be finite; a joint without limits has no end of turns"
            )
        q, source = [self.q[:0]], []
        for i, row in enumerate(self.q):
            first = np.ceil((low - row - _ROUNDING) / _TURN)
            last = np.floor((high - row + _ROUNDING) / _TURN)
            choices = [
                x + _TURN * np.arange(a, b + 1) for x, a, b in zip(row, first, last, strict=True)
            ]
            grid = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, len(row))
            q.append(grid)
            source += [i] * len(grid)
        rows = np.array(source, dtype=int)
        return replace(self._taken(lambda x: x[rows]), q=np.concatenate(q))

    def limits(self, lower: ArrayLike, upper: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Limits (nq,) or one number for all, checked."""
        low = as_doubles(lower, "solutions: lower limits")
        high = as_doubles(upper, "solutions: upper limits")
        n = self.q.shape[-1]
        for name, x in (("lower", low), ("upper", high)):
            if x.shape not in ((), (n,)) or np.isnan(x).any():
                raise InvalidInput(
                    f"solutions: {name} limits have shape {x.shape}, expected ({n},) without NaN"
                )
        return np.broadcast_to(low, (n,)), np.broadcast_to(high, (n,))

    def _taken(self, take: Callable[[np.ndarray], np.ndarray]) -> Solutions:
        return replace(
            self,
            q=take(self.q),
            residual=take(self.residual),
            valid=take(self.valid),
            state=take(self.state),
            branch=None if self.branch is None else take(self.branch),
            free=None if self.free is None else take(self.free),
        )
