"""XML with line numbers, hardened: what every reader of an XML description stands on.

Expat does the parsing. Entity declarations, document types with content and external references are
refused when they appear, before anything is expanded; size, depth and number of elements are
bounded, so that a hostile file costs seconds at most. Character data are dropped unless they are
asked for: SDF alone uses them.
"""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from linkwork.errors import InvalidFile, listed
from linkwork.formats.files import LARGEST, collected_later, file_name, read_bounded
from linkwork.formats.strictness import Passed

DEEPEST = 200
_DESCRIBED = 8  # levels an element is described by, up to the next one with a name
MOST_ELEMENTS = 200_000
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_PLAIN = frozenset("0123456789+-.eE \t\r\n")
_LATE_DECLARATION = re.compile(r"([ \t\r\n]+)(<\?xml[ \t\r\n][^>]{0,200}\?>)")
_LATE_DECLARATION_BYTES = re.compile(_LATE_DECLARATION.pattern.encode())
_PROLOGUE = (("<?", "?>"), ("<!--", "-->"), ("<!", ">"))
_BLANK = re.compile(r"[\ufeff \t\r\n]+")
_TAG = re.compile(r"<([A-Za-z_][\w:.-]*)")
_IN_ATTRIBUTES = str.maketrans({'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.ASCII | re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Element:
    """One element: tag and attributes as written, the line it starts on, its children, its parent
    and, where it was asked for, the text between its tags."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: str
    parent: Element | None = field(default=None, repr=False)
    children: list[Element] = field(default_factory=list, repr=False)
    content: str = ""

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)

    @property
    def described(self) -> str:
        """The element in words: `<origin> of joint "lift"`."""
        parts, at = "", self
        for _ in range(_DESCRIBED):
            name = at.attributes.get("name")
            if name:
                return f'{parts}{at.tag} "{_short(name)}"'
            above = at.parent
            if above is None or above.parent is None:
                return f"{parts}<{at.tag}>"
            parts, at = f"{parts}<{at.tag}> of ", above
        return parts.removesuffix(" of ")

    def error(self, sentence: str) -> InvalidFile:
        """An error that carries file, line and element: `raise element.error("has no radius")`."""
        return InvalidFile(f"{self.source}:{self.line}: {self.described} {sentence}")

    def all(self, tag: str) -> list[Element]:
        """The children of that tag."""
        return [child for child in self.children if child.tag == tag] if self.children else []

    def only(self, tag: str, passed: Passed | None = None, drawn: bool = False) -> Element | None:
        """The child of that tag, or None; two of them contradict each other.

        With `passed` a second one is passed over where it says the same as the first, where it is
        only `drawn`, or by strict=False (the first counts, as in urdfdom).
        """
        if not self.children:
            return None
        children = self.all(tag)
        if len(children) > 1:
            first = f"the first is on line {children[0].line}"
            error = children[1].error(f"is the second <{tag}> ({first}), expected one")
            if passed is None:
                raise error
            if drawn or all(each.says_the_same(children[0]) for each in children[1:]):
                passed.detail(error)
            else:
                passed.plain(error, "the first one counts")
        return children[0] if children else None

    def says_the_same(self, other: Element) -> bool:
        """Whether two elements have equal tags, attributes and children."""
        if (self.tag, self.attributes) != (other.tag, other.attributes) or len(
            self.children
        ) != len(other.children):
            return False
        return all(
            mine.says_the_same(theirs) for mine, theirs in zip(self.children, other.children)
        )

    def needed(self, tag: str, passed: Passed | None = None) -> Element:
        """The one child of that tag, which must be there; `passed` as in `only`."""
        child = self.only(tag, passed)
        if child is None:
            raise self.error(f"has no <{tag}>, expected one")
        return child

    def has(self, attribute: str) -> bool:
        return attribute in self.attributes

    def text(self, attribute: str, default: str | None = None) -> str:
        """An attribute as it stands; without a default it must be there and not be empty."""
        value = self.attributes.get(attribute, default)
        if value is None:
            present = f"; it has {listed(self.attributes, 6)}" if self.attributes else ""
            raise self.error(f'has no attribute "{attribute}"{present}')
        if not value and default is None:
            raise self.error(f'has an empty attribute "{attribute}"')
        return value

    def numbers(
        self,
        attribute: str,
        count: int,
        default: tuple[float, ...] | None = None,
        infinite: bool = False,
    ) -> tuple[float, ...]:
        """`count` numbers divided by spaces. Not finite is refused,
        "inf" where `infinite` allows it excepted."""
        if default is not None and attribute not in self.attributes:
            return default
        value = self.text(attribute)
        plain = _plain_numbers(value, count)
        if len(plain) == count:
            return plain
        words = value.split(maxsplit=count)
        numbers = [_number(word, infinite) for word in words[:count]]
        if len(words) != count or None in numbers:
            expected = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.error(f'has {attribute}="{_short(value)}", expected {expected}')
        return tuple(number for number in numbers if number is not None)

    def few(self, attribute: str, least: int, most: int) -> tuple[float, ...]:
        """From `least` to `most` finite numbers divided by spaces."""
        value = self.text(attribute)
        plain = _plain_numbers(value, most)
        if least <= len(plain) <= most and plain:
            return plain
        words = value.split(maxsplit=most)
        numbers = [_number(word, infinite=False) for word in words[:most]]
        if not least <= len(words) <= most or None in numbers:
            raise self.error(
                f'has {attribute}="{_short(value)}", expected {least} to {most} finite numbers'
            )
        return tuple(number for number in numbers if number is not None)

    def number(self, attribute: str, default: float | None = None, infinite: bool = False) -> float:
        """One number; without a default it must be there."""
        return self.numbers(attribute, 1, None if default is None else (default,), infinite)[0]


def quoted(text: str) -> str:
    """Text as an attribute is written, in double quotes."""
    return f'"{html.escape(text, quote=False).translate(_IN_ATTRIBUTES)}"'


def read_xml(path: str | os.PathLike[str], content: bool = False) -> Element:
    """The root element of an XML file; `content`: with the text between tags."""
    return parse_xml(read_bounded(path), file_name(path), content=content)


@collected_later
def parse_xml(
    document: str | bytes,
    source: str,
    deepest: int = DEEPEST,
    content: bool = False,
    tags: set[str] | None = None,
    most: int = MOST_ELEMENTS,
) -> Element:
    """The root element of XML text; `source` is what errors call it,
    `deepest` how far elements may be nested.

    content   True: elements get the text between their tags
    tags      gets every tag of the text, so that nobody looks through all elements for what is not
              there
    most      elements that the text may have
    """
    if len(document) > LARGEST:
        raise InvalidFile(
            f"{source}: is {len(document) / 2**20:.0f} MB, expected at most "
            f"{LARGEST / 2**20:.0f} MB"
        )
    if not document.strip():
        raise InvalidFile(f"{source}: is empty, expected XML")
    builder = _Builder(source, deepest, content, most)
    try:
        builder.parser.Parse(_declared_first(document), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, "unknown reason")
        raise InvalidFile(f"{source}:{error.lineno}: is not well-formed XML: {reason}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python or expat does not know
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{source}: has an encoding that cannot be read: {error}") from None
    assert builder.root is not None  # expat refuses a document without an element
    if tags is not None:
        tags |= builder.tags
    return builder.root


def root_tag(content: str | bytes) -> str | None:
    """The tag of the first element of a text, None where it is no XML;
    nothing but what stands before it is read."""
    text = content if isinstance(content, str) else content[:LARGEST].decode("utf-8", "replace")
    at = 0
    while True:
        match = _BLANK.match(text, at)
        at = at if match is None else match.end()
        end = next((close for opening, close in _PROLOGUE if text.startswith(opening, at)), None)
        if end is None:
            break
        closing = text.find(end, at)
        if closing < 0:
            return None
        at = closing + len(end)
    match = _TAG.match(text, at)
    return None if match is None else match[1]


def _declared_first(content: str | bytes) -> str | bytes:
    """The text with white space in front of its XML declaration moved behind it,
    where expat takes it.

    Published files begin with an empty line. It says nothing, and every line keeps its number.
    """
    if isinstance(content, bytes):
        late = _LATE_DECLARATION_BYTES.match(content)
        return content if late is None else late[2] + late[1] + content[late.end() :]
    match = _LATE_DECLARATION.match(content)
    return content if match is None else match[2] + match[1] + content[match.end() :]


class _Builder:
    """Collects elements from expat's calls and refuses what no description needs."""

    def __init__(self, source: str, deepest: int, content: bool, most: int) -> None:
        self.source = source
        self.deepest = deepest
        self.most = most
        self.root: Element | None = None
        self.open: list[Element] = []
        self.tags: set[str] = set()
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.document_type
        self.parser.EntityDeclHandler = self.entity
        self.parser.ExternalEntityRefHandler = self.external
        if content:
            self.parser.buffer_text = True
            self.parser.CharacterDataHandler = self.text

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= self.deepest:
            self.refuse(f"elements are nested deeper than {self.deepest}")
        if self.count > self.most:
            self.refuse(f"more than {self.most} elements")
        self.tags.add(tag)
        parent = self.open[-1] if self.open else None
        element = Element(tag, attributes, self.parser.CurrentLineNumber, self.source, parent)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self.open.append(element)

    def text(self, content: str) -> None:
        if not content.isspace():  # pieces are few: they are buffered, and divided only by elements
            self.open[-1].content += content

    def end(self, tag: str) -> None:
        self.open.pop()

    def document_type(
        self, name: str, system: str | None, public: str | None, has_subset: bool
    ) -> None:
        if system or public or has_subset:
            self.refuse("a document type with declarations or an external part is not read")

    def entity(self, name: str, *declaration: object) -> None:
        self.refuse(f'entity "{_short(name)}" is declared; entities are not read')

    def external(self, *reference: object) -> int:
        self.refuse("an external entity is not read")

    def refuse(self, sentence: str) -> NoReturn:
        raise InvalidFile(f"{self.source}:{self.parser.CurrentLineNumber}: {sentence}")


def number_of(word: str) -> float | None:
    """The finite number a word stands for, or None."""
    return _number(word, infinite=False)


def _plain_numbers(value: str, most: int) -> tuple[float, ...]:
    """The finite numbers of a text without letters, as nearly all are;
    () where it must be looked at word by word."""
    if not _PLAIN.issuperset(value):
        return ()
    try:
        numbers = tuple(map(float, value.split(maxsplit=most)))
    except ValueError:
        return ()
    return numbers if all(map(math.isfinite, numbers)) else ()


def _number(word: str, infinite: bool) -> float | None:
    """The number a word stands for, or None. Python's own float would accept 1_000,
    nan and other scripts' digits."""
    if _NUMBER.fullmatch(word):
        value = float(word)
        return value if math.isfinite(value) or infinite else None
    if infinite and (match := _INFINITE.fullmatch(word)):
        return -math.inf if match[1] == "-" else math.inf
    return None


def _short(value: str, most: int = 60) -> str:
    return value if len(value) <= most else f"{value[:most]}..."
