"""The page of synthesis in a real browser: a drag moves the drawn curve,
two picked dyads make a linkage that moves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.view.pages import CHROMIUM, ViewerPage, launched

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make browser installs it"),
]


WIDTH = 0.9
"""Of the picture behind the plane [m]: 90 x 60 pixels, blue above, red and green below."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    pytest.importorskip("playwright")
    import imageio.v3 as iio
    from playwright.sync_api import sync_playwright

    from linkwork.view.synthesis_page import SynthesisPage
    from tests.synthesis.examples import CRANK_ROCKER

    folder = tmp_path_factory.mktemp("page")
    colours = np.zeros((60, 90, 3), dtype=np.uint8)
    colours[:30], colours[30:], colours[30:, :45] = (30, 60, 250), (30, 220, 60), (220, 40, 30)
    iio.imwrite(folder / "behind.png", colours)
    name = str(folder / "hatch")
    page = SynthesisPage(
        CRANK_ROCKER[:4], name, port=0, picture=folder / "behind.png", picture_width=WIDTH
    )
    with sync_playwright() as playwright:
        chromium = launched(playwright)
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
    before = shown.sees(lambda picture: coloured(picture).sum() > 20, "no dyad was drawn")
    curve, place = page.curves.center.copy(), complex(page.task.positions[2])
    from linkwork.view.synthesis_page import HANDLE

    # the handle has arrows along x and y: the mouse takes one of them and pulls
    arm = HANDLE * page._scale * np.exp(1j * float(page.task.angles[2]))

    def along_the_arrow(turn):
        grip = place + (0.6, 0.8, 0.45, 0.95)[turn % 4] * arm
        x, y = shown.on_screen(np.array([grip.real, grip.imag, 0.0]))
        return (x, y), (x + 30, y + 12)

    has_moved = lambda: complex(page.task.positions[2]) != place
    shown.drag_until(along_the_arrow, has_moved, "the handle did not follow the mouse")
    assert not np.array_equal(curve, page.curves.center)
    shown.sees(
        lambda picture: (grey(picture) != grey(before)).sum() > 50, "the drawn curve did not move"
    )


def test_the_picture_behind_lies_to_scale(shown):
    """Its lower left corner at the origin, its width as told, its upper half above."""

    def colour(x, y):
        """The middle one of some pixels: a thin line may cross the place."""
        row, column = shown.projected(np.array([x, y, 0.0]))
        return np.median(
            shown.picture()[row - 6 : row + 7, column - 6 : column + 7].reshape(-1, 3), axis=0
        )

    shown.until(lambda: np.ptp(colour(0.6 * WIDTH, 0.1)) > 0.3, "no picture is behind the plane")
    high = WIDTH * 60 / 90
    for x, y, strongest in ((0.4, 0.7, 2), (0.9, 0.2, 1), (0.2, 0.2, 0)):
        here = colour(x * WIDTH, y * high)
        assert here.argmax() == strongest and np.ptp(here) > 0.3, (x, y, here)
    for x, y in ((1.1 * WIDTH, 0.1), (-0.1 * WIDTH, 0.1), (0.5 * WIDTH, 0.75 * WIDTH)):
        outside = colour(x, y)
        assert np.ptp(outside) < 0.15, (x, y, outside)


def test_clicks_on_the_curve_pick_dyads_that_make_a_linkage(shown):
    """A person clicks on the drawn curve at two places: the linkage has its pivots there,
    and it moves."""
    page = shown.viewer
    free = clear_places(shown, page)
    for n, k in enumerate(free):
        z = complex(page.curves.center[k])
        shown.page.mouse.click(*shown.on_screen(np.array([z.real, z.imag, 0.0])))
        shown.until(lambda n=n: len(page.picks) > n, "the click on the curve picked nothing")
        ground = page.picks[-1][0]
        near_moving = np.abs(page.picks[-1][1] - z)
        assert min(abs(ground - z), near_moving) < 0.06 * page._scale  # some pixels
    shown.until(lambda: page.linkage is not None, "two picked dyads made no linkage")
    A, D = (complex(page.linkage.at(name)) for name in "AD")
    assert [A, D] == [ground for ground, _ in page.picks]
    pink = lambda picture: (
        (picture[..., 0] > picture[..., 1] + 0.3) & (picture[..., 2] > picture[..., 1] + 0.1)
    )
    shown.sees(lambda picture: pink(picture).sum() > 30, "the picked dyads are not shown")
    first = shown.sees(lambda picture: coloured(picture).sum() > 300, "the linkage was not drawn")
    shown.sees(
        lambda picture: (coloured(picture) != coloured(first)).sum() > 300,
        "the linkage does not move",
    )
    shown.keep("synthesis_page")


def clear_places(shown, page):
    """Two samples of the centre curve on the screen, away from handles, labels and the edge."""
    z = page.curves.center
    box = shown._canvas()
    usable = np.flatnonzero(page.curves.valid)
    far = np.abs(z[usable, None] - page.task.positions).min(axis=-1) > 0.5 * page._scale
    inside = []
    for k in usable[far]:
        x, y = shown.on_screen(np.array([z[k].real, z[k].imag, 0.0]))
        inside.append(
            box["x"] + 40 < x < box["x"] + 0.6 * box["width"]
            and box["y"] + 40 < y < box["height"] - 40
        )
    rows = usable[far][np.array(inside)]
    assert len(rows) > 20
    return rows[[len(rows) // 5, 4 * len(rows) // 5]]


def test_rows_of_the_ranked_table_choose_a_linkage(shown):
    page = shown.viewer
    angles = np.where(page.verdicts["good"], page.verdicts["transmission_min"], -1.0)
    assert (np.diff(angles) <= 0).all()  # without defect first, then by transmission
    label = page.rows[1].label
    shown.page.get_by_role("button", name=label, exact=True).click()
    shown.until(lambda: page.linkage is page.known[1], "the row chose no linkage")
    assert str(page.verdicts["kind"][1]) in label and str(page.verdict.kind) == str(
        page.verdicts["kind"][1]
    )


def test_two_dyads_by_number_make_a_linkage_that_is_plotted(shown):
    page = shown.viewer
    shown.choose("first dyad", "3")
    shown.choose("second dyad", "9")
    shown.until(lambda: len(page.picks) == 2, "no linkage was made")
    assert abs(complex(page.linkage.at("A")) - complex(page.dyads.ground[2])) < 1e-12
    # what is plotted: the transmission angle over the circuit, and torques without gaps
    angle, torque = page.transmission_plot.data[1], page.torque_plot.data[1]
    assert len(angle) == len(torque) > 50 and np.isfinite(torque).all()
    assert 0 <= angle.min() <= np.degrees(float(page.verdict.transmission_cycle)) + 0.5
    shown.until(lambda: shown.page.locator(".uplot").count() >= 2, "there are no two charts")


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
