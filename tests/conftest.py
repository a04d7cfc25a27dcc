"""Configuration of pytest and hypothesis, nothing else: samples and robots live in modules of their own."""

from __future__ import annotations

import os

from hypothesis import settings

# Compiling a kernel takes longer than hypothesis's deadline for one example; in CI examples are always the same ones.
settings.register_profile("linkwork", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("linkwork")


def pytest_terminal_summary(terminalreporter) -> None:
    """Say in one line what a machine without a browser has not tested."""
    skipped = [r for r in terminalreporter.stats.get("skipped", ()) if "no chromium" in str(r.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests in a browser were skipped: `make browser` installs chromium")
