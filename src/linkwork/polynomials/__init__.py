"""Polynomials: all roots of one, all solutions of a system, in SIMD lanes. Knows no linkage.

roots     all roots of polynomials, a batch at once (Aberth)
System    polynomial equations over complex numbers; `.monodromy` finds every solution of a generic
          member of the family, `.solve` follows them to the members that are wanted
Starts    solutions of a generic member: numbers, kept as data
Complex   a complex number over symbols, for writing equations
"""

from linkwork.doors import open_doors
from linkwork.polynomials.complex_pair import Complex
from linkwork.polynomials.roots import roots
from linkwork.polynomials.starts import Starts
from linkwork.polynomials.system import Solutions, System

__all__ = ["Complex", "Solutions", "Starts", "System", "roots"]

open_doors(__name__)
