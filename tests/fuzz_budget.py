"""How many accidents a fuzz test draws: some in every run, the same ones each time;
many more in `make fuzz`."""

from __future__ import annotations

import os

MANY = 30
"""Times as many in `make fuzz`."""


def drawn(few: int) -> int:
    """`few` in a run of all tests."""
    return few * MANY if "LINKWORK_FUZZ" in os.environ else few
