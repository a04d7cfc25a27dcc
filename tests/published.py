"""Published robots: every URDF of example-robot-data that Pinocchio loads, by a short name."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

FOLDER = Path(
    str(
        distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
    )
)

WITHOUT_LINKS = FOLDER / "ur_description" / "urdf" / "ur3.urdf"
"""The 69th: what xacro made of a file of macros, an empty robot. Nothing can load it."""

URDFS = {
    f"{path.relative_to(FOLDER).parts[0].removesuffix('_description')}/{path.stem}": path
    for path in sorted(FOLDER.rglob("*.urdf"))
    if path != WITHOUT_LINKS
}
