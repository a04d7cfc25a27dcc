"""Robots: a linkage written as a .robot.yaml, with every dimension a variable.

The bodies keep their names; a joint has the name of the body that it moves. Coordinates are zero at
position 1, where every body's axes are the world's, so that a dimension is a point's offset from
the joint of its body. Pins that close loops are `planar_hinge` closures: mobility 1, nothing
redundant, unique loads.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.arguments import choice
from linkwork.errors import NotPossible
from linkwork.formats.robot_yaml import Description
from linkwork.synthesis.kinematics import rotations_at
from linkwork.synthesis.linkage import Linkage, as_linkages
from linkwork.synthesis.motions import driver_reach
from linkwork.synthesis.spatial import FiveLegs, SphericalFourBar
from linkwork.synthesis.spatial_robots import densities, legs_description, spherical_description
from linkwork.synthesis.task import PlanarTask

PLANES = {"xz": ("-y", (0, 2)), "xy": ("z", (0, 1)), "yz": ("x", (1, 2))}
"""plane -> (axis of the joints, which coordinates of the world the plane's x and y are)."""
SLENDER = 0.04
"""Width of a bar [of the longest one] where only a mass per length is given;
it is a quarter as thick."""
INSIDE = 0.95
"""How far into its reach a driver that rocks goes: at the ends are dead points."""
CYCLE = 2.0
"""Duration of the motion "cycle" [s]."""


def description(
    linkage: Linkage | SphericalFourBar | FiveLegs,
    task: PlanarTask | None = None,
    *,
    plane: str = "xz",
    density: Any = None,
    name: str | None = None,
) -> Description:
    """The .robot.yaml of a linkage; spatial ones (spatial_robots.py) have their positions in
    themselves.

    task      its positions become the configurations "position_1" ... (where the linkage meets
              them)
    plane     "xz", "xy" or "yz": where the linkage lies
    density   mass of the bars: one number [kg/m], or (kg/m^3, width, thickness); None: a robot
              without masses

    The motion "cycle" turns the driver all round where it can, else forth and back within its
    reach.
    """
    if isinstance(linkage, SphericalFourBar):
        return spherical_description(linkage, density)
    if isinstance(linkage, FiveLegs):
        return legs_description(linkage, density)
    linkage = as_linkages(linkage, "from_linkage")  # type: ignore[assignment]
    if linkage.batch:
        raise NotPossible(f"from_linkage: got {len(linkage)} linkages, expected one: linkages[0]")
    axis, columns = PLANES[choice(plane, tuple(PLANES), "from_linkage: plane")]
    section = _section(density, linkage)
    topology = linkage.topology
    tree, closing = topology.tree
    title = name or topology.name
    lines = ["linkwork: 1", f"name: {title}"]
    lines.append(
        f"description: a {topology.name} linkage; every dimension is a variable, coordinates are "
        "zero at position 1"
    )
    lines.append("source: made by linkwork.synthesis")
    gravity = [0.0, 0.0, 0.0]
    gravity[columns[1]] = -9.81
    lines.append(f"gravity: [{', '.join(map(repr, gravity))}]")
    origin = {edge.child: edge.point for edge in tree}
    # dimensions: offsets of every point from the joint of its body
    variables: dict[str, str] = {}
    for body, points in topology.bodies.items():
        base = 0j if body == topology.ground else complex(linkage.at(origin[body]))
        for point in points:
            if body != topology.ground and point == origin[body]:
                continue
            offset = complex(linkage.at(point)) - base
            variables[f"{body}_{point}_x"] = repr(float(offset.real))
            variables[f"{body}_{point}_y"] = repr(float(offset.imag))
    if section is not None:
        variables["line_mass"] = f"{section[0]!r} kg"
        for body, points in topology.bodies.items():
            if body != topology.ground:
                variables |= _mass_variables(body, points, origin[body])
    lines.append("variables:")
    lines += [f"  {key}: {value}" for key, value in variables.items()]
    lines.append("bodies:")
    for body, points in topology.bodies.items():
        lines += _body(
            body, points, origin.get(body), columns, section if body != topology.ground else None
        )
    lines.append("joints:")
    lines.append(f"  {topology.ground}: {{type: fixed, child: {topology.ground}}}")
    for edge in tree:
        place = f"placement: {{point: {edge.point}}}"
        if edge.parent != topology.ground and edge.point == origin[edge.parent]:
            place = "placement: [0, 0, 0]"
        if edge.along is None:
            kind = f"type: continuous, axis: {_quoted(axis)}"
        else:
            along = complex(linkage.at(edge.along)) - complex(linkage.at(edge.point))
            direction = [0.0, 0.0, 0.0]
            direction[columns[0]] = along.real / abs(along)
            direction[columns[1]] = along.imag / abs(along)
            kind = f"type: prismatic, axis: [{', '.join(map(repr, direction))}]"
        lines.append(
            f"  {edge.child}: {{{kind}, parent: {edge.parent}, child: {edge.child}, {place}}}"
        )
    if closing:
        lines.append("elements:")
        dependent = ", ".join(edge.child for edge in tree if edge.child != topology.driver)
        for point, first, second in closing:
            ends = f"first: {first}.{point}, second: {second}.{point}"
            lines.append(
                f"  pin_{point}: {{type: loop_closure, kind: planar_hinge, {ends}, axis: "
                f"{_quoted(axis)}, "
                f"dependent: [{dependent}]}}"
            )
    body, point = topology.tracer
    at = "[0, 0, 0]" if origin.get(body) == point else _vector(body, point, columns)
    lines.append(f"frames:\n  tracer: {{body: {body}, placement: {at}}}")
    lines += _configurations(linkage, task)
    lines += _cycle(topology.driver, driver_reach(linkage))
    return Description("\n".join(lines) + "\n", f"{title}.robot.yaml")


def _quoted(axis: str) -> str:
    return f'"{axis}"'


def _vector(body: str, point: str, columns: tuple[int, int]) -> str:
    parts = ["0", "0", "0"]
    for column, letter in zip(columns, "xy"):
        parts[column] = f'"${{{body}_{point}_{letter}}}"'
    return f"[{', '.join(parts)}]"


def _body(
    body: str,
    points: tuple[str, ...],
    origin: str | None,
    columns: tuple[int, int],
    section: tuple | None,
) -> list[str]:
    """One body: its points, lines between them, and masses of bars along these lines."""
    named = ", ".join(
        f"{p}: {'[0, 0, 0]' if p == origin else _vector(body, p, columns)}" for p in points
    )
    outline = _outline(points)
    drawn = ", ".join(f"[{p}, {q}]" for p, q in outline)
    lines = [f"  {body}:", f"    points: {{{named}}}"]
    if drawn:
        lines.append(f"    lines: [{drawn}]")
    if section is None:
        return lines
    _, width, thickness = section
    if not outline:
        small = repr(float(width))
        lines.append(f'    mass: "${{line_mass*{small}}}"')
        lines.append(f"    inertia: [{', '.join([_cube(width)] * 3)}]")
        return lines
    # sums over the bars of lengths, moments and squares, as expressions,
    # so that masses follow the dimensions
    bars = range(1, len(outline) + 1)
    total = "(" + "+".join(f"{body}_bar{k}" for k in bars) + ")"
    com = ["0", "0", "0"]
    for column, letter in zip(columns, "xy"):
        com[column] = f'"${{{body}_center_{letter}}}"'
    w2, t2 = float(width) ** 2 / 12.0, float(thickness) ** 2 / 12.0
    along = {
        letter: "+".join(f"{body}_square{k}_{letter}" for k in bars) for letter in ("x", "y", "xy")
    }
    value = {
        "xx": f"line_mass*({along['y']}+{total}*{w2 / 2 + t2!r})",
        "yy": f"line_mass*({along['x']}+{total}*{w2 / 2 + t2!r})",
        "xy": f"-line_mass*({along['xy']})",
        "zz": f"line_mass*({along['x']}+{along['y']}+{total}*{w2!r})",
    }
    axes = ["x", "y", "z"]
    first, second = (axes[c] for c in columns)
    third = next(a for a in axes if a not in (first, second))
    pair = "".join(sorted((first, second)))
    inertia = {
        first * 2: value["xx"],
        second * 2: value["yy"],
        third * 2: value["zz"],
        pair: value["xy"],
    }
    lines.append(f'    mass: "${{line_mass*{total}}}"')
    lines.append(f"    com: [{', '.join(com)}]")
    lines.append("    inertia: {" + ", ".join(f'{k}: "${{{v}}}"' for k, v in inertia.items()) + "}")
    return lines


def _mass_variables(body: str, points: tuple[str, ...], origin: str | None) -> dict[str, str]:
    """Lengths of the bars of a body, their common centre,
    and second moments of each bar about it (a length each)."""
    outline = _outline(points)
    x = {p: "0" if p == origin else f"{body}_{p}_x" for p in points}
    y = {p: "0" if p == origin else f"{body}_{p}_y" for p in points}
    texts = {}
    for k, (p, q) in enumerate(outline, 1):
        texts[f"{body}_bar{k}"] = f"hypot({x[q]}-{x[p]}, {y[q]}-{y[p]})"
    bars = range(1, len(outline) + 1)
    total = "+".join(f"{body}_bar{k}" for k in bars)
    for letter, at in (("x", x), ("y", y)):
        moments = "+".join(
            f"{body}_bar{k}*({at[p]}+{at[q]})/2" for k, (p, q) in enumerate(outline, 1)
        )
        if outline:
            texts[f"{body}_center_{letter}"] = f"({moments})/({total})"
    for k, (p, q) in enumerate(outline, 1):
        ends = {}
        for letter, at in (("x", x), ("y", y)):
            ends[letter] = f"({at[q]}-{at[p]})", f"(({at[p]}+{at[q]})/2-{body}_center_{letter})"
        for letter in ("x", "y"):
            d, o = ends[letter]
            texts[f"{body}_square{k}_{letter}"] = f"{body}_bar{k}*({d}**2/12+{o}**2)"
        (dx, ox), (dy, oy) = ends["x"], ends["y"]
        texts[f"{body}_square{k}_xy"] = f"{body}_bar{k}*({dx}*{dy}/12+{ox}*{oy})"
    return {name: f'"${{{text}}}"' for name, text in texts.items()}


def _cube(width: float) -> str:
    return f'"${{line_mass*{float(width) ** 3 / 6.0!r}}}"'


def _outline(points: tuple[str, ...]) -> list[tuple[str, str]]:
    """Bars of a body: one between two points, a triangle of three, a ring of more."""
    unique = list(points)
    if len(unique) < 2:
        return []
    ring = [*pairwise(unique)]
    return ring if len(unique) == 2 else [*ring, (unique[-1], unique[0])]


def _section(density: Any, linkage: Linkage) -> tuple[float, float, float] | None:
    """(mass per length [kg/m], width, thickness [m])."""
    if density is None:
        return None
    values = densities(density)
    if values.shape == ():
        longest = max(
            float(linkage.length(p, q))
            for ps in linkage.topology.bodies.values()
            for p in ps
            for q in ps
        )
        width = SLENDER * longest
        return float(values), width, width / 4.0
    return float(values.prod()), float(values[1]), float(values[2])


def _configurations(linkage: Linkage, task: PlanarTask | None) -> list[str]:
    """Joint coordinates at the positions: differences of the bodies' rotations."""
    tree, _ = linkage.topology.tree
    lines = ["configurations:", "  reference: {" + ", ".join(f"{e.child}: 0" for e in tree) + "}"]
    if task is None:
        return lines
    turns = linkage.rotations if linkage.rotations is not None else rotations_at(linkage, task)
    place = {body: k for k, body in enumerate(linkage.topology.moving)}
    for j in range(task.n):
        if not np.isfinite(turns[j]).all():
            continue
        parts = []
        for edge in tree:
            angle = turns[j, place[edge.child]]
            if edge.along is None and edge.parent != linkage.topology.ground:
                angle = angle - _angle_of(edge.parent, linkage, turns[j], place)
            parts.append(
                f"{edge.child}: {float(_wrapped(angle) if edge.along is None else angle)!r}"
            )
        lines.append(f"  position_{j + 1}: {{{', '.join(parts)}}}")
    return lines


def _angle_of(body: str, linkage: Linkage, turns: np.ndarray, place: dict[str, int]) -> float:
    """A body's rotation; a slider has that of the body it slides on."""
    edge = {e.child: e for e in linkage.topology.tree[0]}
    while body != linkage.topology.ground and edge[body].along is not None:
        body = edge[body].parent
    return 0.0 if body == linkage.topology.ground else float(turns[place[body]])


def _wrapped(x: float) -> float:
    return float(np.angle(np.exp(1j * x)))


def _cycle(driver: str, reach: tuple[float, float] | None) -> list[str]:
    """The driver all round, or forth and back within its reach."""
    if reach is None:
        law = f"{{start: 0, rate: {2.0 * np.pi / CYCLE!r}}}"
    else:
        low, high = (INSIDE * end for end in reach)
        share = high / (high - low)  # the same pace in both directions
        way = [[0.0, 0.0], [CYCLE * share / 2, high], [CYCLE * (1 + share) / 2, low], [CYCLE, 0.0]]
        way = [point for k, point in enumerate(way) if k in (0, 3) or abs(point[1]) > 0]
        law = f"{{waypoints: {way}, interpolation: quintic}}"
    return ["motions:", f"  cycle: {{duration: {CYCLE}, joints: {{{driver}: {law}}}}}"]
