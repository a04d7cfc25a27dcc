"""scan: a step function run many times in machine code, for one sample or a queue of them."""

from __future__ import annotations

import ctypes
import math
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.arguments import as_doubles, finite
from linkwork.engine import cache, codegen, keys, machine, python_call, scan_codegen
from linkwork.engine.fuse import optimised
from linkwork.engine.program import Program, from_casadi
from linkwork.engine.threads import threads
from linkwork.errors import InvalidInput, did_you_mean

_SCAN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_RESERVED = ("k", "stop", "advance", "steps", "every")
# kind -> (start value, next value from (so far, new, step index)); "mean" and "rms" are finished after the run.
# Start values are finite because a state that is not finite means that the step failed.
_REDUCTIONS: dict[str, tuple[float, Callable[[SX, SX, SX], SX]]] = {
    "max": (-sys.float_info.max, lambda r, x, k: casadi.fmax(r, x)),
    "min": (sys.float_info.max, lambda r, x, k: casadi.fmin(r, x)),
    "sum": (0.0, lambda r, x, k: r + x),
    "mean": (0.0, lambda r, x, k: r + x),
    "rms": (0.0, lambda r, x, k: r + x * x),
}
_ARG = {"argmax": "max", "argmin": "min"}


@dataclass(frozen=True)
class ScanResult:
    """What a scan gives for every sample of the batch.

    state     final state by name (..., n); of a failed sample the last finite one
    record    by name (..., rows, m): the values at steps 0, every, 2 every, ...; NaN after the sample's last step
    reduced   by name (..., m)
    steps     steps taken (...,); stopped: ended by its stop condition; failed: a step gave a number that is not finite
    """

    state: dict[str, np.ndarray]
    record: dict[str, np.ndarray]
    reduced: dict[str, np.ndarray]
    steps: np.ndarray
    stopped: np.ndarray
    failed: np.ndarray


class Scan:
    """A compiled loop; see `scan`. The same bits for any batch size, place in the batch and number of threads."""

    def __init__(
        self,
        function: casadi.Function,
        names: dict[str, dict[str, tuple[int, ...]]],
        reduce: dict[str, str],
        name: str,
    ) -> None:
        self.name, self.names, self.reduce = name, names, reduce
        self.function = function
        self._program: Program | None = None
        self._lock = threading.RLock()
        self._loaded: dict[int, tuple[machine.Code, Any, int]] = {}

    @property
    def program(self) -> Program:
        with self._lock:
            if self._program is None:
                self._program = optimised(from_casadi(self.function))
            return self._program

    @property
    def operations(self) -> int:
        """Arithmetic operations a step."""
        return self.program.operations

    def prepare(self, *widths: int) -> Scan:
        """Compile (or load from the cache) for the given widths; without any: for one sample and for batches."""
        for width in widths or (1, machine.widths()[0]):
            self._load(width)
        return self

    def __call__(self, *, steps: int, every: int = 1, width: int | None = None, **values: Any) -> ScanResult:
        """Run `steps` steps from the given start state. Every state, parameter and sequence is an array (..., shape).

        Sequences are (..., T, shape) with T >= steps. Leading dimensions broadcast.
        """
        steps, every = _whole(self.name, "steps", steps), _whole(self.name, "every", every)
        given = self._arrays(values, steps)
        batch = self._batch(given)
        samples = math.prod(batch)
        start = self._joined(given, "state", batch, samples, first=np.zeros(()))
        start = np.concatenate(
            [start, np.broadcast_to(self._start_of_reductions(), (len(start), self._reductions))], axis=1
        )
        start = np.ascontiguousarray(start)
        parameters = self._joined(given, "parameters", batch, samples)
        sequences = self._joined(given, "sequences", batch, samples, steps=steps)
        rows = -(-steps // every)
        m = sum(math.prod(s) for s in self.names["record"].values())
        final = np.empty((samples, start.shape[1]))
        verdicts = np.zeros(samples)
        records = np.full((samples, rows, m), np.nan)
        if samples:
            wide = width or (1 if samples == 1 else machine.widths()[0])
            self._run(wide, samples, steps, every, start, parameters, sequences, final, verdicts, records)
        return self._result(batch, final, verdicts, records)

    def caller(self) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        """The leanest way to run one sample: f(state, parameters, steps) -> (final state, verdict), all float64 arrays.

        state is flat with the number of steps taken (0.0) first, parameters is flat, steps and verdict have shape ().
        Verdict: 0 ran all steps, 1 stopped by its condition, 2 not finite. For scans without sequences, records and
        reductions.
        """
        if self.names["sequences"] or self.names["record"] or self.reduce:
            raise InvalidInput(f"{self.name}: only a scan without sequences, records and reductions has a caller")
        if not python_call.available():
            return self._one_slowly
        code, _, _ = self._load(1)
        return python_call.builtin(self.name, code.addresses["call"], self._one_slowly)

    def _one_slowly(self, state: Any, parameters: Any, steps: Any) -> tuple[np.ndarray, np.ndarray]:
        shapes = [(self.function.numel_in(k),) for k in (0, 1)]
        start, given = (
            finite(x, shape, f"{self.name}: {label}")[None]
            for x, shape, label in zip((state, parameters), shapes, ("state", "parameters"), strict=True)
        )
        final, verdicts = np.empty_like(start), np.zeros(1)
        rows = _whole(self.name, "steps", int(steps))
        self._run(1, 1, rows, 1, start, given, np.zeros((1, rows, 0)), final, verdicts, np.empty((1, rows, 0)))
        return final[0], verdicts[0]

    def _run(self, width: int, samples: int, steps: int, every: int, *arrays: np.ndarray) -> None:
        start, parameters, sequences, final, verdicts, records = arrays
        _, run, scratch_size = self._load(width)
        cancel = ctypes.c_int64(0)
        values = {
            "state_in": start.ctypes.data,
            "state_stride": start.shape[1] if len(start) > 1 else 0,
            "parameters": parameters.ctypes.data,
            "parameter_stride": parameters.shape[1] if len(parameters) > 1 else 0,
            "sequences": sequences.ctypes.data,
            "sequence_stride": sequences.shape[1] * sequences.shape[2] if len(sequences) > 1 else 0,
            "state_out": final.ctypes.data,
            "verdicts": verdicts.ctypes.data,
            "records": records.ctypes.data,
            "record_stride": records.shape[1] * records.shape[2],
            "steps": steps,
            "every": every,
            "cancel": ctypes.addressof(cancel),
        }
        table = (ctypes.c_int64 * len(scan_codegen.ARGUMENTS))(*[values[a] for a in scan_codegen.ARGUMENTS])

        def work(begin: int, end: int) -> None:
            scratch = np.empty(scratch_size)
            run(ctypes.addressof(table), scratch.ctypes.data, begin, end)

        load = samples * steps * max(1, self.operations)
        shares = min(threads(), -(-samples // width)) if load > 400_000 else 1
        if shares == 1 and load < 50_000_000:
            work(0, samples)
            return
        # workers, so that Ctrl-C reaches this thread; small shares, so that early finishers take more
        parts = min(-(-samples // width), 8 * shares) if shares > 1 else 1
        cuts = [samples * k // parts for k in range(parts + 1)]
        with ThreadPoolExecutor(shares) as pool:
            waiting = [pool.submit(work, cuts[k], cuts[k + 1]) for k in range(parts)]
            try:
                for w in waiting:
                    w.result()
            except BaseException:
                cancel.value = 1
                raise

    def _load(self, width: int) -> tuple[machine.Code, Any, int]:
        with self._lock:
            if width not in self._loaded:
                key = keys.key("scan", self.program, width, self._has_caller(width))
                found = cache.load(key)
                if found is None:
                    module = codegen.new_module("scan")
                    layout = scan_codegen.emit_scan(module, self.program, width)
                    if self._has_caller(width):
                        one = scan_codegen.emit_one(module, layout)
                        shapes = [(layout.state,), (layout.parameter,), ()], [(layout.state,), ()]
                        python_call.emit_call(module, one, *shapes)
                    header, object_file = {"scratch": layout.size}, machine.compile_object(str(module))
                    cache.save(key, header, object_file)
                else:
                    header, object_file = found
                exports = ("scan", "call", "call_table") if self._has_caller(width) else ("scan",)
                code = machine.Code(object_file, exports)
                if self._has_caller(width):
                    python_call.fill_table(code.addresses["call_table"])
                self._loaded[width] = (code, _SCAN(code.addresses["scan"]), header["scratch"])
            return self._loaded[width]

    def _has_caller(self, width: int) -> bool:
        plain = not (self.names["sequences"] or self.names["record"] or self.reduce)
        return width == 1 and plain and python_call.available()

    @property
    def _reductions(self) -> int:
        return len(self._start_of_reductions())

    def _start_of_reductions(self) -> np.ndarray:
        start: list[float] = []
        for label, kind in self.reduce.items():
            count = math.prod(self.names["reduce"][label])
            start += [_REDUCTIONS[_ARG.get(kind, kind)][0]] * count
            start += [0.0] * count if kind in _ARG else []
        return np.array(start)

    def _arrays(self, values: Mapping[str, Any], steps: int) -> dict[str, np.ndarray]:
        expected = {**self.names["state"], **self.names["parameters"], **self.names["sequences"]}
        for label in values:
            if label not in expected:
                raise InvalidInput(f"{self.name}: there is no argument {label!r}{did_you_mean(label, expected)}")
        arrays = {}
        for label, shape in expected.items():
            if label not in values:
                raise InvalidInput(f"{self.name}: {label} is missing, expected shape (..., {_shown(shape)})")
            array = as_doubles(values[label], f"{self.name}: {label}")
            lead = len(shape) + (label in self.names["sequences"])
            if array.ndim < lead or array.shape[array.ndim - len(shape) :] != shape:
                extra = "T, " if label in self.names["sequences"] else ""
                raise InvalidInput(
                    f"{self.name}: {label} has shape {array.shape}, expected (..., {extra}{_shown(shape)})"
                )
            if label in self.names["sequences"] and array.shape[array.ndim - lead] < steps:
                raise InvalidInput(
                    f"{self.name}: {label} has {array.shape[array.ndim - lead]} rows, expected at least steps = {steps}"
                )
            if not np.isfinite(array).all():
                where = tuple(np.argwhere(~np.isfinite(array))[0])
                raise InvalidInput(
                    f"{self.name}: {label}{list(map(int, where))} is {array[where]}, expected finite numbers"
                )
            arrays[label] = array
        return arrays

    def _batch(self, given: dict[str, np.ndarray]) -> tuple[int, ...]:
        batches = {}
        for label, array in given.items():
            side = next(s for s in ("state", "parameters", "sequences") if label in self.names[s])
            inner = len(self.names[side][label]) + (side == "sequences")
            batches[label] = array.shape[: array.ndim - inner]
        try:
            return np.broadcast_shapes(*batches.values())
        except ValueError:
            raise InvalidInput(f"{self.name}: batch shapes do not broadcast: {batches}") from None

    def _joined(
        self,
        given: dict[str, np.ndarray],
        side: str,
        batch: tuple[int, ...],
        samples: int,
        first: np.ndarray | None = None,
        steps: int | None = None,
    ) -> np.ndarray:
        """All arrays of one side as rows (samples or 1, n), or (samples or 1, T, n) for sequences."""
        parts: list[tuple[np.ndarray, tuple[int, ...]]] = [] if first is None else [(first, ())]
        parts += [(given[label], shape) for label, shape in self.names[side].items()]
        time = () if steps is None else (steps,)
        shared = True
        for array, shape in parts:
            inner = len(shape) + len(time)
            shared = shared and math.prod(array.shape[: array.ndim - inner]) == 1
        count = 1 if shared else samples
        columns = []
        for array, shape in parts:
            if time:
                array = array[(..., slice(0, steps), *[slice(None)] * len(shape))]
            if not shared:
                array = np.broadcast_to(array, batch + time + shape)
            columns.append(array.reshape((count, *time, math.prod(shape))))
        empty = np.zeros((count, *time, 0))
        return np.ascontiguousarray(np.concatenate([empty, *columns], axis=-1))

    def _result(
        self, batch: tuple[int, ...], final: np.ndarray, verdicts: np.ndarray, records: np.ndarray
    ) -> ScanResult:
        steps = final[:, 0].astype(np.int64).reshape(batch)
        column = 1
        state, reduced = {}, {}
        for label, shape in self.names["state"].items():
            n = math.prod(shape)
            state[label] = final[:, column : column + n].reshape(batch + shape).copy()
            column += n
        taken = np.maximum(final[:, :1], 1.0)
        for label, kind in self.reduce.items():
            shape = self.names["reduce"][label]
            n = math.prod(shape)
            block = final[:, column : column + n]
            if kind in _ARG:
                block = final[:, column + n : column + 2 * n]
                column += n
            column += n
            if kind in ("mean", "rms"):
                block = block / taken
            reduced[label] = (np.sqrt(block) if kind == "rms" else block).reshape(batch + shape).copy()
        record, column = {}, 0
        for label, shape in self.names["record"].items():
            n = math.prod(shape)
            block = records[:, :, column : column + n]
            record[label] = block.reshape((*batch, records.shape[1], *shape)).copy()
            column += n
        return ScanResult(state, record, reduced, steps, (verdicts == 1).reshape(batch), (verdicts == 2).reshape(batch))


def scan(
    step: Callable[..., Mapping[str, Any]],
    state: Mapping[str, int | tuple[int, ...]],
    parameters: Mapping[str, int | tuple[int, ...]] | None = None,
    sequences: Mapping[str, int | tuple[int, ...]] | None = None,
    record: Sequence[str] = (),
    reduce: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Scan:
    """Compile a loop: `step` is called once, with CasADi symbols, and then runs in machine code.

    step(**symbols) gets every state, parameter and sequence by name, and `k`, the index of the step. It returns a
    dict with the next value of every state, a value for every name in `record` and `reduce`, and optionally "stop":
    a number, > 0 ends that sample after this step. `reduce` maps names to "max", "min", "argmax", "argmin" (index of
    the step), "sum", "mean" or "rms" over the steps.

    With "advance" among the results a step moves on only where that number is > 0: otherwise k and the rows of the
    sequences stay, and nothing is recorded or reduced. So a solver iterates on one row of a path as long as it needs
    and then goes to the next. `steps` then counts the steps that move on; the step function has to see to it that one
    does in the end.

    Each sample runs in a lane of the vector unit; a lane whose sample has ended takes the next one of the batch.
    """
    label = name or str(getattr(step, "__name__", "scan"))
    sides = {
        "state": _shapes(label, "state", state),
        "parameters": _shapes(label, "parameters", parameters or {}),
        "sequences": _shapes(label, "sequences", sequences or {}),
    }
    names = [n for side in sides.values() for n in side]
    for n in names:
        if n in _RESERVED or names.count(n) > 1:
            raise InvalidInput(f"{label}: name {n!r} is reserved or used twice")
    symbols = {n: SX.sym(n, *_size(shape)) for side in sides.values() for n, shape in side.items()}
    k = SX.sym("k")
    out = dict(step(**symbols, k=k))
    kinds = dict(reduce or {})
    for n, kind in kinds.items():
        if kind not in _REDUCTIONS and kind not in _ARG:
            raise InvalidInput(f"{label}: reduce {n!r} is {kind!r}, expected one of {[*_REDUCTIONS, *_ARG]}")
    for n in [*sides["state"], *record, *kinds]:
        if n not in out:
            raise InvalidInput(f"{label}: the step does not give {n!r}; it gives {sorted(out)}")
    unknown = set(out) - {*sides["state"], *record, *kinds, "stop", "advance"}
    if unknown:
        raise InvalidInput(f"{label}: the step gives {sorted(unknown)}, which is neither state nor record nor reduce")

    for n, shape in sides["state"].items():
        if SX(out[n]).numel() != math.prod(shape):
            raise InvalidInput(f"{label}: next {n!r} has size {SX(out[n]).shape}, expected {shape}")
    extra, extra_next = [], []
    shapes_reduced, shapes_recorded = {}, {}
    for n, kind in kinds.items():
        x = SX(out[n])
        shapes_reduced[n] = _shape_of(x)
        best = SX.sym(f"{n}_{kind}", x.numel())
        flat = _flat(x)
        rule = _REDUCTIONS[_ARG.get(kind, kind)][1]
        extra.append(best)
        extra_next.append(casadi.vertcat(*[rule(best[i], flat[i], k) for i in range(x.numel())]))
        if kind in _ARG:
            where = SX.sym(f"{n}_where", x.numel())
            better = (flat > best) if kind == "argmax" else (flat < best)
            extra.append(where)
            extra_next.append(casadi.if_else(better, k, where))
    for n in record:
        shapes_recorded[n] = _shape_of(SX(out[n]))
    decides = "advance" in out
    moves = SX(out["advance"]) > 0 if decides else SX(1)
    if decides:
        extra_next = [casadi.if_else(moves, new, old) for old, new in zip(extra, extra_next, strict=True)]

    before = casadi.vertcat(k, *[_flat(symbols[n]) for n in sides["state"]], *extra)
    after = casadi.vertcat(k + moves, *[_flat(SX(out[n])) for n in sides["state"]], *extra_next)
    given = casadi.vertcat(SX(0, 1), *[_flat(symbols[n]) for n in sides["parameters"]])
    fed = casadi.vertcat(SX(0, 1), *[_flat(symbols[n]) for n in sides["sequences"]])
    kept = casadi.vertcat(SX(0, 1), *[_flat(SX(out[n])) for n in record])
    results = [after, kept, SX(out.get("stop", 0)), *([moves] if decides else [])]
    try:
        function = casadi.Function("scan", [before, given, fed], results, {"cse": True, "allow_free": True})
    except RuntimeError as error:
        raise InvalidInput(f"{label}: {str(error).strip().splitlines()[-1]}") from None
    if function.has_free():
        raise InvalidInput(f"{label}: the step uses symbols that it was not given: {', '.join(function.get_free())}")
    return Scan(function, {**sides, "record": shapes_recorded, "reduce": shapes_reduced}, kinds, label)


def _shapes(label: str, side: str, given: Mapping[str, int | tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    shapes = {n: (s,) if isinstance(s, int) else tuple(s) for n, s in given.items()}
    for n, shape in shapes.items():
        if len(shape) > 2 or any(not isinstance(x, int) or x < 0 for x in shape):
            raise InvalidInput(f"{label}: {side} {n!r} has shape {shape}, expected at most two whole numbers")
    return shapes


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    return (*shape, 1, 1)[:2]  # type: ignore[return-value]


def _shape_of(x: SX) -> tuple[int, ...]:
    rows, columns = x.shape
    return () if (rows, columns) == (1, 1) else (rows,) if columns == 1 else (rows, columns)


def _flat(x: SX) -> SX:
    """Elements in row-major order, as numpy counts them."""
    return casadi.densify(x.T.reshape((x.numel(), 1)))


def _whole(label: str, what: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InvalidInput(f"{label}: {what} is {n!r}, expected a whole number of at least 1")
    return int(n)


def _shown(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))
