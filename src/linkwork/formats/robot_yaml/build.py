"""Building the model of a checked document for values of its variables."""

from __future__ import annotations

from collections.abc import Mapping

from linkwork.errors import InvalidModel
from linkwork.formats.files import collected_later
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.robot_yaml.bodies import read_bodies
from linkwork.formats.robot_yaml.context import Build
from linkwork.formats.robot_yaml.elements import read_elements
from linkwork.formats.robot_yaml.joints import read_dh_table, read_joints
from linkwork.formats.robot_yaml.motions import read_configurations, read_motions
from linkwork.formats.robot_yaml.parts import Part, own_names, parts
from linkwork.formats.robot_yaml.placements import placement
from linkwork.formats.robot_yaml.reading import Reader, refusal
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.variables import Scope, empty_scope, remarks, scope_with
from linkwork.model.model import GRAVITY, Frame, Model
from linkwork.model.number import Number, is_symbol
from linkwork.model.placement import HERE, Placement
from linkwork.model.validation import validated


@collected_later
def build_model(
    robot: Entry,
    reader: Reader,
    values: Mapping[str, Number],
    meshes: MeshFinder,
    check: str,
    mimic: str,
) -> Model:
    """The model for these SI values (or symbols) of the variables;
    missing ones have the value of the file."""
    variables = robot.get("variables", {})
    scope = scope_with(variables, empty_scope(reader), values)

    def placed(entry: Entry, key: str, inner: Scope, whole: Part) -> Placement:
        of_parent = robot.get("bodies", {}).get(entry.get("parent"), {})
        return placement(entry, key, inner, of_parent.get("points"))

    all_parts = list(parts(robot, scope, placed))
    build = Build(reader, all_parts, meshes)
    read_bodies(build)
    read_dh_table(build, robot.get("dh"), scope)
    read_joints(build, mimic)
    _frames(build)
    bodies = tuple(build.bodies.values())
    free = [name for name, variable in variables.items() if isinstance(variable.value, float)]
    plain = {
        name: reader.units.unit(variables[name].dimension).to_si(scope.plain[name]) for name in free
    }
    model = Model(
        name=robot["name"],
        bodies=bodies,
        joints=tuple(build.joints.values()),
        frames=tuple(build.frames.values()),
        gravity=scope.numbers(robot["gravity"]) if "gravity" in robot else GRAVITY,
        elements=read_elements(build, robot, scope),
        motions=read_motions(build, robot, scope),
        configurations=read_configurations(build, robot, scope),
        variables=tuple(
            (name, values[name] if _is_plain(values.get(name)) else plain[name]) for name in free
        ),
        notes=tuple(_notes(robot)),
        source=reader.source,
        kinematic_only=not any(body.has_inertia for body in bodies),
    )
    try:
        return validated(model, check)
    except InvalidModel as error:
        blamed = build.places.get(error.culprit, robot) if error.culprit else robot
        place = blamed.place if isinstance(blamed, Entry) else blamed
        raise refusal(reader.source, place, str(error)) from None


def _is_plain(x: Number | None) -> bool:
    return x is not None and not is_symbol(x)


def _frames(build: Build) -> None:
    for full, (part, entry) in own_names(build.all_parts, "frames").items():
        body = build.body(part, entry, "body")
        if body is None:
            build.reader.refuse(entry.at("body"), "a frame stands on a body, not on the world")
        T = HERE
        if "placement" in entry:
            points = part.entry.get("bodies", {}).get(entry["body"], {}).get("points")
            T = part.mirror.placement(placement(entry, "placement", part.scope, points))
        build.frames[full] = Frame(full, body, T)
        build.places["frame", full] = part.placed or entry


def _notes(robot: Entry) -> list[str]:
    """Sources, assumptions and corrections of the whole robot and of its parts,
    each with where it stands."""
    notes = remarks(robot)
    sections = [
        robot[s]
        for s in ("bodies", "joints", "frames", "elements", "motions", "placed")
        if s in robot
    ]
    for chain in robot.get("chains", {}).values():
        notes += [f"{chain.path}: {line}" for line in remarks(chain)]
        sections += [chain[s] for s in ("bodies", "joints", "frames", "elements") if s in chain]
    for section in sections:
        for entry in section.values():
            for line in remarks(entry):  # nearly always none
                notes.append(f"{entry.path}: {line}")
    if "dh" in robot:
        notes += [f"dh: {line}" for line in remarks(robot["dh"])]
        for row in robot["dh"]["rows"]:
            notes += [f"{row.path}: {line}" for line in remarks(row)]
    for name, variable in robot.get("variables", {}).items():
        for line in variable.notes:
            notes.append(f"variables.{name}: {line}")
    return notes
