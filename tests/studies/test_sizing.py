"""Motor and gear over a cycle, against closed forms: rotor, losses, heat, inertia ratio."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput, NotPossible
from linkwork.studies.cycles import cycles
from linkwork.studies.lines import Actuator, catalogue
from linkwork.studies.sizing import Cycle, motor_side, thermal_torque

INERTIA, SWING, RATE = 0.8, 0.6, 5.0
FLYWHEEL = """
linkwork: 1
name: flywheel
gravity: [0, 0, 0]
bodies: {wheel: {mass: 2, inertia: [0.5, 0.5, 0.8]}}
joints: {turn: {type: revolute, child: wheel, axis: z, armature: 0.3}}
"""


@functools.cache
def wheel_and_motion() -> tuple[lw.Robot, dict]:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flywheel.robot.yaml"
        path.write_text(FLYWHEEL)
        robot = lw.load(path)
    time = np.linspace(0.0, 2 * np.pi / RATE, 2001)[:-1]  # one period, no instant twice
    q = SWING * np.sin(RATE * time)
    return robot, {"time": time, "q": q[:, None], "v": (SWING * RATE * np.cos(RATE * time))[:, None],
                   "a": (-(RATE**2) * q)[:, None]}  # fmt: skip


def motor(name: str = "m", **more) -> Actuator:
    return Actuator(
        name, "rotary", **({"peak": 9.0, "continuous": 3.0, "speed": 600.0, "power": 5e3} | more)
    )


def test_rotor_and_losses_of_a_swinging_wheel_are_the_closed_form():
    """T_m = (J n + I / (n eta^+-1)) a: the gear loses while the wheel speeds up and helps while it
    slows down."""
    robot, motion = wheel_and_motion()
    line = motor(
        rotor_inertia=2e-4, gear_inertia=1e-4, gear_ratios=(40.0,), gear_efficiency=0.8, peak=50.0
    )
    found = lw.studies.select(robot, motion, [line], margin=1.0, inertia_ratio=1e9)["turn"]
    # the described rotor of 0.3 is not load
    assert found.cycle.inertia == pytest.approx(INERTIA, rel=1e-12)
    rotor, up, down = 3e-4 * 40.0, INERTIA / 40.0 / 0.8, INERTIA / 40.0 * 0.8
    largest = SWING * RATE**2
    speed, torque = motor_side(line, 40.0, found.cycle)
    assert np.abs(speed).max() == pytest.approx(40.0 * SWING * RATE, rel=1e-12)
    # grid: 1 - cos of a step
    assert np.abs(torque).max() == pytest.approx((rotor + up) * largest, rel=1e-3)
    heat = largest**2 / 4.0 * ((rotor + up) ** 2 + (rotor + down) ** 2)
    (option,) = found.options
    assert option.thermal * line.continuous == pytest.approx(np.sqrt(heat), rel=1e-3)
    assert option.inertia_ratio == pytest.approx(INERTIA / 40.0**2 / 3e-4, rel=1e-12)
    assert found.best is option and found.choice is line


def test_the_gear_that_matches_inertias_is_chosen():
    """Of a load of pure inertia the torque of the motor is smallest at n = sqrt(I / J): here 50."""
    robot, motion = wheel_and_motion()
    line = motor(rotor_inertia=INERTIA / 2500.0, gear_ratios=(20.0, 35.0, 50.0, 70.0, 90.0))
    found = lw.studies.select(robot, motion, [line], margin=1.0)["turn"]
    assert found.best.name == "m x 50" and found.best.inertia_ratio == pytest.approx(1.0, rel=1e-12)
    tight = lw.studies.select(robot, motion, [line], margin=1.0, inertia_ratio=0.5)["turn"]
    assert {each.ratio for each in tight.options if each.fits} == {90.0}
    assert tight.why_not["m x 50"] == "inertia ratio 1 > 0.5"


def test_a_curve_that_falls_refuses_what_a_flat_one_allows():
    robot, motion = wheel_and_motion()
    flat = motor("flat", rotor_inertia=1e-3, gear_ratios=(50.0,))
    ends = ((0.0, 9.0), (60.0, 9.0), (600.0, 0.0))
    falling = motor("falling", rotor_inertia=1e-3, gear_ratios=(50.0,), curve=ends)
    weak = motor(
        "weak",
        rotor_inertia=1e-3,
        gear_ratios=(50.0,),
        curve=((0.0, 9.0), (10.0, 0.5), (600.0, 0.1)),
    )
    found = lw.studies.select(robot, motion, [flat, falling, weak], margin=1.0)["turn"]
    assert [line.name for line in found.fitting] == ["flat", "falling"]
    assert (
        found.why_not["weak x 50"].startswith("torque 0.") and "rad/s" in found.why_not["weak x 50"]
    )
    assert falling.allowed(np.array([330.0, 600.0, 601.0])) == pytest.approx([4.5, 0.0, 0.0])


def test_heat_lies_between_rms_and_peak_and_is_exact_for_a_pulse():
    lasting = np.full(1000, 0.01)
    torque = np.where(np.arange(1000) < 300, 4.0, 0.0)  # 3 s of 10 s
    for constant in (0.5, 2.0, 30.0):
        hottest = 16.0 * -np.expm1(-3.0 / constant) / -np.expm1(-10.0 / constant)
        assert thermal_torque(torque, lasting, constant) == pytest.approx(
            np.sqrt(hottest), rel=1e-9
        )
    assert thermal_torque(torque, lasting, np.inf) == pytest.approx(4.0 * np.sqrt(0.3), rel=1e-12)
    assert thermal_torque(torque, lasting, 1e9) == pytest.approx(4.0 * np.sqrt(0.3), rel=1e-6)
    assert thermal_torque(torque, lasting, 1e-6) == pytest.approx(4.0, rel=1e-9)


def test_the_inertia_of_a_load_is_the_mass_matrix_without_rotors():
    arm = lw.load("arm-2")
    time = np.linspace(0.0, 1.0, 21)
    q = np.stack([np.sin(time), 1.0 - time], 1)
    analysis = arm.analyse({"time": time, "q": q})
    found = cycles(arm.subject, [analysis], True)
    M = arm.mass_matrix(analysis.q)
    assert [each.inertia for each in found] == pytest.approx(
        M[:, range(2), range(2)].max(axis=0), rel=1e-10
    )
    crank = lw.load("scotch-yoke")
    seen = cycles(crank.subject, [crank.analyse("turn", steps=401)], True)[0].inertia
    # J + m (r sin)^2, nearly at 90 deg
    assert seen == pytest.approx(150e-6 + 0.4 * 0.03**2 + 1.5 * 0.06**2, rel=2e-2)


def test_catalogues_of_motors_are_read_and_refused(tmp_path):
    generic = [line for line in catalogue() if line.gear_ratios]
    assert generic and all(
        line.rotor_inertia > 0.0 and line.curve and line.source for line in generic
    )
    head = "name,kind,peak,continuous,speed,power,stroke,source,gear_ratios,curve,rotor_inertia"
    path = tmp_path / "mine.csv"
    path.write_text(
        f"{head}\nx,rotary,5,2,300,900,inf,me,50;100,0:5;300:2,1e-5\ny,rotary,5,2,3,9,inf,me,,,\n"
    )
    x, y = catalogue(path)
    assert (
        x.ratios == (50.0, 100.0) and x.curve == ((0.0, 5.0), (300.0, 2.0)) and y.ratios == (1.0,)
    )
    path.write_text(f"{head}\nx,rotary,5,2,300,900,inf,me,50,0:5;300,1e-5\n")
    with pytest.raises(InvalidFile, match=r"mine.csv: row 2: curve .* expected speed:effort pairs"):
        catalogue(path)
    path.write_text(head.replace("gear_ratios", "gear_ratio") + "\n")
    with pytest.raises(
        InvalidFile, match='unknown column "gear_ratio"; did you mean "gear_ratios"'
    ):
        catalogue(path)
    with pytest.raises(
        InvalidInput, match=r"gear_efficiency is 1.2, expected a number above 0, at most 1"
    ):
        motor(gear_efficiency=1.2)
    with pytest.raises(InvalidInput, match="with growing speeds"):
        motor(curve=((3.0, 1.0), (2.0, 1.0)))


def test_the_duty_is_drawn_in_the_torque_speed_plane(tmp_path):
    robot, motion = wheel_and_motion()
    line = motor(rotor_inertia=1e-3, gear_ratios=(50.0,))
    found = lw.studies.select(robot, motion, [line], margin=1.0)["turn"]
    assert (
        found.picture(path=tmp_path / "duty.png")[:4]
        == b"\x89PNG"
        == (tmp_path / "duty.png").read_bytes()[:4]
    )
    none = lw.studies.select(robot, motion, [motor(peak=1e-3)])["turn"]
    with pytest.raises(NotPossible, match='nothing of the catalogue can drive "turn"'):
        none.picture()
    assert none.picture(none.options[0])[:4] == b"\x89PNG"
    assert Cycle is type(found.cycle) and list(found.to_pandas()["verdict"]) == ["fits"]
