"""Collision: shapes, obstacles, and how far a robot is from them and from itself."""

from linkwork.collision.fields import Cloud, HeightField
from linkwork.collision.fitting import fit_capsules, fit_spheres, fit_tapered_capsule
from linkwork.collision.model import CollisionModel, model
from linkwork.collision.obstacle_files import load_obstacles, save_obstacles
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.pairs import Pair, Pairs
from linkwork.collision.sampled_pairs import pairs
from linkwork.collision.shapes import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    HalfSpace,
    Mesh,
    Sphere,
    TaperedCapsule,
)
from linkwork.doors import open_doors
from linkwork.formats.srdf import read_srdf

__all__ = [
    "Box",
    "Capsule",
    "Cloud",
    "CollisionModel",
    "Convex",
    "Cylinder",
    "HalfSpace",
    "HeightField",
    "Mesh",
    "Obstacles",
    "Pair",
    "Pairs",
    "Sphere",
    "TaperedCapsule",
    "fit_capsules",
    "fit_spheres",
    "fit_tapered_capsule",
    "load_obstacles",
    "model",
    "pairs",
    "read_srdf",
    "save_obstacles",
]

open_doors(__name__)
