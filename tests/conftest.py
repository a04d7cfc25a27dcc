"""Configuration of pytest and hypothesis, nothing else: samples and robots live in modules of their own."""

from __future__ import annotations

import os

from hypothesis import settings

# Compiling a kernel takes longer than hypothesis's deadline for one example; in CI examples are always the same ones.
settings.register_profile("linkwork", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("linkwork")
