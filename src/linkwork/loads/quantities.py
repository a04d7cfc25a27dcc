"""Lines of the table of quantities: loads of every part, ends of every member,
motions of every body."""

from __future__ import annotations

from linkwork.loads.loads import loads_names, loads_trace
from linkwork.loads.members import member_names, members_trace
from linkwork.loads.residual import body_motions
from linkwork.quantities import Quantity

QUANTITIES = {
    "loads": Quantity(
        loads_trace,
        "q v a",
        (
            ("wrench", "b 6"),
            ("effort", "efforts"),
            ("support", "supports 6"),
            ("support_first", "supports 6"),
            ("tension", "springs"),
            ("length", "springs"),
            ("base", "6"),
            ("lever", ""),
        ),
        merged=False,
        dynamic=True,
        forces=True,
        sizes={
            "efforts": lambda s: len(loads_names(s).actuators),
            "supports": lambda s: len(loads_names(s).supports),
            "springs": lambda s: len(loads_names(s).springs),
        },
    ),
    "members": Quantity(
        members_trace,
        "q v",
        (("ends", "members 2 3"), ("length", "members"), ("rate", "members")),
        sizes={"members": lambda s: len(member_names(s))},
    ),
    "body_motions": Quantity(
        body_motions, "q v a", (("velocity", "b 6"), ("acceleration", "b 6")), merged=False
    ),
}
