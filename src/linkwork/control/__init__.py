"""Control: laws for robots behind real sample times, motors, gears and friction; simulated, judged and tuned."""

from linkwork.control.disturbances import disturbance_bound
from linkwork.control.fractional import FractionalFilter, fractional_derivative, fractional_weights
from linkwork.control.fractional_impedance import FractionalImpedance, TaskSpring
from linkwork.control.reaching import (
    ConstantRate,
    ExponentialReaching,
    PowerExponential,
    PowerRate,
    crossover,
)
from linkwork.control.reaching_more import BoundaryLayer, Decaying
from linkwork.control.recursive_filters import ExponentialFilter, OustaloupFilter
from linkwork.control.rotary_gripper import GripForce, GripperDrives, RotaryGripper, safe_force, trapezoid_time
from linkwork.control.sliding import Margin, SlidingMode
from linkwork.control.stability import SampledStability, cartesian_mass, law_stability, sampled_stability
from linkwork.control.surfaces import NonsingularTerminalSurface, Surface, TerminalSurface
from linkwork.control.train_builders import (
    bevel_differential,
    compound_planetary,
    cycloidal,
    harmonic,
    planetary,
    ravigneaux,
)
from linkwork.control.trains import GearTrain
from linkwork.control.twisting import SuperTwisting, Twisting

__all__ = [
    "BoundaryLayer",
    "ConstantRate",
    "Decaying",
    "ExponentialFilter",
    "ExponentialReaching",
    "FractionalFilter",
    "FractionalImpedance",
    "GearTrain",
    "GripForce",
    "GripperDrives",
    "Margin",
    "NonsingularTerminalSurface",
    "OustaloupFilter",
    "PowerExponential",
    "PowerRate",
    "RotaryGripper",
    "SampledStability",
    "SlidingMode",
    "SuperTwisting",
    "Surface",
    "TaskSpring",
    "TerminalSurface",
    "Twisting",
    "bevel_differential",
    "cartesian_mass",
    "compound_planetary",
    "crossover",
    "cycloidal",
    "disturbance_bound",
    "fractional_derivative",
    "fractional_weights",
    "harmonic",
    "law_stability",
    "planetary",
    "ravigneaux",
    "safe_force",
    "sampled_stability",
    "trapezoid_time",
]
