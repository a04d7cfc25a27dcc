"""Stages: a computation with loops over tables,
written down as data that the code generator turns into machine code.

A recipe is a Python function that gets a `Stages` and says, in order, what a tile of W samples
does. Expressions are CasADi symbols of one lane; what each method adds is a step:

    value, put            compute something here, keep it in a register or in a row of a scratch
                          tile
    rows, counting        do the following for each row of a table, or a number of times
    where                 do it if any lane wants it; the other lanes change nothing
    assign, least         change a variable of the lane
    leave, finish         lanes that are done with the innermost loop, or with everything

Lanes never see each other: a lane that a condition excludes, or that has left or finished, changes
nothing, so results are those of one sample alone, at every width. A table is shared by all lanes
and its length is known when it runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import casadi
from casadi import SX

from linkwork.errors import InvalidInput


@dataclass(frozen=True)
class Table:
    """Rows of numbers that a run brings along: `columns` are names with sizes,
    `whole` names of whole numbers."""

    name: str
    columns: tuple[tuple[str, int], ...]
    whole: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        return sum(size for _, size in self.columns)

    def start(self, column: str) -> tuple[int, int]:
        """(first place, size) of a column."""
        at = 0
        for name, size in self.columns:
            if name == column:
                return at, size
            at += size
        names = [name for name, _ in self.columns]
        raise InvalidInput(f"table {self.name!r} has no column {column!r}, expected one of {names}")


@dataclass(frozen=True)
class Tile:
    """Scratch rows, each of `columns` lane vectors, that whole numbers of a table can choose."""

    name: str
    rows: int
    columns: int


@dataclass(frozen=True)
class Whole:
    """A whole number that is the same in all lanes: a column of the present row of a loop."""

    table: str
    loop: int
    column: int


Index = int | Whole


@dataclass(frozen=True)
class Leaf:
    """Where a symbol gets its value: kind, and what the kind needs."""

    kind: str
    args: tuple


@dataclass(frozen=True)
class Variable:
    """Numbers of a lane that steps change; `x` are symbols of what they are where used."""

    number: int
    start: float
    x: SX


@dataclass
class Group:
    """Straight-line code: values kept, rows put, then changes of variables, all from one trace."""

    exact: bool
    values: list[tuple[int, SX, SX]] = field(default_factory=list)  # (number, symbols, expressions)
    puts: list[tuple[Tile, Index, SX]] = field(default_factory=list)
    assigns: list[tuple[Variable, SX, SX | None]] = field(default_factory=list)
    leasts: list[tuple[Variable, SX, list[tuple[Variable, SX]]]] = field(default_factory=list)
    guards: list[SX] = field(default_factory=list)
    traced: Any = None  # its program, once the code generator has made it

    @property
    def changes(self) -> bool:
        return bool(self.assigns or self.leasts)


@dataclass
class RowLoop:
    """For each row of a table, or of a part of it."""

    table: Table
    number: int
    first: Index | None
    count: Index | None
    block: list


@dataclass
class Counting:
    """For each whole number below a number of the sample; the lanes share them out."""

    number: int
    count: SX
    block: list


@dataclass
class Where:
    """If any lane wants it."""

    condition: SX
    block: list


@dataclass
class Leave:
    """Lanes that are done with the innermost loop."""

    condition: SX


@dataclass
class Finish:
    """Lanes that are done with everything; `any_lane`: one lane's wish counts for all."""

    condition: SX
    any_lane: bool


@dataclass
class Record:
    """Variables written out for the present row of a loop, beside those of all other rows."""

    loop: int
    outputs: list[tuple[int, Variable]]


@dataclass
class Again:
    """Lanes whose verdict was too close for this scalar type: decided again in doubles."""

    condition: SX
    variable: Variable | None


class Row:
    """The present row of a loop, or one fixed row: `row["center"]` are symbols,
    `row.whole("body")` a whole number."""

    def __init__(self, stages: Stages, table: Table, loop: int) -> None:
        self._stages, self._table, self._loop = stages, table, loop

    @property
    def table(self) -> Table:
        return self._table

    @property
    def loop(self) -> int:
        return self._loop

    def __getitem__(self, column: str) -> SX:
        start, size = self._table.start(column)
        leaves = [Leaf("row", (self._table.name, self._loop, start + k)) for k in range(size)]
        return self._stages._symbols(f"{self._table.name}_{column}", leaves)

    def whole(self, column: str) -> Whole:
        if column not in self._table.whole:
            names = list(self._table.whole)
            raise InvalidInput(
                f"table {self._table.name!r} has no whole column {column!r}, expected one "
                f"of {names}"
            )
        return Whole(self._table.name, self._loop, self._table.whole.index(column))

    def beside(self, table: Table) -> Row:
        """The row of the same number in another table, which must have as many."""
        return Row(self._stages, table, self._loop)

    @property
    def number(self) -> SX:
        """Which row this is, as a number of the lane (to carry along with a least value)."""
        return self._stages._symbols("number", [Leaf("number", (self._loop,))])


class Stages:
    """The steps of a tile, written down; see the first lines of this file.

    together   the lanes of a tile compute one sample together (its `counting` loops are shared out
               among them)
    """

    def __init__(self, together: bool = False) -> None:
        self.together = together
        self.inputs: list[tuple[str, int]] = []
        self.tables: dict[str, Table] = {}
        self.tiles: list[Tile] = []
        self.variables: list[Variable] = []
        self.outputs: list[tuple[str, Variable]] = []
        self.recorded: dict[int, Table] = {}  # outputs that have a value for every row of a table
        self.leaves: dict[str, Leaf] = {}
        self.block: list = []
        self._open = self.block
        self._numbers = itertools.count()
        self._group: Group | None = None

    # what there is

    def input(self, name: str, size: int) -> SX:
        """Numbers that each sample brings."""
        j = len(self.inputs)
        self.inputs.append((name, size))
        return self._symbols(name, [Leaf("input", (j, k)) for k in range(size)])

    def table(self, name: str, columns: dict[str, int], whole: Sequence[str] = ()) -> Table:
        """A table that the run brings; tables are numbered in this order."""
        table = Table(name, tuple(columns.items()), tuple(whole))
        self.tables[name] = table
        return table

    def tile(self, name: str, rows: int, columns: int) -> Tile:
        tile = Tile(name, rows, columns)
        self.tiles.append(tile)
        return tile

    def variable(self, size: int = 1, start: float = 0.0) -> Variable:
        """Numbers of a lane with the same start value, changed by assign and least."""
        number = len(self.variables)
        x = self._symbols(f"variable{number}", [Leaf("variable", (number, k)) for k in range(size)])
        variable = Variable(number, start, x)
        self.variables.append(variable)
        return variable

    def output(self, name: str, variable: Variable) -> None:
        """What comes out for each sample; outputs are numbered in this order."""
        self.outputs.append((name, variable))

    def record(self, row: Row, **variables: Variable) -> None:
        """What comes out for each sample and row of a table: these variables,
        as they are now in its loop."""
        named = []
        for name, variable in variables.items():
            self.recorded[len(self.outputs)] = row.table
            named.append((len(self.outputs), variable))
            self.outputs.append((name, variable))
        self._add(Record(row.loop, named))

    @property
    def lane(self) -> SX:
        """The number of the lane, 0 to W - 1."""
        return self._symbols("lane", [Leaf("lane", ())])

    # straight-line steps

    def value(self, expression: SX, exact: bool = False) -> SX:
        """Computed here, once; gives symbols of it. `exact`: in doubles,
        whatever the scalar type of the kernel is."""
        group = self._in_group(exact)
        expression = casadi.densify(SX(expression))
        number = next(self._numbers)
        size = expression.numel()
        flat = expression.reshape((size, 1))
        symbols = self._symbols(f"value{number}", [Leaf("value", (number, k)) for k in range(size)])
        group.values.append((number, symbols, flat))
        return symbols.reshape(expression.shape)

    def put(self, tile: Tile, index: Index, expressions: SX, exact: bool = False) -> None:
        """Keep a row of the scratch tile."""
        group = self._in_group(exact)
        assert expressions.numel() == tile.columns, (tile, expressions.shape)
        group.puts.append((tile, index, casadi.densify(SX(expressions)).reshape((tile.columns, 1))))

    def get(self, tile: Tile, index: Index) -> SX:
        """A row of the scratch tile."""
        if self._group is not None and self._group.puts:
            self._close()
        return self._symbols(
            tile.name, [Leaf("tile", (tile.name, index, k)) for k in range(tile.columns)]
        )

    def pick(self, tile: Tile, index: Variable) -> SX:
        """A row of the scratch tile that each lane chooses itself by a variable."""
        self._close()
        return self._symbols(
            tile.name, [Leaf("pick", (tile.name, index.number, k)) for k in range(tile.columns)]
        )

    def look_up(self, table: Table, index: Variable, column: str) -> SX:
        """A column of the row that each lane chooses itself by a variable."""
        self._close()
        start, size = table.start(column)
        leaves = [Leaf("look_up", (table.name, index.number, start + k)) for k in range(size)]
        return self._symbols(f"{table.name}_{column}", leaves)

    def row(self, table: Table) -> Row:
        """The first row of a table, which must have one: numbers of a run."""
        return Row(self, table, -1)

    def guard(self, expression: SX) -> None:
        """Numbers that must not be negative in any lane, or the sample is refused."""
        self._in_group(True).guards.append(expression)

    def assign(
        self, variable: Variable, expression: SX | float, condition: SX | None = None
    ) -> None:
        """The variable becomes this, where the condition holds. Later steps see it."""
        size = variable.x.numel()
        whole = casadi.densify(SX(expression))
        flat = whole.reshape((size, 1)) if whole.numel() == size else casadi.repmat(whole, size, 1)
        self._changing(flat, condition, variable.x).assigns.append((variable, flat, condition))

    def least(self, variable: Variable, value: SX, *carried: tuple[Variable, SX]) -> None:
        """The variable becomes the value if that is less; carried ones become theirs."""
        flat = [(v, casadi.densify(SX(x)).reshape((v.x.numel(), 1))) for v, x in carried]
        seen = [value, variable.x, *(x for _, x in flat)]
        self._changing(*seen).leasts.append((variable, value, flat))

    # structure

    @contextmanager
    def rows(
        self, table: Table, first: Index | None = None, count: Index | None = None
    ) -> Iterator[Row]:
        """For each row of the table, or for `count` rows from `first`."""
        loop = RowLoop(table, next(self._numbers), first, count, [])
        with self._inside(loop):
            yield Row(self, table, loop.number)

    @contextmanager
    def counting(self, count: SX) -> Iterator[SX]:
        """For k = 0 .. count - 1, shared out among lanes that compute one sample together."""
        if not self.together:
            raise InvalidInput("counting: only for stages whose lanes compute one sample together")
        loop = Counting(next(self._numbers), self.value(count, exact=True), [])
        with self._inside(loop):
            yield self._symbols("count", [Leaf("count", (loop.number,))])

    @contextmanager
    def where(self, condition: SX) -> Iterator[None]:
        """If the condition holds in any lane; lanes where it does not hold change no variable."""
        with self._inside(Where(self.value(condition), [])):
            yield

    def leave(self, condition: SX) -> None:
        """Lanes where it holds are done with the innermost loop, which ends when all are."""
        self._add(Leave(self.value(condition)))

    def finish(self, condition: SX, any_lane: bool = False) -> None:
        """Lanes where it holds are done; the tile ends when all are,
        or with `any_lane` as soon as one is."""
        self._add(Finish(self.value(condition), any_lane))

    def again(self, condition: SX, variable: Variable | None = None) -> None:
        """Samples to decide again in doubles, if this runs in another scalar type.

        At the end of a tile the whole sample is; inside `counting` the present number alone, and
        `variable` becomes what that gives for the output that it is.
        """
        self._add(Again(self.value(condition), variable))

    # how it is written down

    def finished(self) -> Stages:
        self._close()
        return self

    def _symbols(self, name: str, leaves: Sequence[Leaf]) -> SX:
        symbols = []
        for leaf in leaves:
            unique = f"{name}#{len(self.leaves)}"
            self.leaves[unique] = leaf
            symbols.append(SX.sym(unique))
        return casadi.vertcat(*symbols) if symbols else SX(0, 1)

    def _in_group(self, exact: bool, changing: bool = False) -> Group:
        group = self._group
        if group is not None and (group.exact != exact or (group.changes and not changing)):
            self._close()
            group = None
        if group is None:
            group = self._group = Group(exact)
        return group

    def _changing(self, *expressions: SX | None) -> Group:
        """The group for a change; a new one if it looks at what this group has changed."""
        group = self._group
        if group is not None and group.changes:
            changed = [v for v, _, _ in group.assigns]
            for variable, _, carried in group.leasts:
                changed += [variable, *(v for v, _ in carried)]
            names = {symbol.name() for v in changed for symbol in casadi.symvar(v.x)}
            seen = casadi.symvar(casadi.veccat(*[x for x in expressions if x is not None]))
            if names & {symbol.name() for symbol in seen}:
                self._close()
        return self._in_group(False, changing=True)

    def _close(self) -> None:
        if self._group is not None:
            self._open.append(self._group)
            self._group = None

    def _add(self, step: object) -> None:
        self._close()
        self._open.append(step)

    @contextmanager
    def _inside(self, step: RowLoop | Counting | Where) -> Iterator[None]:
        self._add(step)
        outer, self._open = self._open, step.block
        try:
            yield
        finally:
            self._close()
            self._open = outer
