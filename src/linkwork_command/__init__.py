"""The `linkwork` command before linkwork is there: Ctrl-C is quiet from the first instant.

Importing numbers, symbols and a compiler takes half a second, in which an interrupt would print the trace of an import.
"""

import os
import signal
import sys


def main() -> None:
    """Entry point of the installed command."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _quit)
    from linkwork.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


def _quit(*_: object) -> None:
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)  # nothing is open yet, and libraries that are half imported must not tidy up
