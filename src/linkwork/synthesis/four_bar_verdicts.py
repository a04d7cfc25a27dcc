"""Verdicts on four-bars by closed forms.

With g the ground, a the driving link, b the coupler and c the driven link, the chain has two
circuits if the shortest and the longest together are shorter than the other two (Grashof), else
one. A joint that the shortest link does not touch never straightens in such a chain: the sign of
the angle there names the circuit. The driver has a dead point where coupler and driven link are in
line: the sign of the angle between them names the branch. That angle, folded to 0 .. pi/2, is the
transmission angle mu:  2 b c cos(mu) = b^2 + c^2 - g^2 - a^2 + 2 g a cos(theta).
Source: [McCarthy2011] sections 2.3 and 2.5.
"""

from __future__ import annotations

import numpy as np

from linkwork.synthesis.linkage import Linkages

SHORTEST = 1e-12
"""Links below this [of the longest] are none."""
CHANGE = 1e-9
"""Difference of the sums of links [of their size] below which a linkage passes through a change
point."""


STUCK = "the driver cannot move"
"""How the reason of a linkage begins that has one posture alone, or whose driver is held."""


def stuck(lengths: np.ndarray) -> np.ndarray | None:
    """(...,) why the driver of links (..., 4): g, a, b, c cannot move, or ""; None where all
    can."""
    longest = lengths.max(axis=-1)
    rigid = 2.0 * longest - lengths.sum(axis=-1) >= -CHANGE * longest
    missing = lengths <= SHORTEST * longest[..., None]
    if not (rigid.any() or missing.any()):
        return None
    text = np.full(lengths.shape[:-1], "", dtype=object)
    text[rigid] = f"{STUCK}: the longest link is as long as the other three together"
    for k, name in enumerate(("the ground link", "the driver", "the coupler", "the driven link")):
        text[missing[..., k]] = f"{STUCK} the others: {name} has no length"
    return text


def links(linkage: Linkages) -> tuple[np.ndarray, ...]:
    """(g, a, b, c) complex vectors at position 1 in driving order: A->D, A->B, B->C, D->C;
    A is the driver's pivot."""
    A, D, B, C = (linkage.at(name) for name in "ADBC")
    if linkage.topology.driver == "rocker":
        A, D, B, C = D, A, C, B
    return D - A, B - A, C - B, C - D


def kinds(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(kind (...,) of words, Grashof's sum (...,), index of the shortest link) of lengths (..., 4):
    g, a, b, c."""
    ordered = np.sort(lengths, axis=-1)
    excess = ordered[..., 0] + ordered[..., 3] - ordered[..., 1] - ordered[..., 2]
    shortest = lengths.argmin(axis=-1)
    names = np.array(
        ["double-crank", "crank-rocker", "double-rocker", "rocker-crank"], dtype=object
    )
    kind = names[shortest]
    kind = np.where(excess > 0, "triple-rocker", kind)
    change = np.abs(excess) <= CHANGE * ordered[..., 3]
    parallel = change & (np.abs(lengths[..., 0] - lengths[..., 2]) <= CHANGE * ordered[..., 3])
    parallel &= np.abs(lengths[..., 1] - lengths[..., 3]) <= CHANGE * ordered[..., 3]
    kind = np.where(change, "change point", kind)
    kind = np.where(parallel, "change point (parallelogram)", kind)
    return kind, excess, shortest


def postures(linkage: Linkages, alpha: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, ...]:
    """(a, b, c) vectors (..., n) of driver, coupler and driven link when the coupler has the poses
    (..., n)."""
    A, D, B, C, P = (linkage.at(name)[..., None] for name in "ADBCP")
    if linkage.topology.driver == "rocker":
        A, D, B, C = D, A, C, B
    u = np.exp(1j * alpha)
    pin, other = positions + (B - P) * u, positions + (C - P) * u
    return pin - A, other - pin, other - D


def signs(
    g: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, shortest: np.ndarray
) -> np.ndarray:
    """Which circuit of a Grashof chain a posture is on: +1 or -1; `shortest` is an index into g, a,
    b, c."""
    cross = lambda p, q: np.sign((p.conj() * q).imag)
    at_far, at_driver, at_ground = cross(b, c), cross(a, b), cross(g, a)
    return np.where(shortest <= 1, at_far, np.where(shortest == 3, at_driver, at_ground))


def folded(cosine: np.ndarray) -> np.ndarray:
    """The transmission angle in 0 .. pi/2 from its cosine."""
    return np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))


def cosine_at(lengths: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """cos(mu) at the driver's angle theta from the ground line; lengths (..., 4)."""
    g, a, b, c = (lengths[..., k] for k in range(4))
    return (b**2 + c**2 - g**2 - a**2 + 2 * g * a * np.cos(theta)) / (2 * b * c)


def reach(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of |theta| that the driver can have, (...,) in 0 .. pi."""
    g, a, b, c = (lengths[..., k] for k in range(4))
    limit = lambda r: np.arccos(np.clip((g**2 + a**2 - r**2) / (2 * g * a), -1.0, 1.0))
    return limit(np.abs(b - c)), limit(b + c)


def least_between(lengths: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Smallest transmission angle for theta from low to high (low <= high, unwrapped): at an end,
    or where theta is a multiple of pi."""
    cosines = [cosine_at(lengths, low), cosine_at(lengths, high)]
    for base in (0.0, np.pi):
        turn = np.ceil((low - base) / (2 * np.pi)) * 2 * np.pi + base
        inside = turn <= high
        cosines.append(np.where(inside, cosine_at(lengths, np.full(low.shape, base)), 0.0))
    return folded(np.abs(np.stack(cosines)).max(axis=0))


def whole_cycle(lengths: np.ndarray) -> np.ndarray:
    """Smallest transmission angle over the whole circuit: zero where the driver has dead points."""
    low, high = reach(lengths)
    round_ = (low <= 0) & (high >= np.pi - 1e-15)
    through = folded(np.maximum(np.abs(cosine_at(lengths, low)), np.abs(cosine_at(lengths, high))))
    return np.where(round_, through, 0.0)
