"""Reading MJCF into a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Unpack

from linkwork.errors import InvalidFile, InvalidInput, InvalidModel, listed
from linkwork.formats.files import collected_later, file_name, read_bounded
from linkwork.formats.mjcf.assets import Assets
from linkwork.formats.mjcf.attach import assembled
from linkwork.formats.mjcf.bodies import WORLD, Described, Names, described_bodies
from linkwork.formats.mjcf.defaults import Defaults
from linkwork.formats.mjcf.drives import actuators, fixed_tendons, tendons
from linkwork.formats.mjcf.equalities import Equalities, Mechanism, equalities
from linkwork.formats.mjcf.folders import Folders
from linkwork.formats.mjcf.followers import on_leaders
from linkwork.formats.mjcf.geoms import Geom
from linkwork.formats.mjcf.inertia import mass_properties, scaled_to
from linkwork.formats.mjcf.joints import Chain, chain
from linkwork.formats.mjcf.keyframes import configurations
from linkwork.formats.mjcf.marks import Marks, marks
from linkwork.formats.mjcf.orientation import between, placement
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.springs import springs
from linkwork.formats.options import Reading, ReadOptions
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element
from linkwork.model.body import Body, Shape
from linkwork.model.elements import TorsionSpring
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, resolved_mimic
from linkwork.model.model import Frame, Model
from linkwork.model.placement import HERE, Placement
from linkwork.model.validation import validated


def read_mjcf(
    path: str | os.PathLike[str],
    *,
    folders: Sequence[str | os.PathLike[str]] = (),
    **options: Unpack[Reading],
) -> Model:
    """The robot an MJCF file describes, as MuJoCo compiles it.

    check     level for mass properties: "physical", "positive" or "any" (one warning lists what is
              not physical)
    mimic     "follow": a linear joint equality makes its first joint mimic the second;
              "independent": it is a `Coupling` of model.elements and both keep their coordinates
    folders   further folders that includes and meshes may lie in; without, only files below this
              file's folder are opened
    strict    None: a wrong colour warns, what could change the mechanics is refused; False: a
              reversed range means none; True: what is left out is refused, too
    visuals   False: nothing is read that is only drawn

    Several joints of a body become a chain with massless bodies "body/joint" between; a joint
    beside the origin of its body carries such a body too. Sites become frames
    ("name_site" where a body has the name), the geoms and sites of the world a body "world" without
    a joint. A free joint's coordinates are its pose in the world; MuJoCo's reference is the
    configuration "qpos0".
    """
    chosen = ReadOptions.of("read_mjcf", options, rooted=False)
    content = read_bounded(path)
    source = Path(os.path.abspath(file_name(path)))
    return _model(content, str(source), source.stem, chosen, Folders(source.parent, folders))


def read_mjcf_text(
    text: str | bytes,
    name: str = "mjcf text",
    *,
    folders: Sequence[str | os.PathLike[str]] = (),
    **options: Unpack[Reading],
) -> Model:
    """The robot that MJCF text describes; `name` is what errors call the text.
    Options as in `read_mjcf`.

    Without `folders` nothing is included and no mesh is opened; with them names are looked for in
    each.
    """
    chosen = ReadOptions.of("read_mjcf", options, rooted=False)
    if not isinstance(text, (str, bytes)):
        raise InvalidInput(
            f"read_mjcf_text: text is a {type(text).__name__}, expected str or bytes"
        )
    return _model(text, name, name, chosen, Folders(None, folders))


@collected_later
def _model(
    content: str | bytes, source: str, stem: str, options: ReadOptions, folders: Folders
) -> Model:
    passed = Passed(options.strict, source)
    root, said = assembled(content, source, folders)
    reader = _Reader(root, said, options, folders, passed)
    model = reader.model(root.text("model", "") or stem)
    passed.say()
    return model


class _Reader:
    """The parts of one file, in the order in which they need each other."""

    def __init__(
        self,
        root: Element,
        settings: CompilerSettings,
        options: ReadOptions,
        folders: Folders,
        passed: Passed,
    ) -> None:
        self.root, self.settings, self.options, self.passed = root, settings, options, passed
        self.defaults = Defaults(root)
        self.assets = Assets(root, self.defaults, self.settings, folders, passed, options.visuals)
        self.marks: Marks = marks(root)
        self.world, *self.bodies = described_bodies(root, self.defaults, self.settings)
        self.geoms = {
            body.name: [
                Geom(part.words, part.around, part.settings, self.assets) for part in body.geoms
            ]
            for body in (self.world, *self.bodies)
        }

    def model(self, name: str) -> Model:
        chains = self._chains()
        joints = {joint.name: joint for each in chains.values() for joint in each.joints}
        closed = self._equalities(chains)
        drives, armature = actuators(
            self.root,
            self.defaults,
            {name: joint.nv for name, joint in joints.items() if joint.nv},
            self.marks,
        )
        paths = tendons(self.root, self.defaults, joints, self.marks, self.passed)
        carried = (*paths, *drives, *closed.carried)
        reference = [entry for each in chains.values() for entry in each.reference]
        elements = [part.words.own for body in self.bodies for part in body.joints]
        frames, points = self._sites(chains)
        moving = self._finished(joints, closed, armature)
        closing = on_leaders(
            [*closed.elements, *self._springs(chains, closed)], resolved_mimic(moving), self.passed
        )
        model = Model(
            name=name,
            bodies=self._bodies(chains, points),
            joints=moving,
            frames=frames,
            gravity=self.settings.gravity,
            elements=closing,
            configurations=configurations(self.root, reference, elements, closed.mimic),
            carried=carried,
            source=self.root.source,
        )
        if not self.bodies:
            raise self.root.error("has no <body>, expected at least one")
        self._remark_forces()
        try:
            kinematic = not any(body.has_inertia for body in model.bodies)
            return validated(replace(model, kinematic_only=kinematic), self.options.check)
        except InvalidModel as error:
            raise InvalidFile(f"{self._place(error)}: {error}") from None

    def _place(self, error: InvalidModel) -> str:
        """file:line of who is to blame."""
        described = {("body", body.name): body.element for body in self.bodies}
        for body in self.bodies:
            for part in (*body.joints, *body.sites):
                kind = "frame" if part.words.own.tag == "site" else "joint"
                described[kind, part.words.own.attributes.get("name", "")] = part.words.own
        at = described.get(error.culprit, self.root) if error.culprit else self.root
        return f"{at.source}:{at.line}"

    def _chains(self) -> dict[str, Chain]:
        written = [part.words.own for body in self.bodies for part in body.joints]
        seen: dict[str, Element] = {}
        for element in written:
            name = element.attributes.get("name")
            if name in seen:
                raise element.error(
                    f"has a name that another joint (line {seen[name].line}) has already"
                )
            if name:
                seen[name] = element
        sites = (
            part.words.own.attributes.get("name", "") for body in self.bodies for part in body.sites
        )
        names = Names([WORLD, *(body.name for body in self.bodies), *sites])
        joint_names = Names(seen)
        return {
            body.name: chain(body, names, joint_names, self.marks.between, self.passed)
            for body in self.bodies
        }

    def _bodies(
        self, chains: dict[str, Chain], points: dict[str, list[tuple[str, Placement]]]
    ) -> tuple[Body, ...]:
        matter: dict[str, MassProperties] = {}
        for body in self.bodies:
            properties = mass_properties(body, self.geoms[body.name])
            if properties is not None:
                matter[body.name] = properties
        matter = scaled_to(self.settings.total_mass, matter)
        bodies: list[Body] = []
        for body in self.bodies:
            bodies += [self._between(each) for each in chains[body.name].between]
            visuals, collisions = self._shapes(body)
            here = tuple((label, T.position) for label, T in points.get(body.name, ()))
            weight = matter.get(body.name, MassProperties())
            bodies.append(
                Body(body.name, weight, here, (), visuals, collisions, body.name in matter)
            )
        visuals, collisions = self._shapes(self.world)
        names = (part.words.own.attributes.get("name", "") for part in self.world.sites)
        is_seen = (
            visuals or collisions or any(name and name not in self.marks.ends for name in names)
        )
        if is_seen or WORLD in self.marks.bodies:
            here = tuple((label, T.position) for label, T in points.get(WORLD, ()))
            bodies.insert(
                0,
                Body(WORLD, points=here, visuals=visuals, collisions=collisions, has_inertia=False),
            )
        if not self.marks.order:
            return tuple(bodies)
        places = {name: k for k, name in enumerate(self.marks.order)}
        return tuple(sorted(bodies, key=lambda body: places.get(body.name, len(places))))

    def _between(self, body: Body) -> Body:
        """A massless body behind a joint, with the points it had when linkwork wrote the file."""
        points = self.marks.between_points.get(body.name)
        return body if points is None else replace(body, points=points)

    def _shapes(self, body: Described) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """(visuals, collisions)."""
        visuals: list[Shape] = []
        collisions: list[Shape] = []
        for geom in self.geoms[body.name]:
            collides = geom.collides
            shape = geom.shape() if collides or self.options.visuals else None
            if shape is None:
                continue
            if self.options.visuals and geom.is_drawn:
                visuals.append(shape)
            if collides:
                collisions.append(shape)
        return tuple(visuals), tuple(collisions)

    def _sites(
        self, chains: dict[str, Chain]
    ) -> tuple[tuple[Frame, ...], dict[str, list[tuple[str, Placement]]]]:
        """Named sites as frames; those that linkwork wrote for points of bodies as points."""
        names = Names(
            [
                WORLD,
                *(b.name for b in self.bodies),
                *(b.name for c in chains.values() for b in c.between),
            ]
        )
        frames: list[Frame] = []
        points: dict[str, list[tuple[str, Placement]]] = {}
        for body in (self.world, *self.bodies):
            for part in body.sites:
                name = part.words.own.attributes.get("name")
                if not name or name in self.marks.ends:
                    continue
                T = self.site_placements[part.words.own]
                if name in self.marks.points:
                    points.setdefault(body.name, []).append((self.marks.points[name], T))
                else:
                    frames.append(
                        Frame(
                            names.free(name if name not in names.taken else f"{name}_site"),
                            body.name,
                            T,
                        )
                    )
        return tuple(frames), points

    @cached_property
    def site_placements(self) -> dict[Element, Placement]:
        """T_body_site of every named site."""
        placements = {}
        for part in (part for body in (self.world, *self.bodies) for part in body.sites):
            words = part.words
            if words.own.attributes.get("name"):
                T = between(words)[0] if words.has("fromto") else placement(words, part.settings)
                placements[words.own] = part.around @ T
        return placements

    def _equalities(self, chains: dict[str, Chain]) -> Equalities:
        poses: dict[str, Placement] = {WORLD: HERE}
        for body in self.bodies:
            poses[body.name] = poses[body.parent or WORLD] @ body.placement
        sites = {
            part.words.own.attributes["name"]: (body.name, self.site_placements[part.words.own])
            for body in (self.world, *self.bodies)
            for part in body.sites
            if part.words.own.attributes.get("name")
        }
        references = {
            name: q[0] for each in chains.values() for name, q in each.reference if len(q) == 1
        }
        paths = fixed_tendons(self.root, references)
        mechanism = Mechanism(poses, sites, references, paths, self.marks.ends)
        follow = self.options.mimic == "follow"
        joints = (joint.name for each in chains.values() for joint in each.joints)
        names = Names([*poses, *sites, *joints])
        return equalities(
            self.root, self.defaults, mechanism, self.marks, follow, names, self.passed
        )

    def _springs(self, chains: dict[str, Chain], closed: Equalities) -> list[TorsionSpring]:
        names = Names(
            [*self.marks.springs.values(), *(getattr(each, "name", "") for each in closed.elements)]
        )
        return springs(self.bodies, chains, self.marks.springs, names, self.passed)

    def _finished(
        self, joints: dict[str, Joint], closed: Equalities, armature: dict[str, float]
    ) -> tuple[Joint, ...]:
        """The joints with what other sections of the file say about some of them."""
        finished = dict(joints)
        for name in [each for each in joints if each in closed.mimic or each in armature]:
            rotor = joints[name].armature + armature.get(name, 0.0)
            finished[name] = replace(joints[name], mimic=closed.mimic.get(name), armature=rotor)
        for name, limits in self.marks.limits.items():
            if name in finished and len(limits) == finished[name].nv:
                finished[name] = replace(finished[name], limits=limits)
        return tuple(finished.values())

    def _remark_forces(self) -> None:
        """One line about each force of MuJoCo that linkwork does not know."""
        saying = [body for body in self.bodies if "gravcomp" in body.element.attributes]
        lifted = [body.name for body in saying if body.element.number("gravcomp", 0.0)]
        if lifted:
            self.passed.remark(f"gravity compensation of {listed(lifted, 4)} is left out")
        of_fluids, options = ("density", "viscosity"), self.root.all("option")
        if any(option.number(word, 0.0) for option in options for word in of_fluids):
            self.passed.remark("forces of the fluid around are left out")
        plugins = [each for body in self.bodies for each in body.element.all("plugin")]
        if plugins or any(section.all("flex") for section in self.root.all("deformable")):
            self.passed.remark("forces of plugins and flexes are left out")
