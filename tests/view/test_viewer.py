"""The real viewer in a real browser, used by clicks, numbers and drags:
pictures move where the mathematics says."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Obstacles, save_obstacles
from linkwork.view.handle_rate import INTERVAL
from linkwork.view.saving import TALL
from tests.view.pages import CHROMIUM, ViewerPage, bluish, drawn_pose, is_drawn_at, launched
from tests.view.shaped import shaped_ur5e

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make browser installs it"),
]
UR5E = np.array([0.3, -1.2, 1.1, -0.6, 1.3, 0.2])


@pytest.fixture(scope="module")
def shown():
    """One viewer and one page for all tests: a browser that draws in software takes seconds to
    begin."""
    from playwright.sync_api import sync_playwright

    from linkwork.view.viewer import Viewer

    with Viewer(lw.load("arm-4"), port=0) as viewer, sync_playwright() as playwright:
        chromium = launched(playwright)
        page = ViewerPage(chromium, viewer)
        page.until(lambda: bluish(page.picture()).sum() > 100, "the canvas stayed blank")
        yield page
        chromium.close()


@pytest.fixture
def page(shown):
    yield shown
    assert not shown.errors, "the browser's console has errors"
    assert not shown.outside, "the page asks for something from elsewhere"
    shown.viewer.playing.value = False


def fresh(page, name, q=None):
    """One robot alone, as a script puts it there."""
    stand = page.viewer.load(name)
    if q is not None:
        stand.show(q)
    page.viewer.look()
    page.until(
        lambda: page.page.get_by_role("tab", name=stand.robot.name, exact=True).count() == 1,
        "no tab came",
    )
    page.settle()
    return stand


def test_sliders_move_the_robot_to_where_its_named_point_is(page):
    stand = fresh(page, "arm-4")
    names = stand.robot.joints[:2]
    tip, label = stand.robot.bodies[-1], stand.robot.model.bodies[-1].points[-1][0]
    seen = []
    for angle in (0.9, -0.7):
        for name in names:
            page.type_number(f"{name} [rad]", angle)
        q = stand.robot.home
        q[[stand.robot.joints.index(name) for name in names]] = angle
        page.until(
            lambda q=q: np.abs(stand.scene.q - q).max() < 1e-9, "the slider did not move the robot"
        )
        poses = stand.robot.forward_kinematics(q)
        for body in stand.robot.bodies:
            np.testing.assert_allclose(drawn_pose(stand.scene, body), poses[body], atol=1e-12)
        at = page.projected(stand.robot.points(q)[tip][label])
        seen.append(
            (
                page.sees(
                    lambda image, at=at: is_drawn_at(image, *at), "nothing is drawn at the point"
                ),
                at,
            )
        )
    (first, at_first), (second, at_second) = seen
    assert np.hypot(*np.subtract(at_first, at_second)) > 60, (
        "the two places must be apart for the test to mean anything"
    )
    assert not is_drawn_at(first, *at_second) and not is_drawn_at(second, *at_first)
    blank = np.ones_like(first)
    assert not is_drawn_at(blank, *at_first), "a blank canvas must fail"
    page.keep("sliders")


def test_a_slider_moves_by_its_thumb_and_stops_at_its_limit(page):
    stand = fresh(page, "ur5e")
    page.type_number("elbow_joint", 0.0)  # its home is no whole number of steps
    page.until(lambda: abs(stand.scene.q[2]) < 1e-9, "the number did not move the joint")
    page.slide("elbow_joint", 3)
    step = float(stand.joints.handles["elbow_joint"].step)
    page.until(lambda: abs(stand.scene.q[2] - 3 * step) < 1e-6, "the thumb did not move the joint")
    page.type_number("elbow_joint", 100.0)
    limit = float(stand.robot.limits.upper[2])
    page.until(lambda: abs(stand.scene.q[2] - limit) < 1e-9, "the joint does not stop at its limit")
    assert stand.joints.handles["elbow_joint"].value == pytest.approx(limit)


def test_what_is_shown_is_in_the_picture_and_can_be_kept(page, tmp_path):
    """A lying arm after a standing one; angles in degrees, short labels; the chosen frame;
    the picture as a file."""
    from PIL import Image

    stand = fresh(page, "ur5e")
    page.until(lambda: page.page.title() == "linkwork", "the page has another title")
    lying = np.array([np.pi / 2, 0.0, 0.0, 0.0, 0.0, 0.0])
    page.viewer.show(lying)
    height, width = page.picture().shape[:2]

    def inside():
        places = [page.projected(p) for p in stand.robot.forward_kinematics(lying).position]
        return all(0 < row < height and 0 < column < width for row, column in places)

    page.until(inside, "the camera does not follow")
    page.open("Robot")
    page.choose("angles in", "degrees")
    page.until(
        lambda: stand.joints.handles["elbow_joint"].label == "elbow_joint [deg]", "no degrees came"
    )
    page.type_number("elbow_joint [deg]", 90.0)
    page.until(lambda: abs(stand.scene.q[2] - np.pi / 2) < 1e-9, "degrees do not move the joint")
    # of -359.9999...
    page.there(page.page.get_by_text("-360", exact=True), "-360").first.wait_for()
    page.open("Frames")
    x, y, z = stand.robot.pose(stand.scene.q, "tool0")[:3, 3]
    page.until(
        lambda: f"{x:.4f}, {y:.4f}, {z:.4f} m" in stand.frame_tree.reading.content,
        "no pose of the frame",
    )
    rows = page.page.locator("summary:visible")
    page.until(lambda: rows.count() == len(stand.robot.bodies) + 1, "the tree has other rows")
    page.open("Save")
    with page.page.expect_download() as kept:
        page.press("picture (PNG)")
    kept.value.save_as(tmp_path / "robot.png")
    seen = np.asarray(Image.open(tmp_path / "robot.png").convert("RGB")) / 255.0
    lines, columns = seen.shape[:2]  # all of them, however few a busy browser draws on its page
    assert (
        lines == TALL and abs(columns / lines - width / height) < 0.05 and bluish(seen).sum() > 400
    )
    page.viewer.angles.value = "radians"


SHAPES = {
    "red": ('<box size="0.3 0.3 0.3"/>', "1 0 0 1"),
    "green": ('<sphere radius="0.18"/>', "0 1 0 1"),
    "blue": ('<cylinder radius="0.15" length="0.3"/>', "0 0 1 1"),
    "yellow": ('<mesh filename="{folder}/block.stl" scale="0.001 0.001 0.001"/>', "1 1 0 1"),
}


def test_primitives_and_meshes_are_drawn_in_their_colours(page, tmp_path):
    import trimesh

    trimesh.creation.box((300, 300, 300)).export(tmp_path / "block.stl")
    links, joints = ['<link name="root"/>'], []
    for k, (name, (shape, color)) in enumerate(SHAPES.items()):
        paint = f'<material name="{name}"><color rgba="{color}"/></material>'
        shape = shape.format(folder=tmp_path)
        links.append(
            f'<link name="{name}"><visual><geometry>{shape}</geometry>{paint}</visual></link>'
        )
        joints.append(
            f'<joint name="to_{name}" type="fixed"><parent link="root"/><child link="{name}"/>'
            f'<origin xyz="{0.5 * k} 0 0.3" rpy="0 0 {0.3 * k}"/></joint>'
        )
    file = tmp_path / "shapes.urdf"
    file.write_text(f'<robot name="shapes">{"".join(links + joints)}</robot>')
    stand = fresh(page, lw.load(file))

    def in_its_colour(image, name):
        row, column = page.projected(stand.robot.pose(stand.scene.q, name)[:3, 3])
        seen = image[row - 2 : row + 3, column - 2 : column + 3].reshape(-1, 3).mean(axis=0)
        wanted = np.array([float(c) for c in SHAPES[name][1].split()[:3]])
        return seen[wanted == 1].min() > seen[wanted == 0].max() + 0.2

    for name in SHAPES:
        page.sees(
            lambda image, name=name: in_its_colour(image, name), f"{name} is not drawn where it is"
        )
    assert not stand.scene.missing
    page.keep("shapes")


def test_a_robot_is_loaded_by_its_name(page):
    fresh(page, "arm-4")
    page.open("Robot")
    page.choose("name", "ur3e")
    page.press("show it")
    page.until(lambda: page.viewer.robot.name == "ur3e", "the name was not loaded")
    assert len(page.viewer.stands) == 1
    page.until(
        lambda: page.page.get_by_role("tab", name="ur3e").count() == 1, "the robot has no tab"
    )
    wrist = page.viewer.robot.pose(page.viewer.scene.q, page.viewer.robot.bodies[-3])[:3, 3]
    page.sees(
        lambda image: is_drawn_at(image, *page.projected(wrist), radius=8), "the robot is not drawn"
    )


def test_two_robots_stand_side_by_side(page):
    first = fresh(page, "ur3e", UR5E)
    page.open("Robot")
    page.choose("name", "ur10e")
    page.press("show it beside")
    page.until(lambda: len(page.viewer.stands) == 2, "there is no second robot")
    second = page.viewer.stands[1]
    second.show(UR5E)
    page.viewer.look()
    page.settle()
    assert (
        second.robot.name == "ur10e" and second.scene.base.position[0] > first.scene.bounds()[1, 0]
    )
    elbows = [
        stand.robot.pose(UR5E, "forearm_link")[:3, 3] + np.array(stand.scene.base.position)
        for stand in page.viewer.stands
    ]
    page.sees(
        lambda image: all(is_drawn_at(image, *page.projected(p), radius=8) for p in elbows),
        "two are not seen",
    )
    page.keep("two-robots")


def test_a_motion_plays_pauses_and_is_scrubbed(page):
    stand = fresh(page, "charmie")
    before = stand.scene.q
    page.tick("play")
    page.until(
        lambda: np.abs(stand.scene.q - before).max() > 1e-2, "the motion does not move the robot"
    )
    page.tick("play")
    page.until(lambda: not page.viewer.playing.value, "it does not pause")
    with page.viewer.lock:  # a last frame may have been on its way
        paused = stand.scene.q
    page.draw(20)
    np.testing.assert_array_equal(stand.scene.q, paused)
    page.type_number("time [s]", 2.0)
    expected, _, _ = stand.robot.motions["validation"].sample(2.0)
    page.until(lambda: np.abs(stand.scene.q - expected).max() < 1e-9, "scrubbing did not seek")
    page.type_number("speed", 3.0)
    page.until(lambda: page.viewer.speed.value == 3.0, "the speed did not change")
    page.viewer.speed.value = 1.0


def test_loads_are_arrows_coloured_by_load_and_plots_stand_beside(page):
    stand = fresh(page, "charmie")
    page.viewer.load_motion("validation", stand)
    assert stand.playback.vectors is not None
    row = stand.playback.row(2.0)  # where strut act5 pushes most of all actuators
    vectors = stand.playback.vectors
    sizes = np.linalg.norm(vectors.pushes[row], axis=-1)
    # its upper end
    strongest = np.where(sizes > 0.999 * sizes.max(), vectors.pushes[row, :, 2], -np.inf).argmax()
    push, at = vectors.pushes[row, strongest], vectors.push_at[row, strongest]
    assert np.linalg.norm(push) == pytest.approx(vectors.largest_push, rel=1e-3)
    page.viewer.seek(2.0)
    page.draw(20)
    without = page.picture()
    page.open("Shown")
    for kind in ("joint forces", "joint moments", "actuator loads"):
        page.tick(kind)
    page.until(lambda: all(stand.scene.loads.shown.values()), "the options were not taken")
    page.viewer.seek(2.0)
    stand.trail("12a")
    reach = stand.scene.loads.longest * push / np.linalg.norm(push)
    along = lambda: [page.projected(at + share * reach) for share in (0.6, 0.75, 0.9)]

    def redness(image, row, column):
        near = image[row - 1 : row + 2, column - 1 : column + 2]
        return float((near[..., 0] - near[..., 1:].max(axis=-1)).max())

    assert max(redness(without, *place) for place in along()) < 0.1
    page.sees(
        lambda image: min(redness(image, *p) for p in along()) > 0.25,
        "the largest load's arrow is not red",
    )
    page.open("Plots")
    page.choose("column", "actuator.act5")
    page.press("plot it")
    page.until(lambda: "actuator.act5" in stand.plots, "the plot was not made")
    page.there(page.page.locator(".uplot canvas"), "a chart").first.wait_for()
    plot = stand.plots["actuator.act5"]
    assert float(plot.reading.content) == pytest.approx(
        stand.playback.columns["actuator.act5"][row], rel=1e-4
    )
    page.keep("charmie-loads")
    page.press("remove")
    page.until(lambda: not stand.plots, "the plot was not removed")


def test_a_dragged_target_is_followed_and_all_branches_are_ghosts(page):
    stand = fresh(page, "ur5e", UR5E)
    page.open("Target")
    page.tick("drag a target")
    page.until(lambda: len(stand.target.ghosts.q) == 8, "there are no eight ghosts")
    goal = stand.robot.pose(UR5E, stand.tip)
    for q in stand.target.ghosts.q:
        np.testing.assert_allclose(stand.robot.pose(q, stand.tip), goal, atol=1e-8)
    elbows = [
        page.projected(stand.robot.pose(q, "forearm_link")[:3, 3]) for q in stand.target.ghosts.q
    ]

    def ghostly(image):
        inside = [
            (r, c) for r, c in elbows if 3 < r < image.shape[0] - 4 and 3 < c < image.shape[1] - 4
        ]
        near = [image[r - 3 : r + 4, c - 3 : c + 4].min() for r, c in inside]
        return len(near) >= 4 and max(near) < 0.97

    page.sees(ghostly, "ghosts are not drawn where their elbows are")
    page.keep("ghosts")

    def along_z(_):
        at, z = np.array(stand.target.gizmo.position), goal[:3, 2]
        reach = 0.6 * stand.target.gizmo.scale
        return page.on_screen(at + reach * z), page.on_screen(at + (reach + 0.08) * z)

    page.drag_until(
        along_z,
        lambda: np.abs(stand.scene.q - UR5E).max() > 1e-3,
        "dragging did not move the robot",
    )
    tip = lambda q: stand.robot.pose(q, stand.tip)
    page.until(
        lambda: np.abs(tip(stand.scene.q)[:3, 3] - stand.target.gizmo.position).max() < 1e-5,
        "it does not follow",
    )
    page.until(
        lambda: (
            len(found := stand.target.ghosts.q) == 8
            and np.abs(tip(found) - tip(stand.scene.q)).max() < 1e-5
        ),
        "the ghosts do not follow",
    )


def test_closed_loops_move_with_their_actuators(page):
    stand = fresh(page, "stewart-gough")
    page.type_number("leg_0 [m]", 0.75)
    page.until(
        lambda: abs(stand.robot.to_actuators(stand.scene.q)[0][0] - 0.75) < 1e-9,
        "the strut did not move",
    )
    found = stand.robot.members(stand.scene.q)["leg_0"]
    node = stand.scene.members.nodes["leg_0"][0]
    np.testing.assert_allclose(node.position, found.first, atol=1e-6)
    assert node.scale[2] == pytest.approx(0.75, abs=1e-6)
    page.keep("stewart-gough")


def test_frames_points_inertia_and_centre_of_mass_are_shown(page):
    stand = fresh(page, "arm-6", np.array([0.4, 0.6, -0.8, 1.1, 0.5, 0.3]))
    page.open("Shown")
    without = page.picture()
    for label in ("frames", "named points", "inertia boxes", "centre of mass"):
        page.tick(label)
    page.until(lambda: stand.scene.center is not None, "the options were not taken")
    np.testing.assert_allclose(
        stand.scene.center.position, stand.robot.center_of_mass(stand.scene.q), atol=1e-9
    )
    label = f"{stand.robot.bodies[-1]}.D"
    page.until(lambda: page.page.get_by_text(label).count() > 0, "points have no labels")
    place = page.projected(np.array(stand.scene.center.position))
    yellow = lambda image: image[place][:2].min() > image[place][2] + 0.15
    assert not yellow(without)
    page.sees(yellow, "the centre of mass is not drawn where it is")
    page.keep("options")


def test_a_dragged_goal_is_planned_to(page):
    robot, start = shaped_ur5e(), np.array([-0.8, -1.2, 1.6, -0.4, 0.5, 0.0])
    stand = fresh(page, robot, start)
    plan = stand.panels["planning"].plan
    page.open("Planning")
    page.tick("plan a path")
    page.until(lambda: len(plan.gizmos) == 2, "no handles came")

    def along_the_arrow(_):
        """Of the goal's handle, along the axis that is seen longest, which a person pulls."""
        T, size = robot.pose(plan.goal, stand.tip), 0.14 * stand.scene.size
        tips = [np.array(page.on_screen(T[:3, 3] + size * T[:3, k])) for k in range(3)]
        middle = np.array(page.on_screen(T[:3, 3]))
        pull = max((tip - middle for tip in tips), key=np.linalg.norm)
        grip = middle + 0.8 * pull
        return grip, grip + 90 * pull / np.linalg.norm(pull)

    is_planned = lambda: plan.answer is not None and plan.answer.length > 0.05
    page.drag_until(along_the_arrow, is_planned, "the path did not follow the drag")
    page.until(lambda: plan.law is not None, "no time law came")
    assert plan.answer.certified and len(plan.ghosts.q)
    page.keep("planning")


def test_the_script_of_the_page_sends_handles_at_our_interval(page):
    scripts = page.page.evaluate("() => [...document.scripts].map(s => s.textContent)")
    senders = re.findall(
        r"case.TransformControlsMessage.:\{let\{[^{}]*\}=[\w$]+\([\w$]+, ?(\d+)\)", "".join(scripts)
    )
    assert [int(interval) for interval in senders] == [INTERVAL]


def test_a_click_on_a_vertex_shows_its_branches(page):
    stand = fresh(page, "arm-2")
    graph = stand.panels["planning"].graph
    graph.resolution.value, graph.voxel.value = 5.0, 200.0
    graph.restart()
    counts = np.bincount(graph.graph.vertices.voxel)
    several = np.flatnonzero(counts[graph.graph.vertices.voxel] > 1)
    at = [page.on_screen(graph.graph.vertices.position[k]) for k in several]

    def clicked() -> bool:
        page.page.mouse.click(*at[clicked.turn % len(at)])
        clicked.turn += 1
        page.draw(6)
        return len(graph.ghosts.q) > 1

    clicked.turn = 0
    page.until(clicked, "no click on a vertex showed branches")
    assert "branches" in graph.status.content
    page.keep("graph")


def test_an_obstacle_dragged_into_the_arm_turns_both_red(page, tmp_path):
    """Shapes lie over the arm, a line with its number joins the nearest points,
    and what touches is red."""
    robot = shaped_ur5e()
    stand = fresh(page, robot, UR5E)
    panel = stand.panels["collision"]
    part = "forearm_link"
    middle = (robot.pose(UR5E, part) @ [*robot_ball(robot, part), 1.0])[:3]
    # the block stands off along the axis that is seen longest, to be pulled back along it
    away = [
        np.array(page.on_screen(middle + 0.2 * axis)) - page.on_screen(middle) for axis in np.eye(3)
    ]
    axis = np.eye(3)[int(np.argmax([np.linalg.norm(way) for way in away]))]
    cell = tmp_path / "cell.obstacles.yaml"
    save_obstacles(Obstacles({"block": Box((0.1, 0.1, 0.1), middle + 0.2 * axis)}), cell)
    before = page.picture()
    panel.file.value = str(cell)
    page.open("Collision")
    page.tick("shapes and distances")
    page.until(lambda: "are apart by" in panel.status.content, "no distance is told")
    nearest = panel.model.clearance(UR5E, panel.obstacles)
    # the line runs between the nearest points, and its number is written on the page
    ends = [
        page.projected(nearest.point + t * (nearest.other_point - nearest.point))
        for t in (0.25, 0.75)
    ]

    def line(image) -> bool:  # its number may cover one half of it
        return any(magenta(around(image, at)).any() for at in ends)

    seen = page.sees(line, "no line joins the nearest points")
    assert panel.number == f"{1e3 * nearest.distance:.1f} mm"
    row, column = page.projected(0.5 * (nearest.point + nearest.other_point))
    written = (slice(row, row + 20), slice(column, column + 60))
    page.sees(
        lambda image: black(image[written]).sum() > black(before[written]).sum() + 15,
        "the line has no number",
    )
    link = page.projected(middle)
    assert not magenta(before).any() and not reddish(around(seen, link, 25)).any()
    greener = around(seen - before, link)
    assert (greener[..., 1] > greener[..., 0] + 0.02).any(), "no shape lies over the arm"
    page.keep("collision")

    # pulled into the arm by the arrow of its handle
    def back_into_the_arm(_):
        at, size = np.array(panel.around.handles["block"].position), 0.12 * stand.scene.size
        grip = np.array(page.on_screen(at + 0.8 * size * axis))
        return grip, grip + np.array(page.on_screen(middle)) - np.array(page.on_screen(at))

    is_inside = lambda: "overlap by" in panel.status.content
    page.drag_until(back_into_the_arm, is_inside, "the block did not follow the drag into the arm")
    touching = {
        name for c in panel.model.contacts(UR5E, panel.obstacles) for name in (c.body, c.other)
    }
    assert {"block", part} <= touching and f"{part} is " in panel.status.content
    # the camera may have turned
    red = lambda image: reddish(around(image, page.projected(middle), 25)).mean() > 0.1
    page.sees(red, "what touches is not red")
    page.keep("touching")


def robot_ball(robot, part):
    """The middle of a body's shape, in its axes."""
    return lw.collision.model(robot, pairs=[]).shapes[part][0].ball()[0]


def around(image, at, radius=6):
    """The picture within some pixels of a place."""
    row, column = at
    return image[
        max(0, row - radius) : row + radius + 1, max(0, column - radius) : column + radius + 1
    ]


def black(image):
    """Letters: dark without a colour."""
    return (image.max(axis=-1) < 0.4) & (np.ptp(image, axis=-1) < 0.06)


def magenta(image):
    return (image[..., 0] > image[..., 1] + 0.3) & (image[..., 2] > image[..., 1] + 0.25)


def reddish(image):
    """Red as what touches, not purple; the arrows of handles have no blue."""
    return (
        (image[..., 0] > image[..., 1] + 0.2)
        & (image[..., 2] > 0.12)
        & (image[..., 0] > image[..., 2] + 0.25)
    )
