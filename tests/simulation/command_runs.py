"""The command of this room, with arguments under which it works; see tests/cli/runs.py."""

COMMANDS = {
    "simulate": ("lever.robot.yaml", "--duration", "0.01", "--step", "0.001", "--out", "{out}.csv"),
}
