"""The page of synthesis in a real browser: a drag moves the drawn curve, two picked dyads make a linkage that moves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.view.pages import CHROMIUM, FLAGS, ViewerPage

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make browser installs it"),
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    pytest.importorskip("playwright")
    from playwright.sync_api import sync_playwright

    from linkwork.view.synthesis_page import SynthesisPage
    from tests.synthesis.examples import CRANK_ROCKER

    page = SynthesisPage(CRANK_ROCKER, str(tmp_path_factory.mktemp("page") / "hatch"), port=0)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        seen = ViewerPage(chromium, page)
        seen.settle()
        seen.sees(lambda picture: grey(picture).sum() > 100, "no curve was drawn")
        yield seen
        chromium.close()
    page.close()


def grey(picture):
    """Pixels of the centre-point curve: dark and without colour."""
    return (picture.max(axis=-1) < 0.6) & (picture.max(axis=-1) - picture.min(axis=-1) < 0.05)


def coloured(picture):
    """Pixels of dyads, bodies and handles."""
    return picture.max(axis=-1) - picture.min(axis=-1) > 0.12


def test_dragging_a_position_moves_the_drawn_curve(shown):
    page = shown.viewer
    shown.dismiss()
    before = shown.sees(lambda picture: coloured(picture).sum() > 20, "no dyad was drawn")
    curve, place = page.curves.center.copy(), complex(page.task.positions[2])
    from linkwork.view.synthesis_page import HANDLE

    # the handle has arrows along x and y: the mouse takes one of them and pulls
    arm = HANDLE * page._scale * np.exp(1j * float(page.task.angles[2]))
    for reach in (0.6, 0.8, 0.45, 0.95):
        x, y = shown.on_screen(np.array([(place + reach * arm).real, (place + reach * arm).imag, 0.0]))
        shown.page.mouse.move(x, y)
        shown.wait(0.3)
        shown.page.mouse.down()
        for k in range(1, 7):
            shown.page.mouse.move(x + 5 * k, y + 2 * k)
            shown.wait(0.05)
        shown.page.mouse.up()
        if shown.holds_within(lambda: complex(page.task.positions[2]) != place, 40):
            break
    assert complex(page.task.positions[2]) != place, "the handle did not follow the mouse"
    assert not np.array_equal(curve, page.curves.center)
    shown.sees(lambda picture: (grey(picture) != grey(before)).sum() > 50, "the drawn curve did not move")


def test_two_picked_dyads_make_a_linkage_that_moves(shown, monkeypatch):
    page = shown.viewer
    shown.choose("first dyad", "1")
    shown.choose("second dyad", "2")
    shown.until(lambda: page.linkage is not None, "no linkage was made")
    assert abs(complex(page.linkage.at("A")) - complex(page.dyads.ground[0])) < 1e-12
    first = shown.sees(lambda picture: coloured(picture).sum() > 300, "the linkage was not drawn")
    shown.sees(lambda picture: (coloured(picture) != coloured(first)).sum() > 300, "the linkage does not move")
    # what is plotted: the transmission angle over the circuit, and torques without gaps
    angle, torque = page.transmission_plot.data[1], page.torque_plot.data[1]
    assert len(angle) == len(torque) > 50 and np.isfinite(torque).all()
    assert 0 <= angle.min() <= np.degrees(float(page.verdict.transmission_min)) + 0.5
    assert shown.page.locator(".uplot").count() >= 2


def test_the_saved_drawing_reopens_with_its_holes(shown):
    ezdxf = pytest.importorskip("ezdxf")
    page = shown.viewer
    with page.lock:
        page.pick(1, 2)
        linkage = page.linkage
    button = shown.page.get_by_role("button", name=".dxf")
    button.click()
    shown.until(lambda: "wrote" in page.report.content, "nothing was written")
    drawing = ezdxf.readfile(f"{page.name}.dxf")
    circles = drawing.modelspace().query("CIRCLE")
    holes = [complex(c.dxf.center.x, c.dxf.center.y) for c in circles if c.dxf.layer == "crank"]
    for point in "AB":  # millimetres
        assert min(abs(hole - 1000 * complex(linkage.at(point))) for hole in holes) < 1e-6
    assert not shown.errors and not shown.outside
