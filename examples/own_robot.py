"""A robot written by hand: YAML with variables, live in machine code,
a length chosen by exact gradients.

python examples/own_robot.py            writes out/crane-arm.robot.yaml, .urdf and .html
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar

import linkwork as lw
from linkwork.view.report import write_report

TEXT = """\
linkwork: 1
name: crane-arm
description: two links and a counterweight
variables:
  back: {value: 0.25, unit: m, note: distance of the counterweight behind the shoulder}
  front: {value: 0.8, unit: m}
bodies:
  base: {}
  beam:
    mass: 9
    com: [0, 0, "${(3*front/2 - 6*back)/9}"]
    inertia: [0.6, 0.6, 0.02]
    points: {tail: [0, 0, "${-back}"], A: [0, 0, 0], B: [0, 0, "${front}"]}
    lines: [[tail, B]]
  forearm:
    mass: 1.2
    com: [0, 0, 0.25]
    inertia: [0.03, 0.03, 0.001]
    points: {A: [0, 0, 0], B: [0, 0, 0.5]}
    lines: [[A, B]]
joints:
  shoulder: {type: revolute, parent: base, child: beam, axis: "y", placement: [0, 0, 1], limits: {lower: 0, upper: 2.6}}
  elbow: {type: revolute, parent: beam, child: forearm, axis: "y", placement: {point: B}, limits: {lower: -2, upper: 2}}
frames:
  hook: {body: forearm, placement: [0, 0, 0.5]}
motions:
  lift:
    duration: 2
    joints:
      shoulder: {waypoints: [[0, 2.2], [2, 0.6]], interpolation: quintic}
      elbow: {waypoints: [[0, -0.4], [2, 0.8]], interpolation: quintic}
"""


def main() -> None:
    out = Path("out")
    out.mkdir(exist_ok=True)
    path = out / "crane-arm.robot.yaml"
    path.write_text(TEXT, "utf-8")
    robot = lw.load(path, live=["back"])
    print(robot)

    poses = robot.random(2000, seed=0)
    cost = robot.gradient("gravity_torque", "back", "sum_squares")

    def total(back: float) -> float:
        return float(np.sum(cost(poses, variables={"back": back})[0]))

    best = minimize_scalar(total, bounds=(0.0, 1.2), method="bounded", options={"xatol": 1e-9}).x
    slope = float(np.sum(cost(poses, variables={"back": best})[1]))
    for name, back in (("as drawn", 0.25), ("best", best)):
        torque = robot.gravity_torque(poses, variables={"back": back})[:, 0]
        print(
            f"{name}: counterweight at {back:.3f} m, torque of the shoulder "
            f"{np.sqrt((torque**2).mean()):.2f} N m rms"
        )
    print(f"slope at the best: {slope:.1e}")

    final = robot.with_variables(back=best)
    lw.save(final, out / "crane-arm.urdf")
    write_report(final, out / "crane-arm.html", final.analyse("lift", steps=201), "Crane arm, lift")
    print("wrote out/crane-arm.robot.yaml, out/crane-arm.urdf, out/crane-arm.html")


if __name__ == "__main__":
    main()
