"""mkdocs beside its plugins: the page of references from docs/references.bib,
links to it from every key, pictures."""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any

BIBLIOGRAPHY = Path(__file__).parent.parent / "docs" / "references.bib"
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\]")
PICTURE = re.compile(r'<img src="(?!\w+:)([^"]+)"')
"""A picture with a size of its own: mkdocs follows the links of Markdown alone,
and moves a page into a folder."""
CODE = re.compile(r"(<pre.*?</pre>|<code.*?</code>)", re.S)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up, folder = "../" * page.url.count("/"), posixpath.dirname(page.file.src_uri)
    moved = lambda tag: f'<img src="{up}{posixpath.normpath(posixpath.join(folder, tag[1]))}"'
    markdown = PICTURE.sub(moved, markdown)
    return markdown.replace("<!-- references -->", listed(BIBLIOGRAPHY.read_text("utf-8")))


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """[Featherstone2008] becomes a link, except in code and on the page of references itself."""
    if page.file.src_uri == "references.md":
        return content
    up = "../" * page.url.count("/")
    linked = rf'<a href="{up}references/#\1">[\1]</a>'
    parts = CODE.split(content)
    return "".join(part if k % 2 else KEY.sub(linked, part) for k, part in enumerate(parts))


def listed(bibliography: str) -> str:
    """One paragraph an entry, in the order of their keys."""
    found = {}
    for key, body in re.findall(r"^@\w+\{([^,\s]+),\n(.*?)^\}", bibliography, re.M | re.S):
        fields = dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", body, re.M | re.S))
        found[key] = {
            name: re.sub(r"\s+", " ", re.sub(r"[{}\\]", "", text)) for name, text in fields.items()
        }
    return "\n\n".join(_entry(key, fields) for key, fields in sorted(found.items()))


def _entry(key: str, fields: dict[str, str]) -> str:
    names = [
        name.strip() for name in fields.get("author", fields.get("organization", "")).split(" and ")
    ]
    where = (
        fields.get("journal")
        or fields.get("booktitle")
        or fields.get("publisher")
        or fields.get("howpublished", "")
    )
    volume = fields.get("volume", "") + (f"({fields['number']})" if "number" in fields else "")
    pages = fields.get("pages", "").replace("--", "-")
    said = [
        f"*{html.escape(fields['title'])}*",
        " ".join(filter(None, (html.escape(where), volume))),
        pages,
    ]
    words = ", ".join(filter(None, [*said, fields.get("year", "")]))
    link = f" [doi:{fields['doi']}](https://doi.org/{fields['doi']})" if "doi" in fields else ""
    return (
        f'<a id="{key}"></a>**[{key}]** {html.escape("; ".join(filter(None, names)))}: '
        f"{words}.{link}"
    )
