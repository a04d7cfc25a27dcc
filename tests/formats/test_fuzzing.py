"""Files from nowhere: every reader, damaged and generated inputs,
nothing opened outside the given folder.

A few hundred here; `python -m tests.formats.fuzzing 30000` runs as many as one likes.
"""

from __future__ import annotations

import os

from tests.formats.fuzzing import MAKERS, house, run, watched


def test_every_reader_answers_with_a_robot_or_its_own_error(tmp_path):
    found = run(600, tmp_path)
    assert sum(found.values()) == 600
    robots = {key[:2] for key in found if key[2] == "robot"}
    # the damage leaves some files whole
    assert {kind for kind in MAKERS if kind[0] == "damaged"} <= robots
    # of 60: what is made for the comparison with MuJoCo can be read
    assert found["generated", ".xml", "robot"] > 18


def test_the_watch_would_see_a_decoy_being_opened(tmp_path):
    inner = house(tmp_path)
    with watched() as opened:
        (inner / "link.stl").read_bytes()
    assert opened == [str(inner / "link.stl")]
    assert os.path.realpath(opened[0]) == str(tmp_path / "decoy.stl")
