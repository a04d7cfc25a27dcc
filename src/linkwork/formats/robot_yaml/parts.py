"""Parts of a description: the robot itself, and every placed copy of a chain,
each with its names and mirror."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import did_you_mean
from linkwork.formats.expressions import RESERVED, ExpressionError, parse_expression
from linkwork.formats.robot_yaml.reading import Place
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.variables import Scope, Variable, check_variable_names, scope_with
from linkwork.model.inertia import MassProperties
from linkwork.model.number import Matrix, Vector
from linkwork.model.placement import HERE, Placement

MOST_BODIES = 20_000
SECTIONS = {"bodies": "body", "joints": "joint", "frames": "frame", "elements": "element"}
_INTERPOLATION = re.compile(r"\$\{([^{}]*)\}")


@dataclass(frozen=True)
class Mirror:
    """Reflection S across the plane normal to a coordinate axis; None: no reflection.

    Every frame of a mirrored chain is reflected in its own axes, so positions become S p, rotations
    S R S, and what turns by an angle about `a` turns by the same angle about -S a: equal
    coordinates give mirrored postures.
    """

    axis: str | None = None

    @property
    def signs(self) -> tuple[float, float, float]:
        return tuple(-1.0 if each == self.axis else 1.0 for each in "xyz")  # type: ignore[return-value]

    def position(self, p: Vector) -> Vector:
        """Also a direction along which something moves."""
        if self.axis is None:
            return p
        s = self.signs
        return (s[0] * p[0], s[1] * p[1], s[2] * p[2])

    def turning(self, a: Vector) -> Vector:
        """An axis about which something turns."""
        if self.axis is None:
            return a
        x, y, z = self.position(a)
        return (-x, -y, -z)

    def rotation(self, R: Matrix) -> Matrix:
        """S R S, and so for every tensor."""
        if self.axis is None:
            return R
        s = self.signs
        return tuple(tuple(s[i] * s[j] * R[i][j] for j in range(3)) for i in range(3))  # type: ignore[return-value]

    def placement(self, T: Placement) -> Placement:
        return (
            T
            if self.axis is None
            else Placement(self.rotation(T.rotation), self.position(T.position))
        )

    def matter(self, m: MassProperties) -> MassProperties:
        if self.axis is None:
            return m
        return MassProperties(m.mass, self.position(m.com), self.rotation(m.inertia))


@dataclass(frozen=True)
class Part:
    """The robot (`chain` False) or one copy of a chain: its entry and how to read it.

    parent, at   what the copy's joints without a parent hang on: a body (None: the world) and
                 T_parent_chain
    """

    entry: Entry
    scope: Scope
    prefix: str = ""
    suffix: str = ""
    mirror: Mirror = field(default_factory=Mirror)
    chain: bool = False
    parent: str | None = None
    at: Placement = HERE
    placed: Place | None = None

    def named(self, name: str) -> str:
        """The full name of what this part defines: "*" in a chain's name is where the suffix goes,
        else the end."""
        if self.chain and "*" in name:
            return f"{self.prefix}{name.replace('*', self.suffix)}"
        return f"{self.prefix}{name}{self.suffix}"

    def meant(self, name: str, *sections: str) -> str:
        """The full name of what a name in this part refers to: its own, else the robot's."""
        is_ours = self.chain and any(name in self.entry.get(section, ()) for section in sections)
        return self.named(name) if is_ours else name


def parts(robot: Entry, scope: Scope, placement: Any) -> Iterator[Part]:
    """The robot, then every copy of a chain. `placement(entry, key, scope, part)` reads a
    placement."""
    whole = Part(robot, scope)
    yield whole
    chains = robot.get("chains", {})
    total = 0
    for label, entry in robot.get("placed", {}).items():
        chain = chains.get(entry["chain"])
        if chain is None:
            near = did_you_mean(entry["chain"], chains)
            scope.reader.refuse(entry.at("chain"), f'unknown chain "{entry["chain"]}"{near}')
        count = entry.get("count", 1)
        total += count * max(1, len(chain["bodies"]))
        if total > MOST_BODIES:
            scope.reader.refuse(entry.place, f"placed chains make more than {MOST_BODIES} bodies")
        for k in range(count):
            yield _copy(label, entry, chain, scope, k, placement, whole)


def _copy(
    label: str, entry: Entry, chain: Entry, scope: Scope, k: int, placement: Any, whole: Part
) -> Part:
    reader = scope.reader
    outer = scope
    if "count" in entry:
        index = entry.get("index", "k")
        if not index.isidentifier() or index in RESERVED:
            reader.refuse(entry.at("index"), f'index "{index}" is not a name such as k')
        outer = scope.inside({index: float(k)}, {index: float(k)}, {index: None})
    variables: dict[str, Variable] = dict(chain.get("variables", {}))
    check_variable_names(variables, reader)
    for name, variable in entry.get("with", {}).items():
        if name not in variables:
            near = did_you_mean(name, variables)
            reader.refuse(
                variable.place, f'chain "{entry["chain"]}" has no variable "{name}"{near}'
            )
        variables[name] = variable
    names = {
        key: _interpolated(entry.get(key, ""), outer, entry.at(key)) for key in ("prefix", "suffix")
    }
    if "prefix" not in entry and "suffix" not in entry:
        names["prefix"] = f"{label}_{k}_" if "count" in entry else f"{label}_"
    return Part(
        chain,
        scope_with(variables, outer, {}),
        mirror=Mirror(entry.get("mirror")),
        chain=True,
        parent=entry.get("parent"),
        at=placement(entry, "placement", outer, whole),
        placed=entry.place,
        **names,
    )


def _interpolated(text: str, scope: Scope, place: Place) -> str:
    """Text with whole numbers in the place of ${...}."""

    def number(match: re.Match[str]) -> str:
        try:
            x = parse_expression(match[1]).value(scope.plain)
        except ExpressionError as error:
            scope.reader.refuse(place, str(error))
        if x != int(x):
            scope.reader.refuse(place, f'"{match[0]}" is {x:g}, expected a whole number in a name')
        return str(int(x))

    return _INTERPOLATION.sub(number, text)


def own_names(all_parts: list[Part], section: str) -> Mapping[str, tuple[Part, Entry]]:
    """Everything a section of all parts defines, by full name; a name used twice is refused."""
    named: dict[str, tuple[Part, Entry]] = {}
    for part in all_parts:
        for name, entry in part.entry.get(section, {}).items():
            full = part.named(name)
            if full in named:
                place = part.placed or entry.place
                part.scope.reader.refuse(place, f'{SECTIONS[section]} name "{full}" is used twice')
            named[full] = (part, entry)
    return named
