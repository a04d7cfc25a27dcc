"""Loops as rows: mimic rules, closures and couplings as equalities, with the sites and marks they need."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from linkwork.formats.mjcf.bodies import WORLD, Names
from linkwork.formats.mjcf.rows import element, number, numbers, opened, where
from linkwork.model import elements as loops
from linkwork.model.model import Model
from linkwork.model.number import IDENTITY, Matrix, Number
from linkwork.model.placement import Placement


class LoopRows:
    """Equalities; `sites` are rows by body (the world's under "world"), `tendons` rows, `marks` (kind, name, data)."""

    def __init__(self, model: Model, sites: Names, references: Mapping[str, tuple[float, ...]]) -> None:
        self.sites: dict[str, list[str]] = {}
        self.tendons: list[str] = []
        self.marks: list[tuple[str, str, str]] = []
        self._free = sites
        self._references = references
        self._frames = {frame.name: frame for frame in model.frames}
        self._names = Names(getattr(each, "name", "") for each in (*model.elements, *model.carried))
        self.rows = [*self._mimics(model), *(row for each in model.elements for row in self._rows(each))]

    def springs(self, model: Model) -> dict[str, dict[str, str | None]]:
        """joint -> stiffness and springref of its spring, pretension in it."""
        found: dict[str, dict[str, str | None]] = {}
        for each in model.elements:
            if isinstance(each, loops.TorsionSpring):
                shift = each.pretension / each.stiffness if each.pretension else 0.0
                found[each.joint] = {"stiffness": number(each.stiffness), "springref": number(each.free - shift)}
        return found

    def _mimics(self, model: Model) -> Iterator[str]:
        for joint in model.joints:
            if joint.mimic is not None:
                leader, multiplier, offset = joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset
                name = self._names.free(f"{joint.name}_mimics_{leader}")
                yield self._joint(name, joint.name, leader, multiplier, offset)

    def _joint(self, name: str, first: str, second: str, multiplier: Number, offset: Number) -> str:
        """q_first = multiplier q_second + offset, which MJCF counts from the references."""
        r1, r2 = (self._references.get(joint, (0.0,))[0] for joint in (first, second))
        rule = numbers((offset - r1 + multiplier * r2, multiplier, 0.0, 0.0, 0.0))
        return element("joint", name=name, joint1=first, joint2=second, polycoef=rule)

    def _rows(self, each: loops.Element) -> Iterator[str]:
        match each:
            case loops.LoopClosure():
                tag = "connect" if each.kind == "point" else "weld"
                turns = (each.rotation, each.second_rotation) if tag == "weld" else (None, None)
                ends = [
                    self._site(each.name, "first", each.first, turns[0]),
                    self._site(each.name, "second", each.second, turns[1]),
                ]
                loose = "0" if tag == "weld" and len(each.directions) == 3 else None
                yield element(tag, name=each.name, site1=ends[0], site2=ends[1], torquescale=loose)
                if each.dependent:
                    self.marks.append(("dependent", each.name, json.dumps(each.dependent)))
            case loops.Coupling(terms=((first, a), (second, b))):
                self.marks.append(("coupling", each.name, "both joints keep their coordinates"))
                yield self._joint(each.name, first, second, -b / a, each.offset / a)
            case loops.Coupling():
                self.marks.append(("coupling", each.name, "a tendon that is no tendon, and its equality"))
                self.tendons += [
                    opened(element("fixed", name=each.name)),
                    *(f"  {element('joint', joint=joint, coef=number(c))}" for joint, c in each.terms),
                    "</fixed>",
                ]
                start = sum(c * self._references.get(joint, (0.0,))[0] for joint, c in each.terms)
                yield element("tendon", name=each.name, tendon1=each.name, polycoef=number(each.offset - start))
            case loops.TorsionSpring():
                self.marks.append(("spring", each.joint, each.name))

    def _site(self, closure: str, end: str, point: loops.Point, rotation: Matrix | None) -> str:
        """The site an end stands on: the frame that the end is named after, or a new one with a mark."""
        frame, body = self._frames.get(point.name), point.body or WORLD
        if frame is not None and (frame.body, frame.placement.position) == (body, point.position):
            if rotation in (None, frame.placement.rotation):
                return point.name
        name = self._free.free(f"{closure}/{end}")
        row = element("site", name=name, **where(Placement(rotation or IDENTITY, point.position)))
        self.sites.setdefault(body, []).append(row)
        self.marks.append(("end", name, closure))
        return name
