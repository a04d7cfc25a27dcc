"""Peers: what a quantity is called in the tools that people come from,
so that a wrong name says the right one."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from linkwork.errors import LinkworkError, did_you_mean

Kind = TypeVar("Kind", bound=type)


class UnknownAttribute(LinkworkError, AttributeError):
    """An object has no such attribute; the sentence names the one that was probably meant."""


PINOCCHIO = {
    "rnea": "inverse_dynamics(q, v, a)",
    "aba": "forward_dynamics(q, v, tau)",
    "crba": "mass_matrix(q)",
    "com": "center_of_mass(q)",
    "centerOfMass": "center_of_mass(q)",
    "placement": "pose(q, frame)",
    "framePlacement": "pose(q, frame)",
    "oMf": "pose(q, frame)",
    "oMi": "forward_kinematics(q)",
    "data": "pose(q, frame) and the like: results are returned, nothing is kept between calls",
    "q0": "home",
    "names": "joints",
    "njoints": "nv, len(robot.joints)",
    "lowerPositionLimit": "limits.lower",
    "upperPositionLimit": "limits.upper",
    "velocityLimit": "limits.velocity",
    "effortLimit": "limits.effort",
    "nle": "inverse_dynamics(q, v, 0 * v)",
    "gravity": "gravity_torque(q); the vector is robot.model.gravity",
    "randomConfiguration": "random()",
}
TOOLBOX = {
    "fkine": "pose(q, frame)",
    "fk": "pose(q, frame)",
    "ik": "inverse_kinematics(target, frame)",
    "ikine": "inverse_kinematics(target, frame)",
    "ikine_LM": "inverse_kinematics(target, frame)",
    "ik_LM": "inverse_kinematics(target, frame)",
    "ikine_a": "inverse_kinematics_all(target, frame)",
    "jacob0": "jacobian(q, frame)",
    "jacobe": 'jacobian(q, frame, reference="body")',
    "rne": "inverse_dynamics(q, v, a)",
    "accel": "forward_dynamics(q, v, tau)",
    "inertia": "mass_matrix(q)",
    "coriolis": "coriolis_matrix(q, v)",
    "gravload": "gravity_torque(q)",
    "fdyn": "forward_dynamics(q, v, tau), and over time lw.simulate(robot, q, duration=...)",
    "plot": "picture(q, path) or robot.show(q)",
    "teach": "show()",
    "qz": "neutral()",
    "qr": "home",
    "links": "bodies",
    "tool": "with_frame(name, body, pose)",
    "base": "with_base(pose)",
    "n": "nv",
}
MATLAB = {
    "getTransform": "pose(q, frame)",
    "geometricJacobian": "jacobian(q, frame)",
    "inverseDynamics": "inverse_dynamics(q, v, a)",
    "forwardDynamics": "forward_dynamics(q, v, tau)",
    "massMatrix": "mass_matrix(q)",
    "gravityTorque": "gravity_torque(q)",
    "velocityProduct": "coriolis_matrix(q, v) @ v",
    "homeConfiguration": "home",
    "randomConfiguration": "random()",
}
MUJOCO = {
    "qpos": "home; the state is given with every call",
    "qpos0": "home",
    "nu": "nv",
    "nbody": "bodies",
    "xpos": "forward_kinematics(q).position",
    "qfrc_bias": "inverse_dynamics(q, v, 0 * v)",
    "mj_forward": "forward_kinematics(q)",
    "mj_inverse": "inverse_dynamics(q, v, a)",
    "mj_step": "forward_dynamics(q, v, tau), and over time lw.simulate(robot, q, duration=...)",
}
NAMES = {**MATLAB, **MUJOCO, **TOOLBOX, **PINOCCHIO}
"""Attribute of another tool's robot -> what stands behind `robot.` here."""
ROOMS = {
    "Trajectory": "trajectory",
    "SE3": "pose",
    "Model": "Robot",
    "loadModel": "load",
    "loadrobot": "load",
    "importrobot": "load",
    "buildModelFromUrdf": "load",
    "MjModel": "load",
    "DHRobot": "Robot.from_dh",
    "ERobot": "load",
    "ik": "Robot.inverse_kinematics",
    "solve_ik": "Robot.differential_inverse_kinematics",
    "jtraj": "trajectory.quintic",
    "ctraj": "trajectory.line",
    "mstraj": "trajectory.line",
    "FrameTask": "tasks.FrameTask",
    "PostureTask": "tasks.PostureTask",
    "identify": "studies.identify",
    "line": "trajectory.line",
    "minimum_time": "trajectory.minimum_time",
    "plan": "planning.plan",
    "ComputedTorque": "simulation.ComputedTorque",
    "PD": "simulation.PD",
    "sweep": "studies.sweep",
    "select": "studies.select",
    "report": "view.write_report",
}
"""Name at the top of another tool, or of a room here -> what stands behind `lw.`."""


def unknown(
    what: str, name: str, prefix: str, names: dict[str, str], own: list[str]
) -> UnknownAttribute:
    """The error for a name that an object has not, with what was probably meant."""
    if name in names:
        return UnknownAttribute(
            f"{what} has no attribute {name!r}; here it is {prefix}{names[name]}"
        )
    return UnknownAttribute(f"{what} has no attribute {name!r}{did_you_mean(name, own)}")


class OtherName:
    """A name that other tools have on a robot: whoever asks for it is told ours,
    and `hasattr` says no.

    A class with `__getattr__` could do that for every name, but then the interpreter looks up each
    method of it in the slow way: a fifth of a call of inverse dynamics.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, robot: Any, kind: type) -> NoReturn:
        what = kind.__name__ if robot is None else f'robot "{robot.name}"'
        raise UnknownAttribute(
            f"{what} has no attribute {self._name!r}; here it is robot.{NAMES[self._name]}"
        )


def with_other_names(kind: Kind) -> Kind:
    """A class of robots that knows the names of other tools, but for those that mean the same
    here."""
    for name in NAMES:
        if not hasattr(kind, name):
            setattr(kind, name, OtherName(name))
    return kind
