#!/usr/bin/env python3
"""What programs out of core take on a machine that is described, from their listings, without a clock.

usage: modelled.py BENCH_OUTCORE LISTED

LISTED is the folder of listed.py. The environment has the fake in LD_LIBRARY_PATH and the back end in DAG_DEVICE_PLUGIN.
"""
import sys

sys.path.insert(0, sys.argv[2])
import listed # pylint: disable=wrong-import-position

BENCH = sys.argv[1]
NEAR = .05 # neighbours differ so much at most


def check(right, what, *values):
    print(what % values, "" if right else "WRONG", flush=True)
    return not right


def hidden():
    """Where copies take longer than kernels, nine tenths of the shorter are hidden, and fewer with a register less."""
    wrong = 0
    for routine, block in ("gemm", 256), ("trsm", 192):
        six, five = (listed.run(BENCH, 1, routine, 2048, block, registers) for registers in (6, 5))
        wrong += check(six.most("LD") > six.most("EXEC") and six.hidden() >= .9 and five.hidden() < six.hidden(),
                       "%s: %.0f %% hidden with 6 registers, %.0f %% with 5", routine, 100 * six.hidden(),
                       100 * five.hidden())
    return wrong


def shared():
    """Devices share the work."""
    times = [listed.run(BENCH, devices, "gemm", 3000, 256, 6).seconds for devices in (1, 2, 4)]
    return sum(check(times[0] / t >= .95 * n, "gemm: %.2f times as fast on %d devices", times[0] / t, n)
               for n, t in zip((2, 4), times[1:]))


def near(routine, first, last, part, most):
    """Orders from first to last, each larger by that part: no two neighbours are further apart."""
    rates, n = [], first
    while n < last:
        rates.append((n, n ** 3 / listed.run(BENCH, 1, routine, n, 0, 6).seconds))
        n += max(1, int(n * part))
    worst = max((abs(b / a - 1), n, m) for (n, a), (m, b) in zip(rates, rates[1:]))
    return rates, check(worst[0] <= most, "%s: %.1f %% at most between neighbours from %d on, %d and %d", routine,
                        100 * worst[0], first, *worst[1:])


def smooth():
    """No order, a multiple of whatever, is much slower or faster than those beside it."""
    rates, wrong = near("gemm", 600, 2600, .02, NEAR)
    first, last = rates[0][1], max(rate for _, rate in rates)
    wrong += check(first >= .75 * last, "gemm: %.2f of the highest speed at first", first / last)
    least = min(rate for n, rate in rates if n >= 1200)
    wrong += check(least >= .85 * last, "gemm: %.2f of the highest speed from 1200 on", least / last)
    wrong += near("trsm", 700, 1200, .01, NEAR)[1] + near("getrf", 520, 760, .02, NEAR)[1]
    return wrong + near("potrf", 640, 1100, .01, NEAR + .01)[1] # by itself it grows by a fiftieth between two


sys.exit(hidden() + shared() + smooth() > 0)
