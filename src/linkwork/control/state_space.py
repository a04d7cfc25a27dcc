"""State space: a linear system in continuous or sampled time, its poles,
frequency response and margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.matrix_exponential import matrix_exponential
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr


@short_repr
@dataclass(frozen=True)
class Margins(Tabular, rows="gain"):
    """How far a loop is from instability.

    gain            factor that the loop's gain may grow by; inf: any. smallest: factor down to
                    which it may fall
    phase [rad]     lag that it may lose at the crossover;  delay [s]: dead time that it may lose
    crossover [rad/s]  where |L| = 1;  phase_crossover [rad/s]: where L is real and negative
    sensitivity     largest |1 / (1 + L)|; below 2 is comfortable
    """

    gain: float
    smallest: float
    phase: float
    delay: float
    crossover: float
    phase_crossover: float
    sensitivity: float


@short_repr
@dataclass(frozen=True)
class StateSpace(Tabular):
    """x' = A x + B u (period None), or x_{k+1} = A x_k + B u_k every `period` [s];  y = C x + D
    u."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    period: float | None = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def _table(self) -> dict[str, np.ndarray]:
        return pole_table(self.poles, self.period)

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A, the least stable first."""
        poles = np.linalg.eigvals(self.A)
        return poles[
            np.argsort(-(poles.real if self.period is None else np.abs(poles)), kind="stable")
        ]

    @property
    def stable(self) -> bool:
        poles = self.poles
        return bool((poles.real < 0).all() if self.period is None else (np.abs(poles) < 1).all())

    def frequency_response(self, frequencies: ArrayLike) -> np.ndarray:
        """G (..., outputs, inputs), complex, at frequencies (...,) [rad/s]: C (s - A)^-1 B + D,
        s = jw or e^(jwT)."""
        w = finite_doubles(frequencies, "frequency_response: frequencies")
        s = 1j * w if self.period is None else np.exp(1j * w * self.period)
        shifted = s[..., None, None] * np.eye(len(self.A)) - self.A
        return (
            self.C @ np.linalg.solve(shifted, np.broadcast_to(self.B, (*w.shape, *self.B.shape)))
            + self.D
        )

    def sampled(self, period: float) -> StateSpace:
        """The exact map between samples, inputs held."""
        if self.period is not None:
            raise NotPossible(f"sampled: the system is sampled already, every {self.period:g} s")
        n, m = self.B.shape
        both = matrix_exponential(
            np.block([[self.A, self.B], [np.zeros((m, n + m))]])[None] * float(period)
        )[0]
        return StateSpace(
            both[:n, :n], both[:n, n:], self.C, self.D, float(period), self.inputs, self.outputs
        )

    def margins(self) -> Margins:
        """Margins of a loop gain L with one input and one output; the loop closes with u = -y."""
        if self.D.shape != (1, 1):
            raise NotPossible(
                "margins: a loop gain has one input and one output, this system "
                f"{self.D.shape[::-1]}"
            )
        w = self._grid()

        def value(at: Any) -> Any:
            return self.frequency_response(at)[..., 0, 0]

        L = value(w)
        crossings = _zeros(w, np.abs(L) - 1.0, lambda x: float(np.abs(value(np.asarray(x))) - 1.0))
        turns = _zeros(w, L.imag, lambda x: float(value(np.asarray(x)).imag))
        turns = [x for x in turns if float(value(np.asarray(x)).real) < 0]
        standing = float(np.real(value(np.asarray(w[0] * 1e-6))))
        # L is real where nothing moves, unless it integrates
        if standing < 0 and abs(standing) < 1e9:
            turns.append(float(w[0] * 1e-6))
        if (
            self.period is not None
            and w[-1] >= np.pi / self.period * (1 - 1e-12)
            and L[-1].real < 0
        ):
            turns.append(float(w[-1]))  # at the Nyquist frequency L is real
        factors = [-1.0 / float(value(np.asarray(x)).real) for x in turns]
        up, down = [f for f in factors if f >= 1], [f for f in factors if f < 1]
        phases = [float(np.angle(-value(np.asarray(x)))) % (2 * np.pi) for x in crossings]
        worst = min(
            range(len(crossings)), key=lambda k: min(phases[k], 2 * np.pi - phases[k]), default=None
        )
        first = min(range(len(factors)), key=lambda k: abs(np.log(factors[k])), default=None)
        return Margins(
            gain=min(up, default=np.inf),
            smallest=max(down, default=0.0),
            phase=np.inf if worst is None else min(phases[worst], 2 * np.pi - phases[worst]),
            delay=min(
                (phase / x for phase, x in zip(phases, crossings, strict=True)), default=np.inf
            ),
            crossover=np.nan if worst is None else crossings[worst],
            phase_crossover=np.nan if first is None else turns[first],
            sensitivity=float(np.abs(1.0 / (1.0 + L)).max()),
        )

    def _grid(self) -> np.ndarray:
        """Frequencies over all that the poles know, to Nyquist where there are samples."""
        p = self.poles
        rates = np.abs(
            p if self.period is None else np.log(np.where(p == 0, 1e-300, p) + 0j) / self.period
        )
        rates = rates[(rates > 1e-9) & (rates < 1e12)]
        low, high = (rates.min(), rates.max()) if len(rates) else (1.0, 1.0)
        end = 1e3 * high if self.period is None else np.pi / self.period
        return np.geomspace(min(1e-3 * low, 1e-4 * end), end, 4000)

    def to_control(self) -> Any:
        """The same system for python-control (pip install "linkwork[control]")."""
        try:
            import control
        except ImportError:
            raise NotPossible(
                'to_control: python-control is missing; pip install "linkwork[control]"'
            ) from None
        names = (
            {"inputs": list(self.inputs), "outputs": list(self.outputs)}
            if self.inputs and self.outputs
            else {}
        )
        return control.ss(
            self.A, self.B, self.C, self.D, 0 if self.period is None else self.period, **names
        )


def pole_table(poles: np.ndarray, period: float | None) -> dict[str, np.ndarray]:
    """Poles (n,) of continuous time, or of a `period` [s],
    each with its frequency [rad/s] and its damping.

    Damping is 1 at the critical one and for a pole that ends at once, NaN for one that stands
    still.
    """
    with np.errstate(divide="ignore"):
        rates = poles + 0j if period is None else np.log(poles + 0j) / period
    frequency = np.abs(rates)
    damping = np.where(np.isfinite(frequency), np.nan, 1.0)
    moving = np.isfinite(frequency) & (frequency > 0)
    damping[moving] = -rates.real[moving] / frequency[moving]
    return {"real": poles.real, "imag": poles.imag, "frequency": frequency, "damping": damping}


def _zeros(x: np.ndarray, f: np.ndarray, function: Any) -> list[float]:
    """Where a function changes its sign on a grid."""
    from scipy.optimize import brentq

    signs = np.flatnonzero(np.sign(f[:-1]) * np.sign(f[1:]) < 0)
    return [
        float(brentq(function, x[k], x[k + 1], xtol=1e-14 * x[k + 1], rtol=1e-14)) for k in signs
    ]
