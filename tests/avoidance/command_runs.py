"""The command of this room, with arguments under which it works; see tests/cli/runs.py."""

COMMANDS = {
    "avoid": ("iiwa14", "--scene", "person.obstacles.yaml", "--q", "0 0.8 0 -1.4 0 0.9 0"),
}
