"""Analytic derivatives of the recursions, where automatic differentiation grows too big."""
