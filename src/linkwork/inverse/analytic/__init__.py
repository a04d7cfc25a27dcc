"""Analytic inverse kinematics: every solution of arms whose geometry has closed forms."""
