"""Paper 07: the partial Lagrangian of Kusaka and Tanaka: one to ten links, PD and PID control,
a slider in the middle.

The paper prints parameters, equations and pictures but no numbers; "published" are the values its
corrected equations have, computed independently (Pinocchio, SymPy, a reference integrator at
1e-11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi
import numpy as np

from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi
from linkwork.lagrange import System, columns
from linkwork.lagrange.columns import euler_lagrange, rates, together
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn, flat, panels
from linkwork.simulation import PD, PID, simulate

GRAVITY = (0.0, -9.8)
CORRECTIONS = (
    "eq. 16: the potential lacks the length, P_1 = m_1 g l_1 sin(theta_1)",
    "two-link quadratic forms after eq. 17: both cross terms lack a factor 2",
    "text before eq. 5: L_i contains q_k if and only if k <= i, not the reverse",
    "Listing A1: inertia counted twice and the velocity advanced twice, first order only, one "
    "degree of freedom only",
    "damping: the listing drags the absolute tip velocity; the text leaves open which",
    "eqs. 28-29: the counted terms are not those of the expanded torques; measured operation "
    "counts are linear in n",
)
NO_INITIAL_STATE = (
    "assumed: from rest at angles 0, point drag 1, no gravity compensation; the "
    "paper gives no initial state"
)


def paper() -> Paper:
    """Every number of the acceptance list, by the library's own systems and integrators."""
    one, two, three = chains()
    slider = three.replace_joint("joint2", "prismatic")
    cases = [
        *_tables(three),
        *_resting(one, two, three),
        *_motions(one, two, three, slider),
        *_reuse(),
    ]
    return Paper(
        7,
        "Kusaka2022",
        "Partial Lagrangian",
        tuple(cases),
        CORRECTIONS,
        "`lw.System`, `robot.torque_table`",
    )


def chains() -> tuple[System, System, System]:
    """One, two and three links with the paper's lengths and masses (the third: ours),
    drag 1 on each tip."""
    one = System.planar_chain("R", [2.0], [3.0], gravity=GRAVITY, drags=1.0)
    two = one.extended("R", [1.0], [1.0], drags=1.0)
    return one, two, two.extended("R", [1.0], [1.0], drags=1.0)


def _without_drag(system: System) -> System:
    for body in system.bodies:
        system = system.replace_body(body, drag=0.0)
    return system


def _tables(three: System) -> list[Case]:
    three = _without_drag(three)
    slider = three.replace_joint("joint2", "prismatic")
    table = three.torque_table([0.4, -0.7, 0.5], [0.9, 1.3, -0.6], [0.5, -0.2, 0.8])
    cells = {(1, 1): 60.158386447, (1, 2): 36.131235135, (2, 2): 9.383507127}
    cells |= {(1, 3): 52.989149119061, (2, 3): 23.068087666852, (3, 3): 13.946569100209}
    assumed = "assumed: m3 = 1, l3 = 1; the paper does not state the third link"
    cases = [
        Case(
            f"tau_{k}{i}, three links",
            x,
            float(table[k - 1, i - 1]),
            1e-9,
            "N m",
            assumed if i == 3 else "",
        )
        for (k, i), x in cells.items()
    ]
    table = slider.torque_table([0.4, 0.8, 0.5], [0.9, -0.3, -0.6], [0.5, 0.7, 0.8])
    cells = {(1, 1): 60.158386447370, (1, 2): 27.681913675439, (2, 2): 2.248299754625}
    cells |= {(1, 3): 39.653736901801, (2, 3): 1.546064123869, (3, 3): 8.89823793681}
    note = "assumed: the slider points along link 1"
    cases += [
        Case(f"tau_{k}{i}, joint 2 a slider", x, float(table[k - 1, i - 1]), 1e-9, "N m, N", note)
        for (k, i), x in cells.items()
    ]
    return cases


def _resting(one: System, two: System, three: System) -> list[Case]:
    given: tuple[tuple[System, Sequence[float], Sequence[float], Sequence[float]], ...] = (
        (one, [200], [110], [117.87602983]),
        (two, [100, 50], [80, 30], [49.71304012, 27.51793749]),
        (three, [1000, 1000, 500], [125, -30, -30], [128.44462632, -30.04653635, -30.42110031]),
    )
    cases = []
    for system, kp, target, resting in given:
        wanted = np.radians(target)
        rest = np.degrees(system.equilibrium(wanted, _pd(kp, wanted)))
        cases += [
            Case(
                f"{system.nq} links under PD: resting angle {k + 1}", x, float(rest[k]), 1e-6, "deg"
            )
            for k, x in enumerate(resting)
        ]
    return cases


def _pd(kp: Sequence[float], target: np.ndarray) -> Callable[[Any], Any]:
    return lambda q: casadi.SX(list(kp)) * (target - q)


def _motions(one: System, two: System, three: System, slider: System) -> list[Case]:
    def run(
        system: System, duration: float, sample: float, control: Any = None, q: Any = None
    ) -> np.ndarray:
        return simulate(
            system, q, duration=duration, sample=sample, control=control, tolerance=1e-10
        ).q

    cases = []

    def add(
        what: str,
        rows: Any,
        expected: Any,
        tolerance: float,
        unit: str,
        note: str = NO_INITIAL_STATE,
    ) -> None:
        for k, (x, y) in enumerate(zip(np.ravel(expected), np.ravel(rows), strict=True)):
            cases.append(Case(f"{what} [{k}]", float(x), float(y), tolerance, unit, note))

    free = run(one, 10, 1.0)[[1, 2, 5, 10], 0]
    add(
        "one link, theta at 1, 2, 5, 10 s",
        free,
        [-1.8787295118, -2.4344962386, -2.0667455713, -1.7302117060],
        1e-7,
        "rad",
    )
    pd = run(one, 2, 0.1, PD(200, 50, np.radians([110])))[[2, 5, 10, 20], 0]
    expected = [22.338288, 79.837616, 124.463827, 117.846505]
    add("one link, PD, at 0.2, 0.5, 1, 2 s", np.degrees(pd), expected, 1e-4, "deg")
    free = run(two, 5, 1.0)[[1, 2, 5]]
    expected = [-1.61669379, 0.24053278, -2.28392296, -0.24576721, -1.83749400, -0.12917761]
    add("two links at 1, 2, 5 s", free, expected, 1e-6, "rad")
    pd = run(two, 10, 1.0, PD([100, 50], [50, 20], np.radians([80, 30])))[[1, 5, 10]]
    expected = [23.751466, 16.908672, 48.090938, 26.950703, 49.599767, 27.478850]
    add("two links, PD, at 1, 5, 10 s", np.degrees(pd), expected, 1e-4, "deg")
    pd = run(three, 2, 0.5, PD([1000, 1000, 500], [200, 200, 100], np.radians([125, -30, -30])))[
        [1, 4]
    ]
    expected = [116.370550, -25.725157, -25.381762, 128.199088, -30.116567, -30.465686]
    add("three links, PD, at 0.5, 2 s", np.degrees(pd), expected, 1e-4, "deg")
    control = PID([0, 500, 0], [0, 300, 0], [0, 100, 0], [0, 0.1, 0])
    note = "assumed: gains 500, 300, 100, length 1 -> 0.1; the paper prints no PID gains"
    rows = run(slider, 20, 0.5, control, [0.0, 1.0, 0.0])[[1, 10, 40], 1]
    add("slider length at 0.5, 5, 20 s", rows, [0.116367, 0.092121, 0.0999996], 1e-4, "m", note)
    return cases


def _reuse() -> list[Case]:
    """How many columns each extension traces: the paper's claim, counted inside the tracer."""
    cases = []
    system = System.planar_chain("R", 0.5, 1.0, gravity=GRAVITY)
    system.columns  # noqa: B018  (asking for the columns traces them)
    for n in (2, 3, 10):
        added, before = n - system.nq, columns.counts.total()
        system = system.extended("R" * added, 0.5, 1.0)
        system.columns  # noqa: B018
        traced = columns.counts.total() - before
        cases.append(Case(f"columns traced when the chain grows to {n} links", added, traced, 0))
    before = columns.counts.total()
    system.replace_joint("joint9", "prismatic").columns  # noqa: B018
    cases.append(
        Case(
            "columns traced when joint 9 of 10 becomes a slider",
            2,
            columns.counts.total() - before,
            0,
        )
    )
    drift = simulate(system, duration=3, tolerance=1e-9)["energy.total"]
    note = "assumed: m = 1, l = 0.5 each; the paper gives no parameters of the ten links"
    cases.append(
        Case(
            "energy drift of ten links in 3 s",
            0.0,
            float(np.abs(drift - drift[0]).max()),
            1e-6,
            "J",
            note,
        )
    )
    return cases


def complexity(links: Sequence[int] = (1, 2, 3, 5, 7, 10, 14, 20)) -> dict[str, list[int]]:
    """Arithmetic operations of the torques of n planar links,
    for the figure the paper estimates in eqs. 28-29.

    naive        the Euler-Lagrange operator on each body's Lagrangian, columns added
                 (what the paper calls partial)
    full         the operator on the sum of all Lagrangians
    columns      forces of each body projected on the coordinates: the torque table
    recursive    the same for all bodies at once: what inverse_dynamics runs
    """
    counts: dict[str, list[int]] = {
        "links": list(links),
        "naive": [],
        "full": [],
        "columns": [],
        "recursive": [],
    }
    for n in links:
        system = System.planar_chain("R" * n, 0.5, 1.0, gravity=GRAVITY)
        scope = system.scope
        L = [column.kinetic - column.potential for column in system.columns]
        by_body = casadi.horzcat(*[euler_lagrange(each, scope) for each in L])
        whole = euler_lagrange(_whole_lagrangian(system), scope)
        summed = together(system.placed, scope, system.gravity_vector)
        arguments = [scope.q, scope.v, scope.a]
        for label, results in (("naive", by_body), ("full", whole), ("recursive", summed)):
            f = casadi.Function("f", arguments, [results], {"cse": True})
            counts[label].append(optimised(from_casadi(f)).operations)
        counts["columns"].append(system.kernel("torque_table").program.operations)
    return counts


def _whole_lagrangian(system: System) -> casadi.SX:
    """L of all bodies as one expression, in which they share positions and velocities."""
    x = casadi.vertcat(*[place for _, place in system.placed])
    xd, _ = rates(x, system.scope)
    total, at = casadi.SX(0), 0
    for term, place in system.placed:
        end = at + place.shape[0]
        total = (
            total + term.kinetic(place, xd[at:end]) - term.potential(place, system.gravity_vector)
        )
        at = end
    return total


GAINS = {1: ([200.0], [50.0], [110.0]), 2: ([100.0, 50.0], [50.0, 20.0], [80.0, 30.0])}
GAINS[3] = ([1000.0, 1000.0, 500.0], [200.0, 200.0, 100.0], [125.0, -30.0, -30.0])


def figures() -> tuple[Redrawn, ...]:
    """Figures 1 to 5 of paper 07: one, two and three links falling and held, the slider, ten links,
    the cost."""
    names = {1: "one link", 2: "two links", 3: "three links"}
    return (
        *(
            Redrawn(
                f"figure-{n}",
                f"{names[n]}: damped, then under PD control; starts at rest",
                _draw_links(n),
                (9.0, 6.0),
            )
            for n in names
        ),
        Redrawn(
            "figure-4",
            "joint 2 becomes a slider, 1 m to 0.1 m under PID control",
            _draw_slider,
            (9.0, 6.0),
        ),
        Redrawn(
            "figure-5",
            "ten links, and operations of the torques of n links",
            _draw_ten,
            (11.0, 5.0),
        ),
    )


def _draw_links(n: int) -> Any:
    def draw(figure: Any) -> None:
        system = chains()[n - 1]
        kp, kd, target = GAINS[n]
        free = simulate(system, duration=10, sample=0.01, tolerance=1e-9)
        held = simulate(
            system, duration=10, sample=0.01, control=PD(kp, kd, np.radians(target)), tolerance=1e-9
        )
        rows = [
            (title, "deg", {f"theta{k + 1}": np.degrees(run.q[:, k]) for k in range(n)})
            for title, run in (("(a) damped oscillation", free), ("(b) PD control", held))
        ]
        axes = panels(figure, free.time, rows)
        for angle in target:
            axes[1].axhline(angle, color="black", linewidth=0.8, linestyle=":")

    return draw


def _draw_slider(figure: Any) -> None:
    system = chains()[2].replace_joint("joint2", "prismatic")
    control = PID([0, 500, 0], [0, 300, 0], [0, 100, 0], [0, 0.1, 0])
    run = simulate(
        system, [0.0, 1.0, 0.0], duration=10, sample=0.01, control=control, tolerance=1e-9
    )
    angles = {f"theta{k + 1}": np.degrees(run.q[:, k]) for k in (0, 2)}
    rows = [
        ("length of the slider", "m", {"link 2": run.q[:, 1]}),
        ("angles of the free joints", "deg", angles),
    ]
    panels(figure, run.time, rows)


def _draw_ten(figure: Any) -> None:
    system = System.planar_chain("R" * 10, 0.5, 1.0, gravity=GRAVITY, drags=0.1)
    run = simulate(system, duration=4, sample=0.5, tolerance=1e-8)
    left, right = figure.subplots(1, 2)
    for k, q in enumerate(run.q):
        angles = np.cumsum(q)
        ends = np.cumsum(0.5 * np.column_stack([np.cos(angles), np.sin(angles)]), axis=0)
        flat(
            left, np.vstack([[0.0, 0.0], ends]), f"{run.time[k]:g} s", 0.25 + 0.75 * k / len(run.q)
        )
    left.set_title("(a) ten links falling [m]", loc="left", fontsize=10)
    left.legend(fontsize=7, frameon=False)
    counted = complexity((1, 2, 3, 5, 7, 10))
    names = {
        "naive": "each body's Lagrangian",
        "full": "their sum",
        "columns": "columns",
        "recursive": "recursive",
    }
    for key, name in names.items():
        right.loglog(counted["links"], counted[key], "o-", label=name)
    right.set(xlabel="links", ylabel="operations of the torques")
    right.set_title("(b) cost of one evaluation", loc="left", fontsize=10)
    right.grid(alpha=0.25, which="both")
    right.legend(fontsize=8, frameon=False)
