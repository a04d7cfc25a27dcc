"""Schema: kinds of values a .robot.yaml is made of;
each reads a node and says itself as JSON schema.

A kind turns a node into plain data, or refuses with file, line, column, the path of the key and the
nearest valid name. Numbers become SI floats at once; what depends on variables, or on a joint's
type, becomes a `Value` that is computed when the model is built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from linkwork.errors import did_you_mean
from linkwork.formats.expressions import Expression, ExpressionError, parse_expression
from linkwork.formats.robot_yaml.document import Node
from linkwork.formats.robot_yaml.reading import (
    Kind,
    Place,
    Reader,
    Value,
    key_place,
    place_of,
    shown,
    text_of,
)
from linkwork.formats.robot_yaml.units import POWERS, Unit, parse_unit
from linkwork.formats.robot_yaml.words import WORDS, described

LONGEST_NAME = 200
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(_NUMBER)
PLAIN_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,15})?")
"""Most numbers of most files: certainly finite, so nothing else has to be looked at."""
_WITH_UNIT = re.compile(rf"({_NUMBER})\s+([A-Za-z][A-Za-z0-9*/^ \-]*|1)")
_INFINITE = dict.fromkeys((".inf", "inf", "+.inf"), math.inf)
_INFINITE |= dict.fromkeys(("-.inf", "-inf"), -math.inf)
_EXPRESSION = re.compile(r"\$\{([^{}]*)\}")
_NUMBER_JSON = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "description": '"${expression}" or a number with its unit'},
    ]
}


@dataclass(frozen=True)
class Number:
    """A number of a dimension; None: of a coordinate, known when the joint is.
    `infinite` allows .inf."""

    dimension: str | None = "number"
    infinite: bool = False

    def read(self, node: Node, path: str, reader: Reader) -> float | Value:
        text = text_of(node, path, reader, "a number").strip()
        if self.dimension is not None and PLAIN_NUMBER.fullmatch(text):
            return reader.units.unit(self.dimension).to_si(float(text))
        if _PLAIN.fullmatch(text) and len(text) < LONGEST_NAME:
            return self._finished(float(text), None, node, path, reader)
        if text in _INFINITE and self.infinite:
            return _INFINITE[text]
        if text.startswith("${"):
            return Value(
                place_of(node, path), self.dimension, _expression(text, node, path, reader)
            )
        with_unit = _WITH_UNIT.fullmatch(text)
        if with_unit is None or len(text) > LONGEST_NAME:
            expected = 'a number, a number with its unit such as "5 mm", or "${expression}"'
            reader.refuse(place_of(node, path), f"expected {expected}, came {shown(node)}")
        try:
            unit = parse_unit(with_unit[2])
        except ValueError as error:
            reader.refuse(place_of(node, path), str(error))
        return self._finished(float(with_unit[1]), unit, node, path, reader)

    def _finished(
        self, x: float, unit: Unit | None, node: Node, path: str, reader: Reader
    ) -> float | Value:
        if not math.isfinite(x):
            reader.refuse(place_of(node, path), f"{shown(node)} is beyond the range of numbers")
        if self.dimension is None:
            return Value(place_of(node, path), None, None, x, unit)
        return in_si(x, unit, self.dimension, place_of(node, path), reader)

    def json(self) -> dict[str, Any]:
        return _NUMBER_JSON


def in_si(x: float, unit: Unit | None, dimension: str, place: Place, reader: Reader) -> float:
    """A number of the file in SI: in its own unit, which must fit the dimension, or in the
    file's."""
    if unit is not None and unit.powers != POWERS[dimension]:
        reader.refuse(place, f"the unit does not fit, expected a unit of {dimension}")
    return (unit or reader.units.unit(dimension)).to_si(x)


def _expression(text: str, node: Node, path: str, reader: Reader) -> Expression:
    whole = _EXPRESSION.fullmatch(text)
    if whole is None:
        reader.refuse(place_of(node, path), f'{shown(node)} is not "${{expression}}" as a whole')
    try:
        return parse_expression(whole[1])
    except ExpressionError as error:
        reader.refuse(place_of(node, path), str(error))


@dataclass(frozen=True)
class Integer:
    """A whole number."""

    least: int = 0
    most: int = 10_000

    def read(self, node: Node, path: str, reader: Reader) -> int:
        text = text_of(node, path, reader, "a whole number")
        if not re.fullmatch(r"[+-]?\d{1,9}", text) or not self.least <= int(text) <= self.most:
            sentence = (
                f"expected a whole number from {self.least} to {self.most}, came {shown(node)}"
            )
            reader.refuse(place_of(node, path), sentence)
        return int(text)

    def json(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def read(self, node: Node, path: str, reader: Reader) -> bool:
        text = text_of(node, path, reader, "true or false")
        if text not in ("true", "false"):
            reader.refuse(place_of(node, path), f"expected true or false, came {shown(node)}")
        return text == "true"

    def json(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text:
    """Words for people; a list of sentences becomes lines."""

    def read(self, node: Node, path: str, reader: Reader) -> str:
        if node.kind == "list":
            return "\n".join(
                text_of(item, f"{path}[{k}]", reader, "a text") for k, item in enumerate(node.value)
            )
        return text_of(node, path, reader, "a text").strip()

    def json(self) -> dict[str, Any]:
        return {"type": ["string", "number", "array"], "items": {"type": ["string", "number"]}}


@dataclass(frozen=True)
class Name:
    """The name of something: not empty, one line."""

    def read(self, node: Node, path: str, reader: Reader) -> str:
        text = text_of(node, path, reader, "a name")
        if not _is_name(text):
            _refuse_name(text, place_of(node, path), reader)
        return text

    def json(self) -> dict[str, Any]:
        return {"type": ["string", "number"]}


def _is_name(text: str) -> bool:
    if text.isidentifier():  # most names: printable, and without a blank
        return len(text) <= LONGEST_NAME
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and text == text.strip()


def _refuse_name(text: str, place: Place, reader: Reader) -> NoReturn:
    sentence = (
        f"{text[:40]!r} is not a name: expected 1 to {LONGEST_NAME} printable characters in "
        "one line"
    )
    reader.refuse(place, sentence)


@dataclass(frozen=True)
class Choice:
    """One of a few words; `what` names them in errors."""

    what: str
    words: tuple[str, ...]

    def read(self, node: Node, path: str, reader: Reader) -> str:
        text = text_of(node, path, reader, f"a {self.what}")
        if text not in self.words:
            near = did_you_mean(text, self.words)
            few = f", expected one of {', '.join(self.words)}" if not near else ""
            reader.refuse(place_of(node, path), f"unknown {self.what} {shown(node)}{few}{near}")
        return text

    def json(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Numbers:
    """A list of numbers; `count` None: any count up to `most`."""

    dimension: str | None = "number"
    count: int | None = 3
    most: int = 1000

    def read(self, node: Node, path: str, reader: Reader) -> tuple[float | Value, ...]:
        expected = f"a list of {self.count} numbers" if self.count else "a list of numbers"
        if node.kind != "list":
            reader.refuse(place_of(node, path), f"expected {expected}, came {shown(node)}")
        if len(node.value) != self.count if self.count else len(node.value) > self.most:
            reader.refuse(place_of(node, path), f"expected {expected}, came {len(node.value)}")
        number = Number(self.dimension)
        return tuple(
            [number.read(item, f"{path}[{k}]", reader) for k, item in enumerate(node.value)]
        )

    def json(self) -> dict[str, Any]:
        least = {"minItems": self.count} if self.count else {}
        most = {"maxItems": self.count or self.most}
        return {"type": "array", "items": _NUMBER_JSON, **least, **most}


@dataclass(frozen=True)
class Listed:
    """A list of values of one kind."""

    kind: Kind
    most: int = 100_000

    def read(self, node: Node, path: str, reader: Reader) -> tuple[Any, ...]:
        if node.kind != "list":
            reader.refuse(place_of(node, path), f"expected a list, came {shown(node)}")
        if len(node.value) > self.most:
            reader.refuse(
                place_of(node, path), f"expected at most {self.most} items, came {len(node.value)}"
            )
        return tuple(
            [self.kind.read(item, f"{path}[{k}]", reader) for k, item in enumerate(node.value)]
        )

    def json(self) -> dict[str, Any]:
        return {"type": "array", "items": self.kind.json()}


@dataclass(frozen=True)
class Named:
    """A mapping from names to values of one kind, in the order of the file."""

    kind: Kind
    what: str = "name"

    def read(self, node: Node, path: str, reader: Reader) -> dict[str, Any]:
        if node.kind == "text" and not node.value and not node.quoted:
            return {}
        if node.kind != "map":
            reader.refuse(
                place_of(node, path),
                f"expected a mapping from {self.what} to value, came {shown(node)}",
            )
        entries = {}
        for name, item in node.value.items():
            below = f"{path}.{name}"
            if not _is_name(name):
                _refuse_name(name, key_place(node, name, below), reader)
            entries[name] = self.kind.read(item, below, reader)
        return entries

    def json(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.kind.json()}


class Entry(dict[str, Any]):
    """What a record read: its fields by name, and where they stand."""

    __slots__ = ("_node", "path")

    def __init__(self, node: Node, path: str) -> None:
        self._node = node
        self.path = path

    @property
    def place(self) -> Place:
        return place_of(self._node, self.path)

    def at(self, key: str, *below: str) -> Place:
        """Where the value of a field stands (or of a name in it), else the record itself."""
        node, path = self._node, self.path
        for step in (key, *below):
            if node.kind != "map" or step not in node.value:
                break
            node, path = node.value[step], f"{path}.{step}" if path else step
        return place_of(node, path)


@dataclass(frozen=True)
class Record:
    """A mapping with known keys. `needed` must be there;
    `one_of` are groups of keys of which at most one may.

    about, keys   what the record and each of its keys mean, in words; for editors and pages
    """

    what: str
    fields: Mapping[str, Kind]
    needed: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    about: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    def read(self, node: Node, path: str, reader: Reader) -> Entry:
        if node.kind != "map":
            reader.refuse(
                place_of(node, path),
                f"expected a mapping with the keys of a {self.what}, came {shown(node)}",
            )
        entry = Entry(node, path)
        fields, prefix = self.fields, f"{path}." if path else ""
        for key, item in node.value.items():
            below = prefix + key
            kind = fields.get(key)
            if kind is None:
                near = did_you_mean(key, self.fields)
                few = near or f"; a {self.what} has {', '.join(self.fields)}"
                reader.refuse(key_place(node, key, below), f'unknown key "{key[:60]}"{few}')
            entry[key] = kind.read(item, below, reader)
        for key in self.needed:
            if key not in entry:
                reader.refuse(entry.place, f'{self.what} has no "{key}"')
        for group in self.one_of if len(entry) > 1 else ():
            both = [key for key in entry if key in group]
            if len(both) > 1:
                reader.refuse(
                    entry.at(both[1]),
                    f'"{both[0]}" and "{both[1]}" are both given, expected one of them',
                )
        return entry

    def json(self) -> dict[str, Any]:
        about = self.about or WORDS.get(self.what, ("",))[0]
        return {
            "title": self.what,
            **({"description": about} if about else {}),
            "type": "object",
            "properties": {key: self._described(key) for key in self.fields},
            "required": list(self.needed),
            "additionalProperties": False,
        }

    def _described(self, key: str) -> dict[str, Any]:
        schema = self.fields[key].json()
        words = self.keys.get(key) or described(self.what, key)
        return {**schema, "description": words} if words else schema


@dataclass(frozen=True)
class Variant:
    """A record whose key `type` chooses among several; each has the fields of `common` too."""

    what: str
    choices: Mapping[str, Record]

    def read(self, node: Node, path: str, reader: Reader) -> Entry:
        if node.kind != "map":
            reader.refuse(
                place_of(node, path),
                f"expected a mapping with the keys of a {self.what}, came {shown(node)}",
            )
        if "type" not in node.value:
            reader.refuse(
                place_of(node, path),
                f'{self.what} has no "type", expected one of {", ".join(self.choices)}',
            )
        word = Choice(f"{self.what} type", tuple(self.choices)).read(
            node.value["type"], f"{path}.type", reader
        )
        return self.choices[word].read(node, path, reader)

    def json(self) -> dict[str, Any]:
        parts = []
        for word, record in self.choices.items():
            schema = record.json()
            schema["properties"] = {**schema["properties"], "type": {"const": word}}
            schema["required"] = ["type", *schema["required"]]
            parts.append(schema)
        return {"oneOf": parts}


@dataclass(frozen=True)
class Either:
    """Another kind for each shape of node: text, list, map; "maps" is a list of mappings,
    "lists" one of lists."""

    what: str
    kinds: Mapping[str, Kind]

    def read(self, node: Node, path: str, reader: Reader) -> Any:
        shape = node.kind
        if shape == "list" and node.value and f"{node.value[0].kind}s" in self.kinds:
            shape = f"{node.value[0].kind}s"
        kind = self.kinds.get(shape)
        if kind is None:
            reader.refuse(place_of(node, path), f"expected {self.what}, came {shown(node)}")
        return kind.read(node, path, reader)

    def json(self) -> dict[str, Any]:
        return {"anyOf": [kind.json() for kind in self.kinds.values()]}
