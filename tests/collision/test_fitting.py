"""Fitted shapes: the cover proved again by other means, the excess measured,
and meshes that are not closed."""

from __future__ import annotations

import logging
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    Cylinder,
    Mesh,
    Sphere,
    fit_capsules,
    fit_spheres,
    fit_tapered_capsule,
    model,
)
from linkwork.collision.described import shape_of
from linkwork.collision.fitting import capsules, cover, fitted
from linkwork.collision.fitting import spheres as sphere_fitting
from linkwork.collision.fitting.surface import (
    FEW_EXACT,
    MOST_EXACT,
    Surface,
    hull_triangles,
    point_triangle,
    triangles,
)
from linkwork.deadlines import time_limit
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from tests.collision.placements import kernel, rotations
from tests.published import URDFS

trimesh = pytest.importorskip("trimesh")


@cache
def panda() -> lw.Robot:
    return lw.load(URDFS["panda/panda"])


@cache
def meshes() -> dict:
    """The Panda's nine collision meshes."""
    described = ((body.name, shape) for body in panda().model.bodies for shape in body.collisions)
    return {name: shape_of(shape, "test") for name, shape in described if shape.kind == "mesh"}


@cache
def spheres_of(body: str, tolerance: float) -> list[Sphere]:
    """Fitted to one of them."""
    return fit_spheres(meshes()[body], tolerance)


def in_one_ball(corners, centers, radii, depth=0):
    """Whether a triangle lies in the balls: all corners in one of them, or its four quarters do."""
    far = np.linalg.norm(corners[:, None] - centers, axis=2).max(axis=0)
    if (far <= radii).any():
        return True
    if depth > 9:
        return False
    a, b, c = corners
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = ([a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca])
    return all(in_one_ball(np.array(part), centers, radii, depth + 1) for part in parts)


def on_spheres(spheres, n, seed=0):
    """n points on each of some spheres."""
    directions = np.random.default_rng(seed).normal(size=(len(spheres), n, 3))
    directions /= np.linalg.norm(directions, axis=2)[..., None]
    centers, radii = np.array([s.center for s in spheres]), np.array([s.radius for s in spheres])
    return (centers[:, None] + radii[:, None, None] * directions).reshape(-1, 3)


def outside(points, corners):
    """How far points outside a closed surface are from it,
    0 for those inside (by the solid angle it fills)."""
    a, b, c = (corners[:, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    across = np.einsum("nmi,nmi->nm", a, np.cross(b, c))
    beside = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    angle = 2 * np.arctan2(across, beside).sum(axis=1)
    wide = np.broadcast_to(points[:, None], (len(points), len(corners), 3))
    rows = np.broadcast_to(corners.reshape(-1, 9), (len(points), len(corners), 9))
    distance = point_triangle()(wide, rows).min(axis=1)
    return np.where(np.abs(angle) > 2 * np.pi, 0.0, distance)


@pytest.mark.parametrize("body", ["panda_link0", "panda_hand"])
def test_spheres_cover_the_mesh_and_stick_out_by_the_tolerance_at_most(body):
    mesh = meshes()[body]
    spheres = spheres_of(body, 0.02)
    centers, radii = np.array([s.center for s in spheres]), np.array([s.radius for s in spheres])
    corners = triangles(mesh)
    assert all(in_one_ball(triangle, centers, radii) for triangle in corners)
    points = on_spheres(spheres, 8_000 // len(spheres))
    for begin in range(0, len(points), 2000):
        assert outside(points[begin : begin + 2000], corners).max() <= 0.02 + 1e-9


def test_a_sphere_less_would_not_cover():
    """The proof is no formality."""
    spheres = spheres_of("panda_link7", 0.02)[1:]
    centers, radii = np.array([s.center for s in spheres]), np.array([s.radius for s in spheres])
    assert not all(in_one_ball(t, centers, radii, 5) for t in triangles(meshes()["panda_link7"]))


def behind_others():
    """(a small triangle, balls): one holds it, 300 of nearly its size are nearer and do not."""
    ways = np.random.default_rng(3).normal(size=(300, 3))
    nearer = 0.6 * ways / np.linalg.norm(ways, axis=1)[:, None]
    centers = np.concatenate([nearer, [[0.0, 0.0, 0.9]]])
    radii = np.append(np.full(300, 0.5), 0.99)  # one octave
    return np.array([[[0.0, 0, 0], [0.02, 0, 0], [0, 0.02, 0]]]), centers, radii


def test_a_ball_behind_many_nearer_ones_is_asked():
    corners, centers, radii = behind_others()
    assert len(centers) > cover._MANY
    proof = cover.prove(corners, centers, radii, 0.01)
    assert proof.covered and np.flatnonzero(proof.needed).tolist() == [300]
    np.testing.assert_allclose(proof.needed[300], np.hypot(0.9, 0.02), rtol=1e-12)
    assert not cover.prove(corners, centers[:300], radii[:300], 0.01).covered


def test_spheres_that_are_not_proved_to_cover_are_not_given(monkeypatch):
    def unproved(corners, *_):
        return (np.zeros((1, 3)), np.ones(1)), cover.Proof(corners, np.ones(1))

    monkeypatch.setattr(sphere_fitting, "_chosen", unproved)
    with pytest.raises(
        ComputationError, match="test: 12 pieces of the surface lie in none of 1 spheres"
    ):
        sphere_fitting.covering_balls(triangles(Box((0.1, 0.1, 0.1))), 0.02, "test")


def test_the_panda_needs_few_spheres():
    """At most 60 and 140 for its nine collision meshes at 30 and 20 mm; 10 mm: test_many.py."""
    assert len(meshes()) == 9
    for tolerance, most in ((0.03, 60), (0.02, 140)):
        assert sum(len(spheres_of(body, tolerance)) for body in meshes()) <= most


def sorted_columns(spheres):
    rows = np.array([s.columns() for s in spheres])
    return rows[np.lexsort(rows.T.round(6))]


def test_posed_scaled_and_mirrored_meshes_get_the_same_spheres():
    # alike on no two sides
    corners = hull_triangles(np.random.default_rng(2).normal(size=(40, 3)) * [0.1, 0.07, 0.04])
    mesh = Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    plain = np.array([s.columns() for s in fit_spheres(mesh, 0.02)])
    A = 4.0 * np.diag([-1.0, 1.0, 1.0]) @ rotations(np.random.default_rng(5), 1).reshape(3, 3)
    moved = fit_spheres(Mesh(mesh.vertices @ A.T + [1.0, 2.0, 3.0], mesh.faces[:, ::-1]), 0.08)
    back = np.array(
        [[*np.linalg.solve(A, np.array(s.center) - [1.0, 2.0, 3.0]), s.radius / 4.0] for s in moved]
    )
    np.testing.assert_allclose(back, plain, rtol=0, atol=1e-9)


def test_posed_scaled_and_mirrored_meshes_get_the_same_capsules():
    """Small and far away: both round corners to 300 eps = 7e-14 of the scale;
    searches end within 1e-7 of the size."""
    points = np.random.default_rng(2).normal(size=(9, 3)) * [0.1, 0.07, 0.04] + [0.2, 0.0, -0.1]
    faces = np.arange(9).reshape(-1, 3)
    A = np.diag([-1.0, 1.0, 1.0]) @ rotations(np.random.default_rng(5), 1).reshape(3, 3)
    for fit in (lambda mesh: fit_capsules(mesh)[0], fit_tapered_capsule):
        plain = fit(Mesh(points, faces)).columns()
        for scale, shift in ((1e-3, [0.1, 0.2, 0.3]), (1.0, [100.0, 200.0, 300.0])):
            moved = fit(Mesh(scale * points @ A.T + shift, faces)).columns()
            ends = (scale * plain[:6].reshape(2, 3) @ A.T + shift).ravel()
            expected = np.concatenate([ends, scale * plain[6:]])
            np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("body", ["panda_link1", "panda_link6"])
def test_capsules_hold_every_vertex(body):
    mesh = meshes()[body]
    points = np.c_[mesh.world(), np.zeros(len(mesh.vertices))]
    (capsule,) = fit_capsules(mesh)
    assert kernel("sphere", "capsule")(points, capsule.columns())[0].max() <= 1e-12
    taper = fit_tapered_capsule(mesh)
    assert kernel("sphere", "tapered_capsule")(points, taper.columns())[0].max() <= 1e-12


def test_several_capsules_hold_the_surface_together():
    mesh = meshes()["panda_link5"]
    both = fit_capsules(mesh, 2)
    samples = trimesh.sample.sample_surface(
        trimesh.Trimesh(mesh.world(), mesh.faces), 5000, seed=1
    )[0]
    points = np.c_[samples, np.zeros(len(samples))]
    nearest = np.min([kernel("sphere", "capsule")(points, c.columns())[0] for c in both], axis=0)
    assert len(both) == 2 and nearest.max() <= 1e-9


def test_a_capsule_around_a_capsule_is_that_capsule():
    """The points of a fine capsule: the search finds its volume within a percent."""
    mesh = trimesh.creation.capsule(height=0.4, radius=0.1, count=[32, 32])
    (found,) = fit_capsules(Mesh(np.array(mesh.vertices), np.array(mesh.faces)))
    np.testing.assert_allclose(found.radius, 0.1, rtol=0.01)
    np.testing.assert_allclose(np.linalg.norm(np.subtract(found.end, found.start)), 0.4, rtol=0.02)


def test_a_tapered_capsule_around_one_is_that_one():
    """The points of two balls: the search finds their radii and the distance of their centres."""
    rng = np.random.default_rng(4)
    ways = rng.normal(size=(2, 400, 3))
    ways /= np.linalg.norm(ways, axis=2)[..., None]
    points = np.concatenate([0.12 * ways[0], 0.05 * ways[1] + [0.4, 0.1, 0.0]])
    found = fit_tapered_capsule(Mesh(points, np.arange(798).reshape(-1, 3)))
    np.testing.assert_allclose(
        sorted([found.start_radius, found.end_radius]), [0.05, 0.12], rtol=0.04
    )
    np.testing.assert_allclose(
        np.linalg.norm(np.subtract(found.end, found.start)), np.hypot(0.4, 0.1), rtol=0.02
    )


def test_an_open_mesh_is_taken_for_its_hull(caplog):
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    opened = Mesh(np.array(box.vertices), np.array(box.faces)[:6])
    with caplog.at_level(logging.WARNING, "linkwork"):
        spheres = fit_spheres(opened, 0.02)
    assert "the surface is open" in caplog.text
    centers, radii = np.array([s.center for s in spheres]), np.array([s.radius for s in spheres])
    assert all(
        in_one_ball(t, centers, radii)
        for t in hull_triangles(opened.vertices[np.unique(opened.faces)])
    )


def test_a_mesh_inside_out_is_filled_as_well():
    mesh = meshes()["panda_link7"]
    turned = Mesh(mesh.vertices, mesh.faces[:, ::-1])
    assert len(fit_spheres(turned, 0.02)) == len(spheres_of("panda_link7", 0.02))


@pytest.mark.parametrize(
    "shape",
    [Box((0.3, 0.2, 0.1)), Cylinder(0.05, 0.3), Box((0.08, 0.06, 0.0)), Box((1e-4, 1e-4, 1e-4))],
)
def test_boxes_cylinders_sheets_and_tiny_things_are_covered(shape):
    spheres = fit_spheres(shape, 0.02)
    centers, radii = np.array([s.center for s in spheres]), np.array([s.radius for s in spheres])
    assert all(in_one_ball(t, centers, radii) for t in triangles(shape))
    if max(getattr(shape, "size", (1.0,))) < 1e-3:
        assert len(spheres) == 1


def test_many_triangles_take_no_longer_than_they_must():
    """A ball of 20 000 triangles: few spheres, one that nearly fills it among them."""
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.2)
    spheres = fit_spheres(Mesh(np.array(ball.vertices), np.array(ball.faces)), 0.02)
    assert len(ball.faces) > 20_000 and len(spheres) <= 3
    assert max(s.radius for s in spheres) >= 0.2 - 1e-6


def test_a_plate_beside_thousands_of_small_triangles_is_still_filled():
    """Large triangles say little about where the next one is; they are asked one by one."""
    plate = trimesh.creation.box((0.4, 0.3, 0.1))
    knob = trimesh.creation.icosphere(subdivisions=4, radius=0.01)
    knob.apply_translation((0.2, 0.15, 0.05))
    both = trimesh.util.concatenate([plate, knob])
    alone, with_knob = (
        len(fit_spheres(Mesh(np.array(solid.vertices), np.array(solid.faces)), 0.03))
        for solid in (plate, both)
    )
    assert len(both.faces) > 5000 and with_knob <= 1.2 * alone


def test_few_triangles_of_each_of_many_sizes_are_not_all_measured():
    """Eight sizes of 900 triangles: the large ones are measured wholly, of others the nearest;
    the bound stays one."""
    rng = np.random.default_rng(8)
    sizes = np.repeat(2.0 ** -np.arange(3, 11), 900)[:, None, None]
    corners = rng.uniform(-1, 1, (7200, 1, 3)) + sizes * rng.uniform(-1, 1, (7200, 3, 3)) / np.sqrt(
        3
    )
    surface = Surface(corners)
    exact, others = surface._by_size()
    assert FEW_EXACT < len(exact) <= MOST_EXACT
    np.testing.assert_array_equal(np.sort(np.concatenate([exact, *others])), np.arange(7200))
    assert surface.reach.argmax() in exact and others  # large ones first
    points = rng.uniform(-1, 1, (40, 3))
    bound, distance = surface.distance(points), nearest_of_all(points, corners)
    assert (bound <= distance + 1e-15).all() and (distance - bound).max() < 0.02
    few = np.arange(5)
    np.testing.assert_array_equal(
        surface._of_size(points, few), nearest_of_all(points, corners[few])
    )


def nearest_of_all(points, corners):
    rows = corners.reshape(-1, 9)
    return np.array(
        [point_triangle()(np.tile(point, (len(rows), 1)), rows).min() for point in points]
    )


def test_distances_of_a_surface_end_with_the_time():
    asked = Surface(triangles(Box((1, 1, 1)))), np.zeros((1, 3))
    Surface.distance(*asked)  # compiled
    with (
        pytest.raises(NotPossible, match="fit: not done within time_limit"),
        time_limit(1e-9, "fit"),
    ):
        Surface.distance(*asked)


def test_capsules_around_many_triangles_hold_them_and_are_hardly_larger():
    """An egg of 20 000 triangles, whose search looks at few corners, beside the same egg of
    1280."""
    volumes = []
    for subdivisions in (3, 5):
        ball = trimesh.creation.icosphere(subdivisions=subdivisions, radius=0.1)
        points = np.array(ball.vertices) * [1.0, 0.5, 0.4] + 0.3 * np.array(ball.vertices)[
            :, :1
        ] ** 2 * [0.0, 1.0, 0.0]
        egg = Mesh(points, np.array(ball.faces))
        assert (3 * len(egg.faces) > capsules._MANY) == (subdivisions == 5)
        (capsule,) = fit_capsules(egg)
        taper = fit_tapered_capsule(egg)
        reach = kernel("sphere", "capsule")(
            np.c_[points, np.zeros(len(points))], capsule.columns()
        )[0]
        tapered = kernel("sphere", "tapered_capsule")(
            np.c_[points, np.zeros(len(points))], taper.columns()
        )[0]
        assert reach.max() <= 1e-12 and tapered.max() <= 1e-12
        length = np.linalg.norm(np.subtract(capsule.end, capsule.start))
        volumes.append(np.pi * capsule.radius**2 * (length + 4.0 / 3.0 * capsule.radius))
    assert volumes[1] < 1.03 * volumes[0]


def test_a_mesh_of_one_point_gets_one_sphere():
    (sphere,) = fit_spheres(Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]])), 0.02)
    assert 0.0 < sphere.radius <= 0.02 and np.allclose(sphere.center, 0.0)


def test_models_of_fitted_shapes_say_what_they_are():
    shapes, report = fitted(
        {"link": [meshes()["panda_link1"], Sphere((0, 0, 0), 0.1)]}, "capsules", 0.02
    )
    assert [shape.kind for shape in shapes["link"]] == ["capsule", "sphere"]
    assert report.rows[0].covered and 0.005 < report.rows[0].mean_excess < 0.03
    hulls = model(panda(), shapes="convex", pairs=[])
    assert (
        hulls.shapes["panda_link1"][0].kind == "convex"
        and hulls.shapes["panda_leftfinger"][0].kind == "box"
    )


def test_round_shapes_stay_round():
    """A capsule becomes balls along it that stick out by no more than the tolerance."""
    capsule = Capsule((0, 0, 0), (0, 0, 1), 0.1)
    shapes, report = fitted({"a": [capsule, Sphere((1, 0, 0), 0.3)]}, "spheres", 0.02)
    assert {shape.kind for shape in shapes["a"]} == {"sphere"} and shapes["a"][-1].radius == 0.3
    assert report.rows[0].largest_excess <= 0.02
    rng = np.random.default_rng(0)
    angle, z = rng.uniform(0, 2 * np.pi, 2000), rng.uniform(0, 1, 2000)
    side = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), z], axis=1)
    inside = [np.linalg.norm(side - s.center, axis=1) <= s.radius + 1e-12 for s in shapes["a"]]
    assert np.any(inside, axis=0).all()


def test_what_cannot_be_fitted_is_refused_in_words():
    with pytest.raises(InvalidInput, match="tolerance is 0 m, expected a positive length"):
        fit_spheres(meshes()["panda_hand"], 0.0)
    with pytest.raises(InvalidInput, match="tolerance is"):
        fit_spheres(meshes()["panda_hand"], np.nan)
    with pytest.raises(InvalidInput, match="count is 0"):
        fit_capsules(meshes()["panda_hand"], 0)
    with pytest.raises(InvalidInput, match="str cannot be fitted to"):
        fit_spheres("hand.stl")
    with pytest.raises(NotPossible, match="round already"):
        fit_spheres(Sphere((0, 0, 0), 1))
    with pytest.raises(InvalidInput, match="larger tolerance"):
        fit_spheres(Box((100.0, 100.0, 100.0)), 1e-4)
