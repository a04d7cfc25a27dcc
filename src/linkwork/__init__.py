"""linkwork: kinematics, dynamics, control and design of robots and mechanisms.

A robot is described once; every quantity about it is then one call, for one configuration or for a million:

    import linkwork as lw

    robot = lw.load("ur5e")
    tau = robot.inverse_dynamics(q, v, a)      # q, v, a: (6,) or (..., 6)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from linkwork import errors
from linkwork.engine.compile import compile
from linkwork.engine.scan import scan
from linkwork.engine.staged import staged
from linkwork.engine.threads import threads
from linkwork.errors import LinkworkError
from linkwork.library import load, robots, save
from linkwork.model.payload import Payload
from linkwork.robot import Robot

if TYPE_CHECKING:
    from linkwork import collision, simulation, studies, trajectory
    from linkwork.inverse import tasks
    from linkwork.inverse.analytic.classify import classify
    from linkwork.inverse.cycles import cycle_drift, recorded_limits
    from linkwork.inverse.targets import Goal
    from linkwork.lagrange import System
    from linkwork.simulation import simulate

__version__ = "0.1.0"
__all__ = [
    "Goal",
    "LinkworkError",
    "Payload",
    "Robot",
    "System",
    "__version__",
    "classify",
    "collision",
    "compile",
    "cycle_drift",
    "errors",
    "load",
    "recorded_limits",
    "robots",
    "save",
    "scan",
    "simulate",
    "simulation",
    "staged",
    "studies",
    "tasks",
    "threads",
    "trajectory",
]

# Rooms that not everybody enters are loaded when they are first named: (module, name in it, or the module itself).
_LATER = {
    "Goal": ("linkwork.inverse.targets", "Goal"),
    "System": ("linkwork.lagrange", "System"),
    "classify": ("linkwork.inverse.analytic", "classify"),
    "collision": ("linkwork.collision", None),
    "cycle_drift": ("linkwork.inverse.cycles", "cycle_drift"),
    "recorded_limits": ("linkwork.inverse.cycles", "recorded_limits"),
    "simulate": ("linkwork.simulation", "simulate"),
    "simulation": ("linkwork.simulation", None),
    "studies": ("linkwork.studies", None),
    "tasks": ("linkwork.inverse.tasks", None),
    "trajectory": ("linkwork.trajectory", None),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
    module, attribute = _LATER[name]
    found = importlib.import_module(module)
    found = found if attribute is None else getattr(found, attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
