"""Elements: a description that contradicts itself is refused with the culprit's name."""

from __future__ import annotations

import math

import pytest

from linkwork.errors import InvalidModel
from linkwork.model import Joint, Mimic, Model, validated
from linkwork.model.elements import (
    Bar,
    Belt,
    Coupling,
    Damper,
    Differential,
    FourBar,
    FourBarLoop,
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
from tests.loops.machines import link

A, B, WORLD = Point("a"), Point("b", (0.1, 0.0, 0.0)), Point(None)
JOINTS = (
    Joint("ja", "revolute", None, "a"),
    Joint("jb", "revolute", "a", "b"),
    Joint("jc", "revolute", "a", "c", mimic=Mimic("jb")),
    Joint("jd", "ball", "a", "d"),
)
BAR, SLIDER = Bar("bar", A, 0.3), Slider("slider", "bar", B)

REFUSED = [
    (
        (LinearActuator("s", A, Point("x")),),
        'actuator "s": head is on body "x", which does not exist',
    ),
    ((LinearActuator("s", A, A),), 'foot and head are both on body "a": it would join nothing'),
    ((LinearActuator("s", A, B, "jx"),), 'joint "jx" does not exist; did you mean'),
    ((LinearActuator("s", A, B, "jc"),), 'joint "jc" follows joint "jb"; name "jb" instead'),
    ((LinearActuator("s", A, B, branch=0),), "branch is 0, expected one of 1, -1"),
    ((LinearActuator("s", A, B, ends="weld"),), "ends is 'weld', expected one of 'ball', 'hinge'"),
    ((LinearActuator("s", A, B, axis=(0.0, 0.0, 0.0)),), "axis .*, expected a direction"),
    ((LinearActuator("s", A, B, lower=0.5, upper=0.4),), r"stroke 0.5 .. 0.4 m is empty"),
    ((LinearActuator("s", A, Point("b", (0.0, math.nan, 0.0))),), "expected three finite numbers"),
    ((Gear("g", "jb", 0.0),), "ratio is 0"),
    ((Gear("g", "jd"),), r'joint "jd" \(ball\) has 3 coordinates, expected a joint of 1'),
    ((Belt("t", "jb", 0.1, -0.1),), "driven_radius is -0.1, expected a positive number"),
    ((Differential("d", ("ja", "jb"), ("m",), ((1.0, 0.0), (0.0, 1.0))),), "2 joints and 1 motors"),
    ((FourBar("f", "jb", ()),), "has no loop"),
    (
        (FourBar("f", "jb", (FourBarLoop(3.0, 1.0, 1.0, 1.0),)),),
        "exceeds the other three, so it cannot be assembled",
    ),
    ((Coupling("k", (("ja", 1.0),)),), "has 1 terms, expected two or more"),
    ((Coupling("k", (("ja", 0.0), ("jb", 1.0))),), 'coefficient of joint "ja" is 0.0'),
    ((Spring("s", A, B, -1.0),), "stiffness is -1, expected a number that is not negative"),
    ((Spring("s", A, B, 1.0, kind="rubber"),), "kind is 'rubber'"),
    ((TorsionSpring("s", "jx", 1.0),), 'joint "jx" does not exist'),
    ((Damper("s", A, B, math.inf),), "damping is inf"),
    ((BAR,), "0 sliders carry its tip"),
    ((SLIDER,), 'bar "bar" does not exist'),
    ((Bar("bar", B, 0.3), SLIDER), "its guide and the pivot of bar"),
    (
        (BAR, SLIDER, LinearActuator("s", Point("bar"), B)),
        'foot is on bar "bar"; only springs and dampers',
    ),
    ((LoopClosure("c", "glue", A, B),), "kind is 'glue', expected one of 'point'"),
    ((LoopClosure("c", "distance", A, B),), "length is 0, expected a positive number"),
    ((LoopClosure("c", "weld", A, B, directions=("x", "x")),), "each once"),
    ((LoopClosure("c", "point", A, B, dependent=("jx",)),), 'dependent joint "jx" does not exist'),
    ((Share("x", "fx", (("ja", 1.0),)),), "the body does not exist"),
    ((Share("a", "f", (("ja", 1.0),)),), "direction is 'f'"),
    ((Share("a", "fx", (("ja", 0.5),)),), "fractions of fx sum to 0.5, expected 1"),
    ((Share("a", "fx", (("jx", 1.0),)),), 'no joint, actuator, slider or closure "jx"'),
    ((Stiffness("ja", (1.0, 1.0)),), "expected six positive numbers"),
    ((Gear("g", "ja"), Gear("g", "jb")), 'element name "g" is used 2 times'),
    ((Gear("ja", "ja"),), "has the name of a joint"),
    (("rope",), "is no closed-loop element"),
]


@pytest.mark.parametrize(("elements", "sentence"), REFUSED, ids=[s[:40] for _, s in REFUSED])
def test_contradictions_are_refused(elements, sentence):
    with pytest.raises(InvalidModel, match=sentence):
        validated(Model("m", tuple(link(x, 0.5) for x in "abcd"), JOINTS, elements=elements))


def test_axes_are_made_unit_and_the_world_is_a_body():
    closure = LoopClosure("c", "hinge", WORLD, B, axis=(0.0, 3.0, 4.0))
    (found,) = validated(
        Model("m", tuple(link(x, 0.5) for x in "abcd"), JOINTS, elements=(closure,))
    ).elements
    assert found.axis == pytest.approx((0.0, 0.6, 0.8))
