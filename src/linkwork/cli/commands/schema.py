"""linkwork schema: the JSON schema of .robot.yaml, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.answer import Answer
from linkwork.formats.files import write_atomically


def schema(
    target: Annotated[
        Path | None, typer.Argument(help="The file to write; without it the schema is printed.")
    ] = None,
) -> Answer:
    """Export the JSON schema of .robot.yaml, so that an editor completes and checks what one types.

    Example:  linkwork schema robot.schema.json

    and as the first line of a robot:  # yaml-language-server: $schema=robot.schema.json
    """
    from linkwork.formats.robot_yaml import json_schema

    schema = json_schema()
    text = json.dumps(schema, indent=1)
    if target is None:
        return Answer(schema, [text])
    write_atomically(target, text + "\n")
    return Answer({}, wrote=[target])
