"""Checks of closed-loop elements: names that exist, words that are known, numbers that make
sense."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NoReturn, get_args

from linkwork.errors import InvalidModel, did_you_mean
from linkwork.model.element_fields import Role, fields_of
from linkwork.model.elements import (
    DIRECTIONS,
    OTHERS,
    Bar,
    Coupling,
    Damper,
    Differential,
    Element,
    FourBar,
    Gear,
    LinearActuator,
    LoopClosure,
    Point,
    Share,
    Slider,
    Spring,
    Stiffness,
)
from linkwork.model.joint import Joint
from linkwork.model.number import finite, has_symbols, is_symbol, norm, scale


def checked_elements(
    elements: tuple[Element, ...], bodies: set[str], joints: dict[str, Joint]
) -> tuple[Element, ...]:
    """The elements with unit axes, or InvalidModel with a sentence that names the culprit."""
    named = [e for e in elements if not isinstance(e, (Share, Stiffness))]
    for element in elements:
        if type(element) not in get_args(Element):
            known = ", ".join(kind.word for kind in get_args(Element))
            raise InvalidModel(f"{element!r} is no closed-loop element; linkwork knows {known}")
    for name, count in Counter(e.name for e in named).items():
        if count > 1:
            raise InvalidModel(f'element name "{name}" is used {count} times', ("element", name))
        if not name:
            raise InvalidModel("an element has an empty name")
    for e in named:
        if e.name in joints:
            raise InvalidModel(
                f"{about(e)} has the name of a joint, expected another name", ("element", e.name)
            )
    all_names = _Known(elements, bodies, joints)
    return tuple(_Check(element, all_names).passed() for element in elements)


def about(element: Element) -> str:
    """`actuator "lift"`, for sentences."""
    name = (
        getattr(element, "name", None)
        or getattr(element, "body", None)
        or getattr(element, "support", "")
    )
    return f'{element.word} "{name}"'


class _Known:
    """What elements name, collected once for all of them: a file of n elements costs n."""

    def __init__(
        self, elements: tuple[Element, ...], bodies: set[str], joints: dict[str, Joint]
    ) -> None:
        carriers = (LinearActuator, Slider, LoopClosure)
        self.bodies, self.joints = bodies, joints
        self.bars = {e.name: e for e in reversed(elements) if isinstance(e, Bar)}
        self.holders = bodies | self.bars.keys()
        self.supports = joints.keys() | {e.name for e in elements if isinstance(e, carriers)}
        self.sliders: dict[str, list[str]] = {}
        for e in elements:
            if isinstance(e, Slider):
                self.sliders.setdefault(e.bar, []).append(e.name)


class _Check:
    """The checks of one element among all of them."""

    def __init__(self, element: Any, known: _Known) -> None:
        self.e, self.known = element, known

    def passed(self) -> Element:
        changes: dict[str, Any] = {}
        kind: type = type(self.e)
        for label, field in fields_of(kind).items():
            value = getattr(self.e, label)
            if value is not None and value is not field.default:  # a default is right (tests/model)
                self._field(label, value, field.role, changes)
        _TOGETHER.get(kind, _Check.alone)(self)
        return replace(self.e, **changes) if changes else self.e

    def fail(self, sentence: str) -> NoReturn:
        raise InvalidModel(f"{about(self.e)}: {sentence}", ("element", getattr(self.e, "name", "")))

    def _field(self, label: str, value: Any, role: Role, changes: dict[str, Any]) -> None:
        """What a field must be by its role alone; axes are made units."""
        match role.kind:
            case "point":
                self._point(label, value, role.on_bars)
            case "axis" | "direction":
                unit = self._unit(label)
                if unit is not value:
                    changes[label] = unit
            case "number" | "coordinate":
                self._number(label, value, role)
            case "word":
                self.one_of(label, role.choices)
            case "words":
                self._words(label, value, role.choices)
            case "branch":
                self.one_of(label, (1, -1))
            case "joint":
                self.joint(value, role.what, role.coordinates)
            case "joints":
                for name in value:
                    self.joint(name, role.what, role.coordinates)

    def _point(self, label: str, point: Point, on_bars: bool) -> None:
        holders = self.known.holders
        if point.body is not None and point.body not in holders:
            self.fail(
                f'{label} is on body "{point.body}", which does not '
                f"exist{did_you_mean(point.body, holders)}"
            )
        if point.body in self.known.bars and not on_bars:
            self.fail(f'{label} is on bar "{point.body}"; only springs and dampers pull at bars')
        if len(point.position) != 3 or not finite(point.position):
            self.fail(f"{label} at {point.position}, expected three finite numbers")

    def _number(self, label: str, value: Any, role: Role) -> None:
        if is_symbol(value):
            return
        if not (math.isfinite(value) or (role.infinite and not math.isnan(value))):
            self.fail(f"{label} is {value:g}, expected {_EXPECTED[role.sign]}")
        if (role.sign == "positive" and not value > 0.0) or (
            role.sign == "not negative" and not value >= 0.0
        ):
            self.fail(f"{label} is {value:g}, expected {_EXPECTED[role.sign]}")

    def _words(self, label: str, words: tuple[str, ...], choices: tuple[str, ...]) -> None:
        if not words or len(set(words)) != len(words) or not set(words) <= set(choices):
            self.fail(f"{label} are {words}, expected some of {', '.join(choices)}, each once")

    def _unit(self, label: str) -> tuple:
        axis = getattr(self.e, label)
        if has_symbols(axis):
            self.fail(f"{label} depends on a live variable, expected plain numbers")
        length = norm(axis) if len(axis) == 3 and finite(axis) else 0.0
        if not length > 1e-12:
            self.fail(f"{label} {tuple(axis)}, expected a direction")
        return axis if abs(length - 1.0) < 1e-15 else scale(1.0 / length, axis)

    def joint(self, name: str, what: str = "joint", coordinates: int | None = 1) -> None:
        joints = self.known.joints
        if name not in joints:
            self.fail(f'{what} "{name}" does not exist{did_you_mean(name, joints)}')
        joint = joints[name]
        if joint.mimic is not None:
            self.fail(
                f'{what} "{name}" follows joint "{joint.mimic.joint}"; name '
                f'"{joint.mimic.joint}" instead'
            )
        if joint.nv == 0 or (coordinates is not None and joint.nv != coordinates):
            wanted = (
                "a moving joint" if coordinates is None else f"a joint of {coordinates} coordinate"
            )
            self.fail(
                f'{what} "{name}" ({joint.type}) has {joint.nv} coordinates, expected {wanted}'
            )

    def one_of(self, label: str, choices: Iterable[Any]) -> None:
        value, choices = getattr(self.e, label), tuple(choices)
        if value not in choices:
            self.fail(f"{label} is {value!r}, expected one of {', '.join(map(repr, choices))}")

    def apart(self, first: str, second: str) -> None:
        a, b = getattr(self.e, first), getattr(self.e, second)
        if a.body == b.body:
            self.fail(
                f'{first} and {second} are both on body "{a.body or "world"}": it would '
                "join nothing"
            )

    # what several fields say together, one method an element

    def actuator(self) -> None:
        e = self.e
        self.apart("foot", "head")
        if is_symbol(e.rod) or e.rod:
            if e.ends != "ball":
                self.fail("a rod between a carriage and a head has ball ends, expected ends: ball")
        elif not is_symbol(e.lower) and e.lower < 0.0:
            self.fail(f"lower is {e.lower:g}, expected {_EXPECTED['not negative']}")
        if not has_symbols((e.lower, e.upper)) and not e.lower < e.upper:
            self.fail(f"stroke {e.lower:g} .. {e.upper:g} m is empty")

    def gear(self) -> None:
        if not is_symbol(self.e.ratio) and self.e.ratio == 0.0:
            self.fail("ratio is 0, expected another number")

    def differential(self) -> None:
        e, n = self.e, len(self.e.joints)
        if len(e.motors) != n or len(e.matrix) != n or any(len(row) != n for row in e.matrix):
            self.fail(
                f"{n} joints and {len(e.motors)} motors need a matrix of {n} x {n}, and as many "
                "motors as joints"
            )
        if e.offset and len(e.offset) != n:
            self.fail(f"offset has {len(e.offset)} numbers, expected {n}")

    def four_bar(self) -> None:
        if not self.e.loops:
            self.fail("has no loop, expected one (four-bar) or two (six-bar)")
        for k, loop in enumerate(self.e.loops):
            lengths = (loop.ground, loop.crank, loop.coupler, loop.rocker)
            if not has_symbols(lengths):
                if not (finite(lengths) and min(lengths) > 0.0):
                    self.fail(f"loop {k} has lengths {lengths}, expected positive numbers")
                if max(lengths) >= sum(lengths) - max(lengths):
                    self.fail(
                        f"loop {k}: the longest of {lengths} exceeds the other three, so it cannot "
                        "be assembled"
                    )
            if loop.branch not in (1, -1):
                self.fail(f"loop {k}: branch is {loop.branch!r}, expected 1 or -1")

    def coupling(self) -> None:
        if len(self.e.terms) < 2:
            self.fail(f"has {len(self.e.terms)} terms, expected two or more")
        for name, k in self.e.terms:
            self.joint(name)
            if not is_symbol(k) and not (math.isfinite(k) and k != 0.0):
                self.fail(f'coefficient of joint "{name}" is {k}, expected a number other than 0')

    def between_points(self) -> None:
        self.apart("first", "second")

    def bar(self) -> None:
        sliders = self.known.sliders.get(self.e.name, [])
        if len(sliders) != 1:
            self.fail(f"{len(sliders)} sliders carry its tip ({', '.join(sliders)}), expected one")

    def slider(self) -> None:
        bar = self.known.bars.get(self.e.bar)
        if bar is None:
            self.fail(
                f'bar "{self.e.bar}" does not exist{did_you_mean(self.e.bar, self.known.bars)}'
            )
        if bar.pivot.body == self.e.guide.body:
            self.fail(f'its guide and the pivot of bar "{self.e.bar}" are on one body')

    def closure(self) -> None:
        e = self.e
        self.apart("first", "second")
        if e.kind == "distance" and not is_symbol(e.length) and not e.length > 0.0:
            self.fail(f"length is {e.length:g}, expected {_EXPECTED['positive']}")
        if e.kind == "pin_in_slot":
            axis, direction = (self._unit(label) for label in ("axis", "direction"))
            if abs(sum(a * b for a, b in zip(axis, direction))) > 1.0 - 1e-12:
                self.fail(
                    f"axis {e.axis} and direction {e.direction} are parallel, expected a slot "
                    "across its pin"
                )

    def alone(self) -> None:
        """Nothing beyond its fields."""

    def share(self) -> None:
        e = self.e
        if e.body not in self.known.bodies:
            self.fail(f"the body does not exist{did_you_mean(e.body, self.known.bodies)}")
        self.one_of("direction", DIRECTIONS)
        self.one_of("others", OTHERS)
        self._supports([name for name, _ in e.parts])
        fractions = [f for _, f in e.parts]
        if not has_symbols(tuple(fractions)) and abs(sum(fractions) - 1.0) > 1e-9:
            self.fail(f"fractions of {e.direction} sum to {sum(fractions):g}, expected 1")

    def stiffness(self) -> None:
        self._supports([self.e.support])
        weights = self.e.weights
        if len(weights) != 6 or not (
            has_symbols(tuple(weights)) or (finite(weights) and min(weights) > 0.0)
        ):
            self.fail(f"weights are {tuple(weights)}, expected six positive numbers")

    def _supports(self, names: list[str]) -> None:
        supports = self.known.supports
        for name in names:
            if name not in supports:
                self.fail(
                    "there is no joint, actuator, slider or closure "
                    f'"{name}"{did_you_mean(name, supports)}'
                )


_TOGETHER: dict[type, Callable[[_Check], None]] = {
    LinearActuator: _Check.actuator,
    Gear: _Check.gear,
    Differential: _Check.differential,
    FourBar: _Check.four_bar,
    Coupling: _Check.coupling,
    Spring: _Check.between_points,
    Damper: _Check.between_points,
    Bar: _Check.bar,
    Slider: _Check.slider,
    LoopClosure: _Check.closure,
    Share: _Check.share,
    Stiffness: _Check.stiffness,
}
_EXPECTED = {
    "any": "a finite number",
    "positive": "a positive number",
    "not negative": "a number that is not negative",
}
