"""scan: a step function run many times in machine code, for one sample or a queue of them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import casadi
import numpy as np

from linkwork import deadlines
from linkwork.arguments import finite, whole
from linkwork.engine import codegen, forks, keys, machine, python_call, scan_codegen
from linkwork.engine.loader import counts, loaded
from linkwork.engine.passes import optimised, shortened
from linkwork.engine.program import Program, from_casadi
from linkwork.engine.scan_arrays import Given
from linkwork.engine.scan_trace import (
    ARGUMENTS_OF,
    Declaration,
    Shape,
    Shapes,
    Step,
    Traced,
    declared,
    start_of_reductions,
    traced,
)
from linkwork.engine.threads import threads
from linkwork.engine.workers import workers
from linkwork.errors import InvalidInput

_SCAN = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)


@dataclass(frozen=True)
class ScanResult:
    """What a scan gives for every sample of the batch.

    state     final state by name (..., n); of a failed sample the last finite one
    record    by name (..., rows, shape): the values at steps 0, every, 2 every, ...; NaN after the
              sample's last step
    reduced   by name (..., shape)
    steps     steps taken (...,); stopped: ended by its stop condition; failed: a step gave a number
              that is not finite
    """

    state: dict[str, np.ndarray]
    record: dict[str, np.ndarray]
    reduced: dict[str, np.ndarray]
    steps: np.ndarray
    stopped: np.ndarray
    failed: np.ndarray


@dataclass(frozen=True)
class _Facts:
    """What is known of a step once it was traced, and kept beside its compiled code."""

    record: dict[str, Shape]
    reduce: dict[str, Shape]
    operations: int

    @staticmethod
    def of(header: Mapping[str, Any]) -> _Facts:
        record, reduce = (
            {n: tuple(shape) for n, shape in header[side].items()} for side in ("record", "reduce")
        )
        return _Facts(record, reduce, header["operations"])


class Scan:
    """A compiled loop; see `scan`. The same bits for any batch size,
    place in the batch and number of threads."""

    def __init__(
        self, declaration: Declaration, trace: Callable[[], Traced], key: str | None = None
    ) -> None:
        self.name, self.reduce, self.key = declaration.name, declaration.reduce, key
        self._declared, self._trace = declaration, trace
        self._inputs: dict[str, dict[str, Shape]] = {
            "state": declaration.state,
            "parameters": declaration.parameters,
            "sequences": declaration.sequences,
        }
        self._facts: _Facts | None = None  # known from the trace, or from a compiled object
        self._found: tuple[Traced, Program] | None = None
        self._lock = forks.renewed(self)
        self._loaded: dict[int, tuple[machine.Code, Any, int]] = {}

    @property
    def function(self) -> casadi.Function:
        """(state, parameters, sequence) -> (next state, record, stop[, advance]) of one step."""
        return self._program_of_step()[0].function

    @property
    def program(self) -> Program:
        """The operations of a step."""
        return self._program_of_step()[1]

    @property
    def operations(self) -> int:
        """Arithmetic operations a step."""
        return self._known().operations

    @property
    def names(self) -> dict[str, dict[str, Shape]]:
        """Shapes by name of state, parameters, sequences, record and reduce."""
        known = self._known()
        return {**self._inputs, "record": known.record, "reduce": known.reduce}

    def _known(self) -> _Facts:
        if self._facts is None:
            step, program = self._program_of_step()
            staged = sum(due.operations + update.operations for due, update, _ in self._stages())
            self._facts = _Facts(step.record, step.reduce, program.operations + staged)
        return self._facts

    def _program_of_step(self) -> tuple[Traced, Program]:
        with self._lock:
            if self._found is None:
                counts["traced"] += 1
                step = self._trace()
                self._found = step, optimised(from_casadi(step.function))
            return self._found

    def _stages(self) -> list[scan_codegen.StageCode]:
        """What is done before a step where it is due, as programs."""
        step, _ = self._program_of_step()
        made = [
            (optimised(from_casadi(s.due)), optimised(from_casadi(s.update)), s.targets)
            for s in step.stages
        ]
        return made

    def prepare(self, *widths: int) -> Scan:
        """Compile (or load from the cache) for the given widths; without any:
        for one sample and for batches."""
        for width in widths or (1, machine.widths()[0]):
            self._load(width)
        return self

    def __call__(
        self, *, steps: int, every: int = 1, width: int | None = None, **values: Any
    ) -> ScanResult:
        """Run `steps` steps from the given start state. Every state,
        parameter and sequence is an array (..., shape).

        Sequences are (..., T, shape) with T >= steps. Leading dimensions broadcast.
        """
        steps, every = whole(steps, f"{self.name}: steps"), whole(every, f"{self.name}: every")
        given = Given.of(self.name, self._inputs, values, steps)
        batch = given.batch
        samples = math.prod(batch)
        wide = width or (1 if samples == 1 else machine.widths()[0])
        self._load(wide)
        start = given.joined("state", first=np.zeros(()))
        reductions = start_of_reductions(self.reduce, self._known().reduce)
        start = np.concatenate([start, np.tile(reductions, (len(start), 1))], axis=1)
        parameters = given.joined("parameters")
        sequences = given.joined("sequences", steps=steps)
        rows = -(-steps // every)
        m = sum(math.prod(s) for s in self._known().record.values())
        final = np.empty((samples, start.shape[1]))
        verdicts = np.zeros(samples)
        records = np.full((samples, rows, m), np.nan)
        if samples:
            self._run(
                wide, samples, steps, every, start, parameters, sequences, final, verdicts, records
            )
        return self._result(batch, final, verdicts, records)

    def caller(self) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        """The leanest way to run one sample: f(state, parameters, steps) -> (final state, verdict),
        all float64 arrays.

        state is flat with the number of steps taken (0.0) first, parameters is flat, steps and
        verdict have shape ().
        Verdict: 0 ran all steps, 1 stopped by its condition, 2 not finite. For scans without
        sequences, records and reductions.
        """
        if not self._is_plain():
            raise InvalidInput(
                f"{self.name}: only a scan without sequences, records and reductions has a caller"
            )
        if not python_call.available():
            return self._one_slowly
        code, _, _ = self._load(1)
        return python_call.builtin(self.name, code.addresses["call"], self._one_slowly)

    def _one_slowly(self, state: Any, parameters: Any, steps: Any) -> tuple[np.ndarray, np.ndarray]:
        own = self._declared
        sizes = [
            sum(math.prod(shape) for shape in side.values()) for side in (own.state, own.parameters)
        ]
        start = finite(state, (1 + sizes[0],), f"{self.name}: state")[None]
        given = finite(parameters, (sizes[1],), f"{self.name}: parameters")[None]
        final, verdicts = np.empty_like(start), np.zeros(1)
        rows = whole(int(steps), f"{self.name}: steps")
        none, unrecorded = np.zeros((1, rows, 0)), np.empty((1, rows, 0))
        self._run(1, 1, rows, 1, start, given, none, final, verdicts, unrecorded)
        return final[0], verdicts[0]

    def _run(self, width: int, samples: int, steps: int, every: int, *arrays: np.ndarray) -> None:
        start, parameters, sequences, final, verdicts, records = arrays
        code, run, scratch_size = self._load(width)
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
        table = (ctypes.c_int64 * len(scan_codegen.ARGUMENTS))(
            *[values[a] for a in scan_codegen.ARGUMENTS]
        )

        load = samples * steps * max(1, self.operations)
        shares = min(threads(), -(-samples // width)) if load > 400_000 else 1
        scratch = [np.empty(scratch_size) for _ in range(shares)]
        if shares == 1 and load < 50_000_000:
            run(ctypes.addressof(table), scratch[0].ctypes.data, 0, samples)
            return
        # workers alone, so that Ctrl-C reaches this thread; small pieces,
        # so that early finishers take more
        count = min(-(-samples // width), 8 * shares) if shares > 1 else 1
        pieces = [(samples * k // count, samples * (k + 1) // count) for k in range(count)]

        # a worker may still run when this call has ended by an exception, and this scan with it:
        # it keeps what it uses
        def help_out(held: Any = (arrays, table, cancel, code)) -> None:
            own = scratch.pop()
            while not cancel.value:
                try:
                    begin, end = pieces.pop()
                except IndexError:
                    return
                run(ctypes.addressof(table), own.ctypes.data, begin, end)

        others = workers.hand_over(help_out, shares, busy=workers.occupied)
        try:
            for other in others:
                deadlines.wait(other)
        except BaseException:
            cancel.value = 1
            raise

    def _load(self, width: int) -> tuple[machine.Code, Any, int]:
        with self._lock:
            if width not in self._loaded:
                own = self.key or keys.key("program", self.program, self._stages())
                key = keys.key("scan", own, width, self._has_caller(width))
                exports = ("scan", *python_call.exports()) if self._has_caller(width) else ("scan",)
                code, header = loaded(key, lambda: self._compile(width), exports, self.name)
                python_call.filled(code)
                self._facts = _Facts.of(header)
                self._loaded[width] = (code, _SCAN(code.addresses["scan"]), header["scratch"])
            return self._loaded[width]

    def _compile(self, width: int) -> tuple[dict[str, Any], bytes]:
        module = codegen.new_module("scan")
        layout = scan_codegen.emit_scan(module, self.program, width, self._stages())
        if self._has_caller(width):
            one = scan_codegen.emit_one(module, layout)
            shapes = [(layout.state,), (layout.parameter,), ()], [(layout.state,), ()]
            python_call.emit_call(module, one, *shapes)
        header = {**asdict(self._known()), "scratch": layout.size}
        return header, machine.compile_object(str(module))

    def _is_plain(self) -> bool:
        return not (self._declared.sequences or self._declared.record or self.reduce)

    def _has_caller(self, width: int) -> bool:
        return width == 1 and self._is_plain() and python_call.available()

    def _result(
        self, batch: tuple[int, ...], final: np.ndarray, verdicts: np.ndarray, records: np.ndarray
    ) -> ScanResult:
        steps = final[:, 0].astype(np.int64).reshape(batch)
        column = 1
        state, reduced = {}, {}
        for label, shape in self._inputs["state"].items():
            n = math.prod(shape)
            state[label] = final[:, column : column + n].reshape(batch + shape).copy()
            column += n
        taken = np.maximum(final[:, :1], 1.0)
        for label, kind in self.reduce.items():
            shape = self._known().reduce[label]
            n = math.prod(shape)
            block = final[:, column : column + n]
            if kind in ARGUMENTS_OF:
                block = final[:, column + n : column + 2 * n]
                column += n
            column += n
            if kind in ("mean", "rms"):
                block = block / taken
            block = np.sqrt(block) if kind == "rms" else block
            reduced[label] = block.reshape(batch + shape).copy()
        record, column = {}, 0
        for label, shape in self._known().record.items():
            n = math.prod(shape)
            block = records[:, :, column : column + n]
            record[label] = block.reshape((*batch, records.shape[1], *shape)).copy()
            column += n
        stopped, failed = ((verdicts == verdict).reshape(batch) for verdict in (1, 2))
        return ScanResult(state, record, reduced, steps, stopped, failed)


def scan(
    step: Step,
    state: Shapes,
    parameters: Shapes | None = None,
    sequences: Shapes | None = None,
    record: Sequence[str] | Shapes = (),
    reduce: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Scan:
    """Compile a loop: `step` is called once, with CasADi symbols, and then runs in machine code.

    step(**symbols) gets every state, parameter and sequence by name, and `k`, the index of the
    step. It returns a dict with the next value of every state, a value for every name in `record`
    and `reduce`, and optionally "stop": a number, > 0 ends that sample after this step. `reduce`
    maps names to "max", "min", "argmax", "argmin" (index of the step), "sum", "mean" or "rms" over
    the steps.

    `record` may give shapes, as `state` does: {"q": 1, "error": ()} is recorded as (..., rows, 1)
    and (..., rows). Without a shape a state has its own, n > 1 numbers are (n,) or a matrix, and
    one number has no axis.

    With "advance" among the results a step moves on only where that number is > 0: otherwise k and
    the rows of the sequences stay, and nothing is recorded or reduced. So a solver iterates on one
    row of a path as long as it needs and then goes to the next. `steps` then counts the steps that
    move on; the step function has to see to it that one does in the end.

    Each sample runs in a lane of the vector unit; a lane whose sample has ended takes the next one
    of the batch.
    """
    label = name or str(getattr(step, "__name__", "scan"))
    declaration = declared(label, state, parameters, sequences, record, reduce)
    of_step = traced(step, declaration)
    return Scan(declaration, lambda: of_step)


def keyed_scan(
    key: str | None,
    steps: Sequence[Step],
    state: Shapes,
    parameters: Shapes | None = None,
    sequences: Shapes | None = None,
    record: Sequence[str] | Shapes = (),
    reduce: Mapping[str, str] | None = None,
    name: str = "scan",
    stages: Sequence[Step] = (),
) -> Scan:
    """Like `scan`, for a key that names all that decides the trace (`keys.key`).

    Where code for the key is kept, no step is called. Of several steps that compute the same the
    shortest is compiled. Without a key the traced program is the key.

    stages: functions of what a step is a function of, done before it, in their order, where their
    "due" is > 0; they give new values of some states. Where no lane of a group is due their code is
    jumped over (sampled controllers).
    """
    declaration = declared(name, state, parameters, sequences, record, reduce)

    def shortest() -> Traced:
        candidates = [traced(step, declaration, stages) for step in steps]
        if len(candidates) == 1:
            return candidates[0]
        return min(candidates, key=lambda each: shortened(from_casadi(each.function)).operations)

    made = Scan(declaration, shortest, key)
    if key is None:
        assert made.function  # what is wrong with a step is said here, not at the first call
    return made
