"""Reading and writing of robot descriptions: the only room that knows a file format."""

from typing import TYPE_CHECKING, Any

from linkwork.doors import open_door

if TYPE_CHECKING:
    from linkwork.formats.srdf import Semantics, read_srdf, read_srdf_text

__all__ = ["Semantics", "read_srdf", "read_srdf_text"]


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first asked for: loading a robot needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from linkwork.formats import srdf

    globals()[name] = getattr(srdf, name)
    open_door(__name__, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
