"""Pictures without a browser, and what notebooks show."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.view import Inline, Viewer, as_html


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("L"), dtype=float)


@pytest.mark.parametrize("name", ["ur5e", "delta", "charmie"])
def test_a_picture_shows_the_robot_and_moves_with_it(name, tmp_path):
    robot = lw.load(name)
    first = pixels(robot.picture(path=tmp_path / "robot.png"))
    assert (tmp_path / "robot.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    drawn = first < 200
    assert 0.002 < drawn.mean() < 0.5
    rows, columns = np.nonzero(drawn)
    assert np.ptp(rows) > 0.2 * len(first) or np.ptp(columns) > 0.2 * len(first)
    moved = robot.assemble(robot.random(seed=3)).q if robot.model.elements else robot.random(seed=3)
    assert np.abs(pixels(robot.picture(moved)) - first).max() > 100


def test_a_notebook_gets_a_table_and_a_picture():
    html = lw.load("ur5e")._repr_html_()
    assert "data:image/png;base64," in html
    assert "shoulder_pan" in html


def test_the_inline_view_stands_by_itself():
    with Viewer(lw.load("ur5e"), port=0) as viewer:
        page = Inline(as_html(viewer))
    assert page.html.lstrip().lower().startswith("<!doctype html")
    assert page._repr_html_().startswith("<iframe src='data:text/html;base64,")
    assert "MB of HTML" in repr(page)


def test_a_wrong_configuration_is_refused():
    with pytest.raises(InvalidInput, match=r"picture: q has shape \(3,\)"):
        lw.load("ur5e").picture([0, 0, 0])
