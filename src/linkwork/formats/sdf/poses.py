"""Poses of an SDF model: every link, joint and frame has one, relative to another of them.

<link>    relative to the model unless `relative_to` names something else
<joint>   relative to its child link
<frame>   relative to what it is attached to, a link in the end; without `attached_to` to the model
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from linkwork.errors import InvalidFile, did_you_mean
from linkwork.formats.xml import Element, number_of
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import from_quaternion, from_rpy

MODEL = "__model__"
WORLD = "world"


def numbers(element: Element, count: int) -> tuple[float, ...]:
    """The numbers that stand between the tags of an element."""
    words = element.content.split(maxsplit=count)
    values = [number_of(word) for word in words[:count]]
    if len(words) != count or None in values:
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        raise element.error(f'holds "{element.content.strip()[:60]}", expected {expected}')
    return tuple(x for x in values if x is not None)


def number(parent: Element | None, tag: str, default: float | None = None) -> float:
    """The number of the one child of that tag; "inf" has no place here."""
    child = None if parent is None else parent.only(tag)
    if child is None:
        if default is None and parent is not None:
            raise parent.error(f"has no <{tag}>, expected one")
        assert default is not None
        return default
    return numbers(child, 1)[0]


def placement(pose: Element | None) -> Placement:
    """The numbers of a <pose>: x y z roll pitch yaw,
    or with rotation_format="quat_xyzw" x y z and a quaternion."""
    if pose is None or not pose.content.strip():
        return HERE
    written = pose.attributes.get("rotation_format", "euler_rpy")
    if written == "quat_xyzw":
        x, y, z, *xyzw = numbers(pose, 7)
        if abs(math.hypot(*xyzw) - 1.0) > 1e-3:
            raise pose.error(f"holds the quaternion {tuple(xyzw)}, expected one of unit length")
        return Placement(from_quaternion(tuple(xyzw)), (x, y, z))
    if written != "euler_rpy":
        raise pose.error(f'has rotation_format="{written[:60]}", expected euler_rpy or quat_xyzw')
    x, y, z, roll, pitch, yaw = numbers(pose, 6)
    unit = (
        math.pi / 180.0 if pose.attributes.get("degrees", "false").strip() in ("true", "1") else 1.0
    )
    return Placement(from_rpy((unit * roll, unit * pitch, unit * yaw)), (x, y, z))


class Poses:
    """T_model_x of every link, joint and frame of a model,
    found on the way to the model's own frame."""

    def __init__(self, model: Element) -> None:
        self.model = model
        self._own: dict[str, Element] = {}
        for element in (*model.all("link"), *model.all("joint"), *model.all("frame")):
            name = element.text("name")
            if name in self._own:
                raise element.error(f"has a name that line {self._own[name].line} has already")
            self._own[name] = element
        self._placed: dict[str, Placement] = {MODEL: HERE}
        self._links: dict[str, str | None] = {}  # frames whose link is known

    def of(self, name: str, asking: Element) -> Placement:
        """T_model_name; chains of any length, without recursion."""
        chain: dict[str, None] = {}  # in order, and quick to look into
        at = name
        while at not in self._placed:
            if at in chain:
                raise asking.error(
                    f"has a pose that depends on itself: {' -> '.join([*list(chain)[-6:], at])}"
                )
            if at not in self._own:
                near = did_you_mean(at, [*self._own, MODEL])
                raise asking.error(f'is relative to "{at[:60]}", which does not exist{near}')
            chain[at] = None
            asking = self._own[at]
            at = self._relative_to(asking)
        for each in reversed(chain):
            element = self._own[each]
            above = self._placed[self._relative_to(element)]
            self._placed[each] = above @ placement(element.only("pose"))
        return self._placed[name]

    def _relative_to(self, element: Element) -> str:
        pose = element.only("pose")
        named = (
            ""
            if pose is None
            else pose.attributes.get("relative_to", pose.attributes.get("frame", ""))
        )
        if named:
            return named
        if element.tag == "joint":
            child = element.needed("child").content.strip()
            return child if child != WORLD else MODEL
        return (element.attributes.get("attached_to") or MODEL) if element.tag == "frame" else MODEL

    def link_of(self, name: str, asking: Element, links: Mapping[str, Element]) -> str | None:
        """The link a frame is attached to in the end; None: the model's own frame."""
        seen: dict[str, None] = {}
        while name not in links and name not in self._links:
            if name == MODEL or name == WORLD or not name:
                self._links |= dict.fromkeys(seen)
                return None
            element = self._own.get(name)
            if element is None or name in seen:
                raise asking.error(f'is attached to "{name[:60]}", which ends at no link')
            seen[name] = None
            name = (
                element.needed("child").content.strip()
                if element.tag == "joint"
                else (element.attributes.get("attached_to") or MODEL)
            )
        link = self._links.get(name, name)
        self._links |= dict.fromkeys(seen, link)
        return link


def only_model(root: Element, wanted: str | None) -> tuple[Element, Element | None]:
    """(the model to read, the world it stands in or None) of a document."""
    world = root.only("world")
    models = [*root.all("model"), *(world.all("model") if world is not None else [])]
    names = [model.text("name") for model in models]
    if wanted is not None:
        if wanted not in names:
            raise root.error(f'has no model "{wanted[:60]}"{did_you_mean(wanted, names)}')
        return models[names.index(wanted)], world
    if len(models) != 1:
        shown = ", ".join(f'"{name}"' for name in names[:12]) or "none"
        how = '; choose one with model="..."' if names else ""
        raise InvalidFile(
            f"{root.source}:{root.line}: has {len(models)} models ({shown}), expected one{how}"
        )
    return models[0], world
