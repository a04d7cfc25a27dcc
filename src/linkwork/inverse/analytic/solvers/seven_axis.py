"""Solver of seven axes with spherical shoulder and wrist."""

from __future__ import annotations

import numpy as np
from casadi import SX

from linkwork.engine.kernel import Kernel
from linkwork.inverse.analytic import seven_axis, ur
from linkwork.inverse.analytic.candidates import Found, Layout
from linkwork.inverse.analytic.family import Family, Rows, over_free, own_free
from linkwork.spatial import Transform


class SevenAxis(Family):
    name, title = "seven_axis", "seven axes with spherical shoulder and wrist"
    slots = seven_axis.SLOTS
    free = "swivel angle of the elbow about the line from shoulder to wrist [rad]"
    branches, branch_names = ur.BRANCHES, ("elbow", "shoulder", "wrist")
    size: seven_axis.Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        kernel = self.rows_kernel(Layout(self.slots, 1, (("swivel", ()),)), self.traced)
        values = own_free(self.swivel()(q0), len(target)) if free is None else free
        return over_free(kernel, target, q0, values)

    def traced(self, goal: Transform, q0: SX, swivel: SX) -> Found:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        return self.canonical.rows(seven_axis.solve(self.size, T, seed, swivel, self.margin))

    def swivel(self) -> Kernel:
        """q of the chain (7,) -> its swivel angle."""
        trace = lambda q: seven_axis.swivel(self.size, self.canonical.angles(q))
        return self.side_kernel("swivel", (("q", (7,)),), (("swivel", ()),), trace)

    def reason(self, distances: np.ndarray) -> str:
        shortest, longest = seven_axis.reach(self.size)
        far = float(distances[0])
        if far > longest:
            return f"wrist {far:.4g} m from the shoulder, reach is {longest:.4g} m"
        if far < shortest:
            return f"wrist {far:.4g} m from the shoulder, needs >= {shortest:.4g} m"
        return "shoulder or wrist cannot turn that way at this swivel angle"
