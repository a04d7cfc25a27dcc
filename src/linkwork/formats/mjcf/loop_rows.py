"""Loops as rows: mimic rules, closures and couplings as equalities, with the sites and marks they need."""

from __future__ import annotations

import json
from collections.abc import Iterator

from linkwork.formats.mjcf.bodies import WORLD, Names
from linkwork.formats.mjcf.rows import element, number, numbers, where
from linkwork.model import elements as loops
from linkwork.model.model import Model
from linkwork.model.number import Matrix
from linkwork.model.placement import Placement


class LoopRows:
    """Equalities; `sites` are rows by body (the world's under "world"), `marks` (kind, name, data)."""

    def __init__(self, model: Model, sites: Names) -> None:
        self.sites: dict[str, list[str]] = {}
        self.marks: list[tuple[str, str, str]] = []
        self._free = sites
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
                rule = numbers((joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0))
                name = self._names.free(f"{joint.name}_mimics_{joint.mimic.joint}")
                yield element("joint", name=name, joint1=joint.name, joint2=joint.mimic.joint, polycoef=rule)

    def _rows(self, each: loops.Element) -> Iterator[str]:
        match each:
            case loops.LoopClosure():
                tag = "connect" if each.kind == "point" else "weld"
                ends = [
                    self._site(each.name, "first", each.first, each.rotation),
                    self._site(each.name, "second", each.second, each.second_rotation),
                ]
                loose = "0" if tag == "weld" and len(each.directions) == 3 else None
                yield element(tag, name=each.name, site1=ends[0], site2=ends[1], torquescale=loose)
                if each.dependent:
                    self.marks.append(("dependent", each.name, json.dumps(each.dependent)))
            case loops.Coupling(terms=((first, a), (second, b))):
                rule = numbers((each.offset / a, -b / a, 0.0, 0.0, 0.0))
                self.marks.append(("coupling", each.name, "both joints keep their coordinates"))
                yield element("joint", name=each.name, joint1=first, joint2=second, polycoef=rule)
            case loops.TorsionSpring():
                self.marks.append(("spring", each.joint, each.name))

    def _site(self, closure: str, end: str, point: loops.Point, rotation: Matrix) -> str:
        name = self._free.free(f"{closure}/{end}")
        row = element("site", name=name, **where(Placement(rotation, point.position)))
        self.sites.setdefault(point.body or WORLD, []).append(row)
        self.marks.append(("end", name, closure))
        return name
