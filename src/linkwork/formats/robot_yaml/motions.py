"""Motions and configurations of a .robot.yaml."""

from __future__ import annotations

import itertools
from typing import Any

from linkwork.errors import InvalidModel, did_you_mean
from linkwork.formats.robot_yaml.context import Build, dimension
from linkwork.formats.robot_yaml.parts import own_names
from linkwork.formats.robot_yaml.reading import Place
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.variables import Scope, remarks
from linkwork.model.joint import SIZES
from linkwork.model.kinds import KINDS
from linkwork.model.model import Configurations
from linkwork.model.motions import DescribedMotion, Pieces, Track, accelerated, through

_LINEAR = ("linear_actuator",)
_DRIVES = (*_LINEAR, "gear", "belt", "four_bar", "differential")


def read_motions(build: Build, robot: Entry, scope: Scope) -> tuple[DescribedMotion, ...]:
    """Every named motion."""
    return tuple(
        _motion(build, name, entry, scope) for name, entry in robot.get("motions", {}).items()
    )


def _motion(build: Build, name: str, entry: Entry, scope: Scope) -> DescribedMotion:
    duration = scope.plain_number(entry["duration"])
    if not duration > 0.0:
        build.reader.refuse(
            entry.at("duration"), f"duration is {duration:g} s, expected more than 0"
        )
    tracks: list[Track] = []
    whole = build.all_parts[0]
    for label, written in entry.get("joints", {}).items():
        joint = build.joint(whole, label, entry.at("joints", label))
        tracks_of_joint = written if isinstance(written, tuple) else (written,)
        if joint.nq != joint.nv or len(tracks_of_joint) != joint.nv:
            count = len(tracks_of_joint)
            sentence = (
                f'joint "{label}" ({joint.type}) has {count} tracks, expected {joint.nv} of '
                "one coordinate"
            )
            if joint.nq != joint.nv:
                sentence = (
                    f'joint "{label}" ({joint.type}) turns by a quaternion, which no track can move'
                )
            build.reader.refuse(entry.at("joints", label), sentence)
        for k, track in enumerate(tracks_of_joint):
            words = [
                dimension(quantity, joint.type, k)
                for quantity in ("position", "velocity", "acceleration")
            ]
            tracks.append(Track(label, _pieces(build, track, words, scope), False, k))
    for label, written in entry.get("actuators", {}).items():
        place = entry.at("actuators", label)
        linear = _actuator(build, label, place)
        if isinstance(written, tuple):
            build.reader.refuse(place, "an actuator has one track")
        words = (
            ["length", "speed", "acceleration"]
            if linear
            else ["angle", "angular speed", "angular acceleration"]
        )
        tracks.append(Track(label, _pieces(build, written, words, scope), True))
    return DescribedMotion(name, duration, tuple(tracks), "\n".join(remarks(entry)))


def _actuator(build: Build, name: str, place: Place) -> bool:
    """True for a linear actuator, False for a motor; others are refused."""
    known: dict[str, bool] = {}
    for label, (part, entry) in own_names(build.all_parts, "elements").items():
        if entry["type"] == "differential":
            known |= {part.named(motor): False for motor in entry["motors"]}
        elif entry["type"] in _DRIVES:
            known[label] = entry["type"] in _LINEAR
    if name not in known:
        build.reader.refuse(place, f'unknown actuator "{name}"{did_you_mean(name, known)}')
    return known[name]


def _pieces(build: Build, track: Entry, words: list[str], scope: Scope) -> Pieces:
    position, rate, acceleration = words

    def number(x: Any, what: str) -> float:
        return scope.plain_number(x, what)

    try:
        if "waypoints" in track:
            points = [(number(t, "time"), number(x, position)) for t, x in track["waypoints"]]
            return through(points, track.get("interpolation", "cubic"))
        if "polynomial" in track:
            return ((0.0, tuple(number(c, position) for c in track["polynomial"])),)
        if "pieces" in track:
            return _as_given(track, position, scope)
        written = track.get("acceleration", ())
        steps = written if isinstance(written, tuple) else ((0.0, written),)
        pairs = [(number(t, "time"), number(a, acceleration)) for t, a in steps]
        return accelerated(
            number(track.get("start", 0.0), position), number(track.get("rate", 0.0), rate), pairs
        )
    except InvalidModel as error:
        build.reader.refuse(track.place, str(error))


def _as_given(track: Entry, position: str, scope: Scope) -> Pieces:
    pieces = tuple(
        (
            scope.plain_number(piece["time"]),
            tuple(scope.plain_number(c, position) for c in piece["polynomial"]),
        )
        for piece in track["pieces"]
    )
    times = [t for t, _ in pieces]
    if not times or times[0] != 0.0 or any(b <= a for a, b in itertools.pairwise(times)):
        raise InvalidModel(
            f"pieces at times {times[:6]}, expected the first at 0 and increasing times"
        )
    return pieces


def read_configurations(build: Build, robot: Entry, scope: Scope) -> Configurations:
    """Every named configuration: (name, ((joint, q), ...))."""
    configurations = []
    for name, joints in robot.get("configurations", {}).items():
        values = []
        for label, coordinates in joints.items():
            place = robot.at("configurations", name, label)
            joint = build.joint(build.all_parts[0], label, place)
            numbers = coordinates if isinstance(coordinates, tuple) else (coordinates,)
            if len(numbers) != SIZES[joint.type][0]:
                sentence = (
                    f'joint "{label}" ({joint.type}) has {joint.nq} coordinates, came '
                    f"{len(numbers)}"
                )
                build.reader.refuse(place, sentence)
            kinds = [_coordinate(joint.type, k) for k in range(len(numbers))]
            plain = map(scope.plain_number, numbers, kinds)
            values.append((label, tuple(plain)))
        configurations.append((name, tuple(values)))
    return tuple(configurations)


def _coordinate(kind: str, k: int) -> str:
    """Quaternions are plain numbers."""
    row = KINDS[kind]
    if row.quaternion and k >= len(row.slides):
        return "number"
    return dimension("position", kind, k)
