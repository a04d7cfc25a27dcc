"""Shapes: what they refuse, and that moving and growing them is what the distances say it is."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.collision import (
    Box,
    Capsule,
    Cloud,
    Convex,
    Cylinder,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
    TaperedCapsule,
)
from linkwork.collision.distances import COLUMNS
from linkwork.collision.placing import placed
from linkwork.errors import InvalidFile, InvalidInput, NotPossible
from tests.collision.placements import kernel, rotations

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
TURNED = np.eye(4)
TURNED[:3, :3] = rotations(np.random.default_rng(3), 1).reshape(3, 3)
TURNED[:3, 3] = [0.3, -0.2, 0.5]
SHAPES = [
    Sphere((0.1, 0.2, 0.3), 0.4),
    Capsule((0, 0, 0), (0.3, 0.2, 0.1), 0.1),
    TaperedCapsule((0, 0, 0), (0.3, 0.2, 0.1), 0.1, 0.2),
    Box((0.1, 0.2, 0.3), TURNED),
    HalfSpace((1, 2, 2), 0.4),
    Cylinder(0.1, 0.4, TURNED),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_columns_are_those_of_the_distances(shape):
    assert shape.columns().shape == (len(COLUMNS[shape.kind]),)


@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if shape.kind in ("sphere", "capsule", "box")]
)
def test_moving_a_shape_moves_its_distance_to_a_half_space(shape):
    """Both moved by the same motion are as far apart as before."""
    ground = HalfSpace((0, 0, 1), -1.0)
    T = placed(TURNED, "test")
    distance = kernel(shape.kind, "half_space")
    before = distance(shape.columns(), ground.columns())[0]
    after = distance(shape.moved(T).columns(), ground.moved(T).columns())[0]
    assert before > 0
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if shape.kind in ("sphere", "capsule")]
)
def test_growing_a_round_shape_takes_its_padding_from_the_distance(shape):
    ground = HalfSpace((0, 0, 1), -1.0)
    distance = kernel(shape.kind, "half_space")
    before, after = (
        distance(each.columns(), ground.columns())[0] for each in (shape, shape.grown(0.05))
    )
    np.testing.assert_allclose(before - after, 0.05, rtol=0, atol=1e-15)


@pytest.mark.parametrize("shape", [*SHAPES[:4], SHAPES[5]], ids=lambda shape: shape.kind)
def test_the_ball_holds_the_shape(shape):
    """Its lowest point along any direction is not outside the ball."""
    if shape.kind not in ("sphere", "capsule", "box"):
        pytest.skip("no distance to a half-space to ask")
    center, radius = shape.ball()
    rng = np.random.default_rng(0)
    for n in rng.normal(size=(50, 3)):
        n /= np.linalg.norm(n)
        far = HalfSpace(n, -10.0)
        lowest = kernel(shape.kind, "half_space")(shape.columns(), far.columns())[0] - 10.0
        assert lowest >= n @ center - radius - 1e-12


def test_a_normal_becomes_a_unit_vector():
    assert HalfSpace((0, 0, 5), 1).normal == (0, 0, 1)


def test_meshes_are_compared_by_content():
    mesh = Mesh(TRIANGLE, [[0, 1, 2]])
    assert mesh == Mesh(TRIANGLE.copy(), [[0, 1, 2]]) and hash(mesh) == hash(
        Mesh(TRIANGLE, [[0, 1, 2]])
    )
    assert mesh != Mesh(TRIANGLE + 1, [[0, 1, 2]])
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0, 0] = 1.0


NAN = float("nan")
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
SHEAR = np.eye(4) + np.eye(4, k=1) * [0.0, 0.1, 0.0, 0.0]
REFUSED = {
    "a centre that is NaN": (lambda: Sphere((0, 0, NAN), 1), "Sphere: center is"),
    "a negative radius": (
        lambda: Sphere((0, 0, 0), -0.1),
        "Sphere: radius is -0.1 m, expected no negative length",
    ),
    "a centre of two numbers": (lambda: Sphere((0, 0), 1), "Sphere: center has shape"),
    "a negative radius of a capsule": (
        lambda: Capsule((0, 0, 0), (1, 0, 0), -1),
        "Capsule: radius is -1 m",
    ),
    "a negative end": (
        lambda: TaperedCapsule((0, 0, 0), (1, 0, 0), 1, -1),
        "TaperedCapsule: end_radius is -1 m",
    ),
    "a negative side": (lambda: Box((1, -1, 1)), "Box: size is"),
    "a pose that is NaN": (lambda: Box((1, 1, 1), np.full((4, 4), NAN)), "Box: pose is"),
    "a mirror": (lambda: Box((1, 1, 1), MIRROR), "determinant -1"),
    "a shear": (lambda: Cylinder(1, 1, SHEAR), "Cylinder: pose: rotation matrix is not orthogonal"),
    "a last row": (lambda: Box((1, 1, 1), np.ones((4, 4))), "the last row of pose"),
    "a pose of five numbers": (lambda: Box((1, 1, 1), np.zeros(5)), "Box: pose has shape"),
    "a normal of no length": (lambda: HalfSpace((0, 0, 0), 1), "HalfSpace: normal is"),
    "an empty mesh": (
        lambda: Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)),
        "Mesh: vertices has shape",
    ),
    "a mesh without faces": (
        lambda: Mesh(TRIANGLE, np.zeros((0, 3), int)),
        "Mesh: faces has shape",
    ),
    "a face that names no vertex": (lambda: Mesh(TRIANGLE, [[0, 1, 3]]), "faces name vertex 3"),
    "a hull of nothing": (lambda: Convex(np.zeros((0, 3))), "Convex: vertices has shape"),
    "words": (lambda: Convex([["a", "b", "c"]]), "Convex: vertices has dtype"),
    "a height field with one row": (
        lambda: HeightField([[1.0, 2.0]]),
        "at least two rows and columns",
    ),
    "cells of no size": (
        lambda: HeightField(np.zeros((2, 2)), (0.0, 1.0)),
        "expected positive lengths",
    ),
    "a padding that shrinks too much": (lambda: Sphere((0, 0, 0), 0.1).grown(-0.2), "below zero"),
    "a name that is none": (lambda: Sphere((0, 0, 0), 0.1, name=3), "expected a name"),
    "a billion points": (lambda: Cloud(np.broadcast_to(np.zeros(3), (10**9, 3))), "about 12 GB"),
    "a cloud of nothing": (lambda: Cloud(np.zeros((0, 3))), "Cloud: points has shape"),
    "a mesh file that is not there": (lambda: Mesh.read("no/such/file.stl"), "no such file"),
}


@pytest.mark.parametrize(("make", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_shape_is_refused_in_words(make, sentence):
    with pytest.raises((InvalidInput, NotPossible, InvalidFile), match=sentence):
        make()


def test_a_mesh_is_read_scaled_and_mirrored(tmp_path):
    """A mirror turns triangles round, so that they look outwards again."""
    trimesh = pytest.importorskip("trimesh")
    file = tmp_path / "box.stl"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file)
    plain, mirrored = Mesh.read(file), Mesh.read(file, (-2.0, 1.0, 1.0))
    np.testing.assert_allclose(np.ptp(mirrored.vertices, axis=0), [2.0, 2.0, 3.0])
    volumes = [trimesh.Trimesh(mesh.vertices, mesh.faces).volume for mesh in (plain, mirrored)]
    np.testing.assert_allclose(volumes, [6.0, 12.0])


def test_a_height_field_is_triangles_at_its_heights():
    field = HeightField([[0.0, 1.0, 2.0], [0.0, 1.0, 5.0]], (0.5, 0.25), (1.0, 2.0, 3.0))
    vertices, faces = field.triangles()
    assert faces.shape == (4, 3)
    np.testing.assert_allclose(vertices[5], [1.5, 2.5, 8.0])
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # they look up
