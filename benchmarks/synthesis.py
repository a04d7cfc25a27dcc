"""How fast is linkage synthesis, beside pylinkage, pypolsys, numpy's eigenvalues and MINPACK?"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import linkwork as lw
from benchmarks.measure import Row, median_seconds, seconds, side_by_side
from linkwork import synthesis
from linkwork.synthesis import PlanarTask
from linkwork.synthesis.chains import FOUR, postures
from linkwork.synthesis.four_bar_paths import paths, random_paths
from linkwork.synthesis.linkage import FOUR_BAR
from linkwork.synthesis.path_descent import descend
from linkwork.synthesis.two_loops import rotations

TABLE_4 = PlanarTask(
    [-21.700 + 22.035j, -11.883 + 12.018j, -5.973 + 11.767j, 4.744 + 10.766j, 5.345 + 12.318j],
    np.deg2rad([0, 19.684, 30.751, 59.361, 84.696]),
)
NINE = np.array(
    [
        0.25,
        0.52 + 0.1j,
        0.8 + 0.7j,
        1.2 + 1j,
        1.4 + 1.3j,
        1.1 + 1.48j,
        0.7 + 1.4j,
        0.2 + 1j,
        0.02 + 0.4j,
    ]
)


def rows() -> list[Row]:
    lw.threads(1)
    found = [*dyads(), curve(), six_position_triads(), *seven_position_triads(), path_fit()]
    found += [positions_of_many(), six_bar_verdicts()]
    lw.threads(2)
    found += [nine_points(), tolerance_zone(), drag(), ready()]
    return found


def _poses(n: int) -> list:
    from pylinkage.synthesis import Pose

    return [
        Pose(float(p.real), float(p.imag), float(a))
        for p, a in zip(TABLE_4.positions[:n], TABLE_4.angles[:n])
    ]


def _random_tasks(count: int, n: int) -> PlanarTask:
    random = np.random.default_rng(0)
    points = random.normal(size=(count, n)) + 1j * random.normal(size=(count, n))
    return PlanarTask(points, random.uniform(-3, 3, size=(count, n)))


def dyads() -> list[Row]:
    from pylinkage.synthesis import motion_generation

    peer_poses = _poses(5)
    peer = lambda: motion_generation(peer_poses, require_grashof=False)
    ours, theirs = side_by_side(lambda: synthesis.dyads(TABLE_4), peer, rounds=3)
    name = "pylinkage motion_generation (finds none of the true ones)"
    one = Row("five-position dyads, one call", "Table 4", ours, theirs, name, 30)
    task = _random_tasks(10_000, 5)
    batch = median_seconds(lambda: synthesis.dyads(task), rounds=3) / 10_000
    return [
        one,
        Row("five-position dyads, a task of 10 000", "random poses", batch, theirs, name, 1500),
    ]


def curve() -> Row:
    from pylinkage.synthesis import compute_circle_point_curve

    poses, count = _poses(4), 50_000
    found = compute_circle_point_curve(poses)
    points = max(1, len(getattr(found, "circle_points", [])) or 45)
    ours, theirs = side_by_side(
        lambda: synthesis.burmester(TABLE_4[:4], count),
        lambda: compute_circle_point_curve(poses),
        rounds=3,
    )
    case = "first four of Table 4, a point"
    return Row(
        "four-position curve",
        case,
        ours / count,
        theirs / points,
        "pylinkage compute_circle_point_curve",
        2000,
    )


def six_position_triads() -> Row:
    random = np.random.default_rng(1)
    loops = random.normal(size=(720, 2, 4)) + 1j * random.normal(size=(720, 2, 4))
    loops[:, 1, 3] = loops[:, 0, 3]
    from linkwork.synthesis.two_loops import sextic

    c = sextic()(loops.view(float).reshape(720, 8, 2))[1].view(complex)
    companion = np.zeros((720, 6, 6), dtype=complex)
    companion[:, 1:, :-1] = np.eye(5)
    companion[:, 0, :] = -c[:, 1:] / c[:, :1]
    ours, theirs = side_by_side(
        lambda: rotations(loops), lambda: np.linalg.eigvals(companion), rounds=3
    )
    case = "720 values of beta2, sextics, all roots and second rotations"
    return Row(
        "six-position triads",
        case,
        ours,
        theirs,
        "numpy.linalg.eigvals of the companions alone",
        10,
    )


def seven_position_triads() -> list[Row]:
    task = _random_tasks(500, 7)
    alpha = np.random.default_rng(2).uniform(-3, 3, size=(500, 7))
    first = PlanarTask(task.positions[0], task.angles[0])
    peer = _polsys(first, alpha[0])
    ours, theirs = side_by_side(lambda: synthesis.triads(first, alpha[0]), peer, rounds=3)
    name = "pypolsys, two-homogeneous, 20 paths"
    batch = median_seconds(lambda: synthesis.triads(task, alpha), rounds=3) / 500
    return [
        Row("seven-position triads, one task", "complete", ours, theirs, name, 12),
        Row("seven-position triads, a task of 500", "complete", batch, theirs, name, 25),
    ]


def _polsys(task: PlanarTask, alpha: np.ndarray):
    import pypolsys
    from sympy import expand, symbols

    a, g = np.exp(1j * (alpha[1:] - alpha[0])) - 1, np.exp(1j * task.rotations) - 1
    v, w, z, V, W, Z = names = symbols("v w z V W Z")
    equations = []
    for aj, gj, dj in zip(a, g, task.displacements):
        first = v + complex(dj) - w * complex(aj) - z * complex(gj)
        second = V + complex(np.conj(dj)) - W * complex(np.conj(aj)) - Z * complex(np.conj(gj))
        equations.append(expand(first * second - v * V).as_poly(*names))
    system = pypolsys.utils.fromSympy(equations)
    partition = pypolsys.utils.make_mh_part(6, [[1, 2, 3], [4, 5, 6]])

    def solve():
        pypolsys.polsys.init_poly(*system)
        pypolsys.polsys.init_partition(*partition)
        pypolsys.polsys.solve(1e-8, 1e-14, 0.0)

    return solve


def nine_points() -> Row:
    from pylinkage.synthesis import path_generation

    peer_points = [(float(p.real), float(p.imag)) for p in NINE]
    theirs = seconds(lambda: path_generation(peer_points, require_grashof=False))
    ours = median_seconds(lambda: synthesis.four_bars(PlanarTask(NINE)), rounds=3)
    return Row(
        "nine points, complete, 2 threads",
        "problem 3",
        ours,
        theirs,
        "pylinkage path_generation",
        20,
    )


def _paths(count: int) -> list[np.ndarray]:
    random, found = np.random.default_rng(3), []
    while len(found) < count:
        g, a, b, c = random.uniform([2, 0.5, 2, 1.6], [6, 1.5, 6, 6])
        ordered = np.sort([g, a, b, c])
        if a == ordered[0] and ordered[0] + ordered[3] < ordered[1] + ordered[2] - 0.1:
            tip = 0.7 * b * (random.normal() + 1j * random.normal())
            p = np.array([[0, 0, g, 0, a, b, c, tip.real, tip.imag]])
            Q = paths(p, np.ones(1), np.linspace(0, 2 * np.pi, 16, endpoint=False))[0][0]
            found.append((Q - Q.mean()) / np.abs(Q - Q.mean()).max())
    return found


def path_fit() -> Row:
    """Time for each solved start: ours over 1024 starts, MINPACK's over the first 12 of them,
    median of tasks."""
    from scipy.optimize import least_squares

    ratios = []
    for P in _paths(4):
        p, side, angles = random_paths(P, 1024, 0)
        descend(p, side, angles, P, np.ones(16))
        start = time.perf_counter()
        _, _, cost = descend(p, side, angles, P, np.ones(16))
        ours = (time.perf_counter() - start) / max(1, int((cost < 1e-16 * 16).sum()))
        taken = solved = 0.0
        few = 12
        for k in range(few):
            residual, jacobian = _minpack(P, side[k])
            start = time.perf_counter()
            found = least_squares(
                residual, np.concatenate([p[k], angles[k]]), jac=jacobian, method="lm", max_nfev=400
            )
            taken += time.perf_counter() - start
            solved += found.cost < 0.5e-16 * 16
        # few starts say little about the share that succeeds:
        # it is taken as ours where MINPACK solved none
        share = max(solved / few, (cost < 1e-16 * 16).mean())
        ratios.append((ours, taken / few / share))
    ours, theirs = sorted(ratios, key=lambda r: r[1] / r[0])[len(ratios) // 2]
    return Row(
        "16-point path, a solved start",
        "crank-rockers",
        ours,
        theirs,
        "scipy least_squares lm, exact Jacobian",
        80,
    )


def _minpack(P: np.ndarray, side: float):
    import casadi

    from linkwork.synthesis.path_descent import path_point

    x = casadi.SX.sym("x", 25)
    errors = []
    for j in range(16):
        qx, qy, _ = path_point(x[:9], casadi.SX(float(side)), x[9 + j])
        errors += [P[j].real - qx, P[j].imag - qy]
    f = casadi.vertcat(*errors)
    function = casadi.Function("f", [x], [f])
    J = casadi.Function("J", [x], [casadi.densify(casadi.jacobian(f, x))])
    return lambda v: np.array(function(v)).ravel(), lambda v: np.array(J(v))


def _step_fast():
    """360 steps of one four-bar with pylinkage and numba."""
    from pylinkage.actuators import Crank
    from pylinkage.components import Ground
    from pylinkage.dyads import FixedDyad, RRRDyad
    from pylinkage.simulation import Linkage

    A, D = Ground(0.0, 0.0), Ground(4.0, 0.0)
    crank = Crank(A, radius=1.0, angular_velocity=2 * np.pi / 360)
    pin = RRRDyad(crank, D, distance1=3.5, distance2=3.0)
    linkage = Linkage([A, D, crank, pin, FixedDyad(crank, pin, distance=2.0, angle=0.5)])
    return lambda: linkage.step_fast(360)


def positions_of_many() -> Row:
    """360 postures of each of many four-bars, reduced to the least transmission angle and the
    extent of the path."""
    count = 10_000
    random = np.random.default_rng(0)
    p = np.array([0, 0, 4, 0, 1, 3.5, 3, 1.75, 1.0]) * (1 + 0.02 * random.normal(size=(count, 9)))
    points, _ = postures(FOUR, p, np.ones((count, 1)), np.zeros(count))
    many = synthesis.Linkages(FOUR_BAR["crank"], points)
    mine, theirs = side_by_side(lambda: synthesis.sweep(many, 360), _step_fast(), rounds=3)
    name = "pylinkage step_fast with numba, one four-bar"
    return Row("360 positions of a four-bar", "of 10 000, reduced", mine / count, theirs, name, 10)


def six_bar_verdicts() -> Row:
    """Circuits and verdicts of Stephenson III six-bars."""
    task = PlanarTask(
        [
            1.60434 + 2.75205j,
            1.383769 + 3.172411j,
            0.511187 + 2.791899j,
            -0.085435 + 1.875011j,
            0.288032 + 1.559724j,
        ],
        np.deg2rad([0, -13.532139, -15.305300, -2.776044, 16.655417]),
    )
    some = [
        s
        for s in synthesis.six_bars(task, [-2 + 0j, -1.5 + 3j, 1.5 + 1.2j])
        if "III" in s.topology.name
    ]
    random = np.random.default_rng(0)
    points = some[0].points * (1 + 1e-3 * random.normal(size=(2000, len(some[0].points))))
    many = synthesis.Linkages(some[0].topology, points)
    ours, theirs = side_by_side(lambda: synthesis.check(many), _step_fast(), rounds=3)
    name = "360 steps of one four-bar, pylinkage step_fast"
    return Row(
        "circuits and verdicts, a six-bar", "Stephenson III", ours / len(points), theirs, name, 1
    )


def tolerance_zone() -> Row:
    task = PlanarTask(TABLE_4.positions, TABLE_4.angles, tolerance=(1.5, 1.5, 0.1))
    synthesis.search(task, 2000)
    ours = seconds(lambda: synthesis.rank(synthesis.search(task, 100_000).linkages))
    case = "100 000 draws solved, paired, judged, ranked, 2 threads"
    return Row("tolerance zone", case, ours, None, "", 10, smaller_is_better=True)


def drag() -> Row:
    def frame():
        synthesis.burmester(TABLE_4[:4], 600)
        found = synthesis.four_bars(TABLE_4)
        synthesis.check(found.linkages, TABLE_4)

    return Row(
        "one frame of a drag",
        "five poses",
        median_seconds(frame),
        None,
        "",
        0.015,
        smaller_is_better=True,
    )


def ready() -> Row:
    """From the import of linkwork on, with kept machine code and, as of an installed package,
    kept bytecode."""
    code = (
        "import time, linkwork; t = time.perf_counter()\n"
        "from linkwork.synthesis import mixes\n"
        "from linkwork.synthesis.four_bars import starts\n"
        "mixes.system(1).prepare(); starts(1); print(time.perf_counter() - t)"
    )
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "capture_output": True,
            "text": True,
            "env": {**kept, "PYTHONPYCACHEPREFIX": folder},
        }
        run = lambda: float(subprocess.run([sys.executable, "-c", code], **options).stdout)
        run()
        best = min(run() for _ in range(5))
    case = "from the cache, after import linkwork"
    return Row(
        "nine-point solver ready in a new process",
        case,
        best,
        None,
        "",
        0.15,
        smaller_is_better=True,
    )
