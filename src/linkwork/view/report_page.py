"""The page of a report: style, scripts and numbers in one file that opens without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any


def page_html(title: str, body: str, data: Mapping[str, Any] | None = None) -> str:
    """The body with its charts alive; `data` is what the 3-D view and the tree need."""
    here = files("linkwork.view")
    names = ("report.css", "report_parquet.js", "report.js")
    css, *scripts = (here.joinpath(name).read_text("utf-8") for name in names)
    # "</" would end the script element, whatever stands in a name
    numbers = json.dumps(data or {}, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" '
        'href="data:,">'
        f"<title>{escape(title)}</title><style>{css}</style></head>\n<body><main>{body}</main>\n"
        '<script type="application/json" '
        f'id="data">{numbers}</script>\n<script>{"".join(scripts)}</script>'
        "</body></html>\n"
    )
