"""Median and its confidence interval from order statistics: no assumption about the noise."""
from math import comb


def median(values):
    s = sorted(values)
    n = len(s)
    return s[n // 2] if n % 2 else 0.5 * (s[n // 2 - 1] + s[n // 2])


def interval(values, level=0.95):
    """(low, high, coverage): the narrowest symmetric pair of order statistics that holds the median
    with probability >= level; the extremes, with the coverage they have, when there are too few
    values (fewer than 6 for 0.95)."""
    s = sorted(values)
    n = len(s)
    best = (s[0], s[-1], 1 - 2.0 ** (1 - n))
    below = 0.0  # probability that fewer than k values lie below the median
    for k in range(n // 2 + 1):
        coverage = 1 - 2 * below
        if coverage < level or k > n - 1 - k:
            break
        best = (s[k], s[n - 1 - k], 1 - 2 * (below + comb(n, k) / 2.0 ** n))
        if best[2] < level:
            if k > 0:
                best = (s[k - 1], s[n - k], coverage)
            break
        below += comb(n, k) / 2.0 ** n
    return best


def summary(values):
    low, high, coverage = interval(values)
    return {"median": median(values), "low": low, "high": high, "coverage": coverage,
            "n": len(values)}
