"""Train builders: planetaries, differentials, harmonic and cycloidal drives in one line,
with checks of their teeth."""

from __future__ import annotations

import math

from linkwork.control.checks import whole
from linkwork.control.trains import GearTrain
from linkwork.errors import InvalidInput


def planetary(
    sun: int, ring: int, planets: int = 3, planet: int | None = None, efficiency: float = 1.0
) -> GearTrain:
    """Sun, ring and planets on a carrier "arm": shafts sun, ring, arm, planet. Teeth are checked.

    With the ring held the arm turns at sun/(sun + ring) of the sun's speed.
    """
    who = "planetary"
    sun = whole(sun, f"{who}: sun")
    ring = whole(ring, f"{who}: ring")
    planets = whole(planets, f"{who}: planets")
    if planet is None:
        if (ring - sun) % 2:
            raise InvalidInput(
                f"{who}: ring {ring} minus sun {sun} is odd: no planet fits between; "
                "(ring - sun)/2 teeth"
            )
        planet = (ring - sun) // 2
    planet = whole(planet, f"{who}: planet", least=0)
    check_planetary(sun, planet, ring, planets)
    train = GearTrain().mesh("sun", "planet", (sun, planet), "external", "arm", efficiency)
    return train.mesh("planet", "ring", (planet, ring), "internal", "arm", efficiency)


def check_planetary(sun: int, planet: int, ring: int, planets: int) -> None:
    """The wheels must be on one axis, fit into each other at equal angles,
    and not touch their neighbours."""
    if planet < 1 or ring != sun + 2 * planet:
        raise InvalidInput(
            f"planetary: ring {ring} is not sun + 2 planet = {sun + 2 * planet}: the axes would "
            "not meet"
        )
    if (sun + ring) % planets:
        raise InvalidInput(
            f"planetary: {planets} planets cannot be assembled at equal angles: "
            "(sun + ring)/planets = "
            f"({sun} + {ring})/{planets} is no whole number"
        )
    if planets > 1 and planet + 2 >= (sun + planet) * math.sin(math.pi / planets):
        raise InvalidInput(
            f"planetary: {planets} planets of {planet} teeth touch each other around a sun "
            f"of {sun}; "
            "fewer or smaller planets fit"
        )


def compound_planetary(
    sun: int, first: int, second: int, ring: int, efficiency: float = 1.0
) -> GearTrain:
    """Stepped planets: the sun meshes with `first`, the ring with `second`,
    both on one planet shaft."""
    sizes = [whole(x, "compound_planetary: teeth") for x in (sun, first, second, ring)]
    train = GearTrain().mesh("sun", "planet", (sizes[0], sizes[1]), "external", "arm", efficiency)
    return train.mesh("planet", "ring", (sizes[2], sizes[3]), "internal", "arm", efficiency)


def ravigneaux(small_sun: int, large_sun: int, short: int, long: int, ring: int) -> GearTrain:
    """Two suns, a ring and an arm with meshing short and long planets: shafts small_sun, large_sun,
    ring, arm."""
    teeth = [whole(x, "ravigneaux: teeth") for x in (small_sun, large_sun, short, long, ring)]
    train = GearTrain().mesh("small_sun", "short", (teeth[0], teeth[2]), "external", "arm")
    train = train.mesh("short", "long", (teeth[2], teeth[3]), "external", "arm")
    train = train.mesh("large_sun", "long", (teeth[1], teeth[3]), "external", "arm")
    return train.mesh("long", "ring", (teeth[3], teeth[4]), "internal", "arm")


def bevel_differential(side: int = 1, spider: int = 1) -> GearTrain:
    """Two equal side wheels on a cage with spider wheels: w_left + w_right = 2 w_cage."""
    train = GearTrain().mesh("left", "spider", (side, spider), "bevel", "cage")
    return train.mesh("right", "spider", (side, spider), "bevel", "cage", hand=-1)


def harmonic(flexible: int, circular: int) -> GearTrain:
    """A harmonic (strain wave) drive: shafts wave, flex, circular. With the circular spline held
    flex turns at -(circular - flexible)/flexible of the wave generator's speed."""
    flexible = whole(flexible, "harmonic: flexible")
    circular = whole(circular, "harmonic: circular")
    if circular <= flexible:
        raise InvalidInput(
            f"harmonic: circular {circular} teeth must be more than flexible {flexible}"
        )
    return GearTrain().mesh("flex", "circular", (flexible, circular), "internal", "wave")


def cycloidal(lobes: int, pins: int) -> GearTrain:
    """A cycloidal drive: shafts eccentric, disc (the output, through its rollers),
    housing with the pins."""
    lobes, pins = whole(lobes, "cycloidal: lobes"), whole(pins, "cycloidal: pins")
    if pins <= lobes:
        raise InvalidInput(f"cycloidal: pins {pins} must be more than lobes {lobes}")
    return GearTrain().mesh("disc", "housing", (lobes, pins), "internal", "eccentric")
