"""Quantities: which recursion computes what, traced for a robot and run through its kernels.

table      which recursion, which inputs, which outputs, a line each
tracing    a line of the table for one robot, as a CasADi function
evaluate   the same through compiled kernels
singular   why there is no finite value
"""

from linkwork.quantities.evaluate import caller, context_of, evaluate, kernel_of, writer
from linkwork.quantities.line import Inputs, Quantity
from linkwork.quantities.singular import explained
from linkwork.quantities.table import QUANTITIES, every_quantity, quantity
from linkwork.quantities.tracing import trace

__all__ = [
    "QUANTITIES",
    "Inputs",
    "Quantity",
    "caller",
    "context_of",
    "evaluate",
    "every_quantity",
    "explained",
    "kernel_of",
    "quantity",
    "trace",
    "writer",
]
