"""Palletising: a crate's bar code says what it weighs,
and the arm moves it as fast as its torques allow.

python examples/palletising.py            writes out/palletising.png

The scene of [Safeea2019], section 6, whose robot, path and objects the paper does not print: here a
UR10e with the efforts of its data sheet carries crates from a belt onto a pallet. The law for the
heaviest crate is safe for all and slow for most; retiming the path for each crate takes
milliseconds.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

import linkwork as lw
from linkwork.trajectory import Path as JointPath
from linkwork.trajectory import minimum_time, path_coefficients

# What the reader finds on the belt: mass [kg], edges [m]; the crate hangs from the flange.
CODES = [
    '{"article": "towels", "mass": 1.5, "edges": [0.40, 0.30, 0.20]}',
    '{"article": "tea", "mass": 4.0, "edges": [0.40, 0.30, 0.25]}',
    '{"article": "tins", "mass": 10.0, "edges": [0.30, 0.30, 0.20]}',
]
SHARE = 0.8  # of the efforts of the data sheet, the rest is left to the controller
# Over the belt, lifted, turned, over the pallet, down [rad].
WAYPOINTS = np.array(
    [
        [-0.90, -1.15, 1.75, -2.17, -1.57, 0.00],
        [-0.80, -1.45, 1.70, -1.82, -1.57, 0.10],
        [0.20, -1.60, 1.65, -1.62, -1.57, 0.60],
        [1.25, -1.40, 1.80, -1.97, -1.57, 1.10],
        [1.40, -1.05, 1.85, -2.37, -1.57, 1.20],
    ]
)


def read(code: str) -> lw.Payload:
    """The payload behind a bar code: a homogeneous box under the flange."""
    crate = json.loads(code)
    x, y, z = crate["edges"]
    inertia = crate["mass"] / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    return lw.Payload("wrist_3_link", crate["mass"], (0.0, 0.0, z / 2), inertia)


def main() -> None:
    console = Console(width=120)
    robot = lw.load("ur10e")
    path = JointPath.through(WAYPOINTS)
    names = [json.loads(code)["article"] for code in CODES]
    loads = [read(code) for code in CODES]

    def retimed(load: lw.Payload | None):
        return minimum_time(
            robot, path, SHARE * robot.limits.effort, robot.limits.velocity, payload=load
        )

    retimed(loads[0])  # compiles
    start = time.perf_counter()
    laws = [retimed(load) for load in loads]
    taken = (time.perf_counter() - start) / len(loads)
    slow = laws[-1]

    table = Table(
        "crate",
        r"mass \[kg]",
        r"own law \[s]",
        r"heaviest law \[s]",
        "most used joint",
        title="belt to pallet",
    )
    for name, load, law in zip(names, loads, laws):
        joint = robot.joints[np.bincount(law.active, minlength=robot.nv).argmax()]
        table.add_row(name, f"{load.mass:g}", f"{law.duration:.3f}", f"{slow.duration:.3f}", joint)
    console.print(table)
    console.print(f"retiming one crate: {1e3 * taken:.1f} ms for {len(slow.s)} points")

    # The paper's route over the Christoffel symbols and the short one over inverse dynamics are the
    # same numbers.
    direct, paper = (
        path_coefficients(robot, path, slow.s, loads[-1], m)
        for m in ("newton_euler", "christoffel")
    )
    apart = np.abs(direct.c - paper.c).max() / np.abs(direct.c).max()
    console.print(f"c~ over the Christoffel symbols differs by {apart:.1e}")

    # What the arm then really does: torques of the sampled motion stay within the limits.
    t = np.linspace(0.0, slow.duration, 500)
    torque = robot.inverse_dynamics(*slow.at(t), payload=loads[-1])
    used = np.abs(torque) / (SHARE * robot.limits.effort)
    console.print(f"largest torque with {names[-1]}: {used.max():.1%} of what is allowed")

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for name, law in zip(names, laws):
        left.plot(law.s, law.speed, label=f"{name}: {law.duration:.2f} s")
    left.set(xlabel="path s", ylabel="ds/dt [1/s]", title="speed profile of each crate")
    left.legend()
    right.plot(t, 100 * used)
    right.set(
        xlabel="time [s]", ylabel="of the allowed torque [%]", title=f"joints with {names[-1]}"
    )
    right.legend(robot.joints, fontsize="x-small", loc="center")
    target = Path("out") / "palletising.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=120)
    console.print(f"wrote {target}")


if __name__ == "__main__":
    main()
