"""The commands of this room, with arguments under which they work; see tests/cli/runs.py."""

COMMANDS = {
    "plan": (
        "swing.robot.yaml",
        "--from",
        "0 0",
        "--to",
        "0.5 0.2",
        "--time",
        "--out",
        "{out}.csv",
    ),
    "graph": ("swing.robot.yaml", "--resolution", "30deg", "--voxel", "0.2"),
}
