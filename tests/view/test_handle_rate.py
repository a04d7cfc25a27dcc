"""How often handles tell where they are: the page that is handed out says it, viser's file does
not."""

from __future__ import annotations

import logging
import urllib.request
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.view.handle_rate import INTERVAL, LOADED, with_quick_handles

viser = pytest.importorskip("viser")
PAGE = Path(viser.__file__).parent / "client" / "build" / "index.html"


def test_the_page_that_is_handed_out_shortens_the_interval_of_handles():
    before = PAGE.read_bytes()
    with (
        lw.view.Viewer(lw.load("four-bar"), port=0) as viewer,
        urllib.request.urlopen(viewer.address) as answer,
    ):
        html = answer.read().decode()
        assert int(answer.headers["Content-Length"]) == len(html.encode())
    assert html.count("TransformControlsMessage") == 1 and f'"$1 {INTERVAL})");' in html
    assert LOADED not in html
    assert PAGE.read_bytes() == before and LOADED in before.decode()


@pytest.mark.parametrize("times", [0, 2])
def test_a_page_that_loads_otherwise_stays_as_it_is(times, caplog):
    html = f"<html><head><title>Viser</title></head>{LOADED * times}</html>"
    with caplog.at_level(logging.DEBUG, logger="linkwork"):
        assert with_quick_handles(html) == html
    assert "viser's own rate" in caplog.text
