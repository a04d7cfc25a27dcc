"""Simulation: motion over time of robots and systems of positions."""

from linkwork.simulate.controllers import PD, PID, ComputedTorque, GravityCompensation, Sampled, Saturated
from linkwork.simulate.events import Crossing, Event
from linkwork.simulate.result import Simulation
from linkwork.simulate.run import simulate
from linkwork.simulate.signals import PerStep
from linkwork.simulate.stops import EndStop

__all__ = [
    "PD",
    "PID",
    "ComputedTorque",
    "Crossing",
    "EndStop",
    "Event",
    "GravityCompensation",
    "PerStep",
    "Sampled",
    "Saturated",
    "Simulation",
    "simulate",
]
