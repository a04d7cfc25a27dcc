"""Writing a model as MJCF, as far as the format and MuJoCo's own rules can hold it.

What is read back has the same kinematics, dynamics and points: numbers are written with all their
digits.

- Planar, cylindrical and universal joints become several joints of one body, same coordinates in
  the same order; so do joints with a massless body between, which MuJoCo does not allow to move
  (plan.py).
- Frames and points become sites; what closes and drives a machine equalities, tendons and motors
  (loop_rows.py); a spring about a joint its stiffness; configurations keyframes, but for "qpos0",
  which is MuJoCo's reference (ref).
- Inertia is written in principal axes. Shapes become geoms that weigh nothing
  (inertiafromgeom="false").
- What linkwork knows and MJCF does not (which site is a point, limits of speed, names of massless
  bodies) stands in <custom> texts (marks.py), which MuJoCo keeps and does not look at.

Helical joints, moving bodies without mass, moments that break A + B >= C, floating joints that do
not stand on the world's origin, elements without a word of MJCF (reasons.py) and live variables
cannot be written: NotPossible lists every reason. Motions, drawing
lines, notes and meshes MuJoCo cannot load are left out with one warning.
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from linkwork.errors import NotPossible, listed
from linkwork.formats.files import file_name, made_folder, write_atomically
from linkwork.formats.mjcf.bodies import WORLD, Names
from linkwork.formats.mjcf.geom_rows import GeomRows
from linkwork.formats.mjcf.keyframes import REFERENCE
from linkwork.formats.mjcf.loop_rows import LoopRows
from linkwork.formats.mjcf.marks import PREFIX
from linkwork.formats.mjcf.plan import Plan, Planned, Single, all_singles
from linkwork.formats.mjcf.principal import principal
from linkwork.formats.mjcf.reasons import reasons, reasons_before
from linkwork.formats.mjcf.replicate import REFERENCES
from linkwork.formats.mjcf.rows import element, number, numbers, opened, where
from linkwork.model.body import Body
from linkwork.model.carried import Carried
from linkwork.model.joint import Limits, resolved_mimic
from linkwork.model.model import Model
from linkwork.model.number import ZERO
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_quaternion

log = logging.getLogger("linkwork")

MOST_REASONS = 20


def write_mjcf(model: Model, path: str | os.PathLike[str], commands: Sequence[str] = ()) -> None:
    """Write a robot to an MJCF file: the whole file or nothing. `commands` as in `mjcf_text`.

    Meshes of kinds that MuJoCo does not load (DAE and others that trimesh reads) become STL files
    in a folder "<name>_meshes" beside the file.
    """
    place = Path(os.path.abspath(file_name(path)))
    writer = _writer(model, place.parent, commands, place.parent / f"{place.stem}_meshes")
    text = writer.text()
    for mesh, content in writer.geoms.made.items():
        made_folder(mesh.parent)
        write_atomically(mesh, content)
    write_atomically(path, text)


def mjcf_text(model: Model, folder: Path | None = None, commands: Sequence[str] = ()) -> str:
    """The robot as MJCF. Meshes inside `folder` are named relative to it, others by their path.

    commands   drives of a closed machine in their order; those that are joints get a motor,
               transmissions have theirs
    """
    return _writer(model, folder, commands, None).text()


def _writer(
    model: Model, folder: Path | None, commands: Sequence[str], converted: Path | None
) -> _Writer:
    hindrances = list(reasons_before(model))
    plan = None if hindrances else Plan(model)
    hindrances += [] if plan is None else list(reasons(plan))
    if plan is None or hindrances:
        raise NotPossible(f'robot "{model.name}" cannot be written as MJCF: {_joined(hindrances)}')
    return _Writer(model, plan, GeomRows(folder, converted), commands)


def _joined(sentences: list[str]) -> str:
    more = (
        f"; and {len(sentences) - MOST_REASONS} reasons more"
        if len(sentences) > MOST_REASONS
        else ""
    )
    return "; ".join(sentences[:MOST_REASONS]) + more


class _Writer:
    """The sections of one file."""

    def __init__(self, model: Model, plan: Plan, geoms: GeomRows, commands: Sequence[str]) -> None:
        self.model, self.plan = model, plan
        points = [f"{body.name}.{point}" for body in model.bodies for point, _ in body.points]
        self.geoms = geoms
        sites = Names([*(frame.name for frame in model.frames), *points])
        self.loops = LoopRows(model, sites, plan.references, plan.names, commands)
        self.springs = self.loops.springs(model)
        self.marks = list(self.loops.marks)
        self.sites = {
            name: [*self._sites(name), *self.loops.sites.get(name, ())]
            for name in [WORLD, *plan.bodies]
        }

    def text(self) -> str:
        world = list(self._worldbody())
        carried, left = self._carried()
        self._warn(left)
        self._mark_order()
        sections = [
            (
                "custom",
                [element("text", name=f"{PREFIX}{k}:{n}", data=data) for k, n, data in self.marks],
            ),
            ("asset", self.geoms.mesh_rows()),
            ("worldbody", world),
            ("tendon", [*self.loops.tendons, *carried["tendon"]]),
            ("equality", [*self.loops.rows, *carried["equality"]]),
            ("actuator", [*self.loops.actuators, *carried["actuator"]]),
            ("keyframe", list(self._keyframes())),
        ]
        rows = [
            opened(element("mujoco", model=self.model.name)),
            f"  {element('compiler', angle='radian', inertiafromgeom='false')}",
            f"  {element('option', gravity=numbers(self.model.gravity))}",
        ]
        for tag, inside in sections:
            if inside or tag == "worldbody":
                rows += [f"  <{tag}>", *(f"    {row}" for row in inside), f"  </{tag}>"]
        return "\n".join([*rows, "</mujoco>", ""])

    def _mark_order(self) -> None:
        """The model's order of bodies, where it is not the one in which the file will be read."""
        read = [WORLD] if self.plan.world is not None else []
        for planned in self.plan.all():
            read += [*(between.name for between in planned.between.values()), planned.body.name]
        order = [body.name for body in self.model.bodies]
        if order != read:
            self.marks.append(("order", "bodies", json.dumps(order, ensure_ascii=False)))

    def _warn(self, carried: int) -> None:
        model = self.model
        lost = [
            ("drawing lines", any(body.lines for body in model.bodies)),
            ("motions", model.motions),
            ("notes", model.notes or any(body.note and body.has_inertia for body in model.bodies)),
            (f"{self.geoms.lost} shapes{_because(self.geoms.why)}", self.geoms.lost),
            (f"{carried} motors or tendons", carried),
        ]
        names = [what for what, part in lost if part]
        if names:
            log.warning('robot "%s": MJCF has no place for %s', model.name, listed(names))
        if self.loops.connected:
            hinges = listed([f'"{name}"' for name in self.loops.connected])
            log.warning(
                'robot "%s": planar hinges %s are connects, held along their axes too',
                model.name,
                hinges,
            )

    # bodies

    def _worldbody(self) -> Iterator[str]:
        if self.plan.world is not None:
            self.marks.append(("body", WORLD, "stands still"))
            yield from self.geoms.of(self.plan.world)
        yield from self.sites[WORLD]
        stack: list[tuple[Planned | None, int]] = [(each, 0) for each in reversed(self.plan.roots)]
        while stack:
            planned, depth = stack.pop()
            indent = "  " * depth
            if planned is None:
                yield f"{indent}</body>"
                continue
            yield f"{indent}{opened(element('body', name=planned.body.name, **where(self._start(planned))))}"
            yield from (f"{indent}  {row}" for row in self._inside(planned))
            stack.append((None, depth))
            stack.extend((child, depth + 1) for child in reversed(planned.children))

    def _start(self, planned: Planned) -> Placement:
        """Where the body stands: a floating one where "qpos0" puts it."""
        if planned.joints and planned.joints[0].type == "free":
            x, y, z, *xyzw = self.plan.references.get(
                planned.joints[0].name, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
            )
            return Placement(from_quaternion(xyzw), (x, y, z))
        return planned.placement

    def _inside(self, planned: Planned) -> Iterator[str]:
        body = planned.body
        for joint, between in planned.between.items():
            R, p = between.frame.rotation, between.frame.position
            self.marks.append(
                ("between", joint, f"{numbers((*p, *R[0], *R[1], *R[2]))} {between.name}")
            )
            if points := self.plan.bodies[between.name].points:
                self.marks.append(("points", between.name, json.dumps(points, ensure_ascii=False)))
        yield from _inertial(body)
        for single in planned.joints:
            yield self._joint(single)
        yield from self.geoms.of(body)
        yield from self.sites[body.name]

    def _joint(self, joint: Single) -> str:
        numbers_of = {
            "damping": joint.damping[0],
            "frictionloss": joint.friction[0],
            "armature": joint.armature[0],
        }
        nonzero = {label: number(x) for label, x in numbers_of.items() if x}
        turns = joint.type in ("hinge", "slide")
        held = self._limits(joint) if turns else {}
        if not turns and any(limit != Limits() for limit in joint.limits):
            self._mark_limits(joint)
        return element(
            "joint",
            name=joint.name,
            type=joint.type,
            pos=None
            if joint.type in ("free", "slide") or joint.anchor == ZERO
            else numbers(joint.anchor),
            axis=numbers(joint.axis) if turns else None,
            ref=number(joint.reference) if joint.reference else None,
            **held,
            **nonzero,
            **self.springs.get(joint.name, {}),
        )

    def _limits(self, joint: Single) -> dict[str, str | None]:
        """range and actuatorfrcrange, where MJCF can hold them; what it cannot stands in a mark."""
        limit = joint.limits[0] if joint.limits else Limits()
        words: dict[str, str | None] = {}
        if math.isfinite(limit.lower) and math.isfinite(limit.upper) and limit.lower < limit.upper:
            words |= {"range": numbers((limit.lower, limit.upper)), "limited": "true"}
        if math.isfinite(limit.effort) and limit.effort > 0.0:
            words |= {
                "actuatorfrcrange": numbers((-limit.effort, limit.effort)),
                "actuatorfrclimited": "true",
            }
        held = Limits(
            *((limit.lower, limit.upper) if "range" in words else (-math.inf, math.inf)),
            effort=limit.effort if "actuatorfrcrange" in words else math.inf,
        )
        if joint.limits and limit != held:
            self._mark_limits(joint)
        return words

    def _mark_limits(self, joint: Single) -> None:
        data = " ".join(numbers((x.lower, x.upper, x.velocity, x.effort)) for x in joint.limits)
        self.marks.append(("limits", joint.name, data))
        if any(x.acceleration < math.inf for x in joint.limits):
            self.marks.append(
                ("acceleration", joint.name, numbers([x.acceleration for x in joint.limits]))
            )

    def _sites(self, body: str) -> Iterator[str]:
        """Frames and points of a body."""
        for frame in self.model.frames:
            if frame.body == body:
                yield element("site", name=frame.name, **where(frame.placement))
        if body in self.plan.bodies:
            for point, position in self.plan.bodies[body].points:
                name = f"{body}.{point}"
                self.marks.append(("point", name, point))
                yield element("site", name=name, **where(Placement(position=position)))

    # beside the tree

    def _carried(self) -> tuple[dict[str, list[str]], int]:
        """Rows of what came from MJCF and names only what is here, by section;
        how many others there are."""
        known = {
            "body": {WORLD, *(carried.body.name for carried in self.plan.all())},
            "joint": {single.name for single in all_singles(self.plan)},
            "site": {frame.name for frame in self.model.frames}
            | {name for kind, name, _ in self.marks if kind == "point"},
            "geom": set(self.geoms.geoms.taken),
            "tendon": set(),
        }
        rows: dict[str, list[str]] = {"tendon": [], "equality": [], "actuator": []}
        left = 0
        for carried in sorted(
            self.model.carried, key=lambda carried: not carried.kind.startswith("mjcf tendon")
        ):
            words = carried.kind.split()
            if (
                words[0] != "mjcf"
                or len(words) != 3
                or words[1] not in rows
                or not _refers(carried, known)
            ):
                left += 1
                continue
            if words[1] == "tendon":
                known["tendon"].add(carried.name)
            rows[words[1]] += _carried_rows(words[2], carried)
        return rows, left

    def _keyframes(self) -> Iterator[str]:
        """Every configuration as qpos of all joints of the file;
        joints it does not name are at zero."""
        follows = resolved_mimic(self.model.joints)
        order = {name: joint for joint, names in self.plan.names.items() for name in names}
        for name, configuration in self.model.configurations:
            values = dict(configuration)
            for joint, (leader, multiplier, offset) in follows.items():
                values[joint] = (multiplier * values.get(leader, (0.0,))[0] + offset,)
            if name == REFERENCE and not self._has_turned_balls(values):
                continue  # said by where floating bodies stand and by the references of the joints
            qpos: list[float] = []
            for single in all_singles(self.plan):
                joint = order[single.name]
                coordinates = values.get(joint, ())
                k = self.plan.names[joint].index(single.name)
                if single.type in ("ball", "free"):
                    *place, x, y, z, w = coordinates or (
                        (0.0,) * (3 if single.type == "free" else 0) + (0.0, 0.0, 0.0, 1.0)
                    )
                    qpos += [*place, w, x, y, z]
                else:
                    qpos.append(coordinates[k] if coordinates else 0.0)
            yield element("key", name=name, qpos=numbers(qpos))

    def _has_turned_balls(self, configuration: dict[str, tuple[float, ...]]) -> bool:
        """Ball joints have no reference but the identity."""
        balls = {joint.name for joint in self.model.joints if joint.type == "ball"}
        return any(joint in balls and any(q[:3]) for joint, q in configuration.items())


def _because(why: Iterable[str]) -> str:
    said = listed(why, 3)
    return f" ({said})" if said else ""


def _inertial(body: Body) -> Iterator[str]:
    matter = body.mass_properties
    if not body.has_inertia:
        return
    moments, R = principal(matter)
    turned = where(Placement(R))["quat"]
    yield element(
        "inertial",
        pos=numbers(matter.com),
        quat=turned,
        mass=number(matter.mass),
        diaginertia=numbers(moments),
    )


def _refers(carried: Carried, known: dict[str, set[str]]) -> bool:
    """Whether everything that is named is there."""
    named = [pair for part in (carried, *carried.parts) for pair in part.attributes]
    return all(text in known[REFERENCES[word]] for word, text in named if word in REFERENCES)


def _carried_rows(tag: str, carried: Carried) -> Iterator[str]:
    row = element(tag, name=carried.name, **dict(carried.attributes))
    if not carried.parts:
        yield row
        return
    yield opened(row)
    for part in carried.parts:
        yield f"  {element(part.kind, **dict(part.attributes))}"
    yield f"</{tag}>"
