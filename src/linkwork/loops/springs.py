"""Springs: the force of a spring by its length, over symbols."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.elements import Spring
from linkwork.model.number import is_symbol


def spring_tension(spring: Spring, length: SX) -> SX:
    """T = F0 + k (L - L0), a tension spring loose below L0 and a compression spring above it.

    Source: [Goncalves2023] eq. 35. Corrected: the paper prints k (L0 - L) + F0, which gives stretch
    and pretension opposite signs.
    """
    k, free, pre = SX(spring.stiffness), SX(spring.free_length), SX(spring.pretension)
    if spring.kind == "both":
        return pre + k * (length - free)
    if spring.kind == "tension":
        return casadi.if_else(length >= free, pre + k * (length - free), 0.0)
    return casadi.if_else(length <= free, -(pre + k * (free - length)), 0.0)


def pulls_by_its_vector(spring: Spring) -> bool:
    """Whether its force is -stiffness times the vector between its ends:
    then it needs no direction, even at length 0.

    That is a spring of free length zero without pretension, or one that acts both ways with F0 = k
    L0.
    """
    k, free, pre = spring.stiffness, spring.free_length, spring.pretension
    if is_symbol(free) or is_symbol(pre) or spring.kind == "compression":
        return False
    return (free == 0.0 and pre == 0.0) or (
        spring.kind == "both" and not is_symbol(k) and pre == k * free
    )


def pull_per_length(spring: Spring, length: SX) -> SX:
    """T / L [N/m]: the force of a spring is this times the vector from one end to the other."""
    return (
        SX(spring.stiffness)
        if pulls_by_its_vector(spring)
        else spring_tension(spring, length) / length
    )
