"""Inverse kinematics: configurations that bring frames to targets."""
