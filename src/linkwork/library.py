"""Library: robots by name or by file."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from linkwork.arguments import choice, name_list
from linkwork.errors import InvalidFile, InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.formats.files import collected_later, file_name, write_atomically
from linkwork.formats.installed import installed_file, installed_names
from linkwork.model import Model
from linkwork.model.edit import with_base
from linkwork.robot import Robot

log = logging.getLogger("linkwork")

FOLDER = Path(__file__).parent / "robots"
YAML = ".robot.yaml"

_GENERATED = re.compile(r"christoffel-([1-9]\d{0,3})")


def _read_mjcf(path: Path, root: str = "fixed", **options: Any) -> Model:
    from linkwork.formats.mjcf import read_mjcf

    model = read_mjcf(path, **options)
    return model if root == "fixed" else with_base(model, floating=True)


def _read_mjcf_text(text: str | bytes, name: str, root: str = "fixed", **options: Any) -> Model:
    from linkwork.formats.mjcf import read_mjcf_text

    model = read_mjcf_text(text, name, **options)
    return model if root == "fixed" else with_base(model, floating=True)


def _read_urdf(path: Path, **options: Any) -> Model:
    from linkwork.formats.urdf import read_urdf

    return read_urdf(path, **options)


def _read_urdf_text(text: str | bytes, name: str, **options: Any) -> Model:
    from linkwork.formats.urdf import read_urdf_text

    return read_urdf_text(text, name, **options)


def _read_sdf(path: Path, **options: Any) -> Model:
    from linkwork.formats.sdf import read_sdf

    return read_sdf(path, **options)


def _read_sdf_text(text: str | bytes, name: str, **options: Any) -> Model:
    from linkwork.formats.sdf import read_sdf_text

    return read_sdf_text(text, name, **options)


def _read_xacro(path: Path, mappings: Mapping[str, str] | None = None, **options: Any) -> Model:
    from linkwork.formats.urdf import read_urdf_text
    from linkwork.formats.xacro import expanded

    return read_urdf_text(expanded(path, mappings), str(path), folder=path.parent, **options)


def _write_mjcf(robot: Robot, path: Path) -> None:
    from linkwork.formats.mjcf import write_mjcf

    foreign = any(each.kind.startswith("mjcf actuator") for each in robot.model.carried)
    closed = bool(robot.model.elements) and not foreign
    write_mjcf(robot.model, path, robot.actuators if closed else ())


def _write_urdf(robot: Robot, path: Path) -> None:
    from linkwork.formats.urdf import write_urdf

    write_urdf(robot.model, path)


def _write_yaml(robot: Robot, path: Path) -> None:
    from linkwork.formats.robot_yaml import write_robot_yaml

    write_robot_yaml(robot.model, path)


# A format is imported when a file of it is read or written.
_READERS: dict[str, Callable[..., Model]] = {
    ".urdf": _read_urdf,
    ".xml": _read_mjcf,
    ".sdf": _read_sdf,
    ".xacro": _read_xacro,
}
_TEXT_READERS: dict[str, Callable[..., Model]] = {
    "robot": _read_urdf_text,
    "mujoco": _read_mjcf_text,
    "sdf": _read_sdf_text,
}
_OPTIONS = {
    YAML: ("live",),
    ".urdf": ("package_dirs",),
    ".xml": ("folders",),
    ".sdf": ("package_dirs", "model"),
    ".xacro": ("package_dirs", "mappings"),
}
_WRITERS: dict[str, Callable[[Robot, Path], None]] = {
    ".urdf": _write_urdf,
    ".xml": _write_mjcf,
    YAML: _write_yaml,
}


@collected_later
def load(
    name: str | Path | None = None,
    root: str = "fixed",
    mimic: str = "follow",
    check: str | None = None,
    live: str | Sequence[str] = (),
    strict: bool | None = None,
    visuals: bool = True,
    text: str | bytes | None = None,
    **options: Any,
) -> Robot:
    """The robot of a built-in name, of a file (.robot.yaml, .urdf, MJCF .xml, .sdf),
    or of an installed description.

    root     "fixed" | "floating": how the root body stands in the world
    mimic    "follow" | "independent": whether joints that mimic others have coordinates of their
             own
    check    level for mass properties, "physical" | "positive" | "any"; None: the format's own
             default
    live     variables of a .robot.yaml that stay inputs of every kernel
    strict   None: what is wrong in a drawing detail is passed over with one warning a file, what
             could change the mechanics is refused; False: the latter is passed over too where the
             meaning is plain (left-over xacro elements, reversed limits), each named; True:
             everything is refused
    visuals  False: what is only drawn is not read
    text     the description itself instead of a file, as a robot_description topic carries it
             (URDF, MJCF, SDF or .robot.yaml); `name` is then what errors call it
    options  of the format's reader: package_dirs for URDF, folders for MJCF, model for SDF,
             mappings for .xacro

    A built-in name wins over a file of that name in the present folder (write "./name" for the
    file). Installed descriptions come through the package robot_descriptions, if it is installed
    and its files are on this disk; nothing is ever fetched. "christoffel-<n>" is the random arm of
    [Safeea2019] with n joints.
    """
    choice(root, ("fixed", "floating"), "load: root")
    live = name_list(live, "load: live")
    if not isinstance(visuals, bool):
        raise InvalidInput(f"load: visuals is {visuals!r}, expected True or False")
    common = {"root": root, "mimic": mimic, "strict": strict, "visuals": visuals}
    common |= {} if check is None else {"check": check}
    if text is not None:
        return _of_text(text, name, options | common, live)
    if name is None:
        raise InvalidInput(
            "load: neither name nor text is given, expected a robot's name, a path, or text=..."
        )
    generated = _generated(name, check)
    if generated is not None:
        if live or options:
            raise NotPossible(
                f'load: "{name}" is made by a recipe; it has no variables and takes no '
                "other options"
            )
        return Robot(generated if root == "fixed" else with_base(generated, floating=True))
    options |= common
    path = _path_of(name)
    file = path.name.lower()
    if file.endswith(YAML):
        from linkwork.formats.robot_yaml import read_robot_yaml

        description = _read(read_robot_yaml, path, options)
        return Robot(description.build({}), description, live=live)
    if live:
        raise NotPossible(
            f'load: "{path.name}" has no variables that could be live; only a {YAML} has them'
        )
    for ending, read in _READERS.items():
        if file.endswith(ending):
            return Robot(_read(read, path, options))
    endings = ", ".join((YAML, *_READERS))
    raise InvalidFile(f'load: "{path}" has an unknown ending, expected one of {endings}')


def _of_text(
    text: str | bytes, name: str | Path | None, options: dict[str, Any], live: Sequence[str]
) -> Robot:
    """The robot that a text describes; its first element says in which format."""
    from linkwork.formats.xml import root_tag

    if not isinstance(text, (str, bytes)):
        raise InvalidInput(f"load: text is a {type(text).__name__}, expected str or bytes")
    tag = root_tag(text)
    if tag is None:
        from linkwork.formats.robot_yaml import Description

        description = Description(text, str(name or "robot.yaml text"), **options)
        return Robot(description.build({}), description, live=live)
    if live:
        raise NotPossible(
            f"load: the text has no variables that could be live; only a {YAML} has them"
        )
    if tag not in _TEXT_READERS:
        known = ", ".join(f"<{each}>" for each in _TEXT_READERS)
        raise InvalidFile(
            f"load: the text begins with <{tag[:60]}>, expected {known} or the text of a {YAML}"
        )
    return Robot(_TEXT_READERS[tag](text, str(name or "text"), **options))


def _generated(name: str | Path, check: str | None) -> Model | None:
    generated = _GENERATED.fullmatch(str(name))
    if generated is None or str(name) in _built_in():
        return None
    count = int(generated[1])
    from linkwork.formats.christoffel import MOST, christoffel_rows
    from linkwork.formats.dh import dh_model

    if count > MOST:
        raise NotPossible(f'load: "{name}" would have {count} joints, expected at most {MOST}')
    return dh_model(christoffel_rows(count), "modified", check or "positive", str(name))


def robots() -> dict[str, str]:
    """Names of the built-in robots, with one line each."""
    return dict(_built_in())


def save(robot: Robot, path: str | Path, loops: str = "closed") -> Path:
    """Write a robot to a file; the ending (.robot.yaml, .urdf, .xml for MJCF) names the format.

    loops   "closed"; "open" leaves out what closes loops, which URDF has no word for: the tree is
            written, and one warning names the closures that are missing

    Where a format cannot hold the robot, NotPossible lists why. A robot read from a .robot.yaml is
    written with its variables and expressions, variables at their present values; one changed in
    another way since, or with meshes beside its file, as numbers.
    """
    if not isinstance(robot, Robot):
        raise InvalidInput(f"save: robot is a {type(robot).__name__}, expected a Robot")
    path = Path(file_name(path))
    if choice(loops, ("closed", "open"), "save: loops") == "open":
        robot = _opened(robot)
    text = _own_text(robot) if path.name.endswith(YAML) else None
    if text is not None:
        write_atomically(path, text)
        return path
    for ending, write in _WRITERS.items():
        if path.name.endswith(ending):
            write(robot, path)
            return path
    raise NotPossible(
        f'save: "{path.name}" has an unknown ending, expected one of {", ".join(_WRITERS)}'
    )


def _opened(robot: Robot) -> Robot:
    """The tree alone: without what closes and drives loops."""
    if not robot.model.elements:
        return robot
    names = [getattr(each, "name", "") for each in robot.model.elements]
    left_out = [f'"{name}"' for name in names if name]
    log.warning('robot "%s": its tree is written without %s', robot.name, ", ".join(left_out))
    return Robot(replace(robot.model, elements=()))


def _own_text(robot: Robot) -> str | bytes | None:
    """The .robot.yaml a robot came from, where it still describes it:
    variables and expressions are kept."""
    description = robot.subject.parametric
    from linkwork.formats.robot_yaml import Description

    if not isinstance(description, Description):
        return None
    relative = any(
        shape.mesh for body in robot.model.bodies for shape in (*body.visuals, *body.collisions)
    )
    return None if relative else description.text_with(dict(robot.model.variables))


def _path_of(name: str | Path) -> Path:
    if not isinstance(name, (str, Path)):
        raise InvalidInput(
            f"load: name is a {type(name).__name__}, expected the name of a robot or a path"
        )
    if str(name) in _built_in():
        return FOLDER / f"{name}{YAML}"
    path = Path(name)
    if path.suffix or "/" in str(name):
        return path
    file = installed_file(str(name))
    if file is not None:
        return file
    endings = ", ".join((YAML, *_READERS))
    if str(name) in installed_names():
        raise UnknownName(
            f'robot "{name}" is known to robot_descriptions, but its files are not on this disk; '
            "linkwork fetches "
            f"nothing: python -m robot_descriptions pull {name}_description"
        )
    known = [*_built_in(), *installed_names()]
    near = did_you_mean(str(name), known)
    told, files = f'there is no robot "{name}"', f"a file ends in {endings}"
    if near:
        raise UnknownName(f"{told}{near} Built in: lw.robots(); {files}")
    raise UnknownName(f"{told}; built in: {', '.join(_built_in())}; {files}{_more()}")


def _more() -> str:
    """Where more robots come from, while the package is not installed."""
    return "" if installed_names() else '; more robots by name: pip install "linkwork[robots]"'


def _read(read: Callable[..., Any], path: Path, options: dict[str, Any]) -> Any:
    try:
        return read(path, **options)
    except TypeError as error:
        unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        if unknown is None or unknown[1] not in options:
            raise
        known_options = next(
            (names for ending, names in _OPTIONS.items() if path.name.lower().endswith(ending)), ()
        )
        option, known = unknown[1], ["root", "mimic", "check", "strict", "visuals", *known_options]
        near = (
            '; did you mean root="floating"?' if "float" in option else did_you_mean(option, known)
        )
        raise InvalidInput(
            f'load: no option "{option}" for {path.name}; options are {", ".join(known)}{near}'
        ) from None


@cache
def _built_in() -> dict[str, str]:
    """Name -> its line; the files of this package begin with name and description,
    so no more is read."""
    summaries = {}
    for path in sorted(FOLDER.glob(f"*{YAML}"), key=lambda path: path.name.removesuffix(YAML)):
        with path.open(encoding="utf-8") as file:
            head = file.read(2000)
        line = re.search(r"^description: *(.*)$", head, re.MULTILINE)
        summaries[path.name.removesuffix(YAML)] = line[1].strip("\"'") if line else ""
    return summaries
