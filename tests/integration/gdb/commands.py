"""Run inside of gdb on gdb_stop: what the commands of tools/gdb/dag.py print.

At the gate, in a live process and then in its core file, with DAG, the commands, and DIR, a directory.
"""
import os
import re

import gdb

ROWS = re.compile(r"1 +Use\((\d), (\d)\) +1 +X = (0x[0-9a-f]+)")


def dag(command):
    output = gdb.execute("dag " + command, to_string=True)
    gdb.write("(gdb) dag %s\n%s" % (command, output))
    return output


def check(output, pattern):
    if not re.search(pattern, output, re.M):
        raise ValueError("`%s` is not in\n%s" % (pattern, output))


def refused(command, why):
    try:
        raise ValueError("not refused: " + dag(command))
    except gdb.error as e:
        check(str(e), why)


def look(copies):
    """At the gate: nothing that is checked here depends on who was fast."""
    output = dag("context")
    check(output, r"^rank 0 of 1: 2 workers")
    check(output, r"1 added, 1 open")
    check(output, r"workers: 2, of which [12] active")
    output = dag("workers")
    states = "(OUT|RUNS|SEARCHES|SEARCHES_IDLE|PARKED)"
    check(output, r"^0 +0 +%s +- +\d+ +(-|Use.*)$" % states)
    check(output, r"^0 +1 +%s +\d+ +\d+ +(-|Use.*)$" % states)
    thread = gdb.selected_thread().num # runs Gate; the core file numbers threads anew
    if not copies:
        check(output, r"^0 +0 +RUNS" if thread == 1 else r"^0 +1 +RUNS +%d " % thread)
    check(dag("pools"), r"^1 +stop +RUNNING +SUCCESS +\d+ +4 +0$")
    found = {}
    for i, j, value in ROWS.findall(dag("tasks")):
        found[int(i), int(j)] = value
    if sorted(found) != [(0, 0), (0, 1), (1, 0), (1, 1)]:
        raise ValueError("`dag tasks` shows %s" % found)
    if found[0, 0] != found[0, 1] or found[0, 0] == found[1, 0] or dag("tasks 1") != dag("tasks"):
        raise ValueError("two Use of one Make share its value: %s" % found)
    check(dag("tasks 2"), r"\Apool +task +misses +has\s*\Z")
    output = dag("value " + found[1, 1])
    check(output, r"^2 x 3 items of 8 bytes, ld 2, at 0x[0-9a-f]+; 2 holders; a buffer of its own$")
    check(output, r"^only ever on the host$")
    at = gdb.parse_and_eval("((dag_value *)%s)->ptr" % found[1, 1])
    if float(at.cast(gdb.lookup_type("double").pointer())[5]) != 1:
        raise ValueError("this is not the value of Make(1)")
    output = dag("value " + found[0, 0])
    if copies:
        check(output, r"^version 1$")
        check(output, r"^host +O +1 +0x0 +0$")
        check(output, r"^device 0 +S +1 +0x0 +0$")
        check(output, r"^device 1 +I ")
    return found[0, 0]


def make_copies(value):
    """What a device leaves behind, written by hand: gdb cannot call functions on all machines."""
    record = "((struct dagi_copies *)&scratch)"
    gdb.execute("set var %s->version = 1" % record)
    gdb.execute("set var %s->nspaces = 3" % record)
    for space, state in enumerate(("DAGI_OWNED", "DAGI_SHARED", "DAGI_INVALID")):
        gdb.execute("set var %s->copy[%d].state = %s" % (record, space, state))
        gdb.execute("set var %s->copy[%d].version = %d" % (record, space, space < 2))
    gdb.execute("set var ((dagi_value *)%s)->copies = %s" % (value, record))


def main():
    for setting in ("confirm off", "pagination off", "width 0", "debuginfod enabled off",
                    "startup-with-shell off", "disable-randomization off"):
        gdb.execute("set " + setting)
    gdb.execute("source " + os.environ["DAG"])
    core = os.path.join(os.environ["DIR"], "core")
    gdb.execute("break dag_init")
    gdb.execute("run")
    refused("workers", "no context")
    gdb.execute("break stop_Gate_body0")
    gdb.execute("continue")
    make_copies(look(False))
    look(True)
    gdb.execute("generate-core-file " + core)
    gdb.execute("kill")
    gdb.execute("core-file " + core)
    look(True)


try:
    main()
except Exception as e: # gdb would end with status 0
    gdb.write("%s: %s\n" % (type(e).__name__, e), gdb.STDERR)
    gdb.execute("quit 1")
