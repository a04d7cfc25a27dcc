"""Exact gradients of a figure by gains: the loop of machine code, differentiated in forward
mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import as_doubles, number
from linkwork.control.checks import positive
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.simulation import Metrics
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import as_controller
from linkwork.simulation.friction import friction_of
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import Mechanism, plant_of
from linkwork.simulation.tangents import SUMS, tangent_figures


def figure_gradient(
    robot: Mechanism,
    controller: Callable[..., Any],
    gains: Mapping[str, float],
    q: Any,
    metrics: Metrics,
    figure: str = "squared_error",
    v: Any = None,
    duration: float = 1.0,
    step: float = 1e-3,
    payload: Any = None,
    friction: Any = True,
    method: str = "rk4",
    time_limit: float | None = None,
) -> tuple[float, dict[str, float]]:
    """(figure, {gain: its derivative}) of one run:
    exact to rounding where the law is smooth along it.

    controller   a function of the gains by name that gives a controller, as for `tune`; numbers of
                 the law must follow the gains linearly (they do where a gain is a gain), which is
                 checked
    figure       an integral: squared_error, absolute_error, timed_error, effort, energy
                 (vectors are summed)
    time_limit   seconds after which it ends with NotPossible; None: as long as it takes
    """
    if figure not in SUMS:
        raise UnknownName(
            f'figure_gradient: "{figure}" has no derivative{did_you_mean(figure, SUMS)}; of {SUMS}'
        )
    values = {name: number(x, f"figure_gradient: {name}") for name, x in gains.items()}
    if not values:
        raise InvalidInput("figure_gradient: gains is empty, expected {name: number}")
    plant = plant_of(robot, payload)
    control = _bound(controller, values, plant)
    directions = [_direction(controller, values, name, plant, control) for name in values]
    start = as_doubles(q, "figure_gradient: q")
    speed = np.zeros(plant.nv) if v is None else as_doubles(v, "figure_gradient: v")
    if start.shape != (plant.nq,) or speed.shape != (plant.nv,):
        raise InvalidInput(
            f"figure_gradient: q {start.shape}, v {speed.shape}, expected ({plant.nq},), "
            f"({plant.nv},)"
        )
    h = positive(step, "figure_gradient: step")
    wanted = positive(duration, "figure_gradient: duration") / h
    deadlines.check_steps(wanted * len(values), "figure_gradient")
    steps = round(wanted)
    rubbing = friction_of(friction, plant)
    if rubbing.dry:
        raise NotPossible(
            "figure_gradient: dry friction that sticks has no derivative; use "
            "Coulomb(level, width=...)"
        )
    with deadlines.time_limit(time_limit, "figure_gradient"):
        figures, slopes = tangent_figures(
            plant,
            control,
            directions,
            start,
            speed,
            metrics.bound(plant),
            rubbing,
            h,
            steps,
            method,
        )
    return float(figures[figure].sum()), {
        name: float(slope[figure].sum()) for name, slope in zip(values, slopes, strict=True)
    }


def _bound(controller: Callable[..., Any], values: Mapping[str, float], plant: Plant) -> Bound:
    bound = as_controller(controller(**values)).bound(plant)
    if bound.sequences or any(x.size != x.shape[-1] for x in bound.parameters.values()):
        raise InvalidInput(
            "figure_gradient: one gain set, expected numbers alone: no batches and no rows a step"
        )
    return bound


def _direction(
    controller: Callable[..., Any],
    values: Mapping[str, float],
    name: str,
    plant: Plant,
    middle: Bound,
) -> dict[str, np.ndarray]:
    """How the law's numbers move with one gain: halves and doubles must lie on one line."""
    width = 0.25 * abs(values[name]) or 0.25
    low, high = (
        _bound(controller, {**values, name: values[name] + side * width}, plant) for side in (-1, 1)
    )
    direction = {}
    for key, x in middle.parameters.items():
        below, above = low.parameters[key], high.parameters[key]
        slope = (above - below) / (2.0 * width)
        if (
            np.abs(above + below - 2.0 * x).max(initial=0.0)
            > 1e-9 * np.abs(x).max(initial=0.0) + 1e-300
        ):
            raise NotPossible(
                f'figure_gradient: {key} does not follow "{name}" along a line; give the '
                "gain itself"
            )
        if slope.any():
            direction[key] = slope.reshape(-1)
    if not direction:
        raise InvalidInput(f'figure_gradient: the controller does not depend on "{name}"')
    return direction
