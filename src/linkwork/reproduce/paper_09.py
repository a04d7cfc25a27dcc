"""Paper 09: a gripper that turns, with its force set by the motor's current
(Romanov, Gyrichidi, Romanov).

Geometry, statics and times are the paper's. Of Figure 8 the paper gives three numbers and neither
the force, nor the friction, nor the contact: force 3.5 N and friction 0.0108 N m were chosen to
meet two of them, so that only the third (feed-forward without friction) confirms something. The
other sags are of an independent simulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.control import GripSequence, RotaryGripper, gripper_table, safe_force, trapezoid_time
from linkwork.library import load
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, panels

FITTED = (
    "force 3.5 N, friction 0.0108 N m, contact 2000 N/m and 5 N s/m are chosen; k = 1 + g_ps "
    "as the authors used"
)
CORRECTIONS = (
    "eqs. 5 and 6 are those of a planet on a parallel axis; the sector's axis lies across: k = 1",
    "eq. 5: the right side must be g_f omega_f (power balance with eq. 8); eq. 9 uses a third k = "
    "1 + g_ps",
    "eq. 7, third row: eps_2; eq. 14 with eq. 7 is positive feedback as printed, its sign is "
    "reversed",
    "K_t and K_e mix rms and line-to-line values: a plain motor model with both creates power",
    "the slope of the lookup table is l_f/(K_t g_f); the text has its reciprocal",
    "Table 3: Schunk EGS 25 is 11.7 times slower, not 56",
    "a 45 degree turn within the stated limits takes 213.6 ms, not 130",
)
ANGLE = np.deg2rad(40.0)


def paper() -> Paper:
    """Geometry, statics, set-points, tables, sags."""
    gripper = RotaryGripper.from_robot(load("rotary-gripper"))
    cases = [*_geometry(gripper), *_statics(gripper), *_times(gripper), *_tables(), *_sags(gripper)]
    where = "`lw.control.RotaryGripper`, gear trains"
    return Paper(
        9,
        "Romanov2022",
        "Gripper with rotary unit and force control",
        tuple(cases),
        CORRECTIONS,
        where,
    )


def _geometry(gripper: RotaryGripper) -> list[Case]:
    published = {
        "axis_distance": 0.0405,
        "turn_ratio": 2.681818,
        "stack_height": 0.07065,
        "sector_ratio": 1.717949,
        "finger_ratio": 2.612345,
    }
    return [Case(name, x, float(getattr(gripper, name)), 1e-6) for name, x in published.items()]


def _statics(gripper: RotaryGripper) -> list[Case]:
    cases = [Case("force per ampere", 13.714810, float(gripper.force(1.0)), 1e-6, "N/A")]
    for force, current in ((3.0, 0.218742), (8.2, 0.597894)):
        cases.append(
            Case(f"current for {force:g} N", current, float(gripper.current(force)), 1e-6, "A")
        )
    for force, current, twist in ((8.2, 0.222943, 0.087142), (48.1, 1.307754, 0.511160)):
        cases.append(
            Case(
                f"holding current at {force:g} N",
                current,
                float(gripper.holding_current(force)),
                1e-6,
                "A",
            )
        )
        cases.append(
            Case(
                f"twist at {force:g} N", twist, float(np.rad2deg(gripper.twist(force))), 1e-6, "deg"
            )
        )
    gains = {
        "geometry": (1.66667e-4, 0.24),
        "equation 5": (2.63682e-4, 0.379701),
        "equation 9": (4.52991e-4, 0.652308),
    }
    for name, k in gripper.couplings.items():
        for what, x, ours in zip(
            ("K_eps", "K_omega"), gains[name], gripper.feed_forward_gains(k), strict=True
        ):
            cases.append(Case(f"{what}, k by {name}", x, ours, 2e-6 * x + 5e-10))
    return cases


def _times(gripper: RotaryGripper) -> list[Case]:
    cases = [
        Case(f"turn by {angle} deg", x, trapezoid_time(np.deg2rad(angle), 5.9, 73.3), 1e-6, "s")
        for angle, x in ((40, 0.198819), (45, 0.213609))
    ]
    told = (
        GripSequence(gripper, stroke=0.092).grip(8.2).turn(np.deg2rad(45.0), lasting=0.130).open()
    )
    cases.append(Case("cycle", 314.0, 1e3 * told.end, 1e-9, "ms"))
    cases.append(Case("cycles a minute", 191.08, told.per_minute, 0.005))
    cases.append(Case("largest force for a tomato", 8.863, safe_force(15.2, 1.27), 1e-3, "N"))
    return cases


def _tables() -> list[Case]:
    speeds, errors = (56.0, 11.0, 3.11, 8.75, 11.67, 0.824), (2.31, 7.72, 3.86, 23.17)
    ours, *others = gripper_table()
    timed = [row for row in others if row["finger_speed_mm_s"] is not None]
    measured = [row for row in others if row["max_force_error_N"] is not None]
    cases = []
    for row, x in zip(timed, speeds, strict=True):
        ratio = ours["finger_speed_mm_s"] / row["finger_speed_mm_s"]
        cases.append(Case(f"times faster than {row['name']}", x, ratio, 0.004 * x))
    for row, x in zip(measured, errors, strict=True):
        ratio = row["max_force_error_N"] / ours["max_force_error_N"]
        cases.append(Case(f"times more exact than {row['name']}", x, ratio, 0.004 * x))
    return cases


def _sags(gripper: RotaryGripper) -> list[Case]:
    """Figure 8, the six readings of k, and the error map."""
    k9 = gripper.couplings["equation 9"]
    cases = []
    for what, forward, friction, x in (
        ("no feed-forward, friction", 0.0, 0.0108, 35.3),
        ("feed-forward, friction", k9, 0.0108, 14.5),
        ("feed-forward, no friction", k9, 0.0, 4.5),
    ):
        run = gripper.simulate(
            3.5, ANGLE, velocity=5.6, feed_forward=forward, coupling=k9, friction=friction
        )
        cases.append(Case(f"Figure 8, {what}", x, float(run.sag / 3.5 * 100), 0.04, "%", FITTED))
    plant = np.array([1.0, 1.0, 1.0, 1.0, k9, k9])
    gains = np.array([0.0, 1.0, gripper.couplings["equation 5"], k9, 0.0, k9])
    run = gripper.simulate(4.0, ANGLE, velocity=5.6, feed_forward=gains, coupling=plant)
    sags = (6.408, 1.444, 5.003, 12.859, 17.414, 3.938)
    for k, g, x, sag in zip(plant, gains, sags, run.sag / 4.0 * 100, strict=True):
        note = "published to one decimal: 6.4, 1.4, 5.0, 12.9, 17.4, 3.9"
        cases.append(Case(f"sag, k {k:.3f}, gains {g:.3f}", x, float(sag), 0.005, "%", note))
    cases.append(
        Case("end of the turn, k = 1", 40.0425, float(np.rad2deg(run["turn"][0, -1])), 1e-3, "deg")
    )
    rough = gripper.simulate(4.0, ANGLE, velocity=[0.9, 5.6], coupling=k9, friction=0.0108)
    for speed, x, sag in zip((0.9, 5.6), (0.64, 0.51), rough.sag, strict=True):
        cases.append(Case(f"largest error at {speed} rad/s", x, float(sag), 0.003, "N", FITTED))
    return cases


def figures() -> tuple[Redrawn, ...]:
    """Figure 8: the grip force while the jaws turn, with the feed-forward gains of the three k."""
    caption = (
        "grip force while turning by 40 deg: without feed-forward, and with the gains of "
        "the three k"
    )
    return (Redrawn("figure-8", caption, _draw_force),)


def _draw_force(figure: Any) -> None:
    gripper = RotaryGripper.from_robot("rotary-gripper")
    gains = {"none": 0.0} | {f"k by {name}": k for name, k in gripper.couplings.items()}
    rows, time = [], np.zeros(1)
    for name in ("geometry", "equation 9"):
        forward, k = np.array(list(gains.values())), gripper.couplings[name]
        run = gripper.simulate(4.0, ANGLE, velocity=5.6, feed_forward=forward, coupling=k)
        curves = {told: np.asarray(run["force"])[at] for at, told in enumerate(gains)}
        time = run.time
        rows.append((f"grip force, plant with k by {name}", "N", curves))
    panels(figure, time, rows)
