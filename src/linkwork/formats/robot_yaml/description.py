"""Description: a .robot.yaml that can be built again with other values, or with symbols,
for its variables."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from linkwork.arguments import choice
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.files import collected_later, read_bounded
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.options import CHOICES
from linkwork.formats.robot_yaml.build import build_model
from linkwork.formats.robot_yaml.document import LARGEST, Node, parse_document
from linkwork.formats.robot_yaml.reading import Reader, Value
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.units import Units, parse_unit
from linkwork.formats.robot_yaml.variables import check_variable_names, defaults
from linkwork.formats.robot_yaml.vocabulary import ROBOT, UNITS
from linkwork.formats.strictness import Passed
from linkwork.model.edit import with_base
from linkwork.model.model import Model
from linkwork.model.number import Number

ENDING = ".robot.yaml"


class Description:
    """A parsed and checked .robot.yaml (implements `model.parametric.Parametric`).

    check   level for mass properties: None is what the file says (key "check"), else "physical"
    mimic   "follow", or "independent" to leave mimic rules out; root: "floating" lets the robot's
            root move
    strict  None or False: a visual that cannot be read is passed over with a warning; False:
            reversed limits mean none;
            True: neither. visuals: False leaves out what is only drawn
    """

    @collected_later
    def __init__(
        self,
        text: str | bytes,
        source: str = "robot.yaml text",
        folder: str | None = None,
        check: str | None = None,
        mimic: str = "follow",
        root: str = "fixed",
        strict: bool | None = None,
        visuals: bool = True,
    ) -> None:
        for label, value in (("check", check), ("mimic", mimic), ("root", root)):
            if label != "check" or value is not None:
                choice(value, CHOICES[label], f"read_robot_yaml: {label}")
        if not isinstance(text, (str, bytes)):
            raise InvalidInput(
                f"read_robot_yaml: text is a {type(text).__name__}, expected str or bytes"
            )
        self._arguments = (text, source, folder, check, mimic, root, strict, visuals)
        self._passed = Passed(strict, source)
        node = parse_document(text, source)
        self._reader = Reader(source, _units(node, source), self._passed, visuals)
        self.robot: Entry = ROBOT.read(node, "", self._reader)
        check_variable_names(self.robot.get("variables", {}), self._reader)
        self.check = check or self.robot.get("check", "physical")
        self._meshes = MeshFinder(None if folder is None else Path(folder))

    @property
    def name(self) -> str:
        return self.robot["name"]

    @property
    def summary(self) -> str:
        """The description in one line."""
        return self.robot.get("description", "").split("\n")[0]

    @property
    def text(self) -> str | bytes | None:
        """What was read, where reading it plainly gives the same:
        None with options that change the model."""
        text, _, _, _, mimic, root, _, visuals = self._arguments
        return text if (mimic, root, visuals) == ("follow", "fixed", True) else None

    def text_with(self, values: Mapping[str, float]) -> str | bytes | None:
        """The file with other SI values for its variables, everything else as it was;
        None where that cannot be.

        It cannot with options that change the model, and where a number does not stand in the file
        as its own word (an alias, a folded text).
        """
        changed = {name: x for name, x in values.items() if x != self.defaults.get(name)}
        if self.text is None or not changed:
            return self.text
        text = self.text if isinstance(self.text, str) else self.text.decode("utf-8-sig")
        lines = text.split("\n")
        variables = self.robot.get("variables", {})
        marks = [(variables[name].written, x) for name, x in changed.items() if name in variables]
        for written, x in sorted(
            marks, key=lambda mark: (mark[0].line, mark[0].column), reverse=True
        ):
            line, at = lines[written.line - 1], written.column - 1
            if line[at : at + 1] in ("'", '"'):
                at += 1
            if not line.startswith(written.text, at):
                return None
            lines[written.line - 1] = (
                line[:at] + written.again(float(x)) + line[at + len(written.text) :]
            )
        again = Description("\n".join(lines), *self._arguments[1:])
        wanted = {**self.defaults, **values}
        own = again.defaults
        if wanted.keys() != own.keys():
            return None
        same = all(math.isclose(own[name], x, rel_tol=1e-15) for name, x in wanted.items())
        return again.text if same else None

    @cached_property
    def defaults(self) -> Mapping[str, float]:
        """SI value of every variable that is a number; variables that are expressions follow
        these."""
        return defaults(self.robot.get("variables", {}), self._reader)

    @cached_property
    def expressions(self) -> Mapping[str, str]:
        """Variables that are expressions of others: name -> text."""
        values = {
            name: variable.value for name, variable in self.robot.get("variables", {}).items()
        }
        return {
            n: v.expression.text
            for n, v in values.items()
            if isinstance(v, Value) and v.expression is not None
        }

    @cached_property
    def fingerprint(self) -> str:
        text, _, _, _, mimic, root, *_ = self._arguments
        content = text.encode() if isinstance(text, str) else text
        return hashlib.sha256(content + f"\n{mimic} {root}".encode()).hexdigest()

    def build(self, values: Mapping[str, Number] | None = None) -> Model:
        """The model for these SI values; numbers may be symbols, missing ones take their
        defaults."""
        values = values or {}
        for name in values:
            if name not in self.defaults:
                derived = name in self.robot.get("variables", {})
                why = "is an expression of other variables" if derived else "does not exist"
                near = "" if derived else did_you_mean(name, self.defaults)
                raise UnknownName(f'robot "{self.name}": variable "{name}" {why}{near}')
        mimic, root = self._arguments[4:6]
        model = build_model(self.robot, self._reader, values, self._meshes, self.check, mimic)
        self._passed.say()
        return model if root == "fixed" else with_base(model, floating=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return Description, self._arguments

    def __repr__(self) -> str:
        return f'<Description "{self.name}" of {self._reader.source}>'


def read_robot_yaml(path: str | os.PathLike[str], **options: Any) -> Description:
    """The description in a file; options as in `Description` (check, mimic, root)."""
    shown = os.fspath(path)
    return Description(
        read_bounded(path, LARGEST), shown, os.path.dirname(os.path.abspath(shown)), **options
    )


def _units(node: Node, source: str) -> Units:
    """The section "units", read before everything else, because every other number depends on
    it."""
    si = Reader(source, Units())
    if node.kind != "map" or "units" not in node.value:
        return Units()
    chosen = UNITS.read(node.value["units"], "units", si)
    if "inertia" in chosen:
        try:
            fits = parse_unit(chosen["inertia"]).powers == (2, 1, 0)
        except ValueError as error:
            si.refuse(chosen.at("inertia"), str(error))
        if not fits:
            si.refuse(
                chosen.at("inertia"),
                f'"{chosen["inertia"]}" is no unit of inertia, expected such as kg*m^2',
            )
    return Units(**chosen)
