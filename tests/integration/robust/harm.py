#!/usr/bin/env python3
"""Ranks that are killed, frozen or cut off at random: harm.py MPIRUN TIMES [--hosts N] PROGRAM...

In each of TIMES trials one of the programs runs on 2 to 4 ranks, and some time after one of its ranks has
begun, mostly within the first 150 ms, that rank is killed or stopped for a while, or the cable of its host
is pulled out for a while. A job with a killed rank ends within 10 s, not with success, and names the rank;
any other ends well, checks of its result included. Nothing is left: no process, no file in the folder for
temporary files, no segment of shared memory. With --hosts each host is a namespace of the network; where
these are not allowed the test is skipped. On a machine so busy that the start of a job takes more than half a
second the end may take 20 times as long as the start.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from hosts import Hosts, Refused

OPTIONS = {"dag_blas3": ["--routine", "symm"]}
RANK = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")


def environment(pid):
    try:
        with open("/proc/%s/environ" % pid, "rb") as f:
            return f.read().split(b"\0")
    except OSError:
        return []


def processes(folder):
    """Those of a job, which have its folder for temporary files in their environment."""
    word = ("TMPDIR=" + folder).encode()
    return {int(p): e for p in os.listdir("/proc") if p.isdigit()
            for e in [environment(p)] if word in e}


def rank_of(env):
    for entry in env:
        if entry.startswith(RANK):
            return int(entry.split(b"=")[1])
    return -1


def is_program(pid, program):
    try:
        return os.readlink("/proc/%d/exe" % pid) == os.path.realpath(program)
    except OSError:
        return False


class Trial:
    def __init__(self, mpirun, programs, hosts, rng):
        self.rng, self.hosts = rng, hosts
        self.program = rng.choice(programs)
        name = os.path.basename(self.program)
        self.ranks = rng.randint(2, 4) if not hosts else rng.randint(2, len(hosts.names))
        self.victim = rng.randrange(self.ranks)
        self.deed = rng.choice(["kill", "kill", "freeze"] + (["cut"] if hosts else []))
        self.delay = rng.choice([rng.uniform(0, 0.15), rng.uniform(0, 0.15), rng.uniform(0, 1.5)])
        self.pause = rng.uniform(0.2, 1.5)
        self.folder = tempfile.mkdtemp(prefix="dag-harm")
        self.log = self.folder + ".log"
        runs = "1000000" if self.deed == "kill" else "10" # it is to be there when it is killed
        command = [self.program, "--n", "300", "--nb", str(rng.choice([32, 64])), "--threads",
                   str(rng.randint(1, 2)), "--runs", runs, "--check", *OPTIONS.get(name, [])]
        self.command = (hosts.launch(mpirun, self.ranks, command) if hosts else
                        [mpirun, "-np", str(self.ranks), *command])
        self.what = "%s on %d ranks: %s rank %d after %.0f ms" % (
            name, self.ranks, self.deed, self.victim, 1e3 * self.delay)
        self.segments = set()

    def find(self, job):
        """The process of the victim, as soon as it is there."""
        while job.poll() is None:
            for pid, env in processes(self.folder).items():
                if rank_of(env) == self.victim and is_program(pid, self.program):
                    self.segments = {e.split(b"=")[1].decode() for e in env
                                     if e.startswith(b"OMPI_MCA_btl_vader_backing_directory=")}
                    return pid
            time.sleep(0.001)
        return None

    def harm(self, pid):
        if self.deed == "cut":
            host = self.victim % len(self.hosts.names)
            self.hosts.link(host, False)
            time.sleep(self.pause)
            self.hosts.link(host, True)
            return
        try:
            os.kill(pid, signal.SIGKILL if self.deed == "kill" else signal.SIGSTOP)
            if self.deed == "freeze":
                time.sleep(self.pause)
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            self.deed = "nothing, it had ended"

    def run(self):
        """The complaint, or None."""
        begin = time.monotonic()
        with open(self.log, "w+", encoding="utf-8") as log, subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": self.folder}) as job:
            pid = self.find(job)
            if pid is not None:
                most = max(10, 20 * (time.monotonic() - begin))
                time.sleep(self.delay)
                begin = time.monotonic()
                self.harm(pid)
            try: # what is not killed ends when its work is done
                job.wait(most if self.deed == "kill" and pid is not None else 600)
            except subprocess.TimeoutExpired:
                for p in processes(self.folder):
                    os.kill(p, signal.SIGKILL)
                job.kill()
                return "the job goes on after %.1f s" % (time.monotonic() - begin)
            log.seek(max(0, os.fstat(log.fileno()).st_size - 20000))
            return self.judge(job.returncode, log.read(), time.monotonic() - begin)

    def judge(self, status, text, took):
        if self.deed == "kill":
            named = re.search(r"rank %d (was ended by|.*) signal 9" % self.victim, text)
            if status == 0 or not named:
                return "status %d, and the rank is %snamed:\n%s" % (
                    status, "" if named else "not ", text)
        elif status != 0:
            return "status %d:\n%s" % (status, text)
        until = time.monotonic() + 60 # daemons of other hosts end by themselves
        while True:
            left = ["process %d" % p for p in processes(self.folder)]
            if not left or time.monotonic() > until:
                break
            time.sleep(0.05)
        left += [s for s in [*os.listdir(self.folder), *self.segments] if os.path.exists(
            os.path.join(self.folder, s))]
        if left:
            return "left behind: %s\n%s" % (", ".join(left), text)
        print("%s: status %d, %.1f s" % (self.what, status, took), flush=True)
        return None

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.unlink(self.log)


def trials(mpirun, programs, times, hosts):
    seed = int(os.environ.get("DAGCC_TEST_SEED", random.randrange(10**9)))
    print("seed %d (DAGCC_TEST_SEED)" % seed)
    rng = random.Random(seed)
    failed = 0
    for _ in range(times):
        trial = Trial(mpirun, programs, hosts, rng)
        complaint = trial.run()
        trial.close()
        if complaint:
            print("FAILED: %s: %s" % (trial.what, complaint), flush=True)
            failed += 1
    print("%d trials, %d failed" % (times, failed))
    return failed != 0


def main():
    words = sys.argv[1:]
    mpirun, times = words[0], int(words[1])
    if words[2] != "--hosts":
        return trials(mpirun, words[2:], times, None)
    try:
        with Hosts(int(words[3])) as hosts:
            return trials(mpirun, words[4:], times, hosts)
    except Refused as e:
        print("skipped: no namespaces for hosts here: %s" % e)
        return 77


if __name__ == "__main__":
    sys.exit(main())
