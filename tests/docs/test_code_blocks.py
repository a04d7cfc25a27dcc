"""Every code block of README and docs does what it shows."""

from __future__ import annotations

import pytest

from tests.docs.code_blocks import PAGES, ROOT, blocks, pictures, run


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_blocks_run(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch)
    if page.parent.name == "jobs":
        for name in pictures(page):
            assert (tmp_path / name).read_bytes().startswith(b"\x89PNG"), (
                f"{page.name} shows {name} and does not draw it"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_stands_in_fences(page):
    """An indented block would not be run."""
    inside, before = False, ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        if line.startswith("```"):
            inside = not inside
        assert inside or not (line.startswith("    ") and not before.strip()), (
            f"{page.name}:{number}: indented code"
        )
        before = line


def test_a_failing_block_is_noticed(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("```python\nassert 1 == 2\n```\n")
    assert [b.language for b in blocks(page)] == ["python"]
    with pytest.raises(AssertionError):
        run(page, tmp_path, monkeypatch)
