"""The `linkwork` command before linkwork is there: Ctrl-C is quiet from the first instant.

Importing numbers, symbols and a compiler takes half a second, in which an interrupt would print the
trace of an import.
"""

import os
import signal
import sys


def main() -> None:
    """Entry point of the installed command."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _quit)  # until the command puts its own in the place
    from linkwork.cli import main as command

    command()


def _quit(*_: object) -> None:
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)  # nothing is open yet, and libraries that are half imported must not tidy up
