"""Once: what is worked out about something one time, and kept as long as it lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")


class Keeper:
    """Something that keeps what was worked out about it: compiled calls, layouts,
    classifications."""

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, called the first time this key is asked for.

        The key begins with the function that asks, (function, *what decides the result): no two
        places share one.
        """
        kept = self.__dict__.setdefault("_kept", {})
        try:
            return kept[key]
        except KeyError:
            return kept.setdefault(key, make())
