"""CHARMIE of digest 04 as dataclasses, with the assumed points: the tests' own copy of the
tables."""

from __future__ import annotations

import math

from linkwork.model import Body, Joint, MassProperties, Mimic, Model, Placement, validated
from linkwork.model.elements import Bar, LinearActuator, Point, Share, Slider, Spring
from linkwork.model.rotation import from_euler

MM = 1e-3
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BASE_HEIGHT = 36.8

# body: mass [kg], centre of mass [mm], Ixx Iyy Izz Ixy Ixz Iyz [kg mm^2] (Tables 3, 4; body 3 Iyz,
# 8c Iyy corrected)
MATTER = {
    "1": (0, (0, 0, 0), (0, 0, 0, 0, 0, 0)),
    "2": (0, (0, 0, 0), (0, 0, 0, 0, 0, 0)),
    "3": (45.7, (-0.5, 16.5, 88.7), (1.3e6, 1.5e6, 1.8e6, 1.4e2, 4.7e3, -5.3e4)),
    "4": (7.8, (0, 21, 330), (1.4e5, 1.9e5, 9.1e4, 2.9e1, -7.3e1, -2.4e4)),
    "5": (2.2, (0, -5.7, 338.5), (5.4e4, 6.6e4, 1.3e4, 1.2, -1.2e1, 1.87e3)),
    "6a": (0.3, (0, 0, 15), (32, 32, 20, 0, 0, 0)),
    "7a": (0.3, (0, 0, 30.8), (100, 100, 20, 0, 0, 0)),
    "8a": (0.4, (0, 0, 72.5), (710, 710, 26, 0, 0, 0)),
    "9a": (0.4, (0, 0, 72.5), (710, 710, 26, 0, 0, 0)),
    "10a": (0.4, (0, 0, 70), (660, 660, 26, 0, 0, 0)),
    "11a": (0.4, (0, 0, 70), (660, 660, 26, 0, 0, 0)),
    "12a": (0.2, (0, 11.6, 28.4), (75, 56, 33, 0, 0, -18)),
    "13a1": (0.1, (-24.7, 0, 17.8), (42, 62, 27, 0, 20, 0)),
    "13a2": (0.1, (24.7, 0, 17.8), (42, 62, 27, 0, -20, 0)),
    "6c": (0.3, (0, -1.3, 5.1), (150, 130, 250, 0, 0, 4.7)),
    "7c": (0.4, (-0.8, 7.1, 9), (300, 260, 520, 2.6, -0.08, 6.8)),
    "8c": (0.8, (-11.8, 15.2, 75.7), (8.5e3, 7.2e3, 4.9e3, 32, 140, -220)),
}
ARM_AXES = {"7": Z, "8": X, "9": Z, "10": X, "11": Z, "12": X}
ARM_OFFSETS = {"7": 30, "8": 61.5, "9": 145, "10": 145, "11": 140, "12": 140}
PLATFORM_RULES = (
    Share("4", "fx", (("joint_4", 1.0),)),
    Share("4", "fy", (("joint_4", 1.0),)),
    Share("4", "mx", (("joint_4", 1.0),)),
    Share("4", "my", (("joint_4", 1.0),)),
    Share("4", "mz", (("slider_left", 0.5), ("slider_right", 0.5))),
)
TORSO_RULES = tuple(Share("5", d, (("joint_5", 0.5), ("act5", 0.5))) for d in ("fx", "my", "mz"))
BALANCING = {
    "pivot": (150.0, -60.0, 200.0),
    "guide": (0.0, -60.0, 60.0),
    "length": 260.0,
    "at": 180.0,
}


def mm(*xyz: float) -> tuple[float, float, float]:
    return tuple(float(x) * MM for x in xyz)


def charmie(
    springs: tuple = (), rules: tuple = PLATFORM_RULES + TORSO_RULES, loops: bool = True
) -> Model:
    """26 main bodies; struts 4d and 5d with hinged ends, balancing bars, springs as asked."""
    elements = (*struts(), *balancing(), *springs, *rules) if loops else ()
    return validated(Model("charmie", tuple(bodies()), tuple(joints()), elements=elements))


def bodies():
    for name in ("1", "2", "3", "4", "5"):
        yield _body(name)
    for side in "ab":
        for k in (*range(6, 13), "131", "132"):
            like = f"13a{k[2]}" if isinstance(k, str) else f"{k}a"
            name = f"13{side}{k[2]}" if isinstance(k, str) else f"{k}{side}"
            points = (("D", mm(0, 0, 102.3)),) if k == 12 else ()
            yield _body(name, like, points)
    for name in ("6c", "7c", "8c"):
        yield _body(name)


def joints():
    yield Joint("joint_1", "prismatic", None, "1", Placement(position=mm(0, 0, BASE_HEIGHT)), X)
    yield Joint("joint_2", "prismatic", "1", "2", axis=Y)
    yield Joint("joint_3", "revolute", "2", "3", axis=Z)
    yield Joint(
        "joint_4", "prismatic", "3", "4", Placement(position=mm(0, 0, 290)), (0.0, 0.0, -1.0)
    )
    yield Joint("joint_5", "revolute", "4", "5", Placement(position=mm(0, 0, 438)), X)
    shoulders = {"a": (mm(-200, -2, 460), (math.pi / 2, -math.pi / 2, math.pi))}
    shoulders["b"] = (mm(200, -2, 460), (math.pi / 2, math.pi / 2, 0.0))
    for side, (at, zxz) in shoulders.items():
        yield Joint(
            f"joint_6{side}", "fixed", "5", f"6{side}", Placement(from_euler("ZXZ", zxz), at)
        )
        before = "6"
        for k, axis in ARM_AXES.items():
            place = Placement(position=mm(0, 0, ARM_OFFSETS[k]))
            yield Joint(f"joint_{k}{side}", "revolute", before + side, k + side, place, axis)
            before = k
        finger = Placement(position=mm(0, 0, 52.3))
        yield Joint(f"joint_13{side}1", "revolute", f"12{side}", f"13{side}1", finger, Y)
        follow = Mimic(f"joint_13{side}1", -1.0)
        yield Joint(
            f"joint_13{side}2", "revolute", f"12{side}", f"13{side}2", finger, Y, mimic=follow
        )
    yield Joint("joint_6c", "fixed", "5", "6c", Placement(position=mm(0, 0, 495)))
    yield Joint("joint_7c", "revolute", "6c", "7c", Placement(position=mm(0, 0, 46.3)), Z)
    yield Joint("joint_8c", "revolute", "7c", "8c", Placement(position=mm(14.8, -5.3, 18.3)), X)


def struts():
    foot4, head4 = Point("3", mm(0, 257.5, 99.5)), Point("4", mm(0, 162.5, 383))
    yield LinearActuator("act4", foot4, head4, "joint_4", branch=-1, ends="hinge", axis=X)
    foot5, head5 = Point("4", mm(0, 87.5, 383)), Point("5", mm(0, 56, 397.2))
    yield LinearActuator("act5", foot5, head5, "joint_5", branch=1, ends="hinge", axis=X)


def balancing():
    """The bars' geometry is not published: these lengths only have to close for act4 = 360 ..
    440 mm."""
    x, y, z = BALANCING["pivot"]
    for side, sign in (("left", -1), ("right", 1)):
        pivot, guide = Point("3", mm(sign * x, y, z)), Point("4", mm(*BALANCING["guide"]))
        yield Bar(f"bar_{side}", pivot, BALANCING["length"] * MM, axis=Y, branch=sign)
        yield Slider(f"slider_{side}", f"bar_{side}", guide, direction=X)


def balancing_springs(lift: float, height: float = 120.0, free_length: float = 40.0):
    """Zero-free-length springs straight above the pivots:
    each lifts with the constant force `lift` [N]."""
    a, b = BALANCING["at"] * MM, BALANCING["length"] * MM
    stiffness = lift * b / (a * height * MM)
    x, y, z = BALANCING["pivot"]
    for side, sign in (("left", -1), ("right", 1)):
        first, second = Point("3", mm(sign * x, y, z + height)), Point(f"bar_{side}", (a, 0.0, 0.0))
        pre = stiffness * free_length * MM
        yield Spring(
            f"spring_{side}", first, second, stiffness, free_length * MM, pre, "tension", "hinge"
        )


def torso_spring(
    stiffness: float = 800.0, free_length: float = 100.0, pretension: float = 20.0
) -> Spring:
    first, second = Point("4", mm(0, -60, 300)), Point("5", mm(0, -40, 250))
    return Spring("5s", first, second, stiffness, free_length * MM, pretension, "tension", "hinge")


def _body(name: str, like: str | None = None, points=()) -> Body:
    mass, com, (xx, yy, zz, xy, xz, yz) = MATTER[like or name]
    scaled = [x * 1e-6 for x in (xx, yy, zz, xy, xz, yz)]
    xx, yy, zz, xy, xz, yz = scaled
    return Body(
        name,
        MassProperties(float(mass), mm(*com), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))),
        points,
    )
