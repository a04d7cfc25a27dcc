"""Variables of a .robot.yaml: named numbers and expressions, and what they are worth."""

from __future__ import annotations

import keyword
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from linkwork.errors import did_you_mean
from linkwork.formats.expressions import RESERVED, ExpressionError
from linkwork.formats.robot_yaml.document import Node
from linkwork.formats.robot_yaml.reading import Kind, Place, Reader, Value
from linkwork.formats.robot_yaml.schema import PLAIN_NUMBER, Name, Number, Record, Text, in_si
from linkwork.formats.robot_yaml.units import POWERS, Unit, parse_unit
from linkwork.model.number import Number as Real
from linkwork.model.number import is_symbol

REMARKS: dict[str, Kind] = {key: Text() for key in ("source", "note", "assumption", "correction")}
_REMARK_KEYS = frozenset(REMARKS)
_NUMBER = Number(None)
_ENTRY = Record("variable", {"value": _NUMBER, "unit": Name(), **REMARKS}, ("value",))


class Variable:
    """A number in the file's unit of its dimension, or an expression of other variables;
    `notes` say whence. Where it stands, and how, is said when asked: few of many are."""

    __slots__ = ("_node", "_path", "_suffix", "_text", "_unit", "dimension", "notes", "value")

    def __init__(
        self,
        node: Node,
        path: str,
        value: float | Value,
        dimension: str | None,
        notes: tuple[str, ...] = (),
        text: Node | None = None,
        unit: Unit | None = None,
        suffix: str = "",
    ) -> None:
        self._node = node
        self._path = path
        self.value = value
        self.dimension = dimension
        self.notes = notes
        self._text = text
        self._unit = unit
        self._suffix = suffix

    @property
    def place(self) -> Place:
        return Place(self._node.line, self._node.column, self._path)

    @property
    def written(self) -> Written | None:
        """How it stands in the file, where it is a number."""
        if self._text is None or self._unit is None:
            return None
        text = self._text
        return Written(text.value, text.line, text.column, self._unit, self._suffix)


class Written(NamedTuple):
    """How a variable that is a number stands in the file: its text, where,
    and the unit of that text."""

    text: str
    line: int
    column: int
    unit: Unit
    suffix: str

    def again(self, si: float) -> str:
        """The text of another SI value: the number that reads back as it, with the same unit."""
        x = self.unit.from_si(si)
        near = (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))
        number = next((each for each in near if self.unit.to_si(each) == si), x)
        return f"{number!r}{self.suffix}"


@dataclass(frozen=True)
class VariableKind:
    """`145`: a length in the file's unit; `30 deg`, `0.8 kg`, `4 1`: with its unit; `${...}`:
    of other variables."""

    def read(self, node: Node, path: str, reader: Reader) -> Variable:
        notes: tuple[str, ...] = ()
        unit_text = ""
        text, below = node, path
        if node.kind == "map" and len(node.value) == 1 and "value" in node.value:
            text, below = node.value["value"], f"{path}.value"
        # nearly every variable of a file
        if text.kind == "text" and PLAIN_NUMBER.fullmatch(text.value):
            unit = reader.units.unit("length")
            return Variable(node, path, float(text.value), "length", notes, text, unit)
        place = Place(node.line, node.column, path)
        if text.kind == "map":
            entry = _ENTRY.read(text, below, reader)
            notes = tuple(remarks(entry))
            unit_text = entry.get("unit", "")
            text, read = text.value["value"], entry["value"]
        else:
            read = _NUMBER.read(text, below, reader)
        assert isinstance(read, Value)
        if unit_text and (read.expression or read.unit):
            reader.refuse(
                place,
                "the value has its unit already, or is an expression of variables that have theirs",
            )
        if read.expression is not None:
            return Variable(node, path, read, None, notes)
        if read.unit is None and not unit_text:
            unit = reader.units.unit("length")
            return Variable(node, path, read.number, "length", notes, text, unit)
        suffix = ""
        if read.unit is not None:
            unit = read.unit
            unit_text = text.value.split(maxsplit=1)[1]
            suffix = f" {unit_text}"
        else:
            try:
                unit = parse_unit(unit_text)
            except ValueError as error:
                reader.refuse(place, str(error))
        dimension = _dimension_of(unit, unit_text, place, reader)
        number = reader.units.unit(dimension).from_si(unit.to_si(read.number))
        return Variable(node, path, number, dimension, notes, text, unit, suffix)

    def json(self) -> dict[str, Any]:
        return {"anyOf": [Number(None).json(), _ENTRY.json()]}


def _dimension_of(unit: Unit, text: str, place: Place, reader: Reader) -> str:
    fits = [dimension for dimension, powers in POWERS.items() if powers == unit.powers]
    if not fits:
        reader.refuse(place, f'"{text}" is no unit of {", ".join(POWERS)}')
    angular = any(each in text for each in ("deg", "rad", "rev"))
    return "angle" if angular and "angle" in fits else fits[0]


@dataclass(frozen=True)
class Scope:
    """What names are worth where something stands: in the file's units, numbers or symbols.

    `plain` has numbers also where a variable is live, for what cannot be a symbol
    (limits, motions).
    """

    reader: Reader
    values: Mapping[str, Real]
    plain: Mapping[str, float]
    dimensions: Mapping[str, str | None]

    def number(self, x: float | Value, dimension: str | None = None) -> Real:
        """A number of the file in SI; `dimension` where the value itself does not know it."""
        return x if type(x) is float else self._computed(x, dimension, self.values)

    def plain_number(self, x: float | Value, dimension: str | None = None) -> float:
        """A number of the file in SI that is not a symbol:
        live variables count with their present value."""
        return x if type(x) is float else self._computed(x, dimension, self.plain)

    def numbers(self, xs: Sequence[float | Value], dimension: str | None = None) -> tuple[Any, ...]:
        return tuple([self.number(x, dimension) for x in xs])

    def _computed(self, x: Any, dimension: str | None, values: Mapping[str, Real]) -> Real:
        dimension = x.dimension or dimension or "number"
        if x.expression is None:
            return in_si(x.number, x.unit, dimension, x.place, self.reader)
        try:
            result = x.expression.value(values, self.reader.units.angle)
            computed = x.expression.dimension(self.dimensions)
        except ExpressionError as error:
            self.reader.refuse(x.place, str(error))
        if computed is not None and POWERS[computed] != POWERS[dimension]:
            sentence = f'"{x.expression.text}" is a {computed}, expected a {dimension}; '
            self.reader.refuse(
                x.place,
                sentence + 'a variable that is no length is written with its unit, as in "5 kg"',
            )
        return self.reader.units.unit(dimension).to_si(result)

    def inside(
        self, values: Mapping[str, Real], plain: Mapping[str, float], dimensions: Mapping[str, Any]
    ) -> Scope:
        """This scope with more names, which hide its own."""
        return Scope(
            self.reader,
            {**self.values, **values},
            {**self.plain, **plain},
            {**self.dimensions, **dimensions},
        )


def empty_scope(reader: Reader) -> Scope:
    return Scope(reader, {}, {}, {})


def defaults(variables: Mapping[str, Variable], reader: Reader) -> dict[str, float]:
    """SI values of the variables that are numbers; those that are expressions follow them."""
    return {
        name: reader.units.unit(each.dimension or "number").to_si(each.value)
        for name, each in variables.items()
        if isinstance(each.value, float)
    }


def scope_with(
    variables: Mapping[str, Variable], outer: Scope, numbers: Mapping[str, Real]
) -> Scope:
    """The scope of these variables inside `outer`, free ones at the given SI values (or symbols),
    else their own."""
    reader = outer.reader
    free: dict[str, Real] = {
        name: each.value for name, each in variables.items() if isinstance(each.value, float)
    }
    for name in numbers.keys() & free.keys():
        x, unit = numbers[name], reader.units.unit(variables[name].dimension or "number")
        if is_symbol(x) or float(x) != unit.to_si(free[name]):
            free[name] = unit.from_si(x)
    dimensions = {name: variable.dimension for name, variable in variables.items()}
    order = _in_order(
        {n: v for n, v in variables.items() if isinstance(v.value, Value)}, outer, free
    )
    values = _with_expressions(order, {**outer.values, **free}, reader)
    if not any(map(is_symbol, values.values())):
        return outer.inside(values, values, dimensions)
    numeric = {n: (v if not is_symbol(v) else variables[n].value) for n, v in free.items()}
    return outer.inside(
        values, _with_expressions(order, {**outer.plain, **numeric}, reader), dimensions
    )


def _with_expressions(
    order: Mapping[str, Value], values: dict[str, Real], reader: Reader
) -> dict[str, Real]:
    for name, value in order.items():
        assert value.expression is not None
        try:
            values[name] = value.expression.value(values, reader.units.angle)
        except ExpressionError as error:
            reader.refuse(value.place, str(error))
    return values


def _in_order(
    derived: Mapping[str, Variable], outer: Scope, free: Mapping[str, Real]
) -> dict[str, Value]:
    """Expressions such that each comes after those it uses; a circle is refused."""
    order: dict[str, Value] = {}
    for start in derived:
        stack = [(start, iter(sorted(_uses(derived[start]))))] if start not in order else []
        trail = [start]
        while stack:
            name, rest = stack[-1]
            needed = next((each for each in rest if each not in order and each not in free), None)
            if needed is None:
                order[name] = derived[name].value  # type: ignore[assignment]
                stack.pop()
                trail.pop()
            elif needed in trail:
                circle = " -> ".join([*trail[trail.index(needed) :], needed])
                outer.reader.refuse(
                    derived[needed].place, f"variables depend on each other in a circle: {circle}"
                )
            elif needed in derived:
                stack.append((needed, iter(sorted(_uses(derived[needed])))))
                trail.append(needed)
            elif needed not in outer.values:
                sentence = (
                    "unknown variable "
                    f'"{needed}"{did_you_mean(needed, [*derived, *free, *outer.values])}'
                )
                outer.reader.refuse(derived[name].place, sentence)
    return order


def _uses(variable: Variable) -> frozenset[str]:
    assert isinstance(variable.value, Value)
    assert variable.value.expression is not None
    return variable.value.expression.names


def check_variable_names(variables: Mapping[str, Variable], reader: Reader) -> None:
    """Names must be what an expression can use."""
    for name, variable in variables.items():
        if (
            not (name.isidentifier() and name.isascii())
            or name in RESERVED
            or keyword.iskeyword(name)
        ):
            why = (
                "is a function or constant" if name in RESERVED else "is not letters, digits and _"
            )
            reader.refuse(
                variable.place, f'variable "{name}" {why}, expected a name such as upper_arm'
            )


def remarks(entry: Mapping[str, Any]) -> list[str]:
    """`source: ...`, `assumption: ...` of an entry, as lines."""
    if _REMARK_KEYS.isdisjoint(entry):
        return []
    return [f"{key}: {line}" for key in REMARKS if key in entry for line in entry[key].splitlines()]
