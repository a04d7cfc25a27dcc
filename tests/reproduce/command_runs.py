"""The command of this room, with arguments under which it works; see tests/cli/runs.py."""

COMMANDS = {
    "reproduce": ("09", "--figures", "{out}", "--format", "svg"),
}
