"""The application: which commands there are, and how errors become one sentence and an exit
code."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer

from linkwork import __version__, rooms
from linkwork.cli.answer import printed
from linkwork.cli.output import error_console
from linkwork.cli.pages import PageCommand, PageGroup
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, UnknownName, did_you_mean

EXIT_CODES = {UnknownName: 3, InvalidFile: 4, InvalidInput: 5}
BROKEN, INTERRUPTED = 70, 130
HEARD_AGAIN = 2.0  # seconds
_GROUP = re.compile(r'^GROUP = "([\w-]+)"', re.MULTILINE)
_COMMAND = re.compile(r"^def ([a-zA-Z]\w*)\(", re.MULTILINE)

_PLAIN: dict[str, Any] = {"cls": PageGroup, "no_args_is_help": True, "rich_markup_mode": None}
app = typer.Typer(name="linkwork", pretty_exceptions_enable=False, **_PLAIN)
_registered: set[str] = set()
"""Modules whose commands are part of `app`."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the trace of an error."),
) -> None:
    """Kinematics, dynamics, control and design of robots and mechanisms.

    Start with:  linkwork robots   and   linkwork info ur5e
    """


def commands() -> dict[str, str]:
    """Word -> the module with its command: `commands.py` of a room,
    or a file of a folder `commands`.

    Every public function of such a file is a command, named as the function
    (`minimum_time`: minimum-time). A file with a line GROUP = "word" gives `linkwork word command`.
    Files are read, not imported.
    """
    homes: dict[str, str] = {}
    for room, folder in rooms.rooms().items():
        for file in (folder / "commands.py", *sorted((folder / "commands").glob("[!_]*.py"))):
            if file.is_file():
                inside = ".".join(file.relative_to(folder).with_suffix("").parts)
                homes |= dict.fromkeys(_words(file), f"{rooms.PACKAGE}.{room}.{inside}")
    return dict(sorted(homes.items()))


def _file(module: str) -> Path:
    """The file of a module that `commands` names."""
    room, *inside = module.removeprefix(f"{rooms.PACKAGE}.").split(".")
    return rooms.rooms()[room].joinpath(*inside).with_suffix(".py")


def load_commands(word: str | None = None) -> None:
    """Register the commands of one word, or of all words, once."""
    known = commands()
    for module in dict.fromkeys(known.values() if word is None else [known[word]]):
        if module not in _registered:
            _registered.add(module)
            _register(module)


def tell_commands() -> None:
    """Register every word with what its file says of it: enough for the list of commands and for
    mistakes, and no room is imported for it."""
    for module in set(commands().values()) - _registered:
        for word, sentences in _told(_file(module)).items():
            app.command(word, cls=PageCommand, help=sentences)(_not_loaded)


def _not_loaded() -> None:
    raise RuntimeError("this command is only told of; load_commands brings it")


def _told(file: Path) -> dict[str, str]:
    """Word -> docstring of a file of commands, or of its group."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    words = _words(file)
    functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
    documented = {_word(f.name): ast.get_docstring(f) for f in functions if f.name[0] != "_"}
    return {word: documented.get(word) or ast.get_docstring(tree) or "" for word in words}


def _register(module: str) -> None:
    brought = importlib.import_module(module)
    group = app
    if hasattr(brought, "GROUP"):
        group = typer.Typer(help=brought.__doc__, **_PLAIN)
        app.add_typer(group, name=brought.GROUP)
    for name, function in inspect.getmembers(brought, inspect.isfunction):
        if function.__module__ == module and not name.startswith("_"):
            group.command(_word(name), cls=PageCommand)(printed(function))


def _words(file: Path) -> list[str]:
    """The words that a file of commands answers to."""
    text = file.read_text(encoding="utf-8")
    group = _GROUP.search(text)
    return [group[1]] if group else [_word(name) for name in _COMMAND.findall(text)]


def _word(function: str) -> str:
    return function.strip("_").replace("_", "-")


def main() -> None:
    """Entry point: errors of linkwork are one sentence; Ctrl-C is quiet; --debug shows the
    trace."""
    debug = "--debug" in sys.argv
    stopped = _notice_interrupts()
    try:
        word = _asked_for()
        if word is None:
            tell_commands()
        else:
            load_commands(word)
        code = app(standalone_mode=False)  # an exit comes back as its code
        sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        _interrupted()
    except BrokenPipeError:
        # as `linkwork robots | head` expects
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(INTERRUPTED)
    except LinkworkError as error:
        if stopped:
            _interrupted()
        if debug:
            raise
        error_console().print(f"[red]{type(error).__name__}:[/red] ", end="")
        error_console().print(str(error), markup=False, highlight=False)
        sys.exit(next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1))
    except OSError as error:
        if debug:
            raise
        where = f": {error.filename}" if error.filename else ""
        error_console().print("[red]error:[/red] ", end="")
        error_console().print(f"{error.strerror or error}{where}", markup=False)
        sys.exit(1)
    except Exception as error:
        if stopped:
            _interrupted()
        if debug:
            raise
        if not hasattr(error, "format_message"):
            said = (
                f"{type(error).__name__}: {error}; this is a mistake of linkwork, --debug "
                "shows where"
            )
            error_console().print(said, markup=False)
            sys.exit(BROKEN)
        _explain_usage(error)
        sys.exit(getattr(error, "exit_code", 2))
    if stopped:  # typer turns an interrupt into an exit
        _interrupted()
    sys.exit(code if isinstance(code, int) else 0)


def _asked_for() -> str | None:
    """The word of the command line, so that its file alone is imported; None for the list of
    commands and for mistakes."""
    for word in _typed():
        if word in ("--help", "--version"):
            return None
        if not word.startswith("-"):
            return word if word in commands() else None
    return None


def _typed() -> list[str]:
    """The words behind `linkwork`; where the shell completes,
    those before the one that it completes."""
    if "_LINKWORK_COMPLETE" not in os.environ:
        return sys.argv[1:]
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return line.split(" ")[1 : int(os.environ.get("COMP_CWORD", "-1"))]


def _notice_interrupts() -> list[int]:
    """What fills when Ctrl-C is pressed: a library in between may turn the interrupt into an error
    of its own.

    One that swallows it (a callback from foreign code) hears it again after some seconds, which
    tidying up never takes.
    """
    seen: list[int] = []

    def notice(signum: int, frame: FrameType | None) -> None:
        seen.append(signum)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, notice)
            signal.setitimer(signal.ITIMER_REAL, HEARD_AGAIN)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, notice)
    return seen


def _explain_usage(error: Any) -> None:
    """A mistake in the words of the command line: what it is, what was probably meant,
    where to read on."""
    said = str(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    unknown = re.search(r"No such (?:command|option):? '?([\w-]+)", said)
    if unknown and context is not None:
        known = {
            *getattr(context.command, "commands", {}),
            *(o for p in context.command.params for o in p.opts),
        }
        said = said.partition(" (")[0].partition(" Did")[0].rstrip(". ") + did_you_mean(
            unknown[1], sorted(known)
        )
    path = "linkwork" if context is None else context.command_path
    error_console().print("[red]error:[/red] ", end="")
    error_console().print(
        f"{said}{'' if said.endswith('?') else ';'} {path} --help tells more", markup=False
    )


def _interrupted() -> NoReturn:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    error_console().print("interrupted")
    sys.exit(INTERRUPTED)
