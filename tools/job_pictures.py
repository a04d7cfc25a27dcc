"""Run the job pages that show pictures, and keep in docs/images what their code draws.

python tools/job_pictures.py [page ...]      pages by their names: crank-torque, workspace, ...; left out: all
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.docs.code_blocks import PAGES, pictures, run  # noqa: E402


def main(wanted: list[str]) -> None:
    for page in PAGES:
        if page.parent.name != "jobs" or not pictures(page) or (wanted and page.stem not in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            run(page, Path(folder), patch)
            for name in pictures(page):
                shutil.copy(Path(folder) / name, ROOT / "docs" / "images" / name)
                print(f"docs/images/{name}")


if __name__ == "__main__":
    main(sys.argv[1:])
