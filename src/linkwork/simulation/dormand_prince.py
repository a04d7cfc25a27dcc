"""Dormand and Prince's Runge-Kutta method of order 8, with steps that follow the error.

    K_i = f(t + c_i h, y + h sum_j a_ij K_j),    y(t + h) = y + h sum_i b_i K_i

Two estimates of the error, of orders 5 and 3, are one: e = e5^2 / sqrt(e5^2 + e3^2 / 100).
Three further stages, made only where values inside a step are asked for, give a polynomial of
order 7 through it. Source: [Hairer1993] sections II.4 to II.6 and the table of DOP853.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

Rate = Callable[[float, np.ndarray], np.ndarray]
State = Callable[[float], np.ndarray]

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
"""A step is this share of what the error allows; its factor stays between the two others."""


def _table(rows: tuple[Mapping[int, float], ...], width: int) -> np.ndarray:
    table = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, x in row.items():
            table[i, j] = x
    return table


STEP_STAGES, STAGES = 12, 16
ORDER = 1.0 / 8.0  # the power of the error by which steps change
# fmt: off
NODES = (
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726,
    0.3333333333333333, 0.25, 0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0,
    1.0, 0.1, 0.2, 0.7777777777777778,
)
_A = _table((
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479, 3: 0.17038392571223998, 4: 0.10726203044637328,
        5: -0.015319437748624402, 6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757, 3: -3.3608926294469414, 4: -0.868219346841726, 5: 27.59209969944671,
        6: 20.154067550477894, 7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434, 3: -2.4881146199716677, 4: -0.590290826836843,
        5: 21.230051448181193, 6: 15.279233632882423, 7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873, 3: 5.186372428844064, 4: 1.0914373489967295, 5: -8.149787010746927,
        6: -18.52006565999696, 7: 22.739487099350505, 8: 2.4936055526796523, 9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538, 3: -10.53449546673725, 4: -2.0008720582248625, 5: -17.9589318631188,
        6: 27.94888452941996, 7: -2.8589982771350235, 8: -8.87285693353063, 9: 12.360567175794303,
        10: 0.6433927460157636,
    },
    {
        0: 0.054293734116568765, 5: 4.450312892752409, 6: 1.8915178993145003,
        7: -5.801203960010585, 8: 0.3111643669578199, 9: -0.1521609496625161,
        10: 0.20136540080403034, 11: 0.04471061572777259,
    },
    {
        0: 0.056167502283047954, 6: 0.25350021021662483, 7: -0.2462390374708025,
        8: -0.12419142326381637, 9: 0.15329179827876568, 10: 0.00820105229563469,
        11: 0.007567897660545699, 12: -0.008298,
    },
    {
        0: 0.03183464816350214, 5: 0.028300909672366776, 6: 0.053541988307438566,
        7: -0.05492374857139099, 10: -0.00010834732869724932, 11: 0.0003825710908356584,
        12: -0.00034046500868740456, 13: 0.1413124436746325,
    },
    {
        0: -0.42889630158379194, 5: -4.697621415361164, 6: 7.683421196062599, 7: 4.06898981839711,
        8: 0.3567271874552811, 12: -0.0013990241651590145, 13: 2.9475147891527724,
        14: -9.15095847217987,
    },
), STAGES)
_B, _E5, _E3 = _table((
    {
        0: 0.054293734116568765, 5: 4.450312892752409, 6: 1.8915178993145003,
        7: -5.801203960010585, 8: 0.3111643669578199, 9: -0.1521609496625161,
        10: 0.20136540080403034, 11: 0.04471061572777259,
    },
    {
        0: 0.01312004499419488, 5: -1.2251564463762044, 6: -0.4957589496572502,
        7: 1.6643771824549864, 8: -0.35032884874997366, 9: 0.3341791187130175,
        10: 0.08192320648511571, 11: -0.022355307863886294,
    },
    {
        0: -0.18980075407240762, 5: 4.450312892752409, 6: 1.8915178993145003,
        7: -5.801203960010585, 8: -0.4226823213237919, 9: -0.1521609496625161,
        10: 0.20136540080403034, 11: 0.02265179219836082,
    },
), STEP_STAGES)
_DENSE = _table((
    {
        0: -8.428938276109013, 5: 0.5667149535193777, 6: -3.0689499459498917, 7: 2.38466765651207,
        8: 2.117034582445028, 9: -0.871391583777973, 10: 2.2404374302607883,
        11: 0.6315787787694688, 12: -0.08899033645133331, 13: 18.148505520854727,
        14: -9.194632392478356, 15: -4.436036387594894,
    },
    {
        0: 10.427508642579134, 5: 242.28349177525817, 6: 165.20045171727028, 7: -374.5467547226902,
        8: -22.113666853125306, 9: 7.733432668472264, 10: -30.674084731089398,
        11: -9.332130526430229, 12: 15.697238121770845, 13: -31.139403219565178,
        14: -9.35292435884448, 15: 35.81684148639408,
    },
    {
        0: 19.985053242002433, 5: -387.0373087493518, 6: -189.17813819516758, 7: 527.8081592054236,
        8: -11.57390253995963, 9: 6.8812326946963, 10: -1.0006050966910838, 11: 0.7777137798053443,
        12: -2.778205752353508, 13: -60.19669523126412, 14: 84.32040550667716,
        15: 11.99229113618279,
    },
    {
        0: -25.69393346270375, 5: -154.18974869023643, 6: -231.5293791760455, 7: 357.6391179106141,
        8: 93.40532418362432, 9: -37.45832313645163, 10: 104.0996495089623, 11: 29.8402934266605,
        12: -43.53345659001114, 13: 96.32455395918828, 14: -39.17726167561544,
        15: -149.72683625798564,
    },
), STAGES)
# fmt: on


class DormandPrince:
    """y(t) from `begin` to `end` in steps; `step()` makes one.

    status   "running", "finished" or "failed"
    t, y     where the motion is now
    """

    def __init__(
        self, rate: Rate, begin: float, y: np.ndarray, end: float, rtol: float, atol: float
    ) -> None:
        self.rate, self.end, self.rtol, self.atol = rate, end, rtol, atol
        self.t, self.y = begin, np.array(y, dtype=float)
        self.t_before, self.y_before = self.t, self.y
        self.K = np.empty((STAGES, len(self.y)))
        self.K[STEP_STAGES] = rate(begin, self.y)
        self.status = "running" if end > begin else "finished"
        self.next_step = self._first_step() if self.status == "running" else 0.0

    def step(self) -> str | None:
        """One step that keeps the tolerance; a sentence where none does."""
        t, y, K = self.t, self.y, self.K
        K[0] = K[STEP_STAGES]
        smallest = 10.0 * math.ulp(t)
        h, growth = max(self.next_step, smallest), GROW
        while True:
            if h < smallest:
                self.status = "failed"
                return "no step is small enough for the tolerance"
            now = min(t + h, self.end)
            h = now - t
            for i in range(1, STEP_STAGES):
                K[i] = self.rate(t + NODES[i] * h, y + h * (_A[i, :i] @ K[:i]))
            y_now = y + h * (_B @ K[:STEP_STAGES])
            error = self._error(y, y_now, h)
            if error < 1.0:
                break
            growth = 1.0  # a step that had to shrink does not grow at once
            h *= _factor(error, growth)
        K[STEP_STAGES] = self.rate(now, y_now)
        self.t_before, self.y_before, self.t, self.y = t, y, now, y_now
        self.next_step = h * _factor(error, growth)
        if now >= self.end:
            self.status = "finished"
        return None

    def dense_output(self) -> State:
        """Values inside the last step, of order 7; to be asked for before the next one."""
        polynomial: list[np.ndarray] = []
        h = self.t - self.t_before

        def value(t: float) -> np.ndarray:
            if not polynomial:
                polynomial.extend(self._polynomial(h))
            x = (t - self.t_before) / h
            y = np.zeros_like(self.y)
            for k, coefficient in enumerate(reversed(polynomial)):
                y = (y + coefficient) * (x if k % 2 == 0 else 1.0 - x)
            return y + self.y_before

        return value

    def _polynomial(self, h: float) -> list[np.ndarray]:
        """Coefficients of x, x (1 - x), x^2 (1 - x), ... of y over the last step."""
        K, change = self.K, self.y - self.y_before
        for i in range(STEP_STAGES + 1, STAGES):
            y = self.y_before + h * (_A[i, :i] @ K[:i])
            K[i] = self.rate(self.t_before + NODES[i] * h, y)
        lower = [change, h * K[0] - change, 2.0 * change - h * (K[STEP_STAGES] + K[0])]
        return [*lower, *(h * (_DENSE @ K))]

    def _error(self, y: np.ndarray, y_now: np.ndarray, h: float) -> float:
        """Of a step, in parts of the tolerance; infinite where a stage ran away."""
        scale = self.atol + self.rtol * np.maximum(np.abs(y), np.abs(y_now))
        fifth = np.sum((_E5 @ self.K[:STEP_STAGES] / scale) ** 2)
        third = np.sum((_E3 @ self.K[:STEP_STAGES] / scale) ** 2)
        if fifth == 0.0 and third == 0.0:
            return 0.0
        error = abs(h) * float(fifth / np.sqrt((fifth + 0.01 * third) * len(scale)))
        return error if math.isfinite(error) else math.inf

    def _first_step(self) -> float:
        """A step whose error is about 1 % of the tolerance, from one explicit Euler step."""
        rate, scale = self.K[STEP_STAGES], self.atol + self.rtol * np.abs(self.y)
        size, slope = _rms(self.y / scale), _rms(rate / scale)
        guess = 1e-6 if min(size, slope) < 1e-5 else 0.01 * size / slope
        guess = min(guess, self.end - self.t)
        bend = self.rate(self.t + guess, self.y + guess * rate) - rate
        curvature = _rms(bend / scale) / guess
        steepest = max(slope, curvature)
        fine = max(1e-6, 1e-3 * guess) if steepest <= 1e-15 else (0.01 / steepest) ** ORDER
        return min(100.0 * guess, fine, self.end - self.t)


def _factor(error: float, largest: float) -> float:
    if error == 0.0:
        return largest
    return min(largest, max(SHRINK, SAFETY * error**-ORDER))


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x * x))) if len(x) else 0.0
