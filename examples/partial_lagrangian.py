"""The experiments of the partial Lagrangian paper: 1, 2, 3 and 10 links, a slider in the middle,
what it costs.

python examples/partial_lagrangian.py      writes out/partial_lagrangian.png
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import linkwork as lw
from linkwork.reproduce.paper_07 import complexity
from linkwork.simulation import PD, PID, simulate

GAINS = {
    1: ([200], [50], [110]),
    2: ([100, 50], [50, 20], [80, 30]),
    3: ([1000, 1000, 500], [200, 200, 100], [125, -30, -30]),
}


def main() -> None:
    figure, axes = plt.subplots(2, 3, figsize=(15, 8))
    system = lw.System.planar_chain("R", [2.0], [3.0], gravity=(0, -9.8), drags=1.0)
    for n, (kp, kd, target) in GAINS.items():
        if n > 1:
            system = system.extended("R", 1.0, 1.0, drags=1.0)
            print(f"{n} links: traced anew", system.stale_terms())
        run = simulate(system, duration=10, sample=0.02, control=PD(kp, kd, np.radians(target)))
        axes.flat[n - 1].plot(run.time, np.degrees(run.q))
        axes.flat[n - 1].set(
            title=f"{n} link{'s' * (n > 1)} under PD", xlabel="time [s]", ylabel="angle [deg]"
        )

    slider = system.replace_joint("joint2", "prismatic")
    print("joint 2 a slider: traced anew", slider.stale_terms())
    control = PID([0, 500, 0], [0, 300, 0], [0, 100, 0], [0, 0.1, 0])
    run = simulate(slider, [0, 1, 0], duration=10, sample=0.02, control=control)
    axes[1, 0].plot(run.time, run.q)
    axes[1, 0].set(title="joint 2 turned into a slider, PID", xlabel="time [s]", ylabel="rad, m")

    ten = lw.System.planar_chain("R" * 10, 0.5, 1.0, gravity=(0, -9.8))
    start = time.perf_counter()
    run = simulate(ten, duration=5, step=1e-3, sample=0.05)
    print(f"ten links, 5000 steps: {time.perf_counter() - start:.2f} s with compiling")
    phi = np.cumsum(run.q, axis=-1)
    x, y = (np.cumsum(0.5 * f(phi), axis=-1) for f in (np.cos, np.sin))
    for k in range(0, len(run.time), 4):
        axes[1, 1].plot(
            [0, *x[k]], [0, *y[k]], color=plt.cm.viridis(k / len(run.time)), linewidth=0.8
        )
    axes[1, 1].set(title="ten links, free", xlabel="x [m]", ylabel="y [m]", aspect="equal")

    count = complexity()
    labels = {
        "naive": "each Lagrangian alone",
        "full": "sum of all Lagrangians",
        "columns": "torque table, projected forces",
        "recursive": "inverse dynamics",
    }
    for label, words in labels.items():
        axes[1, 2].loglog(count["links"], count[label], "o-", label=words)
    axes[1, 2].set(title="measured operations", xlabel="links", ylabel="operations")
    axes[1, 2].legend()
    figure.tight_layout()
    target = Path("out") / "partial_lagrangian.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=110)
    print("written:", target)


if __name__ == "__main__":
    main()
