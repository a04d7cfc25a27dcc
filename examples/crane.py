"""A mechanism typed as positions: equations to read, a controlled motion, who loads what.

python examples/crane.py            writes out/crane.csv
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from casadi import cos, sin

import linkwork as lw
from linkwork.simulation import PD, EndStop, Event, simulate


def main() -> None:
    crane = lw.System("x theta", gravity=(0, -9.81), variables={"rope": 3.0})
    crane = crane.with_body("trolley", 50.0, lambda q: (q.x, 0))
    crane = crane.with_body(
        "load", 20.0, lambda q: (q.x + q.rope * sin(q.theta), -q.rope * cos(q.theta)), drag=1.5
    )
    print(crane)
    print("\nEquations of motion, term by term:")
    print(crane.equations())

    q, v, a = [1.0, 0.3], [0.5, -0.2], [0.1, 0.4]
    print("\nWhich term takes which force (rows: coordinates):")
    for name, row in zip(crane.coordinates, crane.torque_table(q, v, a)):
        print(f"  {name:6s}", {term: round(float(x), 3) for term, x in zip(crane.terms, row)})

    run = simulate(
        crane,
        duration=12.0,
        step=1e-3,
        sample=0.01,
        control=PD([200.0, 0.0], [250.0, 0.0], [4.0, 0.0]),
        stops=[EndStop("x", -0.5, 5.0, stiffness=1e5, damping=1e3)],
        events=[Event("half way", lambda t, q, v: q[0] - 2.0, direction=1)],
    )
    print(f"\n{run!r}, in {run.where}")
    print(
        f"half way at {run.events[0].time:.3f} s; the load swings by "
        f"{np.degrees(np.abs(run['q.theta']).max()):.1f} deg"
    )
    print(f"energies balance to {np.abs(run['energy.balance']).max():.1e} J")
    print("written:", run.to_csv(Path("out") / "crane.csv"))


if __name__ == "__main__":
    Path("out").mkdir(exist_ok=True)
    main()
