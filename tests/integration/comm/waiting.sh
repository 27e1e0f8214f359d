#!/usr/bin/env bash
# waiting.sh <tools/mpirun> <bench_comm>
# A rank that waits for the work of another takes next to no time of a processor, also where ranks
# share processors, and is awake soon; where bells are off the summary says so, once per rank.
set -u
mpirun=$1 program=$2
failed=0

value() { sed -n 's/.*"value": \([0-9.e+-]*\).*/\1/p'; }

check() { # what value most
    awk -v v="${2:-x}" -v most="$3" 'BEGIN { exit !(v ~ /^[0-9]/ && v + 0 <= most) }' && return
    echo "FAILED: $1 is '${2:-}', which should be $3 at most"
    failed=1
}

for ranks in 2 4; do
    for threads in 1 2; do
        part=$("$mpirun" -np $ranks --threads $threads "$program" wait 8 200 1 | value)
        check "the part of a processor that a waiting rank takes ($ranks x $threads)" "$part" 0.1
    done
done

# In these hops the receiver sleeps most of the time: 3 to 10 us, and 150 us where nobody wakes it.
# Other load makes them longer, so the best of some trials counts.
cores=$(nproc)
if [ "$cores" -lt 4 ]; then
    least=''
    for _ in 1 2 3 4 5; do
        hop=$("$mpirun" -np 4 --threads 1 "$program" hop 8 1000 1 | value)
        least=$(printf '%s\n' $least "$hop" | sort -g | head -n 1)
    done
    check "a hop over 4 ranks, in seconds" "$least" 0.00008
fi

said=$("$mpirun" -np 2 --threads 1 -x DAG_BELLS=off -x DAG_SUMMARY=on "$program" hop 8 100 1 2>&1 |
    grep -c 'do not wake each other: turned off by the setting bells')
[ "$said" = 2 ] || { echo "FAILED: $said ranks of 2 say that bells are off"; failed=1; }
exit $failed
