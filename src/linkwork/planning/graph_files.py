"""Graph files: a kinematic graph as an .npz file, and what such a file must agree with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import configurations
from linkwork.errors import InvalidFile
from linkwork.planning.joint_grid import JointGrid
from linkwork.planning.sampling import positions_of
from linkwork.subject import Subject

VERSION = 1
ARRAYS = ("positions", "voxel_of_node", "voxels", "vertex_of_node", "edges")
# nodes whose positions are computed again when a file is read; [m] that they may differ by
COMPARED = 64
NEAR = 1e-9


def write(
    file: str | os.PathLike[str],
    subject: Subject,
    parts: Mapping[str, Any],
    grid: JointGrid,
    columns: tuple[int, ...],
) -> Path:
    """The arrays of a graph, with the joints of its grid (columns of q) and their values."""
    place = Path(file)
    names = {q.start: joint.name for joint, q, _ in configurations.places(subject)}
    stored: dict[str, Any] = {
        "version": VERSION,
        "robot": subject.model.name,
        "wraps": np.array(grid.wraps),
        **parts,
    }
    stored["joints"] = np.array([names[column] for column in columns])
    stored |= {f"values_{k}": joint for k, joint in enumerate(grid.values)}
    with open(place, "wb") as target:
        np.savez_compressed(target, **stored)
    return place


def read(file: str | os.PathLike[str], subject: Subject) -> dict[str, Any]:
    """The fields of a graph of this robot; a file of another robot, or none at all, is refused."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            version = int(stored["version"])
            name = str(stored["robot"])
            point = str(stored["point"])
            wraps = tuple(bool(wrap) for wrap in stored["wraps"])
            grid = JointGrid(tuple(stored[f"values_{k}"] for k in range(len(wraps))), wraps)
            arrays = {part: stored[part] for part in ARRAYS}
            joints, size = [str(joint) for joint in stored["joints"]], float(stored["voxel_size"])
    except FileNotFoundError:
        raise InvalidFile(f"KinematicGraph.load: there is no file {file}") from None
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise InvalidFile(f"KinematicGraph.load: {file} is no kinematic graph: {error}") from None
    own = [joint.name for joint, _, _ in configurations.places(subject)]
    missing = [joint for joint in joints if joint not in own] + (
        [] if point in _points(subject) else [point]
    )
    whole = f'KinematicGraph.load: {file} is a graph of "{name}"'
    if version != VERSION or missing:
        what = (
            f"version {version}, expected {VERSION}"
            if version != VERSION
            else f'without "{missing[0]}"'
        )
        raise InvalidFile(
            f'{whole}; robot "{subject.model.name}" is {what}' if missing else f"{whole}, {what}"
        )
    columns = tuple(configurations.place(subject, joint).start for joint in joints)
    _refuse_inconsistent(arrays, grid, size, whole)
    some = np.unique(np.linspace(0, grid.size - 1, min(COMPARED, grid.size)).astype(np.int64))
    apart = np.abs(
        positions_of(subject, point, grid.nodes(some), columns) - arrays["positions"][some]
    ).max()
    if not apart <= NEAR:
        raise InvalidFile(
            f'{whole}, whose "{point}" stands {apart:.3g} m off that of robot '
            f'"{subject.model.name}"'
        )
    return {
        "subject": subject,
        "point": point,
        "grid": grid,
        "columns": columns,
        "voxel_size": size,
        **arrays,
    }


def _points(subject: Subject) -> set[str]:
    return {
        *(frame.name for frame in subject.model.frames),
        *(body.name for body in subject.model.bodies),
    }


def _refuse_inconsistent(
    arrays: dict[str, np.ndarray], grid: JointGrid, size: float, whole: str
) -> None:
    """Shapes and numbers that point outside their arrays."""
    n, edges = grid.size, arrays["edges"]
    shapes = {
        "positions": (n, 3),
        "voxel_of_node": (n,),
        "vertex_of_node": (n,),
        "edges": (len(edges), 2),
    }
    for part, shape in shapes.items():
        if arrays[part].shape != shape:
            raise InvalidFile(f"{whole}: {part} has shape {arrays[part].shape}, expected {shape}")
    voxels, vertices = len(arrays["voxels"]), int(arrays["vertex_of_node"].max(initial=-1)) + 1
    limits = {"voxel_of_node": voxels, "vertex_of_node": n, "edges": vertices}
    for part, limit in limits.items():
        numbers = arrays[part]
        if numbers.dtype.kind != "i" or (
            numbers.size and not (0 <= numbers.min() and numbers.max() < limit)
        ):
            raise InvalidFile(f"{whole}: {part} has numbers outside 0 .. {limit - 1}")
    if not (size > 0.0 and np.isfinite(arrays["positions"]).all()):
        raise InvalidFile(f"{whole}: voxels of {size:g} m, or positions that are not finite")
