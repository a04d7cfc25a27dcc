"""The commands of this room, with arguments under which they work; see tests/cli/runs.py."""

COMMANDS = {
    "study sweep": (
        *("lever.robot.yaml", "--vary", "pull=0:200:3", "--column", "actuator.hinge"),
        *("--steps", "5", "--out", "{out}.csv"),
    ),
    "study balance": ("lever.robot.yaml", "--variable", "pull", "--poses", "3"),
    "study actuators": ("lever.robot.yaml",),
}
