"""Actuation: motors, transmissions and named motions: how commands move the coordinates of a robot, and back."""
