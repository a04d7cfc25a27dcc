"""Pictures and films without a browser, and what notebooks show."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.view import Inline, Viewer, as_html, record, triangles
from linkwork.view.png import png_bytes
from linkwork.view.raster import Mesh, axes_of, fitted, render, vertex_normals

SMALL = (200, 200)


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("L"), dtype=float)


@pytest.mark.parametrize("name", ["ur5e", "delta", "charmie"])
def test_a_picture_shows_the_robot_and_moves_with_it(name, tmp_path):
    robot = lw.load(name)
    first = pixels(robot.picture(path=tmp_path / "robot.png", size=SMALL))
    assert (tmp_path / "robot.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    drawn = first < 190
    assert 0.002 < drawn.mean() < 0.5
    rows, columns = np.nonzero(drawn)
    assert max(np.ptp(rows), np.ptp(columns)) > 0.7 * len(first), "it does not fill its picture"
    moved = robot.assemble(robot.random(seed=3)).q if robot.model.elements else robot.random(seed=3)
    assert np.abs(pixels(robot.picture(moved, size=SMALL)) - first).max() > 100


def test_a_line_is_round_about_its_path_and_closed_where_it_turns():
    """Every vertex lies one radius from the path; at ends and corners the surface goes all
    around."""
    t = np.linspace(0.0, 2.0, 60)
    bow = np.column_stack([np.cos(t), np.sin(t), 0.2 * t])
    path = np.vstack([bow, bow[-1] + (0.5, 0.5, 0.0), bow[-1]])  # a step aside, and straight back
    vertices, faces = triangles.line(path, 0.01)
    starts, steps = path[:-1], np.diff(path, axis=0)
    along = np.einsum("vsk,sk->vs", vertices[:, None] - starts, steps) / np.einsum(
        "sk,sk->s", steps, steps
    )
    feet = starts + np.clip(along, 0.0, 1.0)[..., None] * steps
    distance = np.linalg.norm(vertices[:, None] - feet, axis=-1).min(axis=1)
    assert distance.max() <= 0.01 * (1 + 1e-12)
    of_the_bow = distance[: 2 * 8 * 50]  # a pipe a step, two rings of eight, far from the corner
    # at a bend a rim reaches into the next pipe
    assert of_the_bow.min() > 0.01 * np.cos(np.deg2rad(15.0))
    for corner in (path[0], path[-3], path[-2], path[-1]):
        there = vertices[np.linalg.norm(vertices - corner, axis=1) < 0.0101] - corner
        assert all((there @ side).max() > 0.009 for side in (*np.eye(3), *-np.eye(3)))
    assert set(faces.ravel()) == set(range(len(vertices)))


def test_a_png_holds_its_pixels():
    image = np.random.default_rng(0).integers(0, 256, (37, 23, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png_bytes(image)))), image)


def test_triangles_are_where_a_pinhole_camera_sees_them_and_leave_no_gaps():
    """A wall of 200 triangles seen askew: its outline is that of its projected corners,
    nothing shines through."""
    rng = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 11), np.linspace(-1, 1, 11)), -1).reshape(-1, 2)
    inside = np.abs(grid).max(axis=1) < 1
    grid[inside] += rng.uniform(-0.05, 0.05, (int(inside.sum()), 2))
    vertices = np.column_stack([grid[:, 0], 0.3 * grid[:, 0], grid[:, 1]])
    k = np.arange(10)[:, None] * 11 + np.arange(10)
    faces = np.concatenate(
        [np.stack([k, k + 1, k + 12], -1), np.stack([k, k + 12, k + 11], -1)]
    ).reshape(-1, 3)
    mesh = Mesh(vertices, vertex_normals(vertices, faces), faces, np.zeros((len(faces), 3)))
    camera = fitted(vertices, axes_of(-60.0, 25.0), 160, 120)
    dark = render(mesh, camera, 2.0)[..., 0] < 128
    corners = camera.project(vertices[[0, 10, 120, 110]])[:, :2]
    rows, columns = np.mgrid[0:120, 0:160] + 0.5
    sides = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        sides.append((b[0] - a[0]) * (rows - a[1]) - (b[1] - a[1]) * (columns - a[0]))
    expected = (np.array(sides) > 0).all(axis=0) | (np.array(sides) < 0).all(axis=0)
    distance = np.abs(
        np.array(sides)
        / np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)[:, None, None]
    )
    clear = distance.min(axis=0) > 1.0  # a pixel on the rim may be either
    assert expected.sum() > 1000 and (dark == expected)[clear].all()
    assert corners.min() > 0 and (corners < [160, 120]).all(), (
        "a fitted camera has everything in its picture"
    )


def test_what_is_nearer_hides_what_is_behind():
    square = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], dtype=float)
    vertices = np.concatenate([square, 0.5 * square + [0, 1, 0], 0.5 * square - [0, 1, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7], [8, 9, 10], [8, 10, 11]])
    colors = np.repeat(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float), 2, axis=0)
    mesh = Mesh(vertices, np.tile([0.0, -1.0, 0.0], (12, 1)), faces, colors)
    camera = fitted(vertices, axes_of(-90.0, 0.0), 100, 100)
    right, up = camera.project(np.array([[0.5, 0, 0], [0, 0, 0.5]]))[:, :2]
    assert right[0] > 55 and abs(right[1] - 50) < 1 and up[1] < 45 and abs(up[0] - 50) < 1, (
        "x is right, z is up"
    )
    image = render(mesh, camera, 2.0)
    assert image[50, 50, 0] > 2 * image[50, 50, 1], "red stands before green"
    assert image[50, 20, 1] > 2 * image[50, 20, 0], "green stands beside"
    assert not (
        (image[..., 2] > 1.5 * image[..., 0]) & (image[..., 2] > 1.5 * image[..., 1])
    ).any(), "blue is hidden"


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_a_film_has_the_frames_of_its_motion(ending, tmp_path):
    robot = lw.load("four-bar")
    t = np.linspace(0.0, 0.32, 9)
    q = robot.from_actuators(np.linspace(0.5, 2.0, 9)[:, None])[0]
    told: list[tuple[int, int]] = []
    path = record(
        robot,
        tmp_path / f"film.{ending}",
        {"time": t, "q": q},
        (120, 90),
        progress=lambda *n: told.append(n),
    )
    assert told[-1] == (8, 8)
    if ending == "gif":
        with Image.open(path) as film:
            frames = [
                np.asarray(film.convert("RGB"))
                for k in range(film.n_frames)
                if film.seek(k) is None
            ]
    else:
        import av

        with av.open(str(path)) as opened:
            frames = [frame.to_ndarray(format="rgb24") for frame in opened.decode(video=0)]
    assert len(frames) == 8 and frames[0].shape == (90, 120, 3)
    assert np.abs(frames[0].astype(float) - frames[-1]).max() > 80


def test_a_notebook_gets_a_table_and_a_picture():
    html = lw.load("ur5e")._repr_html_()
    assert "data:image/png;base64," in html
    assert "shoulder_pan" in html


def test_the_inline_view_stands_by_itself():
    with Viewer(lw.load("ur5e"), port=0) as viewer:
        page = Inline(as_html(viewer))
    assert page.html.lstrip().lower().startswith("<!doctype html")
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html')
    assert "MB of HTML" in repr(page)


def test_what_cannot_be_drawn_is_refused(tmp_path):
    robot = lw.load("ur5e")
    with pytest.raises(InvalidInput, match=r"picture: q has shape \(3,\)"):
        robot.picture([0, 0, 0])
    with pytest.raises(InvalidInput, match="size is 1 x 100000"):
        robot.picture(size=(1, 100_000))
    with pytest.raises(lw.LinkworkError, match="gif"):
        record(robot, tmp_path / "film.avi", {"time": [0, 1], "q": np.zeros((2, 6))})
    with pytest.raises(InvalidInput, match="has no named motion"):
        record(robot, tmp_path / "film.gif")


def test_a_ghost_is_seen_through_and_never_stands_in_front():
    square = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], dtype=float)
    faces, normals = np.array([[0, 1, 2], [0, 2, 3]]), np.tile([0.0, -1.0, 0.0], (4, 1))
    one = Mesh(0.5 * square, normals, faces, np.tile([1.0, 0.0, 0.0], (2, 1)))
    # larger, and nearer
    ghost = Mesh(square - [0, 1, 0], normals, faces, np.tile([0.0, 0.0, 1.0], (2, 1)))
    camera = fitted(ghost.vertices, axes_of(-90.0, 0.0), 100, 100)
    alone, both = render(one, camera, 2.0), render(one, camera, 2.0, ghosts=ghost)
    np.testing.assert_array_equal(both[50, 50], alone[50, 50])
    paper, seen = alone[50, 12].astype(int), both[50, 12].astype(int)
    assert 60 < paper[0] - seen[0] < 230, "the ghost, with the paper through it"
