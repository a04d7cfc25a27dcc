"""The page of references has every entry, and keys on pages lead to it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parent.parent.parent
_spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "tools" / "docs_hooks.py")
docs_hooks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(docs_hooks)


def page(uri: str, url: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=uri), url=url)


def test_every_entry_is_listed_with_title_and_year():
    text = (ROOT / "docs" / "references.bib").read_text("utf-8")
    keys = re.findall(r"^@\w+\{([^,\s]+),", text, re.M)
    shown = docs_hooks.listed(text)
    assert keys and all(f'<a id="{key}"></a>**[{key}]**' in shown for key in keys)
    for key, line in zip(sorted(keys), shown.split("\n\n"), strict=True):
        assert key in line and re.search(r"\*.+\*.*(19|20)\d\d\.", line), line
        assert "{" not in line and "\\" not in line


def test_keys_become_links_except_in_code():
    content = "<p>See [Luh1980].</p><pre>[Luh1980]</pre>"
    assert docs_hooks.on_page_content(content, page("how-to/dynamics.md", "how-to/dynamics/")) == (
        '<p>See <a href="../../references/#Luh1980">[Luh1980]</a>.</p><pre>[Luh1980]</pre>'
    )
    assert docs_hooks.on_page_content(content, page("references.md", "references/")) == content


def test_pictures_of_a_size_are_found_from_the_folder_of_their_page():
    job = page("jobs/payload.md", "jobs/payload/")
    shown = docs_hooks.on_page_markdown('<img src="../images/payload.png" width="620">', job)
    assert shown == '<img src="../../images/payload.png" width="620">'
    first = docs_hooks.on_page_markdown('<img src="images/charmie.png">', page("index.md", ""))
    assert first == '<img src="images/charmie.png">'
    elsewhere = '<img src="https://example.org/x.png">'
    assert docs_hooks.on_page_markdown(elsewhere, job) == elsewhere
