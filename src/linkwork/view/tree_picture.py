"""The kinematic tree as a picture: bodies under the bodies that carry them, with their joints."""

from __future__ import annotations

from html import escape

from linkwork.model import Model
from linkwork.model.kinds import FIXED

ROW, INDENT, LEFT = 20, 22, 10


def tree_table(model: Model) -> dict[str, list[str]]:
    """The same as columns: body, parent, joint, type; one row a body."""
    joints = {joint.child: joint for joint in model.joints}
    rows = []
    for body in model.bodies:
        joint = joints.get(body.name)
        known = (joint.parent or "world", joint.name, joint.type) if joint else ("world", "", FIXED)
        rows.append((body.name, *known))
    return {
        name: [row[k] for row in rows] for k, name in enumerate(("body", "parent", "joint", "type"))
    }


def tree_rows(model: Model) -> list[tuple[int, int, str, str]]:
    """(depth, row of what carries it, body, joint with its type) of the world and of every body,
    depth first."""
    carried: dict[str | None, list[tuple[str, str]]] = {}
    children = {joint.child for joint in model.joints}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append((joint.child, f"{joint.name} ({joint.type})"))
    for body in model.bodies:
        if body.name not in children:
            carried.setdefault(None, []).append((body.name, "fixed to the world"))
    rows: list[tuple[int, int, str, str]] = [(0, 0, "world", "")]
    stack = [(1, 0, *entry) for entry in reversed(carried.get(None, []))]
    while stack:
        depth, parent, name, label = stack.pop()
        rows.append((depth, parent, name, label))
        at = len(rows) - 1
        stack += [(depth + 1, at, *entry) for entry in reversed(carried.get(name, []))]
    return rows


def tree_picture(model: Model) -> str:
    """An SVG element: one row a body, indented by depth."""
    rows = tree_rows(model)
    parts = []
    for k, (depth, parent, name, label) in enumerate(rows):
        x, y = LEFT + INDENT * depth, ROW * k + ROW / 2
        if k:
            parts.append(f'<path d="M{x - INDENT} {ROW * parent + ROW / 2 + 5} V{y} H{x - 5}"/>')
        parts.append(f'<circle cx="{x}" cy="{y}" r="4"/>')
        parts.append(
            f'<text x="{x + 9}" y="{y + 4}">{escape(name)} <tspan '
            f'class="joint">{escape(label)}</tspan></text>'
        )
    width = LEFT + INDENT * max(depth for depth, *_ in rows) + 360
    size = f'width="{width}" height="{ROW * len(rows)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="kinematic '
        f'tree">{"".join(parts)}</svg>'
    )
