"""Motions by name: mappings, tables and files say the same."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, UnknownName


def test_commands_by_name_from_a_mapping_a_table_and_a_file(tmp_path):
    machine = lw.load("four-bar")
    time = np.linspace(0.0, 1.0, 51)
    table = pandas.DataFrame({"time": time, "crank": 2 * np.pi * time})
    table.to_csv(tmp_path / "crank.csv", index=False)
    table.rename(columns={"crank": "command.crank"}).to_csv(tmp_path / "command.csv", index=False)
    expected = machine.analyse({"time": time, "c": 2 * np.pi * time[:, None]})["actuator.crank"]
    given = (
        dict(table),
        table,
        str(tmp_path / "crank.csv"),
        tmp_path / "crank.csv",
        str(tmp_path / "command.csv"),
    )
    for motion in given:
        np.testing.assert_allclose(
            machine.analyse(motion)["actuator.crank"], expected, rtol=1e-9, atol=1e-9
        )


def test_what_results_write_is_read_again(tmp_path):
    robot = lw.load("ur5e")
    line = lw.trajectory.line(
        robot, "tool0", lw.pose((0, 0.1, 0)) @ robot.pose(robot.home, "tool0"), speed=0.5
    )
    expected = robot.analyse(line.motion)["actuator.elbow_joint"]
    for motion in (line.to_csv(tmp_path / "line.csv"), line.to_pandas()):
        np.testing.assert_array_equal(robot.analyse(motion)["actuator.elbow_joint"], expected)


def test_what_is_missing_is_named(tmp_path):
    robot, time = lw.load("ur5e"), np.linspace(0.0, 1.0, 11)
    with pytest.raises(UnknownName, match=r'there is no column "q\.shoulder_pan_joint"'):
        robot.analyse({"time": time, "q.elbow_joint": time})
    with pytest.raises(UnknownName, match='motion has "krank"; did you mean "crank"'):
        lw.load("four-bar").analyse({"time": time, "krank": time})
    (tmp_path / "back.csv").write_text("time,crank\n0,0\n1,1\n0.5,2\n")
    with pytest.raises(InvalidFile, match=r"back\.csv:4: time does not grow"):
        lw.load("four-bar").analyse(tmp_path / "back.csv")


def test_a_file_of_time_alone_is_told(tmp_path):
    (tmp_path / "time.csv").write_text("time\n0\n1\n")
    with pytest.raises(InvalidFile, match='no column beside "time"'):
        lw.load("ur5e").analyse(tmp_path / "time.csv")


def test_a_motion_that_knew_no_robot_is_read_by_its_order(tmp_path):
    arm = lw.load("ur5e")
    law = lw.trajectory.quintic(arm.home, arm.home + [1.0, 0.3, -0.4, 0.0, 0.0, 0.0], duration=0.5)
    expected = arm.analyse(law.motion)
    for motion in (law.to_csv(tmp_path / "law.csv"), law.to_pandas()):
        np.testing.assert_allclose(
            arm.analyse(motion)["actuator.elbow_joint"], expected["actuator.elbow_joint"], atol=1e-9
        )
    short = law.to_pandas().drop(columns="q[5]")
    with pytest.raises(UnknownName, match=r'there is no column "q\.wrist_3_joint"'):
        arm.analyse(short)
