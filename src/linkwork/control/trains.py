"""Gear trains: meshes between shafts, also on carriers, solved exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from linkwork.arguments import choice, number
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.model.elements import Differential, Gear

KINDS = ("external", "internal", "bevel", "worm", "belt", "crossed belt", "rack", "fixed")


@dataclass(frozen=True)
class Mesh:
    """One condition between two shafts: a (w_a - w_c) + b (w_b - w_c) = 0, w_c the carrier's speed.

    relative_b   the speed of b is already measured on the carrier (an axis across it: bevel
                 satellites)
    efficiency   of the mesh, in the direction in which power flows through it
    """

    a: str
    b: str
    kind: str
    coefficient_a: Any
    coefficient_b: Any
    carrier: str | None = None
    relative_b: bool = False
    efficiency: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.a, self.b, self.carrier) if name is not None)

    def row(self) -> dict[str, Any]:
        """Coefficients of the speeds."""
        row: dict[str, Any] = {}

        def add(name: str, x: Any) -> None:
            row[name] = row.get(name, 0) + x

        add(self.a, self.coefficient_a)
        add(self.b, self.coefficient_b)
        if self.carrier is not None:
            add(self.carrier, -self.coefficient_a)
            if not self.relative_b:
                add(self.carrier, -self.coefficient_b)
        return row


@dataclass(frozen=True)
class Sum:
    """A shaft whose speed is a sum of others' times factors: what an element of a robot says."""

    shaft: str
    parts: tuple[tuple[str, Any], ...]
    efficiency: float = 1.0

    def row(self) -> dict[str, Any]:
        return {self.shaft: Fraction(-1), **dict(self.parts)}

    @property
    def names(self) -> tuple[str, ...]:
        return (self.shaft, *[name for name, _ in self.parts])


def exact(x: Any) -> Any:
    """Whole numbers and decimals as fractions, so that ratios are exact; symbols as they are."""
    if isinstance(x, bool):
        raise InvalidInput(f"GearTrain: {x!r} is no size of a wheel")
    if isinstance(x, (int, np.integer)):
        return Fraction(int(x))
    if isinstance(x, (float, np.floating)):
        if not np.isfinite(x):
            raise InvalidInput(f"GearTrain: {x!r} is no size of a wheel")
        return Fraction(str(float(x)))
    return x


def _zero(x: Any) -> bool:
    """Whether a coefficient vanishes; symbols are simplified first."""
    if isinstance(x, (int, float, Fraction)):
        return x == 0
    simplify = getattr(x, "simplify", None)
    return bool((simplify() if simplify is not None else x) == 0)


def _numbers(values: Any) -> np.ndarray:
    """Exact entries as doubles; as they are where one of them is a symbol."""
    entries = np.array(values, dtype=object)
    try:
        numbers = (
            None if any(isinstance(x, str) for x in entries.ravel()) else entries.astype(float)
        )
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        wrong = [
            x
            for x in entries.ravel()
            if not hasattr(x, "__mul__") or isinstance(x, (str, list, tuple))
        ]
        if wrong:
            raise InvalidInput(f"GearTrain: {wrong[0]!r} is no number and no symbol")
        return entries
    if not np.isfinite(numbers).all():
        raise InvalidInput(
            f"GearTrain: {numbers[~np.isfinite(numbers)][0]} is no speed, torque or inertia"
        )
    return numbers


@dataclass(frozen=True)
class GearTrain:
    """Shafts and the meshes between them; every edit gives a new train.

    A wheel's size is its number of teeth or its pitch diameter, the same kind for both of a mesh.
    Speeds [rad/s] and torques [N m] count about parallel axes in one sense; a rack's speed is
    linear [m/s] (sizes then are diameters [m]).
    """

    meshes: tuple[Mesh | Sum, ...] = ()
    grounded: tuple[str, ...] = ()

    def mesh(
        self,
        a: str,
        b: str,
        sizes: tuple[Any, Any],
        kind: str = "external",
        carrier: str | None = None,
        efficiency: float = 1.0,
        hand: int = 1,
    ) -> GearTrain:
        """Two wheels that roll on each other (or are joined by a belt).

        sizes      of a and b: teeth or pitch diameters; worm: (starts, teeth); rack:
                   (pinion's diameter, anything)
        kind       "external", "internal" (b is the ring), "bevel", "worm", "belt", "crossed belt",
                   "rack"
        carrier    the shaft that carries b's axis (a planet) or both axes
        hand       +1 or -1: sense of b for bevel, worm and rack
        A bevel wheel b on a carrier turns about an axis across the carrier's: its speed counts
        relative to the carrier.
        """
        choice(kind, KINDS[:-1], "GearTrain: kind")
        if hand not in (1, -1):
            raise InvalidInput(f"GearTrain: hand is {hand!r}, expected 1 or -1")
        size_a, size_b = (exact(x) for x in sizes)
        for name, x in ((a, size_a), (b, size_b)):
            if isinstance(x, Fraction) and x <= 0:
                raise InvalidInput(
                    f'GearTrain: the wheel on "{name}" has size {float(x):g}, expected above 0'
                )
        if not 0.0 < efficiency <= 1.0:
            raise InvalidInput(f"GearTrain: efficiency is {efficiency!r}, expected in (0, 1]")
        sign = {"external": 1, "internal": -1, "belt": -1, "crossed belt": 1}.get(kind, -hand)
        if kind == "rack":
            size_a, size_b = size_a / 2, Fraction(1)
        across = kind == "bevel" and carrier is not None
        return self._with(
            Mesh(a, b, kind, size_a, sign * size_b, carrier, across, float(efficiency))
        )

    def fixed(self, a: str, b: str) -> GearTrain:
        """Two names for one shaft."""
        return self._with(Mesh(a, b, "fixed", Fraction(1), Fraction(-1)))

    def ground(self, *names: str) -> GearTrain:
        """Shafts that stand still."""
        for name in names:
            self._known(name)
        return replace(self, grounded=tuple(dict.fromkeys([*self.grounded, *names])))

    def _with(self, mesh: Mesh | Sum) -> GearTrain:
        if len(set(mesh.names)) < len(mesh.names):
            raise InvalidInput(f"GearTrain: a mesh of {', '.join(mesh.names)} names a shaft twice")
        return replace(self, meshes=(*self.meshes, mesh))

    @property
    def shafts(self) -> tuple[str, ...]:
        """Every shaft, in the order of its first mention."""
        shafts: dict[str, None] = {}
        for mesh in self.meshes:
            shafts |= dict.fromkeys(mesh.names)
        return tuple(shafts)

    def _known(self, name: str) -> str:
        if name not in self.shafts:
            raise UnknownName(
                f'GearTrain: there is no shaft "{name}"{did_you_mean(name, self.shafts)}'
            )
        return name

    @property
    def mobility(self) -> int:
        """How many shafts can be driven independently."""
        rows = [mesh.row() for mesh in self.meshes] + [
            {name: Fraction(1)} for name in self.grounded
        ]
        return len(self.shafts) - len(_reduced(rows, list(self.shafts))[0])

    def matrix(
        self, inputs: Iterable[str], outputs: Iterable[str] | None = None
    ) -> list[list[Any]]:
        """Exact speeds of outputs (rows; left out: every shaft) for unit speeds of inputs
        (columns)."""
        driven = [self._known(name) for name in inputs]
        wanted = [self._known(name) for name in (self.shafts if outputs is None else outputs)]
        if self.mobility != len(driven):
            state = "is under-determined" if self.mobility > len(driven) else "is locked"
            raise NotPossible(
                f"GearTrain: the train {state}: it has {self.mobility} degrees of freedom, but "
                f"{len(driven)} inputs: "
                f"{', '.join(driven) or 'none'}"
            )
        free = [name for name in self.shafts if name not in driven]
        rows = [mesh.row() for mesh in self.meshes] + [
            {name: Fraction(1)} for name in self.grounded
        ]
        solved, pivots = _reduced(rows, [*free, *driven])
        if any(name in driven for name in pivots):
            raise NotPossible(
                f"GearTrain: the inputs {', '.join(driven)} are tied to each other; others "
                "move freely"
            )
        by_shaft = dict(zip(pivots, solved, strict=True))
        return [[self._entry(name, source, by_shaft) for source in driven] for name in wanted]

    @staticmethod
    def _entry(name: str, source: str, by_shaft: Mapping[str, Mapping[str, Any]]) -> Any:
        if name in by_shaft:
            return -by_shaft[name].get(source, Fraction(0))
        return Fraction(int(name == source))

    def ratio(self, a: str, b: str) -> Any:
        """w_a / w_b of a train with one degree of freedom, exact."""
        value = self.matrix([a], [b])[0][0]
        if _zero(value):
            raise NotPossible(f'GearTrain: "{b}" stands still when "{a}" turns')
        return 1 / value

    def speeds(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Speeds of every shaft for those of the inputs: numbers,
        or symbols where wheels or speeds are symbols."""
        rows = _numbers(self.matrix(inputs))
        return dict(zip(self.shafts, rows @ _numbers(list(inputs.values())), strict=True))

    def torques(
        self,
        outputs: Mapping[str, Any],
        inputs: Iterable[str],
        speeds: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """Torques that the inputs must give so that the outputs deliver theirs [N m].

        Without losses by virtual work, T_in = R' T_out. With losses the direction of power through
        each mesh matters: `speeds` of the inputs are needed then, and each mesh loses in the
        direction in which its power flows.
        """
        _numbers(list(outputs.values()))  # which refuses what is no number
        names = [self._known(name) for name in inputs]
        lossless = all(mesh.efficiency == 1.0 for mesh in self.meshes)
        if lossless or speeds is None:
            if not lossless:
                raise InvalidInput(
                    "GearTrain: torques of a train with losses need speeds={input: speed}"
                )
            R = _numbers(self.matrix(names, outputs))
            return dict(zip(names, R.T @ _numbers(list(outputs.values())), strict=True))
        return self._with_losses(outputs, names, speeds)

    def _with_losses(
        self, outputs: Mapping[str, float], inputs: list[str], speeds: Mapping[str, float]
    ) -> dict[str, float]:
        """Equilibrium of every shaft; each mesh has one force, weakened on the side that it
        drives."""
        meshes = [mesh for mesh in self.meshes if isinstance(mesh, Mesh)]
        if len(meshes) < len(self.meshes):
            raise NotPossible(
                "GearTrain: losses belong to meshes; this train has sums of an element"
            )
        if any(
            _numbers([mesh.coefficient_a, mesh.coefficient_b]).dtype == object for mesh in meshes
        ):
            raise NotPossible(
                "GearTrain: losses need wheels of numbers: which way power flows decides; put "
                "them in"
            )
        missing = [name for name in inputs if name not in speeds]
        if missing:
            raise InvalidInput(
                f"GearTrain: speeds has none of {missing[0]}, expected one of every input"
            )
        w = self.speeds({name: speeds[name] for name in inputs})
        forward = [True] * len(meshes)
        shafts = list(self.shafts)
        unknown = [
            *[f"mesh {k}" for k in range(len(meshes))],
            *inputs,
            *[f"ground {g}" for g in self.grounded],
        ]
        for _ in range(2 * len(meshes) + 4):
            A = np.zeros((len(shafts), len(unknown)))
            for k, mesh in enumerate(meshes):
                a, b = float(mesh.coefficient_a), float(mesh.coefficient_b)
                if mesh.efficiency < 1.0:  # the driven side gets less
                    a, b = (a, b * mesh.efficiency) if forward[k] else (a * mesh.efficiency, b)
                A[shafts.index(mesh.a), k] += a
                A[shafts.index(mesh.b), k] += b
                if mesh.carrier is not None:
                    A[shafts.index(mesh.carrier), k] -= a if mesh.relative_b else a + b
            for j, name in enumerate(inputs):
                A[shafts.index(name), len(meshes) + j] = 1.0
            for j, name in enumerate(self.grounded):
                A[shafts.index(name), len(meshes) + len(inputs) + j] = 1.0
            load = np.zeros(len(shafts))
            for name, torque in outputs.items():
                load[shafts.index(self._known(name))] += torque
            forces = np.linalg.lstsq(A, load, rcond=None)[0]
            flows = []
            for k, mesh in enumerate(meshes):
                base = 0.0 if mesh.carrier is None else w[mesh.carrier]
                flows.append(forces[k] * float(mesh.coefficient_a) * (w[mesh.a] - base) <= 0.0)
            if flows == forward:
                break
            forward = flows
        return {name: float(forces[len(meshes) + j]) for j, name in enumerate(inputs)}

    def efficiency(self, output: str, torque: float, inputs: Mapping[str, float]) -> float:
        """Power delivered over power put in, for speeds of the inputs; self-locking trains give
        0."""
        delivered = number(torque, "efficiency: torque")
        power_out = delivered * self.speeds(inputs)[self._known(output)]
        torques = self.torques({output: delivered}, inputs, inputs)
        power_in = sum(torques[name] * speed for name, speed in inputs.items())
        ratio = power_out / power_in if power_in else 0.0
        return float(ratio if power_out > 0 else 1.0 / ratio if ratio > 0 else 0.0)

    def reflected_inertia(self, inertias: Mapping[str, float], inputs: Iterable[str]) -> np.ndarray:
        """(m, m) [kg m^2] that the inputs feel of inertias on shafts: R' diag(J) R."""
        R = _numbers(self.matrix(inputs, inertias))
        return R.T @ np.diag(_numbers(list(inertias.values()))) @ R

    def differential(
        self, name: str, joints: Mapping[str, str], motors: Iterable[str]
    ) -> Differential:
        """The element of a robot: joint -> shaft whose angle it is; motors: shafts that are
        driven."""
        rows = self.matrix(motors, joints.values())
        matrix = tuple(tuple(float(x) for x in row) for row in rows)
        return Differential(name, tuple(joints), tuple(motors), matrix)

    def gear(self, name: str, joint: str, motor: str, shaft: str) -> Gear:
        """The element of a robot for one motor and one joint."""
        return Gear(name, joint, float(self.ratio(motor, shaft)))

    @staticmethod
    def of(element: Differential | Gear) -> GearTrain:
        """The train that an element of a robot stands for: its joints and motors are the shafts."""
        if isinstance(element, Gear):
            return GearTrain()._with(
                Sum(element.joint, ((element.name, 1 / exact(float(element.ratio))),))
            )
        train = GearTrain()
        for joint, row in zip(element.joints, element.matrix, strict=True):
            parts = [(motor, exact(float(x))) for motor, x in zip(element.motors, row, strict=True)]
            train = train._with(Sum(joint, tuple(part for part in parts if part[1])))
        return train


def _reduced(
    rows: list[dict[str, Any]], columns: list[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Gauss-Jordan over exact numbers: (rows solved for their pivots, the pivots)."""
    work = [dict(row) for row in rows]
    solved: list[dict[str, Any]] = []
    pivots: list[str] = []
    for column in columns:
        k = next((i for i, row in enumerate(work) if not _zero(row.get(column, 0))), None)
        if k is None:
            continue
        chosen = work.pop(k)
        lead = chosen[column]
        chosen = {name: x / lead for name, x in chosen.items()}
        for row in (*work, *solved):
            factor = row.get(column, 0)
            if not _zero(factor):
                for name, x in chosen.items():
                    row[name] = row.get(name, 0) - factor * x
        solved.append(chosen)
        pivots.append(column)
    return solved, pivots
