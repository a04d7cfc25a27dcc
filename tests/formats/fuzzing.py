"""Fuzzing of every reader: damaged and generated files, read from a folder with decoys around it.

    python -m tests.formats.fuzzing 30000      that many inputs, shared among the readers; figures on the terminal
    python -m tests.formats.fuzzing 30000 --beside    and every URDF and MJCF that is read beside Pinocchio and MuJoCo

An input may become a robot or one of linkwork's own errors. Everything else is a finding: another
exception, a number that is not finite, more than `SLOWEST` processor seconds a megabyte
(and `LEAST` for whatever a file costs at least), or a file opened outside the folder that was
given; with --beside also a robot that is another one there.
"""

from __future__ import annotations

import functools
import logging
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.formats import read_srdf
from linkwork.formats.robot_yaml import json_schema
from linkwork.library import FOLDER
from tests.formats import test_mjcf_fuzz, test_robot_yaml_fuzz
from tests.formats.fuzzing_mjcf import generated_mjcf
from tests.formats.test_sdf import LINKS, as_sdf, hinge, model
from tests.formats.test_srdf import PANDA
from tests.formats.test_urdf import ARM
from tests.published import URDFS

SLOWEST, LEAST = 1.0, 0.5
MJCF_FOLDER = Path(__file__).parent / "mjcf"
URDF_TEXTS = [ARM] + [
    URDFS[name].read_text() for name in ("panda/panda", "ur/ur5_robot", "finger_edu/finger_edu")
]
LURES = (
    "../decoy.xml",
    "../../decoy.stl",
    "/etc/passwd",
    "file:///etc/hostname",
    "package://../decoy.stl",
    "link.stl",
)
"""Names of files that must not be opened: beside the folder, above it,
and through a link out of it."""
ODD = (
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e308",
    "5e-324",
    "1e999",
    "0 0 0",
    "\x00",
    "é\u2028",
    "&#0;",
    "<",
    ">",
    '"',
    "]]>",
    "&lt;",
    "x" * 5000,
)
URDF_TAGS = {
    "robot": "name",
    "link": "name",
    "joint": "name type",
    "parent": "link",
    "child": "link",
    "origin": "xyz rpy",
    "axis": "xyz",
    "limit": "lower upper velocity effort",
    "mimic": "joint multiplier offset",
    "inertial": "",
    "mass": "value",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "visual": "",
    "geometry": "",
    "mesh": "filename scale",
    "box": "size",
    "dynamics": "damping friction",
}


def damaged_urdf(rng: random.Random) -> str:
    text = rng.choice(URDF_TEXTS)
    for _ in range(rng.randint(1, 4)):
        quotes = [i for i, c in enumerate(text) if c == '"']
        at = rng.randrange(len(text) + 1)
        match rng.randrange(6):
            case 0 | 1 | 2 if len(quotes) > 2:
                k = 2 * rng.randrange(len(quotes) // 2)
                text = text[: quotes[k] + 1] + rng.choice([*ODD, *LURES]) + text[quotes[k + 1] :]
            case 3:
                text = text[:at] + text[at + rng.randint(1, 200) :]
            case 4:
                text = text[: at + 150] + text[at : at + 150] + text[at + 150 :]
            case _:
                text = text[:at] + rng.choice(ODD) + text[at:]
    return text


def damaged_mjcf(rng: random.Random) -> str:
    text = test_mjcf_fuzz.damaged(rng.choice(test_mjcf_fuzz.TEXTS), rng)
    if rng.random() < 0.3:
        lure = rng.choice(LURES)
        attach = (
            f'<asset><model name="m" file="{lure}"/></asset><worldbody><attach model="m" '
            'prefix="p"/></worldbody>'
        )
        extra = rng.choice(
            [f'<include file="{lure}"/>', f'<asset><mesh name="m" file="{lure}"/></asset>', attach]
        )
        text = text.replace("</mujoco>", extra + "</mujoco>")
    return text


def damaged_yaml(rng: random.Random) -> str:
    text = test_robot_yaml_fuzz.damaged(
        test_robot_yaml_fuzz.FILES[rng.choice(sorted(test_robot_yaml_fuzz.FILES))], rng
    )
    if rng.random() < 0.2:
        text += f"\n  lured: {{mass: 0, visuals: [{{mesh: {rng.choice(LURES)!r}}}]}}\n"
    return text


def generated_xml(rng: random.Random, tags: dict[str, str], depth: int = 0) -> str:
    tag = rng.choice(sorted(tags))
    words = tags[tag].split()
    chosen = rng.sample(words, rng.randint(0, min(4, len(words))))
    text = " ".join(f'{word}="{_word(rng)}"' for word in chosen)
    inside = (
        "".join(generated_xml(rng, tags, depth + 1) for _ in range(rng.randint(0, 3)))
        if depth < 4
        else ""
    )
    return f"<{tag} {text}>{inside}</{tag}>"


def _word(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return " ".join(repr(rng.uniform(-2, 2)) for _ in range(rng.choice([1, 3, 3, 4, 6])))
    return rng.choice(
        [
            "a",
            "b",
            "c",
            "revolute",
            "fixed",
            "true",
            "hinge",
            "sphere",
            "mesh",
            *LURES,
            "nan",
            "",
            "1e308",
        ]
    )


def generated_urdf(rng: random.Random) -> str:
    return f'<robot name="r">{"".join(generated_xml(rng, URDF_TAGS) for _ in range(rng.randint(1, 6)))}</robot>'


SCHEMA = json_schema()


def generated_yaml(rng: random.Random) -> str:
    """A document of the schema's own words, filled by its types, or against them."""
    sections = rng.sample(sorted(SCHEMA["properties"]), rng.randint(1, 6))
    lines = [f"{key}: {_of_schema(rng, SCHEMA['properties'][key], 0)}" for key in sections]
    return "linkwork: 1\nname: x\n" + "\n".join(lines)


def _of_schema(rng: random.Random, schema: dict, depth: int) -> str:
    if "$ref" in schema:
        target = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return _of_schema(rng, target, depth)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return _of_schema(rng, rng.choice(schema[word]), depth)
    if depth > 5 or rng.random() < 0.1:
        return rng.choice(["{}", "[]", "1", "-0.5", ".nan", "x", '"${pi}"', "[1, 2, 3]", "null"])
    if "enum" in schema or "const" in schema:
        return str(rng.choice(schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "object":
        own = schema.get("properties", {})
        names = [
            *schema.get("required", []),
            *rng.sample(sorted(own), rng.randint(0, min(3, len(own)))),
        ]
        pairs = [
            f"{name}: {_of_schema(rng, own.get(name, {}), depth + 1)}"
            for name in dict.fromkeys(names)
        ]
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            pairs += [
                f"{name}: {_of_schema(rng, more, depth + 1)}"
                for name in rng.sample("abc", rng.randint(1, 2))
            ]
        return "{" + ", ".join(pairs) + "}"
    if schema.get("type") == "array":
        count = schema.get("minItems", rng.randint(0, 3))
        return (
            "["
            + ", ".join(_of_schema(rng, schema.get("items", {}), depth + 1) for _ in range(count))
            + "]"
        )
    return rng.choice(["1", "0.25", "-3", "a", "b", "world", "2 mm", '"${2*pi}"', "x"])


@functools.cache
def sdf_texts() -> list[str]:
    loop = '<joint name="close" type="ball"><parent>base</parent><child>tip</child></joint>'
    frames = '<frame name="mark" attached_to="arm"><pose degrees="true">0 0 0 90 0 0</pose></frame>'
    tip = '<link name="tip"><pose relative_to="mark">0 0 1 0 0 0</pose></link>'
    ends = "<parent>arm</parent><child>tip</child><axis><xyz>0 0 1</xyz></axis>"
    weld = f'<joint name="hold" type="prismatic">{ends}</joint>'
    chain = LINKS + tip + frames + hinge("<pose>0.1 0 0 0 0.2 0</pose>") + weld
    robots = [
        as_sdf(lw.load(URDFS[name], mimic="independent", check="any")) for name in ("ur/ur5_robot",)
    ]
    return [
        *robots,
        model(chain),
        model(chain + loop),
        model(chain, "1.4"),
        model(LINKS + hinge("")),
    ]


SDF_WORDS = sorted(
    {
        *(
            "sdf",
            "model",
            "link",
            "joint",
            "pose",
            "inertial",
            "mass",
            "inertia",
            "ixx",
            "ixy",
            "axis",
            "xyz",
            "limit",
        ),
        *(
            "lower",
            "upper",
            "parent",
            "child",
            "frame",
            "visual",
            "collision",
            "geometry",
            "box",
            "size",
            "mesh",
            "uri",
        ),
        *(
            "dynamics",
            "damping",
            "friction",
            "spring_stiffness",
            "include",
            "world",
            "gravity",
            "axis2",
            "effort",
        ),
    }
)


def damaged_sdf(rng: random.Random) -> str:
    """As MJCF is damaged, and the text between tags too, which SDF alone reads."""
    text = test_mjcf_fuzz.damaged(rng.choice(sdf_texts()), rng)
    for _ in range(rng.randint(0, 3)):
        places = list(re.finditer(r">([^<>]+)<", text))
        if places:
            at = rng.choice(places)
            text = text[: at.start(1)] + rng.choice([*ODD, *LURES, *SDF_WORDS]) + text[at.end(1) :]
    return text


def generated_sdf(rng: random.Random, depth: int = 0) -> str:
    if depth == 0:
        inside = "".join(generated_sdf(rng, 1) for _ in range(rng.randint(1, 6)))
        return (
            f'<sdf version="{rng.choice(["1.9", "1.7", "1.4", "2", "x"])}"><model '
            f'name="m">{inside}</model></sdf>'
        )
    tag = rng.choice(SDF_WORDS)
    words = " ".join(
        f'{word}="{_word(rng)}"'
        for word in rng.sample(
            ["name", "type", "relative_to", "attached_to", "expressed_in", "version"],
            rng.randint(0, 3),
        )
    )
    if depth > 3 or rng.random() < 0.4:
        return f"<{tag} {words}>{_word(rng)}</{tag}>"
    return f"<{tag} {words}>{''.join(generated_sdf(rng, depth + 1) for _ in range(rng.randint(0, 4)))}</{tag}>"


SRDF_TAGS = {
    "robot": "name",
    "group": "name",
    "chain": "base_link tip_link",
    "link": "name",
    "joint": "name value",
    "group_state": "name group",
    "end_effector": "name parent_link group parent_group",
    "virtual_joint": "name type parent_frame child_link",
    "passive_joint": "name",
    "disable_collisions": "link1 link2 reason",
    "enable_collisions": "link1 link2",
    "disable_default_collisions": "link",
    "link_sphere_approximation": "link",
    "sphere": "center radius",
}


def damaged_srdf(rng: random.Random) -> str:
    return test_mjcf_fuzz.damaged(PANDA, rng)


def generated_srdf(rng: random.Random) -> str:
    return f'<robot name="r">{"".join(generated_xml(rng, SRDF_TAGS) for _ in range(rng.randint(1, 6)))}</robot>'


MAKERS = {
    ("damaged", ".robot.yaml"): damaged_yaml,
    ("generated", ".robot.yaml"): generated_yaml,
    ("damaged", ".urdf"): damaged_urdf,
    ("generated", ".urdf"): generated_urdf,
    ("damaged", ".xml"): damaged_mjcf,
    ("generated", ".xml"): generated_mjcf,
    ("damaged", ".sdf"): damaged_sdf,
    ("generated", ".sdf"): generated_sdf,
    ("damaged", ".srdf"): damaged_srdf,
    ("generated", ".srdf"): generated_srdf,
}

_opened: list[str] | None = None
_reader = 0
"""The thread that reads: what others of this process open meanwhile, such as the compiler's cache,
is their affair."""


def _hook(event: str, arguments: tuple) -> None:
    if event != "open" or _opened is None or threading.get_ident() != _reader:
        return
    if isinstance(arguments[0], (str, bytes)):
        _opened.append(os.fsdecode(arguments[0]))


# hooks stay for the life of the process; this one listens only inside `watched`
sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Every file name that this thread opens meanwhile."""
    global _opened, _reader
    _opened, _reader = [], threading.get_ident()
    try:
        yield _opened
    finally:
        _opened = None


def house(folder: Path) -> Path:
    """A folder to read from, with decoys outside it and a link that leads out."""
    inner = folder / "given" / "inner"
    inner.mkdir(parents=True)
    for place in (folder, folder / "given"):
        (place / "decoy.xml").write_text("<mujocoinclude><worldbody/></mujocoinclude>")
        (place / "decoy.stl").write_bytes(b"\0" * 134)
    (inner / "link.stl").symlink_to(folder / "decoy.stl")
    shutil.copytree(MJCF_FOLDER / "assets", inner / "assets")
    return inner


def attacked(folder: Path, kind: str, ending: str, seed: int, peers: bool = False) -> str:
    """Read one input from a file: "robot", or the name of the error; AssertionError for a
    finding."""
    text = MAKERS[kind, ending](random.Random(f"{kind}{ending}{seed}"))
    file = folder / f"input{ending}"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    label = f"{kind} {ending} seed {seed}"
    allowed_seconds = LEAST + SLOWEST * len(text) / 1e6
    for _ in range(2):  # a first time may also import what reads such a file
        start = time.thread_time()  # of this thread alone: how busy the machine is does not count
        with watched() as opened, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                robot = read_srdf(file) if ending == ".srdf" else lw.load(file)
                outcome = "robot"
            except LinkworkError as error:
                outcome = type(error).__name__
            except Exception as error:
                raise AssertionError(f"{label}: {type(error).__name__}: {error}") from error
        taken = time.thread_time() - start
        if taken < allowed_seconds:
            break
    assert taken < allowed_seconds, f"{label}: {taken:.1f} s for {len(text)} characters"
    allowed = tuple(
        os.path.realpath(each) for each in (folder, FOLDER.parent, sys.prefix, sys.base_prefix)
    )
    strange = [name for name in opened if not os.path.realpath(name).startswith(allowed)]
    assert not strange, f"{label}: opened {strange}"
    if outcome == "robot" and ending != ".srdf":
        test_robot_yaml_fuzz.is_sound(robot.model)
        if peers and ending in (".urdf", ".xml"):
            outcome = f"robot, {_beside(file, label, ending)}"
    return outcome


def _beside(file: Path, label: str, ending: str) -> str:
    """The verdict beside the peer. What a number of 1e308 beside one of 1e-3 costs in digits is no
    disagreement."""
    from linkwork.cli.beside import _row

    row = _row(file, file.name, "urdf" if ending == ".urdf" else "mjcf", None)
    if row.verdict == "differ" and not _is_extreme(file):
        shutil.copy(file, f"{tempfile.gettempdir()}/differ-{label.replace(' ', '-')}{ending}")
        print(f"DIFFER {label}: {row.why} {row.difference:g}", flush=True)
    return row.verdict if not _is_extreme(file) else f"{row.verdict} (extreme numbers)"


def _is_extreme(file: Path) -> bool:
    numbers = re.findall(
        r"[0-9.]+[eE][+-]?\d+|\d{6,}", file.read_bytes().decode("utf-8", "replace")
    )
    return any(not 1e-30 < abs(float(x)) < 1e5 for x in numbers if x.count(".") < 2 and float(x))


def run(
    count: int, folder: Path, first: int = 0, peers: bool = False
) -> Counter[tuple[str, str, str]]:
    """`count` inputs, taken from all makers in turn."""
    found: Counter[tuple[str, str, str]] = Counter()
    inner = house(folder)
    kinds = list(MAKERS)
    for k in range(first, first + count):
        kind, ending = kinds[k % len(kinds)]
        found[kind, ending, attacked(inner, kind, ending, k, peers)] += 1
    return found


def main() -> None:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = run(count, Path(folder), peers="--beside" in sys.argv)
    for (kind, ending, outcome), number in sorted(found.items()):
        print(f"{number:7d}  {kind:9s} {ending:11s} {outcome}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{count} inputs in {time.monotonic() - start:.0f} s, memory grew by {grown:.0f} MB, "
        "no finding"
    )


if __name__ == "__main__":
    main()
