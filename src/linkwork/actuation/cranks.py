"""Cranks: efforts of four-bar drives for the crank that is commanded,
where two belong to one rocker.

A crank that goes round moves its rocker to and fro, so that coordinates alone do not say where it
stands, and loads take the crank nearer zero. Whoever has the commands knows better:

    tau = effort dc/dq (q),      effort at c = tau dq/dc (c)
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import SX

from linkwork.actuation.coordinates import drives
from linkwork.actuation.layout import layout_of
from linkwork.actuation.transmissions import FourBarDrive
from linkwork.model import Tree
from linkwork.quantities import Inputs
from linkwork.subject import Subject

SAME = 1e-6
"""Crank angles this near [rad] are one: the effort stays as it was found."""


def has_cranks(subject: Subject) -> bool:
    return any(isinstance(driven.drive, FourBarDrive) for driven in layout_of(subject).driven)


def traced_factors(tree: Tree, x: Inputs) -> Sequence[SX]:
    """(factors,) of a line of the table."""
    return (crank_factors(x.subject, tree, x.own["q"], x.own["c"]),)


def crank_factors(subject: Subject, tree: Tree, q: SX, c: SX) -> SX:
    """(nc,): what efforts found from q alone are to be multiplied by for the commands c;
    1 but for other cranks."""
    factors = SX.ones(layout_of(subject).sizes[1])
    for driven, drive in drives(subject, tree):
        if isinstance(drive, FourBarDrive):
            one, zero = [SX(1)], [SX(0)]
            at = c[driven.commands[0]]
            (taken,), (by_q,), _ = drive.backward([q[driven.q[0]]], one, zero)
            _, (by_c,), _ = drive.forward([at], one, zero)
            same = casadi.fabs(casadi.sin((at - taken) / 2)) < SAME / 2
            factors[driven.rates[0]] = casadi.if_else(same, 1, by_q * by_c)
    return factors
