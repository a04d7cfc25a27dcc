"""Linkages as robots: closed loops that meet their positions, saved and loaded, with unique
loads."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.synthesis import PlanarTask, Topology, dyads, four_bar, from_dyads, six_bars
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4


def crank_rocker():
    found = dyads(CRANK_ROCKER)
    crank, rocker = (int(np.abs(found.ground - pivot).argmin()) for pivot in (0, 4))
    return from_dyads(CRANK_ROCKER, found[crank], found[rocker])


def slider_crank():
    task = CRANK_ROCKER[:4]
    found = dyads(CRANK_ROCKER)
    crank = int(np.abs(found.ground).argmin())
    first = dyads(task, beta={2: found.beta[crank, 0]})
    first = first[int(np.abs(first.ground).argmin())]
    return from_dyads(task, first, dyads(task, kind="PR")), task


CASES = {"four-bar": lambda: (crank_rocker(), CRANK_ROCKER), "slider-crank": slider_crank}


def position(robot, j):
    """The configuration "position_j"."""
    values = dict(robot.model.configurations)[f"position_{j}"]
    return robot.q(**{joint: x[0] for joint, x in values})


def tracer_pose(robot, q, plane):
    T = robot.pose(q, "tracer")
    i, j = {"xz": (0, 2), "xy": (0, 1), "yz": (1, 2)}[plane]
    return T[i, 3] + 1j * T[j, 3], np.arctan2(T[j, i], T[i, i])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("plane", ["xz", "xy", "yz"])
def test_the_robot_meets_every_position(case, plane):
    linkage, task = CASES[case]()
    robot = lw.Robot.from_linkage(linkage, task, plane=plane)
    assert robot.mobility().degrees == 1 and robot.mobility().redundant == 0
    for j in range(task.n):
        q = robot.assemble(position(robot, j + 1))
        assert q.success
        place, angle = tracer_pose(robot, q.q, plane)
        assert abs(place - task.positions[j]) < 1e-9 * float(task.size)
        assert abs(np.angle(np.exp(1j * (angle - task.angles[j])))) < 1e-9


def six_bar():
    return six_bars(CRANK_ROCKER, [-2 + 0j, -1.5 + 3j, 1.5 + 1.2j], most=1)[0]


def test_inertia_is_that_of_points_along_the_bars():
    """Products of inertia, too, which motion in the plane does not feel:
    20 000 points of mass on each bar."""
    robot = lw.Robot.from_linkage(crank_rocker(), CRANK_ROCKER, density=1.5)
    moving = [body for body in robot.model.bodies if body.name in ("crank", "coupler", "rocker")]
    assert len(moving) == 3
    for body in moving:
        places, masses = [], []
        for start, end in body.lines:
            ends = np.array([dict(body.points)[start], dict(body.points)[end]])
            along = (np.arange(20_000) + 0.5)[:, None] / 20_000
            places.append(ends[0] + along * (ends[1] - ends[0]))
            masses.append(np.full(len(along), 1.5 * np.linalg.norm(ends[1] - ends[0]) / len(along)))
        x, m = np.concatenate(places), np.concatenate(masses)
        center = m @ x / m.sum()
        r = x - center
        squares = np.einsum("n,ni,nj->ij", m, r, r)
        inertia = np.trace(squares) * np.eye(3) - squares
        described = body.mass_properties
        np.testing.assert_allclose(described.mass, m.sum(), rtol=1e-12)
        np.testing.assert_allclose(described.com, center, atol=1e-9)
        # sums over points miss by 1/n^2; a bar's width adds to the moments, to no product
        more = np.array(described.inertia) - inertia
        np.testing.assert_allclose(
            more - np.diag(np.diag(more)), 0.0, atol=1e-7 * np.abs(inertia).max()
        )
        assert (0.0 < np.diag(more)).all() and np.diag(more).max() < 0.05 * inertia.max()


@pytest.mark.parametrize(
    "make", [crank_rocker, lambda: slider_crank()[0], six_bar], ids=["four", "slider", "six"]
)
def test_motion_and_loads_are_mujocos(make, tmp_path):
    """The tracer's place, and the accelerations that MuJoCo finds for the driver's torque alone,
    along a cycle.

    MuJoCo's closures are soft: an impedance of 1 - e leaves the share e of what holds the loops.
    What e = 1e-4 and e = 2e-4 differ by leads on to e = 0, but for squares of e: 2 of 100 of that
    difference.
    """
    mujoco = pytest.importorskip("mujoco")
    linkage = make()
    robot = lw.Robot.from_linkage(linkage, density=1.0)
    model = mujoco.MjModel.from_xml_path(str(lw.save(robot, tmp_path / "linkage.xml")))
    model.eq_solref[:] = [-1e9, -1e6]
    data = mujoco.MjData(model)
    q, v, a = robot.motions["cycle"].sample(np.linspace(0.1, 1.9, 8))
    torque = robot.loads(q, v, a).actuator(linkage.topology.driver)
    names = [model.joint(k).name for k in range(model.njnt)]
    assert names == list(robot.joints)
    for k in range(len(q)):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[k], v[k], 0.0
        data.qfrc_applied[names.index(linkage.topology.driver)] = torque[k]
        found = []
        for soft in (1e-4, 2e-4):
            model.eq_solimp[:] = [1 - soft, 1 - soft, 1e-6, 0.5, 2]
            mujoco.mj_forward(model, data)
            found.append(data.qacc.copy())
        assert np.abs(data.efc_pos).max() < 1e-12
        assert data.site("tracer").xpos == pytest.approx(
            robot.pose(q[k], "tracer")[:3, 3], abs=1e-12
        )
        softness = np.abs(found[1] - found[0]).max()
        assert (
            np.abs(2 * found[0] - found[1] - a[k]).max()
            < 0.02 * softness + 1e-8 * np.abs(a[k]).max()
        )
        assert softness < 2e-2 * np.abs(a).max()


def test_a_saved_robot_is_the_same_robot(tmp_path):
    robot = lw.Robot.from_linkage(crank_rocker(), CRANK_ROCKER, density=1.5)
    again = lw.load(lw.save(robot, tmp_path / "rocker.robot.yaml"))
    q = robot.random(5, seed=0)
    assert np.array_equal(robot.gravity_torque(q), again.gravity_torque(q))
    assert robot.model.elements == again.model.elements


def test_the_tree_alone_is_a_urdf_that_names_what_it_lacks(tmp_path, caplog):
    robot = lw.Robot.from_linkage(crank_rocker(), CRANK_ROCKER, density=1.5)
    with pytest.raises(NotPossible, match="closed-loop"):
        lw.save(robot, tmp_path / "rocker.urdf")
    tree = lw.load(lw.save(robot, tmp_path / "rocker.urdf", loops="open"))
    assert any('without "pin_C"' in record.getMessage() for record in caplog.records)
    q = robot.random(5, seed=0)
    assert tree.pose(q, "tracer") == pytest.approx(robot.pose(q, "tracer"), abs=1e-14)
    assert tree.mass_matrix(q) == pytest.approx(robot.mass_matrix(q), rel=1e-12)
    with pytest.raises(InvalidInput, match="loops"):
        lw.save(robot, tmp_path / "rocker.urdf", loops="cut")


def test_designs_are_batches_of_variables():
    robot = lw.Robot.from_linkage(crank_rocker(), live=True)
    other = four_bar([0.1, 4.2], [0.1 + 0.5 + 0.9j, 3.5 + 2.5j], 1.0 + 3.0j)
    fixed = lw.Robot.from_linkage(other)
    values = {name: float(x) for name, x in fixed.subject.parametric.defaults.items()}
    q = np.array([0.3, -0.2, 0.1])
    assert robot.pose(q, "tracer", variables=values) == pytest.approx(
        fixed.pose(q, "tracer"), abs=1e-14
    )


def test_masses_are_those_of_the_bars():
    """A crank of two points is one bar, the coupler three; against sums over small pieces."""
    linkage = crank_rocker()
    robot = lw.Robot.from_linkage(linkage, density=(7800.0, 0.02, 0.005))
    line = 7800.0 * 0.02 * 0.005
    body = robot.model.body("coupler").mass_properties
    corners = [linkage.at(p) - linkage.at("B") for p in "BCP"]
    ends = [(corners[0], corners[1]), (corners[1], corners[2]), (corners[2], corners[0])]
    pieces = np.concatenate([a + (b - a) * (np.arange(2000) + 0.5) / 2000 for a, b in ends])
    weight = np.concatenate([np.full(2000, line * abs(b - a) / 2000) for a, b in ends])
    centre = (weight * pieces).sum() / weight.sum()
    assert body.mass == pytest.approx(weight.sum(), rel=1e-12)
    assert body.com == pytest.approx((centre.real, 0, centre.imag), abs=1e-9)
    about = (weight * np.abs(pieces - centre) ** 2).sum() + weight.sum() * 0.02**2 / 12
    assert np.array(body.inertia)[1, 1] == pytest.approx(about, rel=1e-6)


def test_loads_balance_and_the_cycle_runs():
    robot = lw.Robot.from_linkage(crank_rocker(), CRANK_ROCKER, density=1.0)
    analysis = robot.analyse("cycle", steps=41)
    q, v, _ = robot.motions["cycle"].sample(np.linspace(0, 2, 41))
    kinetic, potential = robot.energy(q, v)
    total = kinetic + potential
    assert np.ptp(total) > 1.0  # the driver works
    assert total[0] == pytest.approx(total[-1], rel=1e-8)  # a whole turn brings everything back
    assert np.isfinite(analysis.loads.actuator("crank")).all()


BAD = [
    (lambda: four_bar([0j], [1j, 2], 3), InvalidInput, "two complex pivots"),
    (lambda: four_bar([0j, 4], [1j, 2j], 3, driver="motor"), UnknownName, "crank"),
    (lambda: from_dyads(TABLE_4, dyads(TABLE_4)[0], dyads(TABLE_4)[0]), NotPossible, "same one"),
    (lambda: lw.Robot.from_linkage(4), InvalidInput, "expected a Linkage"),
    (lambda: lw.Robot.from_linkage(crank_rocker(), plane="zx"), InvalidInput, "plane"),
    (lambda: lw.Robot.from_linkage(crank_rocker(), density=-1), InvalidInput, "density"),
    (
        lambda: Topology("open", {"ground": ("A",), "crank": ("A", "B"), "loose": ("C",)}, (("A", "ground", "crank"),),
                         driver="crank", tracer=("crank", "B")),
        InvalidInput,
        "loose",
    ),
    (
        lambda: Topology("undriven", {"ground": ("A",), "crank": ("A", "B"), "end": ("B", "C")},
                         (("A", "ground", "crank"), ("B", "crank", "end")), driver="end", tracer=("end", "C")),
        InvalidInput,
        "no joint with the ground",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_gets_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_many_linkages_are_no_robot():
    many = four_bar([[0j, 4], [0j, 5]], [[1j, 4 + 2j], [1j, 5 + 2j]], [1 + 1j, 1 + 2j])
    with pytest.raises(NotPossible, match="expected one"):
        lw.Robot.from_linkage(many)
    assert PlanarTask([0j, 1]).n == 2
