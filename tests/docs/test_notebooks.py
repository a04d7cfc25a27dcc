"""Notebooks run without a display, and what they show inline opens in a real browser without a
network."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.code_blocks import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
FRAME = re.compile(r'<iframe[^>]* srcdoc="([^"]*)"')


def outputs(notebook) -> list[dict]:
    return [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]


def executed(path: Path, folder: Path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=3600, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    return executed(ROOT / "examples" / "arm.ipynb", tmp_path_factory.mktemp("notebook"))


def test_there_are_three():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_kept_without_what_it_printed(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert outputs(notebook) == []
    assert all(cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p.stem != "arm"], ids=lambda p: p.stem)
def test_a_notebook_runs(path, tmp_path):
    shown = outputs(executed(path, tmp_path))
    assert not [o for o in shown if o.output_type == "error"]
    assert any("image/png" in o.get("data", {}) for o in shown)


def test_robot_and_results_are_tables_with_pictures(arm):
    pages = [o.data["text/html"] for o in outputs(arm) if "text/html" in o.get("data", {})]
    assert "<img" in pages[0] and "shoulder_pan_joint" in pages[0]
    assert any("<table" in page and "Solutions" in page for page in pages)
    assert sum(bool(FRAME.search(page)) for page in pages) == 2
    assert all(len(page) < 5_000_000 for page in pages)


@pytest.mark.browser
@pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium; `make browser` installs one"
)
def test_the_inline_view_opens_in_a_browser_and_plays(arm, tmp_path):
    import matplotlib.image
    import numpy as np
    from playwright.sync_api import sync_playwright

    from tests.view.pages import A_FRAME, ARTEFACTS, FRAMES, HUNG, launched

    pages = [o.data["text/html"] for o in outputs(arm) if "text/html" in o.get("data", {})]
    frames = [page for page in pages if FRAME.search(page)]
    body = "".join(f"<div>{page}</div>" for page in frames)
    (tmp_path / "notebook.html").write_text(
        f"<!doctype html><meta charset='utf-8'><body>{body}</body>", "utf-8"
    )
    assert "Viser" not in html.unescape(FRAME.search(frames[0])[1]).split("<title>")[1][:20]
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = launched(playwright)
        try:
            tab = browser.new_context(
                offline=True, viewport={"width": 900, "height": 980}
            ).new_page()
            tab.set_default_timeout(1000 * HUNG)
            tab.on("request", lambda request: asked.append(request.url))
            tab.goto((tmp_path / "notebook.html").as_uri())
            for k in range(2):
                tab.frame_locator("iframe").nth(k).locator("canvas").first.wait_for(state="visible")
            slider = tab.frame_locator("iframe").nth(1).locator("[role=slider]")
            slider.wait_for(state="attached")
            first = float(slider.get_attribute("aria-valuenow"))
            while float(slider.get_attribute("aria-valuenow")) == first:  # it plays by itself
                tab.wait_for_timeout(100)
            # what plays draws without a pause, by software:
            # no picture is taken beside it on a busy machine
            tab.evaluate("document.querySelectorAll('iframe')[1].remove()")
            ARTEFACTS.mkdir(parents=True, exist_ok=True)
            picture = ARTEFACTS / "notebook.png"
            drawn = 0
            # meshes come one after the other, on a busy machine slowly
            for _ in range(FRAMES // 4):
                tab.screenshot(path=picture, timeout=1000 * HUNG)
                pixels = matplotlib.image.imread(picture)[..., :3]
                # grid and page are grey, the arm is not
                drawn = int((pixels[:460].std(axis=-1) > 0.08).sum())
                if drawn > 4_000:
                    break
                tab.wait_for_function(A_FRAME)
        finally:
            browser.close()
    assert drawn > 4_000
    assert [
        address
        for address in asked
        if not address.startswith(("data:", "blob:", "file:", "about:"))
    ] == []
    assert np.isfinite(pixels).all()
