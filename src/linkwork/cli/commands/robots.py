"""linkwork robots: what is built in."""

from __future__ import annotations

import linkwork as lw
from linkwork.cli.arguments import Json
from linkwork.cli.output import print_json, print_table


def robots(as_json: Json = False) -> None:
    """List the built-in robots, one line each.

    Example:  linkwork robots --json
    """
    found = lw.robots()
    if as_json:
        print_json(found)
    else:
        print_table(f"{len(found)} built-in robots", ("name", "what it is"), found.items())
