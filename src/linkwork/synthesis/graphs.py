"""Graphs: which linkages of one degree of freedom there are, bodies as vertices and pins as edges.

A chain of n bodies has (3 n - 4) / 2 pins, every body at least two of them, and no part of it is
rigid by itself. Such graphs are a ring with ears; two of them are one where a renumbering carries
one into the other.
Source: [McCarthy2011] section 1.3.
"""

from __future__ import annotations

import functools
from itertools import combinations, pairwise, permutations, product

from linkwork.errors import NotPossible

Edges = frozenset[tuple[int, int]]


@functools.cache
def topologies(bodies: int) -> tuple[tuple[Edges, tuple[int, ...]], ...]:
    """(pins, bodies that make different inversions when fixed) of every chain of 4, 6 or 8 bodies.

    Chains / inversions: 1 / 1, 2 / 5, 16 / 71.
    """
    if bodies not in (4, 6, 8):
        raise NotPossible(f"topologies: {bodies} bodies, expected 4, 6 or 8")
    distinct: dict[tuple, Edges] = {}
    for edges in sorted(set(_rings_with_ears(bodies)), key=sorted):
        if not _has_rigid_part(edges, bodies):
            distinct.setdefault(_canonical(edges, bodies), edges)
    chains = []
    for _, edges in sorted(distinct.items()):
        fixed: dict[tuple, int] = {}
        for body in range(bodies):
            fixed.setdefault(_canonical(edges, bodies, body), body)
        chains.append((edges, tuple(sorted(fixed.values()))))
    return tuple(chains)


def name_of(edges: Edges, bodies: int, ground: int) -> str:
    """Watt I, Stephenson III ...: the name of a six-bar's inversion; "four-bar", "eight-bar"."""
    if bodies != 6:
        return {4: "four-bar", 8: "eight-bar"}.get(bodies, f"{bodies}-bar")
    degree = [sum(v in e for e in edges) for v in range(bodies)]
    ternary = [v for v in range(bodies) if degree[v] == 3]
    beside = tuple(sorted(ternary)) in edges
    near = sum(tuple(sorted((ground, v))) in edges for v in range(bodies) if degree[v] == 3)
    if beside:  # Watt: the ternary bodies touch
        return "Watt II" if ground in ternary else "Watt I"
    if ground in ternary:
        return "Stephenson III"
    return "Stephenson I" if near == 2 else "Stephenson II"


def _rings_with_ears(n: int) -> list[Edges]:
    ears = (n - 4) // 2  # independent loops less one
    graphs: list[Edges] = []
    for ring in range(4, n + 1):  # three bodies in a ring are rigid
        start = frozenset(_edge(k, (k + 1) % ring) for k in range(ring))
        for lengths in product(range(n), repeat=ears):
            if ring + sum(lengths) == n:
                graphs += _with_ears(start, ring, lengths)
    return graphs


def _with_ears(edges: Edges, used: int, lengths: tuple[int, ...]) -> list[Edges]:
    if not lengths:
        return [edges]
    graphs = []
    for a, b in combinations(range(used), 2):
        path = [a, *range(used, used + lengths[0]), b]
        ear = [_edge(p, q) for p, q in pairwise(path)]
        if not edges.intersection(ear):
            graphs += _with_ears(edges.union(ear), used + lengths[0], lengths[1:])
    return graphs


def _edge(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _has_rigid_part(edges: Edges, n: int) -> bool:
    """Some bodies with so many pins among them that they cannot move: 3 (k - 1) - 2 e < 1."""
    for k in range(3, n):
        for part in combinations(range(n), k):
            inside = sum(a in part and b in part for a, b in edges)
            if 3 * (k - 1) - 2 * inside < 1:
                return True
    return False


def _canonical(edges: Edges, n: int, ground: int | None = None) -> tuple:
    """The same for graphs that differ by numbering only: colours refined by neighbours,
    then the least numbering."""
    near = [[v for v in range(n) if _edge(v, k) in edges] for k in range(n)]
    colour: list = [(len(near[v]), v == ground) for v in range(n)]
    for _ in range(n):
        ranks = {c: k for k, c in enumerate(sorted(set(colour)))}
        colour = [
            (ranks[colour[v]], tuple(sorted(ranks[colour[u]] for u in near[v]))) for v in range(n)
        ]
    ranks = {c: k for k, c in enumerate(sorted(set(colour)))}
    classes: dict[int, list[int]] = {}
    for v in range(n):
        classes.setdefault(ranks[colour[v]], []).append(v)
    best: tuple | None = None
    for orders in product(*(permutations(classes[k]) for k in sorted(classes))):
        place = {v: k for k, v in enumerate(v for order in orders for v in order)}
        text = (
            tuple(sorted(_edge(place[a], place[b]) for a, b in edges)),
            -1 if ground is None else place[ground],
        )
        best = text if best is None or text < best else best
    return (tuple(sorted(ranks[c] for c in colour)), best)
