"""Checks of elements: defaults are right by themselves,
so that nobody checks them for every element of a file."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import get_args

import pytest

from linkwork.errors import InvalidModel
from linkwork.model.element_checks import _Check, _Known
from linkwork.model.element_fields import fields_of
from linkwork.model.elements import Element, LoopClosure, Point


@pytest.mark.parametrize("kind", get_args(Element), ids=lambda kind: kind.__name__)
def test_the_default_of_every_field_is_what_its_role_asks_for(kind):
    known = _Known((), set(), {})
    for label, field in fields_of(kind).items():
        if field.default is dataclasses.MISSING or field.default is None:
            continue
        changes: dict = {}
        element = SimpleNamespace(word=kind.word, name="x", **{label: field.default})
        _Check(element, known)._field(label, field.default, field.role, changes)
        assert not changes, label


def test_what_equals_no_default_is_checked():
    closure = LoopClosure("c", "point", Point("b", (float("inf"), 0.0, 0.0)), Point(None))
    with pytest.raises(InvalidModel, match="expected three finite numbers"):
        _Check(closure, _Known((), {"b"}, {})).passed()
    skew = dataclasses.replace(closure, first=Point("b"), axis=(0.0, 0.0, 2.0))
    assert _Check(skew, _Known((), {"b"}, {})).passed().axis == (0.0, 0.0, 1.0)
