"""To collect tests is not to build robots."""

from __future__ import annotations

import sys


def test_collection_builds_no_robots():
    conftest = next(m for name, m in list(sys.modules.items()) if name.endswith("conftest") and hasattr(m, "BUILT"))
    assert conftest.BUILT == [], "build it in a function with functools.cache, or in a fixture"
