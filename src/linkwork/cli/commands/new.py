"""linkwork new: starts a .robot.yaml by asking."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.answer import Answer
from linkwork.cli.arguments import value
from linkwork.errors import InvalidInput
from linkwork.formats.files import write_atomically
from linkwork.model.kinds import PRISMATIC, REVOLUTE

TYPES = {"r": REVOLUTE, "p": PRISMATIC}


def new(
    target: Annotated[Path, typer.Argument(help="The file to write, such as arm.robot.yaml.")],
    joints: Annotated[
        str | None, typer.Option(help="r and p for revolute and prismatic joints, base first: rrp.")
    ] = None,
    length: Annotated[str | None, typer.Option(help="Of each link: 0.3 or 300mm.")] = None,
    mass: Annotated[float | None, typer.Option(help="Of each link [kg].")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that exists.")] = False,
) -> Answer:
    """Start the description of a serial robot; what is not given is asked.
    Edit the file from there.

    Example:  linkwork new arm.robot.yaml --joints rrr --length 300mm --mass 1.2
    """
    if not target.name.endswith(".robot.yaml"):
        raise InvalidInput(f"new: {target}, expected a name that ends in .robot.yaml")
    if target.exists() and not force:
        raise InvalidInput(f"new: {target} exists; --force writes over it")
    kinds = (
        joints
        if joints is not None
        else typer.prompt("joints, base first (r revolute, p prismatic)", "rrr")
    )
    if not re.fullmatch("[rp]+", kinds):
        raise InvalidInput(f"new: joints are {kinds!r}, expected letters r and p such as rrp")
    long = value(
        length if length is not None else typer.prompt("length of each link", "0.3"), "--length"
    )
    heavy = mass if mass is not None else typer.prompt("mass of each link [kg]", 1.0, type=float)
    if not (long > 0 and heavy > 0 and math.isfinite(heavy)):
        raise InvalidInput(
            f"new: length {long:g} m and mass {heavy:g} kg, expected positive numbers"
        )
    write_atomically(
        target, _text(target.name.removesuffix(".robot.yaml"), kinds, long, float(heavy))
    )
    made = lw.load(target)
    facts = {"name": made.name, "joints": made.joints}
    return Answer(
        facts, [f"{made.name}: {made.nv} joints; see it with: linkwork view {target}"], [target]
    )


def _text(name: str, kinds: str, length: float, mass: float) -> str:
    """Links upright along z, each a thin rod; axes alternate z, y, y as on many arms."""
    along, across = mass * length**2 / 12, mass * (length / 20) ** 2
    lines = [
        "# yaml-language-server: $schema=robot.schema.json      (made by: linkwork schema "
        "robot.schema.json)",
        "linkwork: 1",
        f"name: {name}" if re.fullmatch(r"[A-Za-z_][\w-]*", name) else f"name: {name!r}",
        "description: a serial robot, started with linkwork new",
        "variables:",
        f"  length: {length:.9g}",
        "bodies:",
        "  base: {}",
    ]
    for k in range(1, len(kinds) + 1):
        lines += [
            f"  link{k}:",
            f"    mass: {mass:.9g}",
            '    com: [0, 0, "${length/2}"]',
            f"    inertia: [{along:.6g}, {along:.6g}, {across:.6g}]      # about the centre "
            "of mass",
            '    points: {A: [0, 0, 0], B: [0, 0, "${length}"]}',
            "    lines: [[A, B]]",
        ]
    lines.append("joints:")
    for k, kind in enumerate(kinds, start=1):
        parent, where = ("base", "") if k == 1 else (f"link{k - 1}", ", placement: {point: B}")
        axis = "z" if k == 1 or kind == "p" else '"y"'
        limits = (
            "{lower: -3.1416, upper: 3.1416}" if kind == "r" else '{lower: 0, upper: "${length}"}'
        )
        place = f"parent: {parent}, child: link{k}, axis: {axis}{where}"
        lines.append(f"  joint{k}: {{type: {TYPES[kind]}, {place}, limits: {limits}}}")
    last = len(kinds)
    lines += ["frames:", f'  tool: {{body: link{last}, placement: [0, 0, "${{length}}"]}}']
    return "\n".join(lines) + "\n"
