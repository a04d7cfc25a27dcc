"""The commands of this room, with arguments under which they work; see tests/cli/runs.py."""

COMMANDS = {
    "collide": ("lever.robot.yaml", "--motion", "lift", "--steps", "5"),
    "pairs": ("lever.robot.yaml", "--samples", "100", "--out", "{out}.srdf"),
    "fit": ("lever.robot.yaml", "--spheres", "--out", "{out}.robot.yaml"),
}
