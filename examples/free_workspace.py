"""The collision-free share of a workspace for a thousand arm lengths, in one call.

    python examples/free_workspace.py

A two-link arm beside a wall and a post; the lengths of its links are live variables, so a design is
an input like a configuration, and nothing is compiled for another one.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork.collision import Capsule, HalfSpace, Obstacles

ARM = """
linkwork: 1
name: planar arm
units: {length: m, angle: deg}
variables: {upper: 0.4, fore: 0.3}
bodies:
  base: {}
  arm:
    collisions:
      - {kind: capsule, size: [0.04, "${upper}"], placement: {xyz: ["${upper/2}", 0, 0], rpy: [0, 90, 0]}}
  forearm:
    collisions:
      - {kind: capsule, size: [0.03, "${fore}"], placement: {xyz: ["${fore/2}", 0, 0], rpy: [0, 90, 0]}}
joints:
  shoulder: {type: revolute, parent: base, child: arm, axis: z, limits: {lower: -150, upper: 150}}
  elbow:
    type: revolute
    parent: arm
    child: forearm
    axis: z
    placement: ["${upper}", 0, 0.08]
    limits: {lower: -150, upper: 150}
frames:
  tip: {body: forearm, placement: ["${fore}", 0, 0]}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.robot.yaml"
        path.write_text(ARM)
        robot = lw.load(path, live=["upper", "fore"])
        model = lw.collision.model(robot, pairs=[])
        cell = Obstacles(
            {
                "wall": HalfSpace((0, 1, 0), -0.45),
                "post": Capsule((0.45, 0.3, -1), (0.45, 0.3, 1), 0.05),
            }
        )
        upper = np.linspace(0.2, 0.6, 1000)
        # the same length in all, shared out otherwise
        lengths = {
            "upper": upper,
            "fore": 0.8 - upper,
        }
        lw.studies.free_share(
            model, cell, "tip", variables={k: x[:1] for k, x in lengths.items()}, samples=10
        )
        start = time.perf_counter()
        share = lw.studies.free_share(
            model, cell, "tip", cell=0.05, variables=lengths, samples=1000
        )
        took = time.perf_counter() - start
    best = int(np.argmax(share.free))
    print(f"1000 designs x 1000 configurations in {took:.2f} s")
    print(
        f"free share of the workspace: {share.workspace.min():.0%} to {share.workspace.max():.0%}"
    )
    print(f"most free cells: {share.free[best]} with an upper arm of {1e3 * upper[best]:.0f} mm")


if __name__ == "__main__":
    main()
