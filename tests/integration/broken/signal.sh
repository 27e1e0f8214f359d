#!/bin/bash
# signal.sh PROGRAM: a process whose only worker is in a body that never returns answers a signal.
log=$(mktemp) || exit 1
DAG_REPORT_SIGNAL=USR1 DAG_THREADS=1 "$1" blocks 2> "$log" &
pid=$!
trap 'kill -KILL $pid; rm -f "$log"' EXIT
for _ in $(seq 2000); do
    # not before the handler is there: bit 9 of the caught signals is SIGUSR1
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status")
    [ $((0x${caught:-0} >> 9 & 1)) = 1 ] && kill -USR1 $pid
    sleep 0.1
    grep -q "worker 0 runs Work(2) (.*graph.jdf:39) since" "$log" &&
        grep -q "Join(2) (line 54) misses 1 of: B (line 58) from X of Work(2)" "$log" &&
        kill -0 $pid && exit 0
done
cat "$log"
echo "no report" >&2
exit 1
