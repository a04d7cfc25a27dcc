"""Cycles: what each actuator does over time, without the rotors that a description may already
hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.actuation.conversion import from_actuators
from linkwork.actuation.layout import layout_of
from linkwork.loads.analyse import Analysis
from linkwork.loads.commanded import commanded
from linkwork.loads.loads import loads
from linkwork.studies.sizing import Cycle
from linkwork.subject import Subject

MOST = 25
"""Instants of a motion at which the inertia of the load is taken;
it changes slowly with the configuration."""


def lasting_of(done: list[Analysis]) -> np.ndarray:
    """How long each instant stands for [s]: half way to its neighbours, at the ends a whole
    step."""
    spans = [np.abs(np.gradient(a.time)) if len(a) > 1 else np.zeros(len(a)) for a in done]
    lasting = np.concatenate(spans)
    # single instants: poses, each counts the same
    return lasting if lasting.any() else np.ones(len(lasting))


def cycles(subject: Subject, done: list[Analysis], with_rotors: bool) -> list[Cycle]:
    """A cycle for every actuator, in the order of the layout.

    with_rotors   the lines have rotors of their own: rotors of the description are taken off, and
                  the inertia of the load seen by each actuator is found
    """
    bare = _without_rotors(subject) if with_rotors else subject
    efforts = np.concatenate(
        [_efforts(bare, a, a.a) if bare is not subject else a.loads.efforts for a in done]
    )
    speeds = np.concatenate([a.cd for a in done])
    accelerations = np.concatenate([a.cdd for a in done])
    lasting = lasting_of(done)
    count = len(layout_of(subject).names)
    inertias = (
        np.max([_inertias(bare, a) for a in done], axis=0) if with_rotors else np.zeros(count)
    )
    return [
        Cycle(efforts[:, k], speeds[:, k], accelerations[:, k], lasting, float(inertias[k]))
        for k in range(count)
    ]


def _without_rotors(subject: Subject) -> Subject:
    """The same machine without the rotor inertias of its joints;
    one with live variables keeps them as a load."""
    if subject.live or not any(
        np.any(np.asarray(joint.armature, dtype=float)) for joint in subject.model.joints
    ):
        return subject
    joints = tuple(replace(joint, armature=0.0) for joint in subject.model.joints)
    return Subject(replace(subject.model, joints=joints))


def _efforts(
    subject: Subject, a: Analysis, acceleration: Any, every: slice = slice(None)
) -> np.ndarray:
    """(n, actuators): efforts for the states of an analysis with other accelerations (n, nv)."""
    borne = loads(
        subject,
        a.q[every],
        a.v[every],
        acceleration,
        a.loads.forces,
        a.loads.payload,
        a.loads.variables,
    )
    return commanded(subject, a.c[every], a.q[every], borne, a.loads.variables).efforts


def _inertias(subject: Subject, a: Analysis) -> np.ndarray:
    """(actuators,): the largest slope of each effort by the acceleration of its own command over a
    motion.

    Efforts are linear in accelerations, so that a difference of 1 rad/s^2 (m/s^2) gives the slope
    exactly.
    """
    every = slice(None, None, -(-len(a) // MOST)) if len(a) else slice(None)
    still, layout = _efforts(subject, a, a.a[every], every), layout_of(subject)
    slopes = []
    for k in range(layout.sizes[1]):
        pushed = a.cdd[every].copy()
        pushed[:, k] += 1.0
        start = a.q[every] if layout.implicit else None
        moved = from_actuators(subject, a.c[every], a.cd[every], pushed, start, a.loads.variables)[
            2
        ]
        slopes.append((_efforts(subject, a, moved, every) - still)[:, k])
    return np.abs(np.stack(slopes)).max(axis=1, initial=0.0)
