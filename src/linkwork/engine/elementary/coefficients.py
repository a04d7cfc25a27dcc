"""Polynomials of the elementary functions, constants in several parts.

Each polynomial is the minimax fit, by Remez's exchange in 45-digit arithmetic, of the relative
error of the function beside it. Its first five coefficients are rounded to double one after the
other and the rest fitted again each time, so that rounding them costs nothing. The largest relative
error of the rounded polynomial stands behind the colon. `python
benchmarks/elementary_coefficients.py` computes every number of this file.
"""


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


# sin r = r + r^3 SIN(r^2) for |r| <= pi/4: 2^-57.9
SIN = _numbers("""
    -0x1.5555555555548p-3 0x1.111111110f730p-7 -0x1.a01a019be9178p-13 0x1.71de3555193d7p-19
    -0x1.ae5e4b6f12208p-26 0x1.5d8b4ddf8e253p-33
""")

# cos r = 1 + r^2 COS(r^2) for |r| <= pi/4: 2^-53.9
COS = _numbers("""
    -0x1.fffffffffff96p-2 0x1.555555554f058p-5 -0x1.6c16c164059fap-10 0x1.a019f8186f74cp-16
    -0x1.27df44642c2fap-22 0x1.1b8b203ca2b4ap-29
""")

# tan r = r + r^3 TAN(r^2) for |r| <= pi/4: 2^-56.2
TAN = _numbers("""
    0x1.55555555554f1p-2 0x1.11111111183c1p-3 0x1.ba1ba1b461028p-5 0x1.664f49aa52e3ep-6
    0x1.226e1225bbf7dp-7 0x1.d6d93b17a1d05p-9 0x1.7d5b0360040d8p-10 0x1.37fd780a88fa5p-11
    0x1.d24e4d6f3abcap-13 0x1.1e70211b4c33cp-13 -0x1.bc1a7152ab672p-16 0x1.77857935ed42bp-14
    -0x1.78d08d570ed16p-15 0x1.5e3448109a514p-16
""")

# atan t = t + t^3 ATAN(t^2) for |t| <= 1: 2^-56.3
ATAN = _numbers("""
    -0x1.5555555555526p-2 0x1.99999999955b1p-3 -0x1.249249237ed75p-3 0x1.c71c717f967c3p-4
    -0x1.745d11a8fc69bp-4 0x1.3b13664e453fbp-4 -0x1.110e4e8e501f2p-4 0x1.e1bb8809a1065p-5
    -0x1.ae5df8ea465edp-5 0x1.82d98a914514fp-5 -0x1.59a1ba1f7abdap-5 0x1.2c2c99cac350fp-5
    -0x1.e9feeaa9cbdb5p-6 0x1.6850e7a7d49d5p-6 -0x1.c7d227865daabp-7 0x1.d84131172b3f9p-8
    -0x1.7af2215428a2ap-9 0x1.b53f1be4c78aap-11 -0x1.408696ec8c765p-13 0x1.be609c0809676p-17
""")

# asin t = t + t^3 ASIN(t^2) for |t| <= 1/2: 2^-55.9
ASIN = _numbers("""
    0x1.5555555555390p-3 0x1.333333336e828p-4 0x1.6db6db42786bap-5 0x1.f1c72c39d00a9p-6
    0x1.6e89f427d811cp-6 0x1.1c6be34ae82e9p-6 0x1.c6fd9d9e65540p-7 0x1.8ec3fdf104928p-7
    0x1.abc60e0cd75a8p-8 0x1.3ffb6800424fbp-6 -0x1.09de4641dd5b2p-6 0x1.057167132e6e2p-5
""")

# sinh r = r + r^3 SINH(r^2) for |r| <= ln(2)/2: 2^-61.7
SINH = _numbers("""
    0x1.5555555555559p-3 0x1.111111110f624p-7 0x1.a01a01b025427p-13 0x1.71ddf79cf9264p-19
    0x1.af601f8ec6022p-26
""")

# cosh r = 1 + r^2 COSH(r^2) for |r| <= ln(2)/2, error relative to 1 - exp(-|r|): 2^-67.6
COSH = _numbers("""
    0x1.0000000000000p-1 0x1.5555555555557p-5 0x1.6c16c16c15762p-10 0x1.a01a01ab22bc4p-16
    0x1.27e4d119d68bap-22 0x1.1f842f201a5c6p-29
""")

# log((1 + s) / (1 - s)) = 2 s + s^3 LOG(s^2) for |s| <= 3 - 2 sqrt(2): 2^-59.5
LOG = _numbers("""
    0x1.5555555555592p-1 0x1.999999997ff9fp-2 0x1.24924941d7179p-2 0x1.c71c521d9c8f9p-3
    0x1.74663aefa9a1cp-3 0x1.39a21cf336fc9p-3 0x1.2f01aba033ba9p-3
""")

# Each number is what the ones before it leave over.
HALF_PI = _numbers("0x1.921fb54442d18p+0 0x1.1a62633145c07p-54 -0x1.f1976b7ed8fbcp-110")
PI = _numbers("0x1.921fb54442d18p+1 0x1.1a62633145c07p-53")
LN2 = _numbers("0x1.62e42fefa39efp-1 0x1.abc9e3b39803fp-56")

# The first has 42 bits, so that its product with an exponent is exact.
LN2_SHORT = _numbers("0x1.62e42fefa3800p-1 0x1.ef35793c76730p-45")

TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
LOG2_E = float.fromhex("0x1.71547652b82fep+0")
