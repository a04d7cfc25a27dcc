"""Mounting: the placement that a caller says by a position with a rotation, or by a whole pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.foreign_poses import is_rotation
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_matrix
from linkwork.poses import pose


def mounting(xyz: Any, rotation: Any) -> Placement:
    """From a position and a rotation matrix, or from whatever `lw.pose` takes as a whole pose."""
    position = pose(xyz) if is_rotation(xyz) else as_doubles(xyz, "xyz")
    if position.shape == (4, 4) and rotation is None:
        T = pose(position)
        return Placement(from_matrix(T[:3, :3].tolist()), tuple(T[:3, 3].tolist()))
    if position.shape != (3,) or not np.isfinite(position).all():
        raise InvalidInput(
            f"xyz is {xyz!r}, expected three finite numbers [m], or a pose: lw.pose(xyz, rpy=...)"
        )
    if rotation is None:
        return Placement(position=tuple(position.tolist()))
    turn = as_doubles(rotation, "rotation")
    if turn.shape != (3, 3):
        raise InvalidInput(
            f"rotation has shape {turn.shape}, expected (3, 3); angles: xyz=lw.pose(xyz, rpy=...)"
        )
    return Placement(from_matrix(turn.tolist()), tuple(position.tolist()))
