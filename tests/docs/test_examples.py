"""Every example runs headless, from any folder, and leaves what it says it writes."""

from __future__ import annotations

import re
import runpy

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
        assert (tmp_path / name).stat().st_size > 0, f"{example.name} promises {name}"
