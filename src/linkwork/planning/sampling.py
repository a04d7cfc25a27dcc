"""Sampling: the joint grid of a robot, and where a point stands at every node."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, quantities
from linkwork.arguments import as_doubles, finite, name_list
from linkwork.errors import InvalidInput, NotPossible
from linkwork.planning.joint_grid import JointGrid
from linkwork.subject import Subject

log = logging.getLogger(__name__)
BYTES_A_NODE = 200
"""What building takes at most a node, by `python -m benchmarks planning`."""
MOST_MEMORY = 4e9
CHUNK = 1 << 16


def moving_joints(subject: Subject, point: str, joints: Sequence[str] | None) -> tuple[str, ...]:
    """The joints of the grid: named, or those with a column in the point's Jacobian."""
    known = {joint.name: joint for joint, _, _ in configurations.places(subject)}
    if joints is None:
        J = quantities.evaluate(
            subject, "jacobian", {"q": configurations.random(subject, 8, 0)}, point
        )
        moves = np.abs(J[:, :3]).max(axis=(0, 1)) > 1e-9
        names = tuple(
            joint.name for joint, _, v in configurations.places(subject) if moves[v].any()
        )
    else:
        names = name_list(joints, "build: joints")
        for name in names:
            configurations.place(subject, name)
    for name in names:
        if known[name].nq != 1:
            raise NotPossible(
                f'build: joint "{name}" has {known[name].nq} coordinates; a grid takes joints '
                "of one"
            )
    if not names:
        raise NotPossible(f'build: no joint of robot "{subject.model.name}" moves "{point}"')
    return names


def joint_grid(
    subject: Subject,
    names: tuple[str, ...],
    columns: tuple[int, ...],
    resolution: ArrayLike,
    ranges: ArrayLike | None,
    going_round: bool,
) -> JointGrid:
    steps = _steps(subject, names, resolution)
    limits = configurations.limits(subject)
    bounds = np.stack([limits.lower[list(columns)], limits.upper[list(columns)]], axis=1)
    if ranges is not None:
        bounds = finite(ranges, (len(names), 2), "build: ranges")
    values, wraps = [], []
    for name, column, (low, high), step in zip(names, columns, bounds, steps, strict=True):
        free = not (math.isfinite(low) and math.isfinite(high))
        own = (limits.lower[column], limits.upper[column])
        goes_round = not (subject.model.joint(name).kind.slides or np.isfinite(own).any())
        round_trip = going_round and goes_round and (free or abs(high - low - 2 * math.pi) < 1e-9)
        if free and not round_trip:
            raise InvalidInput(
                f'build: joint "{name}" has no limits; give ranges= (--limits), or '
                'wrap="continuous" for a joint that '
                "goes round"
            )
        low, high = (-math.pi, math.pi) if round_trip else (float(low), float(high))
        if low >= high:
            raise InvalidInput(
                f'build: range of joint "{name}" is {low} .. {high}, expected lower < upper'
            )
        count = round((high - low) / step)
        if abs(count * step - (high - low)) > 1e-6 * step:
            log.info(
                'KinematicGraph: the step of joint "%s" is %.6g, so that both ends are met',
                name,
                (high - low) / max(count, 1),
            )
        values.append(np.linspace(low, high, max(count, 1) + 1)[: -1 if round_trip else None])
        wraps.append(round_trip)
    return JointGrid(tuple(values), tuple(wraps))


def _steps(subject: Subject, names: tuple[str, ...], resolution: ArrayLike) -> np.ndarray:
    """(d,) steps of the grid [rad, m]; one number is a length or an angle, not both."""
    given = as_doubles(resolution, "build: joint_resolution")
    if given.shape not in ((), (len(names),)):
        expected = f"one number or {len(names)}: {', '.join(names)}"
        raise InvalidInput(f"build: joint_resolution has shape {given.shape}, expected {expected}")
    if not (np.isfinite(given).all() and (given > 0.0).all()):
        raise InvalidInput(
            f"build: joint_resolution is {resolution!r}, expected steps > 0 [rad, m]"
        )
    sliding = [name for name in names if subject.model.joint(name).kind.slides]
    if given.ndim == 0 and sliding and len(sliding) < len(names):
        raise InvalidInput(
            f'build: joint_resolution is {float(given):g} for all joints, but joint "{sliding[0]}" '
            "slides: give one a "
            f"joint, [m] for those that slide and [rad] for the others: {', '.join(names)}"
        )
    return np.broadcast_to(given, (len(names),))


def refuse_too_large(grid: JointGrid, most: float) -> None:
    nodes = float(np.prod([float(n) for n in grid.shape]))
    need = nodes * BYTES_A_NODE
    if need <= most:
        return
    # steps that are longer by the d-th root of the excess fit
    longer = (need / most) ** (1.0 / len(grid.shape))
    step = longer * max(float(v[1] - v[0]) for v in grid.values if len(v) > 1)
    raise NotPossible(
        f"the grid would have {nodes:.2g} nodes (about {need / 1e9:.2g} GB, most_memory is "
        f"{most / 1e9:.2g} GB): "
        f"raise joint_resolution to {step:.2g} ({math.degrees(step):.2g} deg) or restrict joints "
        "or ranges"
    )


def chunks(n: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + CHUNK, n)) for begin in range(0, n, CHUNK)]


def whole_configurations(subject: Subject, q: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    whole = np.broadcast_to(configurations.neutral(subject), (len(q), subject.nq)).copy()
    whole[:, list(columns)] = q
    return whole


def all_positions(
    subject: Subject, point: str, grid: JointGrid, columns: tuple[int, ...]
) -> np.ndarray:
    at = np.empty((grid.size, 3))
    for begin, end in chunks(grid.size):
        at[begin:end] = positions_of(subject, point, grid.nodes(np.arange(begin, end)), columns)
    return at


def positions_of(
    subject: Subject, point: str, q: np.ndarray, columns: tuple[int, ...]
) -> np.ndarray:
    return quantities.evaluate(
        subject, "pose", {"q": whole_configurations(subject, q, columns)}, point
    )[:, :3, 3]


TIE = 1e-9  # of a voxel: a point that is no further above a face belongs below it


def cells_of(positions: np.ndarray, size: float) -> np.ndarray:
    """(..., 3) whole numbers: the voxels of positions [m], centred at multiples of their size;
    faces belong below."""
    return np.ceil(positions / size - 0.5 - TIE).astype(np.int64)


def distinct_cells(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(different cells (m, 3), which one each is (n,)), by one key a cell:
    rows are slow to compare."""
    low = cells.min(axis=0)
    size = cells.max(axis=0) - low + 1
    key = ((cells[:, 0] - low[0]) * size[1] + cells[:, 1] - low[1]) * size[2] + cells[:, 2] - low[2]
    known, place = np.unique(key, return_inverse=True)
    rest, z = np.divmod(known, size[2])
    x, y = np.divmod(rest, size[1])
    return np.stack([x, y, z], axis=1) + low, place.astype(np.int64)
