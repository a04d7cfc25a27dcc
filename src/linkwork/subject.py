"""Subject: a model with its trees and kernels, which is what quantities are computed about."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from linkwork.arguments import mapping, shown
from linkwork.engine import keys
from linkwork.engine.kernel import Kernel
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.interrupts import heard
from linkwork.model import Model, Placement, Tree, build_tree
from linkwork.model.number import Number
from linkwork.model.parametric import Parametric, unknown_variable
from linkwork.once import Keeper

# Kernels of every live subject by what they compute: equal robots share them.
_shared: weakref.WeakValueDictionary[str, Kernel] = weakref.WeakValueDictionary()


class Subject(Keeper):
    """A model, possibly with live variables.

    model        numbers at the variables' present values
    parametric   the description it came from, if that has variables
    live         names of the variables that stay inputs of every kernel
    """

    def __init__(
        self, model: Model, parametric: Parametric | None = None, live: tuple[str, ...] = ()
    ) -> None:
        self.model, self.parametric, self.live = model, parametric, tuple(live)
        known = dict(model.variables)
        for name in self.live:
            if parametric is None or name not in known:
                raise unknown_variable(model, parametric, name)
        self.kernels: dict[tuple[Any, str], Kernel] = {}

    @cached_property
    def tree(self) -> Tree:
        """Fixed joints merged: the shortest recursions."""
        return build_tree(self.model, merge=True)

    @cached_property
    def full_tree(self) -> Tree:
        """Every described body a node of its own."""
        return build_tree(self.model, merge=False)

    @cached_property
    def present(self) -> Subject:
        """This subject with its present numbers alone: nothing live."""
        return Subject(self.model) if self.live else self

    @property
    def nq(self) -> int:
        """Independent configuration coordinates."""
        return len(self.tree.independent[0])

    @property
    def nv(self) -> int:
        """Independent velocity coordinates."""
        return len(self.tree.independent[1])

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the independent moving joints in the order of q and v."""
        first = {v: name for name, (_, _, v, nv) in self.tree.coordinates.items() if nv}
        return tuple(first[v] for v in sorted(first) if v not in self.tree.mimic)

    @cached_property
    def fingerprint(self) -> str:
        """What every kernel of this subject depends on."""
        parts = [self.full_tree.fingerprint]
        if self.live:
            assert self.parametric is not None
            values = [(n, v) for n, v in self.model.variables if n not in self.live]
            parts = [self.parametric.fingerprint, repr(self.live), repr(values)]
        # which assembly a loop stands in is chosen by named configurations and limits
        if self.model.elements:
            limits = [(joint.name, joint.limits) for joint in self.model.joints]
            parts.append(repr((self.model.configurations, limits)))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def identity(self) -> str:
        """The key of the whole description, names included:
        for what depends on more than `fingerprint` says."""
        described = (
            None if self.parametric is None or not self.live else self.parametric.fingerprint
        )
        return keys.key(self.model, self.live, described)

    def key(self, maker: Callable[..., Any], *parts: Any) -> str | None:
        """A key, known before tracing, of what `maker` traces about this subject and these parts.

        None where that cannot be known: a function from outside linkwork, or parts that have no
        canonical text. The traced program is the key then.
        """
        if not keys.is_own(maker):
            return None
        try:
            return keys.key(keys.module_of(maker), maker.__qualname__, self.identity, *parts)
        except keys.NoKey:
            return None

    def traced_model(self, symbols: Mapping[str, Number]) -> Model:
        """The model with symbols in the place of its live variables."""
        if not self.live:
            return self.model
        assert self.parametric is not None
        return self.parametric.build({**dict(self.model.variables), **symbols})

    def traced_tree(self, live: Mapping[str, Number], merge: bool = True) -> Tree:
        """The tree with symbols in the place of its live variables."""
        if not live:
            return self.tree if merge else self.full_tree
        return build_tree(self.traced_model(live), merge=merge)

    def place_of(self, frame: str, tree: Tree | None = None) -> tuple[int, Placement]:
        """(node, T_node_frame) of a body, a frame, or a point written "body.point"."""
        tree = tree or self.tree
        if isinstance(frame, str):
            placed = tree.frames.get(frame)
            if placed is not None:
                return placed
            for body, points in tree.points.items():
                for point, position in points:
                    if frame == f"{body}.{point}":
                        node, T_node_body = tree.bodies[body]
                        return node, T_node_body @ Placement(position=position)
        else:
            raise InvalidInput(
                f'robot "{self.model.name}": frame is {shown(frame)}, expected a name of '
                "robot.frames"
            )
        raise UnknownName(
            f'robot "{self.model.name}" has no frame '
            f'"{frame}"{did_you_mean(frame, tree.frames) or "."} '
            f"All {len(tree.frames)} names: robot.frames"
        )

    def variable_values(self, given: Mapping[str, Any] | None) -> list[Any]:
        """A value for every live variable: what the call gave, else the present one."""
        if type(given) is not dict:
            given = mapping(given, "variables")
        unknown = [name for name in given if name not in self.live]
        if unknown:
            known = dict(self.model.variables)
            if unknown[0] in known:
                raise InvalidInput(
                    f'variables: "{unknown[0]}" of robot "{self.model.name}" is not live; load '
                    "it with "
                    f'live=["{unknown[0]}"] or use with_variables'
                )
            raise unknown_variable(self.model, self.parametric, unknown[0], "variables: ")
        present = dict(self.model.variables)
        return [given.get(name, present[name]) for name in self.live]

    def kernel(
        self, name: str, make: Callable[[Any], Kernel], maker: Callable[..., Any] | None = None
    ) -> Kernel:
        """The kernel of a name, made once for all subjects with these numbers.

        name    says everything that decides the trace besides the subject and the module it is
                written in
        make    gets the kernel's key, or None, and makes it
        maker   the function with the mathematics, if that is another one than `make`

        The module is part of the key, so that rooms may use one name for two things. A function
        from outside linkwork may change while its name stays: its kernel is keyed by what was
        traced, and kept for that very function only.
        """
        author = make if maker is None else maker
        own = keys.is_own(author)
        if not own and maker is None:
            return heard(make, None)
        label = (keys.module_of(author) if own else author, name)
        kernel = self.kernels.get(label)
        if kernel is None and not own:
            kernel = self.kernels.setdefault(label, heard(make, None))
        if kernel is None:
            key = keys.key("subject", self.fingerprint, *label)
            kernel = _shared.get(key)
            if kernel is None:
                kernel = _shared.setdefault(key, heard(make, key))
            self.kernels[label] = kernel
        return kernel


class HasSubject(Protocol):
    """A robot, as rooms see it: what carries a subject."""

    @property
    def subject(self) -> Subject: ...


RobotLike = Subject | HasSubject
"""What functions of rooms take first: a robot, or its subject."""


def subject_of(robot: RobotLike, who: str) -> Subject:
    """The subject of a robot, or the subject itself; `who` is asked."""
    subject = getattr(robot, "subject", robot)
    if not isinstance(subject, Subject):
        raise InvalidInput(f"{who}: robot is {shown(robot)}, expected a robot: lw.load(name)")
    return subject
