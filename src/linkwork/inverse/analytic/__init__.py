"""Analytic inverse kinematics: every solution of arms whose geometry has closed forms.

classify                    which family a robot is in, from its axes
select, track               one solution of all, by a policy; along a path
finite_state_machine        the UR/TM machine of [Villalobos2022]
offset_wrist_polynomial     degree 8; carbonari_polynomial: degree 16, the paper's
"""

from linkwork.inverse.analytic.classify import Classification, classify
from linkwork.inverse.analytic.polynomials import carbonari_polynomial, offset_wrist_polynomial
from linkwork.inverse.analytic.selection import (
    finite_state_machine,
    largest_manipulability,
    minimal_displacement,
    select,
    track,
    within_limits,
)
from linkwork.inverse.analytic.solutions import Solutions
from linkwork.inverse.analytic.solve import inverse_kinematics_all

__all__ = [
    "Classification",
    "Solutions",
    "carbonari_polynomial",
    "classify",
    "finite_state_machine",
    "inverse_kinematics_all",
    "largest_manipulability",
    "minimal_displacement",
    "offset_wrist_polynomial",
    "select",
    "track",
    "within_limits",
]
