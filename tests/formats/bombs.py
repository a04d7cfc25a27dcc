"""Bombs: files made to cost more than their size;
each kind costs processor seconds in proportion to its bytes.

python -m tests.formats.bombs 1.0     every kind with about that many megabytes; seconds a megabyte
                                      on the terminal
"""

from __future__ import annotations

import logging
import random
import sys
import time
from collections.abc import Callable

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.formats.srdf import read_srdf_text

SLOWEST = 1.0
"""Processor seconds a megabyte that a file may cost, refused or read."""

JOINT = (
    '<link name="b{k}"/><joint name="j{k}" type="continuous"><parent link="base"/><child '
    'link="b{k}"/>INSIDE</joint>'
)


def rows(row: str, size: float, most: int = 10**9) -> str:
    """`row` with {k} counted up, until the whole has `size` megabytes, at most that many times."""
    count = max(1, min(int(size * 1e6 / len(row.format(k=1000))), most))
    return "".join(row.format(k=k) for k in range(count))


def long(size: float, share: float = 1.0) -> str:
    """One word of that share of `size` megabytes."""
    return "ab" * int(size * share * 5e5)


def urdf(inside: str) -> str:
    return f'<robot name="r"><link name="base"/>{inside}</robot>'


def joints(inside: str, size: float) -> str:
    return urdf(rows(JOINT.replace("INSIDE", inside), size))


def chain(size: float) -> str:
    count = min(int(size * 1e6 / 110), 3000)
    links = "".join(f'<link name="b{k}"/>' for k in range(count))
    row = '<joint name="j{}" type="continuous"><parent link="{}"/><child link="b{}"/></joint>'
    return urdf(
        links + "".join(row.format(k, f"b{k - 1}" if k else "base", k) for k in range(count))
    )


def mjcf(inside: str = "", after: str = "", before: str = "", count: int = 300) -> str:
    body = '<body name="b{k}"><joint name="j{k}"/><geom size="1"/></body>'
    bodies = "".join(body.format(k=k) for k in range(count))
    return f"<mujoco>{before}<worldbody>{bodies}{inside}</worldbody>{after}</mujoco>"


def yaml(bodies: str, rest: str) -> str:
    return f"linkwork: 1\nname: r\nbodies:\n{bodies}{rest}"


def sdf(inside: str) -> str:
    return f'<sdf version="1.9"><model name="m">{inside}</model></sdf>'


def anagrams(word: str, count: int) -> list[str]:
    """Different words of the letters of one, at most that many."""
    generator = random.Random(0)
    return list({"".join(generator.sample(word, len(word))): None for _ in range(count)})


def followers(size: float) -> str:
    count = int(size * 1e6 / 130)
    row = JOINT.replace("INSIDE", '<mimic joint="j{leader}"/>')
    return urdf(
        JOINT.format(k=0).replace("INSIDE", "")
        + "".join(row.format(k=k, leader=k - 1) for k in range(1, count))
    )


def drawn(size: float) -> str:
    """One body with as many points as lines between them."""
    count = int(size * 1e6 / 42)
    points = "".join(f"      p{k}: [0, 0, 1]\n" for k in range(count))
    lines = f"      - [p{count - 1}, p{count - 2}]\n" * count
    return yaml(f"  b:\n    mass: 1\n    points:\n{points}    lines:\n{lines}", "joints: {}\n")


def yaml_chain(size: float) -> str:
    count = int(size * 1e6 / 65)
    bodies = "".join(f"  b{k}: {{mass: 1}}\n" for k in range(count + 1))
    row = "  j{}: {{type: fixed, parent: b{}, child: b{}}}\n"
    return yaml(bodies, "joints:\n" + "".join(row.format(k, k, k + 1) for k in range(count)))


def nested(inside: str, size: float, end: str, most: int = 1900) -> str:
    """Elements inside each other."""
    count = min(int(size * 1e6 / (len(inside) + len(end))), most)
    return "".join(inside.format(k=k) for k in range(count)) + end * count


def link(inside: str) -> str:
    return urdf(f'<link name="a">{inside}</link>')


MARKED = '<link name="f{k}" MARK/>'
FIXED = '<joint name="j{k}" type="fixed"><parent link="base"/><child link="f{k}"/></joint>'

YAML = 0.9
"""Most megabytes of a .robot.yaml that is read."""

BOMBS: dict[str, Callable[[float], str]] = {
    "urdf: unknown leaders": lambda size: joints('<mimic joint="leader_of_joint_{k:06}"/>', size),
    "urdf: two long names": lambda size: urdf(
        JOINT.format(k=0)
        .replace("j0", long(size, 0.5))
        .replace("INSIDE", f'<mimic joint="b{long(size, 0.5)}"/>')
    ),
    "urdf: unknown tags": lambda size: urdf(rows('<lnk{k:05} nme="x"/>', size)),
    "urdf: unknown attributes": lambda size: urdf(
        '<link name="a" ' + rows('atribute{k:06}="" ', size) + "/>"
    ),
    "urdf: links without joints": lambda size: urdf(rows('<link name="b{k:06}"/>', size)),
    "urdf: one name for all links": lambda size: urdf(rows('<link name="b"/>', size)),
    "urdf: visuals with two materials": lambda size: link(
        rows('<visual><material name="m{k}"/><material name="n"/></visual>', size)
    ),
    "urdf: visuals without geometry": lambda size: link(rows("<visual/>", size)),
    "urdf: second elements": lambda size: link(
        "<inertial>" + rows('<mass value="1"/>', size) + "</inertial>"
    ),
    "urdf: second elements that differ": lambda size: link(
        rows('<inertial><mass value="{k}"/><inertia/></inertial>', size)
    ),
    "urdf: a row of followers": lambda size: joints('<mimic joint="j{k}0"/>', size),
    "urdf: joints of nobody": lambda size: urdf(
        rows(
            '<joint name="j{k}" type="fixed"><parent link="p{k:05}"/><child '
            'link="c{k:05}"/></joint>',
            size,
        )
    ),
    "urdf: a long chain": chain,
    "urdf: a star": lambda size: joints('<axis xyz="0 0 1"/>', size),
    "urdf: left-over macros": lambda size: urdf(rows("<xacro:a{k:05}/>", size)),
    "urdf: deep": lambda size: urdf(rows("<link>", size)),
    "urdf: one long number": lambda size: urdf(
        f'<joint name="j" type="fixed"><origin xyz="{long(size)}"/></joint>'
    ),
    "mjcf: unknown joints of equalities": lambda size: mjcf(
        after="<equality>" + rows('<joint joint1="jj{k:06}" joint2="j1"/>', size) + "</equality>"
    ),
    "mjcf: a long unknown body": lambda size: mjcf(
        after=f'<equality><connect body1="{long(size)}" anchor="0 0 0"/></equality>'
    ),
    "mjcf: many default classes": lambda size: mjcf(
        before="<default>" + rows('<default class="c{k:06}"/>', size) + "</default>"
    ),
    "mjcf: many sites": lambda size: mjcf(rows('<site name="s{k:06}" pos="0 0 1"/>', size)),
    "mjcf: many equalities": lambda size: mjcf(
        after="<equality>" + rows('<joint joint1="j1" joint2="j2"/>', size) + "</equality>"
    ),
    "mjcf: unknown attributes": lambda size: mjcf("<body " + rows('poz{k:06}="" ', size) + "/>"),
    "mjcf: unknown class": lambda size: mjcf(rows('<geom size="1" class="klass{k:06}"/>', size)),
    "mjcf: colours that are none": lambda size: mjcf(rows('<geom size="1" rgba=""/>', size)),
    "yaml: unknown bodies": lambda size: yaml(
        "".join(f"  b{k}: {{mass: 1}}\n" for k in range(300)),
        "joints:\n"
        + rows("  j{k:05}: {{type: fixed, parent: bb{k:05}, child: b1}}\n", min(size, YAML)),
    ),
    "yaml: unknown keys": lambda size: yaml(
        rows("  b{k:05}: {{mss: 1}}\n", min(size, YAML)), "joints: {}\n"
    ),
    "yaml: visuals of no kind": lambda size: yaml(
        "  b:\n    mass: 1\n    visuals:\n" + rows("      - {{kind: boxx}}\n", min(size, YAML)),
        "joints: {}\n",
    ),
    "yaml: one long name": lambda size: yaml(
        "  b: {mass: 1}\n", f"joints:\n  {long(min(size, YAML))}: 1\n"
    ),
    "sdf: links without joints": lambda size: sdf(rows('<link name="b{k:06}"/>', size)),
    "sdf: unknown frames": lambda size: sdf(
        rows('<link name="b{k:06}"><pose relative_to="c{k:06}">0 0 0 0 0 0</pose></link>', size)
    ),
    "sdf: a row of frames": lambda size: sdf(
        '<link name="b"/>' + rows('<frame name="f{k}0" attached_to="f{k}"/>', size)
    ),
    "sdf: a chain of frames": lambda size: sdf(
        '<link name="b"/><frame name="f0" attached_to="b"/>'
        + "".join(
            f'<frame name="f{k + 1}" attached_to="f{k}"><pose relative_to="f{k}">0 0 1 0 0 '
            "0</pose></frame>"
            for k in range(int(size * 1e6 / 85))
        )
    ),
    "sdf: joints of nobody": lambda size: sdf(
        rows(
            '<joint name="j{k}" '
            'type="fixed"><parent>p{k:05}</parent><child>c{k:05}</child></joint>',
            size,
        )
    ),
    "sdf: one long pose": lambda size: sdf(
        f'<link name="b"><pose>{"0 " * int(size * 5e5)}</pose></link>'
    ),
    "mjcf: attachments of nobody": lambda size: mjcf(
        rows('<attach model="m{k:05}" prefix="p"/>', size),
        before='<asset><model name="m" file="x.xml"/></asset>',
    ),
    "mjcf: attached to itself": lambda size: mjcf(
        '<body name="x"><geom size="1"/></body>' + rows('<attach body="x" prefix="p{k}"/>', size)
    ),
    "urdf: marked frames": lambda size: urdf(
        rows(MARKED.replace("MARK", 'linkwork:is="frame"') + FIXED, size),
    ),
    "urdf: marked points": lambda size: urdf(
        rows(MARKED.replace("MARK", 'linkwork:is="point" linkwork:point="p{k}"') + FIXED, size),
    ),
    "urdf: each follows the one before": followers,
    "urdf: anagrams": lambda size: urdf(
        "".join(f"<{word}/>" for word in anagrams("tnioj-lairetam", int(size * 6e4)))
    ),
    "yaml: points and lines": lambda size: drawn(min(size, YAML)),
    "yaml: variables": lambda size: yaml(
        "  b: {mass: 1}\n",
        "joints: {}\nvariables:\n" + rows("  v{k}: {{value: 1}}\n", min(size, YAML)),
    ),
    "yaml: frames": lambda size: yaml(
        "  b: {mass: 1}\n", "joints: {}\nframes:\n" + rows("  v{k}: {{body: b}}\n", min(size, YAML))
    ),
    "yaml: a chain": lambda size: yaml_chain(min(size, YAML)),
    "sdf: joints to the world": lambda size: sdf(
        rows(
            '<link name="b{k}"/><joint name="j{k}" '
            'type="fixed"><parent>world</parent><child>b{k}</child></joint>',
            size,
        )
    ),
    "sdf: joints at frames": lambda size: sdf(
        rows(
            '<link name="b{k}"/><frame name="f{k}" attached_to="b{k}"/>'
            '<joint name="j{k}" type="fixed"><parent>world</parent><child>f{k}</child></joint>',
            size,
        )
    ),
    "sdf: closures": lambda size: sdf(
        '<link name="a"/><link name="b"/>'
        + rows('<joint name="j{k}" type="ball"><parent>a</parent><child>b</child></joint>', size)
    ),
    "mjcf: classes of one that says much": lambda size: mjcf(
        rows('<geom size="1" class="c{k}"/>', 0.3 * size),
        before="<default>"
        + rows('<geom rgba="1 1 1 1"/>', 0.3 * size)
        + rows('<default class="c{k}"/>', 0.4 * size)
        + "</default>",
    ),
    "mjcf: many main classes": lambda size: mjcf(
        rows('<geom size="1" class="c{k}"/>', 0.3 * size),
        before=rows('<default><geom size="2"/><default class="c{k}"/></default>', 0.7 * size),
    ),
    "mjcf: nested classes": lambda size: mjcf(
        rows('<geom class="c{k}"/>', 0.3 * size, 200),
        before="<default>"
        + nested('<default class="c{k}"><geom size="1"/>', 0.7 * size, "</default>")
        + "</default>",
    ),
    "mjcf: keyframes": lambda size: mjcf(
        after="<keyframe>" + rows('<key name="k{k}" qpos="1"/>', size) + "</keyframe>"
    ),
    "mjcf: joints of one body": lambda size: mjcf(
        '<body name="x"><geom size="1"/>' + rows('<joint name="i{k}"/>', size) + "</body>"
    ),
    "mjcf: a chain": lambda size: mjcf(
        nested('<body name="c{k}"><joint name="i{k}"/><geom size="1"/>', size, "</body>"), count=1
    ),
    "mjcf: turned shapes": lambda size: mjcf(rows('<geom size="1" euler="1 2 3"/>', size)),
    "mjcf: shapes in frames": lambda size: mjcf(
        rows('<frame euler="1 2 3"><geom size="1"/></frame>', size)
    ),
    "mjcf: welds": lambda size: mjcf(
        after="<equality>" + rows('<weld body1="b1" body2="b2"/>', size) + "</equality>"
    ),
    "mjcf: actuators": lambda size: mjcf(
        after="<actuator>" + rows('<motor joint="j1"/>', size) + "</actuator>"
    ),
    "srdf: groups of nobody": lambda size: (
        '<robot name="r">'
        + rows('<group name="g{k:06}"><group name="h{k:06}"/></group>', size)
        + "</robot>"
    ),
}


def seconds_per_megabyte(kind: str, size: float) -> float:
    """Processor seconds a megabyte of one kind of bomb;
    exceptions that are not linkwork's pass through."""
    text = BOMBS[kind](size)
    before = time.process_time()
    try:
        if kind.startswith("srdf"):
            read_srdf_text(text)
        else:
            lw.load(text=text, check="any")
    except LinkworkError:
        pass
    return (time.process_time() - before) / (len(text) / 1e6)


def main() -> None:
    logging.getLogger("linkwork").setLevel(logging.CRITICAL)
    size = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    for kind in BOMBS:
        print(f"{seconds_per_megabyte(kind, size):7.2f} s/MB  {kind}", flush=True)


if __name__ == "__main__":
    main()
