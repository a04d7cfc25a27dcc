"""Studies of machines with loops: selection, balancing and sweeps against plain analyses."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.actuation.implicit import followed
from linkwork.errors import InvalidFile, InvalidInput, UnknownName
from linkwork.studies.actuators import duties, select
from linkwork.studies.balancing import balance
from linkwork.studies.lines import Actuator, catalogue
from linkwork.studies.sweep import sweep
from tests.loops.machines import SCISSOR

LIFTED = 16.7 * 9.81


@pytest.fixture(scope="module")
def robot() -> lw.Robot:
    return lw.load("charmie")


# selection


def test_duties_are_peaks_and_means_of_the_analysis(robot):
    analysis = robot.analyse("validation", steps=501)
    for duty in duties(robot, [analysis]):
        effort, rate = analysis[f"actuator.{duty.name}"], analysis[f"command_rate.{duty.name}"]
        assert duty.peak == np.abs(effort).max()
        assert duty.rms == pytest.approx(np.sqrt((effort**2).mean()), rel=1e-14)
        assert duty.power == np.abs(effort * rate).max()
        assert duty.travel == np.ptp(analysis[f"command.{duty.name}"])
    assert {d.name for d in duties(robot, [analysis]) if d.kind == "linear"} == {
        "d1",
        "d2",
        "act4",
        "act5",
    }


def test_two_motions_ask_for_the_worse_of_both(robot):
    slow = robot.analyse("validation", times=[0.0, 0.5])
    whole = robot.analyse("validation", steps=51)
    both = {d.name: d for d in duties(robot, [slow, whole])}
    assert both["act5"].peak == np.abs(whole["actuator.act5"]).max()


def test_means_of_several_motions_are_over_time_not_over_samples(robot):
    """One second of the start and three of the end: 1/4 and 3/4 of the time,
    however many instants each has."""
    first = robot.analyse("validation", times=np.linspace(0.0, 1.0, 1001))
    last = robot.analyse("validation", times=np.linspace(2.0, 5.0, 601))
    for duty in duties(robot, [first, last]):
        squares = [np.trapezoid(a[f"actuator.{duty.name}"] ** 2, a.time) for a in (first, last)]
        # of the ends' whole steps
        assert duty.rms == pytest.approx(np.sqrt(sum(squares) / 4.0), rel=3e-3)
    coarse = np.concatenate([np.linspace(0.0, 0.5, 501), np.linspace(0.5, 1.0, 51)[1:]])
    uneven = robot.analyse("validation", times=coarse)
    evenly = {d.name: d for d in duties(robot, first)}
    for duty in duties(robot, uneven):
        assert duty.rms == pytest.approx(evenly[duty.name].rms, rel=2e-2)
        assert duty.mean_power == pytest.approx(evenly[duty.name].mean_power, rel=3e-2, abs=1e-12)


def test_poses_alone_count_the_same_each(robot):
    poses = [robot.analyse("validation", times=[t]) for t in (0.0, 2.0, 4.0)]
    expected = np.sqrt(np.mean([a["actuator.act5"][0] ** 2 for a in poses]))
    assert {d.name: d for d in duties(robot, poses)}["act5"].rms == pytest.approx(
        expected, rel=1e-14
    )


def test_a_motion_may_be_its_name_or_itself(robot):
    motion = robot.motions["validation"]
    assert (
        duties(robot, motion, steps=11)
        == duties(robot, "validation", steps=11)
        == duties(robot, [motion], steps=11)
    )
    with pytest.raises(InvalidInput, match="no motion is given, or none has an instant"):
        duties(robot, robot.analyse("validation", times=[]))


def test_the_smallest_line_that_can_do_it_is_chosen(robot):
    lines = [
        Actuator("weak", "linear", 300.0, 150.0, 1.0, 1e3, 0.1),
        Actuator("strong", "linear", 1000.0, 600.0, 1.0, 1e3, 0.1),
        Actuator("fitting", "linear", 450.0, 400.0, 1.0, 1e3, 0.1),
        Actuator("short", "linear", 450.0, 400.0, 1.0, 1e3, 0.01),
    ]
    found = select(robot, "validation", lines, margin=1.5, steps=101)["act5"]
    assert [line.name for line in found.fitting] == ["fitting", "strong"]
    assert found.choice.name == "fitting"
    assert found.why_not["weak"].startswith("peak effort 300 < 395")
    assert found.why_not["short"] == "stroke 0.01 < 0.01875"
    assert select(robot, "validation", lines, steps=11)["th3"].choice is None


def test_catalogues_are_read_extended_and_refused(tmp_path):
    own = catalogue()
    assert {line.kind for line in own} == {"linear", "rotary"}
    path = tmp_path / "mine.csv"
    path.write_text(
        "name,kind,peak,continuous,speed,power,stroke,source\nx,rotary,5,2,3,9,inf,me\n"
    )
    assert catalogue(path) == (Actuator("x", "rotary", 5.0, 2.0, 3.0, 9.0, source="me"),)
    path.write_text(
        "name,kind,peak,continuous,speed,power,stroke,source\nx,rotary,five,2,3,9,inf,me\n"
    )
    with pytest.raises(InvalidFile, match=r"mine.csv: row 2: could not convert string to float"):
        catalogue(path)
    path.write_bytes(b"name,kind\n\xff\n")
    with pytest.raises(InvalidFile, match="is not text in UTF-8"):
        catalogue(path)
    with pytest.raises(InvalidFile, match=r"your.csv: no such file"):
        catalogue(tmp_path / "your.csv")
    path.write_text("name,peak\n")
    with pytest.raises(InvalidFile, match="columns are"):
        catalogue(path)
    with pytest.raises(InvalidInput, match="expected linear or rotary"):
        Actuator("x", "hydraulic", 1.0, 1.0, 1.0, 1.0)


# balancing


def poses(robot: lw.Robot, n: int = 9) -> np.ndarray:
    c = np.zeros((n, len(robot.actuators)))
    c[:, robot.actuators.index("act4")] = np.linspace(0.36, 0.44, n)
    c[:, robot.actuators.index("act5")] = 0.4
    return c


def test_balancing_finds_the_zero_free_length_identity():
    """k h a / b = W / 2 a side: with h = 120 mm and a / b = 1/2 that is 1365.225 N/m."""
    robot = lw.load("charmie", live=["balance_spring"])
    found = balance(robot, poses(robot), ["act4"], bounds={"balance_spring": (0.0, 1e5)})
    assert found.success
    assert found.variables["balance_spring"] == pytest.approx(LIFTED / 2 / 0.12 * 2, rel=1e-12)
    assert np.abs(found.effort_after).max() < 1e-10
    assert found.effort_before[4, 0] == pytest.approx(168.652565, abs=1e-6)
    assert found.saving == pytest.approx(1.0, abs=1e-12)


def test_balancing_the_torso_lowers_the_sum_of_squares_and_its_gradient_vanishes():
    """No spring makes act5 free of load in all poses;
    at the optimum no nearby stiffness does better."""
    robot = lw.load("charmie", live=["torso_spring"])
    c = poses(robot, 5)
    c[:, robot.actuators.index("act5")] = np.linspace(0.36, 0.44, 5)
    found = balance(robot, c, ["act5"], bounds={"torso_spring": (0.0, 1e5)})
    best = found.variables["torso_spring"]

    def cost(stiffness: float) -> float:
        loads = robot.loads(*robot.from_actuators(c), variables={"torso_spring": stiffness})
        return float((loads.actuator("act5") ** 2).sum())

    assert cost(best) == pytest.approx(float((found.effort_after**2).sum()), rel=1e-12)
    assert 0.0 < found.saving < 1.0
    h = 1e-3 * best
    slope = (cost(best + h) - cost(best - h)) / (2 * h)
    # differences of sums of squares keep 1e-16 / 1e-3 of them
    assert abs(slope) * best < 1e-7 * cost(0.0)


def test_balancing_refuses_what_it_cannot_do(robot):
    live = lw.load("charmie", live=["balance_spring"])
    with pytest.raises(InvalidInput, match="no variable is live"):
        balance(robot, poses(robot))
    with pytest.raises(UnknownName, match='no actuator "act6"; did you mean'):
        balance(live, poses(live), ["act6"])
    with pytest.raises(InvalidInput, match="outside its bounds"):
        balance(live, poses(live), bounds={"balance_spring": (10.0, 20.0)})
    with pytest.raises(UnknownName, match='weights has "act5"; did you mean "act4"'):
        balance(live, poses(live), ["act4"], weights={"act5": 2.0})
    with pytest.raises(
        UnknownName, match='bounds has "balance_sprung"; did you mean "balance_spring"'
    ):
        balance(live, poses(live), ["act4"], bounds={"balance_sprung": (0.0, 1.0)})
    with pytest.raises(
        InvalidInput, match=r"weights\['act4'\] is -1.0, expected a positive number"
    ):
        balance(live, poses(live), ["act4"], weights={"act4": -1.0})
    with pytest.raises(InvalidInput, match="actuators is empty"):
        balance(live, poses(live), [])
    with pytest.raises(InvalidInput, match="variables is empty, expected some of"):
        balance(live, poses(live), ["act4"], [])
    with pytest.raises(InvalidInput, match=r'actuator "act5": length 0.2 m outside 0.297778'):
        balance(live, np.where(np.arange(21) == 4, 0.2, poses(live)), ["act4"])


ON_A_HINGE = """
linkwork: 1
name: on-a-hinge
gravity: [0, -9.81, 0]
variables: {foot: 0.3, head: 0.3}
bodies:
  arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.001, 0.02, 0.02], points: {head: ["${head}", 0, 0]}}
joints:
  hinge: {type: revolute, child: arm, axis: z}
elements:
  strut: {type: linear_actuator, foot: {body: world, at: [0, "${-foot}", 0]}, head: arm.head, joint: hinge}
"""


def test_balancing_turns_back_where_a_strut_cannot_reach(tmp_path):
    """Force = weight * strut / (2 head foot), less for a longer foot: up to 0.75 m,
    where 0.45 m reach no more."""
    file = tmp_path / "hinge.robot.yaml"
    file.write_text(ON_A_HINGE)
    robot = lw.load(file, live=["foot"])
    c = np.array([[0.5], [0.45]])
    found = balance(robot, c, bounds={"foot": (0.01, 5.0)})
    best = found.variables["foot"]
    assert best == pytest.approx(0.75, rel=1e-2) and best < 0.75
    assert found.effort_after == pytest.approx(9.81 / 2 / 0.3 * c / best, rel=1e-9)
    for foot in (0.3, best):
        expected = robot.loads(
            *robot.from_actuators(c, variables={"foot": foot}), variables={"foot": foot}
        ).efforts
        known = found.effort_before if foot == 0.3 else found.effort_after
        assert known == pytest.approx(expected, rel=1e-9)


# sweeps


def test_a_sweep_equals_one_analysis_a_design():
    robot = lw.load("charmie", live=["upper_arm", "balance_spring"])
    lengths = np.array([0.12, 0.145, 0.2])
    seen = []
    wanted = {"actuator.act5": ("peak", "rms"), "force.3.z": ("max", "mean"), "power.th8a": "peak"}
    wanted["spring.4slb"] = "min"
    designs = {"upper_arm": lengths, "balance_spring": [500.0]}
    found = sweep(robot, "validation", designs, wanted, 101, lambda *done: seen.append(done))
    assert seen == [(3, 3)]
    assert found.valid.all()
    motion = robot.motions["validation"]
    times = np.linspace(0.0, 5.0, 101)
    _, cd, _ = motion.commands(times)
    for k, length in enumerate(lengths):
        loads = robot.loads(
            *motion.sample(times), variables={"upper_arm": length, "balance_spring": 500.0}
        )
        act5, power = (
            loads.actuator("act5"),
            loads.actuator("th8a") * cd[:, robot.actuators.index("th8a")],
        )
        assert found["actuator.act5.peak"][k] == pytest.approx(np.abs(act5).max(), rel=1e-12)
        assert found["actuator.act5.rms"][k] == pytest.approx(np.sqrt((act5**2).mean()), rel=1e-12)
        assert found["force.3.z.max"][k] == pytest.approx(
            loads.joint_wrench("3")[:, 2].max(), rel=1e-13
        )
        assert found["force.3.z.mean"][k] == pytest.approx(
            loads.joint_wrench("3")[:, 2].mean(), rel=1e-13
        )
        assert found["power.th8a.peak"][k] == pytest.approx(np.abs(power).max(), rel=1e-11)
        assert found["spring.4slb.min"][k] == pytest.approx(loads.spring("4slb").min(), rel=1e-12)
    assert (np.diff(found["actuator.act5.peak"]) > 0.0).all()
    assert found.best("actuator.act5.peak") == 0


def test_a_sweep_follows_loops_without_a_closed_form():
    robot = lw.load(SCISSOR, live=["half", "stiffness"])
    c = np.linspace(0.85, 0.95, 51)[:, None]
    motion = {"c": c, "cd": np.full_like(c, 0.1), "cdd": np.zeros_like(c)}
    halves = np.array([0.95, 1.0, 1.05])
    found = sweep(
        robot, motion, {"half": halves}, {"force.base.z": "max", "actuator.strut_left": "peak"}
    )
    assert found.valid.all()
    for k, half in enumerate(halves):
        q, v, a = robot.from_actuators(c, motion["cd"], variables={"half": half})
        loads = robot.loads(q, v, a, variables={"half": half})
        assert found["force.base.z.max"][k] == pytest.approx(loads.base[:, 2].max(), rel=1e-11)
        peak = np.abs(loads.actuator("strut_left")).max()
        assert found["actuator.strut_left.peak"][k] == pytest.approx(peak, rel=1e-9)


def test_designs_that_cannot_close_are_marked():
    robot = lw.load("charmie", live=["upper_arm"])
    found = sweep(robot, "validation", {"upper_arm": [0.145]}, {"actuator.act4": "peak"}, 11)
    assert found.valid.all()
    c = np.zeros((3, 21))
    c[:, 3] = c[:, 4] = [0.4, 0.4, 0.2]  # act5 = 0.2 m is out of reach
    broken = sweep(robot, {"c": c}, {"upper_arm": [0.145, 0.2]}, {"actuator.act4": "peak"})
    assert not broken.valid.any()
    assert np.isnan(broken["actuator.act4.peak"]).all()
    with pytest.raises(InvalidInput, match="no design is valid"):
        broken.best("actuator.act4.peak")


def test_sweeps_refuse_unknown_words():
    robot = lw.load("charmie", live=["upper_arm"])
    with pytest.raises(UnknownName, match='"forearm" is not a live variable'):
        sweep(robot, "validation", {"forearm": [0.1]}, {"actuator.act4": "peak"})
    with pytest.raises(UnknownName, match=r'no column "actuator.act6"; did you mean'):
        sweep(robot, "validation", {"upper_arm": [0.1]}, {"actuator.act6": "peak"})
    with pytest.raises(InvalidInput, match="asks for 'median', expected one of peak"):
        sweep(robot, "validation", {"upper_arm": [0.1]}, {"actuator.act4": "median"})
    with pytest.raises(InvalidInput, match="columns is empty"):
        sweep(robot, "validation", {"upper_arm": [0.1]}, {})
    with pytest.raises(InvalidInput, match="upper_arm is not finite in every design"):
        sweep(robot, "validation", {"upper_arm": [0.1, np.nan]}, {"actuator.act4": "peak"})
    for steps in (0, -1, 1.5, True):
        with pytest.raises(
            InvalidInput, match=f"steps is {steps}, expected a whole number of instants"
        ):
            sweep(robot, "validation", {"upper_arm": [0.1]}, {"actuator.act4": "peak"}, steps)
    with pytest.raises(InvalidInput, match='motion has "cx"'):
        sweep(
            robot,
            {"c": np.zeros((2, 21)), "cx": np.zeros((2, 21))},
            {"upper_arm": [0.1]},
            {"actuator.act4": "peak"},
        )


def test_a_sweep_knows_every_column_of_an_analysis():
    """All 423 of them but the time, at the peak of a motion that is given itself."""
    robot = lw.load("charmie", live=["upper_arm"])
    motion = robot.motions["validation"]
    analysis = robot.analyse(motion, steps=3)
    wanted = {name: "max" for name in analysis.names if name != "time"}
    found = sweep(robot, motion, {"upper_arm": [0.145]}, wanted, 3)
    for name in wanted:
        assert found[f"{name}.max"][0] == pytest.approx(
            analysis[name].max(), rel=1e-10, abs=1e-10
        ), name


# balancing loops without a closed form

PARALLELOGRAM = """
linkwork: 1
name: parallelogram
gravity: [0, -9.81, 0]
variables: {length: 0.5, far: 0.5, height: 0.4, stiffness: 20 N/m}
bodies:
  crank:
    {mass: 1, com: ["${length/2}", 0, 0],
     inertia: [0.001, 0.02, 0.02], points: {tip: ["${length}", 0, 0], hook: [0.3, 0, 0]}}
  coupler: {mass: 1, com: [0.5, 0, 0], inertia: [0.001, 0.08, 0.08], points: {tip: [1, 0, 0]}}
  rocker: {mass: 1, com: ["${far/2}", 0, 0], inertia: [0.001, 0.02, 0.02], points: {tip: ["${far}", 0, 0]}}
joints:
  crank: {type: revolute, child: crank, axis: z}
  coupler: {type: revolute, parent: crank, child: coupler, axis: z, placement: {point: tip}}
  rocker: {type: revolute, child: rocker, axis: z, placement: [1, 0, 0]}
elements:
  pin: {type: loop_closure, kind: planar_hinge, first: coupler.tip, second: rocker.tip, dependent: [coupler, rocker]}
  spring: {type: spring, first: {body: world, at: [0, "${height}", 0]}, second: crank.hook, stiffness: "${stiffness}"}
configurations:
  reference: {crank: 0.7, coupler: -0.7, rocker: 0.7}
"""


@pytest.fixture(scope="module")
def parallelogram(tmp_path_factory) -> lw.Robot:
    file = tmp_path_factory.mktemp("machines") / "parallelogram.robot.yaml"
    file.write_text(PARALLELOGRAM)
    return lw.load(file, live=["far", "height", "stiffness"])


def test_balancing_a_loop_without_closed_form_finds_the_zero_free_length_identity(parallelogram):
    """Three bars of 1 kg weigh g (l/2 + l + l/2) cos(angle) about the crank;
    the spring lifts by k h a cos(angle)."""
    c = np.linspace(0.3, 1.2, 7)[:, None]
    for free, product in (("stiffness", 0.4 * 0.3), ("height", 20 * 0.3)):
        found = balance(parallelogram, c, ["crank"], variables=[free], bounds={free: (0.0, 1e4)})
        assert found.success
        assert found.variables[free] == pytest.approx(2 * 0.5 * 9.81 / product, rel=1e-9)
        assert np.abs(found.effort_after).max() < 1e-8
        assert found.effort_before[:, 0] == pytest.approx(
            (9.81 - 20 * 0.4 * 0.3) * np.cos(c[:, 0]), abs=1e-9
        )


def test_the_optimum_over_a_length_of_the_loop_is_one(parallelogram):
    """The rocker's length moves the whole loop: its part of the slope comes by the implicit
    function theorem."""
    c = np.linspace(0.3, 1.0, 5)[:, None]
    found = balance(parallelogram, c, ["crank"], variables=["far"], bounds={"far": (0.4, 1.5)})

    def cost(far: float) -> float:
        q, v, a = parallelogram.from_actuators(c, variables={"far": far})
        return float(
            (parallelogram.loads(q, v, a, variables={"far": far}).actuator("crank") ** 2).sum()
        )

    best = found.variables["far"]
    assert 0.41 < best < 1.49 and found.saving > 0.01
    near = np.array([cost(best + h) for h in (-1e-3, 0.0, 1e-3)])
    assert near[1] == pytest.approx(float((found.effort_after**2).sum()), rel=1e-9)
    assert near[1] < near[0] and near[1] < near[2]
    assert abs(near[2] - near[0]) < 1e-5 * near[1]


def test_derivatives_of_followed_loops_equal_differences(parallelogram):
    subject, present = parallelogram.subject, dict(parallelogram.model.variables)
    x, c, q = casadi.SX.sym("far"), casadi.SX.sym("c"), casadi.SX.sym("q", 3)
    live = {name: x if name == "far" else casadi.SX(present[name]) for name in subject.live}
    after = followed(subject, subject.traced_tree(live), q, c)
    slope = casadi.Function("slope", [x, c, q], [casadi.jacobian(after, x), after])
    h = 1e-6
    q0, low, high = (
        parallelogram.from_actuators([0.8], variables={"far": 0.6 + s * h})[0] for s in (0, -1, 1)
    )
    found, again = (np.array(part).ravel() for part in slope(0.6, 0.8, q0))
    assert again == pytest.approx(q0, abs=1e-14)
    assert found == pytest.approx((high - low) / (2 * h), abs=1e-8)
    assert np.abs(found[1:]).min() > 0.1


def test_designs_whose_loops_do_not_close_at_the_start_are_marked_and_the_others_are_not(
    parallelogram,
):
    """A rocker of 0.05 m or 5 m cannot reach; coarse instants, 0.2 rad apart,
    do not harm the others."""
    far = np.array([0.5, 0.05, 0.6, 5.0])
    for steps in (5, 41):
        c = np.linspace(0.3, 1.1, steps)[:, None]
        found = sweep(parallelogram, {"c": c}, {"far": far}, {"actuator.crank": "peak"})
        assert list(found.valid) == [True, False, True, False]
        assert list(np.isnan(found["actuator.crank.peak"])) == [False, True, False, True]
        for k in (0, 2):
            q, v, a = parallelogram.from_actuators(c, variables={"far": far[k]})
            torque = parallelogram.loads(q, v, a, variables={"far": far[k]}).actuator("crank")
            assert found["actuator.crank.peak"][k] == pytest.approx(np.abs(torque).max(), rel=1e-9)


def test_a_sweep_shows_a_bar_where_it_is_asked_to(capsys, monkeypatch):
    from rich.progress import Progress

    seen = []
    update = Progress.update
    monkeypatch.setattr(
        Progress, "update", lambda self, task, **now: seen.append(now) or update(self, task, **now)
    )
    robot = lw.load("charmie", live=["upper_arm"])
    given = ({"upper_arm": np.linspace(0.1, 0.2, 3)}, {"actuator.act4": "peak"}, 11)
    quiet = sweep(robot, "validation", *given)
    assert not seen and capsys.readouterr() == ("", "")
    loud = sweep(robot, "validation", *given, progress=True)
    # the bar is drawn beside the results, on stderr
    assert seen == [{"completed": 3}] and not capsys.readouterr().out
    assert np.array_equal(loud["actuator.act4.peak"], quiet["actuator.act4.peak"])


def test_a_sweep_takes_a_motion_as_everybody_says_it():
    machine = lw.load("four-bar", live=["crank"])
    designs, column = {"crank": [0.28, 0.3]}, {"actuator.crank": "peak"}
    time = np.linspace(0.0, 1.0, 41)
    c = machine.motions["turn"].commands(time)[0]
    expected = lw.studies.sweep(machine, {"time": time, "c": c}, designs, column)[
        "actuator.crank.peak"
    ]
    by_name = lw.studies.sweep(machine, {"time": time, "crank": c[:, 0]}, designs, column)[
        "actuator.crank.peak"
    ]
    np.testing.assert_allclose(by_name, expected, rtol=1e-12)
    with pytest.raises(InvalidInput, match="depends on its dimensions"):
        lw.studies.sweep(machine, {"time": time, "q": np.zeros((41, machine.nq))}, designs, column)


def test_duties_take_every_motion_that_analyse_takes(tmp_path):
    arm = lw.load("ur5e")
    law = lw.trajectory.quintic(arm.home, arm.home + [1.0, 0.3, -0.4, 0.0, 0.0, 0.0], duration=0.8)
    expected = lw.studies.duties(arm, arm.analyse(law.motion))
    for motion in (law.motion, law.to_pandas(), law.to_csv(tmp_path / "law.csv"), [law.motion]):
        for one, other in zip(lw.studies.duties(arm, motion), expected, strict=True):
            assert one.peak == pytest.approx(other.peak, rel=1e-6)
    # its own instants
    assert lw.studies.duties(arm, law)[2].peak == pytest.approx(expected[2].peak, rel=1e-2)
