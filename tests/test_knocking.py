"""Every public callable of every room is knocked on: it answers, or refuses in our words;
a new room comes unasked.

LINKWORK_FUZZ=200 knocks two hundred times on each door (`make fuzz`); by default a few times,
within the budget of CI.
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
from linkwork.doors import DIRECT, MARK
from linkwork.errors import InvalidInput, LinkworkError
from linkwork.formats.tabular import Tabular
from tests.knocking import (
    ASIDE,
    BASES,
    UNSAFE,
    Raises,
    Shy,
    doors,
    draw,
    kinds,
    knock,
    methods_of,
    public,
    quiet,
    with_huge,
    with_nan,
    with_no_flag,
)
from tests.knocking_arguments import given
from tests.knocking_objects import (
    by_room,
    examples,
    linkages,
    model,
    obstacles,
    pendulum,
    planar,
    usual,
)

ALGEBRA = frozenset({"lw.model.Placement.at", "lw.control.GearTrain.matrix"})
"""Of descriptions, over symbols as well, whose numbers `validated` looks at;
and names that stand in a mapping."""
SENSED = frozenset({"lw.avoidance.ElbowAvoidance.run", "lw.avoidance.ElbowAvoidance.step"})
"""Loops that go on when a sensor loses points: those are left out, and the step is called stale."""
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
    of_the_room = by_room(robot())
    return functools.cache(lambda name: {**of_the_room(name), **given(name)})


@functools.cache
def all_doors() -> list:
    return doors(robot())


@contextlib.contextmanager
def little_memory():
    """At most 8 GB: what a call asks for beyond is refused by the system,
    as where a machine has no more."""
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


def answered(spoilt, aside=()) -> tuple[list[str], int]:
    """Calls with right arguments but one, which `spoilt` gives, that are answered all the same;
    how many were asked.

    Of functions and methods; a class may keep what it is given and refuses when it is used
    (a law, a stop).
    """
    names, asked = [], 0
    with quiet(), np.errstate(all="ignore"):
        for one in all_doors():
            if isinstance(one.call, type) or one.name in aside:
                continue
            for name, options in spoilt(one, right()(one.name)):
                asked += 1
                if knock(one, [], options, refused=False) == "":
                    names.append(f"{one.name}: {name}")
    return names, asked


def test_a_number_that_is_none_is_never_answered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, asked = answered(with_nan, aside=ALGEBRA | SENSED)
    assert not names, names
    assert asked > 700


def test_a_flag_is_true_or_false_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, asked = answered(with_no_flag)
    assert not names, names
    assert asked > 25


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


def test_the_methods_of_every_public_class_are_knocked_at():
    """A class without an example would have its making knocked at alone."""
    made = examples(robot())
    aside = (*UNSAFE, *BASES)
    missing = [
        f"{name}: {', '.join(methods_of(kind))}"
        for name, kind in public(robot()).items()
        if isinstance(kind, type)
        and name not in aside
        and not issubclass(kind, (lw.Robot, BaseException))
        if not getattr(kind, "_is_protocol", False) and DIRECT not in vars(kind)
        if kind not in made and set(methods_of(kind)) - set(methods_of(Tabular))
    ]
    assert not missing, "tests/knocking_objects.py has no object of\n" + "\n".join(missing)


def test_every_room_opens_its_doors():
    bare = []
    for name in rooms.rooms():
        if name in ASIDE:
            continue
        room = rooms.room(name)
        for label in room.__all__:
            value = getattr(room, label)
            if callable(value) and not isinstance(value, type) and not hasattr(value, MARK):
                bare.append(f"lw.{name}.{label}")
    assert not bare, f"end the room's __init__.py with open_doors(__name__): {bare}"


def test_the_argument_is_named_and_the_cause_is_kept():
    with pytest.raises(
        InvalidInput, match=r"with_gravity: gravity is .*Raises object.*expected"
    ) as caught:
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
        lambda r: lw.trajectory.trapezoid(
            [0.0], [1.0], velocity=1.0, acceleration=1.0, synchronised=np.nan
        ),
    ],
)
def test_nan_is_not_answered(call):
    with pytest.raises(LinkworkError):
        call(lw.load("ur5e"))


def test_what_is_wrong_with_a_call_is_said_by_tasks_too():
    from linkwork.errors import WrongCall

    with pytest.raises(
        WrongCall,
        match='FrameTask: there is no argument "orientation_cost"; did you mean "rotation_cost"',
    ):
        lw.tasks.FrameTask("tool0", np.eye(4), orientation_cost=1.0)
    for task in (lw.tasks.PostureTask, lw.tasks.CenterOfMassTask):
        with pytest.raises(WrongCall, match='there is no argument "weight"'):
            task(np.zeros(3), weight=1.0)
        with pytest.raises(InvalidInput, match="target contains nan"):
            task([0.0, np.nan, 0.0])


def test_numbers_by_name_are_finite():
    train = lw.control.planetary(20, 40).ground("ring")
    for call in (
        lambda x: train.speeds({"sun": x}),
        lambda x: train.torques({"arm": x}, ["sun"]),
        lambda x: train.efficiency("arm", 1.0, {"sun": x}),
        lambda x: train.reflected_inertia({"arm": x}, ["sun"]),
        lambda x: lw.synthesis.rank(linkages(), {"size": x}),
    ):
        call(1.0)
        for x in (np.nan, np.inf, "1"):
            with pytest.raises(InvalidInput):
                call(x)


@pytest.mark.parametrize("method", ["jacobian", "pose"])
def test_what_cannot_be_shown_is_refused_too(method):
    call = getattr(robot(), method)
    arguments = [good()["q"], good()["frame"]][: 2 if method == "jacobian" else 1]
    with pytest.raises(LinkworkError, match="an object of type Shy"):
        call(*arguments, Shy())


@pytest.mark.parametrize("i", [10**400, 99, -99])
def test_a_node_that_is_not_there_is_refused(i):
    with pytest.raises(InvalidInput, match=r"parent: i is .*, expected 0 to"):
        lw.model.build_tree(robot().model).parent(i)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: lw.simulate(lw.load("ur5e"), duration=1e12),
            "1e\\+12 steps, expected at most 1e\\+09",
        ),
        (lambda: _planned(step=1e-9), "a motion of 1 rad would be looked at 1e\\+09 times"),
        (
            lambda: lw.planning.optimise(model(), np.zeros((2, 6)), seeds=10**12),
            "seeds is 1e\\+12, expected at most",
        ),
        (
            lambda: examples(robot())[lw.planning.Roadmap].joined(np.zeros((2, 6)), 1, 2),
            "points has 2 rows, expected",
        ),
        (lambda: lw.synthesis.legs(np.full((7, 4, 4), np.nan)), "poses are not finite"),
    ],
)
def test_what_ran_without_end_or_was_answered_is_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def _planned(**options: Any) -> Any:
    return lw.planning.plan(model(), np.zeros(6), np.full(6, 0.3), obstacles(), **options)


@pytest.mark.parametrize("method", ["function", "kernel"])
def test_a_variable_that_a_system_does_not_have_is_refused_by_name(method):
    with pytest.raises(LinkworkError, match='has no variable "x"'):
        getattr(pendulum(), method)("mass_matrix", ["x"])


def test_halvings_end_where_no_number_lies_between():
    rest = np.zeros(planar().nq)
    law = lambda kp, kd: lw.simulation.PD(kp, kd, rest)
    metrics, short = lw.simulation.Metrics(rest), {"duration": 0.01, "step": 1e-3}
    asked = {"figure": "effort", "value": 1e-3, "points": 3}
    gains = {"kp": [0.5, 1.0], "kd": (0.5, 2.0)}
    q = np.full(planar().nq, 0.1)
    many = lw.control.iso_figure(planar(), law, gains, q, metrics, rounds=10**12, **asked, **short)
    assert many.gain.shape == (2,)
