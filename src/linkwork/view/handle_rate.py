"""Handle rate: how often viser's page tells where a handle is while a person drags it.

viser's page sends such a message every 50 ms at most, 20 a second, and has no option for it.
Its script travels packed and is put into the page by a loader; the loader that we hand out puts it
there with a shorter interval. viser's own files stay as they are. A later viser that loads or
throttles otherwise keeps its own rate.
"""

from __future__ import annotations

import logging

INTERVAL = 20
"""Milliseconds between two messages of a handle: less than a frame of 30 Hz, and as often as
viser's page tells where its camera is."""
LOADED = "e.textContent=code;"
"""How the loader puts the unpacked script into the page."""
_THROTTLED = r"(case ?.TransformControlsMessage.:\{let\{[^{}]*\}=[\w$]+\([\w$]+,)50\)"
"""What the script says of a handle (a regular expression of JavaScript): its sender of messages
and the interval. The name of the message survives every minification."""

_logger = logging.getLogger(__name__)


def with_quick_handles(html: str) -> str:
    """A page of viser whose handles send a message every `INTERVAL`."""
    if html.count(LOADED) != 1:
        _logger.debug("viser's page loads its script otherwise: handles keep viser's own rate")
        return html
    quicker = f'e.textContent=code.replace(/{_THROTTLED}/,"$1 {INTERVAL})");'
    return html.replace(LOADED, quicker)
