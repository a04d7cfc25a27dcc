"""Kinds of elements: a class and its place in `Element` are all that reader, writer,
schema and checks ask for."""

from __future__ import annotations

import subprocess
import sys

TOY = '''
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from linkwork.errors import LinkworkError
from linkwork.model import element_checks, elements
from linkwork.model.element_fields import JOINT, Role


@dataclass(frozen=True, slots=True)
class Brake:
    """A brake that holds a joint."""

    word: ClassVar[str] = "brake"
    name: str
    joint: Annotated[str, JOINT, "the joint that it holds"]
    torque: Annotated[float, Role("number", "torque", "positive"), "what it holds"] = 1.0
    assumed: bool = False
    note: str = field(default="", compare=False)


elements.KINDS["brake"] = Brake  # what these two say of a class that stands in the file
element_checks.Element = elements.Element | Brake

from linkwork.formats.robot_yaml.description import Description
from linkwork.formats.robot_yaml.vocabulary import json_schema
from linkwork.formats.robot_yaml.write import robot_yaml_text

TEXT = """
linkwork: 1
name: held
units: {length: mm}
bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}
joints: {elbow: {type: revolute, child: arm}}
elements: {stop: {type: brake, joint: elbow, torque: 2.5 N*m}}
"""

def refusal(old, new):
    try:
        Description(TEXT.replace(old, new)).build()
    except LinkworkError as error:
        return str(error)

model = Description(TEXT).build()
assert model.elements == (Brake("stop", "elbow", 2.5),), model.elements
assert Description(robot_yaml_text(model)).build().elements == model.elements
assert "A brake that holds a joint" in str(json_schema())
assert "expected a positive number" in refusal("2.5", "-2.5")
assert 'did you mean "elbow"' in refusal("joint: elbow", "joint: elbo")
assert 'did you mean "torque"' in refusal("torque:", "torqe:")
print("one declaration")
'''


def test_a_kind_of_element_is_declared_once():
    run = subprocess.run([sys.executable, "-c", TOY], capture_output=True, text=True, check=False)
    assert run.stdout == "one declaration\n", run.stderr
