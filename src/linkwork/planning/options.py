"""Options: what every way to ask for a plan takes besides the problem, in one typed dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import flag, number
from linkwork.errors import InvalidInput, UnknownName, did_you_mean


class PlanOptions(TypedDict, total=False):
    """Options of `plan`, `plan_many` and `Replanner`; what they mean stands at `plan`."""

    constraints: Sequence[Any]
    seed: int
    time_limit: float | None
    step: float
    shorten: bool
    certify: bool
    joints: Sequence[str] | None
    weights: ArrayLike | None
    range: float


DEFAULTS: PlanOptions = {
    "constraints": (),
    "seed": 0,
    "time_limit": 1.0,
    "step": 1.0 / 32.0,
    "shorten": True,
    "certify": True,
    "joints": None,
    "weights": None,
    "range": 1.0,
}


def completed(given: Mapping[str, Any], who: str) -> dict[str, Any]:
    """All options, with defaults where nothing is given; an unknown one is refused by name."""
    for name in given:
        if name not in DEFAULTS:
            raise UnknownName(f'{who}: there is no option "{name}"{did_you_mean(name, DEFAULTS)}')
    whole = {**DEFAULTS, **given}
    for name in ("shorten", "certify"):
        whole[name] = flag(whole[name], f"{who}: {name}")
    limit = (
        np.inf if whole["time_limit"] is None else number(whole["time_limit"], f"{who}: time_limit")
    )
    if not limit > 0.0:
        raise InvalidInput(
            f"{who}: time_limit is {limit:g}, expected a positive number of seconds, or None"
        )
    whole["time_limit"] = limit
    return whole
