"""Ctrl-C ends a call although CasADi swallows it, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import threading
import time

import casadi
import numpy as np
import pytest

from linkwork import doors
from linkwork.doors import door
from linkwork.errors import InvalidInput
from linkwork.interrupts import heard, wait_until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
ENDLESS = 600.0
s = casadi.SX.sym("s")
function = casadi.Function("f", [s], [casadi.sin(s)])
SWALLOWING = {
    "products": lambda: s * s + s,
    "calls": lambda: function(np.ones(1)),
    "arrays": lambda: casadi.SX(np.ones((3, 3))),
    "results": lambda: np.array(casadi.DM([1.0, 2.0])),
}


def endless(work):
    began = time.monotonic()
    while time.monotonic() - began < ENDLESS:
        for _ in range(50):
            work()


def interrupt_soon():
    threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def interrupted(call, *args):
    """The call, with Ctrl-C soon after it began."""
    interrupt_soon()
    call(*args)


class InterruptedWait(threading.Event):
    """Ctrl-C comes when somebody waits for it, however late that is."""

    def wait(self, timeout=None):
        interrupt_soon()
        return super().wait(timeout)


@pytest.mark.parametrize("work", SWALLOWING.values(), ids=SWALLOWING)
def test_an_interrupt_that_casadi_swallows_is_heard(work):
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            interrupted(heard, endless, work)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    time.sleep(0.2)  # nothing comes later


def test_a_door_does_not_blame_an_argument_for_an_interrupt():
    def public(x: float) -> None:
        try:
            endless(SWALLOWING["arrays"])
        except NotImplementedError as error:
            raise InvalidInput(f"x is {x}") from error

    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            interrupted(door(public, "public"), 1.0)


def test_a_door_listens_to_what_may_take_its_time(monkeypatch):
    now, listened = [0.0], []
    monkeypatch.setattr(doors, "perf_counter", lambda: now[0])
    monkeypatch.setattr(doors, "heard", lambda call, *args: listened.append(args) or call(*args))

    def work(seconds: float) -> None:
        now[0] += seconds

    public = door(work, "work")
    for seconds, listens in (
        (2.0, True),  # the first call
        (0.0, True),  # the one before took its time
        (0.0, False),
        (2.0, False),  # nobody could know
        (0.0, True),
        (0.0, False),
    ):
        before = len(listened)
        public(seconds)
        assert (len(listened) > before) is listens
    now[0] += 2 * doors.UNHEARD
    public(0.0)
    assert len(listened) == 4


def test_who_cleans_up_is_not_interrupted_again():
    cleaned = []

    def work():
        try:
            interrupt_soon()
            endless(lambda: None)
        finally:
            time.sleep(0.3)  # several times as long as until an interrupt is sent again
            cleaned.append(True)

    with pytest.raises(KeyboardInterrupt):
        heard(work)
    assert cleaned == [True]


def test_who_waits_for_ctrl_c_returns_and_goes_on():
    """As the viewer does: its wait is a door, and an interrupt ends the wait alone."""
    went_on = []

    def serve(x: float) -> None:
        wait_until(InterruptedWait(), ENDLESS)
        time.sleep(0.2)  # longer than until an interrupt that nobody heard is sent again
        went_on.append(x)

    door(serve, "serve")(1.0)
    assert went_on == [1.0]


def test_a_call_that_nobody_interrupts_is_that_call():
    assert heard(lambda x, y: x - y, 3, y=1) == 2
    with pytest.raises(ZeroDivisionError):
        heard(lambda: 1 / 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    inside = []
    thread = threading.Thread(target=lambda: inside.append(heard(int, "7")))
    thread.start()
    thread.join()
    assert inside == [7]


def test_another_handler_of_sigint_stays():
    handler = lambda number, frame: None
    before = signal.signal(signal.SIGINT, handler)
    try:
        assert heard(lambda: signal.getsignal(signal.SIGINT)) is handler
    finally:
        signal.signal(signal.SIGINT, before)
