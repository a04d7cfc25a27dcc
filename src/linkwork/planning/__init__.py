"""Planning: from a question to a motion; the map of all branches of a positioning task."""

from linkwork.doors import open_doors
from linkwork.planning.goals import PoseGoal
from linkwork.planning.graph_plan import GraphPlan
from linkwork.planning.kinematic_graph import KinematicGraph
from linkwork.planning.plan_result import Plan, Plans
from linkwork.planning.planner import METHODS, plan, plan_many
from linkwork.planning.regional import Regional, split_regional

__all__ = [
    "METHODS",
    "GraphPlan",
    "KinematicGraph",
    "Plan",
    "Plans",
    "PoseGoal",
    "Regional",
    "plan",
    "plan_many",
    "split_regional",
]

open_doors(__name__)
