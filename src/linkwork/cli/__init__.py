"""The `linkwork` command line: words, answers, and commands without a room."""

from __future__ import annotations

from linkwork.cli.application import main

__all__ = ["main"]
