"""linkwork: kinematics, dynamics, control and design of robots and mechanisms.

A robot is described once; every quantity about it is then one call, for one configuration or for a
million:

    import linkwork as lw

    robot = lw.load("ur5e")
    tau = robot.inverse_dynamics(q, v, a)      # q, v, a: (6,) or (..., 6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork import errors
from linkwork import rooms as _rooms
from linkwork.doors import open_door as _open_door
from linkwork.doors import open_doors as _open_doors
from linkwork.engine.compile import compile
from linkwork.engine.threads import threads
from linkwork.errors import LinkworkError
from linkwork.library import load, robots, save
from linkwork.model.payload import Payload
from linkwork.peers import ROOMS as _AT_THE_TOP
from linkwork.peers import unknown as _unknown
from linkwork.poses import pose
from linkwork.robot import Robot

# rooms are found by their files; type checkers are told here, and a test compares
if TYPE_CHECKING:
    from linkwork import (  # noqa: F401
        actuation,
        avoidance,
        cli,
        collision,
        control,
        engine,
        formats,
        inverse,
        lagrange,
        loads,
        loops,
        model,
        planning,
        polynomials,
        quantities,
        recursions,
        reproduce,
        simulation,
        spatial,
        studies,
        synthesis,
        trajectory,
        view,
    )
    from linkwork.engine.scan import scan
    from linkwork.engine.staged import staged
    from linkwork.inverse import Goal, classify, cycle_drift, recorded_limits, tasks
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
    "compile",
    "cycle_drift",
    "errors",
    "load",
    "pose",
    "recorded_limits",
    "robots",
    "save",
    "scan",
    "simulate",
    "staged",
    "tasks",
    "threads",
]

_LIFTED = {
    "engine.scan": ("scan",),
    "engine.staged": ("staged",),
    "inverse": ("Goal", "classify", "cycle_drift", "recorded_limits", "tasks"),
    "lagrange": ("System",),
    "simulation": ("simulate",),
}
"""Names of rooms that stand at the top as well. Rooms themselves need no line:
`linkwork.<room>` finds them."""


def __getattr__(name: str) -> Any:
    """A room, or a name of one, loaded when it is first asked for."""
    # asked of every module by whoever inspects it: the folders need not be read for that
    if name.startswith("_"):
        raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
    for room, names in _LIFTED.items():
        if name in names:
            globals()[name] = getattr(_rooms.room(room), name)
            _open_door(__name__, name)
            return globals()[name]
    if name not in _rooms.rooms():
        raise _unknown("module linkwork", name, "lw.", _AT_THE_TOP, __dir__())
    return _rooms.room(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_rooms.rooms()})


_open_doors(__name__)
