"""Right arguments of single doors, where those of the room and of a robot do not fit.

By the beginning of a door's name, the longer one counts: "lw.avoidance.Elbow" for all methods of an
elbow, "lw.trajectory.cubic" for one function. Names that a door of its full name has here are given
although they have
defaults: a law needs a duration or limits, and the signature cannot say so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw
from linkwork import avoidance, control, simulation, synthesis
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_rpy
from linkwork.studies.sizing import Cycle
from tests.knocking_objects import (
    ANGLES,
    BALL,
    LEVER,
    POSITIONS,
    arm,
    lever,
    linkages,
    model,
    planar,
    seven,
    task,
)

Right = Callable[[], dict[str, Any]]

SIX = np.zeros(6)
TURNED = np.full(7, 0.4)
ROW = {"x": np.linspace(0.0, 1.0, 12), "order": 0.5}
SHORT = {"duration": 0.01, "step": 1e-3}
TRAIN = {
    "name": "g",
    "a": "sun",
    "b": "arm",
    "output": "arm",
    "torque": 1.0,
    "inputs": {"sun": 1.0},
}


def given(name: str) -> dict[str, Any]:
    """The arguments of this table for a door, those of its class first."""
    parts = name.split(".")
    found: dict[str, Any] = {}
    for end in range(2, len(parts) + 1):
        if right := TABLE.get(".".join(parts[:end])):
            found |= right()
    return found


def by_name(name: str) -> frozenset[str]:
    """Names that a door is given although they have defaults."""
    return frozenset(TABLE[name]()) if name in TABLE else frozenset()


def _system() -> dict[str, Any]:
    return {"q": [0.3], "v": [0.1], "a": [0.1], "tau": [0.2], "joints": "RR", "frame": None}


def _elbow() -> dict[str, Any]:
    elbow, pose = avoidance.Elbow(seven(), "tool", (0.0, 1.0, 0.0)), seven().pose(TURNED, "tool")
    return {
        "elbow": elbow,
        "pose": pose,
        "poses": np.stack([pose, pose]),
        "q": TURNED,
        "before": TURNED,
        "arm_angle": 0.3,
        "point": [2.0, 2.0, 2.0],
        "points": np.full((1, 3), 2.0),
        "volume": avoidance.SafetyVolume(0.05, 0.1),
        "swing": elbow.swing(pose, "swing"),
        "who": "elbow",
    }


def _closed_form() -> dict[str, Any]:
    pose, frame = arm().pose(arm().random(seed=1), arm().frames[-1]), arm().frames[-1]
    return {
        "robot": arm(),
        "subject": arm().subject,
        "target": pose,
        "targets": np.stack([pose, pose]),
        "frame": frame,
        "q0": SIX,
        "solutions": arm().inverse_kinematics_all(pose, frame),
        "previous": SIX,
    }


def _moved() -> dict[str, Any]:
    return {
        "T": Placement(position=(0.1, 0.2, 0.3)),
        "T_parent_body": Placement(position=(0.1, 0.2, 0.3)),
    }


def _momentum() -> dict[str, Any]:
    return {
        "q": SIX,
        "v": SIX,
        "tau": SIX,
        "threshold": 1.0,
        "run": lw.simulate(arm(), duration=0.01, step=1e-3),
    }


def _currents() -> dict[str, Any]:
    row = np.linspace(0.0, 1.0, 12)
    train = control.planetary(20, 40).ground("ring")
    through = {
        "train": train,
        "motor": "sun",
        "shaft": "arm",
        "torque_constant": 0.1,
        "arm": 0.1,
        "peak_current": 5.0,
    }
    return {"currents": row, "forces": 2.0 * row, **through}


def _four_positions() -> dict[str, Any]:
    return {"task": synthesis.PlanarTask(POSITIONS[:4], ANGLES[:4])}


def _line() -> dict[str, Any]:
    start = np.array([0.0, -1.2, 1.5, -1.0, -1.4, 0.2])
    poses = arm().pose(np.stack([start, start + 0.02]), arm().frames[-1])
    return {"poses": poses, "batch": [poses, poses], "speed": 0.2, "q0": start, "step": 0.02}


def _swept() -> dict[str, Any]:
    robot = lw.load(str(LEVER), live=["pull"])
    return {
        "robot": robot,
        "motion": "lift",
        "variables": {"pull": [90.0, 100.0]},
        "columns": {"actuator.hinge": "peak"},
        "steps": 5,
    }


def _layouts() -> dict[str, Any]:
    pose = arm().pose(np.full(6, 0.2), arm().frames[-1])
    return {
        "models": model(),
        "targets": pose[None],
        "home": SIX,
        "bases": np.eye(4)[None],
        "frame": arm().frames[-1],
    }


def _square_root() -> dict[str, Any]:
    starts = lw.polynomials.Starts([1.0], [[1.0]], 0, 1, 1)
    one = np.array([1.0])
    return {"x": one[None], "p": one, "seed": 0, "starts": starts, "start": one, "goal": 2.0 * one}


def _robot() -> dict[str, Any]:
    four_bar = lw.load("four-bar")
    return {
        "other": lever(),
        "c": [0.1],
        "effort": [0.1],
        "quantity": "mass_matrix",
        "variable": "q",
        "motion": next(iter(four_bar.motions), "drive"),
        "tasks": [lw.tasks.PostureTask(four_bar.home)],
        "dt": 0.01,
        "driver": four_bar.joints[0],
        "q0": four_bar.home,
        "rows": [{"a": 0.5, "mass": 1.0}],
    }


def _legs() -> dict[str, Any]:
    poses = np.stack([np.eye(4)] * 7)
    poses[:, :3, 3] = np.random.default_rng(0).uniform(-1.0, 1.0, (7, 3))
    return {"poses": poses}


def _turned() -> dict[str, Any]:
    """Five orientations, each turned about another axis."""
    axes = np.random.default_rng(0).uniform(-0.6, 0.6, (5, 3))
    return {"rotations": np.array([from_rpy(tuple(row)) for row in axes.tolist()])}


def _constants() -> dict[str, Any]:
    return {
        "torque_constant": (0.42, "N m/A rms"),
        "back_emf": (0.24, "V s/rad line rms"),
        "pole_pairs": 4,
        "resistance": 1.0,
        "inductance": 1e-3,
        "inertia": 1e-4,
        "unit": "N m/A peak",
        "value": 0.1,
    }


def _axes() -> dict[str, Any]:
    row, four_bar = np.linspace(0.0, 1.0, 5), lw.load("four-bar")
    flat = {"time": row, "columns": {"x": row}, "unit": "m", "title": "x"}
    return {"axes": Figure().add_subplot(), "robot": four_bar, "q": four_bar.home, **flat}


def _fractional() -> dict[str, Any]:
    q = np.array([0.3, 0.6])
    frame = planar().frames[-1]
    law = control.FractionalImpedance(
        frame, 10.0, 1.0, 1.0, planar().pose(q, frame)[:2, 3], axes=("x", "y")
    )
    return {"law": law, "q": q, "period": 1e-3}


def _along() -> dict[str, Any]:
    rows = np.zeros((5, planar().nq))
    return {"robot": planar(), "motion": simulation.PerStep(rows, rows, rows), "step": 1e-3}


def _cycle() -> dict[str, Any]:
    row = np.ones(4)
    return {"cycle": Cycle(row, row, row, row), "ratio": 2.0}


TABLE: dict[str, Right] = {
    "lw.Robot": _robot,
    "lw.Robot.attach": lambda: {"frame": "coupler"},
    "lw.Robot.from_linkage": lambda: {
        "linkage": synthesis.four_bar([0j, 1 + 0j], [1j, 1 + 1j], 0.5 + 2j),
        "density": 1.0,
    },
    "lw.Robot.inverse_kinematics": lambda: {"frame": "tracer"},
    "lw.Robot.singularity": lambda: {"frame": "tracer"},
    "lw.Robot.subchain": lambda: {"base": "crank", "tip": "coupler"},
    "lw.Robot.with_parameters": lambda: {"parameters": lw.load("four-bar").parameters()},
    "lw.System": _system,
    "lw.System.remove": lambda: {"name": "bob"},
    "lw.System.replace_body": lambda: {"name": "bob"},
    "lw.System.with_frame": lambda: {"name": "new", "motion": (0.1, 0.2, 0.3)},
    "lw.System.function": lambda: {"name": "mass_matrix"},
    "lw.System.kernel": lambda: {"name": "mass_matrix"},
    "lw.lagrange.System": _system,
    "lw.lagrange.System.remove": lambda: {"name": "bob"},
    "lw.lagrange.System.replace_body": lambda: {"name": "bob"},
    "lw.lagrange.System.with_frame": lambda: {"name": "new", "motion": (0.1, 0.2, 0.3)},
    "lw.lagrange.System.function": lambda: {"name": "mass_matrix"},
    "lw.lagrange.System.kernel": lambda: {"name": "mass_matrix"},
    "lw.cycle_drift": lambda: {"q": np.zeros((5, 3)), "period": 2},
    "lw.recorded_limits": lambda: {"q": np.zeros((5, 3))},
    "lw.loops.circuit": _robot,
    "lw.model": _moved,
    "lw.inverse.cycle_drift": lambda: {"q": np.zeros((5, 3)), "period": 2},
    "lw.inverse.recorded_limits": lambda: {"q": np.zeros((5, 3))},
    "lw.inverse.analytic": _closed_form,
    "lw.inverse.CollisionBarrier": lambda: {"q": SIX, "dt": 0.01},
    "lw.avoidance.Elbow": _elbow,
    "lw.avoidance.ElbowAvoidance": _elbow,
    "lw.avoidance.ElbowAvoidance.run": lambda: {"points": np.full((2, 1, 3), 2.0)},
    "lw.avoidance.SolidVolume": _elbow,
    "lw.avoidance.CriticallyDampedFilter.design": lambda: {"period": 1e-3, "reaction_time": 0.1},
    "lw.avoidance.nearest_free": lambda: {"forbidden": [[0.1, 0.2]]},
    "lw.collision": _moved,
    "lw.collision.CollisionModel.path_is_free": lambda: {"waypoints": np.zeros((2, 6))},
    "lw.collision.CollisionModel.function": lambda: {
        "pairs": [(pair.first, pair.second) for pair in list(model().pairs)[:1]]
    },
    "lw.collision.CollisionModel.attached": lambda: {"shapes": [BALL]},
    "lw.collision.CollisionModel.without_own_points": lambda: {"cloud": np.full((3, 3), 2.0)},
    "lw.collision.Obstacles.moved": lambda: {"name": "sphere_1", "pose": np.eye(4)},
    "lw.control.GearTrain": lambda: TRAIN,
    "lw.control.GearTrain.mesh": lambda: {"a": "x", "b": "y", "sizes": (20, 40)},
    "lw.control.GripForce": _currents,
    "lw.control.MomentumObserver": _momentum,
    "lw.control.Stepper": lambda: {"q": SIX, "v": SIX},
    "lw.control.FractionalImpedance.wrench": lambda: {"errors": np.zeros((4, 3)), "period": 1e-3},
    "lw.control.PMSM": _constants,
    "lw.control.linked_flux": _constants,
    "lw.control.JointDrives.temperatures": lambda: {"thermal": control.Thermal(1.0, 1.0)},
    "lw.control.LQR.along": _along,
    "lw.control.law_stability": _fractional,
    "lw.control.export_c": lambda: {
        "controller": simulation.PD(1.0, 1.0, np.zeros(planar().nq)),
        "robot": planar(),
        "path": "controller.c",
        "period": 1e-3,
    },
    "lw.control.cartesian_mass": lambda: {"axes": ("x", "y"), "q": np.array([0.3, 0.6])},
    "lw.control.compare": lambda: SHORT,
    "lw.control.iso_figure": lambda: SHORT,
    "lw.control.tune": lambda: SHORT,
    "lw.control.figure_gradient": lambda: {
        "gains": {"kp": 1.0, "kd": 1.0},
        "friction": False,
        **SHORT,
    },
    "lw.control.cycloidal": lambda: {"lobes": 10, "pins": 11},
    "lw.control.harmonic": lambda: {"flexible": 100, "circular": 102},
    "lw.control.planetary": lambda: {"sun": 20, "ring": 40},
    "lw.control.safe_force": lambda: {"damage": 10.0, "error": 0.5},
    "lw.control.fractional_derivative": lambda: ROW,
    "lw.control.step_function": lambda: {
        "controller": simulation.PD(1.0, 1.0, np.zeros(planar().nq)),
        "period": 1e-3,
    },
    "lw.planning.KinematicGraph": lambda: {"q": np.zeros(1), "start": np.zeros(1), "who": "graph"},
    "lw.planning.KinematicGraph.build": lambda: {
        "robot": planar(),
        "point": planar().frames[-1],
        "joint_resolution": 0.5,
        "voxel_size": 0.1,
    },
    "lw.planning.KinematicGraph.plan": lambda: {"start": np.zeros(2), "goal": np.full(2, 0.1)},
    "lw.planning.KinematicGraph.outside": lambda: {"q": np.zeros(2)},
    "lw.planning.Roadmap.joined": lambda: {"points": np.zeros((21, 6)), "more": 1, "neighbours": 2},
    "lw.polynomials.System": _square_root,
    "lw.simulation.Environment": lambda: {"actions": np.zeros((2, 2))},
    "lw.studies.christoffel_bounds": lambda: {"subject": planar().subject},
    "lw.studies.sweep": _swept,
    "lw.studies.motor_side": _cycle,
    "lw.studies.cell_layouts": _layouts,
    "lw.studies.Sweep.best": lambda: {"name": "actuator.hinge.peak"},
    "lw.synthesis.burmester": _four_positions,
    "lw.synthesis.center_cubic": _four_positions,
    "lw.synthesis.circle_cubic": _four_positions,
    "lw.synthesis.opposite_points": _four_positions,
    "lw.synthesis.solution_map": _four_positions,
    "lw.synthesis.slider_circle": lambda: {"task": synthesis.PlanarTask(POSITIONS[:3], ANGLES[:3])},
    "lw.synthesis.better_driven": lambda: {"linkage": linkages()},
    "lw.synthesis.search": lambda: {
        "task": synthesis.PlanarTask(POSITIONS, ANGLES, tolerance=(0.1, 0.1, 0.1))
    },
    "lw.synthesis.triads": lambda: {"alpha": np.append(ANGLES[1:], 1.5), "beta": {2: 0.3, 3: 0.5}},
    "lw.synthesis.five_legs": _legs,
    "lw.synthesis.legs": _legs,
    "lw.synthesis.four_bar": lambda: {
        "ground": [0j, 1 + 0j],
        "moving": [1j, 1 + 1j],
        "tracer": 0.5 + 2j,
    },
    "lw.synthesis.from_dyads": lambda: {
        "task": task(),
        "first": synthesis.dyads(task())[:1],
        "second": synthesis.dyads(task())[1:2],
    },
    "lw.synthesis.spherical_dyads": _turned,
    "lw.synthesis.spherical_four_bars": _turned,
    "lw.synthesis.Linkages.one": lambda: {"k": 0},
    "lw.synthesis.SolutionMap.linkage": lambda: {"driving": 0, "driven": 0},
    "lw.trajectory.cubic": lambda: {"duration": 1.0},
    "lw.trajectory.quintic": lambda: {"duration": 1.0},
    "lw.trajectory.septic": lambda: {"duration": 1.0},
    "lw.trajectory.line": _line,
    "lw.trajectory.lines": _line,
    "lw.trajectory.Path.through": lambda: {
        "waypoints": np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]])
    },
    "lw.trajectory.Follower.update": lambda: {"target": SIX},
    "lw.view.draw_columns": _axes,
    "lw.view.draw_picture": _axes,
    "lw.view.draw_robot": lambda: {**_axes(), "axes": Figure().add_subplot(projection="3d")},
}
