"""Neighbours: the nearest row of a table that a loop appends to, by a scan or by trees of boxes.

    table = Table(columns=3, width=4, turns=(0.0, 0.0, 6.28))
    functions = write_neighbours(module, table)
    ...
    put_row(functions, table, memory, count, row)            in a routine that appends
    near = nearest_row(functions, memory, count, point, squared)    in one that asks

Rows stand in blocks of W whose columns lie side by side, to be scanned. Large tables are grouped
by the logarithmic method: `group` new rows wait and are scanned; then they are merged with the
last groups of 1, 2, 4, ... times as many, as a binary counter carries, into one k-d tree of all
of them. A tree is balanced and has no pointers: its 2^k leaves are ranges of blocks, a branch is
a range of leaves, and the tight boxes of its two halves are kept in one place. Which rows are
sorted follows from how many there are; `names` tells which row stands where.

The answer is that of the scan, to the bit, at every width: distances add up column by column in
one order, the bound of a box is computed by the same operations, and each of them is monotone in
floating point, so that no row of a box is nearer than its bound. Of equals the first row counts;
one with a NaN is never the nearest.
Source: [Bentley1980] (groups), [Friedman1977] (trees).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from llvmlite import ir

from linkwork.engine.routines import Cell, Doubles, Routine, Value, Words

FAR = 1e300
FEW = 4096  # rows below which 8 columns are scanned; twice as many with every two columns more
GROUP = 1024  # new rows that are scanned before they are sorted
LEAF = 64
MOST = 1 << 17  # rows of one tree: sorting them is the longest pause of a loop that appends
HALVES = 2  # of a branch: their bounds are computed side by side


@dataclass(frozen=True)
class Table:
    """Tables of one kind.

    turns              the period of each column; 0 where it has none
    width              rows of a block
    group, leaf, most  rows that wait, of a leaf and of the largest tree
    few                rows from which on there are trees; 0: as many as pay

    All of them are powers of two, width <= leaf < group <= few <= most.
    """

    columns: int
    width: int
    turns: tuple[float, ...]
    few: int = 0
    group: int = GROUP
    leaf: int = LEAF
    most: int = MOST

    @property
    def first_tree(self) -> int:
        """Rows of the first tree.

        Above `most` there is none: boxes of many columns are never far from a point.
        """
        return self.few or FEW << max(0, (self.columns - 7) // 2)

    @property
    def has_trees(self) -> bool:
        return self.first_tree <= self.most

    @property
    def box(self) -> int:
        """Numbers of a branch: lower ends of both halves of each column, then upper ones."""
        return 2 * HALVES * self.columns

    def rooms(self, capacity: int) -> dict[str, int]:
        """Words of memory of so many rows; the memory of fewer rows is the beginning of each."""
        leaves = -(-capacity // self.leaf)
        blocks = leaves * self.leaf * self.columns
        return {"blocks": blocks, "names": capacity, "boxes": leaves * self.box}

    def place(self, row: Value, column: Value | int) -> Value:
        """Where a number stands in the blocks."""
        width = self.width
        return (row // width) * (self.columns * width) + row % width + column * width

    def in_trees(self, r: Routine, count: Value) -> Value:
        """How many of the rows stand in trees."""
        return r.choose(count < self.first_tree, 0, r.whole(count - count % self.group))

    def last_tree(self, r: Routine, in_trees: Value) -> Value:
        """Rows of the last of the trees: the lowest bit of the number of all."""
        lowest = r.whole(in_trees & (0 - in_trees))
        return r.choose(lowest > self.most, self.most, lowest)


class Memory(NamedTuple):
    """Where a table stands: see `Table.rooms`."""

    blocks: Doubles
    names: Words
    boxes: Doubles

    @property
    def addresses(self) -> tuple[Value, Value, Value]:
        return self.blocks.address, self.names.address, self.boxes.address


class Functions(NamedTuple):
    """Functions of a module for tables of one kind."""

    nearest: ir.Function  # (blocks, names, boxes, count, point, squared) -> row
    sort: ir.Function | None  # (blocks, names, boxes, first leaf, leaves, box)


def write_neighbours(module: ir.Module, table: Table) -> Functions:
    """Define what `put_row` and `nearest_row` call."""
    sort = _write_sort(module, table, _write_select(module, table)) if table.has_trees else None
    return Functions(_write_nearest(module, table), sort)


def put_row(functions: Functions, table: Table, memory: Memory, at: Value, row: Doubles) -> None:
    """Append a row; `at` says how many there are before it."""
    r = memory.blocks.r
    place = table.place(at, 0)
    for c in range(table.columns):
        memory.blocks[place + c * table.width] = row[c]
    if functions.sort is None:
        return
    memory.names[at] = at
    count = r.whole(at + 1)
    with r.when(table.in_trees(r, count).equals(count)):
        rows = r.whole(table.last_tree(r, count))
        box = r.memory(table.box)  # of the whole tree: nobody asks for it
        leaf = table.leaf
        r.call(functions.sort, *memory.addresses, (count - rows) // leaf, rows // leaf, box.address)


def nearest_row(
    functions: Functions,
    memory: Memory,
    count: Value,
    point: Doubles,
    squared: Doubles,
) -> Value:
    """The row nearest to a point; its squared distance is put away. Of no rows: 0, FAR."""
    asked = (count, point.address, squared.address)
    return memory.blocks.r.call(functions.nearest, *memory.addresses, *asked)


def _write_nearest(module: ir.Module, table: Table) -> ir.Function:
    r = Routine(module, "nearest", 6)
    blocks, names, boxes, count, point, squared = r.arguments
    memory = Memory(Doubles(r, blocks), Words(r, names), Doubles(r, boxes))
    search = _Search(r, table, memory, Doubles(r, point))
    in_trees = r.whole(table.in_trees(r, count) if table.has_trees else 0)
    search.scan(in_trees, count)
    if table.has_trees:
        with r.when(in_trees > 0):
            search.search_trees(in_trees)
    least, nearest = r.number(FAR), r.whole(0)
    for k in range(table.width):
        distance, row = _lane(search.best, k), _lane(search.chosen, k)
        better = (distance < least) | (distance.equals(least) & (row < nearest))
        nearest.set(r.choose(better, row, nearest))
        least.set(r.choose(better, distance, least))
    Doubles(r, squared)[0] = least
    r.give(nearest)
    return r.function


class _Search:
    """The nearest row so far, lane by lane, while `nearest` is written."""

    def __init__(self, r: Routine, table: Table, memory: Memory, query: Doubles) -> None:
        self.r, self.table, self.memory, self.query = r, table, memory, query
        self.wanted = [r.everywhere(query[c], table.width) for c in range(table.columns)]
        self.best, self.chosen = r.vector(table.width, FAR), r.words_vector(table.width, 0)

    def scan(self, first: Value, count: Value) -> None:
        """Rows first .. count - 1, which ascend: of equals the first counts."""
        r, width = self.r, self.table.width
        begin = first // width
        with r.times((count + (width - 1)) // width - begin) as k:
            squared = self._squared(begin + k)
            row = r.counted_lanes((begin + k) * width, width)
            self._take((squared < self.best) & (row < r.everywhere(count, width)), squared, row)

    def search_trees(self, in_trees: Cell) -> None:
        """One tree after the other, the last first."""
        r, table = self.r, self.table
        depth = (table.most // table.leaf).bit_length()
        self.waiting = [r.memory(depth) for _ in range(3)]
        self.halves = [r.everywhere(self.query[c], HALVES) for c in range(table.columns)]
        self.least = r.number(self._least())
        with r.loop():
            r.leave(in_trees.equals(0))
            rows = r.whole(table.last_tree(r, in_trees))
            in_trees.set(in_trees - rows)
            self._search_tree(in_trees // table.leaf, rows // table.leaf)

    def _search_tree(self, first_leaf: Value, leaves: Value) -> None:
        """Down to the nearer half, while the other one waits with its bound."""
        r = self.r
        firsts, spans = (Words(r, part.address) for part in self.waiting[:2])
        bounds = self.waiting[2]
        firsts[0], spans[0], bounds[0] = first_leaf, leaves, 0.0
        waiting = r.whole(1)
        with r.loop():
            r.leave(waiting.equals(0))
            waiting.set(waiting - 1)
            r.skip(bounds[waiting] > self.least)
            first, span = r.whole(firsts[waiting]), r.whole(spans[waiting])
            with r.loop():
                r.leave(span <= 1)
                half = r.whole(span // 2)
                both = self._bounds(self.memory.boxes.at((first + half - 1) * self.table.box))
                left, right = both.lane(0), both.lane(1)
                is_left = left <= right
                near, far = r.choose(is_left, left, right), r.choose(is_left, right, left)
                firsts[waiting] = r.choose(is_left, first + half, first)
                spans[waiting], bounds[waiting] = half, far
                waiting.set(r.choose(far <= self.least, waiting + 1, waiting))
                first.set(r.choose(is_left, first, first + half))
                span.set(r.choose(near <= self.least, half, r.whole(0)))
            r.skip(span.equals(0))
            self._search_leaf(first)

    def _search_leaf(self, leaf: Value) -> None:
        r, width = self.r, self.table.width
        blocks = self.table.leaf // width
        with r.times(blocks) as k:
            block = leaf * blocks + k
            squared = self._squared(block)
            row = self.memory.names.lanes(block * width, width)
            before = squared.equals(self.best) & (row < self.chosen)
            self._take((squared < self.best) | before, squared, row)
        self.least.set(self._least())

    def _squared(self, block: Value) -> Value:
        """Squared distances of the rows of a block."""
        r, table, width = self.r, self.table, self.table.width
        start = block * (table.columns * width)
        total: Value = self.best
        for c, turn in enumerate(table.turns):
            way = self.memory.blocks.lanes(start + c * width, width) - self.wanted[c]
            if turn:
                way = way - r.nearest_whole(way * (1.0 / turn)) * turn
            total = way * way if c == 0 else r.multiply_add(way, way, total)
        return total

    def _take(self, nearer: Value, squared: Value, row: Value) -> None:
        self.best.set(self.r.choose(nearer, squared, self.best))
        self.chosen.set(self.r.choose(nearer, row, self.chosen))

    def _least(self) -> Value:
        least = _lane(self.best, 0)
        for k in range(1, self.table.width):
            least = self.r.choose(_lane(self.best, k) < least, _lane(self.best, k), least)
        return least

    def _bounds(self, boxes: Doubles) -> Value:
        """Squared distances of two boxes: no row of theirs is nearer."""
        r = self.r
        total, none = self.halves[0], r.vector(HALVES, 0.0)
        for c, turn in enumerate(self.table.turns):
            low = boxes.lanes(2 * c * HALVES, HALVES) - self.halves[c]
            high = boxes.lanes((2 * c + 1) * HALVES, HALVES) - self.halves[c]
            if turn:
                gap = _gap_around(r, low, high, turn, none)
            else:
                below = none - high
                gap = r.choose(low > below, low, below)
            gap = r.choose(gap > 0.0, gap, none)
            total = gap * gap if c == 0 else r.multiply_add(gap, gap, total)
        return total


def _gap_around(r: Routine, low: Value, high: Value, turn: float, none: Value) -> Value:
    """The least way of those from low to high, where whole turns do not count; negative: none.

    Within one turn ways grow from low to high. Across half a turn they begin again at the other
    end, and are the least at low or high. Further apart all ways occur.
    """
    turns_low, turns_high = (r.nearest_whole(way * (1.0 / turn)) for way in (low, high))
    above, below = low - turns_low * turn, turns_high * turn - high
    larger = r.choose(above > below, above, below)
    smaller = r.choose(above < below, above, below)
    across = r.choose(turns_high.equals(turns_low + 1.0), smaller, none)
    return r.choose(turns_low.equals(turns_high), larger, across)


def _write_sort(module: ir.Module, table: Table, select: ir.Function) -> ir.Function:
    """Define sort: the rows of some leaves as a tree,
    halved along the widest column of each branch."""
    r = Routine(module, "sort", 6)
    blocks, names, boxes, first, leaves, box = r.arguments
    lows, highs = _box(r, table, Doubles(r, blocks), first, leaves)
    put_away = Doubles(r, box)
    widest, most = r.whole(0), r.number(-1.0)
    for c, (low, high) in enumerate(zip(lows, highs, strict=True)):
        put_away[2 * HALVES * c], put_away[2 * HALVES * c + HALVES] = low, high
        wider = high - low > most
        widest.set(r.choose(wider, c, widest))
        most.set(r.choose(wider, high - low, most))
    with r.when(leaves > 1):
        half = r.whole(leaves // 2)
        r.call(select, blocks, names, first * table.leaf, leaves * table.leaf, widest)
        halves = Doubles(r, boxes).at((first + half - 1) * table.box)
        for k, start in enumerate((first, first + half)):
            r.call(r.function, blocks, names, boxes, start, half, halves.at(k).address)
    r.give(0)
    return r.function


def _box(
    r: Routine,
    table: Table,
    blocks: Doubles,
    first: Value,
    leaves: Value,
) -> tuple[list[Cell], list[Cell]]:
    """The least and the largest number of each column of some leaves; NaN is neither."""
    width, columns = table.width, table.columns
    lows = [r.vector(width, float("inf")) for _ in range(columns)]
    highs = [r.vector(width, float("-inf")) for _ in range(columns)]
    start = blocks.at(first * (table.leaf * columns))
    with r.times(leaves * (table.leaf // width)) as block:
        for c in range(columns):
            numbers = start.lanes((block * columns + c) * width, width)
            lows[c].set(r.choose(numbers < lows[c], numbers, lows[c]))
            highs[c].set(r.choose(numbers > highs[c], numbers, highs[c]))
    least = [r.number(_lane(low, 0)) for low in lows]
    largest = [r.number(_lane(high, 0)) for high in highs]
    for c in range(columns):
        for k in range(1, width):
            low, high = _lane(lows[c], k), _lane(highs[c], k)
            least[c].set(r.choose(low < least[c], low, least[c]))
            largest[c].set(r.choose(high > largest[c], high, largest[c]))
    return least, largest


def _lane(vector: Value, k: int) -> Value:
    return vector.lane(k) if isinstance(vector.ir.type, ir.VectorType) else vector


def _write_select(module: ir.Module, table: Table) -> ir.Function:
    """Define select(blocks, names, first, count, column): quickselect, lower half of rows first.

    Comparisons with NaN are false, which ends a walk as the pivot's number does: rows with NaN
    stand anywhere.
    """
    r = Routine(module, "select", 5)
    blocks, names, first, count, column = r.arguments
    memory = (Doubles(r, blocks), Words(r, names))

    def number(row: Value) -> Value:
        return memory[0][table.place(row, column)]

    low, high = r.whole(first), r.whole(first + count - 1)
    middle = first + count // 2
    with r.loop():
        r.leave(low >= high)
        # a pivot from anywhere: rows that come in some order take no longer
        pivot = r.number(number(low + (high * 2654435761 + low * 40503) % (high - low + 1)))
        up, down = r.whole(low), r.whole(high)
        with r.loop():
            with r.loop():
                r.leave(~(number(up) < pivot))
                up.set(up + 1)
            with r.loop():
                r.leave(~(number(down) > pivot))
                down.set(down - 1)
            r.leave(up > down)
            _swap(table, *memory, up, down)
            up.set(up + 1)
            down.set(down - 1)
            r.leave(up > down)
        low.set(r.choose(down < middle, up, low))
        high.set(r.choose(up > middle, down, high))
    r.give(0)
    return r.function


def _swap(table: Table, blocks: Doubles, names: Words, one: Value, other: Value) -> None:
    here, there = table.place(one, 0), table.place(other, 0)
    places: list[tuple[Doubles, Value, Value]] = [(names, one, other)]
    for column in range(0, table.columns * table.width, table.width):
        places.append((blocks, here + column, there + column))
    for memory, first, second in places:
        kept = memory[first]
        memory[first] = memory[second]
        memory[second] = kept
