"""linkwork schema: the JSON schema of .robot.yaml, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.arguments import Json
from linkwork.cli.output import console, print_json
from linkwork.formats.files import write_atomically


def schema(
    target: Annotated[Path | None, typer.Argument(help="The file to write; without it the schema is printed.")] = None,
    as_json: Json = False,
) -> None:
    """Export the JSON schema of .robot.yaml, so that an editor completes and checks what one types.

    Example:  linkwork schema robot.schema.json

    and as the first line of a robot:  # yaml-language-server: $schema=robot.schema.json
    """
    from linkwork.formats.robot_yaml import json_schema

    if target is None:
        print_json(json_schema())
        return
    write_atomically(target, json.dumps(json_schema(), indent=1) + "\n")
    if as_json:
        print_json({"wrote": target})
    else:
        console().print(f"wrote {target}", markup=False)
