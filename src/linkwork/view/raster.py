"""Rasteriser: triangles as a picture, without a window or a graphics card.

A visibility buffer (which triangle is nearest, for every pixel) filled by scanlines, then deferred
shading: normals are interpolated, light comes from one side and from the sky, edges are darkened
where depth jumps ([Luft2006]), and a soft shadow lies on the floor. Every step is a numpy call over
all triangles, rows or pixels. Two by two samples a pixel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GHOSTLY = np.float32(0.6)
"""How much of what is behind it a ghost covers."""
SAMPLES = 2
"""Samples a pixel, in each direction."""
LIGHT = np.array([0.30, -0.52, 0.80]) / np.linalg.norm([0.30, -0.52, 0.80])
"""Where the light comes from, world axes."""
FIELD = np.deg2rad(26.0)
"""Angle of view, from side to side of the shorter edge."""
PAPER = np.ones(3, dtype=np.float32)
LINES = np.array([0.80, 0.83, 0.87], dtype=np.float32)
"""Colours of the background and of the lines on the floor."""


@dataclass(frozen=True)
class Mesh:
    """Triangles in world axes: vertices (n, 3) [m], normals (n, 3), faces (m, 3),
    colors (m, 3) from 0 to 1."""

    vertices: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    colors: np.ndarray


def merged(meshes: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    parts = [
        np.concatenate([getattr(mesh, name) for mesh in meshes])
        for name in ("vertices", "normals", "colors")
    ]
    return Mesh(parts[0], parts[1], np.concatenate(faces), parts[2])


def vertex_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(n, 3): the mean direction of the faces at each vertex, large ones counting more."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    total = np.zeros((len(vertices), 3))
    for k in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(faces[:, k], across[:, axis], len(vertices))
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)


@dataclass(frozen=True)
class Camera:
    """Looks along -z of its axes R_world_camera (columns right, up, back) from `position`;
    width x height pixels."""

    R: np.ndarray
    position: np.ndarray
    width: int
    height: int

    @property
    def focal(self) -> float:
        """Pixels of one unit of x / z."""
        return min(self.width, self.height) / 2 / float(np.tan(FIELD / 2))

    def project(self, points: np.ndarray) -> np.ndarray:
        """(n, 3): column and row [pixel], and 1 / distance along the view,
        which is affine on the screen."""
        seen = (points - self.position) @ self.R
        near = 1.0 / np.maximum(-seen[:, 2], 1e-9)
        column = self.width / 2 + self.focal * seen[:, 0] * near
        row = self.height / 2 - self.focal * seen[:, 1] * near
        return np.stack([column, row, near], axis=-1)


def axes_of(azimuth: float, elevation: float) -> np.ndarray:
    """R_world_camera of a camera that stands at azimuth and elevation [deg] from what it looks at;
    z is up."""
    a, e = np.deg2rad([azimuth, elevation])
    back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(back, right), back], axis=-1)


def fitted(
    points: np.ndarray, R: np.ndarray, width: int, height: int, margin: float = 0.07
) -> Camera:
    """The nearest camera with axes R that has all points (n, 3) in its picture,
    with a margin on each side.

    A point (x, y, z) in camera axes is inside when |x - cx| <= s (cz - z), likewise for y: the
    smallest cz is closed.
    """
    short = min(width, height)
    slopes = np.tan(FIELD / 2) * np.array([width, height]) / short * (1 - 2 * margin)
    seen = points @ R
    places, depths = [], []
    for axis, slope in enumerate(slopes):
        far = (seen[:, axis] + slope * seen[:, 2]).max()
        near = (-seen[:, axis] + slope * seen[:, 2]).max()
        places.append((far - near) / 2)
        depths.append((far + near) / (2 * slope))
    position = R @ np.array([*places, max(depths) + 1e-6])
    return Camera(R, position, width, height)


@dataclass(frozen=True)
class Floor:
    """A plane at a height [m] seen by a camera: its picture (h, w, 3),
    and where rays go down to it (h, w)."""

    height: float
    image: np.ndarray
    below: np.ndarray


def render(
    mesh: Mesh, camera: Camera, size: float, floor: Floor | None = None, ghosts: Mesh | None = None
) -> np.ndarray:
    """(height, width, 3) of bytes: a mesh on a floor with its shadow. size [m]: of what is shown.

    ghosts   seen through, and never in front of the mesh: what stands where the mesh does would
             flicker with it
    """
    behind = PAPER if floor is None else _shadowed(mesh, camera, floor)
    if ghosts is not None:
        faint = GHOSTLY * _layer(ghosts, camera, size)
        behind = faint[..., :3] + (1 - faint[..., 3:]) * behind
    layer = _layer(mesh, camera, size)
    whole = layer[..., :3] + (1 - layer[..., 3:]) * behind
    return np.asarray((255 * np.clip(whole, 0, 1) + 0.5).astype(np.uint8))


def _layer(mesh: Mesh, camera: Camera, size: float) -> np.ndarray:
    """(height, width, 4): colours of a mesh times what it covers of each pixel,
    which is the fourth."""
    fine = Camera(camera.R, camera.position, SAMPLES * camera.width, SAMPLES * camera.height)
    corners = fine.project(mesh.vertices)[mesh.faces]
    nearest = _nearest(corners, fine.width, fine.height)
    hit = nearest >= 0
    colors, depth = _shaded(mesh, fine, corners, nearest)
    shown = colors * _contours(depth, hit, size)[hit][:, None]
    row, column = np.nonzero(hit)
    pixel = row // SAMPLES * camera.width + column // SAMPLES
    sums = [
        np.bincount(pixel, part, camera.width * camera.height)
        for part in (*shown.T, np.ones(len(pixel)))
    ]
    shares = np.stack(sums, axis=-1).astype(np.float32) / np.float32(SAMPLES**2)
    return np.asarray(shares.reshape(camera.height, camera.width, 4))


def floor_of(camera: Camera, height: float, middle: np.ndarray, size: float) -> Floor:
    """A floor with a grid that fades with the distance from `middle` (2,) [m]."""
    sideways = (np.arange(camera.width) + 0.5 - camera.width / 2) / camera.focal
    upwards = ((camera.height / 2 - np.arange(camera.height) - 0.5) / camera.focal)[:, None]
    # of the ray of each pixel
    x, y, z = (right * sideways + up * upwards - back for right, up, back in camera.R)
    below = (z < -1e-6) & (camera.position[2] > height)
    along = (height - camera.position[2]) / np.minimum(z, -1e-6)
    # on the floor
    x, y = (start + along * slope for start, slope in zip(camera.position, (x, y), strict=False))
    far = ((x - middle[0]) ** 2 + (y - middle[1]) ** 2) / (1.1 * size) ** 2
    cell = float(10.0 ** np.round(np.log10(size) - 0.7))
    # of a pixel on the floor, seen from straight above
    wide = np.maximum(along / camera.focal, 1e-12)
    away = np.minimum(*(np.abs(place / cell - np.round(place / cell)) for place in (x, y))) * cell
    line = np.clip(1.3 - away / wide, 0.0, 1.0)
    image = PAPER + (LINES - PAPER) * (line * np.exp(-far) * below).astype(np.float32)[..., None]
    return Floor(height, image, below)


def _nearest(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """(height, width): the number of the nearest triangle at every pixel's centre,
    -1 where there is none.

    corners (m, 3, 3): column, row, nearness. Pixels on an edge belong to both sides, so that no
    gaps are left.
    """
    tile, at, nearness = _fragments(corners, width, height)
    depth = (1.0 - nearness / max(float(nearness.max(initial=0.0)), 1e-300)) * (2**31 - 1)
    keys = (np.clip(depth, 0, 2**31 - 1).astype(np.uint64) << np.uint64(32)) | tile.astype(
        np.uint64
    )
    empty = np.uint64(2**63)
    buffer = np.full(width * height, empty, dtype=np.uint64)
    np.minimum.at(buffer, at, keys)
    triangle = (buffer & np.uint64(2**32 - 1)).astype(np.int64)
    return np.where(buffer == empty, -1, triangle).reshape(height, width)


def _fragments(
    corners: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(triangle, pixel, nearness) of every pixel of every triangle,
    by the span of each row that it crosses."""
    edges, good = _edges(corners)
    rows = corners[..., 1]
    top = np.clip(np.ceil(rows.min(axis=1) - 0.5), 0, height).astype(np.int64)
    bottom = np.clip(np.floor(rows.max(axis=1) - 0.5), -1, height - 1).astype(np.int64)
    counts = np.where(good, np.maximum(bottom - top + 1, 0), 0)
    tile = np.repeat(np.arange(len(corners)), counts)
    row = _counting(counts) + np.repeat(top, counts)
    # an edge a x + b y + c >= 0 bounds the span of its row from the left where a > 0,
    # from the right where a < 0
    left, right = np.zeros(len(tile)), np.full(len(tile), float(width))
    with np.errstate(divide="ignore", invalid="ignore"):
        for a, b, c in edges.transpose(1, 2, 0):
            slope, rest = a[tile], b[tile] * (row + 0.5) + c[tile]
            cut = -rest / slope
            np.copyto(left, np.maximum(left, cut), where=slope > 0)
            np.copyto(right, np.minimum(right, cut), where=slope < 0)
            np.copyto(right, -1.0, where=(slope == 0) & (rest < 0))
    first = np.ceil(np.minimum(left, width) - 0.5 - 1e-6).clip(0).astype(np.int64)
    last = np.floor(np.maximum(right, -1.0) - 0.5 + 1e-6).clip(-1, width - 1).astype(np.int64)
    spans = np.maximum(last - first + 1, 0)
    # the edges are barycentric coordinates
    p, q, r = np.einsum("mek,me->km", edges, corners[..., 2])
    begin = p[tile] * (first + 0.5) + q[tile] * (row + 0.5) + r[tile]
    steps = _counting(spans)
    nearness = np.repeat(begin, spans) + np.repeat(p[tile], spans) * steps
    return np.repeat(tile, spans), np.repeat(row * width + first, spans) + steps, nearness


def _edges(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """((m, 3, 3) coefficients a, b, c of the barycentric coordinates over the screen, whether a
    triangle has area)."""
    x, y = corners[..., 0], corners[..., 1]
    after, before = [1, 2, 0], [2, 0, 1]
    a = y[:, after] - y[:, before]
    b = x[:, before] - x[:, after]
    c = x[:, after] * y[:, before] - x[:, before] * y[:, after]
    area = c.sum(axis=1)
    good = np.abs(area) > 1e-9
    scale = np.where(good, area, 1.0)[:, None, None]
    return np.stack([a, b, c], axis=-1) / scale, good


def _counting(counts: np.ndarray) -> np.ndarray:
    """0, 1, ... up to each count, one after another."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def _shaded(
    mesh: Mesh, camera: Camera, corners: np.ndarray, nearest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(colours (n, 3) of the n pixels that are hit, distance along the view (h, w), infinite where
    nothing is)."""
    hit = nearest >= 0
    row, column = np.nonzero(hit)
    tile = nearest[hit]
    edges, _ = _edges(corners)
    faces, normals = mesh.faces[tile], mesh.normals.astype(np.float32)
    normal = np.zeros((len(tile), 3), dtype=np.float32)
    nearness = np.zeros(len(tile))
    for k in range(3):
        a, b, c = (edges[:, k, i][tile] for i in range(3))
        share = (a * (column + 0.5) + b * (row + 0.5) + c) * corners[:, k, 2][tile]  # perspective
        nearness += share
        normal += share.astype(np.float32)[:, None] * normals[faces[:, k]]
    normal = _unit(normal)
    sideways = ((column + 0.5 - camera.width / 2) / camera.focal).astype(np.float32)
    upwards = ((camera.height / 2 - row - 0.5) / camera.focal).astype(np.float32)
    seen = np.stack([sideways, upwards, np.full(len(row), -1.0, np.float32)], axis=-1)
    ray = _unit(seen @ camera.R.T.astype(np.float32))
    facing = np.einsum("nk,nk->n", normal, ray)
    normal = np.where(facing[:, None] > 0, -normal, normal)  # meshes may be inside out
    depth = np.full(nearest.shape, np.inf, dtype=np.float32)
    depth[hit] = 1.0 / np.maximum(nearness, 1e-12)
    return _lit(mesh.colors.astype(np.float32)[tile], normal, ray, np.abs(facing)), depth


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.sqrt(np.einsum("nk,nk->n", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1e-30)[:, None])


def _lit(colors: np.ndarray, normal: np.ndarray, ray: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Light from one side, from the sky and from the camera, and a soft gloss (Blinn-Phong)."""
    light = LIGHT.astype(np.float32)
    key = np.maximum(normal @ light, 0)
    sky = 0.5 + 0.5 * normal[:, 2]
    gloss = 0.16 * np.maximum(np.einsum("nk,nk->n", normal, _unit(light - ray)), 0) ** 28
    brightness = 0.26 + 0.48 * key + 0.20 * sky + 0.16 * facing
    return np.asarray(colors * brightness[:, None] + gloss[:, None])


def _contours(depth: np.ndarray, hit: np.ndarray, size: float) -> np.ndarray:
    """Factors from 0.6 to 1: darker behind an edge, by how far depth lies behind its blurred
    self."""
    factors = np.ones_like(depth)
    if not hit.any():
        return factors
    rows, columns = (np.flatnonzero(hit.any(axis=axis)) for axis in (1, 0))
    box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]  # the rest is paper
    inside = hit[box]
    far = np.where(inside, depth[box], depth[hit].max())
    behind = np.where(inside, far - _blurred(far, max(2, round(0.006 * min(depth.shape)))), 0)
    factors[box] = 1.0 - 0.40 * np.clip(behind / (0.10 * size), 0, 1)
    return factors


def _shadowed(mesh: Mesh, camera: Camera, floor: Floor) -> np.ndarray:
    """The floor's picture with the soft shadow of a mesh."""
    fallen = mesh.vertices - LIGHT * ((mesh.vertices[:, 2] - floor.height) / LIGHT[2])[:, None]
    dark = _nearest(camera.project(fallen)[mesh.faces], camera.width, camera.height) >= 0
    short = min(camera.width, camera.height)
    soft = _blurred(_blurred(dark.astype(np.float32), round(0.006 * short)), round(0.012 * short))
    return np.asarray(floor.image * (1.0 - 0.26 * soft * floor.below)[..., None])


def _blurred(image: np.ndarray, radius: int) -> np.ndarray:
    """The mean over a square of 2 radius + 1 pixels around each, by running sums; edges repeat."""
    if radius < 1:
        return image
    for axis in (0, 1):
        pad = [(radius + 1, radius) if k == axis else (0, 0) for k in (0, 1)]
        sums = np.cumsum(np.pad(image, pad, mode="edge"), axis=axis, dtype=float)
        width, n = 2 * radius + 1, image.shape[axis]
        swung = sums.swapaxes(0, axis)
        image = ((swung[width : width + n] - swung[:n]) / width).swapaxes(0, axis)
    return image
