"""The control bench: what it computes without a browser, and in one: typed gains, a dragged target,
curves, the map."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import linkwork as lw
from linkwork.control import closed_loop
from linkwork.errors import InvalidInput
from linkwork.simulation import ComputedTorque, Sampled, fixed
from linkwork.view.control_bench import CELLS, LAWS, Bench
from linkwork.view.control_pictures import CELL, UNSTABLE, map_picture
from tests.view.pages import CHROMIUM, ViewerPage, launched

START = np.array([0.4, 0.9])


@functools.cache
def arm():
    return lw.load("rehabilitation-arm", live=["l1"])


def bench(**options) -> Bench:
    made = Bench(arm(), **options)
    made.begin(START)
    return made


def test_a_response_is_the_simulation_of_its_law_and_new_numbers_compile_nothing():
    made = bench(mass=0.4)
    place = arm().pose(START, made.frame)[:3, 3]
    assert made.axes == ("x", "y")
    assert made.drag(place + [-0.05, 0.04, 0.3]) < 1e-5  # the height is none of a planar arm's
    seen = made.response()
    law = Sampled(ComputedTorque(200.0, 20.0, made.goal, arm()), 1e-3)
    load = lw.Payload(arm().bodies[-1], 0.4)
    alone = lw.simulate(
        arm(),
        START,
        duration=1.0,
        step=1e-3,
        sample=0.01,
        control=law,
        payload=load,
        energy_tolerance=np.inf,
    )
    np.testing.assert_allclose(seen.q, alone.q, rtol=1e-9)
    loop = closed_loop(arm(), law, made.goal, payload=load)
    assert seen.radius == pytest.approx(loop.radius, rel=1e-10)
    L = loop.loop_gain(0).frequency_response(seen.frequency)[:, 0, 0]
    np.testing.assert_allclose(seen.gain, L, rtol=1e-8)
    known = len(fixed.built(arm().subject))
    made.gains[made.law], made.period, made.mass, made.variables = (
        (900.0, 3.0),
        2e-3,
        0.1,
        {"l1": 0.4},
    )
    other = made.response()
    assert len(fixed.built(arm().subject)) == known
    assert other.figures["overshoot"][0] > seen.figures["overshoot"][0]


def test_the_map_is_the_radius_of_each_gain_set_and_unstable_sets_are_data():
    made = bench(delay=1)
    radii = made.map()
    first, second = (
        np.geomspace(g.low, g.high, n) for g, n in zip(LAWS[made.law].gains, CELLS, strict=True)
    )
    for i, j in ((3, 5), (15, 12)):
        law = Sampled(ComputedTorque(first[i], second[j], made.goal, arm()), 1e-3, 1e-3)
        assert radii[i, j] == pytest.approx(closed_loop(arm(), law, made.goal).radius, rel=1e-9)
    assert radii[3, 5] < 1 < radii[15, 12]
    made.goal = START + 0.1
    made.gains[made.law] = (first[15], second[12])
    assert "UNSTABLE" in made.response().words
    picture = map_picture(radii, 0.0, 1.0)
    assert picture.shape == (CELL * CELLS[1], CELL * CELLS[0], 3)
    assert (picture[: CELL // 4, -1] == UNSTABLE).all()  # large gains: top right
    assert not picture[CELL // 2, CELL // 2].any()  # the cross: smallest first, largest second gain
    with pytest.raises(InvalidInput, match="plain joints"):
        Bench(lw.load("planar-4r"))


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make browser installs it")
def test_in_a_browser_gains_target_and_variables_redraw_everything():
    pytest.importorskip("playwright")
    from playwright.sync_api import sync_playwright

    from linkwork.view import Viewer

    with Viewer(arm(), port=0) as viewer, sync_playwright() as playwright:
        viewer.show(START)
        viewer.look()
        chromium = launched(playwright)
        shown = ViewerPage(chromium, viewer, (1100, 640))
        shown.settle()
        panel = viewer.stands[0].panels["control"]
        shown.open("Control bench")
        shown.tick("robot in its loop")
        shown.until(lambda: panel.last is not None and panel._radii.size, "nothing was computed")
        shown.until(lambda: shown.page.locator(".uplot").count() == 4, "there are no four charts")
        # the arrow along x of the target is pulled by the mouse
        place, goal, size = (
            np.array(panel.gizmo.position),
            panel.bench.goal.copy(),
            panel.gizmo.scale,
        )
        (client,) = viewer.server.get_clients().values()
        client.camera.position, client.camera.look_at = (
            tuple(place + [0.3, -1.0, 0.9]),
            tuple(place),
        )
        shown.draw(20)

        def along_x(_):
            at = np.array(panel.gizmo.position)
            return shown.on_screen(at + [0.6 * size, 0.0, 0.0]), shown.on_screen(
                at + [0.6 * size - 0.1, 0.0, 0.0]
            )

        has_moved = lambda: np.abs(panel.bench.goal - goal).max() > 0.02
        shown.drag_until(along_x, has_moved, "the target did not follow the mouse")
        shown.until(lambda: panel.last.goal is panel.bench.goal, "no response to the new target")
        curve, map_before = panel.response.data[1].copy(), panel._radii.copy()
        over = float(panel.last.figures["overshoot"].max())
        shown.type_number("log10 kp", 3.5)
        shown.until(
            lambda: float(panel.last.figures["overshoot"].max()) > over + 0.05,
            "the gain changed nothing",
        )
        shown.until(
            lambda: not np.array_equal(curve, panel.response.data[1]), "the curve stays as it was"
        )
        shown.type_number("period", 8.0)
        shown.until(
            lambda: not np.array_equal(map_before, panel._radii),
            "the map did not follow the period",
        )
        shown.type_number("l1", 0.4)
        shown.until(
            lambda: panel.bench.variables["l1"] == 0.4,
            "the design variable did not follow its slider",
        )
        q = viewer.scene.q
        shown.until(
            lambda: not np.array_equal(viewer.scene.q, q), "the robot does not move in its loop"
        )
        shown.keep("control-bench")
        assert not shown.errors and not shown.outside
        shown.tick("robot in its loop")
        shown.until(lambda: shown.page.locator(".uplot").count() == 0, "the curves stay")
        chromium.close()
