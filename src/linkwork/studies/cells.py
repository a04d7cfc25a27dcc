"""Cells: where a robot stands, and which robot,
so that it reaches its places quickly and touches nothing.

Every place gets a configuration that is free, every motion from home to it and back is planned and
proved, and timed by the speeds of its joints. Another base moves the cell against the robot, so
that nothing is compiled for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, deadlines
from linkwork.arguments import finite, finite_doubles
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular, table_of
from linkwork.model import Placement
from linkwork.planning import PoseGoal, plan_many
from linkwork.planning.questions import space_of
from linkwork.results import short_repr


@short_repr
@dataclass(frozen=True)
class CellLayouts(Tabular):
    """One row for each robot and base, (designs, bases).

    designs    names of the robots;  bases (bases, 4, 4): where they stand
    reached    places with a free configuration;  planned: those with a motion that is proved free
    length     mean length of these motions [rad, m];  cycle: seconds of all of them, there and
               back, at the largest speeds of the joints; NaN where none is planned
    seconds    that the study took
    """

    designs: tuple[str, ...]
    bases: np.ndarray
    places: int
    reached: np.ndarray
    planned: np.ndarray
    length: np.ndarray
    cycle: np.ndarray
    seconds: float

    def _table(self) -> dict[str, np.ndarray]:
        shape = self.reached.shape
        names = np.broadcast_to(np.array(self.designs, dtype=object)[:, None], shape)
        numbers = {name: getattr(self, name) for name in ("reached", "planned", "length", "cycle")}
        places = np.broadcast_to(self.bases[:, :3, 3], (*shape, 3))
        return table_of(shape, {"design": names, "base": places, **numbers})

    @property
    def best(self) -> tuple[str, np.ndarray]:
        """(design, base): most places, and of these the shortest cycle for each place."""
        pace = np.where(self.planned > 0, self.cycle / np.maximum(self.planned, 1), np.inf)
        order = np.lexsort((pace.ravel(), -self.planned.ravel()))
        row, column = np.unravel_index(order[0], self.planned.shape)
        return self.designs[int(row)], self.bases[int(column)]


@deadlines.limited
def cell_layouts(
    models: Mapping[str, CollisionModel] | CollisionModel,
    targets: ArrayLike,
    frame: str,
    home: ArrayLike,
    bases: ArrayLike,
    obstacles: Obstacles | Sequence[Any] | None = None,
    speeds: ArrayLike | None = None,
    seed: int = 0,
    *,
    time_limit: float | None = None,
) -> CellLayouts:
    """Which places of a cell each robot reaches from each base, along which motions,
    and how long they take.

    models      robots with their shapes by name (other link lengths, other tools), or one
    targets     (n, 4, 4) poses of the frame in the cell's axes
    home        (nq,) where every motion begins and ends
    bases       (m, 3) positions or (m, 4, 4) poses of the robot's base in the cell
    obstacles   of the cell, in its axes
    speeds      [rad/s, m/s], one number or (nq,); left out, those of the robot
    time_limit  seconds after which it ends with NotPossible; None: as long as it takes
    """
    clock = time.perf_counter()
    named = {"": models} if isinstance(models, CollisionModel) else dict(models)
    poses = finite_doubles(targets, "cell_layouts: targets")
    if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not len(poses) or not named:
        raise InvalidInput(
            f"cell_layouts: targets has shape {poses.shape}, expected (n, 4, 4), for at least "
            "one robot"
        )
    places = _bases(bases)
    around = obstacles if isinstance(obstacles, Obstacles) else Obstacles(obstacles or ())
    shape = (len(named), len(places))
    reached, planned = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    length, cycle = np.full(shape, np.nan), np.full(shape, np.nan)
    for row, model in enumerate(named.values()):
        rates = _speeds(model, speeds)
        start = finite(home, (model.subject.nq,), "cell_layouts: home")
        for column, base in enumerate(places):
            deadlines.check()
            back = np.linalg.inv(base)
            scene = _moved(around, back)
            goals = _goals(model, start, back @ poses, frame, scene, seed)
            reached[row, column] = len(goals)
            if not len(goals) or model.collides(start, scene):
                continue
            plans = plan_many(model, start, goals, scene, seed=seed)
            paths = [plan.path for plan in plans if plan.certified]
            planned[row, column] = len(paths)
            if paths:
                length[row, column] = float(
                    np.mean([plan.length for plan in plans if plan.certified])
                )
                cycle[row, column] = 2.0 * sum(_duration(path, rates) for path in paths)
    counts = (reached, planned, length, cycle)
    return CellLayouts(tuple(named), places, len(poses), *counts, time.perf_counter() - clock)


def _goals(
    model: CollisionModel,
    start: np.ndarray,
    poses: np.ndarray,
    frame: str,
    scene: Obstacles,
    seed: int,
) -> np.ndarray:
    """(k, nq): of each place that is reached the free configuration nearest to the start."""
    space = space_of(model, None, None, "cell_layouts")
    goals = []
    for pose in poses:
        rows = PoseGoal(frame, pose).configurations(space, start, seed)
        free = rows[~model.collides(rows, scene)] if len(rows) else rows
        goals += [free[0]] if len(free) else []
    return np.array(goals).reshape(-1, model.subject.nq)


def _moved(obstacles: Obstacles, T: np.ndarray) -> Obstacles:
    """The same in other axes."""
    rotation: Any = tuple(tuple(row) for row in T[:3, :3].tolist())
    x, y, z = T[:3, 3].tolist()
    place = Placement(rotation=rotation, position=(x, y, z))
    return Obstacles([shape.moved(place) for shape in obstacles])


def _duration(path: np.ndarray, rates: np.ndarray) -> float:
    """[s] along straight motions, each at the speed of its slowest joint."""
    return float((np.abs(np.diff(path, axis=0)) / rates).max(axis=1).sum())


def _bases(bases: ArrayLike) -> np.ndarray:
    places = finite_doubles(bases, "cell_layouts: bases")
    if places.ndim == 2 and places.shape[1] == 3:
        poses = np.tile(np.eye(4), (len(places), 1, 1))
        poses[:, :3, 3] = places
        return poses
    if places.ndim != 3 or places.shape[1:] != (4, 4):
        raise InvalidInput(
            f"cell_layouts: bases has shape {places.shape}, expected (m, 3) or (m, 4, 4)"
        )
    return places


def _speeds(model: CollisionModel, speeds: ArrayLike | None) -> np.ndarray:
    rates = configurations.limits(model.subject).velocity if speeds is None else speeds
    listed = np.broadcast_to(np.asarray(rates, dtype=float), (model.subject.nq,))
    if not (np.isfinite(listed).all() and (listed > 0.0).all()):
        raise InvalidInput(
            f"cell_layouts: speeds is {listed.tolist()}, expected positive numbers; give speeds="
        )
    return listed
