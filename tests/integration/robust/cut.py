#!/usr/bin/env python3
"""Hosts that are cut off: cut.py [--lost] MPIRUN SECONDS PROGRAM ARGUMENT...

A job on three hosts, namespaces of the network, goes on to its right end after the cable of one has been
out for SECONDS, and after a rank has been stopped as long. With --lost, one whose cable stays out ends when
the host counts as lost, and the launcher names it, whether something is on its way to that host or not.
Skipped where namespaces are not allowed.
"""
import os
import pathlib
import shutil
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
        told = pathlib.Path("/proc/self/fd/%d" % log.fileno())
        while job.poll() is None and "GFlop/s" not in told.read_text():
            time.sleep(0.01) # until the first result: launchers warn before, and have not met all hosts yet
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
    losing = sys.argv[1] == "--lost"
    words = sys.argv[2 if losing else 1:]
    mpirun, seconds, program, command_line = words[0], float(words[1]), words[2], words[2:]

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

    def lose(_):
        hosts.link(2, False)

    def lose_with_message(folder):
        """The launcher hands this signal on to all hosts, and it does nothing there."""
        hosts.link(2, False)
        for pid in processes(folder):
            if is_program(pid, launcher):
                os.kill(pid, signal.SIGCONT)

    launcher = os.path.realpath(shutil.which(os.environ.get("MPIRUN") or "mpirun"))
    try:
        with Hosts(3) as hosts:
            for what, deed in (("cut", cut), ("freeze", freeze)):
                command = hosts.launch(mpirun, 3, command_line)
                status, text = run(hosts, what, command, deed)
                if status != 0:
                    sys.exit("FAILED (%s):\n%s" % (what, text))
            for deed in (lose, lose_with_message) if losing else ():
                command = hosts.launch(mpirun, 3, [*command_line, "--runs", "1000000"], LOST)
                status, text = run(hosts, "lost", command, deed)
                if status == 0 or not (hosts.names[2] in text or hosts.address(2) in text):
                    sys.exit("FAILED (lost): status %d:\n%s" % (status, text[-4000:]))
    except Refused as e:
        print("skipped: no namespaces for hosts here: %s" % e)
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
