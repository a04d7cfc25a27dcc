"""Rates of the joints along a line: what they do while the frame does what it shall,
and where that is hard.

Long lines are differentiated in rounds, between which Ctrl-C and limits of time are heard.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import deadlines, quantities
from linkwork.actuation.rates import with_rates

SINGULAR = 0.02
"""A direction in which the frame moves this little for a unit of joint speed (of the largest) is
told as singular."""
ROUND, MARGIN = 20_000, 64
"""Instants that are differentiated without a look at the clock,
and those beside them that a spline needs."""


def rates_along(
    subject: Any, frame: str, time: np.ndarray, q: np.ndarray, twist: np.ndarray, change: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """v and a (n, nv): splines of q, corrected to what the frame does exactly;
    a free motion keeps the splines' part.

    J v = twist,  J a + Jd v = change
    """
    rates, seconds = np.empty((len(time), subject.nv)), np.empty((len(time), subject.nv))
    for some in deadlines.rounds(len(time), ROUND):
        # what lies further off than the margin moves a spline by less than rounding
        wide = slice(max(0, some.start - MARGIN), some.stop + MARGIN)
        own = slice(some.start - wide.start, some.stop - wide.start)
        splines = with_rates(subject, {"time": time[wide], "q": q[wide]}, ("q", "v", "a"), "line")
        here, v, a = (x[own] for x in splines)
        J = quantities.evaluate(subject, "jacobian", {"q": here}, frame)
        back = np.linalg.pinv(J, rcond=1e-8)
        v = v + (back @ (twist[some] - (J @ v[..., None])[..., 0])[..., None])[..., 0]
        moved = quantities.evaluate(subject, "acceleration", {"q": here, "v": v, "a": a}, frame)
        rates[some], seconds[some] = v, a + (back @ (change[some] - moved)[..., None])[..., 0]
    return rates, seconds


def singular_stretches(subject: Any, frame: str, q: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Stretches of time (k, 2) in which the smallest singular value of the Jacobian is small beside
    the largest."""
    near = np.zeros(len(q) + 2, dtype=bool)  # with a row before the first and one after the last
    for some in deadlines.rounds(len(q), ROUND):
        J = quantities.evaluate(subject, "jacobian", {"q": q[some]}, frame)
        sizes = np.linalg.svd(J, compute_uv=False)
        near[some.start + 1 : some.stop + 1] = sizes[:, -1] < SINGULAR * sizes[:, 0]
    edges = np.flatnonzero(near[1:] != near[:-1])
    return np.array([(time[a], time[b - 1]) for a, b in edges.reshape(-1, 2)]).reshape(-1, 2)
