"""Call writer: functions that CPython calls, reading numpy's array structs by themselves."""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.ir_types import I32, I64, POINTER
from linkwork.engine.writer import Writer

# Offsets of PyObject and PyArrayObject (numpy 1.x and 2.x, 64 bit);
# `python_call.available` verifies them before use.
TYPE, DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
CARRAY, WRITEABLE = 0x0001 | 0x0100, 0x0400  # C contiguous and aligned
NPY_DOUBLE = 12
NULL = ir.Constant(POINTER, None)
FUNCTIONS = dict(
    vectorcall="PyObject_Vectorcall",
    incref="Py_IncRef",
    decref="Py_DecRef",
    tuple_new="PyTuple_New",
    tuple_set="PyTuple_SetItem",
    malloc="PyMem_RawMalloc",
    free="PyMem_RawFree",
    save_thread="PyEval_SaveThread",
    restore_thread="PyEval_RestoreThread",
)
TABLE = ("array_type", "float64", "array_new", "threads", "workers", *FUNCTIONS)
"""Addresses of this process that a loaded module is given, in this order."""
TABLE_NAME = "call_table"


def new_table(module: ir.Module) -> ir.GlobalVariable:
    """The module's table, empty until `python_call.filled`."""
    table = ir.GlobalVariable(module, ir.ArrayType(I64, len(TABLE)), TABLE_NAME)
    table.initializer = ir.Constant(table.value_type, [0] * len(TABLE))
    return table


class CallWriter(Writer):
    """Also calls functions of the table of addresses,
    and leaves for `slow` where a condition does not hold."""

    def __init__(self, function: ir.Function, table: ir.Value, slow: ir.Block) -> None:
        super().__init__(function)
        self.table, self.slow = table, slow

    def known(self, name: str, type_: ir.Type = POINTER) -> ir.Value:
        """An address of the table."""
        return self.word(self.table, TABLE.index(name), type_)

    def call(self, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
        """Call a function of the table."""
        type_ = ir.FunctionType(result, [a.type for a in arguments])
        return self.b.call(
            self.b.inttoptr(self.known(name, I64), type_.as_pointer()), list(arguments)
        )

    def require(self, condition: ir.Value) -> None:
        """Leave for `slow` unless the condition holds."""
        following = self.function.append_basic_block()
        self.b.cbranch(condition, following, self.slow)
        self.b.position_at_end(following)

    def require_type(self, array: ir.Value) -> None:
        """Only numpy's own class of arrays."""
        self.require(self.equal(self.field(array, TYPE, POINTER), self.known("array_type")))

    def require_doubles(self, array: ir.Value, flags: ir.Value | int) -> None:
        """Only native doubles, with these flags of numpy set."""
        self.require(self.equal(self.field(array, DESCR, POINTER), self.known("float64")))
        wanted = ir.Constant(I32, flags) if isinstance(flags, int) else flags
        self.require(self.equal(self.b.and_(self.field(array, FLAGS, I32), wanted), wanted))

    def rank(self, array: ir.Value) -> ir.Value:
        """How many axes an array has, as a 32-bit number."""
        return self.field(array, NDIM, I32)

    def new_array(self, rank: ir.Value, sizes: ir.Value) -> ir.Value:
        """A new array of doubles with a rank (32 bit) and its sizes, or NULL with an error set."""
        zero, kind = ir.Constant(I32, 0), ir.Constant(I32, NPY_DOUBLE)
        arguments = (self.known("array_type"), rank, sizes, kind, NULL, NULL, zero, zero, NULL)
        return self.call("array_new", POINTER, *arguments)

    def at_null(self, made: ir.Value) -> ir.Block:
        """Stand where a pointer is NULL; gives the block for all else."""
        failed, fine = self.function.append_basic_block(), self.function.append_basic_block()
        self.b.cbranch(self.equal(self.b.ptrtoint(made, I64), 0), failed, fine)
        self.b.position_at_end(failed)
        return fine

    def call_slowly(self, fallback: ir.Value, args: ir.Value, nargs: ir.Value) -> None:
        """At `slow`: give all arguments to a Python function and return what it gives."""
        self.b.position_at_end(self.slow)
        self.b.ret(self.call("vectorcall", POINTER, fallback, args, nargs, NULL))
