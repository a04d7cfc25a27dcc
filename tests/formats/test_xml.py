"""Hardened XML: hostile documents are refused at once, and every element knows its line."""

from __future__ import annotations

import pytest

from linkwork.errors import InvalidFile
from linkwork.formats.files import LARGEST
from linkwork.formats.xml import DEEPEST, MOST_ELEMENTS, parse_xml, read_xml

LAUGHS = '<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
)

HOSTILE = {
    "billion laughs": (f"<!DOCTYPE r [{LAUGHS}]><r>&j;</r>", "document type"),
    "quadratic blowup": (
        f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><r>{"&a;" * 10_000}</r>',
        "document type",
    ),
    "laughs in an attribute": (f'<!DOCTYPE r [{LAUGHS}]><r name="&j;"/>', "document type"),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>',
        "document type",
    ),
    "external document type": ('<!DOCTYPE r SYSTEM "http://127.0.0.1/r.dtd"><r/>', "document type"),
    "public document type": (
        '<!DOCTYPE r PUBLIC "a" "http://127.0.0.1/r.dtd"><r/>',
        "document type",
    ),
    "parameter entity": (
        '<!DOCTYPE r [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><r/>',
        "document type",
    ),
    "undefined entity": ("<r>&nothing;</r>", "undefined entity"),
    "deep": ("<a>" * 1_000_000, f"nested deeper than {DEEPEST}"),
    "many elements": (f"<r>{'<a/>' * 2_000_000}</r>", f"more than {MOST_ELEMENTS} elements"),
    "large text": (f"<r>{' ' * LARGEST}</r>", "expected at most 16 MB"),
    "same attribute twice": ('<r a="1" a="2"/>', "duplicate attribute"),
    "mismatched tags": ("<r><a></r></a>", "mismatched tag"),
}


@pytest.mark.parametrize(("content", "sentence"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_xml_is_refused_before_it_is_expanded(content, sentence):
    with pytest.raises(InvalidFile, match=rf"^x\.xml.*{sentence}"):
        parse_xml(content, "x.xml")


def test_a_document_type_that_declares_nothing_is_harmless():
    assert parse_xml("<!DOCTYPE robot><robot/>", "x").tag == "robot"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    with pytest.raises(
        InvalidFile, match=r"huge\.urdf: is 200 MB, linkwork reads descriptions up to 16 MB"
    ):
        read_xml(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings_are_read(encoding):
    content = f'<?xml version="1.0" encoding="{encoding}"?><robot name="Müller"/>'.encode(encoding)
    assert parse_xml(content, "x").text("name") == "Müller"


def test_elements_know_their_line_and_describe_themselves():
    root = parse_xml('<robot>\n<joint name="lift">\n\n<origin\n xyz="1"/></joint></robot>', "x")
    (joint,) = root
    origin = joint.needed("origin")
    assert (root.line, joint.line, origin.line) == (1, 2, 4)
    assert origin.described == '<origin> of joint "lift"'
    assert str(origin.error("is odd")) == 'x:4: <origin> of joint "lift" is odd'


def test_a_long_value_is_shortened_in_the_sentence():
    root = parse_xml(f'<robot><a n="{"9 " * 100_000}"/></robot>', "x")
    with pytest.raises(InvalidFile) as caught:
        root.children[0].numbers("n", 3)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("word", ["1", "-1.5", "+.5", "1.", "1e3", "1E-3", "007"])
def test_numbers_are_what_other_readers_take(word):
    assert parse_xml(f'<r n=" {word}\n"/>', "x").number("n") == float(word)


@pytest.mark.parametrize(
    "word", ["", "nan", "inf", "1_0", "0x10", "1e", "e3", "1,5", "１", "--1", "1e999", "1 2", "."]
)
def test_other_words_are_no_numbers(word):
    with pytest.raises(InvalidFile, match=r"attribute|expected a finite number"):
        parse_xml(f'<r n="{word}"/>', "x").number("n")
