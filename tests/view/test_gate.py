"""The viewer's door: garbage, other origins, too many and half-open connections are refused,
counted, never printed."""

from __future__ import annotations

import asyncio
import os
import socket
import urllib.request

import pytest

import linkwork as lw

viser = pytest.importorskip("viser")
from websockets.asyncio.client import connect  # noqa: E402
from websockets.exceptions import InvalidStatus, WebSocketException  # noqa: E402

from linkwork.view.gate import LARGEST_MESSAGE, MOST_CONNECTIONS, Gate  # noqa: E402

PATIENCE = 600.0  # seconds until what hangs is given up
PROTOCOL = [f"viser-v{viser.__version__}"]


@pytest.fixture(scope="module")
def viewer():
    with lw.view.Viewer(lw.load("four-bar"), port=0) as shown:
        yield shown


def plugged(viewer, **options) -> connect:
    """A connection as a browser makes it, which is patient with a busy machine."""
    usual = {"subprotocols": PROTOCOL, "open_timeout": PATIENCE, "ping_interval": None}
    return connect(f"ws://127.0.0.1:{viewer.port}", **(usual | options))


async def first_message(viewer, **options) -> int:
    """Length of what a browser gets first."""
    async with plugged(viewer, **options) as browser:
        return len(await browser.recv())


def raw(viewer, data: bytes) -> None:
    with socket.create_connection(("127.0.0.1", viewer.port)) as plug:
        plug.sendall(data)


def test_garbage_is_counted_and_silent(viewer, capfd, caplog):
    before = sum(viewer.gate.counts.values())
    for data in (
        b"",
        b"\0" * 1000,
        os.urandom(3000),
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\n",
        b"A" * 99999,
    ):
        raw(viewer, data)

    async def strange() -> None:
        nested = b"\x91" * 100_000 + b"\xc0"
        for message in (b"\xff" * 100, nested, "[" * 100_000, b"x" * (LARGEST_MESSAGE + 1)):
            try:
                async with plugged(viewer) as browser:
                    await browser.send(message)
                    while True:
                        await asyncio.wait_for(browser.recv(), PATIENCE)
            except (WebSocketException, OSError, TimeoutError, AttributeError):
                pass  # websockets' own client stumbles when it is closed while it sends

    asyncio.run(strange())
    assert asyncio.run(first_message(viewer)) > 100  # it keeps serving
    assert sum(viewer.gate.counts.values()) > before
    told = capfd.readouterr()
    assert "Traceback" not in told.err + told.out and "viser" not in told.out
    assert not caplog.records


def test_pages_of_other_origins_and_other_protocols_stay_outside(viewer):
    for options in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"subprotocols": ["chat"]},
    ):
        with pytest.raises(InvalidStatus, match="403"):
            asyncio.run(first_message(viewer, **options))
    assert viewer.gate.counts["other origin"] >= 2
    assert viewer.gate.counts["other protocol"] >= 1
    assert asyncio.run(first_message(viewer, origin=f"http://127.0.0.1:{viewer.port}")) > 100


def test_a_name_that_is_not_this_machines_is_refused(viewer):
    """DNS rebinding: a page of evil.example, whose name means 127.0.0.1 now,
    asks from its own origin."""

    def status(host: str, upgrade: bool = False) -> bytes:
        asked = "Upgrade: websocket\r\nConnection: Upgrade\r\n" if upgrade else ""
        with socket.create_connection(("127.0.0.1", viewer.port), timeout=PATIENCE) as plug:
            plug.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n{asked}\r\n".encode())
            return plug.recv(12)[9:12]

    port = viewer.port
    before = viewer.gate.counts["other host"]
    evil = (
        "evil.example",
        f"evil.example:{port}",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "[",
        "a@b",
    )
    assert [status(host) for host in evil] == [b"403"] * len(evil)
    assert status(f"evil.example:{port}", upgrade=True) == b"403"
    assert viewer.gate.counts["other host"] >= before + len(evil)
    own = (
        "127.0.0.1",
        f"127.0.0.1:{port}",
        f"localhost:{port}",
        f"[::1]:{port}",
        f"LOCALHOST:{port}",
        "192.168.1.7",
    )
    assert [status(host) for host in (*own, f"{socket.gethostname()}:{port}")] == [b"200"] * (
        len(own) + 1
    )
    gate = Gate(["robots.example"])
    assert gate._is_this_machine("Robots.example:443") and not gate._is_this_machine("example")


def test_a_hundred_browsers_and_no_more(viewer):
    async def crowd() -> int:
        inside, refused = [], 0
        for _ in range(MOST_CONNECTIONS + 5):
            try:
                inside.append(await plugged(viewer))
            except InvalidStatus:
                refused += 1
        for browser in inside:
            browser.transport.abort()  # gone without a word
        return refused

    assert asyncio.run(crowd()) >= 5
    half_open = [socket.create_connection(("127.0.0.1", viewer.port)) for _ in range(20)]
    # served beside sockets that say nothing
    with urllib.request.urlopen(viewer.address, timeout=PATIENCE) as page:
        assert page.status == 200
    for plug in half_open:
        plug.close()
    for _ in range(12_000):
        if viewer.gate.connections < MOST_CONNECTIONS:
            break
        asyncio.run(asyncio.sleep(0.05))
    assert asyncio.run(first_message(viewer)) > 100
