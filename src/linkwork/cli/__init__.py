"""The `linkwork` command line."""

from __future__ import annotations

import typer

from linkwork import __version__

app = typer.Typer(name="linkwork", no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    """Kinematics, dynamics, control and design of robots and mechanisms."""


def main() -> None:
    """Entry point of the `linkwork` command."""
    app()
