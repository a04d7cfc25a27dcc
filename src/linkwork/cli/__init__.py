"""The `linkwork` command line: one file a command."""

from __future__ import annotations

from linkwork.cli.application import main

__all__ = ["main"]
