"""Loads: what joints, members, motors and the ground carry, at an instant or over a motion."""
