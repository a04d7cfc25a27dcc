""".robot.yaml: linkwork's own format, with variables, chains, closed-loop elements and motions."""

from linkwork.formats.robot_yaml.description import Description, read_robot_yaml
from linkwork.formats.robot_yaml.vocabulary import json_schema
from linkwork.formats.robot_yaml.write import robot_yaml_text, write_robot_yaml

__all__ = ["Description", "json_schema", "read_robot_yaml", "robot_yaml_text", "write_robot_yaml"]
