"""A line of the table of quantities, and what a recursion gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from casadi import DM, SX

from linkwork.model import Placement, Tree
from linkwork.recursions.applied import Applied, at_origins
from linkwork.spatial import Force
from linkwork.subject import Subject

Names: TypeAlias = tuple[str, ...]


@dataclass
class Inputs:
    """What a recursion gets, in coordinates of the tree (mimicking joints included).

    frame   (node, T_node_frame) where the quantity is about one; applied: external forces
    G       v_tree = G v, or None without mimic; own: the arguments as given, in independent
            coordinates
    subject what is computed about, with its present numbers; live: symbols of its live variables,
            in their order
    about   the second thing that the line is about, where it has one
    """

    subject: Subject
    q: SX
    v: SX
    a: SX
    tau: SX
    q0: SX
    q1: SX
    force: SX
    frame: tuple[int, Placement] = (0, Placement())
    applied: Sequence[Applied] = ()
    G: DM | None = None
    own: dict[str, SX] = field(default_factory=dict)
    live: Sequence[SX] = ()
    about: Any = None

    @property
    def forces(self) -> dict[int, Force]:
        """Node -> external force in node axes at its origin."""
        return at_origins(self.applied)


@dataclass(frozen=True)
class Quantity:
    """A line of the table.

    trace     (tree, inputs) -> results, in tree coordinates; an input left out of `inputs` is
              traced as zero
    inputs    names among q v a tau q0 q1 force, or own ones: their axes stand in `axes`, and x.own
              has them
    outputs   (name, axes) for each result; axes are sizes or
              "v" force-like tree coordinate (contracted with G'), "s" velocity-like one
              (the independent are kept), "r" already independent, "q" configuration, "i" one
              already in independent coordinates, "b" described bodies, "p" ten inertial parameters
              a body, or a name of `sizes`
    axes      of inputs of its own: name -> axes, as for outputs
    sizes     of axes of its own: name -> how many for a subject, or for what the line is about
    merged    traced on the tree with fixed joints merged
    dynamic   needs mass properties; accepts a payload
    about     the class of a second thing, read from the robot, that decides the trace and its
              sizes: a chain of axes, a recognised family. Every call brings one; it is written in
              full into the kernel's key, and the trace has the numbers of now, as it has: no live
              variables
    who       whom messages speak of, if another than the line: several may serve one function of a
              room
    guard     what it means where a guard of its own is negative, "" for a subject without; the
              trace gives its guards after the results. Left out, quaternions must have unit length
    joint_space   depends on the equations of motion alone: traced on the tree with the fewest
                  numbers that has the same
              ones (recursions/reframe.py, regroup.py)
    """

    trace: Callable[[Tree, Inputs], Sequence[SX]]
    inputs: str
    outputs: tuple[tuple[str, str], ...]
    frame: bool = False
    merged: bool = True
    dynamic: bool = False
    forces: bool = False
    joint_space: bool = False
    who: str = ""
    guard: Callable[[Subject], str] | None = None
    axes: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, Callable[[Any], int]] = field(default_factory=dict)
    about: type | None = None
