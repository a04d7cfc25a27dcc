"""linkwork robots: what is built in."""

from __future__ import annotations

import linkwork as lw
from linkwork.cli.answer import Answer, Table


def robots() -> Answer:
    """List the built-in robots, one line each.

    Example:  linkwork robots --json
    """
    found = lw.robots()
    return Answer(found, [Table(f"{len(found)} built-in robots", ("name", "what it is"), list(found.items()))])
