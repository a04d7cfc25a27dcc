"""Lines of the table of quantities: what closures and couplings ask."""

from __future__ import annotations

from linkwork.loops.assembly import constraint_labels, traced_constraints
from linkwork.quantities import Quantity

QUANTITIES = {
    "constraints": Quantity(
        traced_constraints,
        "q v",
        (("residual", "rows"), ("J", "rows r"), ("drift", "rows")),
        guard=lambda s: "",
        sizes={"rows": lambda s: len(constraint_labels(s))},
    )
}
