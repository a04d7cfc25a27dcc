"""Equations: the columns of a System as readable SymPy expressions, LaTeX and Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi
from casadi import SX

from linkwork.errors import NotPossible, UnknownName, did_you_mean
from linkwork.lagrange.columns import Column
from linkwork.lagrange.terms import Lagrangian

if TYPE_CHECKING:
    from linkwork.lagrange.system import System

try:
    import sympy
    from sympy.printing.conventions import split_super_sub
    from sympy.printing.pycode import PythonCodePrinter
except ImportError as error:
    raise NotPossible(
        'equations: SymPy is not installed; pip install "linkwork[symbolic]"'
    ) from error

SMALL = 3000
"""Operations of an energy up to which products of sines and cosines are turned into sums before
differentiating."""

_PLAIN = (1, 2, 3, 4, 6, 8, 12)  # denominators that read better as fractions
_UNARY = {
    casadi.OP_NEG: lambda x: -x,
    casadi.OP_SQ: lambda x: x**2,
    casadi.OP_TWICE: lambda x: 2 * x,
    casadi.OP_INV: lambda x: 1 / x,
    casadi.OP_SQRT: sympy.sqrt,
    casadi.OP_SIN: sympy.sin,
    casadi.OP_COS: sympy.cos,
    casadi.OP_TAN: sympy.tan,
    casadi.OP_ASIN: sympy.asin,
    casadi.OP_ACOS: sympy.acos,
    casadi.OP_ATAN: sympy.atan,
    casadi.OP_SINH: sympy.sinh,
    casadi.OP_COSH: sympy.cosh,
    casadi.OP_TANH: sympy.tanh,
    casadi.OP_ASINH: sympy.asinh,
    casadi.OP_ACOSH: sympy.acosh,
    casadi.OP_ATANH: sympy.atanh,
    casadi.OP_EXP: sympy.exp,
    casadi.OP_EXPM1: lambda x: sympy.exp(x) - 1,
    casadi.OP_LOG: sympy.log,
    casadi.OP_LOG1P: lambda x: sympy.log(1 + x),
    casadi.OP_ERF: sympy.erf,
    casadi.OP_FABS: sympy.Abs,
    casadi.OP_SIGN: sympy.sign,
    casadi.OP_FLOOR: sympy.floor,
    casadi.OP_CEIL: sympy.ceiling,
    casadi.OP_ASSIGN: lambda x: x,
}
_BINARY = {
    casadi.OP_ADD: lambda x, y: x + y,
    casadi.OP_SUB: lambda x, y: x - y,
    casadi.OP_MUL: lambda x, y: x * y,
    casadi.OP_DIV: lambda x, y: x / y,
    casadi.OP_POW: lambda x, y: x**y,
    casadi.OP_CONSTPOW: lambda x, y: x**y,
    casadi.OP_ATAN2: sympy.atan2,
    casadi.OP_HYPOT: lambda x, y: sympy.sqrt(x**2 + y**2),
    casadi.OP_FMIN: sympy.Min,
    casadi.OP_FMAX: sympy.Max,
    casadi.OP_LT: sympy.Lt,
    casadi.OP_LE: sympy.Le,
    casadi.OP_IF_ELSE_ZERO: lambda condition, x: sympy.Piecewise((x, condition), (0, True)),
}


@dataclass(frozen=True)
class Letters:
    """The SymPy symbols of a system: q, v, a by coordinate, variables by name, t."""

    q: dict[str, Any]
    v: dict[str, Any]
    a: dict[str, Any]
    variables: dict[str, Any]
    t: Any

    def latex(self) -> dict[Any, str]:
        """How symbols are printed: dots over the coordinate, words upright."""
        names = {x: _word(name) for name, x in (*self.q.items(), *self.variables.items())}
        names |= {x: _word(name, r"\dot") for name, x in self.v.items()}
        return names | {x: _word(name, r"\ddot") for name, x in self.a.items()}


@dataclass(frozen=True, repr=False)
class Equations:
    """tau_ki by term and coordinate: equations["link2"]["joint1"]; their sums:
    equations.total["joint1"].

    lagrangians   the Lagrangian of every term; dissipation its Rayleigh function
    letters       the symbols used: letters.q["joint1"], letters.v, letters.a, letters.variables,
                  letters.t
    """

    name: str
    cells: Mapping[str, Mapping[str, Any]]
    lagrangians: Mapping[str, Any]
    dissipation: Mapping[str, Any]
    letters: Letters

    def __getitem__(self, term: str) -> Mapping[str, Any]:
        if term not in self.cells:
            raise UnknownName(
                f'equations: there is no term "{term}"{did_you_mean(term, self.cells)}'
            )
        return self.cells[term]

    @property
    def total(self) -> dict[str, Any]:
        """The equation of motion of each coordinate: what tau must be."""
        return {
            k: sum((cells[k] for cells in self.cells.values()), sympy.Integer(0))
            for k in self.letters.q
        }

    def latex(self) -> str:
        """One aligned equation a coordinate, one underbraced part a term."""
        names = self.letters.latex()
        lines = []
        for k, coordinate in enumerate(self.letters.q):
            parts = [
                rf"\underbrace{{{sympy.latex(cells[coordinate], symbol_names=names)}}}_{{\text{{{_plain_text(term)}}}}}"
                for term, cells in self.cells.items()
                if cells[coordinate] != 0
            ]
            lines.append(rf"\tau_{{{k + 1}}} &= {' + '.join(parts) or '0'}")
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def __repr__(self) -> str:
        return (
            f"<Equations of {self.name}: {len(self.letters.q)} coordinates, "
            f"{len(self.cells)} terms>"
        )

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def python(self, name: str = "torque_table") -> str:
        """The source of a function of q, v, a (and t) that gives {term: forces},
        with the standard library alone."""
        letters = self.letters
        flat = [cell for cells in self.cells.values() for cell in cells.values()]
        shared, results = sympy.cse(flat, symbols=sympy.numbered_symbols("x_"))
        printer = _SourcePrinter()
        lines = [f"{symbol} = {printer.doprint(value)}" for symbol, value in shared]
        rows, k = [], 0
        for term, cells in self.cells.items():
            row = ", ".join(printer.doprint(each) for each in results[k : k + len(cells)])
            rows.append(f"        {term!r}: [{row}],")
            k += len(cells)
        values = "".join(f", {variable}" for variable in letters.variables)
        head = ["import math", "", "", f"def {name}(q, v, a{values}, t=0.0):"]
        head.append(
            f'    """Forces on {", ".join(letters.q)} that each term of {self.name} takes."""'
        )
        for label, side in (("q", letters.q), ("v", letters.v), ("a", letters.a)):
            head.append(f"    {', '.join(str(s) for s in side.values())}, = {label}")
        return "\n".join(
            [*head, *(f"    {line}" for line in lines), "    return {", *rows, "    }", ""]
        )

    def __str__(self) -> str:
        lines = []
        for term, cells in self.cells.items():
            lines.append(f"{term}:")
            lines += [
                f"    {k}: {sympy.sstr(cell, full_prec=False)}"
                for k, cell in cells.items()
                if cell != 0
            ]
        return "\n".join(lines)


def equations(system: System, term: str | None = None, simplify: bool | None = None) -> Equations:
    """tau_ki = d/dt dL_i/dv_k - dL_i/dq_k + dR_i/dv_k,
    differentiated by SymPy from the energies of the term.

    simplify: turn products of sines and cosines into sums, so that squares of velocities collapse
    (None: for energies of up to SMALL operations). Source: [Kusaka2022] eqs. 3-7, 10-22; see
    `columns.trace` for the corrections.
    """
    columns = {column.name: column for column in system.columns}
    if term is not None and term not in columns:
        raise UnknownName(
            f'equations: system "{system.name}" has no term "{term}"{did_you_mean(term, columns)}'
        )
    letters = _letters(system)
    solved = {
        name: _solved(system, columns[name], simplify)
        for name in (columns if term is None else (term,))
    }
    zero = sympy.Integer(0)
    cells = {
        name: {k: each.cells.get(k, zero) for k in system.coordinates}
        for name, each in solved.items()
    }
    lagrangians = {name: each.lagrangian for name, each in solved.items()}
    return Equations(
        system.name,
        cells,
        lagrangians,
        {name: each.dissipation for name, each in solved.items()},
        letters,
    )


@dataclass(frozen=True)
class _Solved:
    """The expressions of one column: cells by the coordinates it depends on."""

    cells: Mapping[str, Any]
    lagrangian: Any
    dissipation: Any


def _solved(system: System, column: Column, simplify: bool | None) -> _Solved:
    """Symbolic columns live as long as their traced ones:
    an edited system derives only what it traced anew."""
    return column.once((_solved, simplify), lambda: _derived(system, column, simplify))


def _derived(system: System, column: Column, simplify: bool | None) -> _Solved:
    letters, spec = _letters(system), system.terms[column.name]
    L = spec.function if isinstance(spec, Lagrangian) else column.kinetic - column.potential
    L, R = (_in_sympy(x, system, letters) for x in (L, column.rayleigh))
    tidy = sympy.count_ops(L) + sympy.count_ops(R) <= SMALL if simplify is None else simplify
    if tidy:
        L, R = (_products_as_sums(sympy.expand(x)) for x in (L, R))
    # As it stands, the force of a link of an arm in space multiplies out to millions of products.
    solved = {k: _cell(L, R, k, letters, column.depends) for k in column.depends}
    cells = {k: _numbers(sympy.expand(x) if tidy else x) for k, x in solved.items()}
    return _Solved(cells, _numbers(L), _numbers(R))


def _letters(system: System) -> Letters:
    real = {"real": True}
    return Letters(
        {k: sympy.Symbol(k, **real) for k in system.coordinates},
        {k: sympy.Symbol(f"{k}_rate", **real) for k in system.coordinates},
        {k: sympy.Symbol(f"{k}_acceleration", **real) for k in system.coordinates},
        {k: sympy.Symbol(k, real=True) for k in system.variables},
        sympy.Symbol("t", **real),
    )


def _cell(L: Any, R: Any, k: str, letters: Letters, depends: tuple[str, ...]) -> Any:
    momentum = sympy.diff(L, letters.v[k])
    rate = sympy.diff(momentum, letters.t)
    for j in depends:
        rate += (
            sympy.diff(momentum, letters.q[j]) * letters.v[j]
            + sympy.diff(momentum, letters.v[j]) * letters.a[j]
        )
    return rate - sympy.diff(L, letters.q[k]) + sympy.diff(R, letters.v[k])


def _products_as_sums(x: Any) -> Any:
    """cos a cos b = (cos(a - b) + cos(a + b)) / 2 and so on for every product:
    what cancels does so by itself.

    SymPy's own TR8 does the same a hundred times more slowly.
    """
    total: dict[Any, Any] = {}
    for term in sympy.Add.make_args(x):
        rest, waves = sympy.Integer(1), [(sympy.Integer(1), sympy.cos, sympy.Integer(0))]
        for factor in sympy.Mul.make_args(term):
            base, exponent = factor.as_base_exp()
            if not (
                isinstance(base, (sympy.sin, sympy.cos)) and exponent.is_Integer and exponent > 0
            ):
                rest = rest * factor
                continue
            for _ in range(int(exponent)):
                waves = [
                    wave for each in waves for wave in _product(*each, base.func, base.args[0])
                ]
        for weight, function, angle in waves:
            wave = function(angle)  # SymPy puts the sign of the angle in order
            total[wave] = total.get(wave, 0) + rest * weight
    return sympy.Add(*[sympy.expand(factor * wave) for wave, factor in total.items()])


def _product(weight: Any, f: Any, a: Any, g: Any, b: Any) -> list[tuple[Any, Any, Any]]:
    """weight f(a) g(b) as a sum of two waves."""
    half = weight / 2
    if f is g:
        return [(half, sympy.cos, a - b), (half if f is sympy.cos else -half, sympy.cos, a + b)]
    if f is sympy.sin:
        return [(half, sympy.sin, a + b), (half, sympy.sin, a - b)]
    return [(half, sympy.sin, a + b), (-half, sympy.sin, a - b)]


def _in_sympy(x: SX, system: System, letters: Letters) -> Any:
    """A scalar CasADi expression as a SymPy one, operation by operation;
    decimals become exact fractions."""
    s = system.scope.symbols
    known = [(s.q[k], letters.q[k]) for k in letters.q] + [
        (s.v[k], letters.v[k]) for k in letters.q
    ]
    known += [(s.variables[k], letters.variables[k]) for k in letters.variables] + [
        (s.t, letters.t)
    ]
    f = casadi.Function("f", [symbol for symbol, _ in known], [x])
    work: dict[int, Any] = {}
    result = sympy.Integer(0)
    for k in range(f.n_instructions()):
        op, out, args = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == casadi.OP_OUTPUT:
            result = work[args[0]]
        elif op == casadi.OP_INPUT:
            work[out[0]] = known[args[0]][1]
        elif op == casadi.OP_CONST:
            work[out[0]] = sympy.Rational(f"{f.instruction_constant(k):.15g}")
        elif op in _UNARY:
            work[out[0]] = _UNARY[op](work[args[0]])
        elif op in _BINARY:
            work[out[0]] = _BINARY[op](work[args[0]], work[args[1]])
        else:
            raise NotPossible(f"equations: CasADi's operation {op} has no SymPy form here")
    return result


def _numbers(x: Any) -> Any:
    """Fractions that do not read well as decimals."""
    return x.replace(
        lambda e: isinstance(e, sympy.Rational) and e.q not in _PLAIN,
        lambda e: sympy.Float(float(e), 15),
    )


class _SourcePrinter(PythonCodePrinter):
    def _print_Float(self, number: Any) -> str:
        return repr(float(number))


def _word(name: str, accent: str = "") -> str:
    """A name as LaTeX: theta1 -> \\theta_{1}, lift_2 -> \\mathrm{lift}_{2},
    with an accent over the base."""
    base, above, below = split_super_sub(name)
    letter = sympy.latex(sympy.Symbol(base))
    letter = letter if len(base) == 1 or letter.startswith("\\") else rf"\mathrm{{{base}}}"
    letter = f"{accent}{{{letter}}}" if accent else letter
    return (
        letter
        + (f"^{{{' '.join(above)}}}" if above else "")
        + (f"_{{{' '.join(below)}}}" if below else "")
    )


def _plain_text(name: str) -> str:
    return name.replace("_", r"\_")
