"""Inverse kinematics: configurations that bring frames where they are wanted."""
