"""The plan of a file: which bodies of a model become bodies of MJCF,
and which joints each of them holds.

MuJoCo allows no moving body without mass. A massless body between two joints, with nothing else on
it, therefore becomes part of the next body, which MJCF lets hold several joints; a mark keeps its
name and frame (see marks.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from linkwork.formats.mjcf.bodies import WORLD, Names
from linkwork.formats.mjcf.joints import Between
from linkwork.formats.mjcf.keyframes import REFERENCE
from linkwork.model import elements as loops
from linkwork.model.body import Body
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits, resolved_mimic
from linkwork.model.kinds import KINDS
from linkwork.model.model import Model
from linkwork.model.number import Number, Vector, scale, times
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import from_axis_angle
from linkwork.model.tree import simple_joints

WORDS = {"revolute": "hinge", "prismatic": "slide", "ball": "ball", "floating": "free"}
MOST_FREEDOMS = 6
"""MuJoCo's limit for one body."""


@dataclass(frozen=True)
class Single:
    """One joint of MJCF: `anchor` and `axis` seen from its body when all joints are at their
    references."""

    name: str
    type: str
    anchor: Vector
    axis: Vector
    reference: float
    limits: tuple[Limits, ...]
    damping: tuple[Number, ...]
    friction: tuple[Number, ...]
    armature: tuple[Number, ...]


@dataclass
class Planned:
    """A body of the file with T_parent_body at the reference, its joints,
    and the massless bodies it took in."""

    body: Body
    placement: Placement
    joints: list[Single] = field(default_factory=list)
    between: dict[str, Between] = field(default_factory=dict)
    children: list[Planned] = field(default_factory=list)

    @property
    def moves(self) -> bool:
        return bool(self.joints)


class Plan:
    """The bodies in the world of a file, and how the joints of the model are called there.

    names        joint -> names of the joints that stand for it, in the order of its coordinates
    references   joint -> its q in the configuration "qpos0", MuJoCo's reference; absent: zero
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.references = _references(model)
        self.taken = Names(joint.name for joint in model.joints)
        self.names: dict[str, tuple[str, ...]] = {}
        self.carried: dict[str | None, list[Joint]] = {}
        for joint in model.joints:
            parent = None if joint.parent == WORLD else joint.parent
            self.carried.setdefault(parent, []).append(joint)
        self.bodies = {body.name: body for body in model.bodies}
        self.named = _named(model)
        self.world = self.bodies.get(WORLD)
        self.roots = list(self._planned())

    def all(self) -> Iterator[Planned]:
        """Depth first, as MuJoCo numbers bodies."""
        stack = list(reversed(self.roots))
        while stack:
            planned = stack.pop()
            yield planned
            stack.extend(reversed(planned.children))

    def _planned(self) -> Iterator[Planned]:
        has_joint = {joint.child for joint in self.model.joints}
        standing = [
            body for body in self.model.bodies if body.name not in has_joint and body.name != WORLD
        ]
        planned = [Planned(body, HERE) for body in standing]
        planned += [self._body([joint]) for joint in self.carried.get(None, [])]
        stack = list(planned)
        while stack:
            parent = stack.pop()
            parent.children = [
                self._body([joint]) for joint in self.carried.get(parent.body.name, [])
            ]
            stack.extend(parent.children)
        return iter(planned)

    def _body(self, chain: list[Joint]) -> Planned:
        """The body behind a joint, or behind the chain of joints that begins with it."""
        while self._is_passed_through(chain):
            chain = [*chain, self.carried[chain[-1].child][0]]
        links = [(joint, *link) for joint in chain for link in self._links(joint)]
        T, seen = HERE, []
        for _, placement, kind, axis, reference in reversed(links):
            seen.append(T.inverse())  # G: the frame behind the joint, seen from the last body
            T = placement @ _moved(kind, axis, reference) @ T
        planned = Planned(self.bodies[chain[-1].child], T)
        moving = [joint for joint in chain if joint.type != "fixed"]
        frames = list(reversed(seen))
        for joint in moving:
            places = [k for k, link in enumerate(links) if link[0] is joint]
            planned.joints += self._singles(
                joint, [frames[k] for k in places], [links[k][4] for k in places]
            )
            if joint is not chain[-1]:
                planned.between[planned.joints[-1].name] = Between(joint.child, frames[places[-1]])
        return planned

    def _links(self, joint: Joint) -> list[tuple[Placement, str, Vector, float]]:
        """(placement before it, kind, axis, reference) of the one-kind joints a joint stands
        for."""
        parts = simple_joints(joint)
        q = self.references.get(joint.name, ())
        scalars = q if len(q) == len(parts) and joint.nq == joint.nv else (0.0,) * len(parts)
        return [
            (joint.placement @ T if k == 0 else T, kind, axis, float(scalars[k]))
            for k, (kind, T, axis) in enumerate(parts)
        ]

    def _is_passed_through(self, chain: list[Joint]) -> bool:
        """Whether the body a chain of joints has reached can be taken in by the next one."""
        body = self.bodies[chain[-1].child]
        onward = self.carried.get(body.name, [])
        if len(onward) != 1 or any(
            joint.kind.is_fixed or joint.kind.is_free for joint in (onward[0], chain[-1])
        ):
            return False
        bare = not (body.visuals or body.collisions)
        massless = body.mass_properties == MassProperties() or _weighs_nothing(body)
        if not bare or not massless or body.name in self.named:
            return False
        kinds = [
            KINDS[kind] for joint in (*chain, onward[0]) for kind, _, _ in simple_joints(joint)
        ]
        after_ball = itertools.dropwhile(lambda kind: not kind.is_ball, kinds)
        turns_after_ball = any(not kind.is_slide for kind in itertools.islice(after_ball, 1, None))
        return (
            sum(joint.nv for joint in (*chain, onward[0])) <= MOST_FREEDOMS and not turns_after_ball
        )

    def _singles(
        self, joint: Joint, frames: list[Placement], references: list[float]
    ) -> list[Single]:
        parts = simple_joints(joint)
        damping, friction, armature = (
            _per_coordinate(getattr(joint, label), joint.nv)
            for label in ("damping", "friction", "armature")
        )
        names: tuple[str, ...] = (joint.name,)
        if len(parts) > 1:
            names = tuple(self.taken.free(f"{joint.name}_{k + 1}") for k in range(len(parts)))
        self.names[joint.name] = names
        singles, at = [], 0
        for name, (kind, _, axis), G, reference in zip(names, parts, frames, references):
            size = KINDS[kind].nv
            here = slice(at, at + size)
            limits = joint.limits[here]
            numbers = (damping[here], friction[here], armature[here])
            word, turned = WORDS.get(kind, kind), times(G.rotation, axis)
            singles.append(Single(name, word, G.position, turned, reference, limits, *numbers))
            at += size
        return singles


def _references(model: Model) -> dict[str, tuple[float, ...]]:
    """q of every joint in "qpos0", followers where their leaders put them;
    {} without that configuration."""
    references = dict(dict(model.configurations).get(REFERENCE, ()))
    if references:
        for joint, (leader, multiplier, offset) in resolved_mimic(model.joints).items():
            references[joint] = (multiplier * references.get(leader, (0.0,))[0] + offset,)
    return references


def _moved(kind: str, axis: Vector, q: float) -> Placement:
    if KINDS[kind].is_slide:
        return Placement(position=scale(q, axis))
    return Placement(from_axis_angle(axis, q)) if KINDS[kind].is_hinge and q else HERE


def _per_coordinate(value: Number | tuple[Number, ...], count: int) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,) * count


def _weighs_nothing(body: Body) -> bool:
    m = body.mass_properties
    return m.mass == 0.0 and not any(x for row in m.inertia for x in row)


def _named(model: Model) -> set[str]:
    """Bodies that frames and elements name: they stay bodies."""
    bodies = {frame.body for frame in model.frames}
    for element in model.elements:
        # rules, of which the file says nothing
        if isinstance(element, (loops.Share, loops.Stiffness)):
            continue
        for label in ("body", "first", "second", "foot", "head", "pivot", "guide"):
            part = getattr(element, label, None)
            name = part if isinstance(part, str) else getattr(part, "body", None)
            bodies |= {name} if name else set()
    return bodies


def all_singles(plan: Plan) -> Iterable[Single]:
    return (single for each in plan.all() for single in each.joints)
