"""Queries: what a collision model can be asked, for one configuration or a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

import casadi
import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite
from linkwork.collision import (
    certify,
    checker,
    clearance,
    contacts,
    function,
    motions,
    own_points,
    pair_clearances,
    samples,
)
from linkwork.collision.certify import Certificate
from linkwork.collision.clearance import Clearance
from linkwork.collision.fields import Cloud
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.outputs import result_into, verdicts_into
from linkwork.collision.pair_clearances import PairClearances
from linkwork.collision.pair_probe import PairProbe
from linkwork.collision.rest import PIECES, Known, Rest
from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import in_kernel, in_pairs
from linkwork.engine.staged import Packed, StagedKernel
from linkwork.errors import NotPossible
from linkwork.quantities import context_of
from linkwork.subject import Subject

Around = Obstacles | Sequence[Any] | None
Values = Mapping[str, Any] | None


class _One(NamedTuple):
    """How one configuration is asked: call(q, block) where there are no pairs for coal and nothing
    is live; None: the long way."""

    obstacles: Around
    call: Callable[..., Any] | None = None
    block: Any = None


_KERNELS = {"collides": checker.kernel_of, "clearance": clearance.kernel_of}


class Queries:
    """The questions to a model.

    `obstacles` are `Obstacles` (packed once, quick again) or a list of shapes; `collides`,
    `motion_is_free` and `certify_motion` also take a list of `Obstacles`, scenes, whose answers
    come with an axis of them in front. `variables` are values of live variables, which broadcast
    against q: designs x configurations x scenes in one call. `out` takes the answer: an array of
    bool for verdicts, for results of several arrays one of an earlier call.
    """

    shapes: Mapping[str, tuple]
    carriers: Mapping[str, str]
    pairs: Any
    follows: Mapping[str, Any]
    _kernels: dict[Any, Any]

    @property
    def subject(self) -> Subject:
        raise NotImplementedError

    def collides(
        self, q: ArrayLike, obstacles: Around = None, variables: Values = None, out: Any = None
    ) -> Any:
        """Whether configurations q (..., nq) touch the obstacles or themselves: (...,) bool.
        See checker.py."""
        if type(q) is np.ndarray and q.ndim == 1 and variables is None and out is None:
            one = self._kernels.get("collides")
            if one is None or one.obstacles is not obstacles:
                one = self._one("collides", obstacles)
            if one.call is not None:
                # the truth of an array of one number takes a tenth of the time of comparing it
                return np.True_ if one.call(q, one.block) else np.False_
        scenes = _scenes(obstacles)
        if scenes is not None:
            several = np.stack([self.collides(q, scene, variables) for scene in scenes])
            return verdicts_into(out, several, "collides")
        around = _obstacles(obstacles)
        verdicts = checker.collides(self.tables, q, around, variables)
        rest = self._rest(around, "collides")
        if rest:
            verdicts = _where_free(verdicts, q, rest.hits)
        return verdicts_into(out, verdicts, "collides")

    def clearance(
        self,
        q: ArrayLike,
        obstacles: Around = None,
        variables: Values = None,
        out: Clearance | None = None,
    ) -> Clearance:
        """The nearest pair: points, normal, gradient of its distance. See clearance.py."""
        if type(q) is np.ndarray and q.ndim == 1 and variables is None and out is None:
            one = self._one("clearance", obstacles)
            if one.call is not None:
                return clearance.of_one(self.tables, obstacles, one.call(q, one.block))
        around = _obstacles(obstacles)
        rest = self._rest(around, "clearance")
        nearest = clearance.clearance(self.tables, q, around, variables, rest)
        return result_into(out, nearest, "clearance")

    def motion_is_free(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        obstacles: Around = None,
        step: float = 1 / 32,
        variables: Values = None,
        out: Any = None,
    ) -> Any:
        """Whether samples of the straight motions q0 to q1 (..., nq) touch nothing: (...,) bool.
        See motions.py."""
        scenes = _scenes(obstacles)
        if scenes is not None:
            several = [self.motion_is_free(q0, q1, scene, step, variables) for scene in scenes]
            return verdicts_into(out, np.stack(several), "motion_is_free")
        around = _obstacles(obstacles)
        free = motions.motion_is_free(self.tables, q0, q1, around, step, variables)
        rest = self._rest(around, "collides")
        if rest:
            free = motions.without_rest(self.tables, free, q0, q1, step, rest.hits)
        return verdicts_into(out, free, "motion_is_free")

    def path_is_free(
        self,
        waypoints: ArrayLike,
        obstacles: Around = None,
        step: float = 1 / 32,
        variables: Values = None,
        out: Any = None,
    ) -> Any:
        """Whether the straight motions along waypoints (..., m, nq) touch nothing: (...,) bool."""
        points = motions.checked_path(self.tables, waypoints)
        ends = points[..., :-1, :], points[..., 1:, :]
        free = self.motion_is_free(*ends, obstacles, step, variables)
        return verdicts_into(out, np.asarray(free).all(axis=-1), "path_is_free")

    def certify_motion(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        obstacles: Around = None,
        cap: float = 0.05,
        variables: Values = None,
        out: Certificate | None = None,
    ) -> Certificate:
        """Proof that the straight motions q0 to q1 (..., nq) are free, or where they touch.
        See certify.py."""
        scenes = _scenes(obstacles)
        if scenes is not None:
            several = [self.certify_motion(q0, q1, scene, cap, variables) for scene in scenes]
            proof = Certificate(
                *(np.stack([getattr(c, f.name) for c in several]) for f in fields(Certificate))
            )
            return result_into(out, proof, "certify_motion")
        around = _obstacles(obstacles)
        rest = self._rest(around, "certify_motion")
        proof = certify.certify_motion(self.tables, q0, q1, around, cap, variables, rest)
        return result_into(out, proof, "certify_motion")

    def clearances(
        self,
        q: ArrayLike,
        obstacles: Around = None,
        nearest: int | None = None,
        variables: Values = None,
        out: PairClearances | None = None,
    ) -> PairClearances:
        """Clearances of all pairs (..., m), or the `nearest`. See pair_clearances.py."""
        around = _obstacles(obstacles)
        rest = self._rest(around, "clearance")
        every = pair_clearances.clearances(self.tables, q, around, nearest, variables, rest)
        return result_into(out, every, "clearances")

    def probe(
        self, obstacles: Around = None
    ) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """A function of q (nq,): distances (m,) of all pairs and gradients (m, nv), packed once.
        See pair_probe.py."""
        around = _obstacles(obstacles)
        if not self._rest(around, "clearance"):
            return PairProbe(self.tables, around)

        def measured(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            every = self.clearances(finite(q, (self.subject.nq,), "probe: q"), around)
            return every.distance, every.gradient

        return measured

    def contacts(self, q: ArrayLike, obstacles: Around = None) -> Any:
        """Which bodies touch what, where and how deep: a list for one configuration,
        lists of them for a batch."""
        return contacts.contacts(self.clearances(q, obstacles))

    def free_samples(self, n: int, obstacles: Around = None, seed: int | None = None) -> np.ndarray:
        """n configurations (n, nq), uniform within the limits, that touch nothing."""
        around = _obstacles(obstacles)
        return samples.free_samples(self.subject, lambda q: self.collides(q, around), n, seed)

    def without_own_points(
        self, q: ArrayLike, cloud: Cloud | ArrayLike, margin: float = 0.02
    ) -> Any:
        """A cloud, or points (n, 3) [m], less those within `margin` [m] of the robot at q."""
        return own_points.without_own_points(
            self.subject, self.shapes, self.carriers, q, cloud, margin
        )

    def function(
        self, pairs: Iterable[tuple[str, str]], obstacles: Around = None, smoothing: float = 0.0
    ) -> casadi.Function:
        """Distances (m,) of chosen pairs of names as a casadi.Function of q. See function.py."""
        parts = (self.subject, self.shapes, self.carriers, self.follows)
        return function.function(*parts, pairs, _obstacles(obstacles), smoothing)

    @property
    def tables(self) -> RobotTables:
        """The rows that machine code reads."""
        if "tables" not in self._kernels:
            self._kernels["tables"] = RobotTables(
                self.subject, self.shapes, self.pairs.checked, self.carriers, self.follows
            )
        return self._kernels["tables"]

    def in_machine_code(self, obstacles: Around = None) -> bool:
        """Whether every pair of shapes is compared by machine code, and none by coal."""
        return self._rest(_obstacles(obstacles), "collides") is None

    def _one(self, question: str, obstacles: Around) -> _One:
        """How one configuration is asked about the obstacles, kept until others come."""
        one = self._kernels.get(question)
        if one is None or one.obstacles is not obstacles:
            one = self._kernels[question] = self._made_one(question, obstacles)
        return one

    def _made_one(self, question: str, obstacles: Around) -> _One:
        if obstacles is not None and type(obstacles) is not Obstacles:
            return _One(obstacles)
        if self.subject.live or self._rest(obstacles, question):
            return _One(obstacles)
        kernels, tables = self._kernels, self.tables
        if ("call", question) not in kernels:
            kernels["call", question] = self._call(_KERNELS[question](tables))
        block = tables.packer.scene(obstacles).block
        return _One(obstacles, kernels["call", question], block)

    def _call(self, kernel: StagedKernel) -> Callable[..., Any]:
        """The quickest way for one configuration, by machine code alone."""
        context = context_of(self.subject)

        def slowly(q: Any, block: np.ndarray) -> Any:
            return kernel((q,), Packed.at(block.view(np.int64), (block,)), context=context)

        return kernel.caller(slowly)

    def _rest(self, obstacles: Obstacles | None, question: str) -> Rest | None:
        """Pairs of shapes that go to coal, if there are any."""
        known = in_kernel if question == "collides" else in_pairs
        if "kinds" not in self._kernels:
            self._kernels["kinds"] = frozenset(
                shape.kind for several in self.shapes.values() for shape in several
            )
        kinds = self._kernels["kinds"]
        others = obstacles.kinds if obstacles is not None else frozenset()
        if _all_known(kinds, others, known):
            return None
        asked_last = self._kernels.get(("rest", known))
        if asked_last is None or asked_last[0] is not obstacles:
            parts = (self.subject, self.shapes, self.carriers, self.pairs.checked)
            asked_last = self._kernels["rest", known] = (
                obstacles,
                Rest(*parts, tuple(obstacles or ()), known),
            )
        rest = asked_last[1]
        if rest and self.subject.live:
            raise NotPossible(
                f"{question}: hulls, meshes, and boxes or cylinders that meet each other do not "
                "follow live variables; "
                "use capsules and spheres, or robot.with_variables first"
            )
        return rest


@cache
def _all_known(kinds: frozenset[str], others: frozenset[str], known: Known) -> bool:
    """Whether every pair of kinds is one of machine code;
    clouds and ground by what they are made of."""
    pieces = {PIECES.get(kind, kind) for kind in others}
    return all(known(a, b) for a in kinds for b in kinds | pieces)


def _scenes(obstacles: Any) -> list[Obstacles] | None:
    """Several scenes, each `Obstacles`: answers get an axis of them in front."""
    several = isinstance(obstacles, (list, tuple)) and any(
        isinstance(scene, Obstacles) for scene in obstacles
    )
    return [_obstacles(scene) or Obstacles() for scene in obstacles] if several else None


def _obstacles(obstacles: Around) -> Obstacles | None:
    return (
        obstacles if obstacles is None or isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    )


def _where_free(verdicts: Any, q: Any, hits: Any) -> Any:
    """Verdicts with the rest asked where they say no."""
    flat = np.array(verdicts, dtype=bool).reshape(-1)
    rows = np.asarray(q, dtype=float).reshape(len(flat), -1)
    free = np.flatnonzero(~flat)
    if len(free):
        flat[free] = hits(rows[free])
    shaped = flat.reshape(np.shape(verdicts))
    return shaped if shaped.ndim else np.bool_(shaped)
