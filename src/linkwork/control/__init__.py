"""Control: laws for robots behind real sample times, motors, gears and friction; simulated, judged and tuned."""

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
from linkwork.control.stability import SampledStability, cartesian_mass, law_stability, sampled_stability
from linkwork.control.twisting import SuperTwisting, Twisting

__all__ = [
    "BoundaryLayer",
    "ConstantRate",
    "Decaying",
    "ExponentialFilter",
    "ExponentialReaching",
    "FractionalFilter",
    "FractionalImpedance",
    "OustaloupFilter",
    "PowerExponential",
    "PowerRate",
    "SampledStability",
    "SuperTwisting",
    "TaskSpring",
    "Twisting",
    "cartesian_mass",
    "crossover",
    "fractional_derivative",
    "fractional_weights",
    "law_stability",
    "sampled_stability",
]
