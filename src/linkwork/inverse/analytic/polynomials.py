"""Polynomials behind the offset wrist: the library's of degree 8 and the paper's of degree 16,
for one target."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import NotPossible
from linkwork.inverse.analytic import carbonari
from linkwork.inverse.analytic.offset_wrist import OffsetWrist
from linkwork.inverse.analytic.screws import inverted
from linkwork.inverse.analytic.solve import one_pose, solver
from linkwork.subject import RobotLike, subject_of


def offset_wrist_polynomial(robot: RobotLike, target: ArrayLike, frame: str) -> np.ndarray:
    """Coefficients (9,) of z^8 .. z^0, z = exp(i theta6),
    whose roots on the unit circle are the postures' theta6."""
    family, T = _family(robot, frame), one_pose("offset_wrist_polynomial", target)
    c = family.asked(T).coefficients
    upper = (c[1:, 0] - 1j * c[1:, 1]) / 2
    return np.concatenate([upper[::-1], [c[0, 0]], upper.conj()])


def carbonari_polynomial(robot: RobotLike, target: ArrayLike, frame: str) -> carbonari.Roots:
    """The paper's sixteen roots with their verdicts; see carbonari.solve."""
    family, T = _family(robot, frame), one_pose("carbonari_polynomial", target)
    placed, size = family.canonical.placed, family.size
    if not np.allclose((size.alpha4, size.alpha5), (-np.pi / 2, np.pi / 2), atol=1e-9):
        raise NotPossible("carbonari_polynomial: the paper's arm has right angles in the wrist")
    G = inverted(placed.base) @ T @ inverted(placed.tool)
    # frame 0 of the paper stands on the floor and frame 6 at the flange: neither changes the roots
    return carbonari.solve(
        G[:3, 3], G[:3, 3] + size.scale * G[:3, 2], 0.0, size.a2, size.d4, size.d5
    )


def _family(robot: RobotLike, frame: str) -> OffsetWrist:
    subject = subject_of(robot, "offset_wrist_polynomial")
    family = solver(subject, frame)
    if not isinstance(family, OffsetWrist):
        raise NotPossible(
            f'robot "{subject.model.name}", frame "{frame}" is {family.title}, expected an '
            "offset wrist"
        )
    return family
