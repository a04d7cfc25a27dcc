"""To collect tests is not to build robots."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WHOLE = "LINKWORK_COLLECTS_THE_WHOLE_TREE"


def test_collection_builds_no_robots():
    """Judged over the whole tree: where a session has collected a part of it,
    by a process that collects the rest."""
    conftest = next(
        m
        for name, m in list(sys.modules.items())
        if name.endswith("conftest") and hasattr(m, "BUILT")
    )
    assert conftest.BUILT == [], "build it in a function with functools.cache, or in a fixture"
    missing = {str(file) for file in HERE.rglob("test_*.py")} - conftest.COLLECTED
    if not missing:
        return
    if os.environ.get(WHOLE):
        pytest.fail(f"not collected: {sorted(missing)}")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(HERE),
    ]
    chosen = f"test_collection.py and {test_collection_builds_no_robots.__name__}"
    done = subprocess.run(
        [*command, "-k", chosen],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {WHOLE: "1"},
    )
    assert done.returncode == 0, done.stdout[-3000:]
