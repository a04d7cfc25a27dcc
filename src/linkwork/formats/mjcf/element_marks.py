"""Elements as text: closed-loop elements that MJCF says in several rows,
kept whole in a mark and read back from it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from linkwork.formats.xml import Element
from linkwork.model import elements as loops
from linkwork.model.number import Matrix, Number, Vector

KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(
            loops.LinearActuator,
            loops.Gear,
            loops.Belt,
            loops.Differential,
            loops.Spring,
            loops.Damper,
        ),
        *(loops.Bar, loops.Slider, loops.LoopClosure, loops.Share, loops.Stiffness),
    )
}
"""Elements that a mark may hold; couplings and springs about joints have rows of MJCF that say all
of them."""

_EXPECTED: dict[Any, Callable[[Any], bool]] = {
    str: lambda x: isinstance(x, str),
    str | None: lambda x: x is None or isinstance(x, str),
    int: lambda x: isinstance(x, int) and not isinstance(x, bool),
    bool: lambda x: isinstance(x, bool),
    float: lambda x: _is_number(x),
    Number: lambda x: _is_number(x),
    Vector: lambda x: _are_numbers(x, 3),
    Vector | None: lambda x: x is None or _are_numbers(x, 3),
    Matrix: lambda x: (
        isinstance(x, tuple) and len(x) == 3 and all(_are_numbers(row, 3) for row in x)
    ),
    tuple[str, ...]: lambda x: isinstance(x, tuple) and all(isinstance(each, str) for each in x),
    tuple[Number, ...]: lambda x: isinstance(x, tuple) and all(map(_is_number, x)),
    tuple[tuple[Number, ...], ...]: lambda x: (
        isinstance(x, tuple)
        and all(isinstance(row, tuple) and all(map(_is_number, row)) for row in x)
    ),
    tuple[tuple[str, Number], ...]: lambda x: isinstance(x, tuple) and all(map(_is_term, x)),
}


def as_text(element: loops.Element) -> str:
    """An element as JSON, with all digits; what is equal to the default is left out."""
    return json.dumps(_plain(element), ensure_ascii=False)


def from_text(mark: Element, data: str) -> loops.Element:
    """The element a mark holds; what `as_text` has not written is refused with the mark's line."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or parsed.get("element") not in KINDS:
        raise mark.error("has data that is no closed-loop element")
    return _made(mark, KINDS[parsed.pop("element")], parsed)


def _plain(value: Any) -> Any:
    if isinstance(value, loops.Point):
        return {"body": value.body, "position": _plain(value.position), "name": value.name}
    if is_dataclass(value):
        values = {each.name: getattr(value, each.name) for each in fields(value)}
        changed = {
            each.name: values[each.name]
            for each in fields(value)
            if values[each.name] != each.default
        }
        return {"element": type(value).__name__, **{name: _plain(x) for name, x in changed.items()}}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return float(value) if not isinstance(value, (str, bool, int, type(None))) else value


def _made(mark: Element, kind: type, data: dict[str, Any]) -> Any:
    types = get_type_hints(kind)
    known = {each.name: types[each.name] for each in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name not in known:
            raise mark.error(f'has data with "{name[:60]}", which a {kind.__name__} does not have')
        if known[name] is loops.Point:
            values[name] = _point(mark, value)
            continue
        values[name] = _as_tuples(value)
        if not _EXPECTED[known[name]](values[name]):
            raise mark.error(f'has data whose "{name}" is not what a {kind.__name__} has there')
    missing = [each.name for each in fields(kind) if each.name not in values and _is_needed(each)]
    if missing:
        raise mark.error(f'has data without "{missing[0]}", which a {kind.__name__} needs')
    return kind(**values)


def _point(mark: Element, value: Any) -> loops.Point:
    if isinstance(value, dict) and set(value) == {"body", "position", "name"}:
        position = _as_tuples(value["position"])
        named = value["body"] is None or isinstance(value["body"], str)
        if named and isinstance(value["name"], str) and _are_numbers(position, 3):
            return loops.Point(value["body"], position, value["name"])
    raise mark.error("has data with a point that is none")


def _is_needed(item: Any) -> bool:
    return type(item.default).__name__ == "_MISSING_TYPE"


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(each) for each in value) if isinstance(value, list) else value


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and not math.isnan(x)


def _are_numbers(x: Any, count: int) -> bool:
    return isinstance(x, tuple) and len(x) == count and all(map(_is_number, x))


def _is_term(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str) and _is_number(x[1])
