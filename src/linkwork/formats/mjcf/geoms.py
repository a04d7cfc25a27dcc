"""Geoms: the shapes of a body, to draw, to collide and to weigh."""

from __future__ import annotations

import math

import numpy as np

from linkwork.formats.mjcf.assets import Assets
from linkwork.formats.mjcf.mesh_inertia import MeshIntegrals
from linkwork.formats.mjcf.orientation import between, placement
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.solids import Solid, hull, solid
from linkwork.formats.mjcf.vocabulary import GEOM_TYPES
from linkwork.formats.mjcf.words import Words
from linkwork.model.body import Shape
from linkwork.model.inertia import MassProperties
from linkwork.model.number import IDENTITY, ZERO, Vector
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_matrix

WATER = 1000.0
"""Density of a geom that says nothing [kg/m^3]."""

SMALLEST_CONTENT = 1e-14
_WEIGHING = frozenset(("mass", "density", "shellinertia"))
_TOUCHING = frozenset(("contype", "conaffinity"))
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_DRAWN_GROUPS = (0, 1, 2)
"""The groups of geoms that MuJoCo's viewer shows when nothing is chosen;
collision shapes usually stand in 3."""


class Geom:
    """One geom of a body: `around` is T_body_frame of the <frame> elements it stands in.

    `is_fitted`: a primitive shape that takes place and size from a mesh.
    """

    __slots__ = ("_placed", "around", "assets", "group", "is_fitted", "kind", "settings", "words")

    def __init__(
        self, words: Words, around: Placement, settings: CompilerSettings, assets: Assets
    ) -> None:
        self.words, self.around, self.settings, self.assets = words, around, settings, assets
        self.kind = words.choice("type", GEOM_TYPES, "sphere")
        self.group = words.whole("group", 0)
        self._placed: tuple[Placement, Vector] | None = None
        self.is_fitted = self.kind in _SIZES and bool(words.text("mesh", ""))

    @property
    def placed(self) -> tuple[Placement, Vector]:
        """(T_body_geom, sizes as in MJCF), found once; of a mesh the frame of its file."""
        if self._placed is None:
            self._placed = self._place()
        return self._placed

    def _place(self) -> tuple[Placement, Vector]:
        words, T = self.words, self.around
        x, y, z = words.overlaid("size", (0.0, 0.0, 0.0))
        if self.is_fitted:
            T_file_geom, size = self._fit()
            return T @ placement(words, self.settings) @ T_file_geom, self._checked(size)
        if words.has("fromto"):
            if self.kind not in ("capsule", "cylinder", "ellipsoid", "box"):
                raise words.holder("fromto").error(
                    f"has fromto and is a {self.kind}, expected capsule, cylinder, box"
                )
            T_frame_geom, half = between(words)
            size = (x, half, z) if self.kind in ("capsule", "cylinder") else (x, x, half)
            return T @ T_frame_geom, self._checked(size)
        if self.kind == "hfield":
            return T @ placement(words, self.settings), self.assets.hfield_size(words)
        return T @ placement(words, self.settings), self._checked((x, y, z))

    def _checked(self, size: Vector) -> Vector:
        needed = _SIZES.get(self.kind, 0)
        for extent in size[:needed]:
            if not 0.0 < extent < math.inf:
                sizes = " ".join(f"{s:g}" for s in size[:needed])
                raise self.words.error(
                    f'is a {self.kind} of size "{sizes}", expected {needed} positive numbers'
                )
        return size

    # weight

    @property
    def weighs(self) -> bool:
        """Whether its group is one that mass is inferred from."""
        return self.settings.groups[0] <= self.group <= self.settings.groups[1]

    def matter(self) -> MassProperties:
        """Its mass properties in body axes, from `mass`,
        or `density` times its volume (of a shell: its area)."""
        words = self.words
        mass, density, has_mass = 0.0, WATER, False
        if not words.has_none_of(_WEIGHING):
            mass = words.number("mass", 0.0)
            density = words.number("density", WATER)
            has_mass = words.has("mass")
            if mass < 0.0 or density < 0.0:
                raise words.error(
                    f"has mass {mass:g} and density {density:g}, expected numbers that are not "
                    "negative"
                )
        if self.kind == "plane" or (mass if has_mass else density) == 0.0:
            return MassProperties()
        if self.kind == "sdf":
            raise words.error(
                "is a signed distance field, whose mass only MuJoCo's plugin knows; give it mass=0"
            )
        shell = words.flag("shellinertia", False)
        if self.kind == "mesh":
            if shell:
                raise words.holder("shellinertia").error(
                    'has shellinertia; give its mesh inertia="shell" instead'
                )
            return self._mesh_matter(mass, density)
        T, size = self.placed
        try:
            content, moments = _solid(self.kind, size, shell)
        except (OverflowError, ZeroDivisionError):
            raise words.error("has sizes whose mass properties are beyond the numbers") from None
        if has_mass:
            mass = mass if content > SMALLEST_CONTENT else 0.0
        else:
            mass = density * content
        x, y, z = moments
        inertia = ((mass * x, 0.0, 0.0), (0.0, mass * y, 0.0), (0.0, 0.0, mass * z))
        if T.rotation is IDENTITY:
            return MassProperties(mass, T.position, inertia)
        return MassProperties(mass, ZERO, inertia).seen_from(T)

    def _mesh_matter(self, mass: float, density: float) -> MassProperties:
        self.assets.mesh(self.words.text("mesh"), self.words)
        integrals = self.assets.integrals(self.words.text("mesh"))
        mass = mass if self.words.has("mass") else density * integrals.content
        xx, xy, xz, yy, yz, zz = (
            mass * float(integrals.inertia[i, j]) for i in range(3) for j in range(i, 3)
        )
        inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        c = integrals.center
        return MassProperties(mass, (float(c[0]), float(c[1]), float(c[2])), inertia).seen_from(
            self.placed[0]
        )

    def _fit(self) -> tuple[Placement, Vector]:
        """T_file_geom and the sizes that fit the mesh: those of its inertia box,
        or of the box around its vertices."""
        name = self.words.text("mesh")
        self.assets.mesh(name, self.words)
        integrals = self.assets.integrals(name)
        with np.errstate(all="ignore"):  # sizes beyond the numbers are refused by `_checked`
            return self._fit_to(name, integrals)

    def _fit_to(self, name: str, integrals: MeshIntegrals) -> tuple[Placement, Vector]:
        moments, axes = np.linalg.eigh(integrals.inertia)
        moments, axes = moments[::-1], axes[:, ::-1] * np.sign(np.linalg.det(axes[:, ::-1]))
        R = from_matrix(axes.tolist())
        if self.settings.fit_box:
            seen = (self.assets.triangles(name).vertices - integrals.center) @ axes
            middle = (seen.min(axis=0) + seen.max(axis=0)) / 2.0
            center, size = integrals.center + axes @ middle, _around(self.kind, seen - middle)
        else:
            half = np.sqrt(np.maximum(1.5 * (moments.sum() - 2.0 * moments), 0.0))
            center, size = integrals.center, _of_inertia_box(self.kind, half)
        factor = self.words.number("fitscale", 1.0)
        T = Placement(R, (float(center[0]), float(center[1]), float(center[2])))
        return T, (factor * size[0], factor * size[1], factor * size[2])

    # looks

    @property
    def is_drawn(self) -> bool:
        return self.group in _DRAWN_GROUPS

    @property
    def collides(self) -> bool:
        words = self.words
        if words.has_none_of(_TOUCHING):
            return True
        return bool(words.whole("contype", 1) or words.whole("conaffinity", 1))

    def shape(self) -> Shape | None:
        """What can be drawn of it; planes, height fields,
        ellipsoids and meshes without a file cannot."""
        name, color = self.words.own.attributes.get("name") or None, self.assets.color(self.words)
        if self.kind == "mesh":
            mesh = self.assets.mesh(self.words.text("mesh"), self.words)
            drawn = self.assets.drawn(mesh)
            if drawn is None or not mesh.text("file", ""):
                return None
            factors, T_geom_drawing = drawn
            T = self.placed[0] @ T_geom_drawing
            return Shape("mesh", factors, T, color, self.assets.file(mesh), name)
        if self.kind not in ("box", "sphere", "cylinder", "capsule"):
            return None
        if self.is_fitted and not self._mesh_is_there():
            return None
        T, (a, b, c) = self.placed
        sizes = {"sphere": (a,), "box": (2 * a, 2 * b, 2 * c)}
        size = sizes.get(self.kind, (a, 2 * b))
        return Shape(self.kind, size, T, color, None, name)

    def _mesh_is_there(self) -> bool:
        mesh = self.assets.mesh(self.words.text("mesh"), self.words)
        return mesh.own.has("vertex") or self.assets.file(mesh) != mesh.text("file", "")


def _solid(kind: str, size: Vector, shell: bool) -> Solid:
    kind = "box" if kind == "hfield" else kind
    return hull(kind, size) if shell else solid(kind, size)


def _of_inertia_box(kind: str, half: np.ndarray) -> Vector:
    """Sizes of a shape from the half sides of the box with the mesh's inertia."""
    a, b, c = (float(x) for x in half)
    match kind:
        case "sphere":
            return ((a + b + c) / 3.0, 0.0, 0.0)
        case "capsule":
            return ((a + b) / 2.0, max(0.0, c - (a + b) / 4.0), 0.0)
        case "cylinder":
            return ((a + b) / 2.0, c, 0.0)
    return (a, b, c)


def _around(kind: str, seen: np.ndarray) -> Vector:
    """Sizes of a shape that reaches as far as the box around vertices (n, 3), seen from its
    middle."""
    a, b, c = (float(x) for x in np.abs(seen).max(axis=0))
    match kind:
        case "sphere":
            return (max(a, b, c), 0.0, 0.0)
        case "capsule":
            return (max(a, b), max(0.0, c - max(a, b)), 0.0)
        case "cylinder":
            return (max(a, b), c, 0.0)
    return (a, b, c)
