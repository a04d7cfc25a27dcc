"""Design studies: bounds, actuators, static balancing, sweeps over variables, identification."""

from linkwork.doors import open_doors
from linkwork.studies.actuators import Duty, Selection, duties, select
from linkwork.studies.balancing import Balance, balance
from linkwork.studies.base_parameters import BaseParameters, base_parameters
from linkwork.studies.bounds import ChristoffelBounds, christoffel_bounds
from linkwork.studies.cells import CellLayouts, cell_layouts
from linkwork.studies.excitation import Excitation, excitation
from linkwork.studies.free_share import FreeShare, free_share
from linkwork.studies.identification import Identification, identify
from linkwork.studies.lines import Actuator, catalogue
from linkwork.studies.sizing import Option, motor_side
from linkwork.studies.sweep import Sweep, sweep

__all__ = [
    "Actuator",
    "Balance",
    "BaseParameters",
    "CellLayouts",
    "ChristoffelBounds",
    "Duty",
    "Excitation",
    "FreeShare",
    "Identification",
    "Option",
    "Selection",
    "Sweep",
    "balance",
    "base_parameters",
    "catalogue",
    "cell_layouts",
    "christoffel_bounds",
    "duties",
    "excitation",
    "free_share",
    "identify",
    "motor_side",
    "select",
    "sweep",
]

open_doors(__name__)
