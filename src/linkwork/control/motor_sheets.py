"""Motor sheets: motors by name from data sheets in YAML, linkwork's own or a file's."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from linkwork.control.motors import PMSM, DCMotor
from linkwork.errors import InvalidFile, UnknownName, did_you_mean

KINDS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {
    "pmsm": (
        PMSM,
        ("flux", "pole_pairs", "resistance", "inductance_d", "inductance_q", "inertia"),
        (),
    ),
    "dc": (
        DCMotor,
        ("torque_constant", "resistance", "inductance", "inertia"),
        ("back_emf", "peak_current"),
    ),
}
"""kind -> (class, numbers that are needed, numbers that may be there)."""


def motors(path: str | Path | None = None) -> tuple[str, ...]:
    """Names of the motors of a file, or of linkwork's own."""
    return tuple(_sheets(Path(__file__).with_name("motors.yaml") if path is None else Path(path)))


def motor(name: str, path: str | Path | None = None) -> PMSM | DCMotor:
    """A motor by its name: from a YAML file of data sheets, or from linkwork's own.

    An entry has `kind` (pmsm or dc), `source`, and its numbers in SI units; an unknown key is
    refused.
    """
    place = Path(__file__).with_name("motors.yaml") if path is None else Path(path)
    sheets = _sheets(place)
    if name not in sheets:
        raise UnknownName(
            f'there is no motor "{name}" in {place.name}{did_you_mean(str(name), sheets)}'
        )
    return _made(sheets[name], f"{place.name}: {name}")


@cache
def _sheets(place: Path) -> dict[str, Any]:
    try:
        sheets = yaml.safe_load(place.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidFile(f"{place}: {error}") from None
    if not isinstance(sheets, dict) or not all(
        isinstance(sheet, dict) for sheet in sheets.values()
    ):
        raise InvalidFile(f"{place}: expected a mapping of motors, each a mapping of its numbers")
    return {str(name): sheet for name, sheet in sheets.items()}


def _made(sheet: dict[str, Any], who: str) -> PMSM | DCMotor:
    if sheet.get("kind") not in KINDS:
        raise InvalidFile(
            f"{who}: kind is {sheet.get('kind')!r}, expected one of {', '.join(KINDS)}"
        )
    kind, needed, possible = KINDS[sheet["kind"]]
    if not str(sheet.get("source", "")).strip():
        raise InvalidFile(f"{who}: source is missing, expected where its numbers stand")
    known = (*needed, *possible)
    for key in sheet:
        if key not in (*known, "kind", "source"):
            raise InvalidFile(f'{who}: there is no "{key}"{did_you_mean(str(key), known)}')
    for key in needed:
        if key not in sheet:
            raise InvalidFile(f"{who}: {key} is missing")
    return kind(**{key: sheet[key] for key in known if key in sheet})
