"""Staged kernels: stages compiled to machine code, as a callable on arrays and tables.

    kernel = StagedKernel(signature, recipe, key)
    verdicts = kernel((q,), tables)

The wide code may compute in floats, twice as many lanes; samples that it finds too close to decide
are computed again in doubles, one lane, by the same recipe, so that answers are those of doubles at
every width.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.engine import buffers, codegen, forks, keys, machine, python_call
from linkwork.engine.ir_types import DOUBLE, FLOAT
from linkwork.engine.kernel import Context
from linkwork.engine.loader import counts, loaded
from linkwork.engine.sharing import run_shared
from linkwork.engine.staged_codegen import StagedEmitter
from linkwork.engine.staged_entry import emit_sample, emit_shareable
from linkwork.engine.staged_values import TABLE_WORDS
from linkwork.engine.stages import Stages, Table
from linkwork.errors import ComputationError, InvalidInput

Recipe = Callable[[Stages], None]
_NOBODY = Context()


@dataclass(frozen=True)
class StagedSignature:
    """What goes in and what comes out: names with sizes; tables in the order of the recipe.

    operations   about how many a sample takes, for sharing among threads; together: see Stages;
                 guard: its words
    recorded     (output, table): outputs that have a value for every row of the table
    """

    name: str
    inputs: tuple[tuple[str, int], ...]
    tables: tuple[Table, ...]
    outputs: tuple[tuple[str, int], ...]
    operations: int
    floats: bool = False
    together: bool = False
    guard: str = ""
    recorded: tuple[tuple[str, str], ...] = ()


class Packed:
    """Tables of a run, packed once: rows in doubles and floats, whole numbers,
    and the words that point at them."""

    def __init__(
        self,
        tables: Sequence[Table],
        rows: Mapping[str, tuple[Any, Any]],
        narrow: Mapping[str, Any] = {},
    ):
        """`rows`: name -> (numbers (n, columns), whole numbers (n, columns)); `narrow`:
        other numbers for floats."""
        self.kept: list[Any] = []
        words: list[int] = []
        for table in tables:
            numbers, whole = rows[table.name]
            wide = np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1, table.width)
            count = len(wide) if table.width else len(whole)
            integers = np.ascontiguousarray(whole, dtype=np.int64).reshape(count, len(table.whole))
            single = np.ascontiguousarray(narrow.get(table.name, wide), dtype=np.float32).reshape(
                wide.shape
            )
            if not (np.isfinite(wide).all() and np.isfinite(single).all()):
                raise InvalidInput(
                    f"table {table.name!r} has numbers that are not finite "
                    "(or too large for floats)"
                )
            if not count:  # a lane may look at row 0, and must find memory there
                wide, single = np.zeros((1, table.width)), np.zeros((1, table.width), np.float32)
            self.kept += [wide, single, integers]
            words += [wide.ctypes.data, single.ctypes.data, integers.ctypes.data, count]
        self.numbers: np.ndarray = np.array(words, dtype=np.int64)

    @staticmethod
    def of(words: Sequence[int], kept: Sequence[Any]) -> Packed:
        """Words that point into memory that `kept` owns."""
        return Packed.at(np.array(words, dtype=np.int64), kept)

    @staticmethod
    def at(numbers: np.ndarray, kept: Sequence[Any]) -> Packed:
        """The same of words that are an array (int64) already."""
        made = object.__new__(Packed)
        made.kept, made.numbers = list(kept), numbers
        return made

    def __add__(self, more: Packed) -> Packed:
        """These tables, and more after them."""
        return Packed.at(np.concatenate((self.numbers, more.numbers)), (*self.kept, *more.kept))

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The words as whole numbers of Python."""
        return tuple(self.numbers.tolist())

    @property
    def block(self) -> np.ndarray:
        """The words as an array of doubles, for calls of one sample."""
        return self.numbers.view(np.float64)


class StagedKernel:
    """Compiled at first use; the same bits at every batch size, place in it,
    number of threads and width."""

    def __init__(self, signature: StagedSignature, recipe: Recipe, key: str | None = None) -> None:
        self.signature, self.recipe, self.key = signature, recipe, key
        self._lock = forks.renewed(self)
        self._loaded: dict[tuple[int, bool], tuple[machine.Code, dict[str, int]]] = {}

    def __repr__(self) -> str:
        side = [
            ", ".join(f"{n} ({size},)" for n, size in s)
            for s in (self.signature.inputs, self.signature.outputs)
        ]
        return f"<StagedKernel {self.signature.name}: {side[0]} -> {side[1]}>"

    def prepare(self) -> StagedKernel:
        """Compile, or load from the cache."""
        self.load()
        return self

    def __call__(
        self,
        args: Sequence[Any],
        packed: Packed,
        out: Any = None,
        context: Context = _NOBODY,
        width: int = 0,
    ) -> Any:
        """Arrays (..., size) for each input; leading dimensions broadcast;
        gives one array or a tuple, (..., size)."""
        arrays, batch = self._arrays(args, context)
        samples = math.prod(batch)
        shapes = [
            batch + self._rows(n, packed) + ((size,) if size > 1 else ())
            for n, size in self.signature.outputs
        ]
        outs = self._outputs(out, shapes)
        if samples:
            code, header = self.load(width)
            strides = []
            for k, (array, (_, size)) in enumerate(zip(arrays, self.signature.inputs, strict=True)):
                once = array.size == size
                if not once and array.shape[:-1] != batch:
                    arrays[k] = np.ascontiguousarray(np.broadcast_to(array, (*batch, size)))
                strides.append(0 if once else size)
            bad = self._run(code, header, arrays, strides, outs, samples, packed)
            if bad >= 0:
                self._explain(arrays, outs, bad, batch)
        return outs[0] if len(outs) == 1 else tuple(outs)

    @property
    def _has_call(self) -> bool:
        """Whether one sample can be called with plain arrays;
        not where results have as many rows as a table."""
        return python_call.available() and not self.signature.recorded

    def _rows(self, output: str, packed: Packed) -> tuple[int, ...]:
        """(rows,) of an output that has a value for every row of a table."""
        table = dict(self.signature.recorded).get(output)
        if table is None:
            return ()
        place = [t.name for t in self.signature.tables].index(table)
        return (packed.words[TABLE_WORDS * place + TABLE_WORDS - 1],)

    def caller(self, slowly: Callable[..., Any]) -> Callable[..., Any]:
        """The quickest way for one sample: f(input, ..., packed.block) of plain arrays;
        else `slowly` of the same."""
        if not self._has_call:
            return slowly
        return python_call.builtin(self.signature.name, self.load()[0].addresses["call"], slowly)

    def _run(
        self,
        code: machine.Code,
        header: dict[str, int],
        arrays: list[np.ndarray],
        strides: list[int],
        outs: list[np.ndarray],
        samples: int,
        packed: Packed,
    ) -> int:
        words = [a.ctypes.data for a in arrays] + list(packed.words)
        inputs = (ctypes.c_int64 * len(words))(*words)
        steps = (ctypes.c_int64 * len(strides))(*strides)
        outputs = (ctypes.c_int64 * len(outs))(*[o.ctypes.data for o in outs])
        return run_shared(
            code.addresses["run"],
            ctypes.addressof(inputs),
            ctypes.addressof(steps),
            ctypes.addressof(outputs),
            scratch=header["scratch"],
            samples=samples,
            operations=self.signature.operations,
            grain=header["grain"],
            alive=(code, inputs, steps, outputs, arrays, outs, packed),
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
        arrays = []
        for arg, (label, size) in zip(args, inputs, strict=True):
            array = as_doubles(arg, f"{name}: {label}")
            if array.ndim < 1 or array.shape[-1] != size:
                hint = context.hints.get(label, context.who)
                raise InvalidInput(
                    f"{name}: {label} has shape {array.shape}, expected "
                    f"(..., {size}){': ' + hint if hint else ''}"
                )
            arrays.append(array)
        try:
            batch = np.broadcast_shapes(*[a.shape[:-1] for a in arrays])
        except ValueError:
            shown = ", ".join(
                f"{label} {a.shape}" for a, (label, _) in zip(arrays, inputs, strict=True)
            )
            raise InvalidInput(f"{name}: batch shapes do not broadcast: {shown}") from None
        return arrays, batch

    def _outputs(self, out: Any, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
        if out is None:
            return [buffers.empty(shape) for shape in shapes]
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        name = self.signature.name
        if len(outs) != len(shapes):
            raise InvalidInput(f"{name}: out has {len(outs)} arrays, expected {len(shapes)}")
        for o, shape in zip(outs, shapes, strict=True):
            is_doubles = isinstance(o, np.ndarray) and o.dtype == np.float64 and o.shape == shape
            if not is_doubles or not (o.flags.c_contiguous and o.flags.writeable):
                raise InvalidInput(
                    f"{name}: out must be a writeable C-contiguous float64 array of shape {shape}"
                )
        return outs

    def _explain(
        self, arrays: list[np.ndarray], outs: list[np.ndarray], bad: int, batch: tuple[int, ...]
    ) -> None:
        """Say what came; always raises."""
        name = self.signature.name
        for array, (label, _) in zip(arrays, self.signature.inputs, strict=True):
            where = np.argwhere(~np.isfinite(array))
            if len(where):
                place = f"[{', '.join(map(str, where[0]))}]"
                raise InvalidInput(
                    f"{name}: {label}{place} is {array[tuple(where[0])]}, expected finite numbers"
                )
        for o, (label, _) in zip(outs, self.signature.outputs, strict=True):
            where = np.argwhere(~np.isfinite(o))
            if len(where) and not self.signature.guard:
                place = f"[{', '.join(map(str, where[0]))}]"
                raise ComputationError(
                    f"{name}: result {label}{place} is not finite although the input is"
                )
        if self.signature.guard:
            near = f" near sample {tuple(map(int, np.unravel_index(bad, batch)))}" if batch else ""
            raise InvalidInput(f"{name}{near}: {self.signature.guard}")
        raise ComputationError(f"{name}: a result was not finite")

    def load(self, width: int = 0) -> tuple[machine.Code, dict[str, int]]:
        """The code for a width in lanes (0: the widest), from the cache or compiled."""
        floats = self.signature.floats and width != 1
        with self._lock:
            if (width, floats) not in self._loaded:
                # at most once, for the key or for the code
                written = cache(lambda: self._emit(width, floats))
                own = self.key or keys.key("text", written()[0])
                key = keys.key("staged", own, width, floats, self._has_call)
                exports = ("run", "sample", *(python_call.exports() if self._has_call else ()))
                code, header = loaded(
                    key, lambda: _compiled(*written()), exports, self.signature.name
                )
                self._loaded[width, floats] = python_call.filled(code), header
            return self._loaded[width, floats]

    def _emit(self, width: int, floats: bool) -> tuple[str, dict[str, int]]:
        """LLVM's text of the wide code and of that for one sample, with a caller's facts."""
        counts["traced"] += 1
        module = codegen.new_module(self.signature.name.replace(" ", "_"))
        scalar = FLOAT if floats else DOUBLE
        native = machine.widths()[0] * (2 if floats else 1)
        stages = self._stages()
        if floats or stages.together:
            one = StagedEmitter(module, stages, 1, DOUBLE, "exact", None)
            wide = StagedEmitter(
                module, stages, width or native, scalar, "wide", one.function if floats else None
            )
            scratch = wide.layout.size + one.layout.size + 8
        else:  # lanes of doubles are the exact code: one sample is a tile of which one lane counts
            one = wide = StagedEmitter(module, stages, width or native, scalar, "wide", None)
            scratch = wide.layout.size + 8
        emit_shareable(module, wide.function)
        sample = emit_sample(module, one)
        if self._has_call:
            words = TABLE_WORDS * len(self.signature.tables)
            shapes = [*((size,) for _, size in self.signature.inputs), (words,)]
            results = [(size,) if size > 1 else () for _, size in self.signature.outputs]
            python_call.emit_call(module, sample, shapes, results)
        grain = 1 if self.signature.together else wide.width
        return str(module), {"scratch": scratch, "grain": grain}

    def _stages(self) -> Stages:
        stages = Stages(self.signature.together)
        self.recipe(stages)
        stages.finished()
        signature = self.signature
        given = (tuple(stages.inputs), tuple(stages.tables.values()))
        assert given == (signature.inputs, signature.tables), (given, signature)
        results = tuple((name, variable.x.numel()) for name, variable in stages.outputs)
        recorded = tuple((results[j][0], table.name) for j, table in stages.recorded.items())
        assert (results, recorded) == (signature.outputs, signature.recorded), (
            results,
            recorded,
            signature,
        )
        return stages


def _compiled(text: str, header: dict[str, int]) -> tuple[dict[str, int], bytes]:
    return header, machine.compile_object(text, registers=True)


def staged(recipe: Recipe, name: str | None = None, floats: bool = False) -> StagedFunction:
    """Compile a recipe over tables (see `linkwork.engine.stages`) to SIMD machine code.

    The recipe gets a `Stages`: it declares inputs, tables and outputs, and says what happens.
    `floats`: the wide code computes in floats and decides again in doubles where the recipe says so
    (`again`).
    """
    stages = Stages()
    recipe(stages)
    stages.finished()
    label = name or str(getattr(recipe, "__name__", "staged"))
    signature = StagedSignature(
        label,
        tuple(stages.inputs),
        tuple(stages.tables.values()),
        tuple((n, v.x.numel()) for n, v in stages.outputs),
        operations=5_000,
        floats=floats,
        recorded=tuple((stages.outputs[j][0], table.name) for j, table in stages.recorded.items()),
    )
    return StagedFunction(StagedKernel(signature, recipe))


class StagedFunction:
    """A compiled recipe: f(x, y, points=rows) with an array (..., size) an input and an array
    (n, columns) a table.

    A table with whole columns is a pair: (numbers (n, columns), whole numbers (n, whole columns)).
    """

    def __init__(self, kernel: StagedKernel) -> None:
        self.kernel = kernel

    def __repr__(self) -> str:
        return repr(self.kernel).replace("StagedKernel", "StagedFunction")

    def pack(self, **tables: Any) -> Packed:
        """Tables made ready once for many calls."""
        signature, rows = self.kernel.signature, {}
        names = [t.name for t in signature.tables]
        for label in tables:
            if label not in names:
                raise InvalidInput(
                    f"{signature.name}: there is no table {label!r}, expected {', '.join(names)}"
                )
        for table in signature.tables:
            if table.name not in tables:
                raise InvalidInput(
                    f"{signature.name}: table {table.name} is missing, expected ({_columns(table)})"
                )
            rows[table.name] = _checked_rows(signature.name, table, tables[table.name])
        return Packed(signature.tables, rows)

    def __call__(
        self, *args: Any, packed: Packed | None = None, out: Any = None, **tables: Any
    ) -> Any:
        return self.kernel(args, self.pack(**tables) if packed is None else packed, out)


def _columns(table: Table) -> str:
    return f"n, {table.width}"


def _checked_rows(who: str, table: Table, given: Any) -> tuple[np.ndarray, np.ndarray]:
    pair = given if isinstance(given, tuple) else (given, None)
    numbers = as_doubles(pair[0], f"{who}: table {table.name}")
    if numbers.ndim != 2 or numbers.shape[1] != table.width:
        raise InvalidInput(
            f"{who}: table {table.name} has shape {numbers.shape}, expected ({_columns(table)})"
        )
    whole = np.zeros((len(numbers), 0), dtype=np.int64) if pair[1] is None else np.asarray(pair[1])
    if whole.shape != (len(numbers), len(table.whole)) or whole.dtype.kind not in "iu":
        expected = f"({len(numbers)}, {len(table.whole)}) of {', '.join(table.whole) or 'nothing'}"
        raise InvalidInput(
            f"{who}: whole numbers of table {table.name} have shape {whole.shape}, expected "
            f"{expected}"
        )
    return numbers, whole
