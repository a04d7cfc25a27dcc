"""Published numbers of the papers, from the built-in data files alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

import linkwork as lw
from linkwork.model.inertia import steiner

# [Goncalves2022], 20 s motion, recomputed with the corrected equations: t [s], d4 [mm], th5 [deg],
# tips [mm]
CHARMIE_2022 = (
    (
        0,
        184.9450,
        -48.04341,
        (-1001.5000, 344.0854, 881.1650),
        (1001.5000, 344.0854, 881.1650),
        (0.0000, 575.4493, 1073.4357),
    ),
    (
        5,
        159.2537,
        -40.60146,
        (-1006.3741, 372.2454, 1025.2525),
        (614.5738, 625.1985, 493.5020),
        (-169.1582, 456.3682, 1197.3072),
    ),
    (
        10,
        133.6421,
        -33.41133,
        (-832.7323, 159.3207, 760.2688),
        (-158.5041, 856.3354, 656.4939),
        (-205.0694, 303.8165, 1289.3879),
    ),
    (
        15,
        108.0969,
        -26.32645,
        (-468.1638, -216.5880, 670.7763),
        (-459.1544, 655.2545, 1109.2256),
        (-143.8449, 204.0959, 1347.4331),
    ),
    (
        20,
        82.6080,
        -19.23114,
        (-123.5504, -366.1146, 767.5768),
        (-448.8229, 429.9243, 1289.5836),
        (-60.3625, 185.6177, 1374.0216),
    ),
)


def test_charmie_2022_moves_through_its_validation():
    robot = lw.load("charmie-2022")
    motion = robot.motions["validation"]
    assert motion.duration == 20.0
    q, _, _ = motion.sample(np.array([row[0] for row in CHARMIE_2022], dtype=float))
    points = robot.points(q)
    _, d4, th5, left, right, head = (np.array(column) for column in zip(*CHARMIE_2022))
    np.testing.assert_allclose(q[:, robot.index("d4")].ravel() * 1e3, d4, atol=1e-4)
    np.testing.assert_allclose(np.degrees(q[:, robot.index("th5")]).ravel(), th5, atol=1e-5)
    for (body, point), expected in {
        ("12a", "tip"): left,
        ("12b", "tip"): right,
        ("8c", "B"): head,
    }.items():
        np.testing.assert_allclose(points[body][point] * 1e3, expected, atol=1e-4)


def test_charmie_2022_stands_upright():
    robot = lw.load("charmie-2022")
    c = robot.to_actuators(robot.q(d4=0.1, th5=0.0))[0]
    at = {name: k for k, name in enumerate(robot.actuators)}
    assert c[at["c4"]] * 1e3 == pytest.approx(432.4187785, abs=1e-6)
    c[at["c3"]] = 0.4
    points = robot.points(robot.from_actuators(c)[0])
    np.testing.assert_allclose(points["12a"]["tip"] * 1e3, (-1001.5, 3, 1035.855), atol=1e-3)
    np.testing.assert_allclose(points["12b"]["tip"] * 1e3, (1001.5, 3, 1035.855), atol=1e-3)
    np.testing.assert_allclose(points["8c"]["B"] * 1e3, (0, 14.7, 1336.455), atol=1e-3)


def test_a_claw_closes_symmetrically():
    robot = lw.load("charmie-2022")
    closed = robot.forward_kinematics(robot.q(th13a=0.4, th13b=0.4))
    for side, sign in (("a", 1.0), ("b", -1.0)):
        hand = closed[f"12{side}"][:3, :3]
        for finger, turn in (("1", sign), ("2", -sign)):
            c, s = math.cos(turn * 0.4), math.sin(turn * 0.4)
            own = hand.T @ closed[f"13{side}{finger}"][:3, :3]
            np.testing.assert_allclose(own, [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-15)


# [Goncalves2023], 5 s motion: t [s], hand point D12a [mm]
CHARMIE_HAND = (
    (0, (-963.800, 243.153, 970.343)),
    (1, (-876.436, 450.647, 1151.777)),
    (2, (-492.545, 333.341, 1410.814)),
    (2.5, (-436.693, 195.065, 1158.885)),
    (3, (-292.505, 253.462, 920.240)),
    (4, (-33.304, 152.938, 820.056)),
    (5, (18.671, 58.283, 805.217)),
)


def test_charmie_s_hand_moves_through_its_validation():
    robot = lw.load("charmie")
    q, v, _ = robot.motions["validation"].sample(np.array([t for t, _ in CHARMIE_HAND]))
    np.testing.assert_allclose(
        robot.pose(q, "hand")[:, :3, 3] * 1e3, [p for _, p in CHARMIE_HAND], atol=1e-3
    )
    np.testing.assert_allclose(v[-1], 0.0, atol=1e-15)  # everything stops
    assert q[-1, robot.index("th3")][0] == pytest.approx(-2.18166, abs=1e-5)
    assert q[-1, robot.index("d1")][0] == pytest.approx(-0.1875, abs=1e-15)
    assert q[0, robot.index("th5")][0] == pytest.approx(-0.561283693, abs=1e-9)


def test_charmie_weighs_what_its_table_says():
    robot = lw.load("charmie")
    masses = {body.name: body.mass_properties.mass for body in robot.model.bodies}
    assert sum(masses.values()) == pytest.approx(62.4)
    assert sum(m for name, m in masses.items() if name not in ("1", "2", "3")) == pytest.approx(
        16.7
    )
    assumed = [e.name for e in robot.model.elements if getattr(e, "assumed", False)]
    assert {"5s", "4sla", "4slb", "4slc", "4sra", "4srb", "4src"} <= set(assumed)


def test_the_example_trees_stand_where_the_digest_says():
    hexapod = lw.load("hexapod")
    q = np.tile((0.0, -0.5, 1.5), 6)
    points = hexapod.points(q)
    for k in range(6):
        c, s = math.cos(k * math.pi / 3), math.sin(k * math.pi / 3)
        expected = (301.780656 * c, 301.780656 * s, -80.273555)
        np.testing.assert_allclose(points[f"tibia_{k}"]["foot"] * 1e3, expected, atol=1e-6)
    quadruped = lw.load("quadruped")
    points = quadruped.points(np.tile((0.0, 0.8, -1.5), 4))
    for leg, x, y in (("FL", 1, 1), ("FR", 1, -1), ("RL", -1, 1), ("RR", -1, -1)):
        expected = (323.715585 if x > 0 else -271.984415, y * 165.945, -524.220012)
        np.testing.assert_allclose(points[f"shank_{leg}"]["foot"] * 1e3, expected, atol=1e-6)
    arm = lw.load("kuka-kr500")
    np.testing.assert_allclose(
        arm.pose(np.zeros(6), "flange")[:3, 3] * 1e3, (3115, 0, 990), atol=1e-6
    )
    q = np.array([0.3, -1.2, 1.4, 0.5, -0.6, 0.7])
    expected = (2151.528569, 583.371417, 2092.396574)
    np.testing.assert_allclose(arm.pose(q, "flange")[:3, 3] * 1e3, expected, atol=1e-6)


def test_the_planar_arm_starts_its_experiments_where_they_say():
    robot = lw.load("planar-4r")
    start = dict(robot.model.configurations)
    for name, expected in (
        ("experiment-1", (-0.17320508, 0.28637033)),
        ("experiment-3", (0.27320508, 0.27320508)),
    ):
        q = np.array([value[0] for _, value in start[name]])
        np.testing.assert_allclose(robot.pose(q, "tip")[:2, 3], expected, atol=1e-8)


# [Carbonari2023] Eq. 31-32, with d1 = 245.0 mm, full precision
CRX_POSE = (
    (0.3363230650, 0.8387240927, -0.4282857602, 57.1321777419),
    (0.6182280505, 0.1464300436, 0.7722385123, 178.5827203096),
    (0.7104089481, -0.5244998939, -0.4692749596, 767.6566117823),
)


def test_the_crx_arm_reaches_its_example_pose():
    robot = lw.load("crx-10ial")
    q = np.radians([78, 131, 24, 42, -60, -10])
    T = robot.pose(q, "flange")
    np.testing.assert_allclose(T[:3, :3], np.array(CRX_POSE)[:, :3], atol=1e-9)
    np.testing.assert_allclose(T[:3, 3] * 1e3, np.array(CRX_POSE)[:, 3], atol=1e-8)
    as_printed = robot.with_variables(d1=0.2503).pose(q, "flange")
    assert as_printed[2, 3] * 1e3 == pytest.approx(772.957, abs=1e-3)
    example = dict(dict(robot.model.configurations)["example"])
    np.testing.assert_allclose([example[f"J{k}"][0] for k in range(1, 7)], q, rtol=1e-15)


def test_the_ur_arms_stand_as_their_tables_say():
    """At zero every UR arm is stretched along -x with the flange below: sums of the table's
    rows."""
    tables = {  # a2, a3, d1, d4, d5, d6 [m]
        "ur3": (-0.24365, -0.21325, 0.1519, 0.11235, 0.08535, 0.0819),
        "ur5": (-0.425, -0.39225, 0.089159, 0.10915, 0.09465, 0.0823),
        "ur10": (-0.612, -0.5723, 0.1273, 0.163941, 0.1157, 0.0922),
        "ur3e": (-0.24355, -0.2132, 0.15185, 0.13105, 0.08535, 0.0921),
        "ur5e": (-0.425, -0.3922, 0.1625, 0.1333, 0.0997, 0.0996),
        "ur10e": (-0.6127, -0.57155, 0.1807, 0.17415, 0.11985, 0.11655),
        "ur16e": (-0.4784, -0.36, 0.1807, 0.17415, 0.11985, 0.11655),
        "ur20": (-0.8620, -0.7287, 0.2363, 0.2010, 0.1593, 0.1543),
        "ur5-villalobos": (0.425, 0.392, 0.0892, 0.1093, 0.09475, 0.0825),
    }
    for name, (a2, a3, d1, d4, d5, d6) in tables.items():
        T = np.array(lw.load(name).function("pose", "tool0")(np.zeros(6)))
        np.testing.assert_allclose(T[:3, 3], (a2 + a3, -d4 - d6, d1 - d5), atol=1e-15)


@pytest.mark.parametrize("name", ["ur3", "ur5", "ur10", "ur3e", "ur5e", "ur10e", "ur16e", "ur20"])
def test_the_ur_arms_move_as_another_reader_of_the_makers_table_says(name):
    """ur_analytic_ik holds the same article's rows, typed by somebody else:
    its flange pose in random postures."""
    peer = getattr(pytest.importorskip("ur_analytic_ik"), name)
    pose = lw.load(name).function("pose", "tool0")
    for q in np.random.default_rng(2).uniform(-3, 3, (5, 6)):
        np.testing.assert_allclose(np.array(pose(q)), peer.forward_kinematics(*q), atol=2e-15)


UR_MATTER = {  # masses [kg] and centres of mass [m] of links 1 to 6, from the maker's article
    "ur3": (
        (2, 3.42, 1.26, 0.8, 0.8, 0.35),
        (
            (0, -0.02, 0),
            (0.13, 0, 0.1157),
            (0.05, 0, 0.0238),
            (0, 0, 0.01),
            (0, 0, 0.01),
            (0, 0, -0.02),
        ),
    ),
    "ur5": (
        (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879),
        (
            (0, -0.02561, 0.00193),
            (0.2125, 0, 0.11336),
            (0.15, 0, 0.0265),
            (0, -0.0018, 0.01634),
            (0, 0.0018, 0.01634),
            (0, 0, -0.001159),
        ),
    ),
    "ur10": (
        (7.1, 12.7, 4.27, 2, 2, 0.365),
        (
            (0.021, 0, 0.027),
            (0.38, 0, 0.158),
            (0.24, 0, 0.068),
            (0, 0.007, 0.018),
            (0, 0.007, 0.018),
            (0, 0, -0.026),
        ),
    ),
    "ur16e": (
        (7.369, 10.45, 4.321, 2.18, 2.033, 0.907),
        (
            (0, -0.016, 0.03),
            (0.302, 0, 0.16),
            (0.194, 0, 0.065),
            (0, -0.009, 0.011),
            (0, 0.018, 0.012),
            (0, 0, -0.044),
        ),
    ),
}


@pytest.mark.parametrize("name", UR_MATTER)
def test_the_ur_arms_weigh_what_the_maker_says(name):
    masses, centres = UR_MATTER[name]
    rows = lw.load(name).to_dh("standard")
    np.testing.assert_allclose([row["mass"] for row in rows], masses, rtol=1e-15)
    np.testing.assert_allclose([row["com"] for row in rows], centres, atol=1e-15)


def test_the_rehabilitation_arm_has_the_papers_equations():
    """[Khan2022] A1-A12 with their corrections, vertical plane."""
    robot = lw.load("rehabilitation-arm")
    l1, l2, m1, m2, lc1, lc2 = 0.325, 0.225, 1.79, 0.65, 0.26, 0.15
    I1, I2 = m1 * l1**2 / 12, m2 * l2**2 / 12
    t1, t2 = 0.4, 0.9
    position = robot.pose([t1, t2], "hand")[:2, 3]
    expected = (
        -l1 * math.sin(t1) + l2 * math.sin(t1 + t2),
        l1 * math.cos(t1) - l2 * math.cos(t1 + t2),
    )
    np.testing.assert_allclose(position, expected, atol=1e-15)
    M11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 - 2 * l1 * lc2 * math.cos(t2)) + I1 + I2
    M12 = m2 * lc2**2 - m2 * l1 * lc2 * math.cos(t2) + I2
    w1, w2, a1, a2 = 0.7, -0.3, 1.1, 0.6
    h = m2 * l1 * lc2 * math.sin(t2)
    G1 = 9.81 * (m2 * lc2 * math.sin(t1 + t2) - (m1 * lc1 + m2 * l1) * math.sin(t1))
    G2 = 9.81 * m2 * lc2 * math.sin(t1 + t2)
    tau = (
        M11 * a1 + M12 * a2 + h * (2 * w1 * w2 + w2**2) + G1,
        M12 * a1 + (m2 * lc2**2 + I2) * a2 - h * w1**2 + G2,
    )
    found = np.array(robot.function("inverse_dynamics")([t1, t2], [w1, w2], [a1, a2])).ravel()
    np.testing.assert_allclose(found, tau, rtol=1e-13)


def test_the_rehabilitation_arm_has_the_digests_numbers():
    """[Khan2022] at one state, its reach, its singularities,
    and a payload that its equations take in."""
    robot = lw.load("rehabilitation-arm")
    q, w, zero = np.array([0.3, -0.8]), np.array([1.1, -0.7]), np.zeros(2)
    inverse_dynamics = robot.function("inverse_dynamics")

    def tau(v, a):
        return np.array(inverse_dynamics(q, v, a)).ravel()

    G = tau(zero, zero)
    np.testing.assert_allclose(G, (-2.42020291, -0.45855854), atol=1e-8)
    np.testing.assert_allclose(tau(w, zero) - G, (0.02386778, 0.02750478), atol=1e-8)
    M = np.array([tau(zero, e) - G for e in np.eye(2)])
    np.testing.assert_allclose(M, [[0.17862938, -0.00470971], [-0.00470971, 0.01736719]], atol=1e-8)
    np.testing.assert_allclose(robot.pose(zero, "hand")[:2, 3], (0.0, 0.1), atol=1e-12)
    assert np.linalg.norm(robot.pose([0.4, np.pi], "hand")[:2, 3]) == pytest.approx(0.55, abs=1e-12)
    determinant = np.linalg.det(robot.jacobian(q, "hand")[:2])
    assert determinant == pytest.approx(-0.325 * 0.225 * math.sin(q[1]), rel=1e-12)
    m, l1, l2, a = 0.4536, 0.325, 0.225, np.array([0.6, -1.2])
    c, s, g1, g12 = math.cos(q[1]), math.sin(q[1]), math.sin(q[0]), math.sin(q[0] + q[1])
    carried = (
        m * (l1**2 + l2**2 - 2 * l1 * l2 * c) * a[0]
        + m * (l2**2 - l1 * l2 * c) * a[1]
        + m * l1 * l2 * s * (2 * w[0] * w[1] + w[1] ** 2)
        + 9.81 * m * (l2 * g12 - l1 * g1),
        m * (l2**2 - l1 * l2 * c) * a[0]
        + m * l2**2 * a[1]
        - m * l1 * l2 * s * w[0] ** 2
        + 9.81 * m * l2 * g12,
    )
    with_it = robot.inverse_dynamics(q, w, a, payload=lw.Payload("2", m, com=(l2, 0.0, 0.0)))
    np.testing.assert_allclose(with_it - tau(w, a), carried, atol=1e-12)


def test_the_scara_arm_has_the_papers_equations():
    """[Bruzzone2022] eqs. 3-7 and the reconstructed mass matrix."""
    robot = lw.load("scara-arm")
    q = np.radians([-45, 90, 20, -45])
    t1, t2, t3, _ = q
    l1, l2, l3, l4 = 0.9, 0.33, 0.33, 0.387
    E = robot.pose(q, "E")[:3, 3]
    reach = l3 * math.cos(t3)
    expected = (
        l2 * math.cos(t1) + reach * math.cos(t1 + t2),
        l2 * math.sin(t1) + reach * math.sin(t1 + t2),
        l1 - l3 * math.sin(t3) - l4,
    )
    np.testing.assert_allclose(E, expected, atol=1e-15)
    S1, S2, IB, I6 = 6.6, 1.9965, 3.63, 0.06
    a, b = S2 * math.cos(t3) ** 2 + I6, l2 * S1 * math.cos(t3) * math.cos(t2)
    M = np.zeros((4, 4))
    M[0, 0], M[0, 1], M[1, 1] = IB + a + 2 * b, a + b, a
    M[0, 2], M[2, 2] = -l2 * S1 * math.sin(t3) * math.sin(t2), S2
    M[0, 3] = M[1, 3] = M[3, 3] = I6
    M = np.triu(M) + np.triu(M, 1).T
    inverse_dynamics, zero = robot.function("inverse_dynamics"), np.zeros(4)
    weight = np.array(inverse_dynamics(q, zero, zero)).ravel()
    found = np.array([np.array(inverse_dynamics(q, zero, e)).ravel() - weight for e in np.eye(4)])
    np.testing.assert_allclose(found, M, atol=1e-12)
    np.testing.assert_allclose(weight, (0, 0, -S1 * 9.81 * math.cos(t3), 0), atol=1e-12)
    (spring,) = robot.model.elements
    # balanced at theta3 = 0
    assert spring.stiffness * -spring.free == pytest.approx(S1 * 9.81, rel=1e-4)


def test_the_tx2_90_has_the_papers_wrist_point():
    """[Reinhold2023]: p = (c1 r - s1 b, s1 r + c1 b, z), r = a + L (s2 + s23), z = L (c2 + c23)."""
    robot = lw.load("tx2-90")
    q = np.array([0.3, -0.4, 1.1, 0.2, -0.7, 0.5])
    T = robot.pose(q, "flange")
    wrist = T[:3, 3] - 0.1 * T[:3, 2]
    r = 0.05 + 0.425 * (math.sin(q[1]) + math.sin(q[1] + q[2]))
    c, s = math.cos(q[0]), math.sin(q[0])
    z = 0.425 * (math.cos(q[1]) + math.cos(q[1] + q[2]))
    np.testing.assert_allclose(wrist, (c * r - s * 0.05, s * r + c * 0.05, z), atol=1e-15)
    np.testing.assert_allclose(robot.pose(q, "tool")[:3, 3], T[:3, 3] + 0.15 * T[:3, 2], atol=1e-15)


def test_the_redundant_arm_is_the_papers_product_of_rotations():
    """[Simas2022] eqs. 6 and 13: R7 = Ry Rz Rx Rz Rx Rz Rx, stretched along x at zero."""
    robot = lw.load("redundant-7")
    T = robot.pose(np.zeros(7), "tool")
    np.testing.assert_allclose(T[:3, 3], (0.926, 0.34, 0.0), atol=1e-15)
    t = np.array([0.3, -0.5, 0.7, -1.1, 0.4, 0.6, -0.2])
    R = np.eye(3)
    for axis, angle in zip("yzxzxzx", t):
        R = R @ _about(axis, angle)
    np.testing.assert_allclose(robot.pose(t, "7")[:3, :3], R, atol=1e-15)


def test_forrest_stands_on_straight_legs():
    """[Zhu2023]: hips 0.12 m apart from the middle, soles 0.915 m below, feet level."""
    robot = lw.load("forrest")
    np.testing.assert_allclose(robot.pose(np.zeros(18), "6")[:3, :3], np.eye(3), atol=1e-15)
    for side, y in (("left", 0.12), ("right", -0.12)):
        np.testing.assert_allclose(
            robot.pose(np.zeros(18), f"{side}_sole")[:3, 3], (0, y, -0.915), atol=1e-15
        )
    q = robot.q(left_knee_pitch=-0.5, right_knee_pitch=-0.5)
    assert robot.pose(q, "left_sole")[0, 3] == pytest.approx(robot.pose(q, "right_sole")[0, 3])
    # a negative angle bends the knee: the foot goes back
    assert robot.pose(q, "left_sole")[0, 3] < -0.1
    length = robot.to_actuators(robot.neutral())[0][list(robot.actuators).index("left_knee")]
    assert length == pytest.approx(math.hypot(0.235 + 0.08, 0.0), abs=1e-12)


def test_the_legs_of_forrest_have_their_inertia_about_the_joints():
    """[Zhu2023] Table 4: about the joint as printed, positive about the centre;
    of the base about its centre."""
    bodies = {
        body.name: body.mass_properties
        for body in lw.load("forrest", check="physical").model.bodies
    }
    printed = {
        "7": (0.01, 0.06, 0.05),
        "9": (0.01, 0.22, 0.22),
        "10": (0.0, 0.1, 0.1),
        "12": (0.01, 0.02, 0.01),
    }
    twins = {"7": "13", "9": "15", "10": "16", "12": "18"}
    for name, moments in printed.items():
        for each in (name, twins[name]):
            about_joint = np.array(bodies[each].inertia) + np.array(
                steiner(bodies[each].mass, bodies[each].com)
            )
            np.testing.assert_allclose(about_joint, np.diag(moments), atol=1e-15)
            assert np.linalg.eigvalsh(np.array(bodies[each].inertia)).min() > -1e-15
    np.testing.assert_allclose(np.diag(bodies["6"].inertia), (0.23, 0.18, 0.06))


def test_the_printed_quadruped_has_the_papers_leg():
    """[Rahman2023] section 3.1: foot in the leg's frame (left, up, forward)."""
    robot = lw.load("quadruped-12dof")
    L1, L2, L3 = 0.05, 0.12, 0.17
    t1, t2, t3 = 0.2, -0.6, 1.1
    points = robot.points(
        robot.q(coxa_FL=t1, femur_FL=t2, tibia_FL=t3, coxa_BR=t1, femur_BR=t2, tibia_BR=t3)
    )
    s = L2 * math.cos(t2) + L3 * math.cos(t2 + t3)
    z = L2 * math.sin(t2) + L3 * math.sin(t2 + t3)
    for leg, hip, l1 in (("FL", (0.12, 0.06), L1), ("BR", (-0.12, -0.06), -L1)):
        x = l1 * math.cos(t1) + s * math.sin(t1)
        y = l1 * math.sin(t1) - s * math.cos(t1)
        np.testing.assert_allclose(
            points[f"tibia_{leg}"]["foot"], (hip[0] + z, hip[1] + x, y), atol=1e-15
        )
    assert sum(body.mass_properties.mass for body in robot.model.bodies) == pytest.approx(2.5722)


def _about(axis: str, angle: float) -> np.ndarray:
    e = np.eye(3)["xyz".index(axis)]
    return expm(angle * np.cross(np.eye(3), e))


@pytest.mark.parametrize("n", [2, 4, 6])
def test_the_arms_of_table_5_are_the_first_joints_of_charmies_right_arm(n):
    arm, whole = lw.load(f"arm-{n}").model, lw.load("charmie").model
    moving = [joint for joint in arm.joints if joint.type != "fixed"]
    assert [joint.child for joint in moving] == [str(7 + k) for k in range(n)]
    for joint in moving:
        twin = next(each for each in whole.joints if each.child == f"{joint.child}b")
        assert (joint.axis, joint.placement) == (twin.axis, twin.placement)
        own, other = arm.body(joint.child), whole.body(twin.child)
        assert own.mass_properties == other.mass_properties
    assert arm.body("6").mass_properties == whole.body("6b").mass_properties


CRX_ARMS = {  # a2, d4, d6, d5 [mm]
    "crx-3ia": (280, 280, 123, 111),
    "crx-5ia": (410, 430, 145, 130),
    "crx-10ia": (540, 540, 160, 150),
    "crx-10ial": (710, 540, 160, 150),
    "crx-20ial": (710, 540, 160, 150),
    "crx-30ia": (950, 750, 180, 185),
}


@pytest.mark.parametrize("name", CRX_ARMS)
def test_the_crx_arms_have_the_lengths_of_the_digest(name):
    rows = lw.load(name).to_dh("standard")
    found = (rows[1]["a"], rows[3]["d"], rows[5]["d"], rows[4]["d"])
    assert np.array(found) * 1e3 == pytest.approx(CRX_ARMS[name], abs=1e-9)
    alphas = np.degrees([row["alpha"] for row in rows])
    # printed -180, the same turn
    assert alphas == pytest.approx((90, 180, -90, -90, 90, 0), abs=1e-9)
