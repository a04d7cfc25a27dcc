"""Small closed-loop machines as dataclasses, for tests."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork import quantities
from linkwork.loads.loads import Loads
from linkwork.model import Body, Joint, MassProperties, Model, Placement, validated
from linkwork.model.elements import LinearActuator, LoopClosure, Point, TorsionSpring

SCISSOR = Path(__file__).parent / "scissor_lift.robot.yaml"
HERE = Placement()
Y_DOWN = (0.0, -9.81, 0.0)


def slope(x: np.ndarray, h: float) -> np.ndarray:
    """Derivative along the first axis by the fourth-order central difference;
    two rows shorter at each end."""
    return (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * h)


def link(name: str, length: float, mass: float = 1.0) -> Body:
    """A slender bar along x, centre of mass in the middle."""
    big = mass * length**2 / 12
    inertia = ((1e-4, 0.0, 0.0), (0.0, big + 1e-4, 0.0), (0.0, 0.0, big + 1e-4))
    return Body(
        name, MassProperties(mass, (length / 2, 0.0, 0.0), inertia), (("tip", (length, 0.0, 0.0)),)
    )


def four_bar(
    ground: float = 1.0,
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    kind: str = "hinge",
    extra: tuple = (),
) -> Model:
    """A four-bar in the x-y plane, crank driven; `kind` of the pin that closes it."""
    pin = LoopClosure(
        "pin", kind, Point("coupler", (coupler, 0.0, 0.0)), Point("rocker", (rocker, 0.0, 0.0))
    )
    start = (("crank_joint", (1.0,)), ("coupler_joint", (-0.5,)), ("rocker_joint", (1.8,)))
    return validated(
        Model(
            "four_bar",
            (link("crank", crank), link("coupler", coupler), link("rocker", rocker)),
            (
                Joint("crank_joint", "revolute", None, "crank"),
                Joint(
                    "coupler_joint",
                    "revolute",
                    "crank",
                    "coupler",
                    Placement(position=(crank, 0.0, 0.0)),
                ),
                Joint(
                    "rocker_joint",
                    "revolute",
                    None,
                    "rocker",
                    Placement(position=(ground, 0.0, 0.0)),
                ),
            ),
            elements=(pin, *extra),
            configurations=(("reference", start),),
            gravity=Y_DOWN,
        )
    )


def hinge_with_strut(
    foot, head, axis=(0.0, 0.0, 1.0), branch=1, kind="revolute", placement=HERE, **more
) -> Model:
    """One joint between two bodies, driven by a strut between any two points."""
    strut = LinearActuator(
        "strut", Point("base", foot), Point("arm", head), "joint", branch=branch, **more
    )
    bodies = (link("base", 0.5), link("arm", 0.5))
    joints = (
        Joint("root", "fixed", None, "base"),
        Joint("joint", kind, "base", "arm", placement, axis),
    )
    return validated(Model("strut_machine", bodies, joints, elements=(strut,)))


def stewart_with_legs(height: float = -0.6, stiffness: float = 400.0) -> Model:
    """The points of the built-in Stewart platform with legs that have mass: hinged about y and x,
    sliding on a spring.

    The platform floats; six ball joints hold it, so that its six degrees of freedom are free. It
    hangs at `height`.
    """
    whole = lw.load("stewart-gough").model
    ground, platform = whole.body("ground"), whole.body("platform")
    bodies, elements = [platform], []
    joints = [Joint("free", "floating", None, "platform")]
    start = [("free", (0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0))]
    for k in range(6):
        foot, head = dict(ground.points)[f"B{k}"], dict(platform.points)[f"P{k}"]
        across = np.array(head) + [0.0, 0.0, height] - foot
        length = float(np.linalg.norm(across))
        x, y, z = across / length
        bodies += [
            Body(f"cross{k}", MassProperties(0.2, (0.0, 0.0, 0.0), _diagonal(1e-4, 1e-4, 1e-4))),
            Body(f"tube{k}", MassProperties(1.5, (0.0, 0.0, 0.2), _diagonal(0.02, 0.02, 1e-3))),
            Body(f"rod{k}", MassProperties(0.8, (0.0, 0.0, -0.2), _diagonal(0.011, 0.011, 4e-4))),
        ]
        joints += [
            Joint(
                f"a{k}", "revolute", None, f"cross{k}", Placement(position=foot), (0.0, 1.0, 0.0)
            ),
            Joint(f"b{k}", "revolute", f"cross{k}", f"tube{k}", axis=(1.0, 0.0, 0.0)),
            Joint(f"s{k}", "prismatic", f"tube{k}", f"rod{k}", axis=(0.0, 0.0, 1.0)),
        ]
        elements += [
            LoopClosure(f"ball{k}", "point", Point(f"rod{k}"), Point("platform", head)),
            TorsionSpring(f"spring{k}", f"s{k}", stiffness, length),
        ]
        start += [(f"a{k}", (math.atan2(x, z),)), (f"b{k}", (math.asin(-y),)), (f"s{k}", (length,))]
    reference = (("reference", tuple(start)),)
    return validated(
        Model(
            "stewart",
            tuple(bodies),
            tuple(joints),
            elements=tuple(elements),
            configurations=reference,
        )
    )


def _diagonal(x: float, y: float, z: float) -> tuple:
    return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))


def casadi_loads(robot: lw.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Loads:
    """`robot.loads` by CasADi's evaluation of the trace,
    for robots that need no machine code of their own."""
    function = quantities.trace(robot.subject, "loads")
    q, v, a = np.atleast_2d(q), np.atleast_2d(v), np.atleast_2d(a)
    rows = [
        [np.array(x.full()) for x in function(*given)[:-1]] for given in zip(q, v, a, strict=True)
    ]
    stacked = [np.stack(column) for column in zip(*rows, strict=True)]
    flat = [x[..., 0] if k in (1, 4, 5, 6) else x for k, x in enumerate(stacked)]
    return Loads(robot.subject, q, v, a, *flat)


def scissor_lift() -> lw.Robot:
    return lw.load(SCISSOR)
