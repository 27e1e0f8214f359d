"""Commands for gdb that print what a program of dagcc is at; docs/debugging.md shows them.

    (gdb) source tools/gdb/dag.py
    (gdb) help dag

They read memory and call nothing, so they work with a core file as well. No lock is taken: in a
process that was stopped in the midst of a change a list may end early.
"""
import re

import gdb

MOST = 200  # lines of `dag tasks`


class Lost(gdb.GdbError):
    """What was looked for is not there; gdb prints the text alone."""


def type_of(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        raise Lost("dag: no type `%s`: start a program with the runtime first, or name a core file "
                   "with its program. If there is one, it was stripped: build it with the preset "
                   "`release` or `debug`, and do not strip it" % name)


def view(value, name):
    """A pointer to `value`, an address, as a pointer to the struct."""
    return value.cast(type_of("struct " + name).pointer())


def word(name, number):
    """The name of a value of an enum, without the prefix."""
    for f in type_of(name).strip_typedefs().fields():
        if f.enumval == number:
            return re.sub("^DAGI?_(POOL_|ERR_)?", "", f.name)
    return "?%d" % number


def text(value):
    try:
        return value.string()
    except gdb.error:
        return "?"


def contexts():
    try:
        # its file may have line numbers alone, so the type is told
        at = gdb.parse_and_eval("*(struct dag_context **)&dagi_contexts")
    except gdb.error:
        raise Lost("dag: there is no runtime in this program, or it was stripped")
    try:
        at.fetch_lazy()
    except gdb.MemoryError:
        raise Lost("dag: no process and no core file")
    if not at:
        raise Lost("dag: no context: before dag_init(), or after dag_fini()")
    while at:
        crew = view(at, "dagi_crew")
        yield crew
        at = crew["next_context"]


def pools(crew):
    at = crew["tasks"]["pools"]
    while at:
        pool = view(at, "dagi_pool")
        yield pool
        at = pool["next"]


def flows(task):
    """The values of the data flows of a task, and its locals behind them."""
    n = int(task["cls"]["ndata"])
    at = (task + 1).cast(type_of("dag_value").pointer().pointer())
    return [at[f] for f in range(n)], (at + n).cast(type_of("int").pointer())


def name_of(task):
    _, local = flows(task)
    params = ", ".join(str(int(local[i])) for i in range(int(task["cls"]["nparams"])))
    return "%s(%s)" % (text(task["cls"]["name"]), params)


def table(pool):
    """Tasks that have some of their inputs."""
    for s in range(int(pool["nshards"])):
        shard = pool["shards"][s]
        if not shard["buckets"]:
            continue
        for b in range(int(shard["mask"]) + 1):
            task = shard["buckets"][b]
            while task:
                yield task
                task = task["next"]


def show(rows):
    """Aligned; the first row is the head."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        gdb.write("  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() + "\n")


def threads():
    """Numbers of gdb's threads by their pthread_t, where gdb knows it."""
    known = {}
    for t in gdb.selected_inferior().threads():
        try:
            known[int.from_bytes(t.handle(), "little")] = t.num
        except (gdb.error, RuntimeError):
            pass
    return known


class Dag(gdb.Command):
    """What the dataflow runtime is at: workers, pools, waiting tasks, values."""

    def __init__(self):
        super().__init__("dag", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)


class Context(gdb.Command):
    """Contexts of this process: rank, pools, workers by what they do."""

    def __init__(self):
        super().__init__("dag context", gdb.COMMAND_STATUS)

    def invoke(self, _, from_tty):
        for crew in contexts():
            tasks = crew["tasks"]
            ctx = tasks["context"]
            gdb.write("%s\n" % text(ctx["summary"]))
            gdb.write("  pools: %d added, %d open, %d with instances to start\n" % (
                tasks["pools_added"], tasks["open"]["pools"], tasks["starting"]))
            gdb.write("  workers: %d, of which %d active, %d search, %d asleep\n" % (
                tasks["nworkers"], int(crew["activity"]) & 0xffff, crew["searching"],
                crew["parked"]))
            if text(ctx["message"]):
                gdb.write("  message: %s\n" % text(ctx["message"]))


class Workers(gdb.Command):
    """What each worker is at, and how many tasks it has completed.

    The states are those of runtime/worker/worker.h. `thread` is gdb's number; worker 0 is
    the thread of the application inside of the library. `next` is the task it keeps for itself."""

    def __init__(self):
        super().__init__("dag workers", gdb.COMMAND_STATUS)

    def invoke(self, _, from_tty):
        known = threads()
        rows = [("rank", "worker", "state", "thread", "completed", "next")]
        for crew in contexts():
            workers = crew["tasks"]["workers"]
            for i in range(int(crew["tasks"]["nworkers"]) if workers else 0):
                at = workers[i]
                if not at: # dag_init() is at work
                    continue
                t = view(at, "dagi_thread")
                thread = known.get(int(t["seat"]["thread"]), "?") if i > 0 and t["seat"] else "-"
                rows.append((str(crew["tasks"]["context"]["rank"]), str(i),
                             word("dagi_worker_state", int(t["state"])), str(thread),
                             str(int(t["runner"]["done"]["completed"])),
                             name_of(t["next"]) if t["next"] else "-"))
        show(rows)


def door(pool):
    """Of a pool that stays open and is given tasks: what its door is at."""
    if not pool["door"]:
        return ""
    return ", " + word("enum dagi_door_state", int(pool["door"]["state"]))


class Pools(gdb.Command):
    """Pools that have been added and not yet ended.

    `open`: what keeps this rank's part from its end, tasks and messages; counts are handed in late.
    `waiting`: tasks that have some of their inputs. `behind`: earlier pools that it waits for."""

    def __init__(self):
        super().__init__("dag pools", gdb.COMMAND_STATUS)

    def invoke(self, _, from_tty):
        rows = [("pool", "program", "state", "status", "open", "waiting", "behind")]
        for crew in contexts():
            for p in pools(crew):
                head = p["head"]
                status = word("dag_status", int(p["status"]))
                waiting = sum(int(p["shards"][s]["count"]) for s in range(int(p["nshards"])))
                rows.append((str(int(head["id"])), text(head["program"]["name"]),
                             word("enum dagi_pool_state", int(p["state"])) + door(p),
                             status + (", poisoned" if int(head["poisoned"]) else ""),
                             str(int(p["open"])), str(waiting), str(int(p["order"]["waits"]))))
        show(rows)


class Tasks(gdb.Command):
    """Tasks that have some of their inputs, how many they miss, and the values they have.

    dag tasks [POOL], the number of a pool."""

    def __init__(self):
        super().__init__("dag tasks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        wanted = int(gdb.parse_and_eval(argument)) if argument else None
        left_out = 0
        rows = [("pool", "task", "misses", "has")]
        for crew in contexts():
            for p in pools(crew):
                number = int(p["head"]["id"])
                for t in table(p) if wanted in (None, number) else ():
                    if len(rows) > MOST:
                        left_out += 1
                        continue
                    rows.append((str(number), name_of(t), str(int(t["pending"])), self.has(t)))
        show(rows)
        if left_out:
            gdb.write("and %d more\n" % left_out)

    @staticmethod
    def has(task):
        values, _ = flows(task)
        named = ["%s = 0x%x" % (text(task["cls"]["flows"][f]["name"]), int(v))
                 for f, v in enumerate(values) if int(task["arrived"]) >> f & 1]
        return ", ".join(named) or "-"


class Value(gdb.Command):
    """A value: shape, holders, flags, and its copies with their states.

    dag value EXPR, an address. M and E are the only valid copy, O answers for others, S is one of
    several, I is not valid: runtime/data/copies.h."""

    def __init__(self):
        super().__init__("dag value", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument:
            raise Lost("dag value: which? `dag tasks` prints addresses of values")
        value = view(gdb.parse_and_eval(argument), "dagi_value")
        v = value["v"]
        gdb.write("%d x %d items of %d bytes, ld %d, at 0x%x; %d holders; %s\n" % (
            v["m"], v["n"], v["elem"], v["ld"], int(v["ptr"]), value["refs"],
            self.flags(int(value["flags"]))))
        copies = value["copies"].cast(type_of("struct dagi_copies").pointer())
        if not copies:
            gdb.write("only ever on the host\n")
            return
        gdb.write("version %d%s\n" % (copies["version"], ", dropped" if copies["dropped"] else ""))
        rows = [("space", "state", "version", "memory", "users")]
        for s in range(int(copies["nspaces"])):
            c = (copies["copy"][0].address + s).dereference()
            rows.append(("device %d" % (s - 1) if s else "host",
                         word("dagi_copy_state", int(c["state"]))[0], str(int(c["version"])),
                         "0x%x" % int(c["memory"]), str(int(c["nused"]))))
        show(rows)

    @staticmethod
    def flags(bits):
        fields = type_of("enum dagi_value_flags").fields()
        names = [f.name.replace("DAGI_VALUE_", "") for f in fields if bits & f.enumval]
        return " ".join(names) or "a buffer of its own"


for command in (Dag, Context, Workers, Pools, Tasks, Value):
    command()
