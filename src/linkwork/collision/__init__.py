"""Collision: shapes, obstacles, and how far a robot is from them and from itself."""

__all__: list[str] = []
