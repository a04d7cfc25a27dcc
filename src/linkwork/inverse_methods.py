"""Inverse methods: joint coordinates of a robot from where its frames shall be; each a signature,
a docstring and one call."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.doors import with_door
from linkwork.subject import Subject

if TYPE_CHECKING:
    from linkwork.inverse.analytic import Solutions
    from linkwork.inverse.barriers import Barrier
    from linkwork.inverse.result import InverseKinematics
    from linkwork.inverse.singularity import Singularity
    from linkwork.inverse.targets import Goal
    from linkwork.inverse.tasks import Task


@functools.partial(with_door, methods=True)
class InverseMethods:
    """What a robot can be asked about targets of its frames."""

    subject: Subject

    def singularity(
        self,
        q: ArrayLike,
        frame: str,
        length: float | None = None,
        thresholds: Mapping[str, float] | None = None,
        time_limit: float | None = None,
    ) -> Singularity:
        """How near configurations are to singular for a frame, and what is lost there.
        See inverse/singularity.py."""
        from linkwork.inverse import singularity as singularities

        return singularities.singularity(self.subject, q, frame, length, thresholds, time_limit)

    def inverse_kinematics_all(
        self,
        target: ArrayLike,
        frame: str,
        q0: ArrayLike | None = None,
        free: ArrayLike | None = None,
    ) -> Solutions:
        """Every configuration that brings a frame to a target,
        where the robot's axes have closed forms (lw.classify).

        target: poses (..., 4, 4), for chains of two or three joints also positions (..., 3). q0
        (nq,) or (..., nq) pins what a solution leaves free; free (k,): values of the free parameter
        of a seven-axis arm (its meaning is solutions.free_name; by default that of q0). See
        inverse/analytic.
        """
        from linkwork.inverse.analytic.solve import inverse_kinematics_all as all_solutions

        return all_solutions(self.subject, target, frame, q0, free)

    def inverse_kinematics(
        self,
        target: ArrayLike | Sequence[ArrayLike],
        frame: str | Goal | Sequence[str | Goal],
        q0: ArrayLike | None = None,
        method: str = "auto",
        **options: Any,
    ) -> InverseKinematics:
        """Configurations that bring a frame to its target: (..., 4, 4), or positions (..., 3).
        See inverse/solve.py.

        Several frames at once take a list of targets. q0: where to start. Methods: "auto",
        "numeric", "analytic", "recursive", "pseudo_inverse"; each lists its options there
        (task, axes, limits, tolerance, prefer, track, ...), and all have time_limit [s].
        """
        from linkwork.inverse.solve import inverse_kinematics as solve_inverse_kinematics

        return solve_inverse_kinematics(self.subject, target, frame, q0, method, options)

    def differential_inverse_kinematics(
        self,
        q: ArrayLike,
        tasks: Sequence[Task],
        dt: float,
        v: ArrayLike | None = None,
        limits: bool | tuple[ArrayLike, ArrayLike] = True,
        acceleration: ArrayLike | None = None,
        constraints: Sequence[Task] = (),
        damping: float = 1e-12,
        barriers: Sequence[Barrier] = (),
    ) -> np.ndarray:
        """The joint velocity (..., nv) that does best for weighted tasks within limits.
        See inverse/differential.py."""
        from linkwork.inverse.differential import differential_inverse_kinematics as solve_tasks

        return solve_tasks(
            self.subject, q, tasks, dt, v, limits, acceleration, constraints, damping, barriers
        )
