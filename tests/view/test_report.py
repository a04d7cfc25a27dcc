"""The report: its numbers are the library's, it needs no network,
and nothing in it can break the page."""

from __future__ import annotations

import csv
import json
import re
import shutil
from html import escape, unescape
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.view.power import power_balance
from linkwork.view.report import report_html, write_report
from linkwork.view.report_charts import chart_groups
from linkwork.view.report_figures import write_figures
from linkwork.view.segments import segments
from tests.cli.runs import LEVER
from tests.view.pages import HUNG, launched

STEPS = 101
FIRST = ".charts figure[data-chart]"
"""The first chart of the page."""
SAVED = {
    FIRST: ("SVG", "PNG", "CSV", "Parquet"),
    "#scene-figure": ("PNG", "Parquet"),
    "#tree-figure": ("SVG", "CSV", "Parquet"),
}
"""Figure -> buttons that are pressed; chromium saves no more than ten files in a row from one
page."""


@pytest.fixture(scope="module")
def robot():
    return lw.load("charmie").with_variables(torso_spring=800.0, balance_spring=500.0)


@pytest.fixture(scope="module")
def analysis(robot):
    return robot.analyse("validation", steps=STEPS)


@pytest.fixture(scope="module")
def page(robot, analysis):
    return report_html(robot, analysis, "CHARMIE <b>& co</b>")


def test_power_of_actuators_and_springs_is_what_the_bodies_take(robot, analysis):
    balance = power_balance(robot, analysis)
    assert balance.relative < 1e-12  # sums of some hundred products
    assert np.abs(balance.springs).max() > 1.0
    wrong = np.abs(balance.actuators - balance.springs - balance.bodies).max()
    assert wrong > 1.0  # the sign of the springs matters here


def test_energy_follows_the_power(robot, analysis):
    """The integral of the bodies' power is the change of energy:
    Simpson's rule on 100 smooth intervals."""
    from scipy.integrate import simpson

    kinetic, potential = robot.energy(analysis.q, analysis.v)
    power = power_balance(robot, analysis).bodies
    half = STEPS // 2  # accelerations jump in the middle
    moved = simpson(power[: half + 1], x=analysis.time[: half + 1])
    change = (kinetic + potential)[half] - (kinetic + potential)[0]
    # the last sample already belongs to what follows the jump: its weight is h/3
    jump = abs(power[half] - power[half - 1]) * (analysis.time[1] - analysis.time[0])
    assert abs(moved - change) < max(jump, 1e-3 * abs(change))


def test_numbers_are_the_librarys(page, robot, analysis):
    described = [json.loads(unescape(x)) for x in re.findall(r'data-chart="(.*?)"', page)]
    charts = {c["title"]: {s["name"]: s["values"] for s in c["series"]} for c in described}
    forces = charts["forces of linear actuators"]["act5"]
    # written with seven digits
    np.testing.assert_allclose(forces, analysis["actuator.act5"], rtol=1e-6)
    np.testing.assert_allclose(
        charts["joint coordinates"]["th5"], analysis["q.th5"], rtol=1e-6, atol=1e-9
    )
    moments = np.linalg.norm(analysis.loads.joint_wrench("5")[:, 3:], axis=1)
    np.testing.assert_allclose(charts["moment of each joint"]["5"], moments, rtol=1e-6)
    peak = re.search(r'<td>act5</td><td>N</td><td class="number" data-value="([^"]+)"', page)[1]
    assert float(peak) == np.abs(analysis["actuator.act5"]).max()


def test_names_cannot_break_the_page(page):
    assert "CHARMIE &lt;b&gt;&amp; co&lt;/b&gt;" in page
    assert page.count("</script>") == 2  # the recording is an attribute, escaped


def test_notes_of_the_description_are_listed(page, robot):
    assert all(escape(note) in page for note in robot.model.notes)


def test_a_robot_without_masses_has_a_report():
    assert "unknown" in report_html(lw.load("crx-10ial"))


@pytest.mark.parametrize("name", ["charmie", "forrest", "scara-arm"])
def test_a_robot_with_loops_has_a_report_without_a_motion(name):
    assert "<figure data-chart=" not in report_html(lw.load(name))


def test_a_zero_has_no_sign(tmp_path):
    """What is mirrored has a centre of mass at -0."""
    body = "{b: {mass: 1, com: [0.1, 0, 0], inertia: [1, 1, 1]}}"
    joint = "{j: {type: revolute, child: b, axis: z}}"
    chains = (
        f"chains: {{c: {{bodies: {body}, joints: {joint}}}}}\nplaced: {{p: {{chain: c, "
        f"mirror: y}}}}\n"
    )
    (tmp_path / "a.robot.yaml").write_text(f"linkwork: 1\nname: a\n{chains}")
    page = report_html(lw.load(tmp_path / "a.robot.yaml"))
    assert 'data-value="-0.0"' in page and ">-0<" not in page


def test_nothing_is_written_where_there_is_no_folder(tmp_path):
    with pytest.raises(NotPossible, match="does not exist"):
        write_report(lw.load("arm-2"), tmp_path / "none" / "x.html")


@pytest.mark.browser
@pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium; `make browser` installs one"
)
def test_the_page_opens_offline_without_a_complaint(page, robot, analysis, tmp_path):
    from playwright.sync_api import sync_playwright

    (tmp_path / "report.html").write_text(page, "utf-8")
    said: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = launched(playwright)
        try:
            context = browser.new_context(offline=True, viewport={"width": 1280, "height": 860})
            tab = context.new_page()
            tab.set_default_timeout(1000 * HUNG)
            tab.on(
                "console",
                lambda message: said.append(message.text) if message.type == "error" else None,
            )
            tab.on("pageerror", lambda error: said.append(str(error)))
            tab.on("request", lambda request: asked.append(request.url))
            tab.goto((tmp_path / "report.html").as_uri())
            tab.wait_for_selector("html[data-ready=yes]")
            tab.frame_locator("#scene").locator("canvas").first.wait_for(state="visible")
            tab.wait_for_function(
                "Number(document.getElementById('scene-figure').dataset.time) > 0"
            )
            tab.wait_for_function(
                "document.querySelector('.charts line[stroke-dasharray]').getAttribute('x1') > 58"
            )
            tab.screenshot(path=_artefact("report-top.png"))
            # three dimensions without a graphics card are slow
            tab.evaluate("document.getElementById('scene').remove()")
            off = tab.eval_on_selector_all("figure", "all => "
                                                     "all.map(f => "
                                                     "[f.querySelectorAll('polyline').length, "
                                           "f.querySelectorAll('.legend "
                                           "label').length])")  # fmt: skip
            curves = tab.eval_on_selector_all("polyline", "found => found.map(e => e.dataset.name)")
            shown = tab.inner_text("#actuators tr:has-text('act5') td:nth-child(3)")
            saved = {
                figure: _saved(tab, figure, kinds, tmp_path) for figure, kinds in SAVED.items()
            }
            tab.screenshot(path=_artefact("report.png"), full_page=True)
        finally:
            browser.close()
    own = ("blob:", "data:", "about:")  # what is saved or drawn is made in the page
    fetched = [address for address in asked if not address.startswith(own)]
    assert said == [] and fetched == [(tmp_path / "report.html").as_uri()]
    # the others by choice
    assert max(shown for shown, _ in off) == 8 and max(named for _, named in off) > 8
    assert {"act4", "act5", "kinetic"} <= set(curves)
    assert shown == f"{np.abs(analysis['actuator.act5']).max():.6g}"
    for files in saved.values():
        assert "SVG" not in files or files["SVG"].read_text("utf-8").startswith("<svg")
        assert "PNG" not in files or files["PNG"].read_bytes().startswith(b"\x89PNG")
    _check_tables(saved[FIRST], {"time": analysis.time, "act5": analysis["actuator.act5"]})
    _check_tables(saved["#tree-figure"], {"body": [body.name for body in robot.model.bodies]})
    first = pyarrow.parquet.read_table(saved["#scene-figure"]["Parquet"]).to_pydict()
    ends = segments(robot, analysis.q[0]).ends
    # five decimals
    np.testing.assert_allclose([first[x][0] for x in ("x1", "y1", "z1")], ends[0, 0], atol=1e-5)


def _saved(tab, figure: str, kinds: tuple[str, ...], folder) -> dict:
    found = {}
    for kind in kinds:
        with tab.expect_download() as download:
            tab.click(f"{figure} .exports button:text-is('{kind}')")
        found[kind] = folder / download.value.suggested_filename
        download.value.save_as(found[kind])
    return found


def _artefact(name: str) -> str:
    """Screenshots are kept, to be looked at."""
    folder = Path("out/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / name)


def _check_tables(files: dict, expected: dict) -> None:
    """CSV and Parquet of a figure hold the library's numbers, in seven digits."""
    with files["CSV"].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    parquet = pyarrow.parquet.read_table(files["Parquet"]).to_pydict()
    for name, values in expected.items():
        if isinstance(values, list):
            assert [row[name] for row in rows] == parquet[name] == values
        else:
            np.testing.assert_allclose(parquet[name], values, rtol=1e-6)
            np.testing.assert_array_equal([float(row[name]) for row in rows], parquet[name])


def test_every_figure_is_a_file_in_every_format(tmp_path):
    lever = lw.load(LEVER)
    few = lever.analyse("lift", steps=11)
    written = write_figures(lever, few, tmp_path / "figures")
    titles = [chart.title for _, members in chart_groups(lever, few) for chart in members]
    assert len(titles) == 10  # all but the forces of linear actuators, which a lever has not
    # animation and tree
    assert len(written) == 4 * (len(titles) + 2) == len(list((tmp_path / "figures").iterdir()))
    place = tmp_path / "figures" / "torques-of-motors"
    table = pyarrow.parquet.read_table(place.with_suffix(".parquet")).to_pydict()
    np.testing.assert_array_equal(table["hinge"], few["actuator.hinge"])  # every digit
    rows = list(csv.DictReader(place.with_suffix(".csv").read_text().splitlines()))
    np.testing.assert_array_equal([float(row["hinge"]) for row in rows], few["actuator.hinge"])
    assert (
        place.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        and "<svg" in place.with_suffix(".svg").read_text()
    )


def test_an_unknown_format_is_named(robot, analysis, tmp_path):
    with pytest.raises(
        InvalidInput, match=r'formats is .pgn., expected one of .png., .*; did you mean "png"'
    ):
        write_figures(robot, analysis, tmp_path, ["pgn"])


def test_a_report_of_a_motion_by_its_name_is_that_of_its_analysis(tmp_path):
    machine = lw.load("four-bar")
    named = write_report(machine, tmp_path / "named.html", "turn").read_text()
    analysed = write_report(
        machine, tmp_path / "analysed.html", machine.analyse("turn")
    ).read_text()
    assert len(named) == len(analysed) and '"crank' in named
    with pytest.raises(UnknownName, match='no motion "dance"'):
        write_report(machine, tmp_path / "none.html", "dance")
    assert not (tmp_path / "none.html").exists()
