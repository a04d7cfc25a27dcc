"""The commands of this room, with arguments under which they work; see tests/cli/runs.py."""

COMMANDS = {
    "control": ("lever.robot.yaml", "--duration", "0.01", "--kp", "20", "--kd", "2"),
    "tune": ("lever.robot.yaml", "--duration", "0.01", "--samples", "20", "--rounds", "1"),
    "stability": ("18.3", "8000", "--damping", "7600", "--period", "0.005"),
}
