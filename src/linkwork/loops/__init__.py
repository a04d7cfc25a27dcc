"""Closed loops: geometry, equations, assembly, mobility and dynamics of what closes beside the tree."""
