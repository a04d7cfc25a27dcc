"""A hatch through five poses: every four-bar, those without a defect,
and the best one as a robot to load and to cut.

python examples/hatch.py            writes nothing that stays
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import linkwork as lw


def main() -> None:
    task = lw.synthesis.PlanarTask(
        [0j, 0.150 + 0.120j, 0.270 + 0.200j, 0.360 + 0.220j, 0.420 + 0.200j],
        np.deg2rad([0, 20, 45, 70, 90]),
        tolerance=(0.005, 0.005, np.deg2rad(2)),
    )
    exact = lw.synthesis.four_bars(task)
    verdict = lw.synthesis.check(exact.linkages, task)
    print(f"exactly: {len(exact)} four-bars, {int(verdict.good.sum())} without defect")

    near = lw.synthesis.search(task, samples=2000)
    ranking = lw.synthesis.rank(near.linkages, {"transmission": 2, "size": 1})
    best = near.linkages.one(int(ranking.order[0]))
    angle = np.degrees(near.verdict.transmission_min[ranking.order[0]])
    print(
        f"within 5 mm and 2 deg: {len(near)} without defect; the best one transmits at {angle:.0f} "
        "deg or more"
    )

    robot = lw.Robot.from_linkage(best, density=1.5)
    print(robot)
    torque = robot.gravity_torque(robot.assemble().q)
    print(f"joint torques that hold its bars at position 1: {np.round(torque, 2)} N m")

    with tempfile.TemporaryDirectory() as folder:
        parts = lw.synthesis.plates(best, width=0.03, hole=0.008).save(Path(folder) / "hatch.svg")
        saved = lw.save(robot, Path(folder) / "hatch.robot.yaml")
        print(f"wrote {parts.name} ({parts.stat().st_size} bytes) and {saved.name}")


if __name__ == "__main__":
    main()
