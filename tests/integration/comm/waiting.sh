#!/usr/bin/env bash
# waiting.sh <tools/mpirun> <bench_comm> <library that counts sleeps>
# A rank that waits for the work of another takes next to no time of a processor, also where ranks
# share processors, and the message it waits for wakes it; where bells are off the summary says so, once
# per rank.
set -u
mpirun=$1 program=$2 count=$3
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
failed=0

value() { sed -n 's/.*"value": \([0-9.e+-]*\).*/\1/p'; }

check() { # what value most
    awk -v v="${2:-x}" -v most="$3" 'BEGIN { exit !(v ~ /^[0-9]/ && v + 0 <= most) }' && return
    echo "FAILED: $1 is '${2:-}', which should be $3 at most"
    failed=1
}

for ranks in 2 4; do
    for threads in 1 2; do
        part=$("$mpirun" -np $ranks --threads $threads env LD_PRELOAD="$count" "$program" wait 8 200 1 \
            2>"$log" | value)
        check "the part of a processor that a waiting rank takes ($ranks x $threads)" "$part" 0.1
        # Each of the others has waited twice. How long a ring takes to wake it is for tools/bench to tell.
        rings=$(awk '/^sleeps: / { n += $2 } END { print n + 0 }' "$log")
        [ "$rings" -ge $((ranks - 1)) ] || {
            echo "FAILED: $rings sleeps of $ranks x $threads workers were ended by a ring"
            cat "$log"
            failed=1
        }
    done
done

said=$("$mpirun" -np 2 --threads 1 env DAG_BELLS=off DAG_SUMMARY=on "$program" hop 8 100 1 2>&1 |
    grep -c 'do not wake each other: turned off by the setting bells')
[ "$said" = 2 ] || { echo "FAILED: $said ranks of 2 say that bells are off"; failed=1; }
exit $failed
