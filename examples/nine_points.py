"""Nine points, which a four-bar's tracer can just pass through: all 1442 triples of cognates,
and the real ones.

python examples/nine_points.py
"""

from __future__ import annotations

import numpy as np

import linkwork as lw


def main() -> None:
    points = [
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
    task = lw.synthesis.PlanarTask(points)
    found = lw.synthesis.four_bars(task)
    print(
        f"{found.roots} of {found.expected} roots; {len(found)} real four-bars, each with two "
        "cognates"
    )

    verdict = lw.synthesis.check(found.linkages, task)
    print(f"{int(verdict.good.sum())} of them move through all nine points in one go")
    angles = np.degrees(verdict.transmission_min)
    for k in np.argsort(~verdict.good * 1000 - angles)[:5]:
        ground = ", ".join(f"{p.real:.3f} {p.imag:+.3f}" for p in found.ground[k])
        print(
            f"  ground {ground}: {verdict.kind[k]}, {angles[k]:.1f} deg, "
            f"{verdict.reasons[k] or 'no defect'}"
        )

    best = found.linkages.one(int(np.argmax(np.where(verdict.good, angles, -1.0))))
    cognates = lw.synthesis.cognates(best)
    print(f"the same path by three linkages of sizes {np.round(cognates.size, 2)}")


if __name__ == "__main__":
    main()
