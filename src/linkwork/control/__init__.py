"""Control: laws behind real sample times, motors, gears and friction; simulated, judged, tuned."""

from linkwork.control.adaptive import Adaptive
from linkwork.control.admittance import Admittance
from linkwork.control.cartesian import CartesianImpedance, Posture
from linkwork.control.damping import damping_for
from linkwork.control.disturbance_observer import DisturbanceObserver
from linkwork.control.disturbances import disturbance_bound
from linkwork.control.drive_simulation import Spin, spin
from linkwork.control.drives import (
    Cascade,
    CurrentLoop,
    Inverter,
    PositionLoop,
    Thermal,
    VelocityLoop,
)
from linkwork.control.export import export_c, step_function, stepped
from linkwork.control.fractional import FractionalFilter, fractional_derivative, fractional_weights
from linkwork.control.fractional_impedance import FractionalImpedance, TaskSpring
from linkwork.control.gradients import figure_gradient
from linkwork.control.grip_force import GripForce
from linkwork.control.grip_sequence import GripSequence, gripper_table
from linkwork.control.impedance_rates import Rates
from linkwork.control.iso_figure import IsoFigure, iso_figure
from linkwork.control.joint_cascade import JointCascade
from linkwork.control.joint_drives import JointDrives
from linkwork.control.joint_impedance import JointImpedance
from linkwork.control.judge import compare, judge
from linkwork.control.law_stability import law_stability
from linkwork.control.linear import ClosedLoop, closed_loop, linearise, root_locus, stability_map
from linkwork.control.loop_observers import ContactReaction, ExtendedState, LevantVelocity
from linkwork.control.lqr import LQR
from linkwork.control.motor_sheets import motor, motors
from linkwork.control.motors import PMSM, DCMotor, linked_flux
from linkwork.control.observers import ExtendedStateObserver, LevantDifferentiator, MomentumObserver
from linkwork.control.operational_space import Level, OperationalSpace
from linkwork.control.reaching import (
    ConstantRate,
    ExponentialReaching,
    PowerExponential,
    PowerRate,
    ReachingLaw,
    crossover,
)
from linkwork.control.reaching_more import BoundaryLayer, Decaying
from linkwork.control.recursive_filters import ExponentialFilter, OustaloupFilter
from linkwork.control.rotary_gripper import GripperDrives, RotaryGripper, safe_force, trapezoid_time
from linkwork.control.sliding import Margin, SlidingMode
from linkwork.control.stability import SampledStability, cartesian_mass, sampled_stability
from linkwork.control.state_space import Margins, StateSpace
from linkwork.control.stepper import Stepper
from linkwork.control.surfaces import NonsingularTerminalSurface, Surface, TerminalSurface
from linkwork.control.targets import check_target
from linkwork.control.tracking import FeedForward, Passivity, PDPlus
from linkwork.control.train_builders import (
    bevel_differential,
    compound_planetary,
    cycloidal,
    harmonic,
    planetary,
    ravigneaux,
)
from linkwork.control.trains import GearTrain
from linkwork.control.tuning import Tuned, tune
from linkwork.control.twisting import AdaptiveRate, SuperTwisting, Twisting
from linkwork.doors import open_doors

__all__ = [
    "LQR",
    "PMSM",
    "Adaptive",
    "AdaptiveRate",
    "Admittance",
    "BoundaryLayer",
    "CartesianImpedance",
    "Cascade",
    "ClosedLoop",
    "ConstantRate",
    "ContactReaction",
    "CurrentLoop",
    "DCMotor",
    "Decaying",
    "DisturbanceObserver",
    "ExponentialFilter",
    "ExponentialReaching",
    "ExtendedState",
    "ExtendedStateObserver",
    "FeedForward",
    "FractionalFilter",
    "FractionalImpedance",
    "GearTrain",
    "GripForce",
    "GripSequence",
    "GripperDrives",
    "Inverter",
    "IsoFigure",
    "JointCascade",
    "JointDrives",
    "JointImpedance",
    "LevantDifferentiator",
    "LevantVelocity",
    "Level",
    "Margin",
    "Margins",
    "MomentumObserver",
    "NonsingularTerminalSurface",
    "OperationalSpace",
    "OustaloupFilter",
    "PDPlus",
    "Passivity",
    "PositionLoop",
    "Posture",
    "PowerExponential",
    "PowerRate",
    "Rates",
    "ReachingLaw",
    "RotaryGripper",
    "SampledStability",
    "SlidingMode",
    "Spin",
    "StateSpace",
    "Stepper",
    "SuperTwisting",
    "Surface",
    "TaskSpring",
    "TerminalSurface",
    "Thermal",
    "Tuned",
    "Twisting",
    "VelocityLoop",
    "bevel_differential",
    "cartesian_mass",
    "check_target",
    "closed_loop",
    "compare",
    "compound_planetary",
    "crossover",
    "cycloidal",
    "damping_for",
    "disturbance_bound",
    "export_c",
    "figure_gradient",
    "fractional_derivative",
    "fractional_weights",
    "gripper_table",
    "harmonic",
    "iso_figure",
    "judge",
    "law_stability",
    "linearise",
    "linked_flux",
    "motor",
    "motors",
    "planetary",
    "ravigneaux",
    "root_locus",
    "safe_force",
    "sampled_stability",
    "spin",
    "stability_map",
    "step_function",
    "stepped",
    "trapezoid_time",
    "tune",
]

open_doors(__name__)
