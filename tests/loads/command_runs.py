"""The command of this room, with arguments under which it works; see tests/cli/runs.py."""

COMMANDS = {
    "analyse": ("lever.robot.yaml", "--motion", "lift", "--steps", "5", "--out", "{out}"),
}
