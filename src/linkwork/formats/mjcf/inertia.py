"""Mass properties of the bodies: given, inferred from geoms, bounded,
balanced and scaled as the compiler says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.formats.mjcf.bodies import Described, Part
from linkwork.formats.mjcf.geoms import Geom
from linkwork.formats.mjcf.orientation import position, rotation
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.vocabulary import ORIENTATIONS
from linkwork.formats.mjcf.words import Words
from linkwork.model.inertia import MassProperties
from linkwork.model.number import ZERO, Matrix, scale
from linkwork.model.placement import Placement

_NOTHING = MassProperties()


def mass_properties(body: Described, geoms: list[Geom]) -> MassProperties | None:
    """Those of a body in its axes, or None where the file says nothing about them.

    An <inertial> counts, unless inertiafromgeom="true" and there are geoms to infer from; without
    one mass is inferred unless that is "false". Then MuJoCo's bounds; then A + B >= C, restored by
    `balanceinertia` alone.
    """
    settings = body.settings
    weighing = [geom for geom in geoms if geom.weighs]
    infer = settings.inertia_from_geoms == "true" or (
        settings.inertia_from_geoms == "auto" and body.inertial is None
    )
    matter: MassProperties | None = None
    if infer and weighing:
        matter = _NOTHING
        for geom in weighing:
            matter = matter + geom.matter()
    elif body.inertial is not None:
        matter = _given(body.inertial)
    if settings.least_mass or settings.least_inertia:
        # MuJoCo takes the body's own pos, seen in its own axes,
        # as the centre of a body without any mass properties.
        matter = _bounded(matter or MassProperties(com=position(Words(body.element))), settings)
    if settings.balance and matter is not None:
        matter = _balanced(matter)
    if body.inertial is None and (matter is None or (not matter.mass and matter == _NOTHING)):
        return None
    return matter


def scaled_to(total: float, bodies: dict[str, MassProperties]) -> dict[str, MassProperties]:
    """All masses and inertias times one number, so that the masses sum to `total` (settotalmass);
    0 leaves them."""
    present = sum(matter.mass for matter in bodies.values())
    if not total or not present:
        return bodies
    factor = total / present
    return {
        name: replace(m, mass=factor * m.mass, inertia=_times(factor, m.inertia))
        for name, m in bodies.items()
    }


def _given(part: Part) -> MassProperties:
    """<inertial>: fullinertia in body axes, or diaginertia in axes turned by an orientation."""
    words = part.words
    mass = words.number("mass")
    center = words.numbers("pos", 3)
    if words.has("fullinertia"):
        clash = next((each for each in ("diaginertia", *ORIENTATIONS) if words.has(each)), None)
        if clash:
            raise words.error(f"has fullinertia and {clash}, expected one of them")
        xx, yy, zz, xy, xz, yz = words.numbers("fullinertia", 6)
        inertia: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        T = Placement(position=(center[0], center[1], center[2]))
    else:
        x, y, z = words.numbers("diaginertia", 3, (0.0, 0.0, 0.0))
        inertia = ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))
        T = Placement(rotation(words, part.settings), (center[0], center[1], center[2]))
        if min(x, y, z) < 0.0:
            raise words.error(
                f"has diaginertia {x:g} {y:g} {z:g}, expected moments that are not negative"
            )
    if mass < 0.0:
        raise words.error(f"has mass {mass:g}, expected a number that is not negative")
    return MassProperties(mass, ZERO, inertia).seen_from(part.around @ T)


def _bounded(matter: MassProperties, settings: CompilerSettings) -> MassProperties:
    mass = max(matter.mass, settings.least_mass)
    moments, axes = _principal(matter)
    inertia = matter.inertia
    if moments.min() < settings.least_inertia:
        inertia = _turned(np.maximum(moments, settings.least_inertia), axes)
    return replace(matter, mass=mass, inertia=inertia)


def _balanced(matter: MassProperties) -> MassProperties:
    moments, _ = _principal(matter)
    least, middle, largest = moments.tolist()
    if least + middle < largest:
        mean = sum(moments.tolist()) / 3.0
        return replace(matter, inertia=((mean, 0.0, 0.0), (0.0, mean, 0.0), (0.0, 0.0, mean)))
    return matter


def _principal(matter: MassProperties) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments, rising, and their axes as columns."""
    I = np.array(matter.inertia, dtype=float)
    if not np.isfinite(I).all():
        return np.zeros(3), np.eye(3)  # refused with the whole model, by the name of the body
    with np.errstate(all="ignore"):
        moments, axes = np.linalg.eigh(I)
    return moments, axes


def _turned(moments: np.ndarray, axes: np.ndarray) -> Matrix:
    with np.errstate(all="ignore"):  # what is beyond the numbers is refused with the whole model
        I = (axes * moments) @ axes.T
        rows = ((I + I.T) / 2.0).tolist()
    return tuple(tuple(row) for row in rows)  # type: ignore[return-value]


def _times(factor: float, A: Matrix) -> Matrix:
    return tuple(scale(factor, row) for row in A)  # type: ignore[return-value]
