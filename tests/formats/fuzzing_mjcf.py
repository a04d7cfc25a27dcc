"""Generated MJCF for fuzzing: robots that mean something,
and now and then a word that does not fit.

Bodies, joints, geoms, frames, default classes, equalities, tendons, actuators and keyframes are
drawn with the counts and kinds that MJCF asks for, so that most files can be read, here and in
MuJoCo. In a part of them one value, one attribute or one element is replaced by something drawn
from all words of the language.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from linkwork.formats.mjcf.vocabulary import READ

SPOILT = 0.35
"""Share of the files that get something that does not fit."""

ODD_VALUES = (
    "",
    "0",
    "-1",
    "nan",
    "1e308",
    "1 2",
    "true",
    "auto",
    "mesh",
    "x",
    "1e-320",
    "0 0 0",
    "1 2 3 4 5 6 7",
)
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
ORIENTATIONS: dict[str, int] = {"quat": 4, "euler": 3, "axisangle": 4, "zaxis": 3, "xyaxes": 6}


@dataclass
class Named:
    """What has a name so far, for what refers to it."""

    bodies: list[str] = field(default_factory=list)
    hinges: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    coordinates: int = 0


def numbers(rng: random.Random, count: int, least: float = -2.0, most: float = 2.0) -> str:
    return " ".join(f"{rng.uniform(least, most):.4g}" for _ in range(count))


def tag(name: str, attributes: dict[str, str], inside: str = "") -> str:
    words = "".join(f' {word}="{value}"' for word, value in attributes.items())
    return f"<{name}{words}>{inside}</{name}>" if inside else f"<{name}{words}/>"


def maybe(
    rng: random.Random, share: float, attributes: dict[str, Callable[[], str]]
) -> dict[str, str]:
    """Each attribute with that probability."""
    return {word: value() for word, value in attributes.items() if rng.random() < share}


def pose(rng: random.Random) -> dict[str, str]:
    """A position, an orientation in one of the five notations, both or neither."""
    attributes = {"pos": numbers(rng, 3, -1.0, 1.0)} if rng.random() < 0.7 else {}
    if rng.random() < 0.5:
        way = rng.choice(sorted(ORIENTATIONS))
        attributes[way] = numbers(rng, ORIENTATIONS[way], -1.5, 1.5)
    return attributes


def joint(rng: random.Random, name: str, kind: str) -> str:
    attributes = {"name": name} | ({} if kind == "hinge" and rng.random() < 0.5 else {"type": kind})
    resisting = ("damping", "armature", "frictionloss", "stiffness")
    attributes |= maybe(rng, 0.2, {word: lambda: numbers(rng, 1, 0.0, 1.0) for word in resisting})
    if kind != "ball":
        attributes |= maybe(rng, 0.6, {"axis": lambda: numbers(rng, 3)})
        attributes |= maybe(
            rng, 0.2, {"ref": lambda: numbers(rng, 1, -0.5, 0.5), "springref": lambda: "0.1"}
        )
        attributes |= maybe(
            rng,
            0.3,
            {"range": lambda: f"{numbers(rng, 1, -2.0, -0.1)} {numbers(rng, 1, 0.1, 2.0)}"},
        )
    attributes |= maybe(rng, 0.3, {"pos": lambda: numbers(rng, 3, -0.5, 0.5)})
    return tag("joint", attributes)


def geom(rng: random.Random, classes: list[str]) -> str:
    kind = rng.choice(sorted(SIZES))
    attributes = {"type": kind, "size": numbers(rng, SIZES[kind], 0.02, 0.4)}
    if kind in ("capsule", "cylinder") and rng.random() < 0.4:
        attributes |= {"fromto": numbers(rng, 6), "size": numbers(rng, 1, 0.02, 0.2)}
    else:
        attributes |= pose(rng)
    attributes |= maybe(rng, 0.2, {"mass": lambda: numbers(rng, 1, 0.01, 3.0)})
    attributes |= maybe(
        rng, 0.2, {"density": lambda: numbers(rng, 1, 10.0, 3000.0), "group": lambda: "3"}
    )
    attributes |= maybe(
        rng, 0.1, {"rgba": lambda: numbers(rng, 4, 0.0, 1.0), "contype": lambda: "0"}
    )
    attributes |= maybe(rng, 0.2, {"class": lambda: rng.choice(classes)}) if classes else {}
    return tag("geom", attributes)


def inertial(rng: random.Random) -> str:
    x, y = rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0)
    moments = f"{x:.4g} {y:.4g} {rng.uniform(max(x, y) - min(x, y) + 0.01, x + y - 0.01):.4g}"
    attributes = {
        "mass": numbers(rng, 1, 0.1, 5.0),
        "pos": numbers(rng, 3, -0.3, 0.3),
        "diaginertia": moments,
    }
    return tag("inertial", attributes | maybe(rng, 0.3, {"quat": lambda: numbers(rng, 4)}))


def body(rng: random.Random, named: Named, classes: list[str], depth: int = 0) -> str:
    name = f"b{len(named.bodies)}"
    named.bodies.append(name)
    parts = [geom(rng, classes) for _ in range(rng.randint(1, 2))]
    kinds = rng.choice(
        [(), ("hinge",), ("hinge",), ("slide",), ("ball",), ("hinge", "hinge"), ("slide", "hinge")]
    )
    if depth == 0 and rng.random() < 0.2:
        parts.append(tag("freejoint", {"name": f"{name}_free"}))
        named.coordinates += 7
        kinds = ()
    for k, kind in enumerate(kinds):
        label = f"{name}_{k}"
        parts.append(joint(rng, label, kind))
        named.coordinates += 4 if kind == "ball" else 1
        named.hinges += [label] if kind != "ball" else []
    if rng.random() < 0.3:
        parts.append(inertial(rng))
    if rng.random() < 0.4:
        named.sites.append(f"{name}_s")
        parts.append(tag("site", {"name": f"{name}_s", **pose(rng)}))
    if rng.random() < 0.2:
        parts.append(tag("frame", pose(rng), geom(rng, classes)))
    if depth < 3:
        parts += [body(rng, named, classes, depth + 1) for _ in range(rng.choice((0, 1, 1, 2)))]
    around = {"childclass": rng.choice(classes)} if classes and rng.random() < 0.2 else {}
    return tag("body", {"name": name, **pose(rng), **around}, "".join(parts))


def compiler(rng: random.Random) -> str:
    letters = rng.sample("xyz", 3)
    return tag(
        "compiler",
        maybe(
            rng,
            0.25,
            {
                "angle": lambda: rng.choice(("radian", "degree")),
                "eulerseq": lambda: "".join(rng.choice((x, x.upper())) for x in letters),
                "inertiafromgeom": lambda: rng.choice(("true", "auto")),
                "boundmass": lambda: "0.01",
                "boundinertia": lambda: "0.001",
                "balanceinertia": lambda: "true",
                "settotalmass": lambda: "5",
                "inertiagrouprange": lambda: "0 5",
            },
        ),
    )


def defaults(rng: random.Random, classes: list[str]) -> str:
    """Classes that give joints and geoms numbers they may have anywhere."""

    def said() -> str:
        lines = [
            tag("joint", maybe(rng, 0.5, {"damping": lambda: "0.3", "armature": lambda: "0.02"})),
            tag(
                "geom",
                maybe(
                    rng,
                    0.5,
                    {"density": lambda: numbers(rng, 1, 100.0, 2000.0), "group": lambda: "1"},
                ),
            ),
        ]
        return "".join(line for line in lines if rng.random() < 0.6)

    inner = "".join(tag("default", {"class": name}, said()) for name in classes)
    return tag("default", {}, said() + inner)


def sections(rng: random.Random, named: Named) -> str:
    """What stands behind the bodies and refers to them."""
    parts = []
    if len(named.hinges) > 1 and rng.random() < 0.3:
        first, second = rng.sample(named.hinges, 2)
        polynomial = {"polycoef": f"{numbers(rng, 2)} 0 0 0"} if rng.random() < 0.6 else {}
        parts.append(
            tag("equality", {}, tag("joint", {"joint1": first, "joint2": second, **polynomial}))
        )
    if len(named.bodies) > 1 and rng.random() < 0.3:
        first, second = rng.sample(named.bodies, 2)
        ends = {"body1": first} | ({"body2": second} if rng.random() < 0.7 else {})
        kind = rng.choice(("connect", "connect", "weld"))
        anchor = {"anchor": numbers(rng, 3)} if kind == "connect" else {}
        parts.append(tag("equality", {}, tag(kind, ends | anchor)))
    if len(named.hinges) > 1 and rng.random() < 0.2:
        pulled = [
            tag("joint", {"joint": name, "coef": numbers(rng, 1)})
            for name in rng.sample(named.hinges, 2)
        ]
        parts.append(tag("tendon", {}, tag("fixed", {"name": "t"}, "".join(pulled))))
    if named.hinges and rng.random() < 0.3:
        kind = rng.choice(("motor", "position", "velocity"))
        parts.append(
            tag(
                "actuator",
                {},
                tag(kind, {"joint": rng.choice(named.hinges), "gear": numbers(rng, 1)}),
            )
        )
    if named.coordinates and rng.random() < 0.3:
        parts.append(
            tag(
                "keyframe",
                {},
                tag("key", {"name": "home", "qpos": numbers(rng, named.coordinates)}),
            )
        )
    return "".join(parts)


def spoilt(text: str, rng: random.Random) -> str:
    """One value, one attribute or one element that does not fit where it stands."""
    places = [k for k, letter in enumerate(text) if letter == '"']
    k = 2 * rng.randrange(len(places) // 2)
    start, end = places[k], places[k + 1]
    match rng.randrange(3):
        case 0:
            return f"{text[: start + 1]}{rng.choice(ODD_VALUES)}{text[end:]}"
        case 1:
            words = sorted({word for _, known in READ.values() for word in known.split()})
            return (
                f'{text[: end + 1]} {rng.choice(words)}="{rng.choice(ODD_VALUES)}"{text[end + 1 :]}'
            )
    tags = sorted({name for inside, _ in READ.values() for name in inside})
    at = text.index(">", end) + 1
    return f"{text[:at]}<{rng.choice(tags)}/>{text[at:]}"


def generated_mjcf(rng: random.Random) -> str:
    named = Named()
    classes = ["c", "d"][: rng.randint(0, 2)]
    bodies = "".join(body(rng, named, classes) for _ in range(rng.randint(1, 3)))
    option = tag("option", {"gravity": numbers(rng, 3, -10.0, 10.0)}) if rng.random() < 0.4 else ""
    before = (
        compiler(rng) + option + (defaults(rng, classes) if classes or rng.random() < 0.3 else "")
    )
    text = tag("mujoco", {}, before + tag("worldbody", {}, bodies) + sections(rng, named))
    return spoilt(text, rng) if rng.random() < SPOILT else text
