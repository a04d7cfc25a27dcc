"""Paper 13: figures of the reference run that are known to two digits alone,
the readings of its scene, and the clearances of whole minutes."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.avoidance import Elbow
from linkwork.reproduce.human_arms import FOREARM, UPPER_ARM, human_points
from linkwork.reproduce.paper_13 import (
    PERIOD,
    SCENES,
    VOLUME,
    Scene,
    least_clearances,
    reference_run,
)


def arm() -> Elbow:
    return Elbow(lw.load("redundant-7"), "tool", (0.0, 1.0, 0.0))


def test_the_filtered_elbow_is_smooth_and_late() -> None:
    run = reference_run(arm())
    assert np.abs(np.diff(run.filtered)).max() / PERIOD == pytest.approx(0.016, abs=5.1e-4)
    for name, acceleration in (("filtered", 0.35), ("zero", 0.27)):
        ours = np.abs(np.diff(run.joints[name], 2, axis=0)).max() / PERIOD**2
        assert ours == pytest.approx(acceleration, rel=0.05)


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_clearances_of_a_minute_are_those_of_single_calls(scene: Scene) -> None:
    elbow, poses, points = arm(), scene.poses(), scene.points(11)
    angles = np.linspace(-3.0, 3.0, len(poses))
    room = least_clearances(elbow, poses, angles, points)
    for k in range(0, len(poses), 97):
        single = elbow.clearance(poses[k], angles[k], points[k], VOLUME)
        assert room[k] == pytest.approx(single.min(), abs=1e-15)


def test_arms_about_the_vertical_mirror_each_other() -> None:
    """Swings about y_b stay at the height of the base; a positive sign is inwards for both arms."""
    minute = np.arange(200) / 200
    inwards, outwards = (human_points(minute, 2, "xz", sign) for sign in (1.0, -1.0))
    assert (inwards[..., 1] == 0.5).all() and (outwards[..., 1] == 0.5).all()
    # base, joint, joint, hand of an arm whose base lies on this side of z_b = 0
    for first, side in ((0, 1.0), (4, -1.0)):
        base, joint, again, hand = (inwards[:, first + k] for k in range(4))
        assert (joint == again).all()
        for a, b, length in ((base, joint, UPPER_ARM), (joint, hand, FOREARM)):
            assert np.linalg.norm(b - a, axis=1) == pytest.approx(np.full(200, length), abs=1e-15)
        turned = side * (hand - base)[:, 2]
        assert turned.mean() < -0.1
        away = side * (outwards[:, first + 3] - outwards[:, first])[:, 2]
        assert away == pytest.approx(-turned, abs=1e-15)
    # alone, an arm is where it is among many instants
    assert human_points(minute[7], 2, "xz", 1.0) == pytest.approx(inwards[7], abs=1e-15)
