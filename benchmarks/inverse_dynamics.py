"""How fast is inverse dynamics of a batch, and of one sample, beside Pinocchio,
CasADi's C code and JAX?"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import Pair, check, pair, pairs

TARGETS = {
    16_384: dict(UR5=45, xArm7=30, G1=25, Talos=20),
    65_536: dict(UR5=42, xArm7=30, G1=20, Talos=18),
}
SINGLE = dict(UR5=1.0, G1=2.0)


def rows() -> list[Row]:
    table: list[Row] = []
    for p in pairs():
        table += [*(batch(p, count) for count in TARGETS), single(p), casadi_c(p)]
    return table + [two_threads(pair(name)) for name in ("UR5", "G1")]


def batch(p: Pair, count: int) -> Row:
    (q, v, a), columns = p.samples(count)
    pool, result = pin.ModelPool(p.model, 1), np.zeros((p.model.nv, count), order="F")
    pin.rneaInParallel(1, pool, *columns, result)
    check(p.robot.inverse_dynamics(q, v, a), result[p.order].T.copy())
    ours, peer = side_by_side(
        lambda: p.robot.inverse_dynamics(q, v, a),
        lambda: pin.rneaInParallel(1, pool, *columns, result),
    )
    target = TARGETS[count][p.name]
    return Row(
        "inverse dynamics, 1 thread",
        f"{p.name}, batch {count}",
        ours / count,
        peer / count,
        "rneaInParallel",
        target,
    )


def single(p: Pair) -> Row:
    (q, v, a), columns = p.samples(1)
    q, v, a = q[0], v[0], a[0]
    other, data = [c[:, 0].copy() for c in columns], p.model.createData()
    check(
        p.robot.inverse_dynamics(q, v, a)[None],
        pin.rnea(p.model, data, *other)[p.order][None].copy(),
    )
    ours, peer = side_by_side(
        lambda: p.robot.inverse_dynamics(q, v, a), lambda: pin.rnea(p.model, data, *other)
    )
    return Row("inverse dynamics, one sample", p.name, ours, peer, "pin.rnea", SINGLE.get(p.name))


def casadi_c(p: Pair, count: int = 4096) -> Row:
    """CasADi's own generated C, gcc -O3 -march=native, looped in C over the same rows."""
    function = p.robot.function("inverse_dynamics")
    n = p.robot.nv
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "f.c"
        p.robot.export_c("inverse_dynamics", source)
        source.write_text(
            source.read_text()
            + f"""
void loop(const double* q, const double* v, const double* a, double* tau, long count, double* w) {{
  for (long k = 0; k < count; ++k) {{
    const double* arg[{function.sz_arg()}] = {{q + k*{n}, v + k*{n}, a + k*{n}}};
    double* res[{function.sz_res()}] = {{tau + k*{n}}};
    inverse_dynamics(arg, res, 0, w, 0);
  }}
}}
"""
        )
        library = Path(folder) / "f.so"
        subprocess.run(
            [
                "gcc",
                "-O3",
                "-march=native",
                "-shared",
                "-fPIC",
                str(source),
                "-o",
                str(library),
                "-lm",
            ],
            check=True,
        )
        loop = ctypes.CDLL(str(library)).loop
    (q, v, a), _ = p.samples(count)
    tau, work = np.zeros((count, n)), np.zeros(max(1, function.sz_w()))
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (q, v, a, tau)]
    call = lambda: loop(*pointers, ctypes.c_long(count), ctypes.c_void_p(work.ctypes.data))
    call()
    check(p.robot.inverse_dynamics(q, v, a), tau)
    ours, peer = side_by_side(lambda: p.robot.inverse_dynamics(q, v, a), call)
    return Row(
        "inverse dynamics, same trace",
        f"{p.name}, batch {count}",
        ours / count,
        peer / count,
        "CasADi C, gcc -O3",
    )


def two_threads(p: Pair, count: int = 65_536) -> Row:
    (q, v, a), _ = p.samples(count)
    out = np.empty((count, p.robot.nv))

    def with_threads(n: int):
        def work() -> None:
            lw.threads(n)
            p.robot.inverse_dynamics(q, v, a, out=out)

        return work

    ours, peer = side_by_side(with_threads(2), with_threads(1))
    lw.threads(1)
    return Row(
        "two threads against one",
        f"{p.name}, batch {count}",
        ours / count,
        peer / count,
        "1 thread",
        1.6,
    )
