"""Spatial robots: spherical four-bars and bodies on five legs, written as a .robot.yaml.

The pins of a spherical four-bar lie on a sphere about the centre, which is the world's origin. Its
closure holds the last pin across its axis: on the sphere that is all there is to hold, so nothing
is redundant. A body on legs is a floating body; each leg is a distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.formats.robot_yaml import Description
from linkwork.synthesis.spatial import FiveLegs, SphericalFourBar

SLENDER = 0.04
"""Width of a bar [of its length]."""


def spherical_description(linkage: SphericalFourBar, density: Any = None) -> Description:
    """Bodies "crank", "coupler", "rocker"; frame "tracer" has the coupler's orientation;
    "position_1" ..."""
    line = _line_mass(density)
    r = float(linkage.radius)
    (A, D), (B, C) = (r * np.asarray(x, dtype=float) for x in (linkage.ground, linkage.moving))
    lines = _head("spherical four-bar", "all axes pass through the origin")
    lines += ["variables:", f"  radius: {r!r}"]
    for name, point in (("A", A), ("D", D), ("B", B), ("C", C)):
        lines += [f"  {name}_{axis}: {float(x)!r}" for axis, x in zip("xyz", point)]
    bodies = {"crank": {"A": A, "B": B}, "coupler": {"B": B, "C": C}, "rocker": {"D": D, "C": C}}
    lines.append("bodies:")
    for body, points in bodies.items():
        places = ", ".join(f"{name}: {_named(name)}" for name in points)
        first, second = points.values()
        lines += [f"  {body}:", f"    points: {{{places}}}", f"    lines: [[{', '.join(points)}]]"]
        lines += _mass([(first, second)], line)
    lines += [
        "joints:",
        f"  crank: {{type: continuous, child: crank, axis: {_named('A', 'radius')}}}",
        f"  coupler: {{type: continuous, parent: crank, child: coupler, axis: "
        f"{_named('B', 'radius')}}}",
        f"  rocker: {{type: continuous, child: rocker, axis: {_named('D', 'radius')}}}",
        "elements:",
        "  pin_C: {type: loop_closure, kind: planar_hinge, first: coupler.C, second: rocker.C, "
        f"axis: {_named('C', 'radius')}, dependent: [coupler, rocker]}}",
    ]
    first = np.asarray(linkage.rotations, dtype=float)[0]
    lines.append(f"frames:\n  tracer: {{body: coupler, placement: {{matrix: {_rotation(first)}}}}}")
    lines.append("configurations:")
    lines.append("  reference: {crank: 0, coupler: 0, rocker: 0}")
    for j, R in enumerate(np.asarray(linkage.rotations, dtype=float)):
        crank, coupler, rocker = _joint_angles(linkage, R @ first.T)
        lines.append(
            f"  position_{j + 1}: {{crank: {crank!r}, coupler: {coupler!r}, rocker: {rocker!r}}}"
        )
    lines.append(
        f"motions:\n  cycle: {{duration: 2.0, joints: {{crank: {{start: 0, rate: {np.pi!r}}}}}}}"
    )
    return Description("\n".join(lines) + "\n", "spherical-four-bar.robot.yaml")


def legs_description(linkage: FiveLegs, density: Any = None) -> Description:
    """A floating body "platform" on the legs "leg_1" ..; frame "tracer" is the body's own;
    "position_1" ..."""
    from scipy.spatial.transform import Rotation

    line = _line_mass(density)
    T = np.asarray(linkage.poses, dtype=float)
    R, p = T[0, :3, :3], T[0, :3, 3]
    carried = (np.asarray(linkage.moving, dtype=float) - p) @ R  # in axes of the body
    ground = np.asarray(linkage.ground, dtype=float)
    lines = _head("body on five legs", "each leg is a link between two ball joints")
    lines.append("variables:")
    for k in range(len(ground)):
        for name, point in ((f"b{k + 1}", ground[k]), (f"p{k + 1}", carried[k])):
            lines += [f"  {name}_{axis}: {float(x)!r}" for axis, x in zip("xyz", point)]
        lines.append(f"  length_{k + 1}: {float(np.linalg.norm(ground[k] - linkage.moving[k]))!r}")
    numbers = range(1, len(ground) + 1)
    base, platform = (", ".join(f"{x}{k}: {_named(f'{x}{k}')}" for k in numbers) for x in "bp")
    lines += [
        "bodies:",
        "  base:",
        f"    points: {{{base}}}",
        "  platform:",
        f"    points: {{{platform}}}",
    ]
    lines += _mass([(np.zeros(3), end) for end in carried], line)
    lines += [
        "joints:",
        "  base: {type: fixed, child: base}",
        "  platform: {type: floating, child: platform}",
        "elements:",
    ]
    lines += [
        f"  leg_{k}: {{type: loop_closure, kind: distance, first: base.b{k}, second: "
        f"platform.p{k}, "
        f'length: "${{length_{k}}}"}}'
        for k in numbers
    ]
    lines.append("frames:\n  tracer: {body: platform, placement: [0, 0, 0]}")
    lines.append("configurations:")
    for name, pose in [
        ("reference", T[0]),
        *((f"position_{j + 1}", pose) for j, pose in enumerate(T)),
    ]:
        q = [*pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat()]
        lines.append(f"  {name}: {{platform: {_numbers(q)}}}")
    return Description("\n".join(lines) + "\n", "five-legs.robot.yaml")


def _head(kind: str, remark: str) -> list[str]:
    return [
        "linkwork: 1",
        f"name: {kind.replace(' ', '-')}",
        f"description: a {kind}; {remark}",
        "source: made by linkwork.synthesis",
    ]


def densities(density: Any) -> np.ndarray:
    """Mass per length (), or density, width and thickness (3,) of links."""
    values = as_doubles(density, "from_linkage: density")
    if values.shape not in ((), (3,)) or not np.isfinite(values).all() or (values <= 0).any():
        raise InvalidInput(
            f"from_linkage: density is {density!r}, expected kg/m, or (kg/m^3, width, thickness), "
            "all positive"
        )
    return values


def _line_mass(density: Any) -> float | None:
    """Mass per length [kg/m]."""
    return None if density is None else float(densities(density).prod())


def _mass(bars: list[tuple[np.ndarray, np.ndarray]], line: float | None) -> list[str]:
    """Mass, centre and inertia of straight bars between points."""
    if line is None:
        return []
    masses = np.array([line * np.linalg.norm(q - p) for p, q in bars])
    middles = np.array([0.5 * (p + q) for p, q in bars])
    centre = masses @ middles / masses.sum()
    inertia = np.zeros((3, 3))
    for m, middle, (p, q) in zip(masses, middles, bars):
        for off, share in ((q - p, 1.0 / 12.0), (middle - centre, 1.0)):
            inertia += m * share * ((off @ off) * np.eye(3) - np.outer(off, off))
        inertia += m * (SLENDER * np.linalg.norm(q - p)) ** 2 / 12.0 * np.eye(3)
    entries = {
        a + b: inertia[i, j] for i, a in enumerate("xyz") for j, b in enumerate("xyz") if i <= j
    }
    table = ", ".join(f"{name}: {float(x)!r}" for name, x in entries.items())
    return [
        f"    mass: {float(masses.sum())!r}",
        f"    com: {_numbers(centre)}",
        f"    inertia: {{{table}}}",
    ]


def _joint_angles(linkage: SphericalFourBar, R: np.ndarray) -> tuple[float, float, float]:
    """Angles of crank, coupler (on the crank) and rocker where the coupler is turned by R from
    position 1."""
    from scipy.spatial.transform import Rotation

    angles = [
        _turn(
            np.asarray(linkage.ground[k], float),
            np.asarray(linkage.moving[k], float),
            R @ linkage.moving[k],
        )
        for k in range(2)
    ]
    crank = Rotation.from_rotvec(angles[0] * np.asarray(linkage.ground[0])).as_matrix()
    relative = Rotation.from_matrix(crank.T @ R).as_rotvec()
    return angles[0], float(relative @ linkage.moving[0]), angles[1]


def _turn(axis: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """The angle about an axis that takes one direction to another."""
    a, b = (x - (x @ axis) * axis for x in (first, second))
    return float(np.arctan2(axis @ np.cross(a, b), a @ b))


def _named(point: str, over: str = "1") -> str:
    """A point's variables, over a length where a direction is wanted."""
    divided = "" if over == "1" else f"/{over}"
    return "[" + ", ".join(f'"${{{point}_{axis}{divided}}}"' for axis in "xyz") + "]"


def _numbers(values: Any) -> str:
    return "[" + ", ".join(repr(float(x)) for x in values) + "]"


def _rotation(R: np.ndarray) -> str:
    return "[" + ", ".join(_numbers(row) for row in R) + "]"
