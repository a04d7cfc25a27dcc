"""Motions: straight motions between configurations, sampled at a step;
the lanes of a tile share one motion out.

A motion is q0 (+) t v for t from 0 to 1, v being the difference of the ends; neighbouring samples
are at most `step` apart in the length of v [rad and m]. One sample that touches ends the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, number
from linkwork.collision.checker import Touching
from linkwork.collision.kinematics import has_quaternions
from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import Placed, TileLayout
from linkwork.engine.staged import StagedKernel
from linkwork.engine.stages import Stages
from linkwork.errors import InvalidInput
from linkwork.quantities import context_of, evaluate
from linkwork.subject import Subject

OPERATIONS = 60_000  # of a motion, about
STEP = 1.0 / 32.0
MOST_SAMPLES = 10_000_000


def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
    placed = Placed(k, layout, subject, ("v", subject.nv), ("intervals", 1))
    q, v, intervals = placed.q, placed.inputs["v"], placed.inputs["intervals"]
    placed.guard(placed.kinematics.coordinates(q))
    touching = Touching(placed, any_lane=True)
    with k.counting(intervals + 1) as sample:
        t = k.value(sample / intervals, exact=True)
        placed.place(placed.kinematics.along(q, t * v))
        k.assign(touching.close, 0.0)
        touching.obstacles()
        touching.pairs()
        k.again(touching.close.x, touching.hit)
        k.finish(touching.hit.x, any_lane=True)
    k.output("hit", touching.hit)


def kernel_of(tables: RobotTables) -> StagedKernel:
    inputs = (("v", tables.subject.nv), ("intervals", 1))
    return tables.kernel(
        recipe, "motion_is_free", (("hit", 1),), OPERATIONS, inputs, floats=True, together=True
    )


def difference(subject: Subject, q0: Any, q1: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    """(q0, v) with q0 (+) v = q1, broadcast to one batch and checked."""
    ends = []
    for label, q in (("q0", q0), ("q1", q1)):
        array = as_doubles(q, f"{who}: {label}")
        if array.ndim < 1 or array.shape[-1] != subject.nq:
            hint = f'robot "{subject.model.name}" has nq = {subject.nq}'
            raise InvalidInput(
                f"{who}: {label} has shape {array.shape}, expected (..., {subject.nq}): {hint}"
            )
        if not np.isfinite(array).all():
            raise InvalidInput(f"{who}: {label} is not finite")
        ends.append(array)
    try:
        first, second = np.broadcast_arrays(*ends)
    except ValueError:
        shown = f"q0 {ends[0].shape}, q1 {ends[1].shape}"
        raise InvalidInput(f"{who}: batch shapes do not broadcast: {shown}") from None
    if has_quaternions(subject):
        return first, evaluate(subject, "difference", {"q0": first, "q1": second})
    return first, second - first


def motion_is_free(
    tables: RobotTables,
    q0: Any,
    q1: Any,
    obstacles: Any = None,
    step: float = STEP,
    variables: Mapping[str, Any] | None = None,
) -> Any:
    """Whether no sample of straight motions q0 to q1 (..., nq) touches: (...,) bool."""
    subject = tables.subject
    step = number(step, "motion_is_free: step")
    if not step > 0.0:
        raise InvalidInput(
            f"motion_is_free: step is {step:g}, expected a positive length [rad or m]"
        )
    start, v = difference(subject, q0, q1, "motion_is_free")
    lengths = np.sqrt(np.einsum("...i,...i->...", v, v))
    intervals = np.maximum(np.ceil(lengths / step), 1.0)
    if intervals.size and intervals.max() > MOST_SAMPLES:
        raise InvalidInput(
            f"motion_is_free: step {step:g} gives {intervals.max():.0f} samples, at most "
            f"{MOST_SAMPLES}"
        )
    values = [np.asarray(x, dtype=float)[..., None] for x in subject.variable_values(variables)]
    arguments = (start, v, intervals[..., None], *values)
    hits = kernel_of(tables)(arguments, tables.pack(obstacles), context=context_of(subject))
    return hits == 0.0


def checked_path(tables: RobotTables, waypoints: Any) -> np.ndarray:
    """Waypoints (..., m, nq), at least two."""
    points = as_doubles(waypoints, "path_is_free: waypoints")
    nq = tables.subject.nq
    if points.ndim < 2 or points.shape[-1] != nq or points.shape[-2] < 2:
        raise InvalidInput(
            f"path_is_free: waypoints has shape {points.shape}, expected (..., m, {nq}) with m >= 2"
        )
    return points


def without_rest(tables: RobotTables, free: Any, q0: Any, q1: Any, step: float, hits: Any) -> Any:
    """The verdicts with the samples of free motions asked one by one:
    `hits(q)` for configurations (n, nq)."""
    subject = tables.subject
    start, v = difference(subject, q0, q1, "motion_is_free")
    starts, ways = start.reshape(-1, subject.nq), v.reshape(-1, subject.nv)
    verdicts = np.array(free, dtype=bool).reshape(-1)
    for k in np.flatnonzero(verdicts):
        count = max(int(np.ceil(np.linalg.norm(ways[k]) / step)), 1)
        t = np.arange(count + 1)[:, None] / count
        samples = evaluate(
            subject,
            "integrate",
            {"q": np.repeat(starts[k : k + 1], count + 1, axis=0), "v": t * ways[k]},
        )
        verdicts[k] = not hits(samples).any()
    shaped = verdicts.reshape(np.shape(free))
    return shaped if shaped.ndim else np.bool_(shaped)
