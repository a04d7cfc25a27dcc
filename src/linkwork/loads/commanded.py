"""Loads with the efforts of the commands themselves,
where a four-bar's crank goes round (see actuation/cranks.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork import quantities
from linkwork.actuation.cranks import has_cranks
from linkwork.loads.loads import Loads
from linkwork.subject import Subject


def commanded(
    subject: Subject, c: Any, q: Any, borne: Loads, variables: Mapping[str, Any] | None
) -> Loads:
    """Loads with the efforts of the commands c (..., nc) themselves."""
    if not has_cranks(subject):
        return borne
    factors = quantities.evaluate(subject, "crank_factors", {"q": q, "c": c}, variables=variables)
    followers = np.ones((*np.shape(factors)[:-1], borne.efforts.shape[-1] - np.shape(factors)[-1]))
    return replace(borne, efforts=borne.efforts * np.concatenate([factors, followers], axis=-1))
