"""Mimicking joints over symbols: coordinates of the tree from the independent ones.

q_tree = Gq q + b,      v_tree = G v          (model/tree.py: mimic_map)
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import DM, SX

from linkwork.model import Tree


def maps(tree: Tree) -> tuple[DM, DM, DM]:
    """(Gq, b, G) with their zeros left out."""
    Gq, b, G = (casadi.sparsify(DM(matrix)) for matrix in tree.mimic_map)
    return Gq, b, G


def tree_coordinates(tree: Tree, q: SX) -> SX:
    """q_tree of independent coordinates q."""
    Gq, b, _ = maps(tree)
    return Gq @ q + b


def in_independent(
    tree: Tree, expressions: Sequence[SX], of_tree: tuple[SX, SX], independent: tuple[SX, SX]
) -> list[SX]:
    """Expressions of symbols (q, v) of the tree as expressions of independent (q, v)."""
    Gq, b, G = maps(tree)
    q, v = independent
    return casadi.substitute(list(expressions), list(of_tree), [Gq @ q + b, G @ v])
