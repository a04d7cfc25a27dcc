"""Targets before a run, figures of sliding runs, laws in several cases, and the page about them."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.control import (
    ConstantRate,
    FractionalImpedance,
    SlidingMode,
    Surface,
    check_target,
    closed_loop,
    compare,
    disturbance_bound,
    fractional_weights,
    judge,
)
from linkwork.control.commands import control, stability
from linkwork.errors import InvalidInput, NotPossible, SimulationStopped
from linkwork.simulation import PD, GravityCompensation, Sampled, simulate
from linkwork.view import write_control_report

TIMES = np.linspace(0.0, 4.0, 41)


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


def test_a_joint_leaves_its_range_at_a_known_time() -> None:
    """theta1 may turn by 85 degrees (Table 1 of the paper); 0.4 rad/s gets there at 3.709 s."""

    def target(t):
        return [0.4 * t, 0.5 + 0.0 * t]

    with pytest.raises(
        NotPossible, match=r'joint "theta1" = 87.09 deg is above 85 deg at t = 3.8 s'
    ):
        check_target(arm(), target, TIMES)
    np.testing.assert_allclose(check_target(arm(), target, TIMES[:30])[-1], [1.16, 0.5])


def test_a_frame_leaves_its_workspace_or_meets_a_singularity_at_a_known_time() -> None:
    """Links of 0.325 and 0.225 m: the hand at y = 0.35 + 0.1 t is out of 0.55 m after 2 s,
    stretched just before."""
    axes = ("x", "y")
    q = np.array([0.76254998, 0.87496250])  # hand at (0, 0.25), the digest's start

    def out(t):
        return [0.0 * t, 0.25 + 0.1 * t]

    rows = check_target(arm(), out, TIMES[:25], "hand", axes, q)
    np.testing.assert_allclose(
        arm().pose(rows, "hand")[:, 1, 3], 0.25 + 0.1 * TIMES[:25], atol=1e-8
    )
    with pytest.raises(
        NotPossible,
        match=r'"hand" along x, y (meets a singularity|is outside the workspace) at t = 3',
    ):
        check_target(arm(), out, TIMES, "hand", axes, q)
    with pytest.raises(NotPossible, match=r"outside the workspace at t = 0 s"):
        check_target(arm(), [0.0, 0.6], [0.0], "hand", axes, q)
    with pytest.raises(InvalidInput, match="expected 2 or 16"):
        check_target(arm(), [0.0, 0.6, 0.1], [0.0], "hand", axes, q)


def test_a_constant_rate_reaches_in_its_closed_time_and_stays_within_a_step() -> None:
    """nu falls by K a second: 1/K after nu0 = 1; the implicit rule leaves nothing."""
    goal, start = np.array([0.5, 1.1]), np.array([0.4, 1.05])
    law = SlidingMode(Surface([10.0, 20.0]), ConstantRate(5.0), goal)
    run = simulate(
        arm(), start, duration=0.6, step=1e-3, control=Sampled(law, 1e-3), friction=False
    )
    found = judge(run, goal, slope=[10.0, 20.0], width=0.01)
    # 1 % of nu0 = 1 is 2 ms
    np.testing.assert_allclose(found["reaching_time"], [0.2, 0.2], atol=3e-3)
    assert (found["band"] < 0.011).all()
    assert "band" not in judge(run, goal)
    never = simulate(
        arm(), start, duration=0.1, step=1e-3, control=Sampled(law, 1e-3), friction=False
    )
    assert np.isnan(judge(never, goal, slope=10.0)["reaching_time"]).all()


def test_laws_are_compared_in_cases_and_a_margin_names_its_cause() -> None:
    goal = np.array([0.5, 1.1])
    weight = lw.Payload("2", 0.4536, com=(0.225, 0.0, 0.0))
    laws = {"pd": Sampled(GravityCompensation(model=arm()) + PD(30.0, 3.0, goal), 1e-3)}
    cases = {"empty": {}, "0.45 kg": {"payload": weight}}
    found = compare(laws, arm(), goal, goal, cases, duration=0.2, step=1e-3, friction=False)
    assert list(found) == ["pd, empty", "pd, 0.45 kg"]
    assert (
        found["pd, empty"]["max_error"].max()
        < 1e-9
        < 1e-3
        < found["pd, 0.45 kg"]["max_error"].max()
    )
    weak = SlidingMode(Surface([40.0, 50.0]), ConstantRate([2.0, 0.8]), goal)
    words = str(weak.check(disturbance_bound(arm(), goal, payload=weight), cause=weight))
    assert "K_2 = 0.8 rad/s^2 cannot reject" in words and "from 0.4536 kg; need K_2 >" in words
    assert words.endswith("or model the payload")


def test_the_wrench_of_a_history_is_its_sum() -> None:
    """Against the sum of eq. 17 term by term, for histories shorter and longer than the memory."""
    K, D, HD, T = 1000.0, 50.0, np.array([300.0, 40.0, 20.0]), 5e-3
    law = FractionalImpedance("hand", K, D, HD, [0.0, 0.3, 0.0], axes=("x", "y", "z"), memory=4)
    w = fractional_weights(0.5, 4)
    for count in (1, 3, 5, 9):
        e = np.random.default_rng(count).normal(size=(count, 3))
        past = np.zeros((5, 3))
        past[: min(5, count)] = e[:5]
        expected = K * past[0] + D * (past[0] - past[1]) / T
        expected += HD * T**-0.5 * (w @ past - w.sum() * past[0])
        np.testing.assert_allclose(law.wrench(e, T), expected, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(law.wrench(e.tolist(), T), expected, rtol=1e-12, atol=1e-10)
    several = FractionalImpedance(
        "hand", [[1.0] * 3, [2.0] * 3], D, HD, [0, 0.3, 0], axes=("x", "y", "z")
    )
    with pytest.raises(InvalidInput, match="one gain set"):
        several.wrench(e, T)


def test_the_command_follows_a_file_and_writes_a_page(tmp_path: Path) -> None:
    t = np.linspace(0.0, 0.2, 21)
    rows = np.column_stack([t, 0.3 + 0.5 * t**2, 0.8 - 0.3 * t**2])
    file, page = tmp_path / "way.csv", tmp_path / "laws.html"
    np.savetxt(file, rows, delimiter=",", header="time,q.theta1,q.theta2", comments="")
    answer = control(
        "rehabilitation-arm", "computed-torque,sliding", motion=str(file), offset=0.0, report=page
    )
    assert answer.facts["laws"]["computed-torque"]["max_error"].max() < 0.02  # its own dry friction
    text = page.read_text()
    assert all(
        part in text
        for part in ("gain margin", "a law that switches has none", "theta2: force", "data-chart")
    )
    rows[-1, 1] = 2.0
    np.savetxt(file, rows, delimiter=",", header="time,q.theta1,q.theta2", comments="")
    with pytest.raises(NotPossible, match=r'joint "theta1" = .* is above 85 deg at t = 0\.1\d+ s'):
        control("rehabilitation-arm", "pd", motion=str(file))
    with pytest.raises(InvalidInput, match="both given"):
        control("rehabilitation-arm", q="0,0", motion=str(file))
    with pytest.raises(InvalidInput, match="runs of one motion each"):
        write_control_report(arm(), {}, [0.0, 0.0], page)


def test_a_law_that_is_lost_does_not_take_the_others_along(tmp_path: Path) -> None:
    options = {"q": "0.3 0.8", "kp": 20.0, "kd": 60.0, "offset": 0.01, "duration": 0.2}
    page = tmp_path / "laws.html"
    answer = control("rehabilitation-arm", "pd,computed-torque", report=page, **options)
    told = 'damping 60 N m s/rad of "theta2" is unstable at 1 ms'
    assert "is lost: PD" in answer.shown[0] and told in answer.shown[0]
    assert "not finite" in answer.facts["laws"]["pd"]["lost"]
    assert answer.facts["laws"]["computed-torque"]["max_error"].max() < 0.02
    assert "pd: lost: PD: damping 60" in page.read_text()
    assert answer.code == 0 and control("rehabilitation-arm", "pd", **options).code == 1
    law = Sampled(PD(20.0, 60.0, [0.3, 0.8]), 1e-3)
    with pytest.raises(SimulationStopped, match=f"it was foreseen: PD: {told}"):
        simulate(arm(), [0.31, 0.81], duration=0.2, step=1e-3, control=law, energy_tolerance=np.inf)


def test_a_page_has_margins_of_stable_loops_with_their_payload_alone(tmp_path: Path) -> None:
    goal = np.array([0.3, 0.8])
    laws = {"calm": Sampled(PD(20.0, 2.0, goal), 1e-3), "wild": Sampled(PD(20.0, 60.0, goal), 1e-3)}
    options = {"duration": 2e-3, "step": 1e-3, "energy_tolerance": np.inf}
    runs = {name: simulate(arm(), goal, control=law, **options) for name, law in laws.items()}
    weight = lw.Payload("2", 0.4536, com=(0.225, 0.0, 0.0))
    pages = [
        write_control_report(
            arm(), runs, lambda t: [0.3 + 0.0 * t, 0.8], tmp_path / "page.html", laws, payload=load
        )
        .read_text()
        .split("Loops, linear")[1]
        for load in (None, weight)
    ]
    assert "it is UNSTABLE, largest eigenvalue" in pages[0] and pages[0].count("gain margin") == 1
    assert pages[0] != pages[1]
    margin = (
        closed_loop(arm(), laws["calm"], runs["calm"].q[-1], payload=weight)
        .loop_gain("theta2")
        .margins()
        .gain
    )
    assert f"{margin:.4g}"[:4] in pages[1]


def test_the_command_tells_the_margins_of_a_robot_before_it_moves() -> None:
    law = Sampled(GravityCompensation(arm()) + PD(20.0, 2.0, [0.3, 0.8]), 1e-3, 1e-3)
    loop = closed_loop(arm(), law, [0.3, 0.8], payload=lw.Payload("hand", 0.4))
    options = {"kp": 20.0, "q": "0.3 0.8", "delay": 1, "payload": 0.4}
    options["law"] = "pd"
    answer = stability("rehabilitation-arm", kd=2.0, **options)
    assert answer.facts["radius"] == pytest.approx(loop.radius, rel=1e-9)
    margin = loop.loop_gain("theta2").margins().gain
    assert answer.facts["margins"]["theta2"]["gain"] == pytest.approx(margin, rel=1e-6)
    verdict = str(stability("rehabilitation-arm", kd=60.0, **options).shown[-1])
    assert (
        "UNSTABLE" in verdict
        and 'PD: damping 60 N m s/rad of "theta2" is unstable at 1 ms' in verdict
    )
    own = stability("rehabilitation-arm", kd="2 1.5", **options).facts["radius"]
    each = Sampled(GravityCompensation(arm()) + PD(20.0, [2.0, 1.5], [0.3, 0.8]), 1e-3, 1e-3)
    assert own == pytest.approx(
        closed_loop(arm(), each, [0.3, 0.8], payload=lw.Payload("hand", 0.4)).radius, rel=1e-9
    )
    inertia = np.diag(arm().mass_matrix([0.3, 0.8]))
    scaled = Sampled(
        GravityCompensation(arm()) + PD(90.0 * inertia, 9.0 * inertia, [0.3, 0.8]), 1e-3
    )
    answer = stability("rehabilitation-arm", law="pd-inertia", kp="90", kd="9", q="0.3 0.8")
    assert answer.facts["radius"] == pytest.approx(
        closed_loop(arm(), scaled, [0.3, 0.8]).radius, rel=1e-9
    )
    with pytest.raises(InvalidInput, match="--kp is '1 2 3', expected a number, or 2: one a joint"):
        stability("rehabilitation-arm", kp="1 2 3")
    with pytest.raises(InvalidInput, match="18 kg come without a stiffness"):
        stability("18")
