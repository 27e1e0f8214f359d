#!/bin/bash
# long.sh MPIRUN PROGRAM COUNT STOP
# COUNT sound programs whose bodies sleep, on 1 to 3 ranks with a stall detector and a time-out that
# are in a hurry; then one with a rank that is stopped for STOP seconds. None may raise an alarm.
mpirun=$1 program=$2 count=$3 stop=$4
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
export DAG_STALL_TIME=0.02 DAG_TASK_TIMEOUT=2

check() { # status what
    if [ "$1" -ne 0 ] || [ -s "$log" ]; then
        cat "$log"
        echo "$2: status $1" >&2
        exit 1
    fi
}
launch() { # ranks seed
    if [ "$1" -gt 1 ]; then
        timeout 220 "$mpirun" -np "$1" "$program" slow "$2" > "$log" 2>&1
    else
        timeout 220 "$program" slow "$2" > "$log" 2>&1
    fi
}
for seed in $(seq 1 "$count"); do
    export DAG_THREADS=$((1 + seed % 2))
    ranks=$((1 + seed % 3))
    [ "$mpirun" != none ] || ranks=1
    launch $ranks "$seed"
    check $? "$ranks ranks, seed $seed"
done

[ "$mpirun" != none ] || exit 0
export DAG_THREADS=1
# One of the ranks of a job, as soon as there is one; other jobs of the program have other environments.
# Where the machine is so busy that the job is over before, another is tried.
export LONG_TEST_MARK=$$-$RANDOM
rank_of_ours() {
    local exe
    for exe in $(find /proc -maxdepth 2 -name exe -lname "$(readlink -f "$program")" 2>/dev/null); do
        grep -qz "^LONG_TEST_MARK=$LONG_TEST_MARK\$" "${exe%/exe}/environ" 2>/dev/null || continue
        basename "${exe%/exe}"
        return
    done
}
stopped=no
for _ in $(seq 20); do
    timeout $((220 + stop)) "$mpirun" -np 2 "$program" slow 77 > "$log" 2>&1 &
    job=$!
    victim=
    while [ -z "$victim" ] && kill -0 $job 2>/dev/null; do
        victim=$(rank_of_ours)
        sleep 0.02
    done
    sleep 0.3
    if [ -n "$victim" ] && kill -STOP "$victim" 2>/dev/null; then
        sleep "$stop"
        kill -CONT "$victim" && stopped=yes
    fi
    wait $job
    check $? "a rank stopped for $stop s"
    [ $stopped = no ] || exit 0
done
echo "found no rank to stop" >&2
exit 1
