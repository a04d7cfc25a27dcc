"""Lines of the table of quantities: chains of axes, and the closed forms of families,
by their own coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from casadi import SX

from linkwork.inverse.analytic.candidates import judged
from linkwork.inverse.analytic.family import Family
from linkwork.inverse.analytic.polish import traced_jacobian, traced_residual
from linkwork.inverse.analytic.screws import Chain
from linkwork.inverse.analytic.wrist_angles import ROOTS
from linkwork.inverse.singularity import factor_count, traced_determinant
from linkwork.model import Tree
from linkwork.quantities import Inputs, Quantity

Outputs = tuple[tuple[str, str], ...]
Trace = Callable[[Tree, Inputs], Sequence[SX]]
POSE, POINT = "4 4", "3"


def _of_chain(trace: Trace, outputs: Outputs, **axes: str) -> Quantity:
    """A line about a chain: q are its coordinates alone."""
    axes = {"q": "joints", **axes}
    inputs = " ".join(axes)
    return Quantity(
        trace,
        inputs,
        outputs,
        True,
        guard=lambda s: "",
        axes=axes,
        sizes={"joints": len},
        about=Chain,
    )


def _of_family(trace: Trace, outputs: Outputs, **axes: str) -> Quantity:
    """A line about a family, a part of `inverse_kinematics_all`."""
    sizes: dict[str, Callable[[Family], int]] = {
        "joints": lambda family: len(family.chain),
        "slots": lambda family: family.slots,
        "explained": lambda family: family.explained,
        "factors": factor_count,
    }
    inputs, who = " ".join(axes), "inverse_kinematics_all"
    return Quantity(
        trace,
        inputs,
        outputs,
        True,
        who=who,
        guard=lambda s: "",
        axes=axes,
        sizes=sizes,
        about=Family,
    )


def _rows(
    target: str,
    stage: str = "traced",
    slots: str = "slots",
    explained: str = "explained",
    **more: str,
) -> Quantity:
    """A family's rows for a target; stage is the method that proposes them,
    `more` what it asks for besides q0."""
    outputs = (
        ("q", f"{slots} joints"),
        ("state", slots),
        ("residual", slots),
        ("distances", explained),
    )
    return _of_family(judged(stage), (*outputs, ("defect", "")), target=target, q0="joints", **more)


def _part(method: str, outputs: Outputs, **axes: str) -> Quantity:
    """What a method of a family says about its arguments, before rows are proposed."""

    def trace(tree: Tree, x: Inputs) -> Sequence[SX]:
        results = getattr(x.about, method)(*x.own.values())
        return results if isinstance(results, tuple) else (results,)

    return _of_family(trace, outputs, **axes)


_QUARTIC = (("coefficients", "3 2"),)

QUANTITIES = {
    "chain_residual": _of_chain(traced_residual, (("residual", ""),), target=POSE),
    "chain_point_residual": _of_chain(traced_residual, (("residual", ""),), target=POINT),
    "chain_jacobian": _of_chain(traced_jacobian, (("J", "6 joints"),)),
    "closed_determinant": _of_family(traced_determinant, (("determinant", "factors"),), q="joints"),
    "closed_form_poses": _rows(POSE),
    "closed_form_points": _rows(POINT),
    "closed_form_poses_of_roots": _rows(POSE, roots="4 2"),
    "closed_form_points_of_roots": _rows(POINT, roots="4 2"),
    "closed_form_turned": _rows(POINT, free=""),
    "closed_form_swivelled": _rows(POSE, swivel=""),
    "closed_form_locked": _rows(POSE, free=""),
    "closed_form_locked_of_roots": _rows(POSE, free="", roots="4 2"),
    "quartic_of_poses": _part("quartic", _QUARTIC, target=POSE),
    "quartic_of_points": _part("quartic", _QUARTIC, target=POINT),
    "quartic_of_locked_poses": _part("quartic", _QUARTIC, target=POSE, free=""),
    "swivel": _part("swivel", (("swivel", ""),), q="joints"),
    "offset_wrist_root": _rows(POSE, "traced_root", "2", "0", known="28", middle="3"),
    "offset_wrist_pair": _rows(POSE, "traced", "2", "0", pair="6"),
    "offset_wrist_uprights": _rows(POSE, "traced_uprights", "8", "0"),
    "offset_wrist_sampled": _part(
        "sampled",
        (("known", "28"), ("roots", "2"), ("unclear", "2"), ("distance", ""), ("defect", "")),
        target=POSE,
    ),
    "offset_wrist_constraints": _part(
        "constraints",
        (
            ("plane", "3 3"),
            ("length", "3 3"),
            ("coefficients", f"{ROOTS // 2 + 1} 2"),
            ("distance", ""),
            ("defect", ""),
        ),
        target=POSE,
    ),
}
