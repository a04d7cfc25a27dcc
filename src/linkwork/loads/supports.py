"""Supports: what loop elements can hold a body with, and what springs pull with, over symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX

from linkwork.loops.constraints import rate
from linkwork.loops.geometry import Geometry, across_pair, across_slot
from linkwork.loops.springs import pull_per_length, spring_tension
from linkwork.model import Tree
from linkwork.model.elements import Damper, LinearActuator, LoopClosure, Slider, Spring
from linkwork.recursions.joints import transforms
from linkwork.spatial import ZERO3, Force, cross, matrix, vector
from linkwork.subject import Subject


@dataclass(frozen=True)
class Support:
    """The unknown reactions of one element on its second body.

    base            node whose axes are used; first, second: nodes of the two ends
    p_first, p_second   the ends in axes of base; `basis` are forces and moments about p_second,
                        with a label each
    """

    name: str
    element: Any
    base: int
    first: int
    second: int
    p_first: SX
    p_second: SX
    labels: tuple[str, ...]
    basis: tuple[Force, ...]

    def force(self, amounts: SX) -> Force:
        """On the second body, about p_second, in axes of base."""
        total = Force()
        for k, unit in enumerate(self.basis):
            total = total + unit * amounts[k]
        return total


@dataclass(frozen=True)
class Pull:
    """A known wrench of an element on its second body (the opposite on the first), about `at`,
    in axes of base."""

    name: str
    base: int
    first: int
    second: int
    at: SX
    force: Force


def support_of(geometry: Geometry, element: LinearActuator | Slider | LoopClosure) -> Support:
    """The support an element gives."""
    if isinstance(element, LinearActuator):
        return _strut(geometry, element)
    if isinstance(element, Slider):
        return _slider(geometry, element)
    return _closure(geometry, element)


def _strut(geometry: Geometry, strut: LinearActuator) -> Support:
    """Axial force (of a carriage: along its guide); with hinged ends also force along the hinge
    axis and moments across it.

    A massless strut between two parallel hinges: mu.n = 0 at both ends, so the force lies in the
    plane of n and the strut. Source: [Goncalves2023] eqs. 36-38 (row 5). The moment that the strut
    hands to its foot is mu + (head - foot) x f, which the paper leaves out; without it the carrying
    body is not in equilibrium.
    """
    drive = geometry.actuator(strut)
    pair = drive.pair
    labels, basis = ["axial"], [Force(drive.push, ZERO3)]
    if strut.ends == "hinge":
        n = geometry.axis(strut.foot.body, strut.axis, pair.base)
        turned = [geometry.axis(strut.foot.body, e, pair.base) for e in across_pair(strut.axis)]
        labels += ["side", "moment u", "moment v"]
        basis += [Force(n, ZERO3), *(Force(ZERO3, e) for e in turned)]
    return _support(strut, pair, labels, basis)


def _slider(geometry: Geometry, slider: Slider) -> Support:
    """Force along the hinge axis of its bar, moments across it:
    what bar and guide hold out of their plane.

    In their plane the pair holds nothing of itself: what springs do to the bar is a `Pull`
    (see `slider_pull`).
    """
    bar = geometry.bar(slider.bar)
    basis = [Force(bar.n, ZERO3), Force(ZERO3, bar.s), Force(ZERO3, bar.t)]
    return _support(slider, bar.pair, ["side", "moment s", "moment t"], basis)


def _closure(geometry: Geometry, closure: LoopClosure) -> Support:
    pair = geometry.closure(closure)
    if closure.kind == "distance":
        return _support(closure, pair, ["axial"], [Force(pair.direction, ZERO3)])
    node, placement = geometry.node(closure.first.body)
    R = geometry.pose(pair.base, node).R @ matrix(placement.rotation)
    if closure.kind == "weld":
        R = R @ matrix(closure.rotation)
    forces = {axis: Force(R[:, k], ZERO3) for k, axis in enumerate("xyz")}
    moments = {f"r{axis}": Force(ZERO3, R[:, k]) for k, axis in enumerate("xyz")}
    if closure.kind == "point":
        return _support(closure, pair, list(forces), list(forces.values()))
    if closure.kind == "weld":
        every = forces | moments
        return _support(
            closure, pair, list(closure.directions), [every[d] for d in closure.directions]
        )
    # without friction the wall pushes the pin across the slot alone
    if closure.kind == "pin_in_slot":
        return _support(
            closure,
            pair,
            ["n"],
            [Force(R @ vector(across_slot(closure.axis, closure.direction)), ZERO3)],
        )
    across = [R @ vector(e) for e in across_pair(closure.axis)]
    if closure.kind == "planar_hinge":
        return _support(closure, pair, ["u", "v"], [Force(e, ZERO3) for e in across])
    turns = [Force(ZERO3, e) for e in across]
    return _support(closure, pair, [*forces, "ru", "rv"], [*forces.values(), *turns])


def _support(element: Any, pair: Any, labels: list[str], basis: list[Force]) -> Support:
    ends = (pair.base, pair.first, pair.second, pair.p_first, pair.p_second)
    return Support(element.name, element, *ends, tuple(labels), tuple(basis))


def spring_pulls(geometry: Geometry, spring: Spring) -> tuple[SX, SX, list[Pull]]:
    """(tension, length, what it does): it draws its two ends together; a bar hands on what it
    gets."""
    pair = geometry.pair(spring.first, spring.second)
    force = -pull_per_length(spring, pair.length) * pair.across
    return spring_tension(spring, pair.length), pair.length, _pulls(geometry, spring, pair, force)


def damper_pulls(geometry: Geometry, damper: Damper, q: SX, v: SX) -> tuple[SX, list[Pull]]:
    """(pull, what it does): damping times the rate of its length."""
    tree = geometry.tree
    x, w = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    apart = Geometry(tree, transforms(tree, x), tree.elements)
    rates = casadi.jtimes(apart.pair(damper.first, damper.second).length, x, rate(tree, x, w))
    (speed,) = casadi.substitute([rates], [x, w], [q, v])
    pull = SX(damper.damping) * speed
    pair = geometry.pair(damper.first, damper.second)
    return pull, _pulls(geometry, damper, pair, -pull * pair.direction)


def _pulls(geometry: Geometry, element: Any, pair: Any, pushed: SX) -> list[Pull]:
    """A force on the second end along the line of both, the opposite on the first; bars hand it
    on."""
    force = Force(pushed, ZERO3)
    pulls = [Pull(element.name, pair.base, pair.first, pair.second, pair.p_second, force)]
    for end, at, sign in ((element.first, pair.p_first, -1), (element.second, pair.p_second, 1)):
        if end.body is not None and end.body in geometry.bars:
            pulls.append(slider_pull(geometry, end.body, at, force.linear * sign, pair.base))
    return pulls


def slider_pull(geometry: Geometry, name: str, at: SX, force: SX, base: int) -> Pull:
    """What a force on a bar makes its slider do to the guided body:
    moments of the bar about its pivot balance.

        f_t ((tip - pivot) . s) = n . ((at - pivot) x force),     the slider pushes the guided body with f_t (n x s)

    Source: [Goncalves2023] eqs. 39-41 (the paper's frame: n = y, s = x). Corrected: eq. 40 holds
    only if f_4srb means the force of the bar on the spring, against the sentence above eq. 39.
    """
    pose, bar = geometry.bar(name), geometry.bars[name]
    node, pivot = geometry.place(bar.pivot)
    n = geometry.axis(bar.pivot.body, bar.axis, base)
    push = casadi.dot(n, cross(at - geometry.seen(base, node, pivot), force)) / pose.arm
    ends = (pose.pair.base, pose.pair.first, pose.pair.second, pose.pair.p_second)
    return Pull(geometry.sliders[name].name, *ends, Force(push * pose.t, ZERO3))


def loop_elements(tree: Tree) -> tuple[list[Any], list[Spring], list[Damper]]:
    """(elements that give supports, springs, dampers), in the order of the description."""
    holding = [e for e in tree.elements if isinstance(e, (LinearActuator, Slider, LoopClosure))]
    springs = [e for e in tree.elements if isinstance(e, Spring)]
    return holding, springs, [e for e in tree.elements if isinstance(e, Damper)]


def ends_of(subject: Subject, name: str) -> tuple[str | None, str | None]:
    """(first body, second body) of a strut, slider or closure."""
    elements = {getattr(e, "name", None): e for e in subject.model.elements}
    element = elements[name]
    if isinstance(element, LinearActuator):
        return element.foot.body, element.head.body
    if isinstance(element, Slider):
        return elements[element.bar].pivot.body, element.guide.body
    return element.first.body, element.second.body
