"""CompilerSettings: what <compiler> and <option> say about the whole file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from linkwork.errors import InvalidFile
from linkwork.formats.mjcf.words import Words, inherited_from
from linkwork.formats.xml import Element
from linkwork.model.number import Vector

STANDARD_GRAVITY: Vector = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class CompilerSettings:
    """Several <compiler> or <option> elements are one: the last to give an attribute decides.

    angle              radians per unit of angle in the file (MuJoCo's default unit is the degree)
    euler_sequence     letters of x, y, z turn about moving axes, capitals about fixed ones
    limits_by_range    a range alone limits a joint (autolimits)
    mesh_folder        where mesh files lie, seen from the file; strip_path drops folders from their
                       names
    inertia_from_geoms "auto" (where no <inertial> stands), "true" or "false", from geoms of
                       `groups` only
    least_mass, least_inertia, total_mass   boundmass, boundinertia and settotalmass (0: not used)
    balance            principal moments that break A + B >= C are replaced by their mean
    fit_box            geoms fitted to a mesh take its bounding box, not its inertia box

    `fusestatic` and `discardvisual` change nothing here: bodies stay bodies, and mass is inferred
    before MuJoCo drops a geom. `alignfree` moves the frame of a free body to principal axes that
    MuJoCo picks; it is left where it is.
    """

    angle: float
    euler_sequence: str
    limits_by_range: bool
    mesh_folder: str
    strip_path: bool
    inertia_from_geoms: str
    groups: tuple[float, float]
    least_mass: float
    least_inertia: float
    total_mass: float
    balance: bool
    fit_box: bool
    align_free: bool
    gravity: Vector


def settings(root: Element) -> CompilerSettings:
    compiler = _last_first(root, "compiler")
    if compiler.choice("coordinate", ("local", "global"), "local") == "global":
        older = "MuJoCo gave them up in 2.3.4; load and save the file in an older MuJoCo"
        raise compiler.holder("coordinate").error(
            f'has coordinate="global", expected local: {older}'
        )
    sequence = compiler.text("eulerseq", "xyz")
    if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
        raise compiler.holder("eulerseq").error(
            f'has eulerseq="{sequence[:60]}", expected three of x, y, z, X, Y, Z'
        )
    low, high = compiler.numbers("inertiagrouprange", 2, (0.0, 5.0))
    return CompilerSettings(
        angle=1.0
        if compiler.choice("angle", ("degree", "radian"), "degree") == "radian"
        else math.pi / 180.0,
        euler_sequence=sequence,
        limits_by_range=compiler.flag("autolimits", True),
        mesh_folder=compiler.text("meshdir", compiler.text("assetdir", "")),
        strip_path=compiler.flag("strippath", False),
        inertia_from_geoms=compiler.choice("inertiafromgeom", ("auto", "true", "false"), "auto"),
        groups=(low, high),
        least_mass=_not_negative(compiler, "boundmass"),
        least_inertia=_not_negative(compiler, "boundinertia"),
        total_mass=max(0.0, compiler.number("settotalmass", -1.0)),
        balance=compiler.flag("balanceinertia", False),
        fit_box=compiler.flag("fitaabb", False),
        align_free=compiler.flag("alignfree", False),
        gravity=_gravity(root),
    )


def _gravity(root: Element) -> Vector:
    flags = [flag for option in root.all("option") for flag in option.all("flag")]
    words = _stacked(flags) if flags else Words(root)
    if words.choice("gravity", ("enable", "disable"), "enable") == "disable":
        return (0.0, 0.0, 0.0)
    x, y, z = _last_first(root, "option").numbers("gravity", 3, STANDARD_GRAVITY)
    return (x, y, z)


def _last_first(root: Element, tag: str) -> Words:
    sections = root.all(tag)
    return _stacked(sections) if sections else Words(Element(tag, {}, root.line, root.source, root))


def _stacked(elements: list[Element]) -> Words:
    *earlier, last = elements
    return Words(last, inherited_from(earlier[::-1]))


def _not_negative(compiler: Words, attribute: str) -> float:
    value = compiler.number(attribute, 0.0)
    if value < 0.0:
        raise _negative(compiler, attribute, value)
    return value


def _negative(compiler: Words, attribute: str, value: float) -> InvalidFile:
    return compiler.holder(attribute).error(
        f"has {attribute} {value:g}, expected a number that is not negative"
    )
