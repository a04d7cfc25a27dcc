"""Geometry of elements over symbols: where their points are, seen from the body both ends hang
on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi
from casadi import SX

from linkwork.model import Placement, Tree
from linkwork.model.elements import Bar, LinearActuator, LoopClosure, Point, Slider
from linkwork.model.number import is_symbol
from linkwork.spatial import ZERO3, Transform, cross, vector


@dataclass(frozen=True)
class Pair:
    """Two points seen from the lowest node that carries both, `base`:
    nodes and positions in axes of `base`."""

    base: int
    first: int
    second: int
    p_first: SX
    p_second: SX

    @cached_property
    def across(self) -> SX:
        """From the first point to the second."""
        return self.p_second - self.p_first

    @cached_property
    def length(self) -> SX:
        return casadi.sqrt(casadi.dot(self.across, self.across))

    @cached_property
    def direction(self) -> SX:
        return self.across / self.length


@dataclass(frozen=True)
class BarPose:
    """A bar with its slider, in axes of `pair.base`: pair.p_first the pivot, p_second the tip.

    n, s     unit vectors of the hinge and of the guide; t = n x s
    arm      (tip - pivot).s, signed: what the guide's reaction has as lever about the pivot
    inside   what must not be negative for the bar to reach the guide [m^2]
    """

    pair: Pair
    n: SX
    s: SX
    t: SX
    arm: SX
    inside: SX


@dataclass(frozen=True)
class Drive:
    """A linear actuator: its two ends (with a rod: carriage and head), their command,
    and the line of its force.

    push     force on the head for a force of 1 on the command; inside: what must not be negative
             for a rod to reach
    """

    pair: Pair
    command: SX
    push: SX
    inside: SX


def has_rod(actuator: LinearActuator) -> bool:
    return is_symbol(actuator.rod) or actuator.rod > 0.0


class Geometry:
    """A tree in one configuration; `X[i]` = T_parent_i from recursions/joints.py.
    Every pose is made once."""

    def __init__(self, tree: Tree, X: list[Transform], elements: tuple) -> None:
        self.tree, self.X = tree, X
        self._poses: dict[tuple[int, int], Transform] = {}
        self.sliders = {e.bar: e for e in elements if isinstance(e, Slider)}
        self.bars = {e.name: e for e in elements if isinstance(e, Bar)}
        self._bar_poses: dict[str, BarPose] = {}

    def chain(self, base: int, node: int) -> tuple[int, ...]:
        """Nodes from `base` (left out) to `node`, outward; `base` is 0 or an ancestor."""
        path = self.tree.paths[node]
        return path[path.index(base) + 1 :] if base else path

    def pose(self, base: int, node: int) -> Transform:
        """T_base_node for an ancestor `base`."""
        if base == node:
            return Transform(SX.eye(3), ZERO3)
        if self.tree.parent(node) == base:
            return self.X[node]
        pose = self._poses.get((base, node))
        if pose is None:
            pose = self._poses[base, node] = self.pose(base, self.tree.parent(node)) @ self.X[node]
        return pose

    def common(self, a: int, b: int) -> int:
        """The lowest node that carries both."""
        common = 0
        for i, j in zip(self.tree.paths[a], self.tree.paths[b], strict=False):
            if i != j:
                break
            common = i
        return common

    def node(self, body: str | None) -> tuple[int, Placement]:
        """(node, T_node_body) of a body; of a bar: that of its pivot's body."""
        if body is None:
            return 0, Placement()
        if body in self.bars:
            return self.node(self.bars[body].pivot.body)
        return self.tree.bodies[body]

    def place(self, point: Point) -> tuple[int, SX]:
        """(node, position in its axes); a point on a bar is seen from the body of the bar's
        pivot."""
        if point.body is not None and point.body in self.bars:
            return self._place_on_bar(point.body, point)
        node, placement = self.node(point.body)
        return node, vector(placement.at(point.position))

    def axis(self, body: str | None, direction: tuple, base: int) -> SX:
        """A direction of a body in axes of `base`."""
        node, placement = self.node(body)
        turned = vector(Placement(placement.rotation).at(direction))
        return self.pose(base, node).R @ turned

    def pair(self, first: Point, second: Point) -> Pair:
        (a, pa), (b, pb) = self.place(first), self.place(second)
        base = self.common(a, b)
        return Pair(base, a, b, self.seen(base, a, pa), self.seen(base, b, pb))

    def closure(self, closure: LoopClosure) -> Pair:
        """The ends of a closure; those of a pin in a slot are the place on the slot beside the pin,
        and the pin."""
        pair = self.pair(closure.first, closure.second)
        if closure.kind != "pin_in_slot":
            return pair
        s = self.axis(closure.first.body, closure.direction, pair.base)
        beside = pair.p_first + casadi.dot(s, pair.across) * s
        return Pair(pair.base, pair.first, pair.second, beside, pair.p_second)

    def seen(self, base: int, node: int, position: SX) -> SX:
        """A point of `node` in axes of its ancestor `base`."""
        T = self.pose(base, node)
        return position if base == node else T.R @ position + T.p

    def actuator(self, actuator: LinearActuator) -> Drive:
        """A strut's command is its length. A carriage's is its way s along the guide g,
        with a rod of length L:

            s = d.g + branch sqrt(L^2 - d.d + (d.g)^2),     d = head - foot,     carriage = foot + s g

        A force f on the carriage along g pushes the head with f u / (u.g), u from the carriage to
        the head.
        Source: [Zhu2023] eqs. 11-13, for any guide.
        """
        ends = self.pair(actuator.foot, actuator.head)
        if not has_rod(actuator):
            return Drive(ends, ends.length, ends.direction, SX(1))
        g = self.axis(actuator.foot.body, actuator.direction, ends.base)
        along = casadi.dot(ends.across, g)
        inside = SX(actuator.rod) ** 2 - casadi.dot(ends.across, ends.across) + along**2
        s = along + actuator.branch * casadi.sqrt(inside)
        pair = Pair(ends.base, ends.first, ends.second, ends.p_first + s * g, ends.p_second)
        return Drive(pair, s, pair.across / casadi.dot(pair.across, g), inside)

    def bar(self, name: str) -> BarPose:
        """A bar and its slider: the tip is where the guide's line meets the circle of the bar.

            x = -d.s + branch sqrt(b^2 - d.d + (d.s)^2),    d = guide point - pivot,   tip = guide point + x s

        Source: [Goncalves2023] eqs. 22-25, for any directions. Corrected: eq. 25 prints x_4slc =
        x_4slc.
        """
        pose = self._bar_poses.get(name)
        if pose is not None:
            return pose
        bar, slider = self.bars[name], self.sliders[name]
        ends = self.pair(bar.pivot, slider.guide)
        n = self.axis(bar.pivot.body, bar.axis, ends.base)
        s = self.axis(slider.guide.body, slider.direction, ends.base)
        along = casadi.dot(ends.across, s)
        inside = SX(bar.length) ** 2 - casadi.dot(ends.across, ends.across) + along**2
        reach = bar.branch * casadi.sqrt(inside)
        tip = Pair(
            ends.base, ends.first, ends.second, ends.p_first, ends.p_second + (reach - along) * s
        )
        pose = BarPose(tip, n, s, cross(n, s), reach, inside)
        self._bar_poses[name] = pose
        return pose

    def bar_axes(self, name: str) -> tuple[SX, SX, SX]:
        """Unit vectors x (to the tip), y, z (hinge) of a bar in axes of its base."""
        pose = self.bar(name)
        x = pose.pair.across / SX(self.bars[name].length)
        return x, cross(pose.n, x), pose.n

    def _place_on_bar(self, bar: str, point: Point) -> tuple[int, SX]:
        pose = self.bar(bar)
        x, y, z = self.bar_axes(bar)
        a, b, c = (SX(k) for k in point.position)
        in_base = pose.pair.p_first + a * x + b * y + c * z
        T = self.pose(pose.pair.base, pose.pair.first)
        if pose.pair.base == pose.pair.first:
            return pose.pair.first, in_base
        return pose.pair.first, T.R.T @ (in_base - T.p)


def across_pair(n: tuple) -> tuple[tuple, tuple]:
    """Two constant unit vectors across a constant direction, coordinate axes where it is one."""
    x, y, z = (float(k) for k in n)
    if y == 0.0 and z == 0.0:
        return (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    if x == 0.0 and z == 0.0:
        return (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    if x == 0.0 and y == 0.0:
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    smallest = min(range(3), key=lambda k: abs((x, y, z)[k]))
    e = tuple(float(k == smallest) for k in range(3))
    u = (y * e[2] - z * e[1], z * e[0] - x * e[2], x * e[1] - y * e[0])
    size = sum(k * k for k in u) ** 0.5
    u = tuple(k / size for k in u)
    return u, (y * u[2] - z * u[1], z * u[0] - x * u[2], x * u[1] - y * u[0])


def across_slot(axis: tuple, direction: tuple) -> tuple:
    """The constant unit vector across a slot and its pin: axis x direction, made a unit."""
    (a, b, c), (x, y, z) = ([float(k) for k in v] for v in (axis, direction))
    normal = (b * z - c * y, c * x - a * z, a * y - b * x)
    size = sum(k * k for k in normal) ** 0.5
    return tuple(k / size for k in normal)
