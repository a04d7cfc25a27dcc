"""Simulation: motion over time of robots and systems of positions."""

from linkwork.doors import open_doors
from linkwork.simulation.controllers import PD, PID, ComputedTorque, GravityCompensation, Saturated
from linkwork.simulation.environment import Apart, Environment, Within
from linkwork.simulation.events import Crossing, Event
from linkwork.simulation.friction_models import Coulomb, LuGre, Stribeck, Viscous
from linkwork.simulation.limits import DeadTime, RateLimited
from linkwork.simulation.metrics import Metrics
from linkwork.simulation.result import Simulation
from linkwork.simulation.run import simulate
from linkwork.simulation.sampling import Sampled
from linkwork.simulation.sensors import Encoder
from linkwork.simulation.signals import PerStep
from linkwork.simulation.stops import EndStop

__all__ = [
    "PD",
    "PID",
    "Apart",
    "ComputedTorque",
    "Coulomb",
    "Crossing",
    "DeadTime",
    "Encoder",
    "EndStop",
    "Environment",
    "Event",
    "GravityCompensation",
    "LuGre",
    "Metrics",
    "PerStep",
    "RateLimited",
    "Sampled",
    "Saturated",
    "Simulation",
    "Stribeck",
    "Viscous",
    "Within",
    "simulate",
]

open_doors(__name__)
