"""Figures of the papers: each is drawn, none is empty,
and where numbers are published the curve runs through them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from linkwork.errors import InvalidInput, UnknownName
from linkwork.reproduce import papers
from linkwork.reproduce.draw import papers_with_figures, redrawn, write_redrawn

FIGURES = [(number, figure) for number in papers_with_figures() for figure in redrawn(number)]


def test_every_paper_of_the_reproduce_room_has_figures():
    assert papers_with_figures() == sorted(papers())


@pytest.mark.parametrize(("number", "figure"), FIGURES, ids=lambda x: getattr(x, "name", x))
def test_a_figure_shows_something(number, figure):
    sheet = Figure(figsize=(4, 3))
    figure.draw_captioned(sheet)
    for axes in sheet.axes:
        # a robot with its shapes: it covers some part of the picture, in colours
        for image in axes.images:
            colors = np.asarray(image.get_array(), dtype=float)
            assert (np.ptp(colors, axis=-1) > 20).mean() > 0.01
        if axes.images:
            continue
        curves = [np.asarray(line.get_data(), dtype=float) for line in axes.get_lines()]
        assert curves or axes.collections
        assert all(np.isfinite(curve).all() for curve in curves)
        if axes.name != "3d":
            # not all of them are straight
            assert max(np.ptp(curve, axis=1).min() for curve in curves) > 0


@pytest.mark.parametrize("name", ["figure-12", "figure-13"])
def test_the_curve_runs_through_the_published_numbers(name):
    (figure,) = [f for f in redrawn("04") if f.name == name]
    sheet = Figure()
    figure.draw(sheet)
    for axes in sheet.axes:
        curve, circles = (line.get_data() for line in axes.get_lines())
        continuous = circles[0] != 2.5  # accelerations jump there
        ours = np.interp(circles[0], *curve)
        np.testing.assert_allclose(ours[continuous], np.array(circles[1])[continuous], atol=1e-3)


def test_files_are_written_in_both_formats(tmp_path):
    written = write_redrawn(["15"], tmp_path / "new")
    assert sorted(p.name for p in written) == [
        f"paper-15-figure-{k}.{form}" for k in (2, 3) for form in ("png", "svg")
    ]
    assert all(p.stat().st_size > 5000 for p in written)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(UnknownName, match='no figures of paper "99"'):
        redrawn("99")
    with pytest.raises(InvalidInput, match="formats is 'pdf', expected one of 'png', 'svg'"):
        write_redrawn(["15"], tmp_path, ["pdf"])
