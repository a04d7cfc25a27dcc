"""How fast are closed loops with sampled control, beside Python loops over Pinocchio,
and fractional derivatives?"""

from __future__ import annotations

import re
import resource
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import casadi
import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, seconds, side_by_side
from benchmarks.peers import check
from linkwork.control import (
    PMSM,
    Cascade,
    ConstantRate,
    CurrentLoop,
    FractionalFilter,
    FractionalImpedance,
    Inverter,
    PowerExponential,
    SlidingMode,
    Stepper,
    Surface,
    VelocityLoop,
    fractional_derivative,
    spin,
)
from linkwork.control.reaching import ReachingLaw
from linkwork.reproduce import paper_10, paper_12
from linkwork.simulation import Coulomb, Sampled

GAIN, SLOPE, LEVEL = np.array([2.0, 0.8]), np.array([40.0, 50.0]), np.array([0.05, 0.03])


def rows() -> list[Row]:
    found = [*sliding_mode(), *discretisations(), *double_integrator(), *half_derivative_damping()]
    return [*found, *field_oriented(), *half_derivatives(), *one_update()]


def sliding_mode() -> list[Row]:
    """Paper 10: 8 s, 1 ms hold, five Runge-Kutta steps a sample,
    payload and friction unknown to the law."""
    arm = paper_10.arm()
    weight = lw.Payload("2", 0.4536, com=(paper_10.L2, 0.0, 0.0))
    model, data = _pinocchio(0.0), None
    heavy = _pinocchio(0.4536)
    data, heavy_data = model.createData(), heavy.createData()
    t = casadi.SX.sym("t")
    x = paper_10.exercise(t)
    xd = casadi.jacobian(x, t)
    motion = casadi.Function("motion", [t], [x, xd, casadi.jacobian(xd, t)])
    q_d, v_d, a_d = (np.array(part).T for part in motion.map(8001)(1e-3 * np.arange(8001)))

    def loop() -> np.ndarray:
        q, v, h = q_d[0].copy(), v_d[0].copy(), 2e-4
        for k in range(8000):
            e, ed = q - q_d[k], v - v_d[k]
            r = -np.clip((ed + SLOPE * e) / 1e-3, -GAIN, GAIN)
            tau = pin.rnea(model, data, q, v, a_d[k] - SLOPE * ed + r)
            for _ in range(5):
                a1 = pin.aba(heavy, heavy_data, q, v, tau - LEVEL * np.tanh(v / 0.01))
                v2 = v + h / 2 * a1
                a2 = pin.aba(heavy, heavy_data, q + h / 2 * v, v2, tau - LEVEL * np.tanh(v2 / 0.01))
                v3 = v + h / 2 * a2
                a3 = pin.aba(
                    heavy, heavy_data, q + h / 2 * v2, v3, tau - LEVEL * np.tanh(v3 / 0.01)
                )
                v4 = v + h * a3
                a4 = pin.aba(heavy, heavy_data, q + h * v3, v4, tau - LEVEL * np.tanh(v4 / 0.01))
                q, v = (
                    q + h / 6 * (v + 2 * v2 + 2 * v3 + v4),
                    v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
                )
        return q

    def ours(sets: int) -> np.ndarray:
        gain = GAIN if sets == 1 else np.linspace(1.0, 2.0, sets)[:, None] * GAIN
        law = SlidingMode(Surface(SLOPE), ConstantRate(gain), paper_10.exercise, model=arm)
        run = lw.simulate(
            arm,
            q_d[0],
            v_d[0],
            duration=8.0,
            step=2e-4,
            sample=1e-3 if sets == 1 else 8.0,
            control=Sampled(law, 1e-3),
            payload=weight,
            friction=Coulomb(LEVEL, width=0.01),
            energy_tolerance=np.inf,
        )
        return run.q[..., -1, :]

    check(ours(1)[None], loop()[None], 1e-9)
    found = []
    for sets, target in ((1, 60), (1024, 400)):
        taken, peer = side_by_side(lambda: ours(sets), loop)  # noqa: B023
        case = f"paper 10, 8 s, 1 ms hold, {sets} gain sets"
        found.append(
            Row(
                "sliding mode, a run",
                case,
                taken / sets,
                peer,
                "Python loop over pin.rnea and pin.aba",
                target,
            )
        )
    return found


def _pinocchio(payload: float) -> pin.Model:
    """The arm built joint by joint, flat, with a point mass in the hand."""
    robot = lw.load("rehabilitation-arm")
    model, parent = pin.Model(), 0
    model.gravity.linear[:] = 0.0
    places = (
        pin.SE3(pin.utils.rotate("z", np.pi / 2), np.zeros(3)),
        pin.SE3(pin.utils.rotate("z", np.pi), np.array([paper_10.L1, 0.0, 0.0])),
    )
    for k, body in enumerate(("1", "2")):
        parent = model.addJoint(parent, pin.JointModelRZ(), places[k], f"theta{k + 1}")
        mass = next(b for b in robot.model.bodies if b.name == body).mass_properties
        inertia = pin.Inertia(
            float(mass.mass), np.array(mass.com, dtype=float), np.array(mass.inertia, dtype=float)
        )
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    if payload:
        model.appendBodyToJoint(
            parent,
            pin.Inertia(payload, np.array([paper_10.L2, 0.0, 0.0]), np.zeros((3, 3))),
            pin.SE3.Identity(),
        )
    return model


def discretisations() -> list[Row]:
    """Cost of a run with the implicit rule beside the explicit one."""
    arm = paper_10.arm()
    laws = {
        "constant rate": (ConstantRate(GAIN), 1.2),
        "power and exponential": (PowerExponential(GAIN, 0.1, 2.0, 0.5, 0.25), 2.5),
    }
    found = []
    for name, (law, target) in laws.items():

        def run(rule: str, law: ReachingLaw = law) -> np.ndarray:
            control = SlidingMode(
                Surface(SLOPE), law, paper_10.exercise, model=arm, discretisation=rule
            )
            options = {
                "duration": 8.0,
                "step": 2e-4,
                "sample": 8.0,
                "energy_tolerance": np.inf,
                "friction": False,
            }
            return lw.simulate(
                arm, np.array([0.3, 0.8]), control=Sampled(control, 1e-3), **options
            ).q

        implicit, explicit = side_by_side(lambda: run("implicit"), lambda: run("explicit"))
        case = f"{name}: times the cost of an explicit run, 8 s"
        found.append(
            Row("implicit sliding mode", case, implicit / explicit, None, "", target, "x", True)
        )
    return found


def double_integrator() -> list[Row]:
    """Sliding mode on a double integrator, 5 s at 1 ms, explicit as OpenSMC does it."""
    try:
        from opensmc.controllers.classical import ClassicalSMC
        from opensmc.plants.double_integrator import DoubleIntegrator
        from opensmc.reaching.constant import ConstantRate as TheirRate
        from opensmc.simulator import Simulator
    except ImportError:
        return []
    block = _sliding_block()
    controller = ClassicalSMC(reaching=TheirRate(k=2.0), c=5.0)
    simulator, plant = Simulator(dt=1e-3, T=5.0), DoubleIntegrator(J=1.0)

    def theirs() -> np.ndarray:
        return simulator.run(controller, plant, x0=np.array([1.0, 0.0]))["x"][:, 0]

    law = SlidingMode(Surface(5.0), ConstantRate(2.0), [0.0], discretisation="explicit")

    def ours() -> np.ndarray:
        options = {"duration": 5.0, "step": 1e-3, "energy_tolerance": np.inf}
        return lw.simulate(block, [1.0], control=Sampled(law, 1e-3), **options).q[:, 0]

    check(ours()[None], theirs()[None], 5e-3)  # both chatter by 2e-3 rad/s about the surface
    taken, peer = side_by_side(ours, theirs)
    return [
        Row(
            "sliding mode, a run",
            "double integrator, 5 s at 1 ms",
            taken,
            peer,
            "OpenSMC's simulator",
            30,
        )
    ]


def _sliding_block() -> lw.Robot:
    """One kilogram on a horizontal slide."""
    text = """<robot name="block"><link name="world"/><link name="block"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="x" type="prismatic"><parent link="world"/><child link="block"/><axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" effort="100" velocity="100"/></joint></robot>"""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "block.urdf"
        place.write_text(text)
        return lw.load(place)


def half_derivative_damping() -> list[Row]:
    """Paper 12: 18.2 s, 3640 samples, 18 200 steps: one run,
    and 10 000 (d, hd) pairs with all indices."""
    robot, q = paper_12.arm()
    random = np.random.default_rng(0)

    def ours(pairs: int) -> np.ndarray:
        d = 5000.0 if pairs == 1 else random.uniform(1000.0, 5000.0, pairs)
        # below eq. 20: stable
        hd = 0.0 if pairs == 1 else random.uniform(0.0, 1.0, pairs) * (47_200.0 - 9.44 * d)
        return paper_12.run(Sampled(paper_12.law(robot, q, d, hd), paper_12.PERIOD)).metrics[
            "effort"
        ]

    loop = _pinocchio_loop(robot, q)
    check(np.atleast_2d(ours(1)), np.atleast_2d(loop()), 1e-6)
    one, peer = side_by_side(lambda: ours(1), loop, rounds=1, turns=2)
    case = "paper 12, 18.2 s, 18 200 steps"
    found = [Row("half-derivative damping, a run", case, one, peer, "Python loop over pin", 60)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = min(seconds(lambda: ours(10_000)) for _ in range(2))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    case = "paper 12, 10 000 (d, hd) pairs with all indices, all threads"
    found.append(Row("half-derivative damping", case, taken, None, "", 40, "s", True))
    found.append(
        Row(
            "half-derivative damping",
            "memory of these 10 000 runs",
            grown,
            None,
            "",
            300,
            "MB",
            True,
        )
    )
    return found


def _limited(joint: re.Match[str]) -> str:
    """A continuous joint of a URDF as a revolute one with limits."""
    text = re.sub(r"<limit[^>]*/>", "", joint.group(0)).replace('"continuous"', '"revolute"')
    return text.replace(
        "</joint>", '<limit lower="-9" upper="9" effort="1e9" velocity="1e9"/></joint>'
    )


def _pinocchio_loop(robot: lw.Robot, q0: np.ndarray) -> Callable[[], np.ndarray]:
    """The same loop in Python: the tree and its Jacobians by pin, mimic map applied;
    effort of the run."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "arm.urdf"
        # the tree; its spring is added below
        lw.save(lw.Robot(replace(robot.model, elements=())), place)
        # one coordinate a joint: continuous ones have two in pin
        text = re.sub(
            r'<joint [^>]*type="continuous".*?</joint>', _limited, place.read_text(), flags=re.S
        )
        place.write_text(text)
        model = pin.buildModelFromUrdf(str(place))
    data = model.createData()
    G = np.zeros((model.nv, robot.nv))  # joints of the tree by the four that move
    for joint in robot.model.joints:
        if joint.name in model.names:
            row = model.joints[model.getJointId(joint.name)].idx_v
            mimic = joint.mimic
            name, factor = (
                (joint.name, 1.0) if mimic is None else (mimic.joint, float(mimic.multiplier))
            )
            G[row, robot.joints.index(name)] = factor
    spring = next(e for e in robot.model.elements if getattr(e, "name", "") == "spring3")
    frame = model.getFrameId("E")
    law = paper_12.law(robot, q0, 5000.0, 0.0)
    t = casadi.SX.sym("t")
    motion = casadi.Function("motion", [t], [paper_12.set_point(robot, q0)(t)])
    samples = round(paper_12.DURATION / paper_12.PERIOD)
    targets = np.array(motion.map(samples)(paper_12.PERIOD * np.arange(samples))).T
    K, D = (np.diag(x.reshape(4, 4)) for x in (law.stiffness, law.damping))
    h, axes = paper_12.STEP, [0, 1, 2, 5]

    def elastic(q: np.ndarray) -> np.ndarray:
        out = np.zeros(4)
        out[2] = -spring.stiffness * (q[2] - spring.free)
        return out

    def acceleration(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(model, data, G @ q))
        M = M + np.triu(M, 1).T
        drift = pin.nonLinearEffects(model, data, G @ q, G @ v)
        return np.linalg.solve(G.T @ M @ G, tau + elastic(q) - G.T @ drift)

    def loop() -> np.ndarray:
        q, v, last, effort = q0.copy(), np.zeros(4), np.zeros(4), 0.0
        for k in range(samples):
            pin.computeJointJacobians(model, data, G @ q)
            pin.updateFramePlacements(model, data)
            J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[axes] @ G
            at = data.oMf[frame]
            turn = np.arctan2(at.rotation[1, 0], at.rotation[0, 0])
            e = targets[k] - np.r_[at.translation, turn]
            rate = (e - last) / paper_12.PERIOD
            last = e
            tau = (
                J.T @ (K * e + D * rate)
                + G.T @ pin.computeGeneralizedGravity(model, data, G @ q)
                - elastic(q)
            )
            effort += paper_12.PERIOD * float(tau @ tau)
            for _ in range(5):
                a1 = acceleration(q, v, tau)
                v2 = v + h / 2 * a1
                a2 = acceleration(q + h / 2 * v, v2, tau)
                v3 = v + h / 2 * a2
                a3 = acceleration(q + h / 2 * v2, v3, tau)
                v4 = v + h * a3
                a4 = acceleration(q + h * v3, v4, tau)
                q, v = (
                    q + h / 6 * (v + 2 * v2 + 2 * v3 + v4),
                    v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
                )
        return np.array([effort])

    return loop


def field_oriented() -> list[Row]:
    """PMSM with field-oriented control, 0.5 s at 250 us, beside motulator: the same machine,
    gains and link."""
    try:
        from motulator.drive import model
        from motulator.drive.control import sm
        from motulator.drive.utils import SynchronousMachinePars
    except ImportError:
        return []
    machine = PMSM(0.545, 3, 3.6, 0.036, 0.036, 0.015)
    most = 1.5 * np.sqrt(2) * 5
    cascade = Cascade(CurrentLoop(limit=most), VelocityLoop(2 * np.pi * 4))
    par = SynchronousMachinePars(n_p=3, R_s=3.6, L_d=0.036, L_q=0.036, psi_f=0.545)
    cfg = sm.CurrentReferenceCfg(par, nom_w_m=2 * np.pi * 75, max_i_s=most)

    def theirs() -> np.ndarray:
        shaft = model.StiffMechanicalSystem(J=0.015)
        shaft.tau_L = lambda t: 3.0
        system = model.Drive(
            model.VoltageSourceConverter(u_dc=540), model.SynchronousMachine(par), shaft
        )
        control = sm.CurrentVectorControl(par, cfg, J=0.015, T_s=250e-6, sensorless=False)
        control.ref.w_m = lambda t: 120.0
        run = model.Simulation(system, control)
        run.simulate(t_stop=0.5)
        times = 250e-6 * np.arange(2001)
        return np.interp(
            times, np.asarray(run.mdl.mechanics.data.t), np.asarray(run.mdl.mechanics.data.w_M)
        )

    def ours(sets: int) -> np.ndarray:
        loads = 3.0 if sets == 1 else np.linspace(2.0, 4.0, sets)
        return spin(machine, cascade, 40.0, loads, 0.5, Inverter(540.0), record=sets == 1)["speed"]

    check(ours(1)[None, 400:], theirs()[None, 400:], 5e-3)  # from 0.1 s on: the start is near zero
    found = []
    for sets, target in ((1, 150), (1024, 1000)):
        taken, peer = side_by_side(lambda: ours(sets), theirs, rounds=3, turns=2)  # noqa: B023
        case = f"PMSM, field-oriented control, 0.5 s at 250 us, {sets} at once"
        found.append(Row("drive, a run", case, taken / sets, peer, "motulator", target))
    return found


def one_update() -> list[Row]:
    """One sample of a Cartesian law for six axes from Python, checks included, beside pin.rnea."""
    robot = lw.load("ur5e")
    q = np.array([0.1, -1.2, 1.4, -1.0, 0.8, 0.3])
    law = FractionalImpedance("tool0", 1000.0, 50.0, 20.0, robot.pose(q, "tool0"))
    errors = np.random.default_rng(0).normal(size=(11, 6))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "ur5e.urdf"
        lw.save(robot, place)
        model = pin.buildModelFromUrdf(str(place))
    data, zero = model.createData(), np.zeros(model.nv)
    filtered = FractionalFilter(0.5, 1e-3, 10, shape=(6,))
    for row in errors:
        filtered.update(row)

    taken, peer = side_by_side(
        lambda: filtered.update(errors[0]), lambda: pin.rnea(model, data, q, zero, zero)
    )
    case = "a fractional filter for six axes; pin.rnea calls that one update costs"
    found = [Row("one update from Python", case, taken / peer, None, "", 3, "pin.rnea", True)]
    taken, peer = side_by_side(
        lambda: law.wrench(errors, 1e-3), lambda: pin.rnea(model, data, q, zero, zero), rounds=3
    )
    case = "the wrench of a given history of eleven errors; pin.rnea calls"
    found.append(Row("one update from Python", case, taken / peer, None, "", 3, "pin.rnea", True))
    stepper = Stepper(law, robot, 1e-3)
    taken, peer = side_by_side(
        lambda: stepper.step(q, zero), lambda: pin.rnea(model, data, q, zero, zero), rounds=3
    )
    case = "fractional impedance of a UR5e, from q and v to joint forces; pin.rnea calls"
    return [
        *found,
        Row("one update from Python", case, taken / peer, None, "", 3, "pin.rnea", True),
    ]


def half_derivatives() -> list[Row]:
    """1e5 samples, whole signal."""
    try:
        import differint.differint as peer
    except ImportError:
        return []
    x = np.random.default_rng(0).normal(size=100_000)

    def ours() -> np.ndarray:
        return fractional_derivative(x, 1e-5, 0.5)

    def theirs() -> np.ndarray:
        return peer.GL(0.5, x, 0.0, 1.0, 100_000)

    check(ours()[None, 1000::1000] / 1e2, theirs()[None, 1000::1000] / 1e2, 1e-2)
    taken, other = side_by_side(ours, theirs)
    return [Row("half derivative", "1e5 samples", taken, other, "differint.GL", 2)]
