"""Every public callable of every room is knocked on: it answers, or refuses in our words; a new room comes unasked.

LINKWORK_FUZZ=200 knocks two hundred times on each door (`make fuzz`); by default a few times, within the budget of CI.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import rooms
from linkwork.doors import MARK
from linkwork.errors import InvalidInput, LinkworkError
from tests.knocking import ASIDE, Raises, Shy, doors, draw, kinds, knock, quiet, with_huge, with_nan
from tests.knocking_objects import by_room, usual

TIMES = int(os.environ.get("LINKWORK_FUZZ", "3"))


@functools.cache
def robot() -> lw.Robot:
    return lw.load("four-bar")


@functools.cache
def good() -> dict:
    return usual(robot())


@functools.cache
def right() -> Callable[[str], dict[str, Any]]:
    """Arguments that a door of that name takes."""
    return by_room(robot())


@functools.cache
def all_doors() -> list:
    return doors(robot())


@contextlib.contextmanager
def little_memory():
    """At most 8 GB: what a call asks for beyond is refused by the system, as where a machine has no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_there_are_fifty_kinds_of_argument_and_many_doors():
    assert len(kinds()) >= 50
    assert len(all_doors()) > 150


@pytest.mark.parametrize("part", range(4))
def test_every_public_callable_answers_or_refuses_in_our_words(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write a file of the name that they are given
    strange = []
    with quiet(), np.errstate(all="ignore"):
        for one in all_doors()[part::4]:
            for k in range(TIMES):
                args, options = draw(one, right()(one.name), random.Random(f"{one.name} {k}"))
                if words := knock(one, args, options):
                    strange.append(f"{one.name} (call {k}): {words}")
    assert not strange, "\n".join(strange)


def test_a_number_that_is_none_is_never_answered(tmp_path, monkeypatch):
    """Of functions and methods; a class may keep what it is given and refuses when it is used (a law, a stop)."""
    monkeypatch.chdir(tmp_path)
    answered, asked = [], 0
    with quiet(), np.errstate(all="ignore"):
        for one in all_doors():
            if isinstance(one.call, type):
                continue
            for name, options in with_nan(one, right()(one.name)):
                asked += 1
                if knock(one, [], options, refused=False) == "":
                    answered.append(f"{one.name}: {name}")
    assert not answered, answered
    assert asked > 100


@pytest.mark.skipif("LINKWORK_FUZZ" not in os.environ, reason="a minute: `make fuzz`")
def test_no_number_asks_for_work_without_end(tmp_path, monkeypatch):
    """A count of 1e12, a duration of 1e12 s, a step of 1e-12: answered or refused, soon."""
    monkeypatch.chdir(tmp_path)
    endless, asked = [], 0
    with quiet(), np.errstate(all="ignore"), little_memory():
        for one in all_doors():
            for label, options in with_huge(one, right()(one.name)):
                asked += 1
                if words := knock(one, [], options):
                    endless.append(f"{one.name} ({label}): {words}")
    assert not endless, "\n".join(endless)
    assert asked > 300


def test_every_room_opens_its_doors():
    bare = []
    for name in rooms.rooms():
        if name in ASIDE:
            continue
        room = rooms.room(name)
        for public in room.__all__:
            value = getattr(room, public)
            if callable(value) and not isinstance(value, type) and not hasattr(value, MARK):
                bare.append(f"lw.{name}.{public}")
    assert not bare, f"end the room's __init__.py with open_doors(__name__): {bare}"


def test_the_argument_is_named_and_the_cause_is_kept():
    with pytest.raises(InvalidInput, match=r"with_gravity: gravity is .*Raises object.*expected") as caught:
        robot().with_gravity(Raises())
    assert caught.value.__cause__ is not None
    with pytest.raises(InvalidInput, match=r"mass_matrix: q is .*can't convert a tensor") as caught:
        robot().mass_matrix(Raises())
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(InvalidInput, match="frame is an object of type Shy, expected a name"):
        robot().pose(good()["q"], Shy())


def test_what_the_callers_own_function_raises_is_the_callers():
    def law(t, q, v):
        raise ArithmeticError("my own")

    with pytest.raises(ArithmeticError, match="my own"):
        lw.simulate(lw.load("ur5e"), duration=0.01, step=1e-3, control=law)


def test_our_own_faults_are_not_blamed_on_the_caller():
    from linkwork.doors import door

    def faulty(x: float) -> float:
        return [][int(x)]

    with pytest.raises(IndexError):
        door(faulty, "faulty")(1.0)
    with pytest.raises(InvalidInput, match=r"faulty: x is 'a', expected a number \(ValueError"):
        door(faulty, "faulty")("a")
    with pytest.raises(TypeError, match="missing"):
        door(faulty, "faulty")()


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.analyse({"time": [0.0, 1.0], "q": np.zeros((2, r.nq))}, times=[0.0, np.nan]),
        lambda r: r.from_actuators(np.zeros(len(r.actuators)), q0=np.full(r.nq, np.nan)),
        lambda r: lw.trajectory.trapezoid([0.0], [1.0], velocity=1.0, acceleration=1.0, synchronised=np.nan),
    ],
)
def test_nan_is_not_answered(call):
    with pytest.raises(LinkworkError):
        call(lw.load("ur5e"))
