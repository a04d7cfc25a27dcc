"""Job pages: each says how the peer does it, and is never longer than the peer."""

from __future__ import annotations

import re

import pytest

from tests.docs.code_blocks import ROOT

JOBS = ROOT / "docs" / "jobs"
BESIDE = sorted(page.name for page in JOBS.glob("*.md") if "\n## With " in page.read_text("utf-8"))


def code_lines(part: str, languages: str) -> int:
    """Lines of the first block of code in a part of a page, without blank lines and comments."""
    block = re.search(rf"```(?:{languages})\n(.*?)```", part, re.S)
    assert block is not None
    lines = [line.strip() for line in block[1].splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


TWELVE = (
    *(
        "draw-my-robot",
        "reach-a-pose",
        "straight-line",
        "computed-torque",
        "payload",
        "motor-sizing",
    ),
    *(
        "crank-torque",
        "workspace",
        "identify",
        "to-mujoco",
        "optimal-control",
        "ten-thousand-designs",
    ),
)


def test_the_twelve_everyday_jobs_stand_beside_a_peer():
    assert {f"{name}.md" for name in TWELVE} <= set(BESIDE)


@pytest.mark.parametrize("name", TWELVE)
def test_a_job_ends_in_a_picture_or_a_table_that_the_page_shows(name):
    here = (JOBS / f"{name}.md").read_text("utf-8").split("\n## With ")[0]
    assert "<img src=" in here or "\n```text\n" in here


@pytest.mark.parametrize("name", BESIDE)
def test_a_job_is_never_longer_than_the_peers(name):
    here, peer = re.split(r"^## With .*$", (JOBS / name).read_text("utf-8"), maxsplit=1, flags=re.M)
    assert code_lines(here.split("## Here")[1], "python") <= code_lines(peer, "text|python|matlab")
