"""Planning: from a question to a motion; the map of all branches of a positioning task."""

from linkwork.doors import open_doors
from linkwork.planning.cartesian import CartesianPath, cartesian
from linkwork.planning.constraints import Constraint
from linkwork.planning.goals import PoseGoal
from linkwork.planning.graph_plan import GraphPlan
from linkwork.planning.in_time import Moving, TimedPlan, plan_in_time
from linkwork.planning.kinematic_graph import KinematicGraph
from linkwork.planning.optimising import optimise
from linkwork.planning.options import PlanOptions
from linkwork.planning.paths import project, shorten, smooth
from linkwork.planning.plan_result import Plan, Plans
from linkwork.planning.planner import METHODS, plan, plan_many
from linkwork.planning.regional import Regional, split_regional
from linkwork.planning.replanner import Replan, Replanner
from linkwork.planning.roadmap import Roadmap

__all__ = [
    "METHODS",
    "CartesianPath",
    "Constraint",
    "GraphPlan",
    "KinematicGraph",
    "Moving",
    "Plan",
    "PlanOptions",
    "Plans",
    "PoseGoal",
    "Regional",
    "Replan",
    "Replanner",
    "Roadmap",
    "TimedPlan",
    "cartesian",
    "optimise",
    "plan",
    "plan_in_time",
    "plan_many",
    "project",
    "shorten",
    "smooth",
    "split_regional",
]

open_doors(__name__)
