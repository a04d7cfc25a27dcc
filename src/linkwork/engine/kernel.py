"""Kernel: a traced function as a callable on arrays, one sample or a batch."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi
import numpy as np

from linkwork.arguments import as_doubles
from linkwork.engine import buffers, codegen, forks, keys, machine, python_call
from linkwork.engine.batch_call import Batches
from linkwork.engine.loader import counts, loaded
from linkwork.engine.passes import optimised
from linkwork.engine.passes.schedule import LONG, tiles_at_once
from linkwork.engine.program import Program, from_casadi
from linkwork.engine.sharing import run_shared
from linkwork.engine.threads import WORTH_SHARING
from linkwork.errors import ComputationError, InvalidInput

_SINGLE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
BATCH = 0  # the width that suits the program best


@dataclass(frozen=True)
class Signature:
    """Names and shapes of what goes in and what comes out; `guard` explains a violated guard."""

    name: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    guard: str = ""


@dataclass(frozen=True)
class Context:
    """Who calls, for messages: hints say what an argument's size comes from."""

    who: str = ""
    hints: dict[str, str] = field(default_factory=dict)


class Kernel:
    """Compiled on first use, per vector width; results are the same bits at every width,
    thread count and batch place.

    `trace` gives the CasADi function (its last output the guards if the signature has a guard). A
    `key` that is known before tracing names all that decides the trace (`Subject.kernel` makes such
    keys): `trace` is then called only when no compiled object exists for it. Without one the traced
    program is the key.
    """

    def __init__(
        self, signature: Signature, trace: Callable[[], casadi.Function], key: str | None = None
    ) -> None:
        self.signature, self.key = signature, key
        self._trace = trace
        self._lock = forks.renewed(self)
        self._code: dict[int, machine.Code] = {}
        self._single: Any = None
        self._counts: dict[str, int] = {}
        self._program: Program | None = None
        self._sizes = [math.prod(shape) for _, shape in signature.inputs]
        sides = [[shape for _, shape in side] for side in (signature.inputs, signature.outputs)]
        self._batches = Batches(*sides)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name} {shape}" for name, shape in self.signature.inputs)
        results = ", ".join(f"{name} {shape}" for name, shape in self.signature.outputs)
        return f"<Kernel {self.signature.name}: {arguments} -> {results}>"

    @functools.cached_property
    def _plain(self) -> Callable[..., Any]:
        return self._batches.builtin(self.signature.name, _nothing)

    @property
    def operations(self) -> int:
        """Arithmetic operations a sample, after fusing."""
        if "operations" not in self._counts:
            self.prepare(1)
        return self._counts["operations"]

    @property
    def program(self) -> Program:
        """The operations themselves."""
        with self._lock:
            if self._program is None:
                counts["traced"] += 1
                self._program = optimised(from_casadi(self._trace()))
                self._check_program(self._program)
            return self._program

    def function(self) -> casadi.Function:
        """The traced CasADi function."""
        return self._trace()

    def prepare(self, *widths: int) -> Kernel:
        """Compile (or load) for the given vector widths; without any:
        for one sample and for batches."""
        for width in widths or (1, BATCH):
            self._load(width)
        return self

    def code(self, width: int) -> tuple[int, int]:
        """For routines that call it: where its machine code stands,
        and the doubles of scratch that this needs.

        width   1: single(inputs, outputs);  BATCH: run(inputs, strides, outputs, scratch, begin,
                end)
        """
        self._load(width)
        name, scratch = ("single", 0) if width == 1 else ("run", self._counts[f"scratch{width}"])
        return self._code[width].addresses[name], scratch

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Arrays (..., shape) for each input; leading dimensions broadcast;
        gives one array or a tuple of arrays."""
        return self.call(args, out, Context())

    def caller(
        self, context: Context, keep: Callable[[Callable[..., Any]], None] | None = None
    ) -> Callable[..., Any]:
        """The fastest callable for positional arguments, with messages for this context.

        Who can exchange it gives `keep`: code for one sample is then compiled when the first one
        comes, and `keep` is handed the callable that has it. Whoever only ever asks for batches
        does not wait for it.
        """
        slow = functools.partial(_call_slowly, self, context)
        if not python_call.available():
            return slow
        name = self.signature.name
        if keep is not None and 1 not in self._code:
            return self._batches.builtin(name, functools.partial(_call_first, self, context, keep))
        self._load(1)
        return python_call.builtin(
            name, self._code[1].addresses["call"], self._batches.builtin(name, slow)
        )

    def call(
        self, args: Sequence[Any], out: Any, context: Context, width: int | None = None
    ) -> Any:
        """Convert, check, compute, explain."""
        if width is None and BATCH in self._code:
            done = self._call_plain(args, out)
            if done is not None:
                return done
        arrays, batch = self._arrays(args, context)
        outs = self._outputs(out, batch, arrays, context)
        samples = math.prod(batch)
        if samples:
            if not batch and width is None:
                bad = self._compute_single(arrays, outs)
            else:
                bad = self._compute_batch(arrays, outs, batch, samples, width or BATCH)
            if bad >= 0:
                self._explain(arrays, outs, batch, context)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _call_plain(self, args: Sequence[Any], out: Any) -> Any:
        """The results of a plain batch, or None: arguments to convert or to explain."""
        inputs, outputs = self.signature.inputs, self.signature.outputs
        if len(args) != len(inputs) or not args or type(args[0]) is not np.ndarray:
            return None
        lead = args[0].shape[: args[0].ndim - len(inputs[0][1])]
        if not lead:
            return None
        if out is None:
            # large ones are in stock
            outs: Sequence[Any] = [buffers.empty(lead + shape) for _, shape in outputs]
        else:
            outs = out if isinstance(out, (tuple, list)) else (out,)
            if len(outs) != len(outputs):
                return None
        samples = math.prod(lead)
        if samples * self._counts["operations"] < WORTH_SHARING:
            return self._plain(*args, *outs)
        # workers may have to be woken, which only Python can do: it reads the arrays, once,
        # and hands their places over
        places = self._batches.places(lead, args, outs)
        if (
            places is None
            or not samples
            or self._shared(*places, samples, BATCH, (args, outs)) >= 0
        ):
            return None
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _compute_single(self, arrays: list[np.ndarray], outs: list[np.ndarray]) -> int:
        self._load(1)
        inputs = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        outputs = (ctypes.c_void_p * len(outs))(*[o.ctypes.data for o in outs])
        return -1 if self._single(inputs, outputs) == 0 else 0

    def _compute_batch(
        self,
        arrays: list[np.ndarray],
        outs: list[np.ndarray],
        batch: tuple,
        samples: int,
        width: int,
    ) -> int:
        self._load(width)
        held, strides = [], []
        for array, size, (_, shape) in zip(arrays, self._sizes, self.signature.inputs, strict=True):
            lead = array.shape[: array.ndim - len(shape)]
            once = math.prod(lead) == 1
            if not once and lead != batch:
                array = np.ascontiguousarray(np.broadcast_to(array, batch + shape))
            held.append(array)
            strides.append(0 if once else size)
        inputs = (ctypes.c_void_p * len(held))(*[a.ctypes.data for a in held])
        steps = (ctypes.c_int64 * len(held))(*strides)
        outputs = (ctypes.c_void_p * len(outs))(*[o.ctypes.data for o in outs])
        return self._shared(inputs, steps, outputs, samples, width, (held, outs))

    def _shared(
        self, inputs: Any, strides: Any, outputs: Any, samples: int, width: int, alive: Any
    ) -> int:
        counts, code = self._counts, self._code[width]
        return run_shared(
            code.addresses["run"],
            ctypes.addressof(inputs),
            ctypes.addressof(strides),
            ctypes.addressof(outputs),
            scratch=counts[f"scratch{width}"],
            samples=samples,
            operations=counts["operations"],
            grain=counts[f"lanes{width}"],
            alive=(code, inputs, strides, outputs, alive),
            written=sum(math.prod(shape) for _, shape in self.signature.outputs),
        )

    def _arrays(
        self, args: Sequence[Any], context: Context
    ) -> tuple[list[np.ndarray], tuple[int, ...]]:
        name, inputs = self.signature.name, self.signature.inputs
        if len(args) != len(inputs):
            expected = ", ".join(n for n, _ in inputs)
            raise InvalidInput(
                f"{name}: got {len(args)} arguments, expected {len(inputs)}: {expected}"
            )
        arrays, batches = [], []
        for arg, (label, shape) in zip(args, inputs, strict=True):
            array = as_doubles(arg, f"{name}: {label}")
            if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
                hint = context.hints.get(label, context.who)
                expected = f"(..., {', '.join(map(str, shape))})" if shape else "(...)"
                raise InvalidInput(
                    f"{name}: {label} has shape {array.shape}, expected "
                    f"{expected}{': ' + hint if hint else ''}"
                )
            arrays.append(array)
            batches.append(array.shape[: array.ndim - len(shape)])
        try:
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            shown = ", ".join(f"{label} {b}" for b, (label, _) in zip(batches, inputs, strict=True))
            raise InvalidInput(f"{name}: batch shapes do not broadcast: {shown}") from None
        return arrays, batch

    def _outputs(
        self, out: Any, batch: tuple[int, ...], arrays: list[np.ndarray], context: Context
    ) -> list[np.ndarray]:
        shapes = [(label, batch + shape) for label, shape in self.signature.outputs]
        if out is None:
            return [buffers.empty(shape) for _, shape in shapes]
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        name = self.signature.name
        if len(outs) != len(shapes):
            raise InvalidInput(f"{name}: out has {len(outs)} arrays, expected {len(shapes)}")
        for o, (_, shape) in zip(outs, shapes, strict=True):
            if (
                not isinstance(o, np.ndarray)
                or o.dtype != np.float64
                or not o.flags.c_contiguous
                or not o.flags.writeable
            ):
                raise InvalidInput(
                    f"{name}: out must be a writeable C-contiguous float64 array of shape {shape}"
                )
            if o.shape != shape:
                raise InvalidInput(f"{name}: out has shape {o.shape}, expected {shape}")
            for k, array in enumerate(arrays):
                if np.may_share_memory(o, array):
                    arrays[k] = array.copy()
        return outs

    def _explain(
        self,
        arrays: list[np.ndarray],
        outs: list[np.ndarray],
        batch: tuple[int, ...],
        context: Context,
    ) -> None:
        """Find the offending sample and say what came; always raises."""
        name = self.signature.name
        for array, (label, _) in zip(arrays, self.signature.inputs, strict=True):
            where = np.argwhere(~np.isfinite(array))
            if len(where):
                raise InvalidInput(
                    f"{name}: {label}{_place(where[0])} is {array[tuple(where[0])]}, expected "
                    "finite numbers"
                )
        if self.signature.guard:
            samples = math.prod(batch)
            rows = [
                np.broadcast_to(a, batch + s).reshape((samples, *s))
                for a, (_, s) in zip(arrays, self.signature.inputs, strict=True)
            ]
            f = self._trace()
            for k in range(samples):
                guards = np.array(f.call([_as_dm(r[k]) for r in rows])[-1]).ravel()
                if not (guards >= 0.0).all():
                    place = f" of sample {np.unravel_index(k, batch)}" if batch else ""
                    raise InvalidInput(f"{name}{place}: {self.signature.guard}")
        for o, (label, _) in zip(outs, self.signature.outputs, strict=True):
            where = np.argwhere(~np.isfinite(o))
            if len(where):
                raise ComputationError(
                    f"{name}: result {label}{_place(where[0])} is {o[tuple(where[0])]} although "
                    "the input is finite"
                )
        raise ComputationError(f"{name}: a result was not finite")

    def _load(self, width: int) -> None:
        if width in self._code:
            return
        with self._lock:
            if width in self._code:
                return
            key = keys.key("kernel", self.key or self.traced_key(), width, python_call.available())
            exports = ("single", *python_call.exports()) if width == 1 else ("run",)
            code, header = loaded(key, lambda: self._compile(width), exports, self.signature.name)
            python_call.filled(code)
            self._counts.update(header)
            if width == 1:
                self._single = _SINGLE(code.addresses["single"])
            self._code[width] = code
            if width == BATCH:
                own = header[f"scratch{BATCH}"], header["operations"], header[f"lanes{BATCH}"]
                self._batches.loaded(code.addresses["run"], *own)

    def traced_key(self) -> str:
        """What the object file depends on besides the width: the program,
        and the shapes of what goes in and out."""
        sides = (self.signature.inputs, self.signature.outputs)
        return keys.key("program", [[shape for _, shape in side] for side in sides], self.program)

    def _compile(self, width: int) -> tuple[dict[str, int], bytes]:
        program, results = self.program, len(self.signature.outputs)
        module = codegen.new_module(self.signature.name)
        header = {"operations": program.operations}
        if width == 1:
            single = codegen.emit_single(module, program, results)
            if python_call.available():
                shapes = [
                    [shape for _, shape in side]
                    for side in (self.signature.inputs, self.signature.outputs)
                ]
                python_call.emit_call(module, single, *shapes)
        else:
            lanes = width or _best_width(program, results)
            codegen.emit_run(module, program, results, lanes)
            header[f"scratch{width}"] = codegen.KernelLayout.of(program, results, lanes).size
            header[f"lanes{width}"] = lanes
        level = 1 if width == 1 or program.operations > LONG else 2
        return header, machine.compile_object(str(module), level=level)

    def _check_program(self, program: Program) -> None:
        sizes = [math.prod(shape) for _, shape in self.signature.outputs]
        traced_sizes = [len(o) for o in program.outputs[: len(sizes)]]
        assert tuple(self._sizes) == program.inputs and sizes == traced_sizes, (
            self.signature,
            program.inputs,
            traced_sizes,
        )


def _best_width(program: Program, results: int) -> int:
    """The machine's own width, or twice that where two tiles at once are faster;
    vectors of AVX-512 are wide enough."""
    native = machine.widths()[0]
    return native * tiles_at_once(program, results) if native == 4 else native


def _call_slowly(kernel: Kernel, context: Context, *args: Any) -> Any:
    return kernel.call(args, None, context)


def _call_first(
    kernel: Kernel, context: Context, keep: Callable[[Callable[..., Any]], None], *args: Any
) -> Any:
    """A call while there is no code for one sample: a batch does without it."""
    shapes = [shape for _, shape in kernel.signature.inputs]
    if any(type(arg) is np.ndarray and arg.ndim > len(shape) for arg, shape in zip(args, shapes)):
        return kernel.call(args, None, context)
    call = kernel.caller(context)
    keep(call)
    return call(*args)


def _nothing(*_: Any) -> None:
    return None


def _place(index: np.ndarray) -> str:
    return f"[{', '.join(map(str, index))}]" if len(index) else ""


def _as_dm(row: np.ndarray) -> casadi.DM:
    return casadi.DM(row.reshape(row.shape if row.ndim else (1,)))
