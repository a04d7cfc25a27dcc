"""Raw: what every integrator hands over, before names and energies are given to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork.simulation.events import Crossing
from linkwork.simulation.plant import Plant


@dataclass
class Raw:
    """Rows of B samples at common times; rows a sample did not reach are NaN.

    time (T,); q (B, T, nq), v, tau (B, T, nv), works (B, T, 4); end (B,) time reached; failure:
    sample -> why it ended;
    metrics: figures (B, n) by name
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    works: np.ndarray
    end: np.ndarray
    failure: dict[int, str] = field(default_factory=dict)
    crossings: list[Crossing] = field(default_factory=list)
    metrics: dict[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def empty(samples: int, time: np.ndarray, nq: int, nv: int, works: int) -> Raw:
        def rows(n: int) -> np.ndarray:
            return np.full((samples, len(time), n), np.nan)

        return Raw(time, rows(nq), rows(nv), rows(nv), rows(works), np.full(samples, time[-1]))

    def thin(self, every: int) -> None:
        """Keep every so many rows."""
        self.time = self.time[::every]
        self.q, self.v, self.tau, self.works = (
            x[:, ::every] for x in (self.q, self.v, self.tau, self.works)
        )


def shown(x: np.ndarray) -> str:
    """A state in a sentence."""
    text = ", ".join(f"{value:.4g}" for value in np.ravel(x)[:8])
    return f"[{text}{', ...' if np.size(x) > 8 else ''}]"


def not_finite(
    plant: Plant, t: float, q: np.ndarray, v: np.ndarray, h: float, told: str = ""
) -> str:
    """The sentence for a step of h that gave no finite state; told:
    what a user's function is to blame for."""
    cause = (
        told
        or plant.diagnosis(q, v, t)
        or f"the step of {h:g} s is too large, or the motion has no continuation"
    )
    last = f"the last finite one is q = {shown(q)}, v = {shown(v)}"
    return f"the state is not finite after t = {t:.6g} s; {last}: {cause}"
