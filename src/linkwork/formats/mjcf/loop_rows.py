"""Loops as rows: what closes and drives a machine, as equalities,
tendons and actuators with the sites they need.

    mimic rule, coupling        joint equality, or a fixed tendon that an equality holds
    closure of a point, weld    connect, weld
    closure of a hinge          two connects on its axis
    closure of a planar hinge   connect, which holds it along its axis too; a warning says so
    closure of a distance       a spatial tendon that an equality holds at its length
    strut                       a spatial tendon with a motor: positive pushes, as in linkwork
    carriage with a rod         MuJoCo's slider and crank
    spring, damper              a spatial tendon with stiffness or damping
    gear                        a motor on the joint with that gear
    belt over a carrier,        motors on fixed tendons over the joints they act on
    differential
    sharing rules, bars without load    nothing: they move nothing, and a mark keeps them

MuJoCo's constraints give way; these are written as hard as it allows. Marks (marks.py) bring the
elements back whole.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from linkwork.formats.mjcf.bodies import WORLD, Names
from linkwork.formats.mjcf.element_marks import as_text
from linkwork.formats.mjcf.rows import element, number, numbers, opened, where
from linkwork.model import elements as loops
from linkwork.model.joint_motion import joint_motion
from linkwork.model.model import Model
from linkwork.model.number import IDENTITY, Matrix, Number, Vector, add, scale
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import from_matrix

RIGID: dict[str, str | None] = {"solref": "0.0001 1", "solimp": "0.9999 0.9999 0.001 0.5 2"}
"""As hard as MuJoCo lets constraints be: time constant 0.1 ms (or two steps, if they are longer),
impedance 0.9999."""

_ARM = 0.1
"""Distance of the second connect of a hinge from its first one, along the axis [m]."""

_SAME_PLANE = 1e-12
"""Offset along the axis of a planar hinge that is rounding [m]."""

_ENDLESS = 1e10
"""A length that nothing reaches, where MuJoCo wants an upper end of a spring's slack [m]."""


class LoopRows:
    """Equalities; `sites` are rows by body (the world's under "world"), `tendons` and `actuators`
    rows, `marks` (kind, name, data)."""

    def __init__(
        self,
        model: Model,
        sites: Names,
        references: Mapping[str, tuple[float, ...]],
        joints: Mapping[str, Sequence[str]],
        commands: Sequence[str] = (),
    ) -> None:
        """joints: name -> names of the hinges and slides that stand for it; commands: names of
        drives in their order, of which those of joints get motors."""
        self.sites: dict[str, list[str]] = {}
        self.tendons: list[str] = []
        self._drives: list[tuple[str, str]] = []  # (command, row)
        self.marks: list[tuple[str, str, str]] = []
        self.connected: list[str] = []
        """Planar hinges, which the file holds along their axis too."""
        self._model = model
        self._free = sites
        self._references = references
        self._joints = joints
        self._frames = {frame.name: frame for frame in model.frames}
        self._names = Names(getattr(each, "name", "") for each in (*model.elements, *model.carried))
        self._poses = _poses(model, references)
        self.rows = [
            *self._mimics(model),
            *(row for each in model.elements for row in self._rows(each)),
        ]
        for name in commands:
            self._motors(name)
        places = {name: k for k, name in enumerate(commands)}
        self.actuators = [
            row
            for _, row in sorted(self._drives, key=lambda drive: places.get(drive[0], len(places)))
        ]

    def springs(self, model: Model) -> dict[str, dict[str, str | None]]:
        """joint -> stiffness and springref of its spring, pretension in it."""
        attributes: dict[str, dict[str, str | None]] = {}
        for part in model.elements:
            if isinstance(part, loops.TorsionSpring):
                shift = part.pretension / part.stiffness if part.pretension else 0.0
                attributes[part.joint] = {
                    "stiffness": number(part.stiffness),
                    "springref": number(part.free - shift),
                }
        return attributes

    def _mimics(self, model: Model) -> Iterator[str]:
        for joint in model.joints:
            if joint.mimic is not None:
                leader = joint.mimic.joint
                multiplier = joint.mimic.multiplier
                offset = joint.mimic.offset
                name = self._names.free(f"{joint.name}_mimics_{leader}")
                yield self._joint(name, joint.name, leader, multiplier, offset)

    def _joint(self, name: str, first: str, second: str, multiplier: Number, offset: Number) -> str:
        """q_first = multiplier q_second + offset, which MJCF counts from the references."""
        r1, r2 = (self._references.get(joint, (0.0,))[0] for joint in (first, second))
        rule = numbers((offset - r1 + multiplier * r2, multiplier, 0.0, 0.0, 0.0))
        return element("joint", name=name, joint1=first, joint2=second, polycoef=rule, **RIGID)

    def _rows(self, part: loops.Element) -> Iterator[str]:
        match part:
            case loops.LoopClosure(kind="point" | "weld"):
                yield self._closure(part)
            case loops.Coupling(terms=((first, a), (second, b))):
                self.marks.append(("coupling", part.name, "both joints keep their coordinates"))
                yield self._joint(part.name, first, second, -b / a, part.offset / a)
            case loops.Coupling():
                self.marks.append(
                    ("coupling", part.name, "a tendon that is no tendon, and its equality")
                )
                self._fixed(part.name, part.terms)
                start = sum(c * self._references.get(joint, (0.0,))[0] for joint, c in part.terms)
                rule = number(part.offset - start)
                yield element("tendon", name=part.name, tendon1=part.name, polycoef=rule, **RIGID)
            case loops.TorsionSpring():
                self.marks.append(("spring", part.joint, part.name))
            case _:
                self._keep(part)
                yield from self._rows_of_kept(part)

    def _keep(self, part: loops.Element) -> None:
        """The element whole; its rows carry the mark "row" and are not read."""
        self.marks.append(("element", str(len(self.marks)), as_text(part)))

    def _rows_of_kept(self, part: loops.Element) -> Iterator[str]:
        match part:
            case loops.LoopClosure(kind="hinge"):
                yield from self._hinge(part)
            case loops.LoopClosure(kind="planar_hinge"):
                yield self._planar_hinge(part)
            case loops.LoopClosure(kind="distance"):
                yield self._distance(part)
            case loops.LinearActuator(rod=rod) if rod:
                self._carriage(part)
            case loops.LinearActuator(foot=foot, head=head):
                tendon = self._spatial(part.name, foot, head)
                self._motor(part.name, part.force, tendon=tendon)
            case loops.Spring(first=first, second=second) if part.stiffness:
                self._spatial(
                    part.name,
                    first,
                    second,
                    stiffness=number(part.stiffness),
                    springlength=_slack(part),
                )
            case loops.Damper(first=first, second=second) if part.damping:
                self._spatial(part.name, first, second, damping=number(part.damping))
            case loops.Gear(joint=joint, ratio=ratio):
                self._motor(part.name, joint=self._single(joint), gear=number(ratio))
            case loops.Belt():
                ratio = (-1.0 if part.crossed else 1.0) * part.driven_radius / part.driving_radius
                wheel = (part.joint,) if part.carrier is None else (part.joint, part.carrier)
                tendon = self._fixed(part.name, [(joint, ratio) for joint in wheel])
                self._motor(part.name, tendon=self._owned("tendon", tendon))
            case loops.Differential():
                self._differential(part)

    # closures

    def _closure(self, closure: loops.LoopClosure) -> str:
        """A point or a weld: MJCF's own words."""
        tag = "connect" if closure.kind == "point" else "weld"
        turns = (closure.rotation, closure.second_rotation) if tag == "weld" else (None, None)
        ends = [
            self._site(closure.name, "first", closure.first, turns[0]),
            self._site(closure.name, "second", closure.second, turns[1]),
        ]
        loose = "0" if tag == "weld" and len(closure.directions) == 3 else None
        if closure.dependent:
            self.marks.append(("dependent", closure.name, json.dumps(closure.dependent)))
        return element(
            tag, name=closure.name, site1=ends[0], site2=ends[1], torquescale=loose, **RIGID
        )

    def _hinge(self, closure: loops.LoopClosure) -> Iterator[str]:
        second = closure.axis if closure.second_axis is None else closure.second_axis
        axes = [(closure.first, closure.axis), (closure.second, second)]
        for k, shift in enumerate((0.0, _ARM)):
            ends = [
                self._site(
                    closure.name,
                    f"{end}_{k + 1}",
                    loops.Point(point.body, add(point.position, scale(shift, axis))),
                )
                for end, (point, axis) in zip(("first", "second"), axes)
            ]
            name = self._owned(
                "equality", closure.name if k == 0 else self._names.free(f"{closure.name}/axis")
            )
            yield element("connect", name=name, site1=ends[0], site2=ends[1], **RIGID)

    def _planar_hinge(self, closure: loops.LoopClosure) -> str:
        """A connect; the second point is moved along the axis to the plane in which the first one
        is."""
        first, second = (self._poses[p.body or WORLD] for p in (closure.first, closure.second))
        axis = np.array(first.at(closure.axis), dtype=float) - np.array(first.position, dtype=float)
        gap = np.subtract(
            second.at(closure.second.position), first.at(closure.first.position)
        ).astype(float)
        along = float(axis @ gap) / float(axis @ axis)
        shift = second.inverse().at(tuple(np.array(second.position, dtype=float) - along * axis))
        moved = loops.Point(closure.second.body, add(closure.second.position, shift))
        ends = [
            self._site(closure.name, "first", closure.first),
            self._site(
                closure.name, "second", closure.second if abs(along) < _SAME_PLANE else moved
            ),
        ]
        self.connected.append(closure.name)
        return element(
            "connect",
            name=self._owned("equality", closure.name),
            site1=ends[0],
            site2=ends[1],
            **RIGID,
        )

    def _distance(self, closure: loops.LoopClosure) -> str:
        """MuJoCo counts a tendon's length from that of its reference."""
        tendon = self._spatial(closure.name, closure.first, closure.second)
        first, second = (
            self._poses[p.body or WORLD].at(p.position) for p in (closure.first, closure.second)
        )
        rule = number(closure.length - math.dist(first, second))
        name = self._owned("equality", closure.name)
        return element("tendon", name=name, tendon1=tendon, polycoef=rule, **RIGID)

    # tendons and motors

    def _spatial(
        self, name: str, first: loops.Point, second: loops.Point, **words: str | None
    ) -> str:
        """A straight tendon between two points."""
        ends = [self._site(name, "first", first), self._site(name, "second", second)]
        self.tendons += [
            opened(element("spatial", name=self._owned("tendon", name), **words)),
            *(f"  {element('site', site=end)}" for end in ends),
            "</spatial>",
        ]
        return name

    def _carriage(self, actuator: loops.LinearActuator) -> None:
        """MuJoCo's carriage stands behind the head;
        one ahead of it stands behind when seen from the other side."""
        ahead = actuator.branch > 0
        z = scale(-1.0 if ahead else 1.0, actuator.direction)
        slider = self._site(actuator.name, "slider", actuator.foot, _with_z(z))
        crank = self._site(actuator.name, "crank", actuator.head)
        gear = "-1" if ahead else None
        self._motor(
            actuator.name,
            actuator.force,
            cranksite=crank,
            slidersite=slider,
            cranklength=number(actuator.rod),
            gear=gear,
        )

    def _fixed(self, name: str, terms: Sequence[tuple[str, Number]]) -> str:
        """A tendon whose length is a sum of joint coordinates."""
        self.tendons += [
            opened(element("fixed", name=name)),
            *(
                f"  {element('joint', joint=self._single(joint), coef=number(c))}"
                for joint, c in terms
            ),
            "</fixed>",
        ]
        return name

    def _differential(self, differential: loops.Differential) -> None:
        """q = M c, so that c = inv(M) q: motor i acts on the joints with row i of inv(M)."""
        inverse = np.linalg.inv(np.array(differential.matrix, dtype=float))
        for motor, row in zip(differential.motors, inverse):
            terms = [(joint, float(c)) for joint, c in zip(differential.joints, row)]
            tendon = self._fixed(self._names.free(f"{differential.name}/{motor}"), terms)
            self._motor(motor, tendon=self._owned("tendon", tendon))

    def _motor(self, name: str, force: float = math.inf, **words: str | None) -> None:
        """A motor with unit gain: its control is its force [N] or torque [N m]."""
        limits = (
            {"ctrlrange": numbers((-force, force)), "ctrllimited": "true"}
            if math.isfinite(force)
            else {}
        )
        self._drives.append(
            (name, element("motor", name=self._owned("actuator", name), **words, **limits))
        )

    def _motors(self, joint: str) -> None:
        """Motors on the hinges and slides that stand for a joint."""
        singles = self._joints.get(joint, ())
        for k, single in enumerate(singles):
            self._motor(joint if len(singles) == 1 else f"{joint}_{k + 1}", joint=single)

    def _single(self, joint: str) -> str:
        return self._joints[joint][0] if joint in self._joints else joint

    def _owned(self, section: str, name: str) -> str:
        self.marks.append(("row", f"{section}:{name}", "says an element once more"))
        return name

    def _site(
        self, closure: str, end: str, point: loops.Point, rotation: Matrix | None = None
    ) -> str:
        """The site an end stands on: the frame that the end is named after,
        or a new one with a mark."""
        frame, body = self._frames.get(point.name), point.body or WORLD
        if frame is not None and (frame.body, frame.placement.position) == (body, point.position):
            if rotation in (None, frame.placement.rotation):
                return point.name
        name = self._free.free(f"{closure}/{end}")
        row = element("site", name=name, **where(Placement(rotation or IDENTITY, point.position)))
        self.sites.setdefault(body, []).append(row)
        self.marks.append(("end", name, closure))
        return name


def _with_z(z: Vector) -> Matrix:
    """A rotation whose third column is the direction z."""
    third = np.array(z, dtype=float) / np.linalg.norm(z)
    first = np.cross(np.eye(3)[int(np.argmin(np.abs(third)))], third)
    first /= np.linalg.norm(first)
    return from_matrix(np.column_stack([first, np.cross(third, first), third]).tolist())


def _slack(spring: loops.Spring) -> str:
    """springlength: the length without force, or the range of lengths in which the spring hangs
    loose."""
    match spring.kind:
        case "both":
            return number(spring.free_length - spring.pretension / spring.stiffness)
        case "tension":
            return numbers((0.0, spring.free_length))
    return numbers((spring.free_length, _ENDLESS))


def _poses(model: Model, references: Mapping[str, tuple[float, ...]]) -> dict[str, Placement]:
    """T_world_body of every body at MuJoCo's reference."""
    above = {joint.child: joint for joint in model.joints}
    poses: dict[str, Placement] = {WORLD: HERE}
    for body in model.bodies:
        chain = [body.name]
        while chain[-1] not in poses and chain[-1] in above:
            chain.append(above[chain[-1]].parent or WORLD)
        poses.setdefault(chain[-1], HERE)
        for child, parent in reversed(list(itertools.pairwise(chain))):
            joint = above[child]
            q = references.get(joint.name, joint.kind.neutral)
            poses[child] = poses[parent] @ joint.placement @ joint_motion(joint, q)
    return poses
