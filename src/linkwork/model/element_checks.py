"""Checks of closed-loop elements: names that exist, words that are known, numbers that make sense."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from linkwork.errors import InvalidModel, did_you_mean
from linkwork.model.elements import (
    CLOSURE_KINDS,
    DIRECTIONS,
    ENDS,
    OTHERS,
    SPRING_KINDS,
    WELD_DIRECTIONS,
    Bar,
    Belt,
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
    TorsionSpring,
)
from linkwork.model.joint import Joint
from linkwork.model.number import has_symbols, is_symbol, norm, scale

WORDS: dict[type, str] = {
    LinearActuator: "actuator",
    Gear: "gear",
    Belt: "belt",
    Differential: "differential",
    FourBar: "four-bar drive",
    Coupling: "coupling",
    Spring: "spring",
    TorsionSpring: "torsion spring",
    Damper: "damper",
    Bar: "bar",
    Slider: "slider",
    LoopClosure: "closure",
    Share: "sharing rule",
    Stiffness: "stiffness",
}


def checked_elements(elements: tuple[Element, ...], bodies: set[str], joints: dict[str, Joint]) -> tuple[Element, ...]:
    """The elements with unit axes, or InvalidModel with a sentence that names the culprit."""
    named = [e for e in elements if not isinstance(e, (Share, Stiffness))]
    for element in elements:
        if type(element) not in WORDS:
            raise InvalidModel(f"{element!r} is no closed-loop element; linkwork knows {', '.join(WORDS.values())}")
    for name, count in Counter(e.name for e in named).items():
        if count > 1:
            raise InvalidModel(f'element name "{name}" is used {count} times', ("element", name))
        if not name:
            raise InvalidModel("an element has an empty name")
    for e in named:
        if e.name in joints:
            raise InvalidModel(f"{about(e)} has the name of a joint, expected another name", ("element", e.name))
    return tuple(_Check(element, elements, bodies, joints).passed() for element in elements)


def about(element: Element) -> str:
    """`actuator "lift"`, for sentences."""
    name = getattr(element, "name", None) or getattr(element, "body", None) or getattr(element, "support", "")
    return f'{WORDS[type(element)]} "{name}"'


class _Check:
    """The checks of one element among all of them."""

    def __init__(self, element: Any, elements: tuple, bodies: set[str], joints: dict[str, Joint]) -> None:
        self.e, self.elements, self.bodies, self.joints = element, elements, bodies, joints
        self.bars = {e.name for e in elements if isinstance(e, Bar)}

    def passed(self) -> Element:
        self._points()
        _CHECKS[type(self.e)](self)
        changes = {label: self._unit(label) for label in ("axis", "second_axis", "direction") if self._is_axis(label)}
        return replace(self.e, **changes) if changes else self.e

    def fail(self, sentence: str) -> None:
        raise InvalidModel(f"{about(self.e)}: {sentence}", ("element", getattr(self.e, "name", "")))

    def _points(self) -> None:
        known = self.bodies | self.bars
        for field in fields(self.e):
            point = getattr(self.e, field.name)
            if not isinstance(point, Point):
                continue
            if point.body is not None and point.body not in known:
                near = did_you_mean(point.body, known)
                self.fail(f'{field.name} is on body "{point.body}", which does not exist{near}')
            if point.body in self.bars and not isinstance(self.e, (Spring, Damper)):
                self.fail(f'{field.name} is on bar "{point.body}"; only springs and dampers pull at bars')
            if len(point.position) != 3 or not _finite(point.position):
                self.fail(f"{field.name} at {point.position}, expected three finite numbers")

    def _is_axis(self, label: str) -> bool:
        return getattr(self.e, label, None) is not None and not isinstance(getattr(self.e, label), str)

    def _unit(self, label: str) -> tuple:
        axis = getattr(self.e, label)
        if has_symbols(axis):
            self.fail(f"{label} depends on a live variable, expected plain numbers")
        if len(axis) != 3 or not _finite(axis) or not norm(axis) > 1e-12:
            self.fail(f"{label} {tuple(axis)}, expected a direction")
        return axis if abs(norm(axis) - 1.0) < 1e-15 else scale(1.0 / norm(axis), axis)

    def joint(self, name: str, what: str = "joint", coordinates: int | None = 1) -> None:
        if name not in self.joints:
            self.fail(f'{what} "{name}" does not exist{did_you_mean(name, self.joints)}')
        joint = self.joints[name]
        if joint.mimic is not None:
            self.fail(f'{what} "{name}" follows joint "{joint.mimic.joint}"; name "{joint.mimic.joint}" instead')
        if joint.nv == 0 or (coordinates is not None and joint.nv != coordinates):
            wanted = "a moving joint" if coordinates is None else f"a joint of {coordinates} coordinate"
            self.fail(f'{what} "{name}" ({joint.type}) has {joint.nv} coordinates, expected {wanted}')

    def one_of(self, label: str, choices: Iterable[Any]) -> None:
        value, choices = getattr(self.e, label), tuple(choices)
        if value not in choices:
            self.fail(f"{label} is {value!r}, expected one of {', '.join(map(repr, choices))}")

    def positive(self, *labels: str) -> None:
        for label in labels:
            value = getattr(self.e, label)
            if not is_symbol(value) and not (math.isfinite(value) and value > 0.0):
                self.fail(f"{label} is {value:g}, expected a positive number")

    def not_negative(self, *labels: str) -> None:
        for label in labels:
            value = getattr(self.e, label)
            if not is_symbol(value) and not (math.isfinite(value) and value >= 0.0):
                self.fail(f"{label} is {value:g}, expected a number that is not negative")

    def finite(self, *labels: str) -> None:
        for label in labels:
            if not _finite((getattr(self.e, label),)):
                self.fail(f"{label} is {getattr(self.e, label)}, expected a finite number")

    def apart(self, first: str, second: str) -> None:
        a, b = getattr(self.e, first), getattr(self.e, second)
        if a.body == b.body:
            self.fail(f'{first} and {second} are both on body "{a.body or "world"}": it would join nothing')

    def actuator(self) -> None:
        e = self.e
        self.apart("foot", "head")
        self.one_of("ends", ENDS)
        self.one_of("branch", (1, -1))
        self.not_negative("rod")
        if is_symbol(e.rod) or e.rod:
            if e.ends != "ball":
                self.fail("a rod between a carriage and a head has ball ends, expected ends: ball")
        else:
            self.not_negative("lower")
        if e.joint is not None:
            self.joint(e.joint, coordinates=None)
        if not has_symbols((e.lower, e.upper)) and not e.lower < e.upper:
            self.fail(f"stroke {e.lower:g} .. {e.upper:g} m is empty")

    def gear(self) -> None:
        self.joint(self.e.joint)
        self.finite("ratio", "offset")
        if not is_symbol(self.e.ratio) and self.e.ratio == 0.0:
            self.fail("ratio is 0, expected another number")

    def belt(self) -> None:
        self.joint(self.e.joint)
        self.positive("driving_radius", "driven_radius")
        if self.e.carrier is not None:
            self.joint(self.e.carrier, "carrier")

    def differential(self) -> None:
        e, n = self.e, len(self.e.joints)
        for name in e.joints:
            self.joint(name)
        if len(e.motors) != n or len(e.matrix) != n or any(len(row) != n for row in e.matrix):
            self.fail(f"{n} joints and {len(e.motors)} motors need a matrix of {n} x {n}, and as many motors as joints")
        if e.offset and len(e.offset) != n:
            self.fail(f"offset has {len(e.offset)} numbers, expected {n}")

    def four_bar(self) -> None:
        self.joint(self.e.joint)
        if not self.e.loops:
            self.fail("has no loop, expected one (four-bar) or two (six-bar)")
        for k, loop in enumerate(self.e.loops):
            lengths = (loop.ground, loop.crank, loop.coupler, loop.rocker)
            if not has_symbols(lengths):
                if not (_finite(lengths) and min(lengths) > 0.0):
                    self.fail(f"loop {k} has lengths {lengths}, expected positive numbers")
                if max(lengths) >= sum(lengths) - max(lengths):
                    self.fail(f"loop {k}: the longest of {lengths} exceeds the other three, so it cannot be assembled")
            if loop.branch not in (1, -1):
                self.fail(f"loop {k}: branch is {loop.branch!r}, expected 1 or -1")

    def coupling(self) -> None:
        if len(self.e.terms) < 2:
            self.fail(f"has {len(self.e.terms)} terms, expected two or more")
        for name, k in self.e.terms:
            self.joint(name)
            if not is_symbol(k) and not (math.isfinite(k) and k != 0.0):
                self.fail(f'coefficient of joint "{name}" is {k}, expected a number other than 0')

    def spring(self) -> None:
        self.apart("first", "second")
        self.one_of("kind", SPRING_KINDS)
        self.one_of("ends", ENDS)
        self.not_negative("stiffness", "free_length")
        self.finite("pretension")

    def torsion_spring(self) -> None:
        self.joint(self.e.joint)
        self.not_negative("stiffness")
        self.finite("free", "pretension")

    def damper(self) -> None:
        self.apart("first", "second")
        self.not_negative("damping")

    def bar(self) -> None:
        self.positive("length")
        self.one_of("branch", (1, -1))
        sliders = [e.name for e in self.elements if isinstance(e, Slider) and e.bar == self.e.name]
        if len(sliders) != 1:
            self.fail(f"{len(sliders)} sliders carry its tip ({', '.join(sliders)}), expected one")

    def slider(self) -> None:
        bars = [e for e in self.elements if isinstance(e, Bar) and e.name == self.e.bar]
        if not bars:
            self.fail(f'bar "{self.e.bar}" does not exist{did_you_mean(self.e.bar, self.bars)}')
        if bars[0].pivot.body == self.e.guide.body:
            self.fail(f'its guide and the pivot of bar "{self.e.bar}" are on one body')

    def closure(self) -> None:
        e = self.e
        self.apart("first", "second")
        self.one_of("kind", CLOSURE_KINDS)
        if e.kind == "distance":
            self.positive("length")
        if e.kind == "weld":
            unknown = [d for d in e.directions if d not in WELD_DIRECTIONS]
            if unknown or not e.directions or len(set(e.directions)) != len(e.directions):
                self.fail(f"directions are {e.directions}, expected some of {', '.join(WELD_DIRECTIONS)}, each once")
        if e.kind == "pin_in_slot":
            axis, direction = (self._unit(label) for label in ("axis", "direction"))
            if abs(sum(a * b for a, b in zip(axis, direction))) > 1.0 - 1e-12:
                self.fail(f"axis {e.axis} and direction {e.direction} are parallel, expected a slot across its pin")
        for name in e.dependent:
            self.joint(name, "dependent joint", coordinates=None)

    def share(self) -> None:
        e = self.e
        if e.body not in self.bodies:
            self.fail(f"the body does not exist{did_you_mean(e.body, self.bodies)}")
        self.one_of("direction", DIRECTIONS)
        self.one_of("others", OTHERS)
        self._supports([name for name, _ in e.parts])
        fractions = [f for _, f in e.parts]
        if not has_symbols(tuple(fractions)) and abs(sum(fractions) - 1.0) > 1e-9:
            self.fail(f"fractions of {e.direction} sum to {sum(fractions):g}, expected 1")

    def stiffness(self) -> None:
        self._supports([self.e.support])
        weights = self.e.weights
        if len(weights) != 6 or not (has_symbols(tuple(weights)) or (_finite(weights) and min(weights) > 0.0)):
            self.fail(f"weights are {tuple(weights)}, expected six positive numbers")

    def _supports(self, names: list[str]) -> None:
        carriers = (LinearActuator, Slider, LoopClosure)
        known = [*self.joints, *(e.name for e in self.elements if isinstance(e, carriers))]
        for name in names:
            if name not in known:
                self.fail(f'there is no joint, actuator, slider or closure "{name}"{did_you_mean(name, known)}')


_CHECKS = {
    LinearActuator: _Check.actuator,
    Gear: _Check.gear,
    Belt: _Check.belt,
    Differential: _Check.differential,
    FourBar: _Check.four_bar,
    Coupling: _Check.coupling,
    Spring: _Check.spring,
    TorsionSpring: _Check.torsion_spring,
    Damper: _Check.damper,
    Bar: _Check.bar,
    Slider: _Check.slider,
    LoopClosure: _Check.closure,
    Share: _Check.share,
    Stiffness: _Check.stiffness,
}


def _finite(numbers: Iterable[Any]) -> bool:
    return all(has_symbols(x) or (isinstance(x, (int, float)) and math.isfinite(x)) for x in numbers)
