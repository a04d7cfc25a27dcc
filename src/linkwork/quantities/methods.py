"""Methods: every quantity of the table as a method, a signature and a docstring each.

Without options a method is one attribute away from machine code; `options` are those of `calls.py`:
variables=, out=, and where they matter payload= and forces=.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import shown
from linkwork.errors import ComputationError, InvalidInput
from linkwork.quantities.calls import Calls, Forced, Loaded, Options
from linkwork.quantities.singular import explained
from linkwork.results import Points, Poses
from linkwork.subject import Subject

_NOT_MADE = (KeyError, TypeError, NotImplementedError)
"""What looking up a frame raises: not asked before, or no name at all."""
_WORLD = "world"
"""Python keeps one string of this text, so that the usual reference is told by its address."""
Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


class QuantityMethods:
    """What can be asked of a subject: its lines of the table."""

    __linkwork_direct__ = True  # arguments are refused by the compiled calls; see doors.DIRECT

    def __init__(self, subject: Subject) -> None:
        self.subject, self._calls = subject, Calls(subject)

    # configurations

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
        """q (+) dv: the configuration after moving by dv (velocity times time).
        See recursions/configuration.py."""
        call = self._calls.integrate or self._calls.made("integrate")
        return call(q, dv)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """dv (..., nv) with integrate(q0, dv) = q1."""
        call = self._calls.difference or self._calls.made("difference")
        return call(q0, q1)

    # kinematics

    def forward_kinematics(self, q: ArrayLike, **options: Unpack[Options]) -> Poses:
        """Poses of every body. See recursions/poses.py."""
        call = self._calls.forward_kinematics or self._calls.made("forward_kinematics")
        rotation, position = (
            self._calls.with_options(options, "forward_kinematics", q=q) if options else call(q)
        )
        return Poses(tuple(body.name for body in self.subject.model.bodies), rotation, position)

    def pose(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> np.ndarray:
        """T_world_frame (..., 4, 4)."""
        if options:
            return self._calls.with_options(options, "pose", frame, q=q)
        try:
            return self._calls.framed["pose", frame](q)
        except _NOT_MADE:
            return self._calls.made("pose", frame)(q)

    def points(self, q: ArrayLike, **options: Unpack[Options]) -> Points:
        """Every named point in world axes: points["body"]["name"] (..., 3) [m]."""
        names = {
            body.name: tuple(label for label, _ in body.points)
            for body in self.subject.model.bodies
        }
        call = self._calls.points or self._calls.made("points")
        return Points(
            names, self._calls.with_options(options, "points", q=q) if options else call(q)
        )

    def jacobian(
        self, q: ArrayLike, frame: str, reference: str = "world", **options: Unpack[Options]
    ) -> np.ndarray:
        """J (..., 6, nv) at the frame's origin, in world axes or in the frame's own.
        See recursions/jacobians.py."""
        name = "jacobian" if reference is _WORLD else _referred("jacobian", reference)
        if options:
            return self._calls.with_options(options, name, frame, q=q)
        try:
            return self._calls.framed[name, frame](q)
        except _NOT_MADE:
            return self._calls.made(name, frame)(q)

    def velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        reference: str = "world",
        **options: Unpack[Options],
    ) -> np.ndarray:
        """Linear and angular velocity (..., 6) of a frame [m/s, rad/s]."""
        name = "velocity" if reference is _WORLD else _referred("velocity", reference)
        if options:
            return self._calls.with_options(options, name, frame, q=q, v=v)
        try:
            return self._calls.framed[name, frame](q, v)
        except _NOT_MADE:
            return self._calls.made(name, frame)(q, v)

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        reference: str = "world",
        **options: Unpack[Options],
    ) -> np.ndarray:
        """Acceleration of the frame's origin, linear and angular (..., 6) [m/s^2, rad/s^2]."""
        name = "acceleration" if reference is _WORLD else _referred("acceleration", reference)
        if options:
            return self._calls.with_options(options, name, frame, q=q, v=v, a=a)
        try:
            return self._calls.framed[name, frame](q, v, a)
        except _NOT_MADE:
            return self._calls.made(name, frame)(q, v, a)

    def jacobian_derivative(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        reference: str = "world",
        **options: Unpack[Options],
    ) -> np.ndarray:
        """dJ/dt (..., 6, nv) along v, so that acceleration = J a + dJ/dt v.
        See recursions/jacobian_derivative.py."""
        name = (
            "jacobian_derivative"
            if reference is _WORLD
            else _referred("jacobian_derivative", reference)
        )
        if options:
            return self._calls.with_options(options, name, frame, q=q, v=v)
        try:
            return self._calls.framed[name, frame](q, v)
        except _NOT_MADE:
            return self._calls.made(name, frame)(q, v)

    def manipulability(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> np.ndarray:
        """Yoshikawa's measure sqrt(det(J J')) (...), of J'J with fewer than six coordinates;
        zero where singular."""
        if options:
            return self._calls.with_options(options, "manipulability", frame, q=q)
        try:
            return self._calls.framed["manipulability", frame](q)
        except _NOT_MADE:
            return self._calls.made("manipulability", frame)(q)

    def tip_force_torque(
        self, q: ArrayLike, force: ArrayLike, frame: str, **options: Unpack[Options]
    ) -> np.ndarray:
        """Joint forces J'f (..., nv) that a force and moment f (..., 6) on the frame amounts to,
        world axes there."""
        if options:
            return self._calls.with_options(options, "tip_force_torque", frame, q=q, force=force)
        try:
            return self._calls.framed["tip_force_torque", frame](q, force)
        except _NOT_MADE:
            return self._calls.made("tip_force_torque", frame)(q, force)

    # dynamics

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Forced]
    ) -> np.ndarray:
        """Joint forces tau (..., nv) [N m, N] for the accelerations a.
        See recursions/newton_euler.py.

        forces: {body or frame: (..., 6)} acting on the robot, world axes, at that frame's origin.
        """
        if options:
            return self._calls.with_options(options, "inverse_dynamics", q=q, v=v, a=a)
        call = self._calls.inverse_dynamics or self._calls.made("inverse_dynamics")
        return call(q, v, a)

    def gravity_torque(self, q: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """Joint forces that hold the robot still: q (..., nq) -> (..., nv) [N m, N]."""
        if options:
            return self._calls.with_options(options, "gravity_torque", q=q)
        call = self._calls.gravity_torque or self._calls.made("gravity_torque")
        return call(q)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **options: Unpack[Forced]
    ) -> np.ndarray:
        """Accelerations a (..., nv) that the joint forces tau give.
        See recursions/forward_dynamics.py.

        Of the tree alone: where loops are to stay closed, see `loop_dynamics`.
        forces: {body or frame: (..., 6)} acting on the robot, world axes, at that frame's origin.
        """
        if options:
            return self._calls.with_options(options, "forward_dynamics", q=q, v=v, tau=tau)
        try:
            call = self._calls.forward_dynamics or self._calls.made("forward_dynamics")
            return call(q, v, tau)
        except ComputationError as error:
            raise explained(error, self.subject, "forward_dynamics", q) from None

    def mass_matrix(self, q: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """M (..., nv, nv), rotor inertia included. See recursions/composite_body.py."""
        if options:
            return self._calls.with_options(options, "mass_matrix", q=q)
        call = self._calls.mass_matrix or self._calls.made("mass_matrix")
        return call(q)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """C (..., nv, nv) of tau = M a + C v + g, with dM/dt - 2 C skew.
        See recursions/coriolis.py."""
        if options:
            return self._calls.with_options(options, "coriolis_matrix", q=q, v=v)
        call = self._calls.coriolis_matrix or self._calls.made("coriolis_matrix")
        return call(q, v)

    def friction_torque(self, v: ArrayLike, **options: Unpack[Options]) -> np.ndarray:
        """Joint forces (..., nv) that overcome damping and dry friction at v;
        part of no other quantity."""
        if options:
            return self._calls.with_options(options, "friction_torque", v=v)
        call = self._calls.friction_torque or self._calls.made("friction_torque")
        return call(v)

    def energy(
        self, q: ArrayLike, v: ArrayLike, **options: Unpack[Loaded]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(kinetic (...), potential (...)) [J]; the latter is zero at the world's origin.
        See recursions/energy.py.

        Potential energy counts every described body, also a base that stands still
        (Pinocchio's does not).
        """
        if options:
            return self._calls.with_options(options, "energy", q=q, v=v)
        call = self._calls.energy or self._calls.made("energy")
        return call(q, v)

    def center_of_mass(self, q: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """Centre of mass (..., 3) of every described body together, world axes [m].

        A base that stands still counts: it is part of the robot. Pinocchio's is that of the moving
        bodies alone; the page "Coming from" shows how to get it.
        """
        if options:
            return self._calls.with_options(options, "center_of_mass", q=q)
        call = self._calls.center_of_mass or self._calls.made("center_of_mass")
        return call(q)

    def center_of_mass_jacobian(self, q: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """J (..., 3, nv): velocity of the centre of mass is J v."""
        if options:
            return self._calls.with_options(options, "center_of_mass_jacobian", q=q)
        call = self._calls.center_of_mass_jacobian or self._calls.made("center_of_mass_jacobian")
        return call(q)

    def momentum(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """Linear momentum [kg m/s], then angular about the centre of mass [kg m^2/s]: (..., 6),
        world axes.

        The centre of mass is that of all described bodies, also of a base that stands still
        (see `center_of_mass`).
        """
        if options:
            return self._calls.with_options(options, "momentum", q=q, v=v)
        call = self._calls.momentum or self._calls.made("momentum")
        return call(q, v)

    def centroidal_matrix(self, q: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """A (..., 6, nv): momentum(q, v) = A v. See recursions/momentum.py."""
        if options:
            return self._calls.with_options(options, "centroidal_matrix", q=q)
        call = self._calls.centroidal_matrix or self._calls.made("centroidal_matrix")
        return call(q)

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]
    ) -> np.ndarray:
        """Y (..., nv, 10 nb): Y @ parameters() = inverse_dynamics less rotor inertia.
        See recursions/regressor.py."""
        if options:
            return self._calls.with_options(options, "regressor", q=q, v=v, a=a)
        call = self._calls.regressor or self._calls.made("regressor")
        return call(q, v, a)

    def torque_table(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Loaded]
    ) -> np.ndarray:
        """Which body loads which joint (..., nv, nb); rows sum to inverse_dynamics.
        See recursions/torque_table.py."""
        if options:
            return self._calls.with_options(options, "torque_table", q=q, v=v, a=a)
        call = self._calls.torque_table or self._calls.made("torque_table")
        return call(q, v, a)

    def operational_space_inertia(
        self, q: ArrayLike, frame: str, **options: Unpack[Loaded]
    ) -> np.ndarray:
        """(J M^-1 J')^-1 (..., 6, 6) at the frame's origin, world axes;
        needs six coordinates and a regular J."""
        if options:
            return self._calls.with_options(options, "operational_space_inertia", frame, q=q)
        try:
            call = self._calls.of_frame("operational_space_inertia", frame)
            return call(q)
        except ComputationError as error:
            raise explained(error, self.subject, "operational_space_inertia", q, frame) from None

    def operational_space_mobility(
        self, q: ArrayLike, frame: str, **options: Unpack[Loaded]
    ) -> np.ndarray:
        """J M^-1 J' (..., 6, 6): acceleration of the frame for a unit force on it,
        world axes at its origin."""
        if options:
            return self._calls.with_options(options, "operational_space_mobility", frame, q=q)
        try:
            call = self._calls.of_frame("operational_space_mobility", frame)
            return call(q)
        except ComputationError as error:
            raise explained(error, self.subject, "operational_space_mobility", q, frame) from None

    def christoffel(self, q: ArrayLike, **options: Unpack[Loaded]) -> np.ndarray:
        """Christoffel symbols c (..., nv, nv, nv): tau_k = sum_ij c[k, i, j] v_i v_j.
        See recursions/christoffel.py.

        coriolis_matrix[k, i] = sum_j c[k, i, j] v_j. With ball or floating joints c is the
        connection of M in their velocities and c[k, i, j] differs from c[k, j, i] where i and j
        belong to the same such joint.
        """
        if options:
            return self._calls.with_options(options, "christoffel", q=q)
        call = self._calls.christoffel or self._calls.made("christoffel")
        return call(q)

    # derivatives

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Forced]
    ) -> Triple:
        """(d_dq, d_dv, d_da) of inverse_dynamics, each (..., nv, nv); d_da is the mass matrix.

        By q along the tangent space: d_dq @ dv is the change of tau on the way to integrate(q, dv),
        while forces stay what they are in world axes. See
        recursions/derivatives/inverse_dynamics.py.
        """
        if options:
            return self._calls.with_options(options, "inverse_dynamics_derivatives", q=q, v=v, a=a)
        call = self._calls.inverse_dynamics_derivatives or self._calls.made(
            "inverse_dynamics_derivatives"
        )
        return call(q, v, a)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **options: Unpack[Forced]
    ) -> Triple:
        """(d_dq, d_dv, d_dtau) of forward_dynamics, each (..., nv, nv);
        d_dtau is the inverse of the mass matrix.

        By q along the tangent space, while forces stay what they are in world axes. See
        recursions/derivatives/forward_dynamics.py.
        """
        if options:
            return self._calls.with_options(
                options, "forward_dynamics_derivatives", q=q, v=v, tau=tau
            )
        try:
            call = self._calls.forward_dynamics_derivatives or self._calls.made(
                "forward_dynamics_derivatives"
            )
            return call(q, v, tau)
        except ComputationError as error:
            raise explained(error, self.subject, "forward_dynamics_derivatives", q) from None


def _referred(name: str, reference: str) -> str:
    if isinstance(reference, str) and reference == _WORLD:
        return name
    if not isinstance(reference, str) or reference != "body":
        told = shown(reference)
        pinocchio = (
            " (Pinocchio's LOCAL_WORLD_ALIGNED and LOCAL)" if "LOCAL" in told.upper() else ""
        )
        raise InvalidInput(f"{name}: reference is {told}, expected 'world' or 'body'{pinocchio}")
    return f"{name}_body"
