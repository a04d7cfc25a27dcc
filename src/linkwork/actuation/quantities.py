"""Lines of the table of quantities: between commands and coordinates,
and motions that efforts give."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from casadi import SX

from linkwork.actuation.conversion import command_guard, traced_forward, traced_forward_at_rest
from linkwork.actuation.coordinates import traced_backward, traced_backward_closed
from linkwork.actuation.cranks import traced_factors
from linkwork.actuation.efforts import traced_dynamics
from linkwork.actuation.implicit import row_labels, traced_rates, traced_residual
from linkwork.actuation.layout import layout_of
from linkwork.loops.assembly import has_closures
from linkwork.loops.closed import GUARD
from linkwork.model import Tree
from linkwork.quantities import Inputs, Quantity
from linkwork.subject import Subject

SIZES = {
    "commands": lambda s: layout_of(s).sizes[0],
    "rates": lambda s: layout_of(s).sizes[1],
    "rows": lambda s: len(row_labels(s)),
}
AXES = {"c": "commands", "cd": "rates", "cdd": "rates", "effort": "rates", "stabilisation": ""}


def _unguarded(subject: Subject) -> str:
    return ""


def _closed(subject: Subject) -> str:
    return GUARD if has_closures(subject) else ""


def _line(
    trace: Callable[[Tree, Inputs], Sequence[SX]],
    inputs: str,
    outputs: tuple[tuple[str, str], ...],
    guard: Callable[[Subject], str] = _unguarded,
    who: str = "",
    dynamic: bool = False,
) -> Quantity:
    axes = {name: AXES[name] for name in inputs.split() if name in AXES}
    return Quantity(
        trace, inputs, outputs, dynamic=dynamic, who=who, guard=guard, axes=axes, sizes=SIZES
    )


_COMMANDS = (("c", "commands"), ("cd", "rates"), ("cdd", "rates"))
_MOTION = (("q", "i"), ("v", "r"), ("a", "r"))
FROM, TO = "from_actuators", "to_actuators"

QUANTITIES = {
    "from_actuators": _line(traced_forward, "c cd cdd", _MOTION, command_guard),
    "from_actuators_at_rest": _line(traced_forward_at_rest, "c", _MOTION[:1], command_guard, FROM),
    "loop_rates": _line(traced_rates, "q c cd cdd", (*_MOTION[1:], ("regularity", "")), who=FROM),
    "loop_residual": _line(traced_residual, "q c", (("residual", "rows"),), who=FROM),
    "to_actuators": _line(traced_backward, "q v a", _COMMANDS),
    "to_actuators_closed": _line(traced_backward_closed, "q v a", _COMMANDS, _closed, TO),
    "loop_dynamics": _line(
        traced_dynamics, "q v effort stabilisation", (("a", "r"),), _closed, dynamic=True
    ),
    "crank_factors": _line(traced_factors, "q c", (("factors", "rates"),), who="analyse"),
}
