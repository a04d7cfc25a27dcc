"""Every option of every command, given texts that no option expects: a sentence and an exit code,
never a trace.

One option a command here, drawn by its name; with LINKWORK_FUZZ (`make fuzz`) every option, each
with several texts.
"""

from __future__ import annotations

import functools
import os
import random
from typing import Any

import pytest
import typer

from linkwork.cli.application import BROKEN, app, load_commands
from tests.cli.runs import COMMANDS, shared_server, words

TEXTS = (
    "nan",
    "inf",
    "-1",
    "1e400",
    "",
    "x",
    "a" * 5000,
    "../..",
    "naïve\u202e",
    "0",
    "1e12",
    "[1, 2",
    "1 2 3",
    "{}",
)
EVERY = "LINKWORK_FUZZ" in os.environ
CODES = {0, 1, 2, 3, 4, 5}
"""Answered; and errors that are said in words (130, interrupted, is none of them)."""


@functools.cache
def commands() -> Any:
    load_commands()
    return typer.main.get_command(app)


def options_of(name: str) -> list[str]:
    """Options of a command that take a value, by their longest name."""
    command = commands()
    for word in name.split():
        command = command.commands[word]
    taken = [
        p for p in command.params if p.param_type_name == "option" and not p.is_flag and not p.count
    ]
    return [max(p.opts, key=len) for p in taken]


def asked(name: str) -> list[tuple[str, str]]:
    """(option, text) of the runs of a command."""
    generator = random.Random(name)
    options = options_of(name)
    if EVERY:
        return [(option, text) for option in options for text in generator.sample(TEXTS, 5)]
    return [(generator.choice(options), generator.choice(TEXTS))] if options else []


@pytest.fixture(scope="module")
def server():
    return shared_server()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_text_that_no_option_expects_is_answered_in_words(name, server, tmp_path):
    strange = []
    for option, text in asked(name):
        given = words(name)
        if option in given:
            at = given.index(option)
            given = [*given[:at], *given[at + 2 :]]
        done = server.run(*given, option, text, cwd=tmp_path)
        if done.returncode not in CODES or done.returncode == BROKEN or "Traceback" in done.stderr:
            strange.append(
                f"{option} {text[:20]!r}: exit {done.returncode}: {done.stderr.strip()[-300:]}"
            )
    assert not strange, "\n".join(strange)
