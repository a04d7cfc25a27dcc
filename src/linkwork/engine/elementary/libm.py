"""The C library's functions, called lane by lane.

`EXTERNALS` maps symbols to addresses in the C library's mathematics, each found and checked. The
engine registers them with `llvmlite.binding.add_symbol` before it finalises code: LLVM would
finalise a call to a missing symbol without complaint.
"""

from __future__ import annotations

import ctypes
import ctypes.util

from llvmlite import ir

from linkwork.engine.elementary.packets import Reals
from linkwork.engine.ir_types import DOUBLE, I32, declared
from linkwork.errors import ComputationError

FUNCTIONS = (
    *(
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
        "expm1",
        "log",
        "log1p",
        "erf",
    ),
    *("pow", "hypot", "fmod", "remainder"),
)

# LLVM calls these by their bare names where the processor has no such instruction
# (x86-64 before FMA and SSE4.1).
FALLBACKS = ("fma", "floor", "ceil", "trunc")


def _symbol(name: str) -> str:
    return f"linkwork_libm_{name}"


def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libm.so.6")  # glibc; asking find_library starts a process
    except OSError:
        return ctypes.CDLL(ctypes.util.find_library("m"))


def _addresses() -> dict[str, int]:
    library = _library()
    addresses = {}
    for symbol, name in [(_symbol(name), name) for name in FUNCTIONS] + [
        (name, name) for name in FALLBACKS
    ]:
        function = getattr(library, name, None)
        address = function and ctypes.cast(function, ctypes.c_void_p).value
        if not address:
            raise ComputationError(
                f'the C library "{library._name}" has no function "{name}"; linkwork needs C99'
            )
        addresses[symbol] = address
    return addresses


EXTERNALS: dict[str, int] = _addresses()


def per_lane(name: str, *arguments: Reals) -> Reals:
    """The C library's `name` in every lane."""
    builder, kind, width = arguments[0].builder, arguments[0].value.type, arguments[0].width
    function = declared(builder.module, _symbol(name), DOUBLE, [DOUBLE] * len(arguments))
    if width == 1:
        return Reals(builder, builder.call(function, [argument.value for argument in arguments]))
    result = ir.Constant(kind, ir.Undefined)
    for lane in range(width):
        at = ir.Constant(I32, lane)
        value = builder.call(
            function, [builder.extract_element(argument.value, at) for argument in arguments]
        )
        result = builder.insert_element(result, value, at)
    return Reals(builder, result)
