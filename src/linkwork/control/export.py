"""Export: a controller as one C99 file with its header, for the machine that it is meant for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.arguments import as_doubles
from linkwork.control.checks import positive
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import as_controller
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import Mechanism, plant_of
from linkwork.simulation.sampling import Sampled


def step_function(
    controller: Any, robot: Mechanism, period: float | None = None
) -> casadi.Function:
    """(t, q, v, memory, reference) -> (tau, next memory): one sample of a controller,
    its gains written in.

    period [s]: that of Sampled if the controller is one.
    reference: the law's targets where they are numbers, one after the other; a target that is a
    function of time is written in, and the reference empty.
    """
    return traced_step(controller, robot, period)[0]


def traced_step(
    controller: Any, robot: Mechanism, period: float | None
) -> tuple[casadi.Function, np.ndarray, float]:
    """(the function of one sample, the reference that the controller has, its period [s])."""
    law = as_controller(controller)
    if isinstance(law, Sampled):
        if law.delay:
            raise InvalidInput(
                f"export_c: Sampled has a delay of {law.delay:g} s, which the machine "
                "itself makes; "
                f"export Sampled(law, {law.period:g}) without it"
            )
        if period is not None and abs(period - law.period) > 1e-12:
            raise InvalidInput(
                f"export_c: period is {period:g} s, but Sampled has {law.period:g} s; leave the "
                "period out"
            )
        period, law = law.period, law.controller
    if period is None:
        raise InvalidInput(
            "export_c: period is None, expected the time between samples [s], or "
            "Sampled(law, period)"
        )
    T = positive(period, "export_c: period")
    plant = plant_of(robot)
    bound = law.bound(plant)
    if bound.samplers():
        raise NotPossible(
            "export_c: laws of several rates are exported one by one: each Sampled part has its "
            "own file"
        )
    if bound.python:
        raise NotPossible(f"export_c: {bound.python}")
    if bound.sequences:
        raise NotPossible(
            "export_c: rows a step are no law; give the target as numbers or as a function of time"
        )
    return *_traced(bound, plant, T), T


def _traced(bound: Bound, plant: Plant, period: float) -> tuple[casadi.Function, np.ndarray]:
    t, q, v = SX.sym("t"), SX.sym("q", plant.nq), SX.sym("v", plant.nv)
    memory = SX.sym("memory", bound.kept)
    numbers, asked, wanted = {}, [SX(0, 1)], [np.zeros(0)]
    for name, x in bound.parameters.items():
        if x.ndim != 1 and x.size != x.shape[-1]:
            raise InvalidInput(
                f"export_c: {name} has shape {x.shape}: a batch of gain sets; choose one"
            )
        numbers[name] = SX(x.ravel())
        if name.endswith("_target"):
            numbers[name] = SX.sym(name, x.size)
            asked.append(numbers[name])
            wanted.append(x.ravel())
    tau, after = bound.sample(plant, t, q, v, memory, numbers, SX(period))
    inputs = [t, q, v, memory, casadi.vertcat(*asked)]
    names = ["t", "q", "v", "memory", "reference"], ["tau", "next"]
    function = casadi.Function(
        "law", inputs, [casadi.densify(tau), casadi.densify(after)], *names, {"cse": True}
    )
    return function, np.concatenate(wanted)


def export_c(
    controller: Any,
    robot: Mechanism,
    path: str | Path,
    period: float | None = None,
    vectors: int = 20,
) -> Path:
    """Write `path` (.c) with its header and test vectors beside it; gives the path.

    The file needs math.h alone and allocates nothing:

        NAME_init(&state);
        NAME_step(&state, t, q, v, reference, tau);      every period

    q, v: measured [rad, m; rad/s, m/s]; reference: the target, NAME_NR numbers, or 0 for the one
    that is written in;
    tau: joint forces [N m, N]. NAME_vectors.csv has `vectors` rows of inputs and
    results of a run of samples, to check a port with.
    """
    place = Path(path)
    if place.suffix != ".c":
        raise InvalidInput(f'export_c: path is "{place}", expected a file that ends in .c')
    name = place.stem
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise InvalidInput(f'export_c: "{name}" is no C identifier; rename the file')
    law = controller if not isinstance(controller, Sampled) else controller.controller
    function, reference, T = traced_step(controller, robot, period)
    nq, nv, kept = (function.numel_in(k) for k in (1, 2, 3))
    generated = casadi.CodeGenerator("law", {"with_header": False, "casadi_int": "int"})
    generated.add(function)
    body = re.sub(r"\blaw(?=\(|_)", f"{name}_law", generated.dump())
    sizes = (function.sz_arg(), function.sz_res(), function.sz_iw(), function.sz_w())
    about = f"{_named(law)}, sampled every {T:g} s; q, v [rad, m; rad/s, m/s], tau [N m, N]"
    plant = plant_of(robot)
    told = {"q_names": ", ".join(plant.q_names), "v_names": ", ".join(plant.v_names)}
    sized = {"nq": nq, "nv": nv, "nr": len(reference), "kept": max(kept, 1)}
    header = _HEADER.format(name=name, NAME=name.upper(), about=about, **told, **sized)
    write_atomically(place.with_suffix(".h"), header)
    write_atomically(
        place,
        _SOURCE.format(
            name=name,
            body=body,
            about=about,
            kept=kept,
            size=max(kept, 1),
            arg=sizes[0],
            res=sizes[1],
            iw=max(sizes[2], 1),
            w=max(sizes[3], 1),
            nq=nq,
            nv=nv,
            given=len(reference),
            nr=max(len(reference), 1),
            wanted=", ".join(f"{x:.17g}" for x in reference) or "0.0",
        ),
    )
    write_atomically(
        place.with_name(f"{name}_vectors.csv"), _vectors(function, T, vectors, reference)
    )
    return place


def _named(law: Any) -> str:
    """A law by the names of its parts: Saturated(GravityCompensation + PD)."""
    parts = getattr(law, "parts", None)
    if parts is not None:
        return " + ".join(_named(part) for part in parts)
    inner = getattr(law, "controller", None)
    return type(law).__name__ if inner is None else f"{type(law).__name__}({_named(inner)})"


def stepped(
    function: casadi.Function, q: Any, v: Any, period: float, reference: Any = ()
) -> np.ndarray:
    """tau (n, nv) over samples q (n, nq), v (n, nv), the memory carried on; reference:
    the target's numbers."""
    wanted = as_doubles(reference, "stepped: reference").ravel()
    if len(wanted) != function.numel_in(4):
        raise InvalidInput(
            f"stepped: reference has {len(wanted)} numbers, expected {function.numel_in(4)}"
        )
    rows, speeds = as_doubles(q, "stepped: q"), as_doubles(v, "stepped: v")
    count = len(rows)
    if rows.shape != (count, function.numel_in(1)) or speeds.shape != (count, function.numel_in(2)):
        expected = f"(n, {function.numel_in(1)}) and (n, {function.numel_in(2)})"
        raise InvalidInput(
            f"stepped: q has shape {rows.shape} and v {speeds.shape}, expected {expected}"
        )
    if not count:
        return np.zeros((0, function.numel_out(0)))
    chain = function.mapaccum("chain", count, ["memory"], ["next"])
    times, same = period * np.arange(count), np.repeat(wanted[:, None], count, axis=1)
    return np.array(chain(times[None], rows.T, speeds.T, np.zeros(function.numel_in(3)), same)[0]).T


def _vectors(function: casadi.Function, period: float, count: int, reference: np.ndarray) -> str:
    random = np.random.default_rng(0)
    nq, nv = function.numel_in(1), function.numel_in(2)
    q, v = 0.5 * random.standard_normal((count, nq)), 0.5 * random.standard_normal((count, nv))
    tau = stepped(function, q, v, period, reference)
    head = [
        *[f"q{k}" for k in range(nq)],
        *[f"v{k}" for k in range(nv)],
        *[f"tau{k}" for k in range(nv)],
    ]
    rows = [",".join(f"{x:.17g}" for x in (*a, *b, *c)) for a, b, c in zip(q, v, tau, strict=True)]
    return "\n".join([",".join(head), *rows]) + "\n"


_HEADER = """/* {about} */
/* q in the order of {q_names}; v and tau in that of {v_names} */
#ifndef {NAME}_H
#define {NAME}_H

#define {NAME}_NQ {nq}
#define {NAME}_NV {nv}
#define {NAME}_NR {nr}

typedef struct {{
  double memory[{kept}];
}} {name}_state;

void {name}_init({name}_state *state);

/* One sample: measured q and v at time t [s] since the start; reference is the target ({NAME}_NR numbers), or 0 for the
   one that is written in; tau is held until the next sample. Gives 0, or 1 where a number of q, v or reference is not
   finite: such a sample is not remembered, and tau stays as it was. */
int {name}_step({name}_state *state, double t, const double *q, const double *v, const double *reference, double *tau);

#endif
"""

_SOURCE = """/* {about} */
#include "{name}.h"

{body}

void {name}_init({name}_state *state) {{
  int k;
  for (k = 0; k < {size}; ++k) state->memory[k] = 0.0;
}}

static const double {name}_target[{nr}] = {{{wanted}}};

int {name}_step({name}_state *state, double t, const double *q, const double *v, const double *reference,
                double *tau) {{
  const double *arg[{arg}] = {{0}};
  double *res[{res}] = {{0}};
  int iw[{iw}];
  double w[{w}], next[{size}];
  int k;
  for (k = 0; k < {nq}; ++k) if (!(q[k] - q[k] == 0.0)) return 1;
  for (k = 0; k < {nv}; ++k) if (!(v[k] - v[k] == 0.0)) return 1;
  for (k = 0; reference && k < {given}; ++k) if (!(reference[k] - reference[k] == 0.0)) return 1;
  arg[0] = &t;
  arg[1] = q;
  arg[2] = v;
  arg[3] = state->memory;
  arg[4] = reference ? reference : {name}_target;
  res[0] = tau;
  res[1] = next;
  if ({name}_law(arg, res, iw, w, 0)) return 1;
  for (k = 0; k < {kept}; ++k) state->memory[k] = next[k];
  return 0;
}}
"""
