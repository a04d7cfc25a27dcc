"""Files made to be slow cost processor seconds in proportion to their size,
whether they are read or refused."""

from __future__ import annotations

import logging

import pytest

from linkwork.errors import LONGEST_MEANT, MOST_MEANT, did_you_mean
from tests.formats.bombs import BOMBS, seconds_per_megabyte

BUSY = 6.0
"""Processor seconds a megabyte on a busy machine: `bombs.SLOWEST` for the slowest kind when it is
idle, times what neighbours on the same core cost. Before, unknown leaders cost 300 and long names
190."""


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_costs_what_its_size_costs(kind, caplog):
    caplog.set_level(logging.CRITICAL, "linkwork")
    assert seconds_per_megabyte(kind, 0.2) < BUSY


def test_suggestions_are_bounded():
    assert did_you_mean("elbw", ["elbow", "wrist"]) == '; did you mean "elbow"?'
    assert did_you_mean("x" * LONGEST_MEANT, ["x" * LONGEST_MEANT]) != ""
    assert did_you_mean("x" * (LONGEST_MEANT + 1), ["x" * LONGEST_MEANT]) == ""
    assert did_you_mean("xy", ["xy" + "z" * LONGEST_MEANT, "xz"]) == '; did you mean "xz"?'
    names = [f"name{k}" for k in range(MOST_MEANT + 1)]
    assert did_you_mean("name", names[:-1]) != ""
    assert did_you_mean("name", names) == ""
