"""linkwork robots: what is built in."""

from __future__ import annotations

import linkwork as lw
from linkwork.cli.answer import Answer, Table


def robots() -> Answer:
    """List the built-in robots, one line each.

    Example:  linkwork robots --json
    """
    built_in = lw.robots()
    return Answer(
        built_in,
        [Table(f"{len(built_in)} built-in robots", ("name", "what it is"), list(built_in.items()))],
    )
