"""What commands say is what the library says, and what they refuse they refuse with a sentence."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import linkwork as lw
from tests.cli.runs import COMMAND, FULL_DISK, LEVER, run, shared_server


@pytest.fixture(scope="module")
def server():
    return shared_server()


def test_robots_are_listed_for_machines(server):
    done = server.run("robots", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == lw.robots()


def test_forward_kinematics_equals_the_library(server):
    done = server.run(
        "fk", "ur5e", "--q", "0.1 -90deg 1.2 0 0.4 0", "--frame", "wrist_3_link", "--json"
    )
    assert done.returncode == 0, done.stderr
    robot = lw.load("ur5e")
    expected = robot.pose(np.array([0.1, -np.pi / 2, 1.2, 0, 0.4, 0]), "wrist_3_link")
    np.testing.assert_allclose(json.loads(done.stdout)["pose"], expected, atol=1e-15)


def test_rounding_is_not_shown_to_people(server):
    at = ("ur5e", "--q", "0 -90deg 0 0 0 0")
    assert "e-1" not in server.run("fk", *at).stdout and "0.5875" in server.run("fk", *at).stdout
    assert "e-1" not in server.run("fk", *at, "--frame", "tool0").stdout
    assert "e-1" in server.run("fk", *at, "--json").stdout  # machines get every digit


def test_inverse_dynamics_equals_the_library(server):
    done = server.run("id", "ur5e", "--q", "elbow_joint=0.3", "--a", "1 0 0 0 0 0", "--json")
    robot = lw.load("ur5e")
    expected = robot.inverse_dynamics(robot.q(elbow_joint=0.3), np.zeros(6), np.eye(6)[0])
    np.testing.assert_allclose(json.loads(done.stdout)["tau"], expected, rtol=1e-15)


@pytest.mark.parametrize(
    "command", [("info", "ur5e"), ("fk", "arm-2"), ("check", "ur5e"), ("doctor",), ("--help",)]
)
def test_commands_speak_to_people(command):
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not done.stderr


def test_analysis_writes_its_columns(server, tmp_path):
    done = server.run(
        "analyse", "charmie", "--motion", "validation", "--out", str(tmp_path / "new"), "--json"
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    header = (tmp_path / "new" / "charmie-validation.csv").read_text().splitlines()[0].split(",")
    assert header == facts["columns"] and facts["actuators"]["act5"]["peak"] == pytest.approx(
        263.9, abs=0.1
    )


def test_conversion_round_trip(server, tmp_path):
    done = server.run("convert", "arm-6", str(tmp_path / "a.urdf"))
    assert done.returncode == 0, done.stderr
    first, second = lw.load("arm-6"), lw.load(tmp_path / "a.urdf")
    q = first.random(5, seed=0)
    np.testing.assert_allclose(second.gravity_torque(q), first.gravity_torque(q), atol=1e-12)


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (("info", "ur5ee"), 3, 'did you mean "ur5e"'),
        (("fk", "ur5e", "--frame", "tol"), 3, 'no frame "tol"'),
        (("fk", "ur5e", "--q", "1 2 3"), 5, "got 3 numbers, expected 6"),
        (("fk", "ur5e", "--q", "1 2 3 4 5 six"), 5, "'six' is not a number"),
        (("fk", "ur5e", "--q", "elbov_joint=1"), 3, 'did you mean "elbow_joint"'),
        (("id", "charmie-2022"), 1, "kinematic only"),
        (("analyse", "ur5e"), 5, "has no named motions"),
        (("reproduce", "99"), 3, 'no cases for paper "99"'),
        (("convert", "ur5e", "x.step"), 1, "x.step"),
        (("inof",), 2, "No such command 'inof'; did you mean \"info\"? linkwork --help tells more"),
        (("study", "swep"), 2, 'did you mean "sweep"?'),
        (("fk", "ur5e", "--fram", "x"), 2, 'did you mean "--frame"?'),
        (("fk",), 2, "Missing argument 'ROBOT'; linkwork fk --help tells more"),
        (
            ("study", "sweep", "charmie", "--vary", "torso=1", "--column", "actuator.act5"),
            5,
            "variable=first:last:count",
        ),
        (("minimum-time", "ur5e", "--through", "neutral"), 5, "expected at least 2"),
        (("report", "charmie", "--motion", "validatoin"), 3, 'did you mean "validation"'),
        (("new", "arm.yaml"), 5, "ends in .robot.yaml"),
        (("simulate", "ur5e", "--control", "held"), 5, "hold"),
    ],
)
def test_errors_are_one_sentence_and_a_code(command, code, says, server, tmp_path):
    done = server.run(*command, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in " ".join(done.stderr.split()) and "Traceback" not in done.stderr


def test_a_broken_file_is_named_with_its_line(server, tmp_path):
    (tmp_path / "a.urdf").write_text(
        '<robot name="a">\n<link name="l"/>\n<joint name="j" type="screw"/>\n</robot>'
    )
    done = server.run("check", "a.urdf", cwd=tmp_path)
    assert done.returncode == 4
    assert "a.urdf:3" in done.stderr.replace("\n", "")
    debug = server.run("--debug", "check", "a.urdf", cwd=tmp_path)
    assert "Traceback" in debug.stderr


def test_a_target_that_is_a_folder_is_a_sentence(server, tmp_path):
    (tmp_path / "a.urdf").mkdir()
    done = server.run("convert", "arm-2", str(tmp_path / "a.urdf"))
    assert done.returncode == 1 and "is a folder" in " ".join(done.stderr.split())


def test_every_posture_and_an_exit_code_for_none(server):
    robot = lw.load("ur5e")
    target = ("--xyz", "0.4 0.1 500mm", "--rpy", "180deg 0 0", "--frame", "tool0")
    done = server.run("ik", "ur5e", *target, "--all", "--json")
    assert done.returncode == 0, done.stderr
    T = np.array([[1, 0, 0, 0.4], [0, -1, 0, 0.1], [0, 0, -1, 0.5], [0, 0, 0, 1]])
    postures = np.array(json.loads(done.stdout)["q"])
    assert postures.shape == (8, 6)
    np.testing.assert_allclose(
        robot.pose(postures, "tool0"), np.broadcast_to(T, (8, 4, 4)), atol=1e-12
    )
    away = server.run("ik", "ur5e", "--xyz", "5 0 0", "--frame", "tool0")
    assert away.returncode == 1 and "out of reach" in away.stdout


def test_a_simulation_that_holds_its_start(server, tmp_path):
    done = server.run(
        "simulate",
        "arm-2",
        "--q",
        "random",
        "--duration",
        "0.5",
        "--control",
        "hold",
        "--out",
        "a.csv",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    table = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True, deletechars="")
    robot = lw.load("arm-2")
    np.testing.assert_allclose(table[f"q.{robot.joints[1]}"], robot.random(seed=0)[1], atol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "delta", "stewart-gough"])
def test_mechanisms_start_where_their_loops_close(name, server):
    done = server.run("simulate", name, "--duration", "0.01", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["energy_off"] < 1e-9


def test_the_other_joints_of_a_loop_follow_those_that_are_named(server):
    robot = lw.load("four-bar")
    found = json.loads(server.run("id", "four-bar", "--q", "crank=0.7", "--json").stdout)
    q = np.array(found["q"])
    assert q[0] == pytest.approx(0.7, abs=1e-12) and np.abs(q).max() < np.pi
    assert robot.assemble(q).error < 1e-10
    assert found["actuators"]["crank"] == pytest.approx(
        float(robot.loads(q, np.zeros(3), np.zeros(3)).actuator("crank"))
    )
    table = server.run("id", "four-bar", "--q", "crank=0.7").stdout
    assert (
        "forces of the actuators of four-bar" in table
        and f"{found['actuators']['crank']:.6g}" in table
    )
    lying = server.run("id", "stewart-gough", "--q", "neutral")  # its struts lie flat
    assert lying.returncode == 0 and "cannot hold" in lying.stdout
    away = server.run("fk", "four-bar", "--q", "crank=0.7 rocker=-2")
    assert away.returncode == 5 and "--q" in away.stderr


def test_studies_answer_as_the_library(server):
    done = server.run(
        "study",
        "sweep",
        "charmie",
        "--vary",
        "torso_spring=0:2000:5",
        "--column",
        "actuator.act5",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    peaks = found["results"]["actuator.act5.peak"]
    assert peaks[0] == pytest.approx(
        np.abs(lw.load("charmie").analyse("validation", steps=1000)["actuator.act5"]).max()
    )
    assert found["best"]["actuator.act5.peak"] == 3
    done = server.run(
        "study", "balance", "charmie", "--variable", "torso_spring", "--actuator", "act5", "--json"
    )
    # beside the best of the sweep, 1500
    assert 1500 < json.loads(done.stdout)["variables"]["torso_spring"] < 1600
    done = server.run("study", "actuators", "charmie", "--json")
    assert {row["actuator"]: row["kind"] for row in json.loads(done.stdout)["actuators"]}[
        "act5"
    ] == "linear"


def test_motors_are_chosen_for_a_cycle_from_a_file_with_something_in_the_hand(server, tmp_path):
    arm = lw.load("ur5e")
    law = lw.trajectory.quintic(arm.home, arm.home + [1.0, 0.3, -0.4, 0.0, 0.0, 0.0], duration=0.8)
    law.to_csv(tmp_path / "cycle.csv")
    done = server.run(
        "study",
        "actuators",
        "ur5e",
        "--motion",
        "cycle.csv",
        "--payload",
        "5",
        "--json",
        cwd=tmp_path,
    )
    rows = {row["actuator"]: row for row in json.loads(done.stdout)["actuators"]}
    (duty,) = [
        d
        for d in lw.studies.duties(arm, law, payload=lw.Payload("tool0", 5.0))
        if d.name == "elbow_joint"
    ]
    assert rows["elbow_joint"]["peak"] == pytest.approx(duty.peak, rel=1e-6)
    assert "give a file: --motion path.csv" in server.run("study", "actuators", "ur5e").stderr


def test_the_fastest_motion_uses_a_limit_everywhere(server):
    ends = ("--through", "0 -1 1 0 0 0", "--through", "1 -1.5 0.5 0 0 0")
    found = json.loads(server.run("minimum-time", "ur5e", *ends, "--json").stdout)
    assert 0.2 < found["duration"] < 0.4
    assert max(found["peak_torque"][:2]) == pytest.approx(
        lw.load("ur5e").limits.effort[1], rel=1e-3
    )


def test_a_new_robot_is_valid_and_is_not_written_over(server, tmp_path):
    done = server.run(
        "new",
        "arm.robot.yaml",
        "--joints",
        "rrp",
        "--length",
        "300mm",
        "--mass",
        "1.5",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    robot = lw.load(tmp_path / "arm.robot.yaml")
    assert robot.nv == 3
    np.testing.assert_allclose(robot.pose(robot.neutral(), "tool")[:3, 3], [0, 0, 0.9], atol=1e-12)
    before = (tmp_path / "arm.robot.yaml").read_text()
    again = server.run(
        "new", "arm.robot.yaml", "--joints", "r", "--length", "1", "--mass", "1", cwd=tmp_path
    )
    assert again.returncode == 5 and (tmp_path / "arm.robot.yaml").read_text() == before


def test_a_full_disk_leaves_the_old_file(server, tmp_path):
    (tmp_path / "a.html").write_text("old")
    done = server.run("report", "arm-2", "--out", "a.html", cwd=tmp_path, before=FULL_DISK)
    assert done.returncode == 1 and "No space left on device" in done.stderr
    assert (tmp_path / "a.html").read_text() == "old" and [p.name for p in tmp_path.iterdir()] == [
        "a.html"
    ]


def test_ctrl_c_is_quiet_from_the_first_instant():
    """While modules are still imported, too: that takes half a second after the first handler is
    there."""
    code = """
import signal, sys
real = signal.signal
def told(number, handler):
    before = real(number, handler)
    print("ready", flush=True)
    return before
signal.signal = told
from linkwork_command import main
main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, "reproduce"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130 and errors.strip() == "interrupted"


def test_an_interrupt_that_is_swallowed_is_heard_again(server, tmp_path):
    """Foreign code in between may drop it, as this loop does once."""
    before = """
import signal, sys, time
import linkwork.library
def load(*_, **__):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        pass
    time.sleep(600)
    print("nobody heard", file=sys.stderr)
linkwork.load = linkwork.library.load = load
"""
    done = server.run("fk", "arm-2", cwd=tmp_path, before=before)
    assert done.returncode == 130 and done.stderr.strip() == "interrupted"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("linkwork inf", "info"),
        ("linkwork info ur5", "ur5e"),
        ("linkwork reproduce 1", "14"),
        ("linkwork convert qua", "quadruped"),
        ("linkwork study sw", "sweep"),
    ],
)
def test_the_shell_completes(line, offered):
    environment = os.environ | {
        "_LINKWORK_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    done = subprocess.run([*COMMAND], capture_output=True, text=True, env=environment, check=False)
    assert offered in done.stdout.split(), done.stderr


@pytest.mark.parametrize(
    ("line", "at", "imported"),
    [
        ("linkwork inf", 1, None),
        ("linkwork info", 1, None),
        ("linkwork info ur5e", 1, None),
        ("linkwork info ", 2, "info"),
        ("linkwork --debug study sw", 3, "study"),
    ],
)
def test_the_shell_waits_for_one_command_where_its_word_is_there(line, at, imported, monkeypatch):
    from linkwork.cli.application import _asked_for

    monkeypatch.setenv("_LINKWORK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(at))
    assert _asked_for() == imported
    if len(line.split(" ")) == at + 1:  # nothing behind the cursor: all that other shells tell
        monkeypatch.delenv("COMP_WORDS")
        monkeypatch.delenv("COMP_CWORD")
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        assert _asked_for() == imported


HELP_ALONE = """
from linkwork.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
drawing = sorted({name.partition(".")[0] for name in sys.modules} & {"rich", "pygments", "markdown_it"})
assert drawing == [], drawing
"""


def test_the_list_of_commands_says_what_the_commands_say():
    """The list is read from the files; a command that is loaded has the same words."""
    import inspect

    from linkwork.cli.application import _file, _told, commands

    told = {
        word: sentences
        for module in set(commands().values())
        for word, sentences in _told(_file(module)).items()
    }
    assert sorted(told) == list(commands())
    for word, module in commands().items():
        brought = importlib.import_module(module)
        grouped = getattr(brought, "GROUP", None) == word
        command = brought if grouped else _function(brought, word)
        assert told[word] == inspect.getdoc(command)


def _function(module, word):
    return next(f for name, f in vars(module).items() if name.strip("_") == word.replace("-", "_"))


LISTED = """
import sys
from linkwork.cli.application import main
sys.argv = ["linkwork", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print([name for name in sys.modules if "commands" in name.split(".")], file=sys.stderr)
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_the_list_of_commands_imports_none_of_them(words):
    done = subprocess.run(
        [sys.executable, "-c", LISTED, *words], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        (["robots"], "robots"),
        (["--debug", "robots"], "robots"),
        (["--", "robots"], "robots"),
        (["--help", "robots"], None),
        (["robts"], None),
        ([], None),
    ],
)
def test_the_command_that_is_typed_is_the_one_that_is_loaded(typed, word, monkeypatch):
    from linkwork.cli.application import _asked_for

    monkeypatch.delenv("_LINKWORK_COMPLETE", raising=False)
    monkeypatch.setattr(sys, "argv", ["linkwork", *typed])
    assert _asked_for() == word


def test_every_help_page_has_an_example():
    from linkwork.cli.application import app, load_commands

    load_commands()
    groups = [app, *(group.typer_instance for group in app.registered_groups)]
    commands = [command for group in groups for command in group.registered_commands]
    assert len(commands) >= 18
    assert all(
        re.search(r"Examples?:  linkwork ", command.callback.__doc__ or "") for command in commands
    )


def test_help_pages_have_no_marks_of_a_drawing_library():
    """Units stand in brackets as they are: nothing escapes them any more."""
    from typer.main import get_command

    from linkwork.cli.application import app, load_commands

    load_commands()
    commands = [get_command(app)]
    texts = []
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        texts += [
            parameter.help for parameter in command.params if getattr(parameter, "help", None)
        ]
    assert len(texts) > 60
    assert [text for text in texts if "\\" in text or "[/" in text] == []


def test_help_pages_do_not_load_what_draws_tables():
    """They would start at half the speed."""
    code = "import sys; sys.argv = ['linkwork', 'report', '--help']\n" + HELP_ALONE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage: linkwork report" in done.stdout and "Example:  linkwork report" in done.stdout


def test_help_is_wide_enough_to_name_every_command_in_a_sentence():
    page = run("--help").stdout
    assert "..." not in page.partition("Commands:")[2]
    assert max(map(len, page.splitlines())) <= 100


def test_info_knows_what_there_is_to_know(server):
    found = json.loads(server.run("info", "ur5e", "--json").stdout)
    assert (
        found["nv"] == 6 and found["mass"] == pytest.approx(17.7) and len(found["dh"]["rows"]) == 6
    )
    assert (
        found["dh"]["rows"][1]["a"] == pytest.approx(-0.425)
        and found["inverse_kinematics"]["family"] == "ur"
    )
    robot = lw.load("ur5e")
    robot.prepare("inverse_dynamics")
    assert found["kernels"]["inverse_dynamics"] == next(iter(robot.kernels.values())).operations
    assert found["joints"][1]["effort"] == [150.0] and found["bodies"][2]["name"] == robot.bodies[2]
    shown = server.run("info", "ur5e").stdout
    for words in (
        "└── base",
        "6 degrees of freedom",
        "DH table",
        "17.7 kg",
        "operations a sample",
        "UR/TM type",
        "-6.28319",
    ):
        assert words in shown


def test_what_is_not_given_is_asked(tmp_path):
    done = subprocess.run(
        [*COMMAND, "new", "asked.robot.yaml"],
        input="rrp\n250mm\n1.2\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    # a default in brackets for each question
    assert done.returncode == 0 and done.stdout.count("[") >= 3, done.stderr
    robot = lw.load(tmp_path / "asked.robot.yaml")
    assert [robot.model.joint(n).type for n in robot.joints] == [
        "revolute",
        "revolute",
        "prismatic",
    ]
    np.testing.assert_allclose(robot.pose(robot.neutral(), "tool")[:3, 3], [0, 0, 0.75], atol=1e-12)


def test_nobody_there_to_answer(server, tmp_path):
    done = server.run("new", "asked.robot.yaml", cwd=tmp_path)
    assert (
        done.returncode == 130 and "Traceback" not in done.stderr and not list(tmp_path.iterdir())
    )


def test_a_missed_number_is_shown_and_counts(server, tmp_path):
    """One published number of paper 15 is fed wrong by one per cent."""
    wrong = """
from linkwork.reproduce import paper_15
angles, det, distance = paper_15.SELECTED[1]
paper_15.SELECTED[1] = ((angles[0] * 1.01, *angles[1:]), det, distance)
"""
    done = server.run("reproduce", "15", "--failed", cwd=tmp_path, before=wrong)
    # both algorithms choose it
    assert done.returncode == 1 and "MISSED" in done.stdout and "184 of 186" in done.stdout
    right = server.run("reproduce", "15", "--failed", cwd=tmp_path)
    assert right.returncode == 0 and "MISSED" not in right.stdout and "186 of 186" in right.stdout


def test_an_output_that_is_full_is_a_sentence(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "robots"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1 and done.stderr.strip() == "error: No space left on device"


def test_a_motion_from_a_file_is_analysed(server, tmp_path):
    """What `minimum-time` writes goes into `analyse` and `report`."""
    ends = ("--through", "0 -1 1 0 0 0", "--through", "1 -1.5 0.5 0 0 0")
    assert (
        server.run("minimum-time", "ur5e", *ends, "--out", "fast.csv", cwd=tmp_path).returncode == 0
    )
    done = server.run(
        "analyse", "ur5e", "--motion", "fast.csv", "--out", "loads", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    given = np.genfromtxt(tmp_path / "fast.csv", delimiter=",", names=True, deletechars="")
    robot = lw.load("ur5e")
    q, v, a = (np.column_stack([given[f"{x}.{joint}"] for joint in robot.joints]) for x in "qva")
    peaks = [fact["peak"] for fact in json.loads(done.stdout)["actuators"].values()]
    np.testing.assert_allclose(
        peaks, np.abs(robot.inverse_dynamics(q, v, a)).max(axis=0), rtol=1e-9
    )
    spreadsheets = b"\xef\xbb\xbf" + (tmp_path / "fast.csv").read_bytes() + b"\n\n"
    (tmp_path / "fast.csv").write_bytes(spreadsheets)  # a mark in front, blank lines behind
    assert server.run("report", "ur5e", "--motion", "fast.csv", cwd=tmp_path).returncode == 0
    assert "ur5e, motion fast" in (tmp_path / "ur5e.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "time,q.hing\n0,1\n1,2\n",
            'a.csv:1: there is no column "q.hinge"; did you mean "q.hing"?',
        ),
        ("t,q.hinge\n0,1\n1,2\n", 'a.csv:1: there is no column "time"'),
        ("time,q.hinge\n0,1\n1,x\n", "a.csv:3: expected 2 numbers"),
        ("time,q.hinge\n0,1\n1\n", "a.csv:3: expected 2 numbers"),
        ("time,q.hinge\n0,1\n0,2\n", "a.csv:3: time does not grow"),
        ("time,q.hinge\n0,1\n", "a.csv: has 1 rows below its header"),
    ],
)
def test_a_motion_file_is_refused_with_its_line(text, says, server, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    done = server.run("analyse", str(LEVER), "--motion", "a.csv", cwd=tmp_path)
    assert done.returncode == 4 and says in done.stderr, done.stderr
