"""Growing tables: rows that a routine appends, the nearest of them by a SIMD scan, and numbers spread evenly.

A table of points is kept twice: row by row, to be read, and in blocks of W rows whose columns lie side by side, to be
scanned. Distances add up column by column in one order, so that the nearest row is the same at every width; of equals
the first counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine.routines import Doubles, Routine, Value, Words

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
HALTON = (
    12  # above so many dimensions the sequence is a hash of the counter: Halton's pairs of large primes are stripes
)
FAR = 1e300


def write_nearest(module: ir.Module, size: int, width: int, turns: Sequence[float]) -> ir.Function:
    """Define nearest(blocks, count, point, squared) -> row nearest to a point; its squared distance is put away.

    turns   the period of each column; 0 where it has none
    """
    r = Routine(module, "nearest", 4)
    blocks, count, point, squared = r.arguments
    table, query = Doubles(r, blocks), Doubles(r, point)
    wanted = [r.everywhere(query[c], width) for c in range(size)]
    best, chosen = r.vector(width, FAR), r.words_vector(width, 0)
    with r.times((count + (width - 1)) // width) as block:
        start = block * (size * width)
        total: Value = Value(r, ir.Constant(best.type, ir.Undefined))
        for c in range(size):
            way = table.lanes(start + c * width, width) - wanted[c]
            if turns[c]:
                way = way - r.nearest_whole(way * (1.0 / turns[c])) * turns[c]
            total = way * way if c == 0 else r.multiply_add(way, way, total)
        row = r.counted_lanes(block * width, width)
        nearer = (total < best) & (row < r.everywhere(count, width))
        best.set(r.choose(nearer, total, best))
        chosen.set(r.choose(nearer, row, chosen))
    least, nearest = r.number(FAR), r.whole(0)
    for lane in range(width):
        distance, row = (best.lane(lane), chosen.lane(lane)) if width > 1 else (best, chosen)
        better = (distance < least) | (distance.equals(least) & (row < nearest))
        nearest.set(r.choose(better, row, nearest))
        least.set(r.choose(better, distance, least))
    Doubles(r, squared)[0] = least
    r.give(nearest)
    return r.function


def put_row(
    rows: Doubles, blocks: Doubles, at: Value, point: Doubles, size: int, scaled: Doubles, columns: int, width: int
) -> None:
    """Put a point (size) into the table at the row `at`, and the numbers (columns) that distances are measured by."""
    own = rows.at(at * size)
    for c in range(size):
        own[c] = point[c]
    column = (at // width) * (columns * width) + at % width
    for c in range(columns):
        blocks[column + c * width] = scaled[c]


def write_spread(module: ir.Module, size: int) -> ir.Function:
    """Define spread(counter, shift, lower, span, point): the counter-th of points spread evenly over a box.

    Halton's sequence: digits of the counter in base p, mirrored at the point, shifted modulo 1 by numbers of a seed.
    """
    r = Routine(module, "spread", 5)
    counter, shift, lower, span, point = r.arguments
    shifts, lowers, spans, target = (Doubles(r, x) for x in (shift, lower, span, point))
    for c in range(size):
        fraction = mirrored(r, counter, PRIMES[c]) if size <= HALTON else hashed(r, counter, c)
        moved = fraction + shifts[c]
        target[c] = r.multiply_add(moved - r.floor(moved), spans[c], lowers[c])
    r.give(0)
    return r.function


def mirrored(r: Routine, counter: Value, base: int) -> Value:
    """The digits of a counter in a base, mirrored at the point."""
    left, total, digit = r.whole(counter), r.number(0.0), r.number(1.0 / base)
    with r.loop():
        r.leave(left < 1)
        total.set(total + digit * (left % base).as_number())
        left.set(left // base)
        digit.set(digit * (1.0 / base))
    return Value(r, total.ir)


def hashed(r: Routine, counter: Value, column: int) -> Value:
    """A number 0 .. 1 that depends on the counter and the column alone (the finaliser of splitmix64)."""
    b = r.b
    x = (counter * 64 + column) * -7046029254386353131
    for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        x = Value(r, b.xor(x.ir, b.lshr(x.ir, ir.Constant(x.ir.type, shift)))) * factor
    x = Value(r, b.xor(x.ir, b.lshr(x.ir, ir.Constant(x.ir.type, 31))))
    return Value(r, b.lshr(x.ir, ir.Constant(x.ir.type, 11))).as_number() * 2.0**-53


def copy(target: Doubles | Words, source: Doubles | Words, size: int) -> None:
    """Some numbers from one place to another."""
    for c in range(size):
        target[c] = source[c]
