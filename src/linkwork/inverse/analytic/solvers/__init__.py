"""Solvers: each family's mathematics wired to kernels; one file a family."""
