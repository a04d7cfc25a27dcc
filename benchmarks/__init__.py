"""Benchmarks: one question a file."""
