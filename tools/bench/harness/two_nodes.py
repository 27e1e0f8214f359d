"""Two nodes on one machine: network namespaces, joined by a link that lets a given rate pass each way. Needs root and
Open MPI."""
import os
import subprocess
import sys

AGENT = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1; shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"
"""


class TwoNodes:
    """`place` is a folder for what it needs; the program ends with status 77 where there can be no such network."""
    names = [f"dag{os.getpid()}{side}" for side in "ab"]

    def __init__(self, mbit, place, mtu=1500):
        self.agent = place / "agent"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o755)
        a, b = self.names
        steps = [f"ip netns add {a}", f"ip netns add {b}",
                 f"ip link add eth0 netns {a} mtu {mtu} type veth peer name eth0 netns {b} mtu {mtu}"]
        for i, name in enumerate(self.names):
            steps += [f"ip -n {name} link set lo up", f"ip -n {name} addr add 10.79.0.{i + 1}/24 dev eth0",
                      f"ip -n {name} link set eth0 up", f"ip netns exec {name} tc qdisc add dev eth0 root tbf "
                      f"rate {mbit}mbit burst 128kb latency 50ms"]
        for step in steps:
            done = subprocess.run(step.split(), stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                self.end()
                sys.stderr.write(f"no network of our own here: {step}: {done.stderr}")
                sys.exit(77)

    def end(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)

    def sent(self):
        """Bytes that have left each of the nodes."""
        read = ["cat", "/sys/class/net/eth0/statistics/tx_bytes"]
        return [int(subprocess.run(["ip", "netns", "exec", name, *read], capture_output=True, text=True,
                                   check=True).stdout) for name in self.names]

    def launcher(self, each=1, passed=()):
        """The command behind which a program stands, with so many ranks on each node; `passed`: variables beside those
        of threads."""
        a, b = self.names
        options = ["plm_rsh_agent", self.agent, "plm_rsh_no_tree_spawn", "1",
                   "btl", "tcp,self" if each == 1 else "vader,tcp,self", "pml", "ob1",
                   "btl_tcp_if_include", "10.79.0.0/24", "oob_tcp_if_include", "10.79.0.0/24"]
        if each > 1:
            options += ["mpi_yield_when_idle", "1"]
        pairs = [word for i in range(0, len(options), 2) for word in ("--mca", *options[i:i + 2])]
        variables = [word for name in ("DAG_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", *passed)
                     if name in os.environ or name in passed for word in ("-x", name)]
        return ["ip", "netns", "exec", a, "unshare", "--uts", "bash", "-c", f'hostname {a}; exec "$@"', "x", "mpirun",
                "--allow-run-as-root", "-np", str(2 * each), "-H", f"{a}:{each},{b}:{each}", "--bind-to", "none",
                *pairs, *variables]
