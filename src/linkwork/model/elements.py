"""Elements: what closes loops, drives joints and stores energy beside the tree,
as frozen data in SI units.

Every element names bodies and joints of the model; numbers are floats, or symbols where a variable
is live. Struts, springs, bars and sliders are massless: a heavy member is a body of the tree,
closed by a `LoopClosure`. `note` carries the source of an element's numbers; `assumed` is True
where they are not published but supposed. What a field is (a length, a point, one of a few words)
and what it means stands beside it, once: readers, writers, schema, checks and the page
docs/elements.md follow from it (`model/element_fields.py`). `word` is what sentences say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Annotated, ClassVar, TypeAlias, get_args

from linkwork.model.element_fields import (
    ANGLE,
    ANY_JOINT,
    AXIS,
    BRANCH,
    CARRIER,
    DAMPING,
    DIRECTION,
    EFFORT,
    FLAG,
    JOINT,
    JOINT_STIFFNESS,
    LENGTH,
    LENGTH_NOT_NEGATIVE,
    LENGTH_POSITIVE,
    PLAIN,
    POINT,
    POINT_OR_BAR,
    POSITION,
    ROTATION,
    STIFFNESS,
    Role,
    one_of,
    rated,
    type_name,
)
from linkwork.model.number import IDENTITY, ZERO, Matrix, Number, Vector

Names: TypeAlias = tuple[str, ...]
Rows: TypeAlias = tuple[tuple[Number, ...], ...]
Terms: TypeAlias = tuple[tuple[str, Number], ...]
X_AXIS: Vector = (1.0, 0.0, 0.0)
Z_AXIS: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a body: `position` [m] in axes of `body` (None: the world; the name of a `Bar`: in
    axes of the bar).

    `name` is the body's own name for the point, where it has one; it serves only messages and
    files.
    """

    body: str | None
    position: Vector = ZERO
    name: str = ""


# ends of struts, kinds of springs and closures, directions of a reaction: the words a file may use
ENDS = ("ball", "hinge")
SPRING_KINDS = ("tension", "compression", "both")
CLOSURE_KINDS = ("point", "distance", "weld", "hinge", "planar_hinge", "pin_in_slot")
WELD_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
DIRECTIONS = ("fx", "fy", "fz", "mx", "my", "mz")
OTHERS = ("nothing", "free")
END = one_of("kind of ends", ENDS)
WELDED = Role("words", choices=WELD_DIRECTIONS, what="direction")
DEPENDENT = Role("joints", coordinates=None, what="dependent joint")


@dataclass(frozen=True, slots=True)
class LinearActuator:
    """A strut of commanded length between `foot` and `head`;
    its force is positive when it pushes them apart.

    joint    the joint it drives: its length is then the command that takes the joint's place
             (a joint of several coordinates takes as many actuators). None: the strut carries load
             but its length only follows
    branch   +1 or -1, for a hinge: the sign of d(length)/d(joint), so the assembly is named and
             never guessed; for a slide: the sign of (head - foot) along the joint's axis
    ends     "ball": the strut carries axial force alone. "hinge": both ends are hinges about `axis`
             (in axes of the foot's body), so it also carries force along `axis` and moments across
             it
    lower, upper   stroke: admissible lengths between foot and head [m]; geometry limits them
                   further
    force, speed   rated largest force [N] and speed [m/s]
    rod      > 0: no strut but a carriage that runs along `direction` (in axes of the foot's body)
             from the foot, and a rod of this length [m] from it to the head. The command is the
             carriage's way, its force acts along it; branch +1: the carriage stands ahead of the
             head (in `direction`), -1: behind it
    """

    word: ClassVar[str] = "actuator"
    name: str
    foot: Annotated[Point, POINT, "where it is held by one body"]
    head: Annotated[Point, POINT, "where it is held by the other"]
    joint: Annotated[str | None, ANY_JOINT, "the joint that it drives; none: it only follows"] = (
        None
    )
    branch: Annotated[
        int, BRANCH, "sign of d(length)/d(joint); of a slide: of head - foot along its axis"
    ] = 1
    ends: Annotated[str, END, "how both ends are held"] = "ball"
    axis: Annotated[Vector, AXIS, "of hinged ends, in axes of the foot's body"] = X_AXIS
    lower: Annotated[Number, LENGTH, "shortest length between foot and head"] = 0.0
    upper: Annotated[Number, Role("number", "length", infinite=True), "longest length"] = math.inf
    force: Annotated[float, rated("force"), "rated largest force"] = math.inf
    speed: Annotated[float, rated("speed"), "rated largest speed"] = math.inf
    rod: Annotated[
        Number, LENGTH_NOT_NEGATIVE, "above 0: a carriage with a rod of this length to the head"
    ] = 0.0
    direction: Annotated[Vector, DIRECTION, "of the carriage's way, in axes of the foot's body"] = (
        X_AXIS
    )
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Gear:
    """A motor on a joint through a gear: c = ratio * q + offset (c: the motor's angle, the
    command)."""

    word: ClassVar[str] = "gear"
    name: str
    joint: Annotated[str, JOINT, "the joint behind the gear"]
    ratio: Annotated[Number, PLAIN, "turns of the motor for one of the joint"] = 1.0
    offset: Annotated[Number, ANGLE, "angle of the motor where the joint is at zero"] = 0.0
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Belt:
    """A motor on a joint through a belt or chain:
    radius of the driving wheel * c = +-radius of the driven wheel * q.

    crossed   the wheels turn against each other (sign -)
    carrier   a joint between the motor's body and the driven joint's parent: the wheel sees q +
              q_carrier (a motor that stays below while an arm carries the belt); None: the motor
              rides on the joint's parent
    """

    word: ClassVar[str] = "belt"
    name: str
    joint: Annotated[str, JOINT, "the joint of the driven wheel"]
    driving_radius: Annotated[Number, LENGTH_POSITIVE, "of the motor's wheel"]
    driven_radius: Annotated[Number, LENGTH_POSITIVE, "of the joint's wheel"]
    crossed: Annotated[bool, FLAG, "the wheels turn against each other"] = False
    carrier: Annotated[str | None, CARRIER, "joint between motor and driven joint"] = None
    offset: Annotated[Number, ANGLE, "angle of the motor where the joint is at zero"] = 0.0
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Differential:
    """Several motors on several joints: q = matrix c + offset, `matrix` rows by joints,
    columns by `motors`.

    A wrist differential: joints (pitch, roll), matrix ((1/2, 1/2), (1/2, -1/2)).
    """

    word: ClassVar[str] = "differential"
    name: str
    joints: Annotated[Names, Role("joints"), "the joints that are driven together"]
    motors: Annotated[Names, Role("names"), "names of the motors"]
    matrix: Annotated[Rows, Role("matrix"), "q = matrix c + offset: rows joints, columns motors"]
    offset: Annotated[tuple[Number, ...], Role("coordinates", "position"), "of the joints"] = ()
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FourBarLoop:
    """Planar four-bar: lengths [m] of ground, crank (in), coupler, rocker (out);
    angles measured from the ground line.

    branch   +1 open, -1 crossed: the sign of the turn from the diagonal (crank tip to rocker pivot)
             to the coupler
    """

    ground: Annotated[Number, LENGTH_POSITIVE, "between the two fixed pivots"]
    crank: Annotated[Number, LENGTH_POSITIVE, "the link that is driven"]
    coupler: Annotated[Number, LENGTH_POSITIVE, "the link between crank and rocker"]
    rocker: Annotated[Number, LENGTH_POSITIVE, "the link that drives"]
    branch: Annotated[int, BRANCH, "1 open, -1 crossed"] = 1


@dataclass(frozen=True, slots=True)
class FourBar:
    """A motor on a joint through massless four-bar loops in series: one is a four-bar drive,
    two a six-bar drive.

    crank angle = c + crank_offset; the rocker of a loop is the crank of the next; q = last rocker
    angle + offset.
    """

    word: ClassVar[str] = "four-bar drive"
    name: str
    joint: Annotated[str, JOINT, "the joint on the last rocker"]
    loops: Annotated[
        tuple[FourBarLoop, ...], Role("loops"), "one a four-bar, two a six-bar; lengths of each"
    ]
    crank_offset: Annotated[Number, ANGLE, "crank angle where the command is zero"] = 0.0
    offset: Annotated[Number, ANGLE, "joint where the last rocker's angle is zero"] = 0.0
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Coupling:
    """A linear condition between joint coordinates: sum of coefficient * q_joint = offset,
    held by an inner force.

    terms       ((joint, coefficient), ...); the first joint is the dependent one
    """

    word: ClassVar[str] = "coupling"
    name: str
    terms: Annotated[Terms, Role("terms"), "joint: coefficient; the first is the dependent one"]
    offset: Annotated[Number, POSITION, "what the sum of coefficient * q is"] = 0.0
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Spring:
    """A straight spring between two points: tension T = pretension + stiffness (L - free_length)
    [N, N/m, m].

    kind   "tension": pulls only; shorter than its free length it hangs loose (T = 0)
           "compression": pushes only, T = -(pretension + stiffness (free_length - L)); longer than
           its free length it touches nothing (T = 0)
           "both": the line without end
    ends   how its two halves are held, "ball" or "hinge": it counts in mobility and carries no side
           load

    A zero-free-length balancing spring is pretension = stiffness * free_length.
    """

    word: ClassVar[str] = "spring"
    name: str
    first: Annotated[Point, POINT_OR_BAR, "one end"]
    second: Annotated[Point, POINT_OR_BAR, "the other end"]
    stiffness: Annotated[Number, STIFFNESS, "tension for each length"]
    free_length: Annotated[
        Number, LENGTH_NOT_NEGATIVE, "length from which its stiffness counts"
    ] = 0.0
    pretension: Annotated[Number, Role("number", "force"), "tension at the free length"] = 0.0
    kind: Annotated[
        str, one_of("kind of spring", SPRING_KINDS), "pulls only, pushes only, or both"
    ] = "tension"
    ends: Annotated[str, END, "how both ends are held; counts in mobility"] = "ball"
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TorsionSpring:
    """A spring about (or along) a joint of one coordinate:
    it acts with -(pretension + stiffness (q - free))."""

    word: ClassVar[str] = "torsion spring"
    name: str
    joint: Annotated[str, JOINT, "the joint about (or along) which it acts"]
    stiffness: Annotated[Number, JOINT_STIFFNESS, "effort for each coordinate"]
    free: Annotated[Number, POSITION, "coordinate at which only the pretension acts"] = 0.0
    pretension: Annotated[Number, EFFORT, "effort at the free coordinate"] = 0.0
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Damper:
    """A straight damper between two points: it pulls with damping * d(length)/dt [N s/m]."""

    word: ClassVar[str] = "damper"
    name: str
    first: Annotated[Point, POINT_OR_BAR, "one end"]
    second: Annotated[Point, POINT_OR_BAR, "the other end"]
    damping: Annotated[Number, DAMPING, "force for each speed of lengthening"]
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Bar:
    """A massless bar hinged to a body; its tip rides on the `Slider` that names it.

    pivot    where it is hinged; axis: of the hinge, in axes of the pivot's body
    length   from pivot to tip [m]
    branch   +1 or -1: the side of the pivot on which the tip lies, along the slider's direction

    Axes of the bar (for points on it): origin at the pivot, x towards the tip, z along the hinge
    axis.
    """

    word: ClassVar[str] = "bar"
    name: str
    pivot: Annotated[Point, POINT, "where it is hinged to a body"]
    length: Annotated[Number, LENGTH_POSITIVE, "from pivot to tip"]
    axis: Annotated[Vector, AXIS, "of its hinge, in axes of the pivot's body"] = (0.0, 1.0, 0.0)
    branch: Annotated[
        int, BRANCH, "side of the pivot on which the tip lies, along the slider's direction"
    ] = 1
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Slider:
    """A massless slider between the tip of a bar and a straight guide on a body.

    bar         the bar whose tip it carries, by a hinge parallel to the bar's own
    guide       a point of the line along which the TIP moves, on the guided body
                (an offset of the slider is in it)
    direction   of the guide, in axes of the guide's body, across the hinge axis
    """

    word: ClassVar[str] = "slider"
    name: str
    bar: Annotated[str, Role("bar"), "the bar whose tip it carries"]
    guide: Annotated[Point, POINT, "a point of the line along which the tip moves"]
    direction: Annotated[
        Vector, DIRECTION, "of the guide, in axes of its body, across the hinge axis"
    ] = X_AXIS
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class LoopClosure:
    """A joint that closes a loop between two bodies of the tree.

    kind            equations   what is held
    point           3           both points coincide
    distance        1           the points keep the distance `length` (> 0)
    weld            1..6        frames (point, rotation) coincide in `directions` of the first frame
    hinge           5           points coincide, `axis` and `second_axis` stay parallel
    planar_hinge    2           points coincide but for their offset along `axis` (a planar loop, counted as planar)
    pin_in_slot     1           the second point stays on the slot: a line through the first point along `direction`,
                                but for its offset along `axis`, the pin's (planar too; Scotch yoke,
                                Geneva drive)

    axis, second_axis       in axes of the first and of the second body; second_axis None: equal to
                            `axis`
    direction               of the slot, in axes of the first body, not along `axis`
    rotation, second_rotation   R_body_frame of the two frames of a weld
    dependent   joints whose coordinates the closure decides; (): the assembly chooses those
                furthest from the base
    """

    word: ClassVar[str] = "closure"
    name: str
    kind: Annotated[str, one_of("kind of loop closure", CLOSURE_KINDS), "what is held"]
    first: Annotated[Point, POINT, "the point of one body"]
    second: Annotated[Point, POINT, "the point of the other"]
    axis: Annotated[Vector, AXIS, "of a hinge or a pin, in axes of the first body"] = Z_AXIS
    second_axis: Annotated[
        Vector | None, AXIS, "the same in axes of the second body; none: as `axis`"
    ] = None
    length: Annotated[Number, LENGTH, "of kind distance: what the points keep"] = 0.0
    rotation: Annotated[Matrix, ROTATION, "of a weld: its frame on the first body"] = IDENTITY
    second_rotation: Annotated[Matrix, ROTATION, "of a weld: its frame on the second body"] = (
        IDENTITY
    )
    directions: Annotated[Names, WELDED, "of a weld: what is held"] = WELD_DIRECTIONS
    dependent: Annotated[
        Names, DEPENDENT, "joints that it decides; none: those furthest from the base"
    ] = ()
    direction: Annotated[Vector, DIRECTION, "of a slot, in axes of the first body"] = X_AXIS
    assumed: bool = False
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Share:
    """An explicit sharing rule: how what supports a body divides one component of its load.

    body        the supported body
    direction   "fx" .. "mz" in axes of the body (each support at its own point)
    parts       ((support, fraction), ...): names of joints, actuators, sliders, closures;
                fractions, of what they carry together, sum to 1. (("joint_x", 1.0),) is "all to
                joint x"
    others      "nothing": supports left out carry only what equilibrium makes them carry in that
                direction; "free": they are left to equilibrium and to other rules
    """

    word: ClassVar[str] = "sharing rule"
    body: str
    direction: str
    parts: tuple[tuple[str, Number], ...]
    others: str = "nothing"
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Stiffness:
    """Weights of one support for what no explicit rule decides:
    the sum of reaction^2 / weight is made smallest.

    support   name of a joint, actuator, slider or closure; others have weights 1 N, 1 N m
    weights   for fx, fy, fz, mx, my, mz in axes of the supported body; larger carries more; all
              positive
    """

    word: ClassVar[str] = "stiffness"
    support: str
    weights: tuple[Number, ...] = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    note: str = field(default="", compare=False)


Transmission: TypeAlias = LinearActuator | Gear | Belt | Differential | FourBar
Massless: TypeAlias = Coupling | Spring | TorsionSpring | Damper | Bar | Slider | LoopClosure
Element: TypeAlias = Transmission | Massless | Share | Stiffness

_NAMED = [kind for kind in get_args(Element) if "name" in (x.name for x in fields(kind))]
KINDS: dict[str, type] = {type_name(kind): kind for kind in _NAMED}
"""Word of a file -> class, of every element that has a name; sharing rules stand apart."""
