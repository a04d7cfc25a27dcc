"""Gear trains: the no-slip condition in three dimensions, published ratios, virtual work,
losses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from linkwork import errors
from linkwork.control import GearTrain, train_builders
from linkwork.model.elements import Differential, Gear


def test_bevel_satellite_against_no_slip_in_space() -> None:
    """Cone on the vertical axis, sector on a horizontal one carried by the body:
    equal velocity at the pitch point."""
    r1, r2 = 0.0195 / 2, 0.0335 / 2
    train = GearTrain().mesh("cone", "sector", (0.0195, 0.0335), "bevel", carrier="body")
    for w_cone, w_body in np.random.default_rng(0).normal(size=(20, 2)):
        w_sector = train.speeds({"cone": w_cone, "body": w_body})["sector"]
        point = np.array([r1, 0.0, 0.0])
        of_cone = np.cross([0.0, 0.0, w_cone], point)
        # the sector's axis is radial, a pitch radius above the point
        centre = np.array([r1, 0.0, r2])
        spin = np.array([w_sector, 0.0, 0.0])
        of_sector = np.cross([0.0, 0.0, w_body], point) + np.cross(spin, point - centre)
        np.testing.assert_allclose(of_sector, of_cone, atol=1e-15)


def test_published_ratios() -> None:
    assert train_builders.planetary(24, 72, 3).ground("ring").ratio("sun", "arm") == 4  # 1 + 72/24
    assert train_builders.planetary(30, 70, 4).ground("sun").ratio("ring", "arm") == Fraction(10, 7)
    assert train_builders.harmonic(200, 202).ground("circular").ratio("wave", "flex") == -100
    assert train_builders.harmonic(200, 202).ground("flex").ratio("wave", "circular") == 101
    assert train_builders.cycloidal(29, 30).ground("housing").ratio("eccentric", "disc") == -29
    stepped = train_builders.compound_planetary(24, 36, 20, 80).ground("ring")
    assert stepped.ratio("sun", "arm") == 1 + Fraction(36 * 80, 24 * 20)
    # four speeds of a Ravigneaux set (Ford AOD: suns 28 and 34, ring 72)
    box = train_builders.ravigneaux(28, 34, 18, 20, 72)
    assert box.ground("large_sun").ratio("small_sun", "ring") == Fraction(
        72 * (28 + 34), 28 * (34 + 72)
    )
    assert box.ground("arm").ratio("small_sun", "ring") == Fraction(72, 28)
    assert box.ground("arm").ratio("large_sun", "ring") == Fraction(-72, 34)
    assert box.ground("large_sun").ratio("arm", "ring") == Fraction(72, 106)


def test_differential_halves_the_sum() -> None:
    train = train_builders.bevel_differential()
    assert train.mobility == 2
    assert train.matrix(["left", "right"], ["cage"]) == [[Fraction(1, 2), Fraction(1, 2)]]


@given(
    st.integers(12, 60),
    st.integers(12, 60),
    st.integers(60, 200),
    st.floats(-9, 9),
    st.floats(-9, 9),
)
def test_virtual_work_of_a_lossless_train(sun, first, ring, w_sun, w_arm) -> None:
    train = train_builders.compound_planetary(sun, first, 17, ring)
    inputs = {"sun": w_sun, "arm": w_arm}
    speeds = train.speeds(inputs)
    torques = train.torques({"ring": 3.0}, inputs)
    power = sum(torques[name] * speed for name, speed in inputs.items())
    assert power == pytest.approx(3.0 * speeds["ring"], abs=1e-9)


def test_symbols_stay_symbols() -> None:
    a, b = sympy.symbols("a b", positive=True)
    train = GearTrain().mesh("sun", "planet", (a, (b - a) / 2), "external", "arm")
    train = train.mesh("planet", "ring", ((b - a) / 2, b), "internal", "arm").ground("ring")
    assert sympy.simplify(train.ratio("sun", "arm") - (1 + b / a)) == 0


def test_speeds_and_torques_over_symbols() -> None:
    a, b, w, load = sympy.symbols("a b w load", positive=True)
    train = GearTrain().mesh("motor", "wheel", (a, b))
    assert sympy.simplify(train.speeds({"motor": w})["wheel"] + a / b * w) == 0
    assert sympy.simplify(train.torques({"wheel": load}, ["motor"])["motor"] + a / b * load) == 0
    felt = train.reflected_inertia({"motor": 1, "wheel": load}, ["motor"])[0, 0]
    assert sympy.simplify(felt - 1 - load * a**2 / b**2) == 0


@pytest.mark.parametrize("hand", [1, -1])
def test_racks_worms_and_belts_roll_without_slip(hand: int) -> None:
    """The rack has the speed of the pinion's pitch point, the worm advances its starts a turn,
    a belt its length."""
    rack = GearTrain().mesh("pinion", "rack", (0.04, 1), "rack", hand=hand)
    assert rack.speeds({"pinion": 3.0})["rack"] == pytest.approx(hand * 3.0 * 0.02)
    worm = GearTrain().mesh("worm", "wheel", (2, 50), "worm", hand=hand)
    assert worm.ratio("worm", "wheel") == hand * 25
    assert GearTrain().mesh("a", "b", (20, 30), "belt").ratio("a", "b") == Fraction(3, 2)
    assert GearTrain().mesh("a", "b", (20, 30), "crossed belt").ratio("a", "b") == Fraction(-3, 2)
    assert GearTrain().mesh("a", "b", (20, 30)).fixed("b", "c").ratio("a", "c") == Fraction(-3, 2)


def test_losses_have_a_direction() -> None:
    pair = GearTrain().mesh("motor", "wheel", (20, 60), "external", efficiency=0.9)
    driving = pair.torques({"wheel": 30.0}, ["motor"], {"motor": -9.0})
    assert driving["motor"] == pytest.approx(-30.0 / 3 / 0.9)
    back = pair.torques({"wheel": 30.0}, ["motor"], {"motor": 9.0})  # the load drives
    assert back["motor"] == pytest.approx(-30.0 / 3 * 0.9)
    assert pair.efficiency("wheel", 30.0, {"motor": -9.0}) == pytest.approx(0.9)
    # sun in, arm out, ring held: 1 - (1 - 0.97^2) ring/(sun + ring), the textbook's value
    box = train_builders.planetary(24, 72, 3, efficiency=0.97).ground("ring")
    assert box.efficiency("arm", 40.0, {"sun": 5.0}) == pytest.approx(
        (1 + 0.97**2 * 72 / 24) / (1 + 72 / 24), rel=1e-9
    )


def test_losses_flow_by_speeds_relative_to_the_carrier() -> None:
    """Textbook values: ring in and arm out with the sun held; a differential with one side held,
    2 / (1 + 1/eta^2)."""
    box = train_builders.planetary(24, 72, 3, efficiency=0.97).ground("sun")
    assert box.efficiency("arm", 40.0, {"ring": 5.0}) == pytest.approx(
        (72 + 0.97**2 * 24) / 96, rel=1e-9
    )
    reversed_ = train_builders.planetary(24, 72, 3, efficiency=0.97).ground("arm")
    assert reversed_.efficiency("ring", -40.0, {"sun": 5.0}) == pytest.approx(0.97**2, rel=1e-9)
    axle = GearTrain().mesh("left", "spider", (1, 1), "bevel", "cage", 0.95)
    axle = axle.mesh("right", "spider", (1, 1), "bevel", "cage", 0.95, hand=-1).ground("left")
    assert axle.efficiency("right", 10.0, {"cage": 3.0}) == pytest.approx(
        2 / (1 + 0.95**-2), rel=1e-9
    )
    # a satellite across its carrier turns the body with the force that the cone gives,
    # whatever is lost in the mesh
    across = GearTrain().mesh("cone", "sector", (2, 3), "bevel", "body", 0.9)
    torques = across.torques({"sector": 1.0}, ["cone", "body"], {"cone": 2.0, "body": 0.0})
    assert torques["cone"] == pytest.approx(2 / 3 / 0.9)
    assert torques["body"] == pytest.approx(-torques["cone"])


def test_reflected_inertia_and_elements() -> None:
    pair = GearTrain().mesh("motor", "joint", (1, 100), "belt")
    assert pair.reflected_inertia({"motor": 1e-5, "joint": 0.2}, ["motor"]) == pytest.approx(
        1e-5 + 0.2 / 100**2
    )
    element = pair.gear("drive", "elbow", "motor", "joint")
    assert element == Gear("drive", "elbow", 100.0)
    assert GearTrain.of(element).ratio("drive", "elbow") == 100
    wrist = Differential("wrist", ("pitch", "roll"), ("m1", "m2"), ((0.5, 0.5), (0.5, -0.5)))
    train = GearTrain.of(wrist)
    again = train.differential("wrist", {"pitch": "pitch", "roll": "roll"}, ["m1", "m2"])
    assert again == wrist


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: train_builders.planetary(24, 71), "is odd"),
        (lambda: train_builders.planetary(25, 73, 3), "no whole number"),
        (lambda: train_builders.planetary(12, 96, 4), "touch each other"),
        (lambda: train_builders.planetary(24, 72, 3, planet=20), "would not meet"),
        (lambda: GearTrain().mesh("a", "b", (0, 3)), "size 0"),
        (lambda: GearTrain().mesh("a", "a", (1, 3)), "twice"),
        (lambda: GearTrain().mesh("a", "b", (1, 3), "bevelled"), "kind"),
        (lambda: GearTrain().mesh("a", "b", (1, 3), efficiency=1.2), "efficiency is 1.2"),
        (
            lambda: train_builders.planetary(24, 72).speeds({"sun": 1.0}),
            "under-determined: it has 2",
        ),
        (
            lambda: GearTrain().mesh("a", "b", (1, 3)).ground("a").speeds({"b": 1.0}),
            "locked: it has 0",
        ),
        (lambda: train_builders.harmonic(200, 200), "must be more"),
        (lambda: train_builders.planetary(24, 72, planet=24.5), "planet is 24.5"),
        (lambda: GearTrain().mesh("a", "b", (1, 3)).speeds({"a": "fast"}), "'fast' is no number"),
        (
            lambda: (
                GearTrain()
                .mesh("a", "b", (sympy.Symbol("s"), 3), efficiency=0.9)
                .torques({"b": 1.0}, ["a"], {"a": 1.0})
            ),
            "losses need wheels of numbers",
        ),
        (lambda: train_builders.planetary(24, 72).ground("rign"), 'did you mean "ring"'),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.LinkworkError, match=words):
        call()
