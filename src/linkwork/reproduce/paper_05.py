"""Paper 05: dyads and triads through exact positions,
with complex numbers and compatibility linkages.

The paper prints one task (Table 4), its minors (Table 5), the drone's vectors (Table 2), and no
solution. "Published" are its printed numbers where there are any; the others are recomputed answers
that three independent ways agree on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import synthesis
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn
from linkwork.synthesis import PlanarTask
from linkwork.synthesis.compatibility import FourBar

CORRECTIONS = (
    "seven-position triads: not 0, 2, 4 or 6 solutions but an odd number of 17, 1 to 11 "
    "(the former: six positions)",
    "Fig. 12: the outer circle has radius |D3| + |D4|, and the inner circle ||D3| - |D4|| limits "
    "beta2 too",
    "five positions: two assemblies are trivial (beta = 0 and beta = alpha), not one; CD and BE "
    "parallel in one sense",
    "the alignment vector is the rotated D2' less D2, drawn from the end of D3",
    "(23): Pi_12 is printed with the same line twice; (24) is unreadable",
    "(25) writes rotations exp(i beta') for what are angular rates",
    "Table A1: H = -(D1 + D2 exp(i beta2)), G = -(D1' + D2' exp(i beta2)); print and claim leave "
    "beta2 out",
    "Table 3: D1 is minus the sum of D2, D3, D4",
    "gamma = 0 is no unsolvable triad but a dyad of the other two vectors",
    "the linkage presented as final has a branch defect: its driver passes a dead point between "
    "positions 2 and 3",
)
TABLE_4 = PlanarTask(
    [-21.700 + 22.035j, -11.883 + 12.018j, -5.973 + 11.767j, 4.744 + 10.766j, 5.345 + 12.318j],
    np.deg2rad([0, 19.684, 30.751, 59.361, 84.696]),
)
TABLE_5 = (
    (-1.2736 + 0.1990j, 0.9214 - 3.4612j, 1.5541 + 3.7924j, -1.2018 - 0.5302j),
    (-3.3851 + 1.1261j, 5.2149 - 9.7840j, -0.6280 + 9.1881j, -1.2018 - 0.5302j),
)
DYADS = (
    (
        (-11.585297, -13.202036, -25.525619, -42.316300),
        43.461685 - 1.876166j,
        -9.364053 - 31.267915j,
    ),
    (
        (20.862236, 33.480653, 65.142024, 94.362176),
        202.877343 - 119.733786j,
        -249.961530 + 101.322481j,
    ),
)
TRANSMISSION = (1.69, 0.51, 1.04, 4.09, 7.98)
DRONE = {
    "Z0": -3.377, "Z1": 0.405 - 3.178j, "Z2": 3.178j, "Z3": -1.522 - 2.037j, "Z4": -0.436 + 1.620j,
    "Z5": 2.364 + 0.416j, "Z6": -1.560 - 2.773j, "Z7": 2.978 + 2.357j, "Z8": 1.927 - 1.141j, "Z9": -3.170 - 0.684j,
}  # fmt: skip
ALPHA = np.deg2rad([0, 15, 35, 50, 70, 95, 110])
GAMMA = np.deg2rad([0, 8, -20, 25, 40, -35, 60])
BETA = np.deg2rad([0, -10, 12, -25, 30, 18, -40])
TRIADS = (
    (-13.743241, 7.732966, -35.802192, 61.003922, 7.586505, -64.380869),
    (-10, 12, -25, 30, 18, -40),
    (8.644674, -6.568727, 15.099305, -59.331393, -17.776119, -0.348469),
    (21.363118, -23.023331, 58.054138, 161.944549, -63.960034, 131.222024),
    (23.647236, 42.512272, 67.951715, 176.784843, 117.677293, 160.499730),
)


def paper() -> Paper:
    """Tables 2, 4, 5; dyads and triads; landmarks; the verdict on the final linkage."""
    cases = [*_tables(), *_dyads(), *_landmarks(), *_verdict(), *_triads(), *_drone()]
    title = "Planar dyads and triads through exact positions"
    return Paper(5, "Mather2023", title, tuple(cases), CORRECTIONS, "`lw.synthesis`")


def _complex(
    what: str, published: complex, ours: complex, tolerance: float, note: str = ""
) -> list[Case]:
    return [
        Case(f"{what}, real part", published.real, float(np.real(ours)), tolerance, "", note),
        Case(f"{what}, imaginary part", published.imag, float(np.imag(ours)), tolerance, "", note),
    ]


def _tables() -> list[Case]:
    minors = synthesis.compatibility(TABLE_4).deltas * float(TABLE_4.size)
    note = "Table 5; Table 4 is rounded in its last digit"
    cases = []
    for loop, (row, ours) in enumerate(zip(TABLE_5, minors, strict=True)):
        for k, (x, y) in enumerate(zip(row, ours, strict=True)):
            cases += _complex(f"D{k + 1}{chr(39) * loop}", x, complex(y), 1e-3, note)
    turn = np.angle(minors[0, 1]) - np.angle(minors[1, 1])
    cases.append(
        Case(
            "alignment of the primed loop", -13.15, float(np.degrees(turn)), 5e-3, "deg", "printed"
        )
    )
    aligned = minors[1, 1] * np.exp(1j * turn) - minors[0, 1]
    cases += _complex("alignment vector", 1.9307 - 7.2528j, complex(aligned), 1e-3, "printed")
    exact = np.degrees(synthesis.compatibility(TABLE_4).ranges)
    for k, limit in enumerate((-28.111, 21.456, 109.404, 115.198)):
        what = f"feasible beta2, limit {k + 1}"
        cases.append(
            Case(
                what,
                limit,
                float(exact.ravel()[k]),
                1e-3,
                "deg",
                "printed: -27 .. 116, a graphical reading",
            )
        )
    return cases


def _dyads() -> list[Case]:
    ours, scanned = synthesis.dyads(TABLE_4), synthesis.dyads(TABLE_4, method="linkage")
    cases = [Case("number of dyads through Table 4", 2, len(ours), 0)]
    for k, (beta, W, Z) in enumerate(DYADS):
        name = "AB"[k]
        for j, angle in enumerate(beta):
            cases.append(
                Case(
                    f"dyad {name}, beta{j + 2}",
                    angle,
                    float(np.degrees(ours.beta[k, j])),
                    1e-6,
                    "deg",
                )
            )
        cases += _complex(f"dyad {name}, W", W, complex(ours.W[k]), 1e-6)
        cases += _complex(f"dyad {name}, Z", Z, complex(ours.Z[k]), 1e-6)
    apart = float(np.abs(scanned.beta - ours.beta).max())
    cases.append(
        Case("the paper's scan of the linkages against the roots", 0.0, apart, 1e-9, "rad")
    )
    four = synthesis.dyads(TABLE_4[:4], beta={2: np.deg2rad(-10)})
    nearest = four.W[np.abs(four.W - (51.712926 - 3.463769j)).argmin()]
    cases += _complex(
        "four positions, beta2 = -10 deg: W", 51.712926 - 3.463769j, complex(nearest), 1e-6
    )
    three = synthesis.dyads(TABLE_4[:3], beta={2: np.deg2rad(30), 3: np.deg2rad(60)})
    cases += _complex(
        "three positions, beta = 30, 60 deg: W", 10.348595 - 11.671032j, complex(three.W[0]), 1e-6
    )
    return cases


def _landmarks() -> list[Case]:
    task = TABLE_4[:4]
    cases = _complex("pole P12", 12.078432 + 45.320013j, synthesis.poles(task)[1, 2], 1e-6)
    cases += _complex(
        "image pole P24", -4.687788 + 39.757392j, synthesis.image_poles(task)[2, 4], 1e-6
    )
    cases += _complex("Pi_23", -19.041389 + 46.080299j, synthesis.opposite_points(task)[2, 3], 1e-6)
    cubic = synthesis.center_cubic(task)
    cases.append(Case("centre cubic, x^2 y", 4.473498, float(cubic[1]), 1e-6))
    cases.append(Case("centre cubic, constant", -253345.38862, float(cubic[9]), 1e-2))
    return cases


def _verdict() -> list[Case]:
    pair = synthesis.dyads(TABLE_4)
    linkage = synthesis.from_dyads(TABLE_4, pair[0], pair[1])
    verdict = synthesis.check(linkage, TABLE_4)
    cases = [
        Case(
            "branch defect of the final linkage",
            1,
            int(verdict.branch),
            0,
            "",
            str(verdict.reasons),
        )
    ]
    for j, angle in enumerate(TRANSMISSION):
        if angle < 1.0:
            continue  # position 2 is printed as 0.51 deg: two digits cannot tell one per cent
        ours = float(np.degrees(verdict.transmission[j]))
        cases.append(Case(f"transmission angle at position {j + 1}", angle, ours, 5e-3, "deg"))
    return cases


def _triads() -> list[Case]:
    turn = lambda x: np.exp(1j * x) - 1.0
    positions = (2 + 1j) * turn(ALPHA) + (1.5 - 0.5j) * turn(BETA) + (-0.5 + 2j) * turn(GAMMA)
    task = PlanarTask(positions, GAMMA)
    ours = synthesis.triads(task, ALPHA)
    cases = [
        Case(
            "real triads through seven positions",
            5,
            len(ours),
            0,
            "",
            "of 17; the paper: 0, 2, 4 or 6",
        )
    ]
    for k, row in enumerate(TRIADS):
        for j, angle in enumerate(row):
            value = float(np.degrees(ours.beta[k, j]))
            cases.append(Case(f"triad {k + 1}, beta{j + 2}", angle, value, 1e-6, "deg"))
    six = synthesis.triads(task[:6], ALPHA[:6], {2: np.deg2rad(-10)})
    cases.append(Case("real triads through six positions at beta2 = -10 deg", 4, len(six), 0))
    five = synthesis.triads(task[:5], ALPHA[:5], {2: np.deg2rad(-10), 5: np.deg2rad(30)})
    cases.append(Case("triads through five positions", 2, len(five), 0))
    return cases


def _drone() -> list[Case]:
    note = "the figure with the loops is lost; recovered from signed sums, which miss by rounding"
    loops = (
        ("Z1", "-Z3", "-Z8"),
        ("Z1", "Z2", "-Z3", "-Z4", "-Z5"),
        ("Z0", "Z6", "Z7", "-Z3", "-Z4"),
    )
    cases = []
    for row in loops:
        total = sum((-1 if name[0] == "-" else 1) * DRONE[name.lstrip("-")] for name in row)
        cases.append(Case(f"drone: {' + '.join(row)}", 0.0, float(abs(total)), 1.5e-3, "", note))
    return cases


def figures() -> tuple[Redrawn, ...]:
    """Figures that the paper draws for Table 4: the curves of four positions,
    and the compatibility linkage."""
    return (
        Redrawn(
            "figure-08",
            "centre- and circle-point curves of the first four positions of Table 4",
            _draw_curves,
        ),
        Redrawn(
            "figure-12",
            "the compatibility linkages of Table 4: where both close",
            _draw_linkage,
            (9.6, 6.6),
        ),
    )


def _draw_curves(figure: Any) -> None:
    task = TABLE_4[:4]
    curve = synthesis.burmester(task, 4000)
    landmarks = np.array(list(synthesis.poles(task).values()))
    known = np.concatenate([landmarks, task.positions])
    middle = known.mean()
    # beyond it the curves run straight to their asymptotes
    reach = 2.0 * float(np.abs(known - middle).max())
    axes = figure.subplots()
    for points, name in ((curve.center, "centre points"), (curve.circle, "circle points")):
        near = np.abs(points - middle) < reach
        breaks = np.flatnonzero(near[1:] != near[:-1]) + 1
        color = None
        for piece, shown in zip(np.split(points, breaks), np.split(near, breaks), strict=True):
            if shown[0] and len(piece) > 1:
                (line,) = axes.plot(
                    piece.real, piece.imag, color=color, label=name if color is None else None
                )
                color = line.get_color()
    axes.plot(landmarks.real, landmarks.imag, "ko", markersize=5, label="poles")
    axes.plot(task.positions.real, task.positions.imag, "s", label="positions")
    axes.set_aspect("equal")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _draw_linkage(figure: Any) -> None:
    """Each loop as a four-bar: where the tip of its second link may be, one posture,
    and what both loops allow."""
    linkages = synthesis.compatibility(TABLE_4)
    places = figure.subplot_mosaic(
        [["loop 0", "loop 1"], ["ranges", "ranges"]], height_ratios=(3.2, 1.0)
    )
    beta = float(np.mean(linkages.ranges[0]))
    for k, deltas in enumerate(linkages.deltas):
        _draw_loop(places[f"loop {k}"], deltas, beta)
        _draw_limits(places[f"loop {k}"], deltas, linkages.ranges)
        places[f"loop {k}"].set_title(POSITIONS[k], fontsize=10)
    _draw_ranges(places["ranges"], linkages)


POSITIONS = ("positions 1, 2, 3, 4", "positions 1, 2, 3, 5")
LINKS = ("#3a3a3a", "#1f6fb4", "#d1722b", "#3d8b4f")
"""Colours of D1 .. D4."""
FEASIBLE = "#1f6fb4"
LABEL = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
CENTRED: Any = {"fontsize": 9, "ha": "center", "va": "center", "zorder": 5}


def _draw_loop(axes: Any, deltas: np.ndarray, beta: float) -> None:
    """The four-bar D1 .. D4 at beta2 in both assemblies,
    and the ring that its last two links reach."""
    reach = np.abs(deltas[2:])
    outer, inner = reach.sum(), abs(reach[0] - reach[1])
    turn = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 400))
    edge = np.concatenate([outer * turn, inner * turn[::-1]])
    axes.fill(edge.real, edge.imag, color="#f1ead9", zorder=0)
    for radius, name in ((outer, "|D3| + |D4|"), (inner, "||D3| - |D4||")):
        axes.plot(
            (radius * turn).real,
            (radius * turn).imag,
            color="#b9a877",
            linewidth=1.0,
            linestyle="--",
            zorder=1,
        )
        at = radius * np.exp(-0.28j * np.pi)
        axes.annotate(name, (at.real, at.imag), fontsize=8, color="#8a7a48", ha="left", va="top")
    third, fourth = FourBar(deltas).solve(beta)
    for which, strength in ((1, 0.25), (0, 1.0)):
        turned = deltas * np.exp(1j * np.array([0.0, beta, third[which], fourth[which]]))
        corners = np.concatenate([[0.0], np.cumsum(turned)])
        for k, color in enumerate(LINKS):
            ends = corners[k : k + 2]
            axes.plot(ends.real, ends.imag, color=color, linewidth=3.0, alpha=strength, zorder=3)
            if strength == 1.0:
                middle = ends.mean()
                axes.text(middle.real, middle.imag, f"D{k + 1}", color=color, bbox=LABEL, **CENTRED)
        axes.plot(
            corners.real, corners.imag, "o", color="#3a3a3a", markersize=4, alpha=strength, zorder=4
        )
    axes.set_aspect("equal")
    axes.set_axis_off()


def _draw_limits(axes: Any, deltas: np.ndarray, ranges: list[tuple[float, float]]) -> None:
    """The circle of the second link's tip, and on it what both loops allow."""
    tip = lambda angles: deltas[0] + deltas[1] * np.exp(1j * angles)
    whole = tip(np.linspace(0.0, 2.0 * np.pi, 400))
    axes.plot(whole.real, whole.imag, color="#9fb8cc", linewidth=1.0, zorder=1)
    for low, high in ranges:
        arc = tip(np.linspace(low, high, 200))
        axes.plot(
            arc.real,
            arc.imag,
            color=FEASIBLE,
            linewidth=5.0,
            alpha=0.45,
            solid_capstyle="butt",
            zorder=2,
        )


def _draw_ranges(axes: Any, linkages: synthesis.Compatibility) -> None:
    """Where the tip of D2 is in the ring of each loop (0: its inner circle, 1: its outer one) over
    a turn of beta2."""
    beta = np.linspace(-np.pi, np.pi, 721)
    axes.axhspan(0.0, 1.0, color="#f1ead9", zorder=0)
    for k, deltas in enumerate(linkages.deltas):
        reach = np.abs(deltas[2:])
        inner = abs(reach[0] - reach[1])
        place = (np.abs(deltas[0] + deltas[1] * np.exp(1j * beta)) - inner) / (reach.sum() - inner)
        axes.plot(
            np.degrees(beta), place, color="#3a3a3a", linestyle=("-", "--")[k], label=POSITIONS[k]
        )
    for low, high in np.degrees(linkages.ranges):
        axes.plot(
            [low, high],
            [0.0, 0.0],
            color=FEASIBLE,
            linewidth=6.0,
            solid_capstyle="butt",
            clip_on=False,
        )
        axes.text(low, -0.12, f"{low:.1f}", ha="right", va="top", fontsize=8, color=FEASIBLE)
        axes.text(high, -0.12, f"{high:.1f}", ha="left", va="top", fontsize=8, color=FEASIBLE)
    dyads = np.degrees(synthesis.dyads(TABLE_4).beta[:, 0])
    axes.plot(
        dyads,
        np.zeros(len(dyads)),
        "o",
        color="white",
        markeredgecolor="black",
        label="the two dyads",
        zorder=4,
    )
    axes.set(
        xlim=(-180.0, 180.0), ylim=(-0.5, 2.0), xlabel="beta2 [deg]", ylabel="place in the ring"
    )
    axes.set_xticks(range(-180, 181, 60))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
