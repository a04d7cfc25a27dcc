"""What inverse kinematics gives back: a configuration a target,
and whether true forward kinematics agrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.formats.tabular import Tabular


class InverseKinematics(Tabular):
    """Answers for one target or a batch (...).

    q           (..., nq); where `success` is False the nearest configuration that was found
    success     (...) bool: forward kinematics of q reaches the target within the tolerance
    error       (...) the larger of position_error [m] and rotation_error [rad]
    position_error, rotation_error   (...) of the worst frame, by forward kinematics of q
    iterations  (...) steps of the solver, all attempts together (sweeps, for the recursive method)
    reason      a sentence, or an array of sentences for a batch
    on_limit    (..., nq) bool: coordinates that stand on a limit
    """

    __slots__ = (
        "_limits",
        "code",
        "explain",
        "iterations",
        "position_error",
        "q",
        "rotation_error",
        "success",
    )

    def __init__(
        self,
        q: np.ndarray,
        success: Any,
        position_error: Any,
        rotation_error: Any,
        iterations: Any,
        code: Any,
        limits: tuple[np.ndarray, np.ndarray],
        explain: Callable[[InverseKinematics, tuple[int, ...]], str],
    ) -> None:
        self.q, self.success, self.iterations, self.code = q, success, iterations, code
        self.position_error, self.rotation_error = position_error, rotation_error
        self._limits, self.explain = limits, explain

    @property
    def error(self) -> Any:
        return np.maximum(self.position_error, self.rotation_error)

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) of q that the search kept."""
        return self._limits

    @property
    def on_limit(self) -> np.ndarray:
        lower, upper = self.limits
        return (self.q <= lower) | (self.q >= upper)

    @property
    def reason(self) -> Any:
        shape = np.shape(self.success)
        if not shape:
            return self.explain(self, ())
        out = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            out[index] = self.explain(self, index)
        return out

    def __repr__(self) -> str:
        shape = np.shape(self.success)
        if not shape:
            return f"<InverseKinematics: {self.reason}>"
        return (
            f"<InverseKinematics: {int(np.sum(self.success))} of {int(np.prod(shape))} targets "
            "reached>"
        )

    def _table(self) -> dict[str, Any]:
        rows = np.asarray(self.q).reshape(-1, np.shape(self.q)[-1])
        columns: dict[str, Any] = {f"q[{k}]": rows[:, k] for k in range(rows.shape[1])}
        return columns | {
            name: np.ravel(getattr(self, name)) for name in ("success", "error", "iterations")
        }
