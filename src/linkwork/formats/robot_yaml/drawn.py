"""Drawn: a list of details that are only drawn; what cannot be read of it is passed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwork.errors import InvalidFile
from linkwork.formats.robot_yaml.document import Node
from linkwork.formats.robot_yaml.reading import Reader
from linkwork.formats.robot_yaml.schema import Listed

MOST_WRONG = 50
"""Wrong items of one list that are looked at: finding the nearest valid word costs more than
reading a right one."""


@dataclass(frozen=True)
class Drawn(Listed):
    """A list of which wrong items are left out with a warning,
    unless the file is read with strict=True."""

    def read(self, node: Node, path: str, reader: Reader) -> tuple[Any, ...]:
        if not reader.visuals:
            return ()
        if node.kind != "list" or reader.passed is None:
            return super().read(node, path, reader)
        drawn, wrong = [], 0
        for k, item in enumerate(node.value[: self.most]):
            try:
                drawn.append(self.kind.read(item, f"{path}[{k}]", reader))
            except InvalidFile as error:
                wrong += 1
                if wrong > MOST_WRONG:
                    reader.passed.detail(error, "neither this nor what follows it is drawn")
                    break
                reader.passed.detail(error, "it is not drawn")
        return tuple(drawn)
