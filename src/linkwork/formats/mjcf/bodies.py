"""Bodies: the tree of a file flattened, with names for all,
frames resolved and default classes found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from linkwork.formats.mjcf.attached import Attached
from linkwork.formats.mjcf.defaults import Defaults
from linkwork.formats.mjcf.orientation import placement
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.words import Words
from linkwork.formats.xml import Element
from linkwork.model.placement import HERE, Placement

WORLD = "world"
MOST_BODIES = 10_000


@dataclass(slots=True, eq=False)
class Part:
    """A joint, geom, site or inertial with T_body_frame of the frames around it,
    and the settings of its file."""

    words: Words
    around: Placement
    settings: CompilerSettings


@dataclass(slots=True)
class Described:
    """A body as the file gives it. T_parent_body is that of the body when its joints are at their
    reference."""

    name: str
    element: Element
    parent: str | None
    settings: CompilerSettings
    placement: Placement = HERE
    joints: list[Part] = field(default_factory=list)
    geoms: list[Part] = field(default_factory=list)
    sites: list[Part] = field(default_factory=list)
    inertial: Part | None = None
    children: int = 0


class Names:
    """Free names: what the file does not name gets a name that it does not use."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self._counts: dict[str, int] = {}

    def free(self, wish: str) -> str:
        name, count = wish, self._counts.get(wish, 1)
        while name in self.taken:
            count += 1
            name = f"{wish}_{count}"
        self._counts[wish] = count
        self.taken.add(name)
        return name


def described_bodies(
    root: Element, defaults: Defaults, settings: CompilerSettings
) -> list[Described]:
    """Every body depth first in the order of the file, as MuJoCo numbers them;
    the world is the first one."""
    names = Names(_given_names(root))
    world = Described(WORLD, root, None, settings)
    described = [world]
    for section in root.all("worldbody"):
        # (element, its body, T_body_frame of the frames it stands in, class around it, settings of
        # its file)
        stack: list[tuple[Element, Described, Placement, str | None, CompilerSettings]]
        stack = [(child, world, HERE, None, settings) for child in reversed(section.children)]
        while stack:
            element, body, around, inherited, here = stack.pop()
            if isinstance(element, Attached) and element.settings is not None:
                here = element.settings
            tag = element.tag
            if tag == "body" or tag == "frame":
                childclass = defaults.named(element, "childclass") or inherited
                T = around @ placement(Words(element), here)
                if tag == "body":
                    if len(described) > MOST_BODIES:
                        raise element.error(
                            f"is one too many: more than {MOST_BODIES} bodies are not read"
                        )
                    name = element.attributes.get("name") or names.free(f"body_{len(described)}")
                    body.children += 1
                    body = Described(name, element, None if body is world else body.name, here, T)
                    described.append(body)
                    T = HERE
                for child in reversed(element.children):
                    stack.append((child, body, T, childclass, here))
            else:
                _add(
                    body,
                    element,
                    Part(defaults.words(element, inherited), around, here),
                    body is world,
                )
    return described


def _add(body: Described, element: Element, part: Part, is_world: bool) -> None:
    match element.tag:
        case "joint" | "freejoint" | "inertial" if is_world:
            raise element.error("stands in the world, expected it in a <body>")
        case "joint" | "freejoint":
            body.joints.append(part)
        case "geom":
            body.geoms.append(part)
        case "site":
            body.sites.append(part)
        case "inertial":
            if body.inertial is not None:
                raise element.error(f'is the second <inertial> of body "{body.name}", expected one')
            body.inertial = part


def _given_names(root: Element) -> set[str]:
    """Names of bodies and sites in the file; a second body or site of one name is refused."""
    bodies: dict[str, int] = {WORLD: 0}
    sites: dict[str, int] = {}
    stack = list(reversed(root.all("worldbody")))
    while stack:
        element = stack.pop()
        if element.children:
            stack.extend(reversed(element.children))
        name = element.attributes.get("name")
        if name and element.tag in ("body", "site"):
            known = bodies if element.tag == "body" else sites
            if name in known:
                where = f" (line {known[name]})" if known[name] else ""
                raise element.error(f"has a name that another {element.tag}{where} has already")
            known[name] = element.line
    return set(bodies) | set(sites)
