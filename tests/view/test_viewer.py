"""The real viewer in a real browser: pictures move where the mathematics says."""

from __future__ import annotations

import io
import shutil
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.view.segments import segments

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.browser
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make browser installs it")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, "--no-first-run"])
        yield chromium
        chromium.close()


@pytest.fixture
def viewer(request):
    from linkwork.view.viewer import Viewer

    with Viewer(lw.load(request.param), port=0) as shown:
        yield shown


def opened(browser, viewer):
    """A page that has drawn something, and its console errors."""
    page = browser.new_page(viewport={"width": 900, "height": 700})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(viewer.address)
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and (not viewer.server.get_clients() or _dark(picture(page)).sum() < 50):
        time.sleep(0.3)
    assert viewer.server.get_clients(), "the page did not connect"
    return page, errors


def picture(page) -> np.ndarray:
    import matplotlib.image

    return matplotlib.image.imread(io.BytesIO(page.screenshot()), format="png")[..., :3]


def _dark(image: np.ndarray) -> np.ndarray:
    """Pixels of the bodies' dark blue; the controls at the upper right do not count."""
    found = (image[..., 2] > image[..., 0] + 0.08) & (image[..., 0] < 0.45)
    found[:430, 555:] = False
    return found


def projected(viewer, point: np.ndarray, height: int = 700, width: int = 900) -> tuple[int, int]:
    """Where a world point falls in the picture: (row, column), by a pinhole camera."""
    (client,) = viewer.server.get_clients().values()
    camera = client.camera
    forward = np.array(camera.look_at) - np.array(camera.position)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, np.array(camera.up_direction))
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    p = point - np.array(camera.position)
    scale = 0.5 * height / np.tan(camera.fov / 2)
    return round(height / 2 + scale * (p @ down) / (p @ forward)), round(
        width / 2 + scale * (p @ right) / (p @ forward)
    )


def is_drawn_at(image: np.ndarray, row: int, column: int, radius: int = 12) -> bool:
    return bool(_dark(image)[max(0, row - radius) : row + radius, max(0, column - radius) : column + radius].any())


@needs_browser
@pytest.mark.parametrize("viewer", ["arm-4"], indirect=True)
def test_sliders_move_the_robot_to_where_the_point_is(browser, viewer):
    page, errors = opened(browser, viewer)
    tip = viewer.robot.bodies[-1]
    seen = []
    for angle in (0.7, 0.2):
        for slider in list(viewer.sliders.values())[:2]:
            slider.value = angle
        viewer._from_sliders()
        time.sleep(2.0)
        place = viewer.robot.pose(viewer.scene.q, tip)[:3, 3]
        seen.append((picture(page), projected(viewer, place)))
    (first, at_first), (second, at_second) = seen
    assert at_first != at_second
    assert is_drawn_at(first, *at_first) and is_drawn_at(second, *at_second)
    assert not np.array_equal(first, second)
    assert not errors


@needs_browser
@pytest.mark.parametrize("viewer", ["charmie"], indirect=True)
def test_a_motion_plays_with_struts_and_arrows(browser, viewer):
    page, errors = opened(browser, viewer)
    viewer.arrows_shown.value = True
    viewer.load_motion("validation")
    before = viewer.scene.q.copy()
    viewer.playing.value = True
    time.sleep(3.0)
    viewer.playing.value = False
    assert np.abs(viewer.scene.q - before).max() > 1e-3, "the motion does not move the robot"
    viewer.seek(2.0)
    expected, _, _ = viewer.robot.motions["validation"].sample(2.0)
    np.testing.assert_allclose(viewer.scene.q, expected, atol=1e-12)
    assert viewer.scene.members.visible
    time.sleep(1.0)
    assert _dark(picture(page)).sum() > 200
    assert not errors


@pytest.mark.parametrize("viewer", ["ur5e"], indirect=True)
def test_a_dragged_target_is_followed(viewer):
    robot = viewer.robot
    tool = robot.bodies[-1]
    viewer.target_frame.value = tool
    q = np.array([0.3, -1.2, 1.1, -0.6, 1.3, 0.2])
    viewer.show(q)
    goal = robot.pose(q, tool)
    goal[:3, 3] += [0.02, -0.03, 0.01]
    from linkwork.view.scene import quaternion

    assert viewer.follow(goal[:3, 3], quaternion(goal[:3, :3]))
    np.testing.assert_allclose(robot.pose(viewer.scene.q, tool), goal, atol=1e-5)
    assert not viewer.follow(np.array([9.0, 9.0, 9.0]), np.array([1.0, 0, 0, 0]))
    assert "not reached" in viewer.target_status.content


@pytest.mark.parametrize("viewer", ["charmie"], indirect=True)
def test_actuators_move_the_robot_through_its_loops(viewer):
    k = viewer.robot.actuators.index("act5")
    viewer.actuators[k].value = 0.43
    viewer._from_actuators()
    c, _, _ = viewer.robot.to_actuators(viewer.scene.q)
    assert c[k] == pytest.approx(0.43, abs=1e-12)


@pytest.mark.parametrize("viewer", ["arm-2"], indirect=True)
def test_only_this_machine_may_connect(viewer):
    assert viewer.address.startswith("http://127.0.0.1:")


def test_segments_follow_the_points():
    robot = lw.load("charmie")
    q, _, _ = robot.motions["validation"].sample(np.array([0.0, 1.0]))
    drawn = segments(robot, q)
    assert drawn.ends.shape[:1] == (2,) and drawn.of("actuator").shape == (2, 2, 2, 3)
    lengths = np.linalg.norm(drawn.of("actuator")[:, :, 1] - drawn.of("actuator")[:, :, 0], axis=-1)
    np.testing.assert_allclose(lengths[0], [0.4, 0.4], atol=1e-12)
