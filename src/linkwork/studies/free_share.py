"""Free share: how much of what a robot can reach is free of collisions, for one design or a thousand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import configurations
from linkwork.arguments import mapping, number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.quantities import evaluate
from linkwork.results import short_repr

PORTION = 2_000_000  # configurations x designs a call


@short_repr
@dataclass(frozen=True)
class FreeShare(Tabular, rows="configurations"):
    """Of designs (...), from the same random configurations.

    configurations   share of the configurations within the limits that touch nothing
    workspace        of the cells that the frame reaches the share that it reaches without touching; NaN without frame
    reached          how many cells the frame reaches; free: those without touching
    """

    configurations: np.ndarray
    workspace: np.ndarray
    reached: np.ndarray
    free: np.ndarray


def free_share(
    model: CollisionModel,
    obstacles: Obstacles | None = None,
    frame: str | None = None,
    cell: float = 0.1,
    variables: Mapping[str, Any] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> FreeShare:
    """The share of configurations, and of the workspace of a frame, that is free of collisions.

    frame       whose workspace is counted, in cells of side `cell` [m]
    variables   values (...) of live variables, one a design, broadcast; nothing is compiled for another design
    samples     random configurations within the limits, the same for every design
    """
    if not isinstance(model, CollisionModel):
        raise InvalidInput(f"free_share: model is {model!r}, expected a CollisionModel: lw.collision.model(robot)")
    size, count = number(cell, "free_share: cell"), number(samples, "free_share: samples")
    if not size > 0.0 or count < 1 or count != int(count):
        raise InvalidInput(f"free_share: cell {size:g} m and {count:g} samples, expected a length and a whole number")
    subject = model.subject
    arrays = {name: np.asarray(x, dtype=float) for name, x in mapping(variables, "free_share: variables").items()}
    batch = np.broadcast_shapes(*(x.shape for x in arrays.values()))
    designs = {name: np.broadcast_to(x, batch).reshape(-1) for name, x in arrays.items()}
    q = configurations.random(subject, int(count), seed)
    n = int(np.prod(batch)) if batch else 1
    share, reached, free = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    step = max(1, PORTION // len(q))
    for begin in range(0, n, step):
        some = slice(begin, min(begin + step, n))
        values = {name: x[some, None] for name, x in designs.items()} or None
        clear = ~np.atleast_2d(model.collides(q, obstacles, variables=values))
        share[some] = clear.mean(axis=1)
        if frame is not None:
            pose = evaluate(subject, "pose", {"q": q}, variables=values, frame=frame)
            cells = _numbered(np.broadcast_to(pose[..., :3, 3], (*clear.shape, 3)) / size)
            for k in range(len(clear)):
                reached[begin + k] = len(np.unique(cells[k]))
                free[begin + k] = len(np.unique(cells[k][clear[k]]))
    workspace = np.where(reached > 0, free / np.maximum(reached, 1), np.nan)
    return FreeShare(*(x.reshape(batch) for x in (share, workspace, reached, free)))


def _numbered(places: np.ndarray) -> np.ndarray:
    """A whole number for the cell of each place (..., 3), counted in sides of a cell."""
    cells = np.floor(places).astype(np.int64)
    cells -= cells.reshape(-1, 3).min(axis=0)
    x, y, z = cells.reshape(-1, 3).max(axis=0) + 1
    if float(x) * float(y) * float(z) > 2.0**62:
        raise InvalidInput("free_share: cell is too small for the workspace to be counted")
    return (cells[..., 0] * y + cells[..., 1]) * z + cells[..., 2]
