"""The mechanisms of [Kusaka2022], g = 9.8; values its text leaves out are assumed as digested in
docs."""

from __future__ import annotations

from linkwork.lagrange import System

GRAVITY = (0.0, -9.8)
ONE = System.planar_chain("R", [2.0], [3.0], gravity=GRAVITY)
TWO = ONE.extended("R", [1.0], [1.0])
THREE = TWO.extended("R", [1.0], [1.0])
THREE_SLIDER = THREE.replace_joint("joint2", "prismatic")
