#!/usr/bin/env python3
"""Hosts that are cut off: cut.py MPIRUN SECONDS PROGRAM ARGUMENT...

A job on three hosts, namespaces of the network, goes on to its right end after the cable of one has been
out for SECONDS, and after a rank has been stopped as long. One whose cable stays out ends when the host
counts as lost, and the launcher names it. Skipped where namespaces are not allowed.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

from harm import is_program, processes, rank_of
from hosts import Hosts, Refused

LOST = 2 # seconds of silence


def run(hosts, what, command, deed):
    """Runs the command, does the deed while it works, and returns status, output and what is left."""
    with tempfile.TemporaryDirectory(prefix="dag-cut") as folder, \
            tempfile.TemporaryFile("w+") as log, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                             env={**os.environ, "TMPDIR": folder}) as job:
        while os.fstat(log.fileno()).st_size == 0 and job.poll() is None: # the first result
            time.sleep(0.01)
        if job.poll() is not None:
            sys.exit("FAILED (%s): it ended before anything was done" % what)
        begin = time.monotonic()
        deed(folder)
        status = job.wait()
        took = time.monotonic() - begin
        if what == "lost":
            hosts.link(2, True)
        until = time.monotonic() + 60
        while processes(folder) and time.monotonic() < until:
            time.sleep(0.05)
        left = [str(p) for p in processes(folder)] + os.listdir(folder)
        log.seek(0)
        text = log.read()
        print("%s: status %d, %.1f s" % (what, status, took), flush=True)
        if left:
            sys.exit("FAILED (%s): left behind: %s\n%s" % (what, ", ".join(left), text))
        return status, text


def main():
    mpirun, seconds, program = sys.argv[1], float(sys.argv[2]), sys.argv[3]

    def cut(_):
        hosts.link(2, False)
        time.sleep(seconds)
        hosts.link(2, True)

    def freeze(folder):
        for pid, env in processes(folder).items():
            if rank_of(env) == 1 and is_program(pid, program):
                os.kill(pid, signal.SIGSTOP)
                time.sleep(seconds)
                os.kill(pid, signal.SIGCONT)

    try:
        with Hosts(3) as hosts:
            for what, deed in (("cut", cut), ("freeze", freeze)):
                command = hosts.launch(mpirun, 3, sys.argv[3:])
                status, text = run(hosts, what, command, deed)
                if status != 0:
                    sys.exit("FAILED (%s):\n%s" % (what, text))
            command = hosts.launch(mpirun, 3, [*sys.argv[3:], "--runs", "1000000"], LOST)
            status, text = run(hosts, "lost", command, lambda _: hosts.link(2, False))
            if status == 0 or hosts.names[2] not in text:
                sys.exit("FAILED (lost): status %d:\n%s" % (status, text[-4000:]))
    except Refused as e:
        print("skipped: no namespaces for hosts here: %s" % e)
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
