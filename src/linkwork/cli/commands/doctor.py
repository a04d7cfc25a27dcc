"""linkwork doctor: what machine this is, what is cached, and whether results are right here."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.progress import working
from linkwork.engine import cache, machine, python_call
from linkwork.errors import ComputationError

PACKAGES = (
    "linkwork",
    "numpy",
    "scipy",
    "casadi",
    "llvmlite",
    "viser",
    "trimesh",
    "matplotlib",
    "pyarrow",
    "pin",
    "mujoco",
)


def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Remove every compiled object.")
    ] = False,
) -> Answer:
    """Show CPU, vector width, cache and versions, and run a self-test.

    Example:  linkwork doctor --clear-cache
    """
    removed = {"removed objects": cache.clear()} if clear_cache else {}
    with working("self-test"):
        verdict = _self_test()
    facts = {
        **removed,
        "cpu": machine.cpu()[0],
        "vector width": machine.widths()[0],
        "threads": lw.threads(),
        "compiled single calls": python_call.available(),
        "cache folder": str(cache.folder() or "off"),
        "cache size [MB]": round(cache.size() / 2**20, 2),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "self-test": verdict,
    }
    return Answer(facts, [Table("linkwork doctor", ("what", "value"), list(facts.items()))])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _self_test() -> str:
    """Machine code against CasADi's own evaluation, at every width; raises if they differ."""
    robot = lw.load("ur5e")
    q, v, a = (np.random.default_rng(k).normal(size=(9, robot.nv)) for k in range(3))
    reference = robot.function("inverse_dynamics")
    expected = np.array([np.array(reference(*row)).ravel() for row in zip(q, v, a, strict=True)])
    batch = robot.inverse_dynamics(q, v, a)
    single = np.array([robot.inverse_dynamics(*row) for row in zip(q, v, a, strict=True)])
    error = float(np.abs(batch - expected).max())
    if error > 1e-10 or not np.array_equal(batch, single):
        raise ComputationError(f"self-test: machine code differs from CasADi by {error:g}")
    return f"passed (largest difference {error:.1e} N m)"
