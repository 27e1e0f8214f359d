"""Run inside of gdb, one per rank: the steps of docs/remote-activation.md are taken in its order.

PAGE names the page, DIR a directory that both ranks have. All breakpoints of a rank are there from the
moment its pool has been added; each is gone once it is hit, so what is compared with the table is the
order in which the functions are first reached. Rank 1 is held at the start until rank 0 has sent.
"""
import os
import re
import sys
import time

import gdb

START = "dag_wait"  # the pool has been added here, no task has run
COLUMNS = 6
# In seconds; the launcher ends the job before.
PATIENCE = 300


def fail(text):
    gdb.write("walk: rank %d: %s\n" % (RANK, text), gdb.STDERR)
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)
    gdb.execute("quit 1")


def rank_of_this():
    for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"):
        if name in os.environ:
            return int(os.environ[name])
    sys.exit("walk: the launcher does not say which rank this is")


RANK = rank_of_this()


def steps_of(page):
    """[(number, rank, file, function)] of the table."""
    steps = []
    with open(page) as lines:
        for line in lines:
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cells) != COLUMNS or not cells[0].isdigit():
                continue
            number, rank, floor, name, function, _ = cells
            path = name if floor == "generated" else "runtime/%s/%s" % (floor, name)
            steps.append((int(number), int(rank), path, re.fullmatch(r"`(\w+)`", function)[1]))
    if [s[0] for s in steps] != list(range(1, len(steps) + 1)):
        fail("the steps of %s are not numbered 1, 2, ..." % page)
    if {s[1] for s in steps} != {0, 1} or [s[1] for s in steps] != sorted(s[1] for s in steps):
        fail("the table of %s must be of rank 0, then of rank 1" % page)
    return steps


def go_on():
    """Continue; the breakpoint that was hit, or None: the program has ended."""
    hit = []

    def stopped(event):
        hit.append(event.breakpoints if isinstance(event, gdb.BreakpointEvent) else event)

    gdb.events.stop.connect(stopped)
    gdb.execute("continue" if gdb.selected_inferior().pid else "run", to_string=True)
    gdb.events.stop.disconnect(stopped)
    if not hit:
        return None
    if not isinstance(hit[0], list):
        fail("stopped by %s:\n%s" % (hit[0], gdb.execute("backtrace", to_string=True)))
    if len(hit[0]) != 1:
        fail("two steps at one place: " + ", ".join(b.location for b in hit[0]))
    return hit[0][0]


def start():
    for setting in ("confirm off", "pagination off", "width 0", "debuginfod enabled off",
                    "startup-with-shell off", "disable-randomization off",
                    "breakpoint pending on", "print thread-events off"):
        gdb.execute("set " + setting)
    first = gdb.Breakpoint(START, temporary=True)
    if go_on() is not first:
        fail("the program did not come to %s" % START)


def walk(steps):
    waiting = {}
    for step in steps:
        b = gdb.Breakpoint(function=step[3])
        if b.pending:
            fail("step %d: there is no function %s" % (step[0], step[3]))
        place = gdb.find_pc_line(int(gdb.parse_and_eval("(unsigned long)&" + step[3]))).symtab
        if not place or not ("/" + place.filename).endswith("/" + step[2]):
            fail("step %d: %s is not in %s, but in %s" % (
                step[0], step[3], step[2], place and place.filename))
        waiting[b.number] = step
    for expected in steps:
        b = go_on()
        if b is None:
            fail("the program ended before step %d, %s" % (expected[0], expected[3]))
        step = waiting.pop(b.number)
        if step != expected:
            fail("expected step %d, %s; came to step %d, %s:\n%s" % (
                expected[0], expected[3], step[0], step[3],
                gdb.execute("backtrace", to_string=True)))
        b.delete()
        gdb.write("walk: rank %d: step %d, %s\n" % (RANK, step[0], step[3]))


def main():
    steps = steps_of(os.environ["PAGE"])
    sent = os.path.join(os.environ["DIR"], "sent")
    start()
    for _ in range(PATIENCE * 20):
        if RANK == 0 or os.path.exists(sent):
            break
        time.sleep(0.05)
    walk([s for s in steps if s[1] == RANK])
    if RANK == 0:
        open(sent, "w").close()
    if go_on() is not None:
        fail("stopped behind the last step")
    status = int(gdb.parse_and_eval("$_exitcode"))
    gdb.execute("quit %d" % status)


try:
    main()
except Exception as e: # gdb would end with status 0
    fail("%s: %s" % (type(e).__name__, e))
