"""The gate before viser's server: who may connect, how large a message may be,
and nothing said about garbage.

viser hands its server to `websockets.serve`; while a server is made, that call gets a gate's
options added. Refused are

    pages of other origins   a page on another site may open a socket to this machine, and its
                             Origin header tells
    other hosts              DNS rebinding: a site may let its own name mean this machine, and the
                             Host header tells
    other protocols, more than `MOST_CONNECTIONS`, messages beyond `LARGEST_MESSAGE`, handshakes
    beyond `HANDSHAKE` [s]

What goes wrong on a connection is counted, never printed.
"""

from __future__ import annotations

import contextlib
import http
import ipaddress
import logging
import socket
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from linkwork.view.page import dressed_response

MOST_CONNECTIONS = 100
LARGEST_MESSAGE = 32 * 1024 * 1024
"""Bytes: a picture that a browser takes for `picture` is the largest that is sent to us."""
HANDSHAKE = 10.0
_making = threading.Lock()


class Gate:
    """What a server refused and what failed on its connections, by reason: `gate.counts`."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        hosts = ("localhost", socket.gethostname(), *names)
        self.names = frozenset(name.lower().rstrip(".") for name in hosts)
        self.counts: Counter[str] = Counter()
        self._open: set[int] = set()
        self._lock = threading.Lock()

    def count(self, reason: str) -> None:
        with self._lock:
            self.counts[reason] += 1

    @property
    def connections(self) -> int:
        """Browsers that are connected now."""
        return len(self._open)

    def reason(self, request: Any) -> str:
        """Why a request is refused; nothing where it may come in.
        Pages and files are asked for without a websocket."""
        headers = request.headers
        host = headers.get("Host")
        if host is not None and not self._is_this_machine(host):
            return "other host"
        if headers.get("Upgrade", "").lower() != "websocket":
            return ""
        origin = headers.get("Origin")
        if (
            origin is not None
            and urlsplit(origin).netloc.lower() != headers.get("Host", "").lower()
        ):
            return "other origin"
        if "viser-v" not in headers.get("Sec-WebSocket-Protocol", ""):
            return "other protocol"
        return "too many connections" if len(self._open) >= MOST_CONNECTIONS else ""

    def _is_this_machine(self, host: str) -> bool:
        """Whether a Host header names this machine: an address, which no name server gives,
        or one of its names."""
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        if name in self.names or name.endswith(".localhost"):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def options(self, given: dict[str, Any]) -> dict[str, Any]:
        """Options of `websockets.serve` with the gate in front of what viser asks for."""
        from websockets.http11 import Response

        behind = given.get("process_request")

        def process_request(connection: Any, request: Any) -> Any:
            try:
                refused = self.reason(request)
            except Exception:  # headers may hold anything
                refused = "headers that cannot be read"
            if refused:
                self.count(refused)
                headers = type(request.headers)({"Content-Length": "0", "Connection": "close"})
                return Response(http.HTTPStatus.FORBIDDEN.value, "Forbidden", headers, b"")
            answer = None if behind is None else behind(connection, request)
            return None if answer is None else dressed_response(answer)

        return given | {
            "process_request": process_request,
            "max_size": LARGEST_MESSAGE,
            "open_timeout": HANDSHAKE,
            "logger": self._silent(),
        }

    def handler(self, inside: Any) -> Any:
        """viser's handler of a connection, counted while it is open."""

        async def handle(connection: Any) -> None:
            with self._lock:
                self._open.add(id(connection))
            try:
                await inside(connection)
            finally:
                with self._lock:
                    self._open.discard(id(connection))

        return handle

    def _silent(self) -> logging.Logger:
        """A logger of its own that counts what it is told and hands nothing on."""
        logger = logging.Logger(f"linkwork.view {id(self)}", logging.WARNING)
        logger.addHandler(_Counting(self))
        logger.propagate = False
        return logger


class _Counting(logging.Handler):
    def __init__(self, gate: Gate) -> None:
        super().__init__(logging.WARNING)
        self.gate = gate

    def emit(self, record: logging.LogRecord) -> None:
        self.gate.count(record.msg if isinstance(record.msg, str) else "failed")


@contextlib.contextmanager
def gated(names: Iterable[str] = ()) -> Iterator[Gate]:
    """Servers that viser starts inside this stand behind the gate that is given; `names`:
    more names of the machine."""
    from websockets.asyncio import server

    gate = Gate(names)
    with _making:
        plain = server.serve

        def serve(handler: Any, *args: Any, **options: Any) -> Any:
            return plain(gate.handler(handler), *args, **gate.options(options))

        server.serve = serve  # type: ignore[misc, assignment]
        try:
            yield gate
        finally:
            server.serve = plain  # type: ignore[misc]


def count_lost_tasks(server: Any, gate: Gate) -> None:
    """What a message makes fail inside viser's event loop is counted too,
    where this version shows its loop."""
    loop: Any = getattr(getattr(server, "_websock_server", None), "_background_event_loop", None)
    with contextlib.suppress(AttributeError, RuntimeError):
        loop.call_soon_threadsafe(
            loop.set_exception_handler, lambda *_: gate.count("message that failed")
        )
