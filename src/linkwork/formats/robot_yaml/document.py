"""Document: YAML text as a tree of nodes that know their line and column, within limits.

Only the structure of YAML is used: mappings, sequences, and scalars as text, which the schema reads
as what it expects (so `no`, `010` and `1e-3` mean what they look like). Tags are refused. Anchors
and aliases share nodes; what they would expand to counts towards the limits, so an alias bomb is
refused before it can grow.
"""

from __future__ import annotations

from typing import Any, NoReturn

import yaml

from linkwork.errors import InvalidFile

LARGEST = 4 * 2**20
"""Largest .robot.yaml that is read [bytes]; a file with a thousand bodies has about a tenth of
it."""
MOST_NODES = 300_000
DEEPEST = 24

_QUOTES = ("'", '"')
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Node:
    """A value of the file.

    kind    "text", "list" or "map"; value: str, list[Node] or dict[str, Node]; keys: the marks of
            the keys of a map, in their order
    mark    where it stands, as the parser says it; `line` and `column` count from 1
    size, height   nodes in it, itself and what aliases stand for included; levels below it
    """

    __slots__ = ("height", "keys", "kind", "mark", "quoted", "size", "value")

    def __init__(self, kind: str, value: Any, mark: Any, quoted: bool = False) -> None:
        self.kind = kind
        self.value = value
        self.mark = mark
        self.quoted = quoted
        self.keys: list[Any] | None = None
        self.size = 1
        self.height = 0

    @property
    def line(self) -> int:
        return self.mark.line + 1

    @property
    def column(self) -> int:
        return self.mark.column + 1

    def of_key(self, key: str) -> tuple[int, int]:
        """Line and column where a key of this map stands."""
        assert self.keys is not None
        mark = self.keys[list(self.value).index(key)]
        return mark.line + 1, mark.column + 1

    def close(self) -> None:
        """Count what stands in a collection, now that it is complete;
        `size` and `height` have counted what stands in its own collections."""
        count = len(self.value)
        self.size += count if self.keys is None else 2 * count
        if count and not self.height:
            self.height = 1


def parse_document(content: bytes | str, source: str) -> Node:
    """The one document of a YAML text; `source` is the name for errors."""
    text = content if isinstance(content, str) else _decoded(content, source)
    if len(text) > LARGEST:
        size = len(text) / 2**20
        raise InvalidFile(
            f"{source}: is {size:.1f} MB, a .robot.yaml may have {LARGEST // 2**20} MB"
        )
    try:
        return _Composer(text, source).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        raise InvalidFile(f"{where}: is not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise InvalidFile(f"{source}: is not YAML: {' '.join(str(error).split())}") from None


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InvalidFile(f"{source}:{line}: byte {error.start} is not UTF-8 text") from None


class _Composer:
    """Events of the YAML parser put together, with a stack instead of recursion."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.loader = _Loader(text)
        self.anchors: dict[str, Node | None] = {}
        self.count = 0

    def document(self) -> Node:
        try:
            self._expect(yaml.StreamStartEvent)
            if isinstance(self.loader.peek_event(), yaml.StreamEndEvent):
                raise InvalidFile(f"{self.source}: is empty, expected a robot description")
            self._expect(yaml.DocumentStartEvent)
            root = self._tree()
            self._expect(yaml.DocumentEndEvent)
            event = self.loader.get_event()
            if not isinstance(event, yaml.StreamEndEvent):
                self._refuse(event, "a second document begins, expected one a file")
            return root
        finally:
            self.loader.dispose()

    def _expect(self, kind: type[yaml.Event]) -> None:
        event = self.loader.get_event()
        assert isinstance(event, kind), event

    def _tree(self) -> Node:
        # open collections, with their anchors and waiting keys
        around: list[tuple[Node, str | None, str | None]] = []
        parent: Node | None = None
        anchor: str | None = None
        # of `parent`: its keys, where it is a map, what it holds, and a key that waits for a value
        keys: list[Any] | None = None
        inside: Any = None
        key: str | None = None
        # asked often
        get_event = self.loader.get_event
        scalar = yaml.ScalarEvent
        mapping = yaml.MappingStartEvent
        while True:
            event = get_event()
            kind = type(event)
            if kind is scalar:
                self.count += 1
                if self.count > MOST_NODES or event.tag is not None:
                    self._check(event)
                # nearly everything in a file is a key, its value or an item, without an anchor
                is_plain = event.anchor is None and parent is not None
                if is_plain and keys is not None and key is None:
                    key = event.value
                    if key in inside:
                        self._refuse_second(event, parent, key)
                    keys.append(event.start_mark)
                    continue
                node = Node("text", event.value, event.start_mark, event.style in _QUOTES)
                if is_plain:
                    if keys is None:
                        inside.append(node)
                    else:
                        inside[key] = node
                        key = None
                    continue
                if event.anchor is not None:
                    self.anchors[event.anchor] = node
            elif kind is mapping or kind is yaml.SequenceStartEvent:
                if parent is not None:
                    if keys is not None and key is None:
                        self._refuse(event, "a key is a list or mapping, expected a name")
                    around.append((parent, anchor, key))
                parent = self._opened(event, kind is mapping, len(around))
                anchor, keys, inside, key = event.anchor, parent.keys, parent.value, None
                continue
            elif kind is yaml.AliasEvent:
                node = self._aliased(event, len(around) + (parent is not None))
            else:  # the end of a collection
                assert parent is not None
                node = parent
                node.close()
                if anchor is not None:
                    self.anchors[anchor] = node
                parent, anchor, key = around.pop() if around else (None, None, None)
                if parent is not None:
                    keys, inside = parent.keys, parent.value
            if parent is None:
                return node
            key = self._put(event, parent, key, node)

    def _opened(self, event: Any, is_map: bool, depth: int) -> Node:
        """A collection begins."""
        self.count += 1
        if self.count > MOST_NODES or event.tag is not None:
            self._check(event)
        if depth >= DEEPEST:
            self._refuse(event, f"is nested more than {DEEPEST} deep")
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # known, but not complete
        if not is_map:
            return Node("list", [], event.start_mark)
        node = Node("map", {}, event.start_mark)
        node.keys = []
        return node

    def _put(self, event: Any, parent: Node, key: str | None, node: Node) -> str | None:
        """`node` into its collection: an item, the value of the waiting key, or a key;
        the key that waits then."""
        parent.size += node.size - 1
        if node.height >= parent.height and node.kind != "text":
            parent.height = node.height + 1
        if parent.keys is None:
            parent.value.append(node)
        elif key is not None:
            parent.value[key] = node
        elif node.kind != "text":
            self._refuse(event, "a key is a list or mapping, expected a name")
        else:  # a key with an anchor, or one that an alias stands for
            if node.value in parent.value:
                self._refuse_second(event, parent, node.value)
            parent.keys.append(event.start_mark)
            return node.value
        return None

    def _aliased(self, event: Any, depth: int) -> Node:
        node = self.anchors.get(event.anchor)
        if node is None:
            why = "contains itself" if event.anchor in self.anchors else "has no anchor before it"
            self._refuse(event, f"alias *{event.anchor} {why}")
        if depth + node.height > DEEPEST:
            self._refuse(event, f"is nested more than {DEEPEST} deep through alias *{event.anchor}")
        self._counted(event, node.size)
        return node

    def _counted(self, event: Any, size: int) -> None:
        self.count += size
        if self.count > MOST_NODES:
            self._refuse(
                event,
                f"the file has more than {MOST_NODES} values, aliases counted for what they "
                "stand for",
            )

    def _check(self, event: Any) -> None:
        """Refuse a value with a tag, or one too many."""
        if event.tag is not None and event.tag != "!":
            self._refuse(event, f'has the tag "{event.tag}", expected plain YAML without tags')
        self._counted(event, 0)

    def _refuse_second(self, event: Any, parent: Any, name: str) -> NoReturn:
        first, _ = parent.of_key(name)
        self._refuse(event, f'key "{name}" is given twice, first in line {first}')

    def _refuse(self, event: Any, sentence: str) -> NoReturn:
        mark = event.start_mark
        raise InvalidFile(f"{self.source}:{mark.line + 1}:{mark.column + 1}: {sentence}")
