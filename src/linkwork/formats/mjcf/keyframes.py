"""Keyframes as named configurations."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

from linkwork.formats.mjcf.attached import Attached
from linkwork.formats.xml import Element
from linkwork.model.model import Configurations

REFERENCE = "qpos0"
"""Name of the configuration that holds MuJoCo's reference, where it is not all zero."""

SHORTEST = 1e-15
"""Length below which MuJoCo's mju_normalize4 makes a quaternion the identity (mjMINVAL)."""

MOST_NUMBERS = 500_000
"""How many numbers the keyframes of a file may have: each names the whole configuration."""

Reference = Sequence[tuple[str, tuple[float, ...]]]


def configurations(
    root: Element, reference: Reference, elements: Sequence[Element], followers: Container[str]
) -> Configurations:
    """Named q of every independent joint: the reference, where something is not at zero,
    then every keyframe.

    reference   (joint, its q in linkwork's order) of all joints in MuJoCo's order
    elements    of the same joints, by which keyframes of attached models name them
    followers   joints that mimic others and so have no coordinate
    """
    size = sum(len(q) for _, q in reference)
    named: dict[str, tuple[tuple[str, tuple[float, ...]], ...]] = {}
    leading = tuple((joint, q) for joint, q in reference if joint not in followers)
    if any(_is_moved(q) for _, q in leading):
        named[REFERENCE] = leading
    held = 0
    for k, key in enumerate(
        each for section in root.all("keyframe") for each in section.all("key")
    ):
        numbers = key.few("qpos", 0, size) if key.attributes.get("qpos", "").strip() else ()
        name = key.attributes.get("name") or f"key_{k + 1}"
        if name in named and name != REFERENCE:
            raise key.error(f'has the name "{name[:60]}", which another keyframe has already')
        if not numbers and not isinstance(key, Attached):
            named[name] = leading
            continue
        held += size
        if held > MOST_NUMBERS:
            raise key.error(
                f"is one too many: more than {MOST_NUMBERS} numbers of keyframes are not read"
            )
        placed = {id(element): q for element, q in key.places} if isinstance(key, Attached) else {}
        at, configuration = 0, []
        for element, (joint, q) in zip(elements, reference, strict=True):
            values = placed.get(id(element), numbers[at : at + len(q)])
            at += len(q)
            if joint not in followers:
                configuration.append(
                    (joint, _in_our_order(key, joint, values) if len(values) == len(q) else q)
                )
        named[name] = tuple(configuration)
    return tuple(named.items())


def _is_moved(q: tuple[float, ...]) -> bool:
    return any(q) if len(q) == 1 else q != (*(0.0,) * (len(q) - 1), 1.0)


def _in_our_order(key: Element, joint: str, q: tuple[float, ...]) -> tuple[float, ...]:
    """MuJoCo's quaternion (w, x, y, z) of any length as the unit quaternion (x, y, z, w)."""
    if len(q) == 1:
        return q
    *place, w, x, y, z = q
    length = math.hypot(w, x, y, z)
    if length < SHORTEST:  # MuJoCo takes a zero quaternion for no rotation
        return (*place, 0.0, 0.0, 0.0, 1.0)
    if length == math.inf:
        raise key.error(
            f'has qpos with a quaternion of length {length:g} for joint "{joint}", expected a '
            "rotation"
        )
    return (*place, x / length, y / length, z / length, w / length)
