"""What a robot is: frozen plain data in SI units, its checks and its edits."""

from linkwork.doors import open_doors
from linkwork.model.body import Body, Shape
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits, Mimic
from linkwork.model.model import Frame, Model
from linkwork.model.placement import Placement
from linkwork.model.tree import Node, Tree, build_tree
from linkwork.model.validation import validated

__all__ = [
    "Body",
    "Frame",
    "Joint",
    "Limits",
    "MassProperties",
    "Mimic",
    "Model",
    "Node",
    "Placement",
    "Shape",
    "Tree",
    "build_tree",
    "validated",
]

open_doors(__name__)
