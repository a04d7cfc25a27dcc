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
from linkwork.simulation.controllers import Bound, as_controller
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import plant_of
from linkwork.simulation.sampling import Sampled


def step_function(controller: Any, robot: Any, period: float | None = None) -> casadi.Function:
    """(t, q, v, memory) -> (tau, next memory): one sample of a controller, its gains and numbers written in.

    period [s]: that of Sampled if the controller is one.
    """
    law = as_controller(controller)
    if isinstance(law, Sampled):
        if law.delay or (period is not None and abs(period - law.period) > 1e-12):
            raise InvalidInput(
                "export_c: a delay belongs to the machine, and the period is that of Sampled; leave them out"
            )
        period, law = law.period, law.controller
    if period is None:
        raise InvalidInput("export_c: period is None, expected the time between samples [s], or Sampled(law, period)")
    T = positive(period, "export_c: period")
    plant = plant_of(robot)
    bound = law.bound(plant)
    if bound.samplers():
        raise NotPossible("export_c: laws of several rates are exported one by one: each Sampled part has its own file")
    if bound.python:
        raise NotPossible(f"export_c: {bound.python}")
    if bound.sequences:
        raise NotPossible("export_c: rows a step are no law; give the target as numbers or as a function of time")
    return _traced(bound, plant, T)


def _traced(bound: Bound, plant: Plant, period: float) -> casadi.Function:
    t, q, v = SX.sym("t"), SX.sym("q", plant.nq), SX.sym("v", plant.nv)
    memory = SX.sym("memory", bound.kept)
    numbers = {}
    for name, x in bound.parameters.items():
        if x.ndim != 1 and x.size != x.shape[-1]:
            raise InvalidInput(f"export_c: {name} has shape {x.shape}: a batch of gain sets; choose one")
        numbers[name] = SX(x.ravel())
    tau, after = bound.sample(plant, t, q, v, memory, numbers, SX(period))
    names = ["t", "q", "v", "memory"], ["tau", "next"]
    return casadi.Function(
        "law", [t, q, v, memory], [casadi.densify(tau), casadi.densify(after)], *names, {"cse": True}
    )


def export_c(controller: Any, robot: Any, path: str | Path, period: float | None = None, vectors: int = 20) -> Path:
    """Write `path` (.c) with its header and test vectors beside it; gives the path.

    The file needs math.h alone and allocates nothing:

        NAME_init(&state);
        NAME_step(&state, t, q, v, tau);      every period

    q, v: measured [rad, m; rad/s, m/s]; tau: joint forces [N m, N]. NAME_vectors.csv has `vectors` rows of inputs and
    results of a run of samples, to check a port with.
    """
    place = Path(path)
    if place.suffix != ".c":
        raise InvalidInput(f'export_c: path is "{place}", expected a file that ends in .c')
    name = place.stem
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise InvalidInput(f'export_c: "{name}" is no C identifier; rename the file')
    law = controller if not isinstance(controller, Sampled) else controller.controller
    T = controller.period if isinstance(controller, Sampled) else period
    function = step_function(controller, robot, period)
    nq, nv, kept = (function.numel_in(k) for k in (1, 2, 3))
    generated = casadi.CodeGenerator("law", {"with_header": False, "casadi_int": "int"})
    generated.add(function)
    body = re.sub(r"\blaw(?=\(|_)", f"{name}_law", generated.dump())
    sizes = (function.sz_arg(), function.sz_res(), function.sz_iw(), function.sz_w())
    about = f"{type(law).__name__}, sampled every {T:g} s; q, v [rad, m; rad/s, m/s], tau [N m, N]"
    write_atomically(
        place.with_suffix(".h"),
        _HEADER.format(name=name, NAME=name.upper(), about=about, nq=nq, nv=nv, kept=max(kept, 1)),
    )
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
        ),
    )
    write_atomically(place.with_name(f"{name}_vectors.csv"), _vectors(function, float(T or 0.0), vectors))
    return place


def stepped(function: casadi.Function, q: Any, v: Any, period: float) -> np.ndarray:
    """tau (n, nv) over samples q (n, nq), v (n, nv), the memory carried on."""
    rows, speeds = as_doubles(q, "stepped: q"), as_doubles(v, "stepped: v")
    memory, found = np.zeros(function.numel_in(3)), []
    for k, (at, speed) in enumerate(zip(rows, speeds, strict=True)):
        tau, after = function(k * period, at, speed, memory)
        memory = np.array(after).ravel()
        found.append(np.array(tau).ravel())
    return np.array(found)


def _vectors(function: casadi.Function, period: float, count: int) -> str:
    random = np.random.default_rng(0)
    nq, nv = function.numel_in(1), function.numel_in(2)
    q, v = 0.5 * random.standard_normal((count, nq)), 0.5 * random.standard_normal((count, nv))
    tau = stepped(function, q, v, period)
    head = [*[f"q{k}" for k in range(nq)], *[f"v{k}" for k in range(nv)], *[f"tau{k}" for k in range(nv)]]
    rows = [",".join(f"{x:.17g}" for x in (*a, *b, *c)) for a, b, c in zip(q, v, tau, strict=True)]
    return "\n".join([",".join(head), *rows]) + "\n"


_HEADER = """/* {about} */
#ifndef {NAME}_H
#define {NAME}_H

#define {NAME}_NQ {nq}
#define {NAME}_NV {nv}

typedef struct {{
  double memory[{kept}];
}} {name}_state;

void {name}_init({name}_state *state);

/* One sample: measured q and v at time t [s] since the start; tau is held until the next. Gives 0, or 1 on failure. */
int {name}_step({name}_state *state, double t, const double *q, const double *v, double *tau);

#endif
"""

_SOURCE = """/* {about} */
#include "{name}.h"

{body}

void {name}_init({name}_state *state) {{
  int k;
  for (k = 0; k < {size}; ++k) state->memory[k] = 0.0;
}}

int {name}_step({name}_state *state, double t, const double *q, const double *v, double *tau) {{
  const double *arg[{arg}] = {{0}};
  double *res[{res}] = {{0}};
  int iw[{iw}];
  double w[{w}], next[{size}];
  int k;
  arg[0] = &t;
  arg[1] = q;
  arg[2] = v;
  arg[3] = state->memory;
  res[0] = tau;
  res[1] = next;
  if ({name}_law(arg, res, iw, w, 0)) return 1;
  for (k = 0; k < {kept}; ++k) state->memory[k] = next[k];
  return 0;
}}
"""
