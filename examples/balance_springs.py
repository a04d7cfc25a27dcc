"""Springs that carry a robot's weight: a sweep, the best stiffness,
and the actuators that are enough then.

python examples/balance_springs.py            writes out/balance_springs.png
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwork as lw
from linkwork.studies.actuators import select
from linkwork.studies.balancing import balance
from linkwork.studies.sweep import sweep


def main() -> None:
    robot = lw.load("charmie", live=["torso_spring"])
    stiffness = np.linspace(0.0, 3000.0, 301)
    start = time.perf_counter()
    found = sweep(
        robot,
        "validation",
        {"torso_spring": stiffness},
        {"actuator.act5": ("peak", "rms")},
        steps=500,
    )
    taken = time.perf_counter() - start
    k = found.best("actuator.act5.peak")
    print(f"{len(stiffness)} designs, 500 instants each: {taken:.2f} s")
    print(
        f"smallest peak of the torso actuator: {found['actuator.act5.peak'][k]:.1f} N at "
        f"{stiffness[k]:.0f} N/m"
    )

    motion = robot.motions["validation"]
    poses = motion.commands(np.linspace(0.0, motion.duration, 41))[0]
    best = balance(robot, poses, actuators=["act5"])
    print(
        f"best for the poses at rest: {best.variables}, rms effort falls by "
        f"{100 * best.saving:.1f} %"
    )

    balanced = lw.load("charmie").with_variables(**best.variables)
    choice = select(balanced, "validation")["act5"]
    fitting = choice.choice.name if choice.choice else "none"
    print(
        f"with it the peak is {choice.duty.peak:.1f} N; smallest of the catalogue that can: "
        f"{fitting}"
    )

    plt.switch_backend("Agg")
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for kind in ("peak", "rms"):
        axes.plot(stiffness, found[f"actuator.act5.{kind}"], label=kind)
    axes.axvline(best.variables["torso_spring"], color="#66a182", label="best at rest")
    axes.set(xlabel="stiffness of the torso spring [N/m]", ylabel="force of the torso actuator [N]")
    axes.legend(frameon=False)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/balance_springs.png", dpi=110)
    print("wrote out/balance_springs.png")


if __name__ == "__main__":
    main()
