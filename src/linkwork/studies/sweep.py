"""Sweep: many designs of one robot through one motion,
reduced to a few numbers each in machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import deadlines
from linkwork.actuation.coordinates import to_actuators
from linkwork.actuation.implicit import attempt
from linkwork.actuation.layout import layout_of
from linkwork.actuation.motions import Motions
from linkwork.actuation.rates import with_rates
from linkwork.arguments import as_doubles, finite, finite_rows, mapping, name_list, whole
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.loads.named_motions import arrays_of, is_file, is_table
from linkwork.progress import reported
from linkwork.studies.columns import Columns, motion_of_commands
from linkwork.subject import RobotLike, Subject, subject_of

REDUCTIONS = ("peak", "max", "min", "mean", "rms")
CHUNK = 1024
"""Designs run at once: enough to fill the lanes of all cores, few enough to report progress."""


@dataclass(frozen=True, repr=False)
class Sweep(Tabular):
    """variables: the designs' own numbers, (n,) each; results: (n,) by "column.reduction";
    valid (n,).

    A design whose loops do not close somewhere on the way is not valid and its results are NaN.
    """

    variables: dict[str, np.ndarray]
    results: dict[str, np.ndarray]
    valid: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.results:
            raise UnknownName(
                f'sweep: there is no result "{name}"{did_you_mean(name, self.results)}'
            )
        return self.results[name]

    def __repr__(self) -> str:
        varied, results = ", ".join(self.variables), ", ".join(self.results)
        return (
            f"<Sweep of {len(self.valid)} designs, {int(self.valid.sum())} valid: {varied} -> "
            f"{results}>"
        )

    def _table(self) -> dict[str, np.ndarray]:
        return {**self.variables, **self.results, "valid": self.valid}

    def best(self, name: str) -> int:
        """Index of the valid design with the smallest result."""
        if not self.valid.any():
            raise InvalidInput("sweep: no design is valid")
        return int(np.nanargmin(np.where(self.valid, self[name], np.nan)))


def sweep(
    robot: RobotLike,
    motion: Any,
    variables: Mapping[str, Any],
    columns: Mapping[str, str | tuple[str, ...]],
    steps: int = 1000,
    progress: bool | Callable[[int, int], None] = False,
    time_limit: float | None = None,
) -> Sweep:
    """Run a motion with every design.

    robot      loaded with the varied variables live
    motion     as `robot.analyse` takes it: a name of `robot.motions`, a motion, {"time", "crank"},
               a table or a file, or commands {"c": (T, nc), "cd", "cdd", "time"}: with time, rates
               left out are differentiated; without, they are zero. Coordinates
               {"q", "v", "a", "time"} alike, of robots without struts and loops
    variables  {live variable: (n,)}; others keep their present values
    columns    {column of `analyse`: "peak" | "max" | "min" | "mean" | "rms", or several}; peak is
               of the absolute value
    steps      instants over the whole of a motion that can be asked; arrays have their own
    progress   True shows a bar (rich) while it runs; a function is called with
               (designs done, all designs)
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "sweep"):
        subject = subject_of(robot, "sweep")
        designs, n = _designs(subject, variables)
        c, cd, cdd = _commands(subject, motion, steps)
        wanted = _wanted(columns)
        loop = _compiled(subject, wanted)
        results = {f"{column}.{kind}": np.full(n, np.nan) for column, kind in wanted}
        valid = np.zeros(n, dtype=bool)
        with reported(progress, "designs", n) as report:
            for begin in range(0, n, CHUNK):
                part = slice(begin, min(n, begin + CHUNK))
                some = {name: values[part] for name, values in designs.items()}
                inputs: dict[str, Any] = {
                    f"live_{k}": some[name] for k, name in enumerate(subject.live)
                }
                inputs["q"], begun = _start(subject, c[0], some, part.stop - part.start)
                run = loop(c=c, cd=cd, cdd=cdd, steps=len(c), **inputs)
                whole = (
                    np.isfinite(run.reduced["total"]) & (run.reduced["margin"] >= 0.0) & ~run.failed
                )
                closed = begun & whole
                valid[part] = closed
                for k, (column, kind) in enumerate(wanted):
                    results[f"{column}.{kind}"][part] = np.where(
                        closed, run.reduced[f"r{k}"], np.nan
                    )
                report(part.stop, n)
        return Sweep(designs, results, valid)


def _compiled(subject: Subject, wanted: list[tuple[str, str]]) -> Scan:
    layout = layout_of(subject)
    m = layout.sizes[1]
    kinds = {f"r{k}": "max" if kind == "peak" else kind for k, (_, kind) in enumerate(wanted)}
    kinds |= {"margin": "min", "total": "sum"}

    def step(q: SX, c: SX, cd: SX, cdd: SX, k: SX, **live: SX) -> dict[str, SX]:
        symbols = {name: live[f"live_{j}"] for j, name in enumerate(subject.live)}
        (x, v, a), margin = motion_of_commands(subject, symbols, c, cd, cdd, q)
        columns = Columns(subject, symbols, x, v, a, c, cd)
        row = {"q": x if layout.implicit else q, "margin": margin, "total": SX(0)}
        for j, (name, kind) in enumerate(wanted):
            row[f"r{j}"] = casadi.fabs(columns[name]) if kind == "peak" else columns[name]
            row["total"] += columns[name]  # a maximum forgets what is not a number, a sum does not
        return row

    state = {"q": subject.nq if layout.implicit else 0}
    parameters = {f"live_{k}": () for k in range(len(subject.live))}
    sequences = {"c": layout.sizes[0], "cd": m, "cdd": m}
    key = subject.key(_compiled, wanted)
    return keyed_scan(key, [step], state, parameters, sequences, reduce=kinds, name="sweep")


def _start(
    subject: Subject, c: np.ndarray, designs: Mapping[str, np.ndarray], n: int
) -> tuple[np.ndarray, np.ndarray]:
    """(coordinates at the first instant of every design, whether its loops close there); no
    coordinates with closed forms, which give them in every step."""
    if not layout_of(subject).implicit:
        return np.zeros((n, 0)), np.ones(n, dtype=bool)
    return attempt(subject, np.broadcast_to(c, (n, len(c))), designs)


def _designs(subject: Subject, variables: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], int]:
    arrays = {}
    for name, values in mapping(variables, "sweep: variables").items():
        if name not in subject.live:
            near = did_you_mean(name, subject.live)
            raise UnknownName(
                f'sweep: "{name}" is not a live variable of robot "{subject.model.name}"{near}'
            )
        arrays[name] = as_doubles(values, f"sweep: {name}").ravel()
        if not np.isfinite(arrays[name]).all():
            raise InvalidInput(f"sweep: {name} is not finite in every design")
    if not arrays:
        raise InvalidInput(
            "sweep: variables is empty, expected at least one live variable with its values"
        )
    sizes = {len(x) for x in arrays.values() if len(x) != 1} or {1}
    if len(sizes) > 1:
        shown = ", ".join(f"{name} {len(x)}" for name, x in arrays.items())
        raise InvalidInput(f"sweep: variables have different numbers of values: {shown}")
    (n,) = sizes
    present = dict(subject.model.variables)
    every = {name: arrays.get(name, np.array([present[name]])) for name in subject.live}
    return {name: np.ascontiguousarray(np.broadcast_to(x, n)) for name, x in every.items()}, n


def _commands(
    subject: Subject, motion: Any, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(c, cd, cdd) of a motion: at its own instants, or at `steps` of them."""
    layout = layout_of(subject)
    motion = mapping(_as_commands(subject, motion, steps), "sweep: motion")
    if "c" not in motion:
        raise InvalidInput(
            'sweep: motion has no "c", expected the name of a motion or {"c": (T, nc), "cd", "cdd"}'
        )
    _refuse_others(motion, ("time", "c", "cd", "cdd"))
    c = finite_rows(motion["c"], layout.sizes[0], "sweep: c")
    if c.ndim != 2 or not len(c):
        raise InvalidInput(f"sweep: c has shape {c.shape}, expected (T, {layout.sizes[0]})")
    if "time" in motion:
        commands = with_rates(subject, motion, ("c", "cd", "cdd"), "sweep")
        return commands[0], commands[1], commands[2]
    zeros = np.zeros((len(c), layout.sizes[1]))
    cd, cdd = (
        finite(motion.get(name, zeros), zeros.shape, f"sweep: {name}") for name in ("cd", "cdd")
    )
    return c, cd, cdd


def _as_commands(subject: Subject, motion: Any, steps: int) -> Any:
    """Whatever `robot.analyse` takes, as commands;
    coordinates only where they are the commands of every design."""
    if isinstance(motion, str) and not is_file(motion):
        motion = Motions(subject)[motion]
    if not hasattr(motion, "sample") and hasattr(motion, "motion"):
        motion = motion.motion  # a result that has its own instants, such as a simulation
    if is_file(motion) or is_table(motion):
        motion = (
            motion
            if isinstance(motion, Mapping) and "c" in motion
            else arrays_of(subject, motion, "sweep: motion")
        )
    elif hasattr(motion, "commands") or hasattr(motion, "sample"):
        motion = _sampled(motion, steps)
    if not isinstance(motion, Mapping) or "q" not in motion or "c" in motion:
        return motion
    if subject.model.elements:
        why = "q of a machine with struts or loops depends on its dimensions"
        raise InvalidInput(
            f'sweep: motion has no "c", and {why}; expected commands, by "c" or by their names'
        )
    _refuse_others(motion, ("time", "q", "v", "a"))
    if "time" in motion:
        q, v, a = with_rates(subject, dict(motion), ("q", "v", "a"), "sweep")
    else:
        q = finite_rows(motion["q"], subject.nq, "sweep: q")
        zeros = np.zeros((*q.shape[:-1], subject.nv))
        v, a = (
            finite(motion.get(name, zeros), zeros.shape, f"sweep: {name}") for name in ("v", "a")
        )
    c, cd, cdd = to_actuators(subject, q, v, a)
    return {"c": c, "cd": cd, "cdd": cdd}


def _sampled(motion: Any, steps: int) -> dict[str, np.ndarray]:
    """A motion that can be asked, at `steps` instants over the whole of it: its commands,
    else its coordinates."""
    count = whole(steps, "sweep: steps", 1, "a whole number of instants")
    if np.ndim(motion.duration):
        raise InvalidInput(
            f"sweep: motion is a batch of {len(motion.duration)}, expected one of it: motion[k]"
        )
    times = np.linspace(0.0, float(motion.duration), count)
    if hasattr(motion, "commands"):
        return dict(zip(("c", "cd", "cdd"), motion.commands(times), strict=True))
    return dict(zip(("q", "v", "a"), motion.sample(times), strict=True))


def _refuse_others(motion: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in motion:
        if name not in known:
            raise InvalidInput(
                f'sweep: motion has "{name}"{did_you_mean(name, known)}, expected some of '
                f"{list(known)}"
            )


def _wanted(columns: Mapping[str, str | tuple[str, ...]]) -> list[tuple[str, str]]:
    wanted = []
    for column, kinds in mapping(columns, "sweep: columns").items():
        for kind in name_list(kinds, f'sweep: column "{column}"'):
            if kind not in REDUCTIONS:
                expected = f"expected one of {', '.join(REDUCTIONS)}"
                raise InvalidInput(f'sweep: column "{column}" asks for {kind!r}, {expected}')
            wanted.append((column, kind))
    if not wanted:
        raise InvalidInput(
            "sweep: columns is empty, expected at least one column with its reduction"
        )
    return wanted
