"""Regional structure: the first three joints of an arm whose last three axes meet,
and the point where they do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork import quantities
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.inverse.analytic.screws import Chain, chain_of, common_normal, distance
from linkwork.results import short_repr
from linkwork.subject import RobotLike, subject_of

MEET = 1e-9
"""Axes that pass each other nearer than this part of the arm's length meet."""


@short_repr
@dataclass(frozen=True)
class Regional(Tabular, rows="body"):
    """A decoupled arm: the joints that place the wrist's centre, and where that stands.

    joints     names of the three joints that move the point
    body       the body that carries the point: the last one before the wrist
    position   the point in that body's axes [m]
    """

    joints: tuple[str, ...]
    body: str
    position: np.ndarray


def split_regional(robot: RobotLike, frame: str | None = None) -> Regional:
    """The wrist's centre of a six-axis arm: axes 4, 5, 6 meet in it (DH: a4 = a5 = d5 = 0).

    frame   the tool, or any other that all six axes move; left out, the last body

    Source: [Corves2022] section 2. Corrected: the paper says d4 = 0, which is the length of the
    forearm.
    """
    subject = subject_of(robot, "split_regional")
    tip = subject.model.bodies[-1].name if frame is None else frame
    chain = chain_of(subject, tip)
    who = f'split_regional: robot "{subject.model.name}", frame "{tip}"'
    if len(chain) != 6:
        raise NotPossible(f"{who} has {len(chain)} axes, expected 6")
    center, off = _meeting(chain.points[3:], chain.directions[3:])
    if off > MEET * chain.length:
        raise NotPossible(
            f"{who}: axes 4, 5, 6 miss each other by {off:.3g} m: {_offending(chain)}; a decoupled "
            "wrist has "
            "a4 = a5 = d5 = 0"
        )
    joint = subject.model.joint(chain.joints[2])
    T = quantities.evaluate(subject, "pose", {"q": np.zeros(subject.nq)}, joint.child)
    local = T[:3, :3].T @ (center - T[:3, 3])
    return Regional(chain.joints[:3], joint.child, local)


def _offending(chain: Chain) -> str:
    """Which lengths of the wrist are not zero: a4, a5 between its axes, d5 along the middle one."""
    _, here = common_normal(chain, 3, 4)
    there, _ = common_normal(chain, 4, 5)
    lengths = {
        "a4": distance(chain, 3, 4),
        "a5": distance(chain, 4, 5),
        "d5": float(np.linalg.norm(there - here)),
    }
    return ", ".join(
        f"{name} = {x:.4g} m" for name, x in lengths.items() if x > MEET * chain.length
    )


def _meeting(points: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, float]:
    """The point nearest to three lines, and its largest distance from one of them."""
    across = [np.eye(3) - np.outer(d, d) for d in directions]
    right = sum((P @ p for P, p in zip(across, points, strict=True)), np.zeros(3))
    center = np.linalg.lstsq(np.sum(across, axis=0), right, rcond=None)[0]
    far = [float(np.linalg.norm(P @ (center - p))) for P, p in zip(across, points, strict=True)]
    return center, max(far)
