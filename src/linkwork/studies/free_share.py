"""Free share: how much of what a robot can reach is free of collisions,
for one design or a thousand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import configurations, deadlines
from linkwork.arguments import broadcast, finite_doubles, mapping, number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.quantities import evaluate
from linkwork.results import short_repr

PORTION = 2_000_000  # configurations x designs a call
MOST_SAMPLES = 10**8
_VARIABLES = "free_share: variables"


@short_repr
@dataclass(frozen=True)
class FreeShare(Tabular, rows="configurations"):
    """Of designs (...), from the same random configurations.

    configurations   share of the configurations within the limits that touch nothing
    workspace        of the cells that the frame reaches the share that it reaches without touching;
                     NaN without frame
    reached          how many cells the frame reaches; free: those without touching
    """

    configurations: np.ndarray
    workspace: np.ndarray
    reached: np.ndarray
    free: np.ndarray


@deadlines.limited
def free_share(
    model: CollisionModel,
    obstacles: Obstacles | None = None,
    frame: str | None = None,
    cell: float = 0.1,
    variables: Mapping[str, Any] | None = None,
    samples: int = 2000,
    seed: int = 0,
    *,
    time_limit: float | None = None,
) -> FreeShare:
    """The share of configurations, and of the workspace of a frame, that is free of collisions.

    frame       whose workspace is counted, in cells of side `cell` [m]
    variables   values (...) of live variables, one a design, broadcast; nothing is compiled for
                another design
    samples     random configurations within the limits, the same for every design
    time_limit  seconds after which it ends with NotPossible; None: as long as it takes
    """
    if not isinstance(model, CollisionModel):
        raise InvalidInput(
            f"free_share: model is {model!r}, expected a CollisionModel: lw.collision.model(robot)"
        )
    count = deadlines.counted(samples, "free_share: samples", 1, MOST_SAMPLES)
    size = number(cell, "free_share: cell")
    if not size > 0.0:
        raise InvalidInput(f"free_share: cell is {size:g} m, expected a length above 0")
    subject = model.subject
    named = mapping(variables, _VARIABLES)
    arrays = {name: finite_doubles(x, f"{_VARIABLES}[{name!r}]") for name, x in named.items()}
    batch = broadcast({name: x.shape for name, x in arrays.items()}, _VARIABLES)
    designs = {name: np.broadcast_to(x, batch).reshape(-1) for name, x in arrays.items()}
    q = configurations.random(subject, count, seed)
    n = int(np.prod(batch)) if batch else 1
    share, reached, free = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    step = max(1, PORTION // len(q))
    for some in deadlines.rounds(n, step) if n else ():
        values = {name: x[some, None] for name, x in designs.items()} or None
        clear = ~np.atleast_2d(model.collides(q, obstacles, variables=values))
        share[some] = clear.mean(axis=1)
        if frame is not None:
            pose = evaluate(subject, "pose", {"q": q}, variables=values, frame=frame)
            cells = _numbered(np.broadcast_to(pose[..., :3, 3], (*clear.shape, 3)) / size)
            for k in range(len(clear)):
                reached[some.start + k] = len(np.unique(cells[k]))
                free[some.start + k] = len(np.unique(cells[k][clear[k]]))
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
