"""How many nanoseconds does one value of an elementary function take, at each vector width,
beside numpy?

    python -m benchmarks.elementary [name ...]

One thread, arrays of 2048 values in the cache, the best of 30 rounds with the cost of calling the
loop taken off. Every row is first compared with numpy's long double.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy.special

from linkwork.engine.elementary import FUNCTIONS
from linkwork.errors import UnknownName, did_you_mean
from tests.engine.elementary_loops import WIDTHS, evaluate, loop, results_of

COUNT, CALLS, ROUNDS = 2048, 100, 30

PEERS: dict[str, Callable[..., np.ndarray | tuple[np.ndarray, ...]]] = {
    "sincos": lambda x: (np.sin(x), np.cos(x)),
    **{
        f"a{name}": getattr(np, f"arc{name}")
        for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")
    },
    "pow": np.power,
    "remainder": lambda x, y: x - y * np.rint(x / y),  # rounds, where ours is exact
    "erf": scipy.special.erf,
}


def peer(name: str) -> Callable[..., np.ndarray | tuple[np.ndarray, ...]]:
    """What numpy offers for the same."""
    return PEERS.get(name) or getattr(np, name)


def ordinary(name: str) -> list[np.ndarray]:
    """Arguments as programs have them: angles of some turns, numbers around one."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=COUNT) * 3, rng.normal(size=COUNT)
    if name in ("log", "log1p", "pow", "sqrt"):
        x = np.abs(x)
    if name in ("asin", "acos", "atanh"):
        x = np.tanh(x)
    if name == "acosh":
        x = 1 + np.abs(x)
    return [x, y][: FUNCTIONS[name]]


def check(name: str, arguments: list[np.ndarray]) -> None:
    """Compare with long double, erf with scipy's double."""
    exact = arguments if name == "erf" else [a.astype(np.longdouble) for a in arguments]
    for result, truth in zip(
        evaluate(name, 4, *arguments), np.atleast_2d(peer(name)(*exact)), strict=True
    ):
        error = np.abs(result - truth) / np.spacing(np.abs(truth.astype(float)))
        assert np.max(error) < 5, f"{name} is {np.max(error)} ulp off"


def best(*calls: Callable[[], object]) -> list[float]:
    """Seconds of each call, the least of all rounds;
    rounds take turns so that all meet the same disturbances."""
    times = [math.inf] * len(calls)
    for _, (k, call) in itertools.product(range(ROUNDS), enumerate(calls)):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        times[k] = min(times[k], (time.perf_counter() - start) / CALLS)
    return times


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy that starts on a cache line, so that no vector crosses one."""
    room = np.empty(len(array) + 8)
    start = -(room.ctypes.data // 8) % 8
    room[start : start + len(array)] = array
    return room[start : start + len(array)]


def nanoseconds(name: str, width: int, arguments: list[np.ndarray]) -> float:
    """Time of one value: that of a long loop less that of a short one."""
    arrays = [aligned(a) for a in arguments] + [
        aligned(arguments[0]) for _ in range(results_of(name))
    ]
    code, addresses = loop(name, width), [a.ctypes.data for a in arrays]
    long, short = best(lambda: code(COUNT, *addresses), lambda: code(8, *addresses))
    return (long - short) / (COUNT - 8) * 1e9


def main(names: list[str]) -> None:
    for name in names:
        if name not in FUNCTIONS:
            raise UnknownName(
                f'there is no elementary function "{name}"{did_you_mean(name, FUNCTIONS)}'
            )
    print(
        f"{'ns a value':12}"
        + "".join(f"{f'W = {w}':>9}" for w in WIDTHS)
        + f"{'numpy':>9}{'ratio':>9}"
    )
    for name in names:
        arguments = ordinary(name)
        check(name, arguments)
        ours = [nanoseconds(name, width, arguments) for width in WIDTHS]
        (seconds,) = best(lambda name=name, arguments=arguments: peer(name)(*arguments))
        theirs = seconds / COUNT * 1e9
        print(
            f"{name:12}"
            + "".join(f"{t:9.2f}" for t in ours)
            + f"{theirs:9.2f}{theirs / min(ours):8.1f}x",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or list(FUNCTIONS))
