"""The application: its commands, and how errors become one sentence and an exit code."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys

import typer

import linkwork.cli
from linkwork import __version__
from linkwork.cli.output import error_console
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, UnknownName

EXIT_CODES = {UnknownName: 3, InvalidFile: 4, InvalidInput: 5}
INTERRUPTED = 130
_SUPPORT = {"application", "output", "arguments"}

app = typer.Typer(name="linkwork", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the trace of an error."),
) -> None:
    """Kinematics, dynamics, control and design of robots and mechanisms.

    Start with:  linkwork robots   and   linkwork info ur5e
    """


@functools.cache
def load_commands() -> None:
    """Register the command of every file of this folder, once."""
    for module in sorted(m.name for m in pkgutil.iter_modules(linkwork.cli.__path__) if m.name not in _SUPPORT):
        importlib.import_module(f"linkwork.cli.{module}").register(app)


def main() -> None:
    """Entry point: errors of linkwork are one sentence; Ctrl-C is quiet; --debug shows the trace."""
    debug = "--debug" in sys.argv
    try:
        load_commands()
        code = app(standalone_mode=False)  # an exit comes back as its code
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        error_console().print("interrupted")
        sys.exit(INTERRUPTED)
    except LinkworkError as error:
        if debug:
            raise
        error_console().print(f"[red]{type(error).__name__}:[/red] ", end="")
        error_console().print(str(error), markup=False, highlight=False)
        sys.exit(next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1))
    except OSError as error:
        if debug:
            raise
        error_console().print(f"[red]error:[/red] {error.strerror or error}: {error.filename or ''}")
        sys.exit(1)
    except Exception as error:
        if debug or not hasattr(error, "format_message"):
            raise
        error.show()  # type: ignore[attr-defined]  # a usage error of the command line itself
        sys.exit(getattr(error, "exit_code", 2))
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)
