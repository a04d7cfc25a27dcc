"""Solver of the UR/TM family."""

from __future__ import annotations

import numpy as np
from casadi import SX

from linkwork.inverse.analytic import ur
from linkwork.inverse.analytic.candidates import Found
from linkwork.inverse.analytic.family import ClosedForm
from linkwork.spatial import Transform


class UR(ClosedForm):
    name, title = "ur", "UR/TM type: axes 2, 3, 4 parallel, wrist axes at right angles"
    slots, explained = 8, 2
    branches, branch_names = ur.BRANCHES, ("shoulder", "wrist", "elbow")
    size: ur.Dimensions

    def found(self, T: Transform, seed: SX) -> Found:
        return ur.solve(self.size, T, seed, self.margin)

    def reason(self, distances: np.ndarray) -> str:
        return ur.reason(self.size, distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        elbow, wrist, shoulder = ur.factors(self.size, theta)
        reach = abs(self.size.a2) + abs(self.size.a3) + abs(self.size.d5)
        return ur.determinant(self.size, theta), {"elbow": elbow, "wrist": wrist, "shoulder": shoulder / reach}
