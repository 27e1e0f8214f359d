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
    for routine in "gemm", "trsm":
        six, five = listed.run(BENCH, 1, routine, 2048, 256, 6), listed.run(BENCH, 1, routine, 2048, 256, 5)
        wrong += check(six.most("LD") > six.most("EXEC") and six.hidden() >= .9 and five.hidden() < six.hidden(),
                       "%s: %.0f %% hidden with 6 registers, %.0f %% with 5", routine, 100 * six.hidden(),
                       100 * five.hidden())
    return wrong


def shared():
    """Devices share the work."""
    times = [listed.run(BENCH, devices, "gemm", 3000, 256, 6).seconds for devices in (1, 2, 4)]
    return sum(check(times[0] / t >= .95 * n, "gemm: %.2f times as fast on %d devices", times[0] / t, n)
               for n, t in zip((2, 4), times[1:]))


def smooth():
    """No order, a multiple of whatever, is much slower or faster than those beside it."""
    rates, wrong = [], 0
    for n in range(1200, 2600, 25):
        rates.append((n, 2e-9 * n ** 3 / listed.run(BENCH, 1, "gemm", n, 0, 6).seconds))
    steps = [(abs(b / a - 1), n, m) for (n, a), (m, b) in zip(rates, rates[1:])]
    wrong += check(max(steps)[0] <= NEAR, "gemm: %.1f %% at most between orders 25 apart, %d and %d",
                   100 * max(steps)[0], *max(steps)[1:])
    first, last = rates[0][1], max(rate for _, rate in rates)
    return wrong + check(first >= .85 * last, "gemm: %.0f Gflop/s at first, %.0f at most", first, last)


sys.exit(hidden() + shared() + smooth() > 0)
