"""Where an element sits: position with one of MJCF's five notations of an orientation,
or between two points."""

from __future__ import annotations

import math

from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.vocabulary import ORIENTATIONS
from linkwork.formats.mjcf.words import Words
from linkwork.model.number import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    cross,
    dot,
    product,
    scale,
    subtract,
    transpose,
)
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import about, from_axis_angle, from_quaternion, snapped

_ORIENTATIONS = frozenset(ORIENTATIONS)
_PLACING = _ORIENTATIONS | {"pos"}
SHORTEST = 1e-14
"""MuJoCo's smallest length of an axis (mjEPS)."""


def placement(words: Words, settings: CompilerSettings) -> Placement:
    """T_parent_element of pos [m] and an orientation; without them HERE."""
    if words.has_none_of(_PLACING):  # most elements of a file
        return HERE
    R, p = rotation(words, settings), position(words)
    return HERE if R is IDENTITY and p == ZERO else Placement(R, p)


def position(words: Words, attribute: str = "pos") -> Vector:
    x, y, z = words.numbers(attribute, 3, (0.0, 0.0, 0.0))
    return (x, y, z)


def rotation(words: Words, settings: CompilerSettings) -> Matrix:
    """The orientation of the first holder that gives one;
    two notations in one element contradict each other."""
    if words.has_none_of(_ORIENTATIONS):
        return IDENTITY
    holder = (
        words.own if _ORIENTATIONS & words.own.attributes.keys() else words.holder(*ORIENTATIONS)
    )
    ways = list(_ORIENTATIONS & holder.attributes.keys())
    if len(ways) > 1:
        ways.sort(key=ORIENTATIONS.index)
        raise holder.error(f"has {ways[0]} and {ways[1]}, expected one orientation")
    match ways[0]:
        case "quat":
            return quaternion(words, "quat")
        case "axisangle":
            x, y, z, angle = holder.numbers("axisangle", 4)
            return from_axis_angle(_unit(words, "axisangle", (x, y, z)), angle * settings.angle)
        case "xyaxes":
            return _from_axes(words, holder.numbers("xyaxes", 6))
        case "zaxis":
            x, y, z = holder.numbers("zaxis", 3)
            return z_towards(_unit(words, "zaxis", (x, y, z)))
    return from_euler_sequence(holder.numbers("euler", 3), settings)


def quaternion(words: Words, attribute: str) -> Matrix:
    """MuJoCo's quaternions are (w, x, y, z), of any length but zero."""
    w, x, y, z = words.numbers(attribute, 4)
    length = math.hypot(w, x, y, z)
    if not SHORTEST <= length < math.inf:
        raise words.holder(attribute).error(
            f'has {attribute}="{w:g} {x:g} {y:g} {z:g}", expected a quaternion'
        )
    return from_quaternion((x / length, y / length, z / length, w / length))


def from_euler_sequence(angles: tuple[float, ...], settings: CompilerSettings) -> Matrix:
    """Three turns in the order of eulerseq: about moving axes (small letters, R = R R_k) or fixed
    ones (R = R_k R)."""
    if settings.euler_sequence == "xyz":  # nearly every file's: the two products written out
        sx, sy, sz = (math.sin(angle * settings.angle) for angle in angles)
        cx, cy, cz = (math.cos(angle * settings.angle) for angle in angles)
        return snapped(
            (
                (cy * cz, -cy * sz, sy),
                (sx * sy * cz + cx * sz, cx * cz - sx * sy * sz, -sx * cy),
                (sx * sz - cx * sy * cz, cx * sy * sz + sx * cz, cx * cy),
            )
        )
    R: Matrix | None = None
    for letter, angle in zip(settings.euler_sequence, angles):
        turn = about(letter.lower(), angle * settings.angle)
        R = turn if R is None else product(R, turn) if letter.islower() else product(turn, R)
    return snapped(R or IDENTITY)


def z_towards(direction: Vector) -> Matrix:
    """The shortest turn that takes z to a unit vector; to -z about x, as MuJoCo does."""
    if 1.0 - abs(direction[2]) < SHORTEST:
        return IDENTITY if direction[2] > 0.0 else about("x", math.pi)
    axis = cross((0.0, 0.0, 1.0), direction)
    return from_axis_angle(axis, math.atan2(math.hypot(*axis), direction[2]))


def between(words: Words) -> tuple[Placement, float]:
    """(T_parent_element, half length) of `fromto`: in the middle of two points,
    z from the second to the first."""
    x, y, z, u, v, w = words.numbers("fromto", 6)
    holder = words.holder("fromto")
    if any(words.numbers("pos", 3, (0.0, 0.0, 0.0))):
        raise holder.error("has both pos and fromto, expected one of them")
    start, end = (x, y, z), (u, v, w)
    half = math.hypot(*subtract(start, end)) / 2.0
    if not SHORTEST <= half < math.inf:
        raise holder.error("has fromto with two points in one place, expected two points")
    direction = scale(0.5 / half, subtract(start, end))
    middle = (x / 2.0 + u / 2.0, y / 2.0 + v / 2.0, z / 2.0 + w / 2.0)
    return Placement(z_towards(direction), middle), half


def _from_axes(words: Words, numbers: tuple[float, ...]) -> Matrix:
    """x as given, y made orthogonal to it."""
    x = _unit(words, "xyaxes", (numbers[0], numbers[1], numbers[2]))
    slanted = (numbers[3], numbers[4], numbers[5])
    y = _unit(words, "xyaxes", subtract(slanted, scale(dot(x, slanted), x)))
    return snapped(transpose((x, y, cross(x, y))))


def _unit(words: Words, attribute: str, axis: Vector) -> Vector:
    length = math.hypot(*axis)
    if not SHORTEST <= length < math.inf:
        raise words.holder(attribute).error(
            f"has {attribute} with an axis of length {length:g}, expected a direction"
        )
    return (axis[0] / length, axis[1] / length, axis[2] / length)
