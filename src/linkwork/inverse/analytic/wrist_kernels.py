"""Wrist kernels: roots of an offset wrist in machine code that knows no robot, shared by all."""

from __future__ import annotations

import functools

from casadi import SX

from linkwork.engine.compile import compile as compile_function
from linkwork.engine.kernel import Kernel
from linkwork.inverse.analytic import crossings, wrist_angles
from linkwork.inverse.analytic.wrist_angles import ROOTS


@functools.cache
def cut() -> Kernel:
    """Both constraints with their polynomial, the middle of an open bin -> its roots;
    see crossings.cut."""

    def trace(known: SX, middle: SX) -> tuple[SX, SX]:
        return crossings.cut(wrist_angles.parts(known)[2], middle)

    return compile_function(trace, {"known": 28, "middle": 3}, "cut")


@functools.cache
def tried(trial: wrist_angles.Trial) -> Kernel:
    """Both constraints and one root -> what it leads to; see wrist_angles.tried."""

    def trace(p: SX, q: SX, z: SX, seed: SX) -> SX:
        return wrist_angles.tried(
            wrist_angles.unpacked(p), wrist_angles.unpacked(q), z, seed, trial
        )

    return compile_function(
        trace, {"plane": (3, 3), "length": (3, 3), "root": 2, "seed": ()}, "tried"
    )


@functools.cache
def kept() -> Kernel:
    """All that was tried -> which are kept; see wrist_angles.kept."""
    return compile_function(wrist_angles.kept, {"tried": (2 * ROOTS, 6)}, "kept")


@functools.cache
def crowds() -> Kernel:
    """Roots and what they led to -> means of crowds, and whether a multiple root is likely."""
    return compile_function(
        wrist_angles.crowds, {"roots": (ROOTS, 2), "tried": (2 * ROOTS, 6)}, "crowds"
    )
