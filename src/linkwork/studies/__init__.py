"""Design studies: bounds, actuator selection, static balancing, sweeps over live variables."""

from linkwork.doors import open_doors
from linkwork.studies.actuators import Actuator, Duty, Selection, catalogue, duties, select
from linkwork.studies.balancing import Balance, balance
from linkwork.studies.bounds import ChristoffelBounds, christoffel_bounds
from linkwork.studies.sweep import Sweep, sweep

__all__ = [
    "Actuator",
    "Balance",
    "ChristoffelBounds",
    "Duty",
    "Selection",
    "Sweep",
    "balance",
    "catalogue",
    "christoffel_bounds",
    "duties",
    "select",
    "sweep",
]

open_doors(__name__)
