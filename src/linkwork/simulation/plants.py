"""Plants: the one that belongs to a robot or to a System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.lagrange.system import System
from linkwork.loops.dynamics import has_loop_dynamics
from linkwork.model.payload import Payload
from linkwork.quantities.evaluate import carried, on_bodies
from linkwork.simulation.loop_plant import LoopPlant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.simulation.system_plant import SystemPlant
from linkwork.subject import RobotLike, Subject

Mechanism: TypeAlias = RobotLike | System
"""What is simulated: a robot, its subject, or a system of Lagrangian mechanics."""


def plant_of(
    mechanism: Mechanism,
    payload: Payload | Sequence[Payload] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> Plant:
    """The plant of a robot, its subject, or a System; variables: live ones as numbers of the
    run."""
    payloads = carried(payload, "simulate")
    if isinstance(mechanism, System):
        if payloads:
            raise InvalidInput("simulate: a System takes no payload; add a body instead")
        if variables is not None:
            raise InvalidInput(
                "simulate: variables are those of a robot's description; a System has parameters"
            )
        return SystemPlant(mechanism)
    subject = getattr(mechanism, "subject", mechanism)
    if not isinstance(subject, Subject):
        raise InvalidInput(
            f"simulate: got {type(mechanism).__name__}, expected a Robot or a System"
        )
    payloads = on_bodies(subject, payloads)
    for held in payloads:
        _check_payload(held, subject)
    if not has_loop_dynamics(subject):
        return RobotPlant(subject, payloads, variables)
    if variables is not None:
        raise NotPossible(
            f'simulate: variables of robot "{subject.model.name}": with loops, springs or dampers '
            "they cannot differ "
            "between runs of one compiled loop; use robot.with_variables(...)"
        )
    return LoopPlant(subject, payloads)


def _check_payload(payload: Payload, subject: Subject) -> None:
    bodies = [body.name for body in subject.model.bodies]
    if payload.body not in bodies:
        known = did_you_mean(str(payload.body), bodies)
        raise UnknownName(
            f'simulate: payload on unknown body "{payload.body}" of robot '
            f'"{subject.model.name}"{known}'
        )
