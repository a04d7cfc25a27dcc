"""The command of this room, with arguments under which it works; see tests/cli/runs.py."""

COMMANDS = {
    "ik": ("planar-4r", "--xyz", "0.3 0.2 0", "--frame", "tip"),
}
