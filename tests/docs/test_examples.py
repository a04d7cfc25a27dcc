"""Every example runs headless, from any folder, and leaves what it says it writes."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import urllib.request

import matplotlib
import pytest

from tests.docs.code_blocks import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_ten():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr("sys.argv", [example.name])
    matplotlib.use("Agg")
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()
    promised = re.search(r'"""(.*?)"""', example.read_text("utf-8"), re.S)[1]
    for name in re.findall(r"\bout/[\w.-]+\.(?:png|csv|html|yaml|urdf)", promised):
        least = 100_000 if name.endswith(".html") else 1  # a page carries what draws it
        assert (tmp_path / name).stat().st_size >= least, f"{example.name} promises {name}"


def test_the_demo_serves_unless_told_otherwise():
    served = runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="demo")["served"]
    assert served([], {}) and served([], {"CI": "false"})
    assert not served(["--no-serve"], {}) and not served([], {"CI": "true"})


SERVING = """
import runpy, sys
from linkwork.view import drawing, report
drawing.draw_picture = report.write_report = lambda *_, **__: None
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""
"""The demo without its pictures and its page, which `test_example_runs` sees written."""


def test_the_demo_plays_the_motion_until_it_is_interrupted(tmp_path):
    environment = {
        k: v for k, v in os.environ.items() if k not in ("CI", "DISPLAY", "WAYLAND_DISPLAY")
    }
    process = subprocess.Popen(
        [sys.executable, "-c", SERVING, str(ROOT / "examples" / "demo.py")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment,
    )  # fmt: skip
    try:
        said = ""
        while "Ctrl-C ends" not in said:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        address = re.search(r"http://127\.0\.0\.1:\d+", said)[0]
        with urllib.request.urlopen(address, timeout=600) as answer:
            assert answer.status == 200 and b"<html" in answer.read().lower()
    finally:
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=600)
    assert process.returncode == 0 and "ended" in rest and "Traceback" not in errors
    assert "paper" in said and (tmp_path / "out" / "charmie.csv").stat().st_size > 100_000
