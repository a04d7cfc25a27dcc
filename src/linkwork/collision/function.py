"""Distances of chosen pairs as a CasADi function, for `lw.compile`,
`lw.scan` and predictive control.

A pair of parts with several shapes has the distance of its nearest shapes; `smoothing` s [m]
replaces that minimum by

    -s log sum exp(-d_k / s)

which is smooth and never more than the minimum, at most s log m less for m pairs of shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import casadi
from casadi import SX

from linkwork.arguments import number
from linkwork.collision.columns import SHAPE_COLUMNS
from linkwork.collision.distances import nearest
from linkwork.collision.kinematics import Kinematics
from linkwork.collision.live import Follows, LivePart
from linkwork.collision.tile import in_pairs
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.subject import Subject


def function(
    subject: Subject,
    shapes: Mapping[str, Sequence[Any]],
    carriers: Mapping[str, str],
    follows: Mapping[str, Follows],
    pairs: Iterable[tuple[str, str]],
    obstacles: Any,
    smoothing: float,
) -> casadi.Function:
    """q (and live variables) -> distances (m,) of the pairs (part, part or obstacle),
    in their order."""
    s = number(smoothing, "function: smoothing")
    if s < 0.0:
        raise InvalidInput(f"function: smoothing is {s:g} m, expected no negative length")
    around = {str(shape.name): shape for shape in obstacles} if obstacles is not None else {}
    q, live = SX.sym("q", subject.nq), {v: SX.sym(v) for v in subject.live}
    kinematics = Kinematics(subject, live)
    T = kinematics.poses(kinematics.coordinates(q), range(len(kinematics.tree.nodes)))
    listed = [tuple(pair) for pair in pairs]
    if not listed or any(len(pair) != 2 for pair in listed):
        raise InvalidInput(
            "function: pairs is empty or holds something else, expected pairs of names"
        )

    def side(name: Any) -> list[tuple[str, list[SX]]]:
        if name in shapes:
            known = [shape for shape in shapes[name] if shape.kind in SHAPE_COLUMNS]
            columns = tuple(tuple(shape.numbers()) for shape in known)
            part = LivePart(
                carriers[name],
                tuple(s.kind for s in known),
                columns,
                follows.get(name) if live else None,
            )
            return part.placed(kinematics.model, kinematics.tree, T)
        if name in around:
            columns = around[name].columns() if around[name].kind in SHAPE_COLUMNS else ()
            return [(around[name].kind, [SX(x) for x in columns])]
        known = [*shapes, *around]
        raise UnknownName(
            "function: no body with shapes and no obstacle is named "
            f'"{name}"{did_you_mean(str(name), known)}'
        )

    distances = [_least(side(a), side(b), s, (a, b)) for a, b in listed]
    return casadi.Function(
        "distances", [q, *live.values()], [casadi.vertcat(*distances)], {"cse": True}
    )


def _least(ours: list, theirs: list, s: float, pair: tuple[Any, Any]) -> SX:
    distances = []
    if not ours or not theirs:
        raise NotPossible(
            f"function: hulls and meshes ({pair[0]}, {pair[1]}) have no expression of their "
            "distance"
        )
    for kind, shape in ours:
        for other_kind, other in theirs:
            if not in_pairs(kind, other_kind):
                kinds = f"a {kind} and a {other_kind}".replace("_", " ")
                raise NotPossible(
                    f"function: the distance of {kinds} ({pair[0]}, {pair[1]}) has no expression"
                )
            distances.append(nearest(kind, shape, other_kind, other).distance)
    least = distances[0]
    for distance in distances[1:]:
        least = casadi.fmin(least, distance)
    if s == 0.0 or len(distances) == 1:
        return least
    total = sum((casadi.exp((least - distance) / s) for distance in distances), SX(0))
    return least - s * casadi.log(total)
