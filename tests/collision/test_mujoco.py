"""Distances against MuJoCo's, on a subset: its own routines, not ours nor coal's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.collision.placements import axes_along, draw, kernel

mujoco = pytest.importorskip("mujoco")

PAIRS = [
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("capsule", "capsule"),
    ("sphere", "box"),
    ("capsule", "box"),
]
PAIRS += [("sphere", "cylinder")]


def geom(kind, row):
    """One shape as MJCF, placed in the world."""
    match kind:
        case "sphere":
            size, R, p = f"{row[3]}", np.eye(3), row[:3]
        case "capsule":
            R, length = axes_along(row[3:6] - row[:3])
            size, p = f"{row[6]} {length / 2}", 0.5 * (row[:3] + row[3:6])
        case "box":
            size, R, p = " ".join(map(repr, row[12:15].tolist())), row[3:12].reshape(3, 3), row[:3]
        case "cylinder":
            R, _ = axes_along(row[3:6])
            size, p = f"{row[6]} {row[7]}", row[:3]
    axes = " ".join(map(repr, R[:, :2].T.ravel().tolist()))
    place = f'pos="{" ".join(map(repr, p.tolist()))}" xyaxes="{axes}"'
    return f'<body {place}><freejoint/><geom type="{kind}" size="{size}" mass="1"/></body>'


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_distances_apart_are_those_of_mujoco(pair):
    rng = np.random.default_rng(21)
    a, b = draw(pair[0], rng, 60), draw(pair[1], rng, 60)
    for rows in (a, b):
        rows[:, -1] = np.maximum(rows[:, -1], 0.02)  # MuJoCo has no points and no segments
    for kind, rows in zip(pair, (a, b)):
        if kind == "capsule":
            rows[:, 3:6] = rows[:, :3] + np.where(
                np.ptp(rows[:, [0, 3]], axis=1)[:, None] > 1e-3, rows[:, 3:6] - rows[:, :3], 0.1
            )
    ours = kernel(*pair)(a, b)[0]
    for k in np.flatnonzero(ours > 1e-3)[:40]:
        text = f"<mujoco><worldbody>{geom(pair[0], a[k])}{geom(pair[1], b[k])}</worldbody></mujoco>"
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, np.zeros(6))
        assert ours[k] == pytest.approx(theirs, abs=2e-6)  # it iterates for boxes and cylinders
