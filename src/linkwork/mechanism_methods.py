"""Mechanism methods: closed loops, actuators and loads of a robot; each a signature,
a docstring and one call."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork.doors import with_door
from linkwork.model.payload import Payload
from linkwork.subject import Subject

if TYPE_CHECKING:
    from linkwork.actuation.motions import SampledMotion
    from linkwork.loads.analyse import Analysis
    from linkwork.loads.loads import Loads
    from linkwork.loads.members import Members
    from linkwork.loops.assembly import Assembly
    from linkwork.loops.mobility import Mobility

Forces = Mapping[str, ArrayLike]
Payloads = Payload | Sequence[Payload]
Variables = Mapping[str, ArrayLike]


@functools.partial(with_door, methods=True)
class MechanismMethods:
    """What a robot with motors, members and loops can be asked."""

    subject: Subject

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the commands, in the order of c: motors by their joint,
        transmissions by their own name."""
        from linkwork.actuation import layout

        return layout.layout_of(self.subject).names

    def from_actuators(
        self,
        c: ArrayLike,
        cd: ArrayLike | None = None,
        cdd: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        variables: Variables | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v, a for commands c (..., nc) [m, rad], their rates and second derivatives.
        See actuation/conversion.py.

        q0: where the search starts for loops without a closed form; left out, the robot's assembled
        reference.
        """
        from linkwork.actuation import conversion

        return conversion.from_actuators(self.subject, c, cd, cdd, q0, variables)

    def to_actuators(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        variables: Variables | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c, cd, cdd (..., nc) for joint coordinates, rates and accelerations.
        See actuation/coordinates.py."""
        from linkwork.actuation import coordinates

        return coordinates.to_actuators(self.subject, q, v, a, variables)

    def loads(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        forces: Forces | None = None,
        payload: Payloads | None = None,
        variables: Variables | None = None,
    ) -> Loads:
        """Wrench of every joint, force of every actuator and spring, base wrench.
        See loads/loads.py."""
        from linkwork.loads.loads import loads as loads_of

        return loads_of(self.subject, q, v, a, forces, payload, variables)

    def analyse(
        self,
        motion: str | SampledMotion | Mapping[str, ArrayLike],
        times: ArrayLike | None = None,
        steps: int = 1001,
        forces: Forces | None = None,
        payload: Payloads | None = None,
        variables: Variables | None = None,
    ) -> Analysis:
        """From a motion to every position and every load: seven steps, named columns.
        See loads/analyse.py."""
        from linkwork.loads.analyse import analyse as analyse_motion

        return analyse_motion(self.subject, motion, times, steps, forces, payload, variables)

    def members(
        self, q: ArrayLike, v: ArrayLike | None = None, variables: Variables | None = None
    ) -> Members:
        """Ends, lengths and rates of struts, springs, dampers, bars and sliders, by name.
        See loads/members.py."""
        from linkwork.loads.members import members as members_of

        return members_of(self.subject, q, v, variables)

    def assemble(
        self,
        q0: ArrayLike | None = None,
        hold: Sequence[str] = (),
        variables: Variables | None = None,
    ) -> Assembly:
        """Coordinates near q0 (left out: the reference) for which every loop closes.
        See loops/assembly.py."""
        from linkwork.loops import assembly

        start = assembly.reference(self.subject) if q0 is None else q0
        return assembly.assemble(self.subject, start, hold, variables=variables)

    def mobility(self, q: ArrayLike | None = None) -> Mobility:
        """Degrees of freedom by counting and by rank, redundant constraints by name.
        See loops/mobility.py."""
        from linkwork.loops.mobility import mobility as mobility_of

        return mobility_of(self.subject, q)

    def loop_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        effort: ArrayLike,
        stabilisation: float = 0.0,
        variables: Variables | None = None,
    ) -> np.ndarray:
        """a (..., nv) for efforts (..., nc) of `actuators`, loops kept closed.
        See actuation/efforts.py."""
        from linkwork.actuation import efforts

        return efforts.loop_dynamics(self.subject, q, v, effort, stabilisation, variables)

    def consistent(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nearest state q, v with closed loops, to start a simulation from.
        See loops/dynamics.py."""
        from linkwork.loops import dynamics

        return dynamics.consistent(self.subject, q, v)
