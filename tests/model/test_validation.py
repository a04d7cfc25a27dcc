"""Validation: every contradiction in a model gives a sentence that names the culprit."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import casadi
import pytest

from linkwork.errors import InvalidModel, UnknownName
from linkwork.model import (
    Body,
    Frame,
    Joint,
    Limits,
    MassProperties,
    Mimic,
    Model,
    Placement,
    validated,
)
from linkwork.model.joint import TYPES
from linkwork.model.validation import well_formed
from tests.random_models import random_model

A, B, C = Body("a"), Body("b", points=(("tip", (1.0, 0.0, 0.0)),)), Body("c")
FIRST, SECOND = Joint("first", "revolute", "a", "b"), Joint("second", "prismatic", "b", "c")
ARM = Model("arm", (A, B, C), (FIRST, SECOND), (Frame("tool", "c"),))


def heavy(x: float, y: float, z: float, mass: float = 1.0) -> Body:
    return Body("a", MassProperties(mass, inertia=((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))))


def first(**changes: object) -> Model:
    return replace(ARM, joints=(replace(FIRST, **changes), SECOND))


NAN = math.nan
WRONG = {
    "no bodies": (Model("arm", (), ()), 'robot "arm" has no bodies'),
    "two bodies of a name": (replace(ARM, bodies=(A, B, C, A)), 'body name "a" is used 2 times'),
    "two joints of a name": (first(name="second"), 'joint name "second" is used 2 times'),
    "two frames of a name": (
        replace(ARM, frames=ARM.frames * 3),
        'frame name "tool" is used 3 times',
    ),
    "an empty name": (replace(ARM, bodies=(A, B, C, Body(""))), "a body has an empty name"),
    "unknown parent": (
        first(parent="aa"),
        'joint "first": parent body "aa" is unknown; did you mean "a"?',
    ),
    "unknown child": (first(child="x"), 'joint "first": child body "x" is unknown'),
    "child of two": (
        replace(ARM, joints=(FIRST, SECOND, Joint("third", "fixed", "a", "c"))),
        'body "c" is the child of two joints, "second" and "third"; close loops with a '
        "loop element",
    ),
    "circle": (
        replace(ARM, joints=(FIRST, SECOND, Joint("third", "fixed", "c", "a"))),
        'body "b" is its own ancestor: b <- a <- c <- b',
    ),
    "on itself": (first(parent="b"), 'body "b" is its own ancestor: b <- b'),
    "unknown type": (
        first(type="revolut"),
        'joint "first" has type "revolut"; linkwork knows fixed, revolute',
    ),
    "zero axis": (
        first(axis=(0.0, 0.0, 0.0)),
        'joint "first": axis (0.0, 0.0, 0.0) has length zero',
    ),
    "nearly zero axis": (first(axis=(1e-13, 0.0, 0.0)), "has length zero, expected a direction"),
    "nan axis": (first(axis=(NAN, 0.0, 1.0)), 'joint "first": axis (nan, 0.0, 1.0) is not finite'),
    "endless axis": (first(axis=(1.5e308, 1.5e308, 1.5e308)), "has length beyond the numbers"),
    "zero second axis": (
        first(type="universal", second_axis=(0.0, 0.0, 0.0)),
        "second_axis (0.0, 0.0, 0.0) has length",
    ),
    "parallel axes": (
        first(type="universal", second_axis=(0.0, 0.0, -2.0)),
        "are parallel, expected two directions",
    ),
    "nan pitch": (first(type="helical", pitch=NAN), 'joint "first": pitch nan is not finite'),
    "limits reversed": (
        first(limits=(Limits(1.0, -1.0),)),
        'joint "first": lower limit 1 is above upper limit -1',
    ),
    "nan limit": (first(limits=(Limits(NAN, 1.0),)), "lower limit nan is above upper limit 1"),
    "negative speed": (
        first(limits=(Limits(velocity=-1.0),)),
        "velocity limit -1 and effort limit inf must not be",
    ),
    "nan effort": (first(limits=(Limits(effort=NAN),)), "effort limit nan must not be negative"),
    "too many limits": (first(limits=(Limits(),) * 2), 'joint "first" has 2 limits, expected 1'),
    "negative damping": (
        first(damping=-1.0),
        'joint "first": damping -1 must be finite and not negative',
    ),
    "infinite friction": (first(friction=math.inf), "friction inf must be finite"),
    "two armatures": (first(armature=(1.0, 2.0)), "armature has 2 numbers, expected 1 or 1"),
    "nan armature": (first(type="planar", armature=(1.0, NAN, 2.0)), "armature nan must be finite"),
    "nan place": (
        first(placement=Placement(position=(0.0, NAN, 0.0))),
        'joint "first": its placement is not finite',
    ),
    "crooked place": (
        first(placement=Placement(((1.0, 0.0, 0.0), (0.0, 1.0, 0.1), (0.0, 0.0, 1.0)))),
        'joint "first": its rotation is not orthogonal: R\'R differs from 1 by 0.1',
    ),
    "leader unknown": (
        first(mimic=Mimic("secon")),
        'joint "first" mimics joint "secon", which does not exist; did you',
    ),
    "leader of many": (
        replace(
            first(mimic=Mimic("second")),
            joints=(replace(FIRST, mimic=Mimic("second")), replace(SECOND, type="ball")),
        ),
        'joint "first" (revolute) mimics "second" (ball): both must have one coordinate',
    ),
    "follower fixed": (first(type="fixed", mimic=Mimic("second")), "both must have one coordinate"),
    "mimic in a circle": (
        replace(
            ARM,
            joints=(replace(FIRST, mimic=Mimic("second")), replace(SECOND, mimic=Mimic("first"))),
        ),
        "joints mimic each other in a circle: first -> second -> first",
    ),
    "nan mimic": (
        first(mimic=Mimic("second", NAN)),
        'joint "first": mimic multiplier and offset must be finite',
    ),
    "frame on nothing": (
        replace(ARM, frames=(Frame("tool", "d"),)),
        'frame "tool": body "d" is unknown',
    ),
    "frame named as a body": (
        replace(ARM, frames=(Frame("a", "b"),)),
        'frame "a" has the name of a body',
    ),
    "nan frame": (
        replace(ARM, frames=(Frame("tool", "b", Placement(position=(NAN, 0.0, 0.0))),)),
        'frame "tool": its placement is not finite',
    ),
    "two points of a name": (
        replace(ARM, bodies=(A, replace(B, points=B.points * 2), C)),
        'point name "tip" is used 2 times',
    ),
    "nan point": (
        replace(ARM, bodies=(A, replace(B, points=(("tip", (NAN, 0.0, 0.0)),)), C)),
        'body "b": point "tip" at (nan, 0.0, 0.0) is not finite',
    ),
    "line to nowhere": (
        replace(ARM, bodies=(A, replace(B, lines=(("tip", "tap"),)), C)),
        'body "b": a line ends at point "tap", which it does not have; did you mean "tip"?',
    ),
    "nan gravity": (replace(ARM, gravity=(0.0, 0.0, NAN)), "gravity (0.0, 0.0, nan) is not finite"),
    "negative mass": (
        replace(ARM, bodies=(heavy(1, 1, 1, -2.0), B, C)),
        'robot "arm", body "a": mass -2 kg is negative',
    ),
    "negative inertia": (
        replace(ARM, bodies=(heavy(-1, 1, 1), B, C)),
        'body "a": principal moments -1, 1, 1',
    ),
    "triangle": (replace(ARM, bodies=(heavy(1, 1, 3), B, C)), "violate A + B >= C by 1 kg m^2"),
    "nan mass": (replace(ARM, bodies=(heavy(1, 1, 1, NAN), B, C)), "is not finite"),
}


@pytest.mark.parametrize(("model", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_by_name(model, sentence):
    with pytest.raises(InvalidModel) as caught:
        validated(model)
    assert sentence in str(caught.value)


def test_the_culprit_is_told_apart_from_the_sentence():
    with pytest.raises(InvalidModel) as caught:
        validated(first(axis=(0.0, 0.0, 0.0)))
    assert caught.value.culprit == ("joint", "first")
    assert pickle.loads(pickle.dumps(caught.value)).culprit == ("joint", "first")


@pytest.mark.parametrize("type", TYPES)
def test_axes_become_unit_vectors_where_they_mean_something(type):
    model = first(type=type, axis=(0.0, 3.0, 4.0), second_axis=(5.0, 0.0, 0.0), limits=())
    joint = validated(model).joint("first")
    assert joint.axis == (
        (0.0, 3.0, 4.0) if type in ("fixed", "ball", "floating") else (0.0, 0.6, 0.8)
    )
    assert joint.second_axis == ((1.0, 0.0, 0.0) if type == "universal" else (5.0, 0.0, 0.0))


def test_a_unit_axis_is_left_as_it_stands():
    axis = (0.6, 0.0, 0.8)
    assert validated(first(axis=axis)).joint("first").axis is axis


def test_random_models_are_valid():
    for seed in range(10):
        model = random_model(seed, bodies=30)
        assert validated(model).bodies == model.bodies


def test_any_warns_once_and_lists_the_bodies(caplog):
    broken = replace(ARM, bodies=(heavy(1, 1, 3), replace(heavy(-1, 1, 1), name="b"), C), frames=())
    validated(broken, check="any")
    (record,) = caplog.records
    assert (
        'robot "arm": 2 bodies are not physical: "a": principal moments 1, 1, 3' in record.message
    )
    assert '"b": principal moments -1, 1, 1' in record.message
    with pytest.raises(InvalidModel, match='body "b"'):
        validated(broken, check="positive")


def test_an_unknown_level_is_refused():
    with pytest.raises(InvalidModel, match='check level "strict" is unknown'):
        validated(ARM, check="strict")


def test_long_chains_are_checked_in_no_time():
    """20 000 bodies in a row that mimic each other: a quadratic walk would take minutes."""
    n = 20_000
    bodies = tuple(Body(f"b{i}") for i in range(n))
    joints = tuple(
        Joint(
            f"j{i}",
            "revolute",
            f"b{i}",
            f"b{i + 1}",
            mimic=Mimic(f"j{i + 1}") if i < n - 2 else None,
        )
        for i in reversed(range(n - 1))
    )
    assert len(well_formed(Model("chain", bodies, joints)).joints) == n - 1


def test_symbols_are_left_to_the_trace():
    length = casadi.SX.sym("length")
    model = first(
        placement=Placement(position=(length, 0.0, 0.0)), axis=(length, 0.0, 1.0), damping=length
    )
    joint = validated(model).joint("first")
    assert not isinstance(joint.axis[0], float)
    assert float(casadi.evalf(casadi.substitute(joint.axis[2], length, 1.0))) == pytest.approx(
        math.sqrt(0.5)
    )


def test_names_are_found_or_suggested():
    assert ARM.body("a") is A
    assert ARM.joint("first") is FIRST
    with pytest.raises(UnknownName, match='robot "arm" has no joint "frist"; did you mean "first"'):
        ARM.joint("frist")
    with pytest.raises(LookupError, match='robot "arm" has no body "zzz"'):
        ARM.body("zzz")
