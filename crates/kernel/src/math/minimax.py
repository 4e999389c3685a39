"""The polynomials of the mathematical functions: nearly minimax, with coefficients that are float32 numbers.

`fit` minimises the largest weighted error over a grid by Lawson's reweighted least squares, then rounds the coefficients to
float32 one by one, lowest power first, refitting the others each time, so that the later ones absorb the rounding of the
earlier ones. Run it (numpy and mpmath are needed) to print every polynomial with its error:

    python minimax.py [name ...]
"""

import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 40


def grid(low, high, count):
    """Chebyshev points, denser at the ends."""
    angle = np.pi * (np.arange(count) + 0.5) / count
    return (low + high) / 2 + (high - low) / 2 * np.cos(angle)


def lawson(columns, target, rounds=60):
    """Coefficients c that nearly minimise max |columns @ c - target|."""
    scale = np.abs(columns).max(axis=0)
    a = columns / scale
    w = np.full(len(target), 1.0 / len(target))
    best = (np.inf, None)
    for _ in range(rounds):
        s = np.sqrt(w)
        c, *_ = np.linalg.lstsq(a * s[:, None], target * s, rcond=None)
        step, *_ = np.linalg.lstsq(a * s[:, None], (target - a @ c) * s, rcond=None)
        c = c + step
        e = np.abs(a @ c - target)
        if e.max() < best[0]:
            best = (e.max(), c)
        w = w * (e + 1e-3 * e.max())
        w /= w.sum()
    return best[1] / scale


def fit(f, low, high, count, weight, points=1500, fixed=()):
    """`count` float32 coefficients so that Σ c[i] x^i approximates f, and the largest error times `weight`.

    `fixed` are first coefficients that are given."""
    xs = [mp.mpf(float(x)) for x in grid(low, high, points)]
    target = [mp.mpf(f(x)) for x in xs]
    w = np.array([float(weight(x)) for x in xs])
    x64 = np.array([float(x) for x in xs])
    done = [float(c) for c in fixed]
    while True:
        rest = [t - sum(mp.mpf(c) * x**i for i, c in enumerate(done)) for t, x in zip(target, xs)]
        rest = np.array([float(r) for r in rest]) * w
        if len(done) == count:
            return done, np.abs(rest).max()
        columns = np.stack([x64**i for i in range(len(done), count)], axis=1) * w[:, None]
        done.append(float(np.float32(lawson(columns, rest)[0])))


def through(f, points, low, high):
    """The polynomial that meets f at the points, in float32 coefficients, and its largest relative error from low to high."""
    powers = mp.matrix([[mp.mpf(x) ** i for i in range(len(points))] for x in points])
    coefficients = [float(np.float32(c)) for c in mp.lu_solve(powers, mp.matrix([f(mp.mpf(x)) for x in points]))]
    value = lambda x: sum(mp.mpf(c) * x**i for i, c in enumerate(coefficients))
    return coefficients, max(abs(float(value(x) / f(x) - 1)) for x in map(mp.mpf, np.linspace(low, high, 1001)))


def f32(value):
    """The nearest float32, exactly."""
    return mp.mpf(float(np.float32(value)))


def odd(f):
    """(f(x) - x) / x³ as a function of z = x², and the weight that makes errors relative to f."""
    root = mp.sqrt
    return lambda z: (f(root(z)) / root(z) - 1) / z, lambda z: z * root(z) / f(root(z))


def relative(f):
    return f, lambda x: 1 / f(x)


def less_first(f, at):
    """f less its value at a point as float32, which is the polynomial's exact first part; errors relative to f."""
    first = f32(f(mp.mpf(at)))
    return lambda x: f(x) - first, lambda x: 1 / f(x)


LN2 = mp.log(2)
TINY = 1e-9


def expm1_over_square(r):
    return (mp.expm1(r) - r) / r**2 if r else mp.mpf(1) / 2


def log_over_square(f):
    return (mp.log1p(f) - f) / f**2 if f else -mp.mpf(1) / 2


def erfcx_over_u(u):
    x = 1 / u - 2
    return mp.exp(x * x) * mp.erfc(x) / u


def erfinv_ratio(w):
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x if w else mp.sqrt(mp.pi) / 2


def log2_tail(z):
    s = mp.sqrt(z)
    return ((2 * mp.atanh(s) / s - 2) / LN2 / z - 2 / (3 * LN2)) / z


def lgamma_factor(x):
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def stirling_rest(y):
    x = 1 / mp.sqrt(y)
    return (mp.loggamma(x) - (x - 0.5) * (mp.log(x) - 1) - mp.log(2 * mp.pi) / 2 + 0.5) * x


def stirling_factor(u):
    x = 1 / u
    return mp.gamma(x) / mp.exp((x - 0.5) * (mp.log(x) - 1))


DIGAMMA_ZERO = mp.findroot(mp.digamma, mp.mpf("1.4616321449683623"))


def digamma_ratio(t):
    return mp.digamma(DIGAMMA_ZERO + t) / t if abs(t) > 1e-15 else mp.psi(1, DIGAMMA_ZERO)


def digamma_rest(y):
    x = 1 / mp.sqrt(y)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x


def shifted(f, centre):
    return lambda t: f(mp.mpf(centre) + t)


def of_root(f):
    return lambda z: f(mp.sqrt(z))


# name: (function and weight, low, high, coefficients, further arguments)
FITS = {
    "EXP": ((expm1_over_square, lambda r: r * r / mp.exp(r)), -0.3476133, 0.3476133, 5, {}),
    "EXP2": ((lambda r: (mp.mpf(2) ** r - 1) / r, lambda r: r / mp.mpf(2) ** r), -0.5, 0.5, 6, {}),
    "EXPM1": ((expm1_over_square, lambda r: r * r / mp.expm1(r)), -0.5, 0.5, 6, {}),
    "TANH": ((expm1_over_square, lambda r: r * r / mp.expm1(r)), -0.34665, 0.34665, 5, {}),
    "LOG": ((log_over_square, lambda f: f * f / mp.log1p(f)), -1 / 3 - 1e-6, 1 / 3 + 1e-6, 9, {}),
    "SIN": (odd(mp.sin), TINY, 0.64, 3, {}),
    "COS": ((of_root(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4), of_root(lambda r: r**4 / mp.cos(r))), 1e-6, 0.64, 3, {}),
    "TAN": (odd(mp.tan), TINY, 0.63, 7, {}),
    "ASIN": (odd(mp.asin), TINY, 0.25, 5, {}),
    # The last coefficient was then moved by 40 units, which makes atan(1) the float next to π/4.
    "ATAN": (odd(mp.atan), TINY, 1.0, 9, {}),
    "SINH": (odd(mp.sinh), TINY, 1.02, 4, {}),
    "COSH": ((of_root(lambda r: (mp.cosh(r) - 1 - r * r / 2) / r**4), of_root(lambda r: r**4 / mp.cosh(r))), 1e-6, 0.1206, 2, {}),
    "ASINH": (odd(mp.asinh), TINY, 1.0, 8, {}),
    "ATANH": (odd(mp.atanh), TINY, 0.25, 6, {}),
    "ERF": ((of_root(lambda x: mp.erf(x) / x - 1), of_root(lambda x: x / mp.erf(x))), TINY, 1.0, 7, {}),
    "LOG_ERFC": ((lambda x: mp.log(mp.erfc(x)), mp.erfc), 1.0, 3.93, 7, {"points": 500}),
    "ERFCX": (relative(shifted(erfcx_over_u, 0.212890625)), 1 / 12.1 - 0.212890625, 0.4 - 0.212890625, 10, {"points": 400}),
    "ERFINV": (relative(shifted(erfinv_ratio, 2.5703125)), -2.5703125, 3.4296875, 11, {"points": 200}),
    "ERFINV_TAIL": (relative(lambda s: erfinv_ratio((s + mp.mpf(3.2)) ** 2)), 6**0.5 - 3.201, 0.8, 9, {"points": 200}),
    "LOG2": ((log2_tail, lambda z: z * z), 1e-7, 0.1717**2, 3, {}),
    "NEAR_ONE": (relative(shifted(lgamma_factor, 1.0517578125)), -0.5517578125, 0.4482421875, 13, {"points": 500}),
    "NEAR_TWO": (relative(shifted(lgamma_factor, f32(2.1882813))), -0.6882813, 0.8117187, 10, {"points": 500}),
    "STIRLING": ((stirling_rest, mp.sqrt), 1e-12, 1 / 9, 4, {}),
    "GAMMA": (relative(shifted(mp.gamma, 1.5234375)), -0.5234375, 0.4765625, 11, {}),
    "STIRLING_FACTOR": (less_first(stirling_factor, 1e-4), 1 / 45, 1 / 3, 6, {"points": 400}),
    "SIN_PI": (
        (of_root(lambda r: mp.sin(mp.pi * r) / r - f32(mp.pi)), of_root(lambda r: r / mp.sin(mp.pi * r))),
        1e-12, 0.25, 6, {"points": 400},
    ),
    "NEAR_ZERO": (less_first(digamma_ratio, 1e-20), -0.4617, 0.5385, 11, {"points": 400}),
    "ASYMPTOTIC": ((digamma_rest, lambda y: y / mp.digamma(1 / mp.sqrt(y))), 1e-10, 0.25, 5, {"points": 500}),
    "COTANGENT": ((of_root(lambda r: (1 / r - mp.pi / mp.tan(mp.pi * r)) / r), lambda z: z), TINY, 0.0625, 5, {"points": 400}),
    "TANGENT": (less_first(of_root(lambda s: mp.pi * mp.tan(mp.pi * s) / s), 1e-30), TINY, 0.0626, 8, {"points": 400}),
}

# name: (function, where it is met, low, high)
MEETINGS = {
    # Met at 1, where a value below 1/2 would not subtract from 1 exactly, and near arguments whose results' errors add up.
    "SIGMOID": (lambda e: 1 / (1 + e), [0.03, 0.3, 0.7, 1.0004], 0.0, 1.0),
}


def main(names):
    for name in names or [*FITS, *MEETINGS]:
        if name in MEETINGS:
            coefficients, error = through(*MEETINGS[name])
        else:
            (f, weight), low, high, count, more = FITS[name]
            coefficients, error = fit(f, low, high, count, weight, **more)
        print(f"{name}: error 2^{np.log2(error):.1f}")
        print("  ", ", ".join(np.format_float_positional(np.float32(c), unique=True, trim="0") if abs(c) > 1e-5 else str(np.float32(c)) for c in coefficients))


if __name__ == "__main__":
    main(sys.argv[1:])
