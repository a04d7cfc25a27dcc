"""Motors: units that mean one machine, power that balances, pairs that create it refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.control import PMSM, DCMotor, linked_flux
from linkwork.control.motors import EMF_UNITS, TORQUE_UNITS
from linkwork.errors import InvalidInput

PAPER = PMSM.from_constants((0.42, "N m/A rms"), (0.24, "V s/rad line rms"), 5, 1.3, 3.15e-3, 7e-5)


def test_the_papers_constants_are_one_machine() -> None:
    """Romanov's K_t / K_e = 1.75: sqrt(3) within the rounding of two digits."""
    assert PAPER.constant("N m/A rms") / PAPER.constant("V s/rad line rms") == pytest.approx(
        np.sqrt(3.0)
    )
    assert PAPER.constant("N m/A rms") == pytest.approx(0.42, rel=0.01)
    with pytest.raises(InvalidInput, match="creates power"):
        DCMotor(0.42, 2.6, 6.3e-3, 7e-5, back_emf=0.24)


@given(st.floats(0.01, 1.0), st.integers(1, 12))
def test_every_unit_gives_the_flux_back(flux: float, pairs: int) -> None:
    machine = PMSM(flux, pairs, 1.0, 1e-3, 2e-3, 1e-4)
    for unit in (*TORQUE_UNITS, *EMF_UNITS):
        assert linked_flux(machine.constant(unit), unit) == pytest.approx(flux * pairs)


@given(st.floats(-20, 20), st.floats(-20, 20), st.floats(-300, 300))
def test_electrical_power_is_heat_and_shaft_power(i_d: float, i_q: float, speed: float) -> None:
    machine = PMSM(0.02, 4, 0.8, 2e-3, 3e-3, 1e-4)
    u_d, u_q = machine.voltages(i_d, i_q, speed)
    put_in = 1.5 * (u_d * i_d + u_q * i_q)
    heat = 1.5 * 0.8 * (i_d**2 + i_q**2)
    assert put_in == pytest.approx(
        heat + machine.torque(i_d, i_q) * speed, abs=1e-9 * (1 + abs(put_in) + heat)
    )


def test_a_dc_motor_at_rest_and_idle() -> None:
    motor = DCMotor(0.05, 0.5, 1e-3, 2e-5)
    assert motor.speed(12.0) == pytest.approx(240.0)
    assert motor.speed(12.0, torque=12.0 / 0.5 * 0.05) == pytest.approx(0.0, abs=1e-12)
    assert motor.electrical_time == pytest.approx(2e-3)
    assert motor.mechanical_time == pytest.approx(0.5 * 2e-5 / 0.05**2)
    assert PAPER.as_dc().torque_constant == pytest.approx(PAPER.constant("N m/A peak"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linked_flux(0.4, "N m/A rsm"), 'did you mean "N m/A rms"'),
        (lambda: linked_flux(-0.4, "N m/A rms"), "value is -0.4"),
        (
            lambda: PMSM.from_constants(
                (0.42, "N m/A peak"), (0.24, "V s/rad phase peak"), 5, 1, 1, 1
            ),
            "check the units",
        ),
        (lambda: PMSM(0.1, 0, 1, 1, 1, 1), "pole_pairs is 0"),
        (lambda: DCMotor(0.1, 0.0, 1, 1), "resistance is 0"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()
