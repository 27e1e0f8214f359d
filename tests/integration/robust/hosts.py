"""Several hosts on one machine: namespaces of the network, each with a name of its own, on a bridge."""
import os
import shlex
import subprocess
import tempfile


class Refused(Exception):
    """The kernel, or who started this, does not let us have namespaces."""


class Hosts:
    """`count` hosts h0, h1, ... with addresses 10.K.0.1, ...; a context manager."""

    def __init__(self, count):
        self.mark = "d%x" % os.getpid()
        self.names = ["%sh%d" % (self.mark, i) for i in range(count)]
        self.switch = self.mark + "sw"
        self.net = "10.%d.%d" % (64 + os.getpid() // 250 % 128, os.getpid() % 250)
        self.agent = None

    def __enter__(self):
        try:
            self._make()
        except (Refused, OSError) as e:
            self.__exit__()
            raise Refused(str(e)) from e
        return self

    def __exit__(self, *_):
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        if self.agent:
            os.unlink(self.agent)

    @staticmethod
    def _ip(*words):
        r = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if r.returncode != 0:
            raise Refused("ip %s: %s" % (" ".join(words), r.stderr.strip()))

    def _make(self):
        ip = self._ip
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "name", "br", "type", "bridge")
        ip("-n", self.switch, "link", "set", "dev", "br", "up")
        for i, name in enumerate(self.names):
            ip("netns", "add", name)
            ip("-n", self.switch, "link", "add", "p%d" % i, "type", "veth", "peer", "name", "eth0",
               "netns", name)
            ip("-n", self.switch, "link", "set", "p%d" % i, "master", "br", "up")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", "%s.%d/24" % (self.net, i + 1), "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        r = subprocess.run(self.on(0, ["true"]), capture_output=True, text=True, check=False)
        if r.returncode != 0:
            raise Refused(r.stderr.strip())
        fd, self.agent = tempfile.mkstemp(prefix="dag-agent")
        with os.fdopen(fd, "w") as f: # what stands for a remote shell: agent HOST COMMAND...
            f.write("#!/usr/bin/env bash\nwhile [[ $1 == -* ]]; do shift; done\nhost=$1\nshift\n"
                    'exec ip netns exec "$host" unshare --uts env -u DAG_THREADS '
                    'bash -c "hostname $host; $*"\n')
        os.chmod(self.agent, 0o700)

    def address(self, host):
        return "%s.%d" % (self.net, host + 1)

    def on(self, host, command):
        """The command line that runs one on a host."""
        return ["ip", "netns", "exec", self.names[host], "unshare", "--uts", "bash", "-c",
                "hostname %s && exec %s" % (self.names[host], shlex.join(command))]

    def launch(self, mpirun, ranks, command, lost_after=120):
        """One rank after the other on each of the hosts; the launcher is on the first."""
        per_host = -(-ranks // len(self.names))
        hosts = ",".join("%s:%d" % (h, per_host) for h in self.names[:ranks])
        net = self.net + ".0/24"
        words = [mpirun, "-np", str(ranks), "--host", hosts, "--lost-after", str(lost_after)]
        for name, value in (("plm_rsh_agent", self.agent), ("btl", "tcp,self"), ("pml", "ob1"),
                            ("btl_tcp_if_include", net), ("oob_tcp_if_include", net),
                            ("plm_rsh_no_tree_spawn", "1"), ("rmaps_base_mapping_policy", "node")):
            words += ["--mca", name, value]
        return self.on(0, [*words, *command])

    def link(self, host, up):
        """Plug the cable of a host in or pull it out."""
        self._ip("-n", self.switch, "link", "set", "p%d" % host, "up" if up else "down")
