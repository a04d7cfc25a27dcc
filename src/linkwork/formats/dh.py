"""DH tables: a robot from Denavit-Hartenberg rows.

    standard   T_{i-1,i} = Rz(theta) Tz(d) Tx(a) Rx(alpha)      row i places frame i, its joint moves about z of i - 1
    modified   T_{i-1,i} = Rx(alpha) Tx(a) Rz(theta) Tz(d)      (Craig) its joint moves about z of frame i itself

with theta + offset + q in the place of theta for a revolute joint, d + offset + q in the place of d
for a prismatic one. Body "base" is frame 0 and body "link1" frame 1, in either convention. In
linkwork the axis of a revolute joint passes through the origin of the body it turns; where a row's
frame lies beside the axis (standard convention, a not 0) a massless body "link1_axis" turns, and
link1 is fixed to it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkwork.arguments import choice, finite
from linkwork.errors import InvalidInput, InvalidModel, did_you_mean
from linkwork.model.body import Body
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits
from linkwork.model.model import Model
from linkwork.model.number import Number, Vector, is_symbol
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import about
from linkwork.model.validation import validated

CONVENTIONS = ("standard", "modified")
KEYS = (
    "a",
    "alpha",
    "d",
    "theta",
    "joint",
    "offset",
    "mass",
    "com",
    "inertia",
    "parent",
    "limits",
    "name",
    "link",
)
JOINTS = ("revolute", "prismatic")
BASE = "base"
Z_AXIS: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Row:
    """One row. Angles [rad], lengths [m]; `matter` in axes of frame i;
    `parent` the row it hangs on, None: the base."""

    joint: str = "revolute"
    a: Number = 0.0
    alpha: Number = 0.0
    d: Number = 0.0
    theta: Number = 0.0
    offset: Number = 0.0
    matter: MassProperties | None = None
    parent: int | None = None
    limits: tuple[Limits, ...] = ()
    name: str = ""
    link: str = ""
    damping: Number = 0.0
    friction: Number = 0.0
    armature: Number = 0.0
    note: str = ""


class DHTable(list[dict[str, Any]]):
    """Rows as `Robot.from_dh` takes them, with the frames they stand between.

    base   T_world_frame0 (4, 4 nested lists); tool: T_frame_n_tip, the tip being the last body
    """

    def __init__(
        self, rows: Iterable[dict[str, Any]], convention: str, base: Placement, tool: Placement
    ) -> None:
        super().__init__(rows)
        self.convention, self.base, self.tool = convention, base, tool


def transform(
    convention: str, a: Number = 0.0, alpha: Number = 0.0, d: Number = 0.0, theta: Number = 0.0
) -> Placement:
    """T_{i-1,i} of a row at q = 0."""
    across = Placement(about("x", alpha), (a, 0.0, 0.0))
    along = Placement(about("z", theta), (0.0, 0.0, d))
    return along @ across if convention == "standard" else across @ along


def dh_model(
    rows: Sequence[Mapping[str, Any]], convention: str, check: str = "physical", name: str = "dh"
) -> Model:
    """The model of a table; see `Robot.from_dh` for the rows."""
    choice(convention, CONVENTIONS, "from_dh: convention")
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise InvalidInput(f"from_dh: rows is a {type(rows).__name__}, expected a list of rows")
    base = rows.base if isinstance(rows, DHTable) else HERE
    read = [_read(row, i) for i, row in enumerate(rows)]
    if not read:
        raise InvalidInput("from_dh: rows is empty, expected at least one")
    bodies, joints = links(read, convention, base)
    kinematic = not any(body.has_inertia for body in bodies)
    return validated(Model(name, tuple(bodies), tuple(joints), kinematic_only=kinematic), check)


def links(
    rows: Sequence[Row], convention: str, base: Placement = HERE, root: str | None = None
) -> tuple[list[Body], list[Joint]]:
    """Bodies and joints of rows that stand at `base` on the body `root`,
    or on a body "base" of their own."""
    bodies: list[Body] = []
    joints: list[Joint] = []
    if root is None:
        root = BASE
        bodies.append(Body(BASE, has_inertia=False))
        if base != HERE:
            joints.append(Joint(f"{BASE}_in_world", "fixed", None, BASE, base))
            base = HERE
    names = [row.link or f"link{i + 1}" for i, row in enumerate(rows)]
    for i, row in enumerate(rows):
        parent = root if row.parent is None else names[row.parent]
        before, axis, after = _split(row, convention)
        if row.parent is None:
            before = base @ before
        joint, link = row.name or f"joint{i + 1}", names[i]
        moved = link if after is None else f"{link}_axis"
        joints.append(
            Joint(
                joint,
                row.joint,
                parent,
                moved,
                before,
                axis,
                limits=row.limits,
                damping=row.damping,
                friction=row.friction,
                armature=row.armature,
            )
        )
        if after is not None:
            bodies.append(Body(moved, has_inertia=False))
            joints.append(Joint(f"{joint}_link", "fixed", moved, link, after))
        bodies.append(
            Body(
                link,
                row.matter or MassProperties(),
                has_inertia=row.matter is not None,
                note=row.note,
            )
        )
    return bodies, joints


def _split(row: Row, convention: str) -> tuple[Placement, Vector, Placement | None]:
    """(T_parent_joint, axis, T_joint_link): their product is the row at q = 0;
    an offset lies before the joint.

    None in the place of T_joint_link: the link itself moves, no body is needed between.
    """
    turns = row.joint == "revolute"
    whole = transform(convention, row.a, row.alpha, row.d, row.theta)
    if _is_zero(row.offset) and (convention == "modified" or not turns or _is_zero(row.a)):
        # z of frame i - 1 in axes of i
        return (
            whole,
            Z_AXIS if convention == "modified" else whole.rotation[2],
            None,
        )
    zero = (
        Placement(about("z", row.offset)) if turns else Placement(position=(0.0, 0.0, row.offset))
    )
    if convention == "standard":
        return zero, Z_AXIS, whole
    across = transform(convention, row.a, row.alpha)
    along = transform(convention, d=row.d, theta=row.theta)
    return across @ zero, Z_AXIS, along


def _is_zero(x: Number) -> bool:
    return not is_symbol(x) and x == 0.0


def _read(row: Mapping[str, Any], i: int) -> Row:
    who = f"from_dh: row {i}"
    if not isinstance(row, Mapping):
        raise InvalidInput(
            f"{who} is a {type(row).__name__}, expected a mapping with {', '.join(KEYS)}"
        )
    for key in row:
        if key not in KEYS:
            raise InvalidInput(
                f'{who} has the key "{key}"{did_you_mean(key, KEYS)}; a row has {", ".join(KEYS)}'
            )
    numbers: dict[str, Any] = {
        k: float(finite(row.get(k, 0.0), (), f"{who}: {k}"))
        for k in ("a", "alpha", "d", "theta", "offset")
    }
    return Row(
        choice(row.get("joint", "revolute"), JOINTS, f"{who}: joint"),
        **numbers,
        matter=_matter(row, who),
        parent=_parent(row, i, who),
        limits=_limits(row.get("limits"), who),
        name=str(row.get("name", "")),
        link=str(row.get("link", "")),
    )


def _parent(row: Mapping[str, Any], i: int, who: str) -> int | None:
    parent = row.get("parent", i - 1)
    if parent is None:
        return None
    try:
        at = -2 if isinstance(parent, bool) else operator.index(parent)
    except TypeError:
        at = -2
    if not -1 <= at < i:
        raise InvalidInput(
            f"{who}: parent is {parent!r}, expected the index of an earlier row, or None for "
            "the base"
        )
    return None if at == -1 else at


def _matter(row: Mapping[str, Any], who: str) -> MassProperties | None:
    if not any(key in row and row[key] is not None for key in ("mass", "com", "inertia")):
        return None
    mass = float(finite(row.get("mass", 0.0), (), f"{who}: mass"))
    com = tuple(finite(row.get("com", (0.0, 0.0, 0.0)), (3,), f"{who}: com").tolist())
    I = finite(row.get("inertia", ((0.0,) * 3,) * 3), (3, 3), f"{who}: inertia")
    if not (abs(I - I.T) <= 1e-12 * abs(I).max()).all():
        raise InvalidModel(f"{who}: inertia is not symmetric")
    I = (I + I.T) / 2.0
    return MassProperties(mass, com, tuple(tuple(r) for r in I.tolist()))  # type: ignore[arg-type]


def _limits(given: Any, who: str) -> tuple[Limits, ...]:
    if given is None:
        return ()
    if isinstance(given, Limits):
        return (given,)
    try:
        if isinstance(given, Mapping):
            return (Limits(**{key: float(x) for key, x in given.items()}),)
        lower, upper = given
        return (Limits(float(lower), float(upper)),)
    except (TypeError, ValueError):
        expected = "(lower, upper) or a mapping with lower, upper, velocity, effort, acceleration"
        raise InvalidInput(f"{who}: limits is {given!r}, expected {expected}") from None
