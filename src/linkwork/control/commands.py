"""linkwork control, tune, stability: run and judge a law, search its gains,
and ask before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.arguments import choice
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import Configuration, RobotName, configuration, payload_of
from linkwork.cli.motions import motion_of
from linkwork.cli.output import tidy
from linkwork.control import (
    ConstantRate,
    ExponentialReaching,
    PowerExponential,
    SlidingMode,
    Surface,
    check_target,
    closed_loop,
    judge,
    sampled_stability,
)
from linkwork.control import tune as tuned
from linkwork.errors import InvalidInput
from linkwork.simulation import PD, ComputedTorque, GravityCompensation, Metrics, PerStep, Sampled
from linkwork.simulation.controllers import Controller
from linkwork.simulation.foreseen import foreseen_gains
from linkwork.simulation.plants import plant_of

LAWS = ("pd", "pd-inertia", "computed-torque", "sliding", "sliding-exponential", "sliding-power")
SMOOTH = ("pd", "pd-inertia", "computed-torque")
"""Laws that have a linear loop, and so margins."""
FIRST = "computed-torque"
"""The law that no option asks for: its gains suit joints of every size."""
SHOWN = ("rms", "max_error", "steady_error", "overshoot", "settling", "peak", "variation")

Weight = Annotated[
    float, typer.Option("--payload", help="Mass at the last frame that the law does not know [kg].")
]
Stiffness = Annotated[
    str,
    typer.Option(
        help="One number, or one a joint: stiffness [N m/rad] of pd, 1/s^2 of pd-inertia and "
        "computed-torque, slope "
        "[1/s] of sliding."
    ),
]
Damping = Annotated[
    str,
    typer.Option(
        help="One number, or one a joint: damping [N m s/rad] of pd, 1/s of pd-inertia and "
        "computed-torque, gain "
        "[rad/s^2] of sliding."
    ),
]


def _law(name: str, goal: Any, at: np.ndarray, kp: Any, kd: Any, model: lw.Robot) -> Controller:
    """The law of a name; for sliding modes kp is the slope [1/s] and kd the gain [rad/s^2].

    at   configuration whose inertias scale the gains of pd-inertia
    """
    if name == "pd":
        return GravityCompensation(model) + PD(kp, kd, goal)
    if name == "pd-inertia":
        inertia = np.diag(model.mass_matrix(at))
        return GravityCompensation(model) + PD(kp * inertia, kd * inertia, goal)
    if name == "computed-torque":
        return ComputedTorque(kp, kd, goal, model)
    laws = {
        "sliding": ConstantRate(kd),
        "sliding-exponential": ExponentialReaching(kd, 0.1, 2.0, 0.5),
        "sliding-power": PowerExponential(kd, 0.1, 2.0, 0.5, 0.25),
    }
    return SlidingMode(Surface(kp), laws[name], goal, model)


def control(
    robot: RobotName,
    law: Annotated[
        str, typer.Option(help=f"One of {', '.join(LAWS)}; several with commas are compared.")
    ] = FIRST,
    q: Configuration = None,
    motion: Annotated[
        str | None,
        typer.Option(
            help="A motion to follow instead of q: one of the robot's own, or a file with columns "
            "time, q.JOINT."
        ),
    ] = None,
    offset: Annotated[
        float, typer.Option(help="Every joint starts this far off its goal [rad, m].")
    ] = 0.1,
    kp: Stiffness = "100",
    kd: Damping = "20",
    period: Annotated[float, typer.Option(help="Sample time of the law [s].")] = 1e-3,
    delay: Annotated[float, typer.Option(help="From measuring to acting [s].")] = 0.0,
    duration: Annotated[
        float | None, typer.Option(help="How long [s]; left out: 1 s, or as long as the motion.")
    ] = None,
    step: Annotated[float, typer.Option(help="Step of the integrator [s].")] = 1e-3,
    payload: Weight = 0.0,
    report: Annotated[
        Path | None,
        typer.Option(help="A page (.html) with figures, margins, errors and forces of all laws."),
    ] = None,
) -> Answer:
    """A law that brings a robot to a configuration or along a motion, run and judged;
    several laws side by side.

    Example:  linkwork control rehabilitation-arm --law pd,sliding --kp 40 --kd 5 --duration 2
              --report laws.html
    """
    names = [choice(word.strip(), LAWS, "control: --law") for word in law.split(",")]
    loaded = lw.load(robot)
    gains = _gains(loaded, kp, "control: --kp"), _gains(loaded, kd, "control: --kd")
    if loaded.nq != loaded.nv:
        raise InvalidInput(
            f'control: robot "{loaded.name}" has quaternions; the command is for arms with '
            "plain joints"
        )
    if motion is not None and q is not None:
        raise InvalidInput("control: --q and --motion are both given, expected one of them")
    goal: Any = configuration(loaded, q) if motion is None else None
    length, rows, target = 1.0 if duration is None else duration, goal, goal
    speed = np.zeros(loaded.nv)
    if motion is not None:
        length, rows, target = _followed(loaded, motion, duration, step)
        goal, speed = rows[0], target.velocity[0]
    figures_by_law, runs, laws, carried = {}, {}, {}, payload_of(loaded, payload)
    for name in names:
        controller = Sampled(_law(name, target, goal, *gains, loaded), period, delay)
        runs[name] = lw.simulate(
            loaded,
            goal + offset,
            speed,
            duration=length,
            step=step,
            control=controller,
            payload=carried,
            energy_tolerance=np.inf,
            failures="keep",
        )
        if bool(runs[name].success):
            figures_by_law[name] = judge(runs[name], rows)
        ends = _law(name, rows[-1], goal, *gains, loaded) if motion is not None else None
        laws[name] = controller if ends is None else Sampled(ends, period, delay)
    shown: list[Table | str] = []
    for name, run in runs.items():
        if name not in figures_by_law:
            shown.append(f"{loaded.name} under {name} is lost: {run.foreseen or run.reason}")
            continue
        figures = figures_by_law[name]
        columns = [key for key in SHOWN if key in figures]
        numbers = [["never" if np.isnan(x) else x for x in tidy(figures[key])] for key in columns]
        cells = [
            [joint, *[column[k] for column in numbers]] for k, joint in enumerate(loaded.joints)
        ]
        shown.append(
            Table(f"{loaded.name} under {name}, every {period:g} s", ("joint", *columns), cells)
        )
        shown.append(f"ISE {figures['squared_error']:.4g}, effort {figures['effort']:.4g}")
    if figures_by_law:
        shown.append(
            "errors in rad or m, forces in N m or N, their variation a second, settling in s"
        )
    written = []
    if report is not None:
        from linkwork.view.control_report import write_control_report

        written.append(write_control_report(loaded, runs, rows, report, laws, payload=carried))
    lost = {
        name: {"lost": str(run.reason)} for name, run in runs.items() if name not in figures_by_law
    }
    facts = {"robot": loaded.name, "laws": figures_by_law | lost}
    return Answer(facts, shown, written, code=0 if figures_by_law else 1)


def _gains(robot: lw.Robot, text: Any, who: str) -> Any:
    """One number for all joints, or one a joint (nv,)."""
    words = str(text).replace(",", " ").split()
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        numbers = np.zeros(0)
    if len(numbers) not in (1, robot.nv):
        raise InvalidInput(f"{who} is {text!r}, expected a number, or {robot.nv}: one a joint")
    return numbers if len(numbers) > 1 else float(numbers[0])


def _followed(
    robot: lw.Robot, motion: str, duration: float | None, step: float
) -> tuple[float, np.ndarray, PerStep]:
    """(how long [s], rows (T, nq) at every step, what a law follows) of a motion;
    refused outside joint ranges."""
    sampled: Callable[..., tuple[np.ndarray, ...]]
    name, source = motion_of(robot, motion, "control")
    if isinstance(source, str):
        path = robot.motions[source]
        first, last, sampled = 0.0, float(path.duration), path.sample
    else:
        first, last, sampled = float(source["time"][0]), float(source["time"][-1]), _spline(source)
    steps = int(np.floor((last - first if duration is None else duration) / step + 1e-6))
    if steps < 1:
        raise InvalidInput(f"control: motion {name!r} is shorter than a step of {step:g} s")
    times = step * np.arange(steps + 1)
    q, v, a = (np.asarray(x, dtype=float) for x in sampled(np.minimum(first + times, last)))
    check_target(robot, q, times)
    return steps * step, q, PerStep(q, v, a)


def _spline(rows: Mapping[str, np.ndarray]) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    """A file's rows as functions of time, smooth to the second derivative."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(rows["time"], rows["q"])
    return lambda t: (curve(t), curve(t, 1), curve(t, 2))


def tune(
    robot: RobotName,
    law: Annotated[str, typer.Option(help=f"One of {', '.join(LAWS)}.")] = FIRST,
    q: Configuration = None,
    offset: Annotated[
        float, typer.Option(help="Every joint starts this far off its goal [rad, m].")
    ] = 0.1,
    kp: Annotated[str, typer.Option(help="Bounds LOW,HIGH of kp.")] = "1,1000",
    kd: Annotated[str, typer.Option(help="Bounds LOW,HIGH of kd.")] = "0.1,100",
    figure: Annotated[
        str, typer.Option(help="What is minimised: squared_error, effort, max_error ...")
    ] = "squared_error",
    peak: Annotated[float | None, typer.Option(help="Largest force of a joint [N m, N].")] = None,
    samples: Annotated[int, typer.Option(help="Gain sets a round.")] = 500,
    rounds: Annotated[
        int, typer.Option(help="Rounds: each draws around the best of those before.")
    ] = 2,
    period: Annotated[float, typer.Option(help="Sample time of the law [s].")] = 1e-3,
    duration: Annotated[float, typer.Option(help="How long [s].")] = 1.0,
    payload: Weight = 0.0,
) -> Answer:
    """Gains of a law by thousands of runs at once.

    Example:  linkwork tune rehabilitation-arm --law pd --peak 8
    """
    choice(law, LAWS, "tune: --law")
    loaded = lw.load(robot)
    goal = configuration(loaded, q)
    bounds = {"kp": _bounds(kp, "--kp"), "kd": _bounds(kd, "--kd")}
    tried = tuned(
        loaded,
        lambda kp, kd: Sampled(_law(law, goal, goal, kp, kd, loaded), period),
        bounds,
        goal + offset,
        Metrics(goal),
        figure=figure,
        constraints=None if peak is None else {"peak": peak},
        samples=samples,
        rounds=rounds,
        duration=duration,
        step=min(1e-3, period),
        payload=payload_of(loaded, payload),
    )
    stable = f"{int(tried.stable.sum())} of {len(tried.stable)} sets are stable"
    front = tried.pareto("squared_error", "effort")[:12]
    columns = [*tried.sets.values(), tried.figures["squared_error"], tried.figures["effort"]]
    rows = [list(tidy(np.array([column[k] for column in columns]))) for k in front]
    table = Table(
        f"{loaded.name}, {law}: error against effort", (*bounds, "squared error", "effort"), rows
    )
    best = f"best: kp {tried.gains['kp']:.5g}, kd {tried.gains['kd']:.5g} ({stable})"
    facts = {
        "robot": loaded.name,
        "gains": tried.gains,
        figure: tried.score[tried.best],
        "stable": stable,
    }
    return Answer(facts, [table, best])


def stability(
    subject: Annotated[str, typer.Argument(help="A mass [kg] that the frame shows, or a robot.")],
    stiffness: Annotated[
        float | None, typer.Argument(help="Stiffness [N/m] that holds the mass.")
    ] = None,
    damping: Annotated[
        float, typer.Option(help="Damping on the differenced error of the mass [N s/m].")
    ] = 0.0,
    half_damping: Annotated[
        float, typer.Option(help="Half-order damping of the mass [N s^1/2/m].")
    ] = 0.0,
    law: Annotated[
        str, typer.Option(help=f"Law of the robot: one of {', '.join(SMOOTH)}.")
    ] = FIRST,
    q: Configuration = None,
    kp: Stiffness = "100",
    kd: Damping = "20",
    period: Annotated[float, typer.Option(help="Sample time [s].")] = 1e-3,
    delay: Annotated[int, typer.Option(help="Whole periods from measuring to acting.")] = 0,
    payload: Weight = 0.0,
) -> Answer:
    """Whether a sampled spring holds a mass, or a sampled law a robot, before anything moves;
    and how much is left.

    Example:  linkwork stability 18.3 8000 --damping 7600 --period 0.005
    Example:  linkwork stability rehabilitation-arm --law pd --kp 20 --kd 2 --delay 1
    """
    try:
        mass = float(subject)
    except ValueError:
        robot = lw.load(subject)
        choice(law, SMOOTH, "stability: --law")
        goal = configuration(robot, q)
        gains = _gains(robot, kp, "stability: --kp"), _gains(robot, kd, "stability: --kd")
        control = Sampled(_law(law, goal, goal, *gains, robot), period, delay * period)
        return _margins(robot, law, control, goal, payload)
    if stiffness is None:
        raise InvalidInput(
            f"stability: {mass:g} kg come without a stiffness; say both, or name a robot"
        )
    verdict = sampled_stability(mass, stiffness, damping, half_damping, period, delay=delay)
    facts = {
        "radius": verdict.radius,
        "stable": verdict.stable,
        "largest_damping": verdict.largest_damping,
    }
    more = (
        f"spectral radius {verdict.radius:.5f}, largest damping {verdict.largest_damping:.1f} N s/m"
    )
    return Answer(facts, [str(verdict), more])


def _margins(robot: lw.Robot, law: str, control: Sampled, goal: np.ndarray, mass: float) -> Answer:
    """The loop of a robot about a configuration: its spectral radius,
    and the margins of every joint's loop."""
    loop = closed_loop(robot, control, goal, payload=payload_of(robot, mass))
    margins = {joint: loop.loop_gain(joint).margins() for joint in loop.joints}
    cells = [
        [
            joint,
            *tidy(
                np.array([m.gain, np.rad2deg(m.phase), 1e3 * m.delay, m.crossover, m.sensitivity])
            ),
        ]
        for joint, m in margins.items()
    ]
    columns = ("joint", "gain", "phase [deg]", "delay [ms]", "crossover [rad/s]", "sensitivity")
    stable = bool(loop.radius < 1)
    told = f"{robot.name} under {law} every {control.period:g} s"
    verdict = f"{told} is {'stable' if stable else 'UNSTABLE'}: spectral radius {loop.radius:.5f}"
    plant = plant_of(robot, payload_of(robot, mass))
    cause = foreseen_gains(plant, control.bound(plant), goal)
    verdict += f"; {cause}" if cause else ""
    facts = {
        "robot": robot.name,
        "radius": float(loop.radius),
        "stable": stable,
        "margins": {joint: asdict(m) for joint, m in margins.items()},
    }
    table = Table(f"margins of {told}", columns, cells)
    # an unstable loop has no margins
    return Answer(facts, [table, verdict] if stable else [verdict])


def _bounds(text: str, name: str) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in text.split(","))
    except ValueError:
        raise InvalidInput(f"tune: {name} is {text!r}, expected two numbers LOW,HIGH") from None
    return low, high
