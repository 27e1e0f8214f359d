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
        timeout 60 "$mpirun" -np "$1" "$program" slow "$2" > "$log" 2>&1
    else
        timeout 60 "$program" slow "$2" > "$log" 2>&1
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
timeout $((60 + stop)) "$mpirun" -np 2 "$program" slow 77 > "$log" 2>&1 &
job=$!
# one of the ranks of this job, as soon as there is one
victim=
for _ in $(seq 200); do
    for child in $(pgrep -P $job) $(pgrep -P "$(pgrep -P $job | head -1)"); do
        for rank in "$child" $(pgrep -P "$child"); do
            [ "$(readlink "/proc/$rank/exe")" = "$(readlink -f "$program")" ] && victim=$rank
        done
    done
    [ -z "$victim" ] || break
    sleep 0.02
done
if [ -z "$victim" ]; then
    echo "found no rank to stop" >&2
    wait $job
    exit 1
fi
sleep 0.3
kill -STOP "$victim" && sleep "$stop" && kill -CONT "$victim" || exit 1
wait $job
check $? "a rank stopped for $stop s"
