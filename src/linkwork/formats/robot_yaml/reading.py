"""Reading: what every kind of value of a .robot.yaml needs to read a node, or to refuse it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

from linkwork.errors import InvalidFile
from linkwork.formats.expressions import Expression
from linkwork.formats.robot_yaml.document import Node
from linkwork.formats.robot_yaml.units import Unit, Units
from linkwork.formats.strictness import Passed


class Place(NamedTuple):
    """Where in the file: line and column from 1, and the path of the key."""

    line: int
    column: int
    path: str


@dataclass(frozen=True)
class Reader:
    """What every kind needs to know: the name of the file for errors, and what bare numbers
    mean."""

    source: str
    units: Units
    passed: Passed | None = None
    visuals: bool = True

    def refuse(self, place: Place, sentence: str) -> NoReturn:
        raise refusal(self.source, place, sentence)


def refusal(source: str, place: Place, sentence: str) -> InvalidFile:
    """`file:line:column: sentence, at path`, with the question "did you mean" kept last."""
    at = f" at {place.path}" if place.path else ""
    said, question, rest = sentence.partition("; did you mean")
    return InvalidFile(f"{source}:{place.line}:{place.column}: {said}{at}{question}{rest}")


@dataclass(frozen=True, slots=True)
class Value:
    """A number that waits: for the variables of `expression`,
    or for the joint that says whether it is an angle."""

    place: Place
    dimension: str | None
    expression: Expression | None = None
    number: float = 0.0
    unit: Unit | None = None


class Kind(Protocol):
    """One kind of value: `read` gives the data of a node, `json` its JSON schema."""

    def read(self, node: Node, path: str, reader: Reader) -> Any: ...

    def json(self) -> dict[str, Any]: ...


def place_of(node: Node, path: str) -> Place:
    return Place(node.line, node.column, path)


def key_place(node: Node, key: str, path: str) -> Place:
    return Place(*node.of_key(key), path)


def shown(node: Node) -> str:
    if node.kind != "text":
        return f"a {'list' if node.kind == 'list' else 'mapping'}"
    if not node.value:
        return "empty"
    return f'"{node.value}"' if len(node.value) <= 60 else f'"{node.value[:57]}..."'


def text_of(node: Node, path: str, reader: Reader, expected: str) -> str:
    if node.kind != "text":
        reader.refuse(place_of(node, path), f"expected {expected}, came {shown(node)}")
    return node.value
