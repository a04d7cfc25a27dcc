"""Rows of an MJCF file: elements as text, numbers with all their digits."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.formats.mjcf.quaternion import to_quaternion
from linkwork.formats.xml import quoted
from linkwork.model.number import IDENTITY, ZERO, Number
from linkwork.model.placement import Placement


def element(tag: str, **attributes: str | None) -> str:
    """<tag name="value" .../>, without the attributes that are None."""
    written = (f" {word}={quoted(text)}" for word, text in attributes.items() if text is not None)
    return f"<{tag}{''.join(written)}/>"


def opened(row: str) -> str:
    """An element's row, left open for what stands inside it."""
    return f"{row.removesuffix('/>')}>"


def number(x: Number) -> str:
    return repr(float(x))


def numbers(values: Sequence[Number]) -> str:
    return " ".join(map(number, values))


def where(T: Placement) -> dict[str, str | None]:
    """pos and quat (w, x, y, z) of a placement, None where MJCF's default says the same."""
    x, y, z, w = to_quaternion(T.rotation)
    return {
        "pos": None if T.position == ZERO else numbers(T.position),
        "quat": None if T.rotation == IDENTITY else numbers((w, x, y, z)),
    }
