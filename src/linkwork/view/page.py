"""Page: viser's page as ours: its title, number boxes wide enough for what they hold,
handles that tell often enough where they are.

A page that a later viser writes otherwise stays as it is.
"""

from __future__ import annotations

import gzip
from typing import Any

from linkwork.view.handle_rate import with_quick_handles

TITLE = "linkwork"
STYLE = """<style>
.mantine-InputWrapper-root[style*="width: 3rem"] { width: 4.7rem !important; flex-shrink: 0; }
</style>"""


def dressed(html: str, title: str = TITLE) -> str:
    """A page of viser with our title and style."""
    named = html.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    return named.replace("</head>", f"{STYLE}</head>", 1)


def dressed_response(response: Any) -> Any:
    """The answer to a browser that asks for the page, dressed; every other answer as it is."""
    headers = response.headers
    if response.status_code != 200 or not headers.get("Content-Type", "").startswith("text/html"):
        return response
    packed = headers.get("Content-Encoding") == "gzip"
    html = (gzip.decompress(response.body) if packed else response.body).decode("utf-8")
    body = with_quick_handles(dressed(html)).encode("utf-8")
    response.body = gzip.compress(body, 1) if packed else body
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(response.body))
    return response
