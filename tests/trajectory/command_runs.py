"""The command of this room, with arguments under which it works; see tests/cli/runs.py."""

COMMANDS = {
    "minimum-time": (
        *("lever.robot.yaml", "--through", "neutral", "--through", "0.5", "--torque", "50"),
        *("--points", "51", "--out", "{out}.csv"),
    ),
}
