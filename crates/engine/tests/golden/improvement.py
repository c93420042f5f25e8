"""Writes improvement.json: tail integrals of the normal distribution, by quadrature in 60 digits, and the
expected improvement of two dependent normal variables, by quadrature in two dimensions.

python improvement.py > improvement.json
"""

import json

import mpmath
import scipy
from mpmath import mp, mpf
from scipy import integrate, stats

mp.dps = 60


def density(t):
    return mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)


def tail(u, power):
    """The integral of (u - t)^power density(t) over t < u.

    With t = u - s it is density(u) times one whose value is no small number, which quadrature needs.
    """
    pieces = [k / max(mpf(1), abs(u)) for k in (0, 1, 2, 4, 8, 16, 32, 64, 150)]
    return density(u) * mpmath.quad(lambda s: s**power * mpmath.exp(u * s - s * s / 2), pieces)


rows = []
for u in ["-40", "-30", "-16.3", "-16", "-10", "-6", "-4", "-2.001", "-2", "-1.999", "-1.5", "-1", "-0.5", "0", "0.3", "1", "2.5", "6"]:
    u = mpf(u)
    improvement = tail(u, 1)
    cumulative = tail(u, 0)
    rows.append(
        {
            "u": float(u),
            "log_improvement": float(mpmath.log(improvement)),
            "improvement_slope": float(cumulative / improvement),
            "log_cumulative": float(mpmath.log(cumulative)),
            "cumulative_slope": float(density(u) / cumulative),
        }
    )

pairs = []
for mean, deviations, correlation, incumbent in [
    ([0.0, 0.0], [1.0, 1.0], 0.0, 0.0),
    ([0.3, -0.2], [0.8, 1.4], 0.6, -0.1),
    ([1.0, 1.2], [0.5, 0.4], -0.7, 0.2),
]:
    a, b = deviations
    covariance = [[a * a, correlation * a * b], [correlation * a * b, b * b]]
    low = [m - 10 * s for m, s in zip(mean, deviations)]

    # E max(0, y* - min(f1, f2)) = integral over t < y* of P(min(f1, f2) < t).
    def below(t):
        first = stats.norm.cdf(t, mean[0], a)
        second = stats.norm.cdf(t, mean[1], b)
        both, _ = integrate.quad(
            lambda x: stats.norm.pdf(x, mean[0], a)
            * stats.norm.cdf(
                (t - mean[1] - correlation * b / a * (x - mean[0])) / (b * (1 - correlation**2) ** 0.5)
            ),
            low[0],
            t,
            epsabs=1e-13,
            epsrel=1e-12,
        )
        return first + second - both

    value, _ = integrate.quad(below, min(low), incumbent, epsabs=1e-12, epsrel=1e-11, limit=200)
    pairs.append({"mean": mean, "covariance": covariance, "incumbent": incumbent, "improvement": value})

print(
    json.dumps(
        {"tool": f"mpmath {mpmath.__version__}, scipy {scipy.__version__}", "tails": rows, "pairs": pairs}, indent=1
    )
)
