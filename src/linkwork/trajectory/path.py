"""Path: a curve q(s) through configurations, s from 0 to 1, with its first two derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, choice
from linkwork.engine.compile import compile as compiled
from linkwork.errors import InvalidInput
from linkwork.lagrange.expressions import as_expression, called, constants
from linkwork.trajectory.motion import MEET


@dataclass(frozen=True, repr=False)
class Path:
    """q(s) for joints of one coordinate each. `curve(s)` gives (q, dq/ds, d2q/ds2), each (m, size),
    for s (m,).

    Made by `Path.line`, `Path.through` or `Path.of`, joined by `then`; called with s of any shape.
    breaks   places inside where a higher derivative jumps: grids on the path have points there
    """

    size: int
    curve: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    breaks: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return f"<Path of {self.size} coordinates>"

    def __call__(self, s: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, q', q''), each (..., size), for s (...) from 0 to 1."""
        at = as_doubles(s, "path: s")
        if not ((at >= 0.0) & (at <= 1.0)).all():
            worst = at.flat[int(np.argmax(np.abs(at - 0.5)))] if np.isfinite(at).all() else np.nan
            raise InvalidInput(f"path: s holds {worst}, expected numbers from 0 to 1")
        parts = self.curve(at.ravel())
        q, first, second = (x.reshape(*at.shape, self.size) for x in parts)
        return q, first, second

    def then(self, *others: Path) -> Path:
        """This path and others after it as one, which is gone through without a stop.

        Each begins where the one before ends, in the same direction. A corner is refused: there the
        time laws are joined, with a stop (`minimum_time(...).then(...)`), or one path is laid
        through the waypoints of both.
        """
        parts, widths = [self], [1.0]
        for k, other in enumerate(others, 1):
            if not isinstance(other, Path) or other.size != self.size:
                raise InvalidInput(
                    f"Path.then: path {k} is {other!r}, expected a path of {self.size} coordinates"
                )
            (q_end, d_end, _), (q_next, d_next, _) = parts[-1](1.0), other(0.0)
            gap = float(np.abs(q_next - q_end).max())
            if gap > MEET:
                raise InvalidInput(
                    f"Path.then: path {k} begins {gap:.3g} away from where the one before ends"
                )
            before, after = float(np.linalg.norm(d_end)), float(np.linalg.norm(d_next))
            turned = (
                1.0
                if min(before, after) == 0.0
                else float(np.linalg.norm(d_end / before - d_next / after))
            )
            if turned > MEET:
                raise InvalidInput(
                    f"Path.then: path {k} begins in another direction than the one before ends "
                    "(they differ by "
                    f"{turned:.3g}); expected one direction, or time laws joined by then(), with "
                    "a stop"
                )
            parts.append(other)
            widths.append(widths[-1] * after / before)  # so that dq/ds goes through as it is
        return _joined(parts, np.array(widths) / sum(widths))

    @staticmethod
    def line(start: ArrayLike, end: ArrayLike) -> Path:
        """Straight from one configuration to another."""
        a, b = _configuration(start, "Path.line: start"), _configuration(end, "Path.line: end")
        if a.shape != b.shape:
            raise InvalidInput(
                f"Path.line: end has {len(b)} coordinates, expected {len(a)} as the start has"
            )
        if (a == b).all():
            raise InvalidInput("Path.line: start and end are the same configuration")

        def curve(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            flat = np.ones((len(s), 1))
            return a + s[:, None] * (b - a), flat * (b - a), 0.0 * flat * a

        return Path(len(a), curve)

    @staticmethod
    def through(
        waypoints: ArrayLike, s: ArrayLike | None = None, kind: str = "cubic", ends: str = "natural"
    ) -> Path:
        """A spline through waypoints (m, n).

        s      where on the path they lie, rising from 0 to 1; left out: by distance in joint space
        kind   "cubic" (continuous curvature) or "quintic" (needs 6 waypoints; four continuous
               derivatives)
        ends   of a cubic: "natural" (straight), "clamped" (zero derivative: slow by itself) or
               "not-a-knot"
        """
        choice(kind, ("cubic", "quintic"), "Path.through: kind")
        choice(ends, ("natural", "clamped", "not-a-knot"), "Path.through: ends")
        points = as_doubles(waypoints, "Path.through: waypoints")
        least = 2 if kind == "cubic" else 6
        if (
            points.ndim != 2
            or len(points) < least
            or points.shape[1] < 1
            or not np.isfinite(points).all()
        ):
            raise InvalidInput(
                f"Path.through: waypoints has shape {points.shape}, expected at least {least} rows "
                "of finite numbers"
            )
        at = _places(points, s)
        # takes longer to import than all of linkwork
        from scipy.interpolate import (
            CubicSpline,
            make_interp_spline,
        )

        spline = (
            CubicSpline(at, points, bc_type=ends)
            if kind == "cubic"
            else make_interp_spline(at, points, k=5)
        )
        first, second = spline.derivative(1), spline.derivative(2)
        return Path(
            points.shape[1], lambda x: (spline(x), first(x), second(x)), tuple(at[1:-1].tolist())
        )

    @staticmethod
    def of(function: Callable[[Any], Any], size: int) -> Path:
        """A user's own curve: a function of one CasADi symbol s that gives `size` expressions
        (a list or a vector)."""

        def with_derivatives(s: casadi.SX) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
            q = as_expression(
                called(function, [s], "Path.of: the function"), "Path.of: the function"
            )
            if not np.isfinite(constants(q)).all():
                raise InvalidInput("Path.of: the function contains a number that is not finite")
            if q.shape != (size, 1):
                raise InvalidInput(
                    f"Path.of: the function gives shape {q.shape}, expected {size} expressions"
                )
            first = casadi.jacobian(q, s)
            return tuple(casadi.densify(x) for x in (q, first, casadi.jacobian(first, s)))  # type: ignore[return-value]

        kernel = compiled(with_derivatives, {"s": ()}, "path")
        return Path(size, lambda s: tuple(x.reshape(len(s), size) for x in kernel(s)))


def _joined(parts: list[Path], widths: np.ndarray) -> Path:
    """Paths after each other, each over its share of s."""
    ends = np.concatenate([[0.0], np.cumsum(widths)])
    ends[-1] = 1.0

    def curve(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        which = np.clip(np.searchsorted(ends, s, side="right") - 1, 0, len(parts) - 1)
        q, first, second = (np.empty((len(s), parts[0].size)) for _ in range(3))
        for k, (part, width) in enumerate(zip(parts, widths, strict=True)):
            mine = which == k
            if mine.any():
                values = part.curve(np.clip((s[mine] - ends[k]) / width, 0.0, 1.0))
                q[mine] = values[0]
                first[mine] = values[1] / width
                second[mine] = values[2] / width**2
        return q, first, second

    inner = [
        ends[k] + width * np.array(part.breaks)
        for k, (part, width) in enumerate(zip(parts, widths, strict=True))
    ]
    return Path(
        parts[0].size, curve, tuple(np.unique(np.concatenate([*inner, ends[1:-1]])).tolist())
    )


def _configuration(x: ArrayLike, who: str) -> np.ndarray:
    q = as_doubles(x, who)
    if q.ndim != 1 or not len(q) or not np.isfinite(q).all():
        raise InvalidInput(
            f"{who} has shape {q.shape}, expected one configuration of finite numbers"
        )
    return q


def _places(points: np.ndarray, s: ArrayLike | None) -> np.ndarray:
    if s is None:
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        if (steps == 0).any():
            k = int(np.argmax(steps == 0))
            raise InvalidInput(
                f"Path.through: waypoints {k} and {k + 1} are the same configuration"
            )
        return np.concatenate([[0.0], np.cumsum(steps) / steps.sum()]).clip(0.0, 1.0)
    at = as_doubles(s, "Path.through: s")
    if at.shape != (len(points),) or at[0] != 0.0 or at[-1] != 1.0 or not (np.diff(at) > 0).all():
        raise InvalidInput(
            f"Path.through: s is {at.tolist()}, expected {len(points)} numbers that rise from 0 "
            "to 1"
        )
    return at
