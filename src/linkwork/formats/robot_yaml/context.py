"""Context of a build: what has a name, where it stands in the file,
and what dimension a coordinate has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import did_you_mean
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.robot_yaml.parts import Part
from linkwork.formats.robot_yaml.reading import Place, Reader
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.model.body import Body
from linkwork.model.joint import Joint
from linkwork.model.kinds import KINDS
from linkwork.model.model import Frame

WORLD = "world"
_DIMENSIONS = {
    "position": ("angle", "length"),
    "velocity": ("angular speed", "speed"),
    "acceleration": ("angular acceleration", "acceleration"),
    "effort": ("torque", "force"),
    "damping": ("angular damping", "damping"),
    "stiffness": ("angular stiffness", "stiffness"),
    "armature": ("inertia", "mass"),
}


def dimension(quantity: str, joint_type: str, coordinate: int = 0) -> str:
    """The dimension of a joint's "position", "velocity", "effort", ... for one of its
    coordinates."""
    return _DIMENSIONS[quantity][coordinate in KINDS[joint_type].slides]


@dataclass
class Build:
    """A model in the making: what has a name, and where it stands in the file."""

    reader: Reader
    all_parts: list[Part]
    meshes: MeshFinder
    bodies: dict[str, Body] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    places: dict[tuple[str, str], Entry | Place] = field(default_factory=dict)
    body_points: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def body(self, part: Part, entry: Entry, key: str) -> str | None:
        """The body a key names, None for the world; unknown ones are refused."""
        name = entry[key]
        full = part.meant(name, "bodies")
        if full in self.bodies:
            return full
        if name == WORLD:
            return None
        near = did_you_mean(name, [*part.entry.get("bodies", ()), *self.bodies, WORLD])
        self.reader.refuse(entry.at(key), f'unknown body "{name}"{near}')

    def joint(self, part: Part, name: str, place: Place) -> Joint:
        """The joint a name means; unknown ones are refused."""
        full = part.meant(name, "joints")
        if full not in self.joints:
            near = did_you_mean(name, [*part.entry.get("joints", ()), *self.joints])
            self.reader.refuse(place, f'unknown joint "{name}"{near}')
        return self.joints[full]
