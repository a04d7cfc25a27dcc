"""Charts: one description, drawn by the page's script and by matplotlib."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import sync_playwright

from linkwork.view.chart import POINTS, Chart, charts_html
from linkwork.view.report_page import page_html
from tests.view.pages import HUNG, launched


def test_numbers_of_a_chart_are_few_and_finite():
    x = np.linspace(0.0, 1.0, 5001)
    chart = Chart("a <b>", "N", {"one": np.sin(x), "two": np.where(x > 0.5, np.nan, 1.0)}, x)
    data = chart.data()
    assert len(data["x"]) == POINTS and data["x"][0] == 0.0 and data["x"][-1] == 1.0
    assert None in data["series"][1]["values"] and "a &lt;b&gt;" in chart.html()
    few = chart.data(np.array([0, 5000]))
    np.testing.assert_allclose(few["series"][0]["values"], [0.0, np.sin(1.0)], rtol=1e-6)


def test_a_page_draws_charts_inside_their_box(tmp_path):
    """Own x, values that are missing, a mark and a line at zero: everything stays between the
    axes."""
    x = np.linspace(2.0, 3.0, 50)
    y = np.where(np.arange(50) % 7 == 0, np.nan, x**2)
    chart = Chart("squares", "m", {"y": y, "z": -y / 3}, x, "share", mark=(2.5, 6.25), zero=True)
    page = tmp_path / "page.html"
    page.write_text(
        page_html(
            "charts", charts_html("Curves", [chart, Chart("flat", "m", {"f": np.zeros(50)}, x)])
        )
    )
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = launched(playwright)
        try:
            tab = browser.new_context(offline=True).new_page()
            tab.set_default_timeout(1000 * HUNG)
            tab.on("pageerror", lambda error: said.append(str(error)))
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready=yes]")
            lines = tab.eval_on_selector_all(
                "polyline", "all => all.map(e => e.getAttribute('points'))"
            )
            mark = tab.eval_on_selector("circle", "e => [e.cx.baseVal.value, e.cy.baseVal.value]")
            words = tab.inner_text("figure")
        finally:
            browser.close()
    assert said == [] and len(lines) == 3 and "share" in words and "[m]" in words
    points = [np.array([pair.split(",") for pair in line.split()], dtype=float) for line in lines]
    assert [len(line) for line in points] == [np.isfinite(y).sum()] * 2 + [50]
    for line in points:
        # between the axes: 58 left, 12 right of 560
        assert (line[:, 0] >= 58.0).all() and (line[:, 0] <= 548.0).all()
        # 10 above, 34 below of 250
        assert (line[:, 1] >= 10.0).all() and (line[:, 1] <= 216.0).all()
    near = np.abs(points[0][:, 0] - mark[0]).argmin()
    assert abs(points[0][near, 1] - mark[1]) < 5.0
