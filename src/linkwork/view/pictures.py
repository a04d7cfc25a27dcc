"""Pictures: what matplotlib draws, as the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from linkwork.errors import NotPossible


def pictures(
    draw: Callable[[Any], None], forms: Sequence[str], size: tuple[float, float] = (8.0, 5.0)
) -> dict[str, bytes]:
    """draw(figure) on an empty matplotlib figure of a size [inch], once, as "png", "svg" or
    both."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NotPossible("pictures need matplotlib: pip install 'linkwork[plots]'") from None
    if not forms:
        return {}
    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    contents = {}
    for form in forms:
        content = io.BytesIO()
        figure.savefig(
            content, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None
        )
        contents[form] = content.getvalue()
        # places stay for the next form: to find them again takes a fifth of the time
        figure.set_layout_engine(None)
    return contents
