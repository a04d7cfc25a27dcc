"""linkwork: kinematics, dynamics, control and design of robots and mechanisms.

A robot is described once; every quantity about it is then one call, for one configuration or for a million:

    import linkwork as lw

    robot = lw.load("ur5e")
    tau = robot.inverse_dynamics(q, v, a)      # q, v, a: (6,) or (..., 6)
"""

from linkwork import errors, trajectory
from linkwork.engine.compile import compile
from linkwork.engine.scan import scan
from linkwork.engine.threads import threads
from linkwork.errors import LinkworkError
from linkwork.inverse.analytic import classify
from linkwork.lagrange import System
from linkwork.library import load, robots, save
from linkwork.model.payload import Payload
from linkwork.robot import Robot
from linkwork.simulate import simulate

__version__ = "0.1.0"
__all__ = [
    "LinkworkError",
    "Payload",
    "Robot",
    "System",
    "__version__",
    "classify",
    "compile",
    "errors",
    "load",
    "robots",
    "save",
    "scan",
    "simulate",
    "threads",
    "trajectory",
]
