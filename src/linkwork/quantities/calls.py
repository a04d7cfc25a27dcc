"""Calls: the compiled calls of a subject, made at their first use, then one attribute away."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import shown
from linkwork.errors import ComputationError, InvalidInput, did_you_mean
from linkwork.model.payload import Payload
from linkwork.quantities.evaluate import caller, evaluate, writer
from linkwork.quantities.singular import explained
from linkwork.quantities.table import QUANTITIES
from linkwork.subject import Subject


class Options(TypedDict, total=False):
    """What every quantity takes by name.

    variables   values of live variables: {name: (...)}
    out         arrays to write the results into
    """

    variables: Mapping[str, ArrayLike] | None
    out: np.ndarray | Sequence[np.ndarray] | None


class Loaded(Options, total=False):
    """What dynamic quantities take: a payload, or several."""

    payload: Payload | Sequence[Payload] | None


class Forced(Loaded, total=False):
    """What takes forces from outside: {body or frame: (..., 6)}, in world axes,
    at that frame's origin."""

    forces: Mapping[str, ArrayLike] | None


NAMES = frozenset(Forced.__annotations__)


class Calls:
    """Compiled calls: `calls.gravity_torque or calls.made("gravity_torque")`;
    of a frame `calls.framed["pose", frame]`.

    Every name of the table is an attribute, None until it is first used (below this class). They
    take arguments by position, one sample or a batch; of a subject with live variables also
    `variables=`.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any] | None: ...

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.framed: dict[tuple[str, str], Callable[..., Any]] = {}
        self._writers: dict[Any, Callable[..., Any]] = {}

    def made(self, name: str, frame: str | None = None) -> Callable[..., Any]:
        """The compiled call of a quantity, kept from here on."""
        if frame is not None and not isinstance(frame, str):
            raise InvalidInput(f"{name}: frame is {shown(frame)}, expected a name of robot.frames")
        itself = weakref.ref(self)

        def keep(call: Callable[..., Any]) -> None:
            calls = itself()
            if calls is not None:
                calls._keep(name, frame, call)

        call = caller(self._subject, name, frame, keep)
        self._keep(name, frame, call)
        return call

    def _keep(self, name: str, frame: str | None, call: Callable[..., Any]) -> None:
        if frame is None:
            setattr(self, name, call)
        else:
            self.framed[name, frame] = call

    def of_frame(self, name: str, frame: str) -> Callable[..., Any]:
        """The compiled call of a quantity of a frame."""
        try:
            return self.framed[name, frame]
        except (KeyError, TypeError, NotImplementedError):  # not asked before, or no name at all
            return self.made(name, frame)

    def with_options(
        self,
        options: Mapping[str, Any],
        name: str,
        frame: str | None = None,
        **arguments: ArrayLike,
    ) -> Any:
        """A quantity with some of `NAMES` given; what is None is as good as not given."""
        unknown = sorted(options.keys() - NAMES)
        if unknown:
            raise TypeError(
                f"{name}() got an unexpected option {unknown[0]!r}{did_you_mean(unknown[0], NAMES)}"
            )
        used = {key: value for key, value in options.items() if value is not None}
        try:
            if not used or (used.keys() == {"variables"} and self._subject.live):
                call = (
                    self.of_frame(name, frame)
                    if frame is not None
                    else getattr(self, name, None) or self.made(name)
                )
                return call(*arguments.values(), **used)
            if used.keys() == {"out"} and not self._subject.live:
                return self._writer(name, frame)(tuple(arguments.values()), used["out"])
            return evaluate(self._subject, name, arguments, frame, **used)
        except ComputationError as error:
            others = {key: used.get(key) for key in ("payload", "variables")}
            raise explained(
                error, self._subject, name, arguments.get("q"), frame, **others
            ) from None

    def _writer(self, name: str, frame: str | None) -> Callable[..., Any]:
        if frame is not None and not isinstance(frame, str):
            raise InvalidInput(f"{name}: frame is {shown(frame)}, expected a name of robot.frames")
        write = self._writers.get((name, frame))
        if write is None:
            write = self._writers[name, frame] = writer(self._subject, name, frame)
        return write


# A class attribute costs the interpreter nothing where an instance has its own;
# `__getattr__` would be called for each.
for _name in QUANTITIES:
    setattr(Calls, _name, None)
