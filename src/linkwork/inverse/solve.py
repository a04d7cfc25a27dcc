"""The ways to solve: options checked, then the method that was asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import as_doubles, choice, number
from linkwork.errors import InvalidInput, NotPossible, did_you_mean
from linkwork.inverse.mechanism import limits_of
from linkwork.inverse.moves import STEPS, Rule
from linkwork.inverse.numeric import (
    RESTARTS,
    TOLERANCE,
    SearchSettings,
    Solver,
    plain_of,
    remember_plain,
    solver_of,
)
from linkwork.inverse.options import (
    configuration_of,
    flag,
    interval,
    not_negative,
    penalty_of,
    preferred,
    refuse_batch,
    speeds_of,
    start_of,
    tolerances,
)
from linkwork.inverse.pseudo_inverse import OBJECTIVES, PseudoInverseSettings, follow
from linkwork.inverse.recursive import JointStep, Run, order_of, step_of
from linkwork.inverse.recursive import run as run_sweeps
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.targets import Format, format_of, goals_of
from linkwork.inverse.track import track as track_path
from linkwork.subject import Subject

WHO = "inverse_kinematics"
MOST_RESTARTS, MOST_SWEEPS = 10**6, 10**9


@dataclass(frozen=True)
class Asked:
    """What every method is asked: a target for a frame of a robot, from a start or none."""

    who: str
    subject: Subject
    target: Any
    frame: Any
    q0: Any = None

    def read(
        self, task: str | None = None, **how: Any
    ) -> tuple[tuple[Any, ...], tuple[Format, ...], Solver]:
        """(targets, formats of one sample, solver); how: axes, direction, weights,
        see `targets.Goal`."""
        goals, targets = goals_of(self.who, self.frame, self.target, task, **how)
        formats = tuple(
            format_of(self.who, goal, t) for goal, t in zip(goals, targets, strict=True)
        )
        return targets, formats, solver_of(self.who, self.subject, goals, formats)

    def start(self) -> np.ndarray | None:
        """q0 checked, if there is one."""
        return None if self.q0 is None else configuration_of(self.who, self.subject, "q0", self.q0)


def inverse_kinematics(
    subject: Subject, target: Any, frame: Any, q0: Any, method: str, options: Mapping[str, Any]
) -> InverseKinematics:
    """One call for every method; a plain single target takes the shortest way.

    Every method has the option time_limit: seconds after which it ends with NotPossible.
    """
    if not options and type(frame) is str and type(target) is np.ndarray and method == "auto":
        plain = plain_of(subject, frame, target.shape)
        start = None if q0 is None else configuration_of(WHO, subject, "q0", q0)
        if plain is not None and (start is None or start.ndim == 1):
            answer = plain(target, start)
            return (
                answer
                if answer.success
                else _decided(Asked(WHO, subject, target, frame, start), answer, options)
            )
    solve = METHODS[choice(method, tuple(METHODS), f"{WHO}: method")]
    known = [*list(inspect.signature(solve).parameters)[1:], "time_limit"]
    for name in options:
        if name not in known:
            raise InvalidInput(
                f'{WHO}: method "{method}" has no option {name!r}{did_you_mean(name, known)}; it '
                f"has {known}"
            )
    asked = Asked(WHO, subject, target, frame, q0)
    options = dict(options)
    with deadlines.time_limit(options.pop("time_limit", None), WHO):
        answer = solve(asked, **options)
        if method != "auto" or np.all(answer.success):
            return answer
        return _decided(asked, answer, options)


def _decided(
    asked: Asked, answer: InverseKinematics, options: Mapping[str, Any]
) -> InverseKinematics:
    """What the search did not reach, decided by a closed form where one knows every posture;
    see closed_form.py."""
    if not set(options) <= {"task", "limits", "tolerance", "restarts"}:
        return answer
    targets, _, solver = asked.read(options.get("task"))
    # here: their families take longer to import than to ask
    from linkwork.inverse.closed_form import (
        decides,
        settled,
    )

    if not decides(solver):
        return answer
    limits = limits_of(WHO, asked.subject, options.get("limits", True))
    tolerance = tolerances(WHO, options.get("tolerance", TOLERANCE))
    return settled(solver, answer, targets[0], asked.start(), limits, tolerance)


def analytic(
    asked: Asked,
    *,
    limits: Any = True,
    tolerance: Any = TOLERANCE,
    free: Any = None,
) -> InverseKinematics:
    """Of all postures that closed forms give (lw.classify),
    the one within the limits nearest to q0.

    q0           left out: the middle of the ranges
    limits       True: the robot's own; False: none; or (lower, upper) of q
    tolerance    [m] and [rad]: what forward kinematics must agree to
    free         (k,) values of the free parameter of seven axes; left out: that of q0, then others
                 over a turn
    """
    who, subject = asked.who, asked.subject
    targets, formats, solver = asked.read()
    goal, *others = solver.goals
    if others or goal.axes or goal.task not in ("pose", "position"):
        raise NotPossible(
            f"{who}: closed forms take one frame and its whole pose or position; use "
            'method="numeric"'
        )
    start = asked.start()
    refuse_batch(who, start, targets, formats)
    from linkwork.inverse.closed_form import closed_form  # here, as above

    return closed_form(
        solver, targets[0], start, limits_of(who, subject, limits), tolerances(who, tolerance), free
    )


def numeric(
    asked: Asked,
    *,
    task: str | None = None,
    axes: Any = None,
    direction: Any = (0.0, 0.0, 1.0),
    weights: Any = None,
    limits: Any = True,
    tolerance: Any = TOLERANCE,
    restarts: int = RESTARTS,
    prefer: Any = None,
    track: bool = False,
    dt: float | None = None,
) -> InverseKinematics:
    """Configurations for one target, a batch, or a path, by damped least squares in machine code.

    task, axes, direction, weights   of frames given by name; see `targets.Goal`
    limits       True: the robot's own (joint limits and strokes); False: none; or (lower, upper) of
                 q. Legs that move several coordinates at once (a platform's) keep their strokes in
                 any case
    tolerance    [m] and [rad], one number or two: within it forward kinematics of the answer must
                 reach the target
    restarts     further starts after the first, see seeds.py; 0: only from q0
    prefer       "near": of all answers around the start the one nearest to q0; "center": nearest to
                 the middle of the ranges; or a configuration (..., nq) to be near to
    track        targets (..., T, shape) are points of a path; each starts from the answer before
                 it, see track.py
    dt           sampling time of the path [s]: joints keep their speed limits from point to point
    """
    who, subject = asked.who, asked.subject
    targets, formats, solver = asked.read(task, axes=axes, direction=direction, weights=weights)
    start = asked.start()
    refuse_batch(who, start, targets, formats, path=flag(who, "track", track))
    settings = SearchSettings(
        limits=None if limits is True else limits_of(who, subject, limits),
        tolerance=tolerances(who, tolerance),
        restarts=deadlines.counted(restarts, f"{who}: restarts", 0, MOST_RESTARTS),
        prefer=preferred(who, subject, prefer, start, solver),
    )
    usual = task is axes is weights is prefer is None and limits is True
    if track:
        return track_path(solver, targets, start, settings, interval(who, dt))
    if dt is not None:
        raise InvalidInput(
            f"{who}: dt is {dt!r}, but only a path has a sampling time; give track=True"
        )
    usual = usual and (settings.tolerance, settings.restarts) == ((TOLERANCE, TOLERANCE), RESTARTS)
    if usual and isinstance(asked.frame, str):
        remember_plain(subject, asked.frame, formats[0], solver)
        if targets[0].shape == formats[0] and (start is None or start.ndim == 1):
            return solver.plain(targets[0], start)
    return solver.many(targets, start, settings)


def recursive(
    asked: Asked,
    *,
    task: str | None = None,
    axes: Any = None,
    direction: Any = (0.0, 0.0, 1.0),
    weights: Any = None,
    limits: Any = True,
    tolerance: Any = 1e-6,
    step: str = "exact",
    order: Any = "base_to_tip",
    partial: bool = False,
    penalty: Any = None,
    velocity_limits: Any = None,
    dt: float | None = None,
    sweeps: int = 2000,
    kick: float = 1e-3,
    clip_start: bool = False,
    track: bool = False,
) -> InverseKinematics:
    """Configurations by sweeps that move one joint at a time; see recursive.py.

    step              "exact", "small_angle" (the paper's) or "clipped" (the paper's, never longer
                      than the exact one)
    order             "base_to_tip", "tip_to_base", "best_first", or a list of joints; partial: some
                      may rest
    penalty           None; True or "one_sided"; "symmetric" as the paper prints it; needs finite
                      limits
    velocity_limits   True: the robot's own; or (lowest, highest) speeds of q; with the sampling
                      time dt [s]
    sweeps            most sweeps for one point; of best_first, whose sweeps move one joint, as many
                      times the joints
    kick              how far joints are kicked out of a stationary configuration [rad, m]; 0: not
                      at all
    clip_start        a q0 outside the limits is moved onto them instead of refused
    track             targets (..., T, shape) are points of a path
    """
    who, subject = asked.who, asked.subject
    targets, formats, solver = asked.read(task, axes=axes, direction=direction, weights=weights)
    bounds = limits_of(who, subject, limits)
    rule = Rule(
        step=choice(step, STEPS, f"{who}: step"),
        penalty=penalty_of(who, subject, penalty, bounds, solver),
        order=order_of(who, solver.mechanism, order, flag(who, "partial", partial)),
    )
    settings = Run(
        rule=rule,
        limits=bounds,
        speeds=speeds_of(who, subject, velocity_limits, interval(who, dt)),
        tolerance=tolerances(who, tolerance),
        sweeps=deadlines.counted(sweeps, f"{who}: sweeps", 1, MOST_SWEEPS),
        kick=not_negative(who, "kick", kick),
    )
    start = start_of(who, subject, asked.q0, bounds, solver, flag(who, "clip_start", clip_start))
    refuse_batch(who, start, targets, formats, path=flag(who, "track", track))
    return run_sweeps(solver, targets, start, settings, bool(track))


def pseudo_inverse(
    asked: Asked,
    *,
    task: str | None = None,
    dt: float | None = None,
    gain: float = 100.0,
    velocity: Any = None,
    objective: Any = None,
    alpha: float = 1.0,
    damping: float = 0.0,
    tolerance: Any = 1e-3,
) -> InverseKinematics:
    """A path (..., T, shape) followed by the pseudo-inverse; see pseudo_inverse.py.
    Limits are not heeded.

    q0          where the path begins; target[0] is due at this configuration
    dt          sampling time [s]; gain: K [1/s]
    velocity    (..., T, rows) of the targets, linear then angular [m/s, rad/s]; left out, from
                target to target
    objective   "manipulability", "limits", or a function of q over CasADi symbols; alpha: its
                factor
    damping     added to J J' on the diagonal
    tolerance   [m] and [rad]: what counts as on the path
    """
    who, subject = asked.who, asked.subject
    targets, _, solver = asked.read(task)
    if asked.q0 is None or dt is None:
        raise InvalidInput(
            f'{who}: method "pseudo_inverse" integrates a motion; give its start q0 and '
            "sampling time dt"
        )
    if not (objective is None or callable(objective)):
        choice(objective, OBJECTIVES, f"{who}: objective")
    settings = PseudoInverseSettings(
        dt=interval(who, dt) or 0.0,
        gain=not_negative(who, "gain", gain),
        objective=objective,
        alpha=number(alpha, f"{who}: alpha"),
        damping=not_negative(who, "damping", damping),
        tolerance=tolerances(who, tolerance),
    )
    rates = None if velocity is None else as_doubles(velocity, f"{who}: velocity")
    start = configuration_of(who, subject, "q0", asked.q0)
    return follow(solver, targets, rates, start, limits_of(who, subject, True), settings)


def joint_step(
    subject: Subject, q: Any, joint: str, target: Any, frame: Any, task: str | None = None
) -> JointStep:
    """What one joint alone, all others at rest at q (nq,), can do for one target:
    one move of the recursive method."""
    who = "joint_step"
    targets, formats, solver = Asked(who, subject, target, frame).read(task)
    at = configuration_of(who, subject, "q", q)
    if at.ndim != 1 or any(t.shape != f for t, f in zip(targets, formats, strict=True)):
        raise InvalidInput(
            f"{who}: q has shape {at.shape}, expected one configuration and one target"
        )
    return step_of(solver, at, joint, targets)


METHODS: dict[str, Callable[..., InverseKinematics]] = {
    "auto": numeric,
    "analytic": analytic,
    "numeric": numeric,
    "recursive": recursive,
    "pseudo_inverse": pseudo_inverse,
}
