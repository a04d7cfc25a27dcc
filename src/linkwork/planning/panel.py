"""The part of the viewer about planning: a path that follows a drag,
and the kinematic graph of a point."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import configurations
from linkwork.loops.assembly import has_closures
from linkwork.view.graph_page import GraphPage
from linkwork.view.plan_page import PlanPage


def panel(stand: Any) -> PlanningPanel | None:
    """Of robots whose joints have one coordinate each and close no loop;
    planning where collision shapes are."""
    plain = all(q.stop - q.start == 1 for _, q, _ in configurations.places(stand.robot.subject))
    if not plain or not stand.robot.joints or has_closures(stand.robot.subject):
        return None
    return PlanningPanel(stand)


class PlanningPanel:
    """Both folders; neither computes anything before a person asks for it."""

    def __init__(self, stand: Any) -> None:
        shapes = any(body.collisions for body in stand.robot.model.bodies)
        self.plan = PlanPage(stand) if shapes else None
        self.graph = GraphPage(stand)

    def show(self, q: np.ndarray) -> None:
        """What is drawn belongs to start and goal, not to where the robot stands."""

    def remove(self) -> None:
        for part in (self.plan, self.graph):
            if part is not None:
                part.remove()
