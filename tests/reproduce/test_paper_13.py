"""Paper 13: figures of the reference run that are known to two digits alone,
and the guard that its claim needs."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.avoidance import Elbow
from linkwork.reproduce.paper_13 import PERIOD, kept_run, reference_run


def test_the_filtered_elbow_is_smooth_and_late() -> None:
    elbow = Elbow(lw.load("redundant-7"), "tool", (0.0, 1.0, 0.0))
    run = reference_run(elbow)
    assert np.abs(np.diff(run.filtered)).max() / PERIOD == pytest.approx(0.016, abs=5.1e-4)
    for name, acceleration in (("filtered", 0.35), ("zero", 0.27)):
        ours = np.abs(np.diff(run.joints[name], 2, axis=0)).max() / PERIOD**2
        assert ours == pytest.approx(acceleration, rel=0.05)
    assert kept_run(elbow, 0.15, 10.0).min() == pytest.approx(-0.018, abs=5.1e-4)
